"""A vector ladder from a network: lanes of nodes that move on together, through series elements and through connections.

Every element lies between a node and its reference or between nodes that follow each other, and every connection between lanes that
stand side by side. Fields stay whole. Networks of other shapes are refused here; `block_ladders` writes them as one vector block.
"""

from collections.abc import Iterable, Iterator

from tellegen.core.domains import Side, other_side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import Branch, Coupling, Field, Port, StorageLaw
from tellegen.schemes.field_texts import field_laws
from tellegen.schemes.lane_walk import LaneWalk, NoLanesError, Pieces, Stage
from tellegen.schemes.names import plain_name
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.written import (
    Row,
    WrittenBlock,
    WrittenBranch,
    WrittenConnection,
    WrittenField,
    WrittenLadder,
    WrittenSection,
    gives,
    takes,
)


def lane_ladder(scheme: PogScheme) -> WrittenLadder:
    """The vector ladder of a network, begun at as many like sources as possible.

    Raises: NoLanesError.
    """
    sources = list(scheme.causal.graph.sources())
    ports = scheme.causal.graph.ports
    alike = [k for k in sources if _likeness(ports[k]) == _likeness(ports[sources[0]])] if sources else []
    run = next((n for n, k in enumerate(sources) if k not in alike), len(sources))
    for count in range(run, 0, -1):
        try:
            walk = LaneWalk(scheme, sources[:count])
            walk.run()
            return _written(walk)
        except NoLanesError:
            continue
    raise NoLanesError


def _likeness(port: Port) -> tuple[str, Side]:
    return port.domain, port.law.side


def _written(walk: LaneWalk) -> WrittenLadder:
    """The stages and connections as a ladder; sources behind the last block are its right section, others branches."""
    stages = walk.stages
    domains = [tuple(walk.graph.nodes[node].domain for node in stage.nodes) for stage in stages]
    ladder = WrittenLadder(domains[0])
    if stages[0].section:
        ladder.parts.append(WrittenSection(_row(stages[0].section, len(stages[0].nodes))))
    for n, stage in enumerate(stages):
        width, last = len(stage.nodes), n == len(stages) - 1
        for place, (kind, rows) in enumerate(stage.parts):
            if kind == "sources":
                found = list(_source_rows(rows, width))
                at_end = last and place == len(stage.parts) - 1
                for row in found[1:] if at_end else found:
                    ladder.parts.append(WrittenBranch("parallel", WrittenLadder(domains[n], [WrittenSection(row)])))
                ladder.parts += [WrittenSection(found[0])] if at_end else []
            else:
                ladder.parts.append(WrittenBlock((kind,) * width, [_item(row, width) for row in rows]))
        if not last:
            ladder.parts.append(_Joint(walk, n).connection(domains[n + 1]))
    return ladder


def _row(pieces: Pieces, width: int) -> Row:
    return tuple(pieces.get(lane) for lane in range(width))


def _item(row: Pieces | tuple[Field, Pieces], width: int) -> Row | WrittenField:
    if isinstance(row, dict):
        return _row(row, width)
    field, lanes = row
    ports = {k: piece.item.port for k, piece in zip(field.ports, lanes.values(), strict=True)}
    laws = tuple(law.text for law in field_laws(field, ports))
    energy = isinstance(next(iter(lanes.values())).item.port.law, StorageLaw)
    matrix, stiff = field.stiffness or field.matrix, field.stiffness is not None
    return WrittenField(field.element, tuple(lanes), tuple(lanes.values()), matrix, energy, laws, stiff)


def _source_rows(rows: Iterable[Pieces | tuple[Field, Pieces]], width: int) -> Iterator[Row]:
    """Sources of different lanes side by side."""
    found: list[Pieces] = []
    for row in rows:
        assert isinstance(row, dict), "a source belongs to no field"
        free = next((other for other in found if other.keys().isdisjoint(row)), None)
        if free is None:
            found.append(dict(row))
        else:
            free |= row
    return (_row(pieces, width) for pieces in found)


class _Joint:
    """The connection between two stages."""

    def __init__(self, walk: LaneWalk, n: int) -> None:
        self.walk = walk
        self.before, self.after = walk.stages[n], walk.stages[n + 1]
        self.couplings = walk.connections[n]
        ways, ahead = self.before.ways(), self.after.ways()
        section = next(iter(self.before.section.values()), None)
        self.usual_1: Side = gives(ways[-1]) if ways else section.item.decides if section is not None else "across"
        self.usual_2: Side = takes(ahead[0]) if ahead else "through"
        self.takes: dict[int, Side] = {}
        self.gives: dict[int, Side] = {}
        self.K: dict[tuple[int, int], Expression] = {}

    def connection(self, domains: tuple[str, ...]) -> WrittenConnection:
        """All couplings between the stages as one connection."""
        for coupling, forward in self.couplings:
            self._add(coupling, forward)
        rows, columns = len(self.after.nodes), len(self.before.nodes)
        return WrittenConnection(
            "_".join(plain_name(coupling.element) for coupling, _ in self.couplings),
            tuple(tuple(self.K.get((i, j), ZERO) for j in range(columns)) for i in range(rows)),
            tuple(self.takes.get(j, "across") for j in range(columns)),
            tuple(self.gives.get(i, self.usual_2) for i in range(rows)),
            domains,
        )

    def _add(self, coupling: Coupling, forward: bool) -> None:
        """One coupling; backwards it is w_1 = K^T w_2, and through variables count the other way."""
        left, right = (coupling.side_1, coupling.side_2) if forward else (coupling.side_2, coupling.side_1)
        K = coupling.K if forward else tuple(zip(*coupling.K, strict=True))
        sides_1 = [b.side if forward else other_side(b.side) for b in left]
        sides_2 = [b.side if forward else other_side(b.side) for b in right]
        usual = len(left) == len(right) == 1 and sides_1[0] != self.usual_1 and sides_2[0] != self.usual_2
        for i, (b_2, y) in enumerate(zip(right, sides_2, strict=True)):
            for j, (b_1, x) in enumerate(zip(left, sides_1, strict=True)):
                entry = K[i][j]
                if entry is ZERO:
                    continue
                sign = self._sign(b_1) * self._sign(b_2) * (1 if forward or x == y else -1)
                entry = entry if sign > 0 else -entry
                # One modulus may be written for the conjugates too: then it is the reciprocal.
                self.K[self._lane(self.after, b_2), self._lane(self.before, b_1)] = ONE / entry if usual else entry
        for b, x in zip(left, sides_1, strict=True):
            self._settle(self.takes, self._lane(self.before, b), other_side(x) if usual else x)
        for b, y in zip(right, sides_2, strict=True):
            self._settle(self.gives, self._lane(self.after, b), other_side(y) if usual else y)

    def _settle(self, sides: dict[int, Side], lane: int, side: Side) -> None:
        if sides.setdefault(lane, side) != side:
            raise NoLanesError

    def _lane(self, stage: Stage, branch: Branch) -> int:
        # Lanes of the stage before have moved on to their last nodes, those of the stage behind are where they start.
        node = self.walk.end_of(branch)
        return (stage.nodes if stage is self.before else stage.starts).index(node)

    def _sign(self, branch: Branch) -> int:
        return -1 if self.walk.reference[branch.plus] else 1
