"""Vector ladders from a network: lanes of nodes that move on together, through series elements and through connections.

Every element lies between a node and its reference or between nodes that follow each other, and every connection between lanes that
stand side by side. Fields stay whole. Networks of other shapes are refused here; `block_ladders` writes them as one vector block.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal, final

from tellegen.core.domains import Side, other_side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import Branch, Coupling, Field, Port, SourceLaw, StorageLaw
from tellegen.notations.pog.ladder import (
    BlockItem,
    LadderBlock,
    LadderBranch,
    LadderElement,
    LadderSection,
    LaneRow,
    Way,
    given_side,
    taken_side,
    unplaced,
)
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.names import plain_name
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.written_ladders import Connection, Lanes, lane_element, lane_field


class NoLanesError(Exception):
    """The network has another shape."""


Pieces = dict[int, LadderElement]
"""Pieces by the number of their lane."""


@final
@dataclass(eq=False)
class WalkStage:
    """The lanes between two connections, with rows of pieces; lanes may join later. Sources inside are rows of their own."""

    nodes: list[int]
    starts: list[int] = dataclass_field(default_factory=list)
    parts: list[tuple[Way | Literal["sources"], list[Pieces | tuple[Field, Pieces]]]] = dataclass_field(
        default_factory=list
    )
    section: Pieces = dataclass_field(default_factory=dict)

    def add(self, kind: Way | Literal["sources"], row: Pieces | tuple[Field, Pieces]) -> None:
        """Add a row to the last block, to a new one where that is of another kind."""
        if not self.parts or self.parts[-1][0] != kind:
            self.parts.append((kind, []))
        self.parts[-1][1].append(row)

    def ways(self) -> list[Way]:
        """The kinds of its blocks."""
        return [kind for kind, _ in self.parts if kind != "sources"]


def lanes_in(row: Pieces | tuple[Field, Pieces]) -> Iterable[int]:
    """The lanes that a row has pieces in."""
    return row if isinstance(row, dict) else row[1]


class LaneWalk:
    """Walks from layer to layer."""

    def __init__(self, scheme: PogScheme, starts: Sequence[int]) -> None:
        self.scheme = scheme
        self.causal = scheme.causal
        self.graph = scheme.causal.graph
        by_port = {id(item.port): item for item in scheme.elements.values()}
        self.items: list[OnePort] = [by_port[id(port)] for port in self.graph.ports]
        self.reference = [node.reference for node in self.graph.nodes]
        self.at: dict[int, list[int]] = {}
        for k, port in enumerate(self.graph.ports):
            for node in {port.plus, port.minus}:
                self.at.setdefault(node, []).append(k)
        self.placed: set[int] = set()
        self.passed: set[int] = set()
        # Lanes must not meet: what joins two lanes is a mesh across the ladder, which no column can show.
        self.seen: set[int] = set()  # nodes that lanes have been at: no other lane may come there, also not a later one
        self.field_of = {k: field for field in self.graph.fields for k in field.ports}
        self.stages: list[WalkStage] = []
        self.connections: list[list[tuple[Coupling, bool]]] = []
        self.starts = starts

    def run(self) -> None:
        """Fill `stages`, and the couplings between them into `connections`.

        Raises: NoLanesError where the network has another shape.
        """
        # The first sources make the first lanes, in their order, so that a three-phase supply stays a, b, c.
        nodes = list(dict.fromkeys(self.end_of(self.graph.ports[k]) for k in self.starts))
        self.stages.append(WalkStage(nodes, list(nodes)))
        self._enter(nodes)
        for k in self.starts:
            lane = nodes.index(self.end_of(self.graph.ports[k]))
            if lane in self.stages[0].section:
                continue  # two sources at one node: the second is a branch
            self.stages[0].section[lane] = lane_element(self.items[k], self._source_sign(k, nodes[lane]))
            self.placed.add(k)
        while True:
            self._parallel()
            if self._series() or self._connect():
                continue
            break
        # Whatever was not passed hangs on no lane: the ladder would be another model than the file it came from.
        if len(self.placed) < len(self.graph.ports) or len(self.passed) < len(self.graph.couplings):
            raise NoLanesError
        self._settle_end(self.stages[-1])

    def _settle_end(self, stage: WalkStage) -> None:
        """Sources of lanes that go no further stand at the end; a lane that ends in series without one would be at rest."""
        late: list[Pieces] = []
        for place, (kind, rows) in enumerate(stage.parts):
            if kind == "sources":
                moving = {
                    lane
                    for word, behind in stage.parts[place:]
                    if word == "series"
                    for r in behind
                    for lane in lanes_in(r)
                }
                # A source whose lane ends here closes the ladder as its right section; one whose lane goes on is a branch.
                late += [row for row in rows if isinstance(row, dict) and moving.isdisjoint(row)]
                rows[:] = [row for row in rows if row not in late]
        stage.parts = [part for part in stage.parts if part[1]]
        for row in late:
            stage.add("sources", row)
        ended = {lane for row in late for lane in row}
        # An open lane behind a series element carries no through variable; a reader would take it as closed.
        if stage.ways()[-1:] == ["series"] and len(ended) < len(stage.nodes):
            raise NoLanesError

    def _enter(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            if node in self.seen:
                raise NoLanesError
            self.seen.add(node)

    def _source_sign(self, k: int, node: int) -> int:
        """Across variables fall from the node by default, through variables flow into it."""
        port = self.graph.ports[k]
        falls = port.plus == node
        return 1 if falls == (self.items[k].decides == "across") else -1

    def _source(self, k: int) -> bool:
        return isinstance(self.graph.ports[k].law, SourceLaw)

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _parallel(self) -> None:
        stage = self.stages[-1]
        # Elements of the same rank at different lanes stand in one row: a row is a diagonal matrix over the lanes.
        ready: dict[int, dict[int, int]] = {}  # port -> lane, by rank of the row
        for lane, node in enumerate(stage.nodes):
            mine = [k for k in self.at.get(node, []) if k not in self.placed and self._is_parallel(k)]
            elements = sorted((k for k in mine if not self._source(k) and k not in self.field_of), key=self._rank)
            for n, k in enumerate(elements):
                ready.setdefault(n, {})[k] = lane
        for row in ready.values():
            stage.add(
                "parallel",
                {lane: lane_element(self.items[k], self._sign(k, stage.nodes[lane])) for k, lane in row.items()},
            )
            self.placed.update(row)
        # After the plain elements, so that fields find the lanes at the nodes where these have left them.
        for field in self.graph.fields:
            self._place_field(field, stage, "parallel")
        for lane, node in enumerate(stage.nodes):
            self._place_sources(stage, lane, [k for k in self.at.get(node, []) if k not in self.placed])

    def _place_sources(self, stage: WalkStage, lane: int, ports: Iterable[int]) -> None:
        for k in ports:
            if self._source(k) and self._is_parallel(k):
                stage.add("sources", {lane: lane_element(self.items[k], self._source_sign(k, stage.nodes[lane]))})
                self.placed.add(k)

    def _is_parallel(self, k: int) -> bool:
        port = self.graph.ports[k]
        return self.reference[port.plus] != self.reference[port.minus]

    def _rank(self, k: int) -> int:
        """The storage that decides first, then other storages, then static elements."""
        law = self.graph.ports[k].law
        if not isinstance(law, StorageLaw):
            return 2
        return 0 if self.causal.decides[k] == "across" else 1

    def _sign(self, k: int, node: int) -> int:
        return 1 if self.graph.ports[k].plus == node else -1

    def _place_field(self, field: Field, stage: WalkStage, way: Way) -> bool:
        """Place a field whose ports all lie at lanes of the stage, in one way."""
        if field.ports[0] in self.placed:
            return False
        lanes: Pieces = {}
        for k in field.ports:
            port = self.graph.ports[k]
            here = [n for n, node in enumerate(stage.nodes) if node in (port.plus, port.minus)]
            # A field needs one port a lane, all in the same way; else its matrix has no place among the rows.
            if len(here) != 1 or self._is_parallel(k) != (way == "parallel") or here[0] in lanes:
                return False
            lanes[here[0]] = lane_element(self.items[k], self._sign(k, stage.nodes[here[0]]))
        if any(piece.reversed for piece in lanes.values()):
            raise NoLanesError  # the entries of its matrix would change their signs
        stage.add(way, (field, lanes))
        self.placed.update(field.ports)
        if way == "series":
            for k, lane in zip(field.ports, lanes, strict=True):
                self._move(stage, lane, k)
        return True

    def _move(self, stage: WalkStage, lane: int, k: int) -> None:
        stage.nodes[lane] = self._other(k, stage.nodes[lane])
        self._enter([stage.nodes[lane]])

    def _other(self, k: int, node: int) -> int:
        port = self.graph.ports[k]
        return port.minus if port.plus == node else port.plus

    def _series(self) -> bool:
        """Move lanes on through elements between two nodes; False where there are none."""
        stage = self.stages[-1]
        row: dict[int, int] = {}
        for lane, node in enumerate(stage.nodes):
            ahead = [k for k in self.at.get(node, []) if k not in self.placed and not self._is_parallel(k)]
            # Two series elements at one node are a fork, and lanes do not fork.
            if len(ahead) > 1:
                raise NoLanesError
            if ahead:
                row[lane] = ahead[0]
        single = {lane: k for lane, k in row.items() if k not in self.field_of}
        if single:
            # A connection that is still to be passed has to be met at the node of its lane, which would be left behind here.
            self._no_coupling_at(stage.nodes[lane] for lane in single)
            pieces = {lane: lane_element(self.items[k], self._sign(k, stage.nodes[lane])) for lane, k in single.items()}
            if any(self._source(k) for k in single.values()):
                raise NoLanesError
            stage.add("series", pieces)
            for lane, k in single.items():
                self._move(stage, lane, k)
                self.placed.add(k)
            return True
        moved = False
        for field in self.graph.fields:
            moved = self._place_field(field, stage, "series") or moved
        return moved

    def _no_coupling_at(self, nodes: Iterable[int]) -> None:
        here = set(nodes)
        for n, coupling in enumerate(self.graph.couplings):
            if n not in self.passed and coupling.nodes & here:
                raise NoLanesError

    # -- connections -----------------------------------------------------------------------------------------------------------

    def _connect(self) -> bool:
        """Pass the connections that leave the lanes; False where there are none."""
        stage = self.stages[-1]
        chosen: list[tuple[Coupling, bool]] = []
        for n, coupling in enumerate(self.graph.couplings):
            if n in self.passed:
                continue
            one, two = ([self.end_of(b) for b in side] for side in (coupling.side_1, coupling.side_2))
            if {*one, *two}.isdisjoint(stage.nodes):
                continue
            forward = not set(one).isdisjoint(stage.nodes)
            left, right = (one, two) if forward else (two, one)
            # The far side of a connection has to be new: a way back to the lanes would be a mesh.
            if not set(right).isdisjoint(stage.nodes) or len(set(right)) < len(right) or len(set(left)) < len(left):
                raise NoLanesError
            # A connection may take more lanes than have come so far: a second circuit begins where it is needed.
            for node in left:
                if node not in stage.nodes:
                    self._join(stage, node)
            chosen.append((coupling, forward))
            self.passed.add(n)
        if not chosen:
            return False
        new = [self.end_of(b) for c, forward in chosen for b in (c.side_2 if forward else c.side_1)]
        self._enter(new)
        self.connections.append(chosen)
        self.stages.append(WalkStage(new, list(new)))
        return True

    def end_of(self, branch: Branch | Port) -> int:
        """The node of a branch or a port that lies at a reference."""
        if self.reference[branch.plus] == self.reference[branch.minus]:
            raise NoLanesError
        return branch.minus if self.reference[branch.plus] else branch.plus

    def _join(self, stage: WalkStage, node: int) -> None:
        """A lane that begins in this stage, because a connection needs its node."""
        mine = [k for k in self.at.get(node, []) if k not in self.placed]
        if not all(self._is_parallel(k) for k in mine) or any(k in self.field_of for k in mine):
            raise NoLanesError
        elements = sorted((k for k in mine if not self._source(k)), key=self._rank)
        lane, ways = len(stage.nodes), stage.ways()
        self._enter([node])
        stage.nodes.append(node)
        stage.starts.append(node)
        # A lane that joins late has to fit what stands before it: its first element takes a place in the series row that exists.
        if ways[:1] == ["series"]:
            if not elements or len(ways) > 1:
                raise NoLanesError
            first, *elements = elements
            # from the reference to the node: before it the lane is at rest
            row = {lane: lane_element(self.items[first], 1 if self.graph.ports[first].minus == node else -1)}
            next(rows for kind, rows in stage.parts if kind == "series").append(row)
            self.placed.add(first)
        for k in elements:
            stage.add("parallel", {lane: lane_element(self.items[k], self._sign(k, node))})
            self.placed.add(k)
        self._place_sources(stage, lane, mine)


def lane_ladder(scheme: PogScheme) -> Lanes:
    """The vector ladder of a network, begun at as many like sources as possible.

    Raises: NoLanesError.
    """
    sources = list(scheme.causal.graph.sources())
    ports = scheme.causal.graph.ports
    alike = [k for k in sources if _source_kind(ports[k]) == _source_kind(ports[sources[0]])] if sources else []
    run = next((n for n, k in enumerate(sources) if k not in alike), len(sources))
    # As many lanes as possible: a vector ladder of three phases is wanted rather than one of a single phase with branches.
    for count in range(run, 0, -1):
        try:
            walk = LaneWalk(scheme, sources[:count])
            walk.run()
            return _written(walk)
        except NoLanesError:
            continue
    raise NoLanesError


def _source_kind(port: Port) -> tuple[str, Side]:
    return port.domain, port.law.side


def _written(walk: LaneWalk) -> Lanes:
    """The stages and connections as a ladder; sources behind the last block are its right section, others branches."""
    stages = walk.stages
    domains = [tuple(walk.graph.nodes[node].domain for node in stage.nodes) for stage in stages]
    ladder = Lanes(domains[0])
    if stages[0].section:
        ladder.parts.append(LadderSection(sources=_row(stages[0].section, len(stages[0].nodes))))
    for n, stage in enumerate(stages):
        width, last = len(stage.nodes), n == len(stages) - 1
        for place, (kind, rows) in enumerate(stage.parts):
            if kind == "sources":
                found = list(_source_rows(rows, width))
                at_end = last and place == len(stage.parts) - 1
                for row in found[1:] if at_end else found:
                    ladder.parts.append(LadderBranch("parallel", Lanes(domains[n], [LadderSection(sources=row)])))
                ladder.parts += [LadderSection(sources=found[0])] if at_end else []
            else:
                ladder.parts.append(LadderBlock((kind,) * width, [_item(walk, row, width) for row in rows]))
        if not last:
            ladder.parts.append(_Joint(walk, n).connection(domains[n + 1]))
    return ladder


def _row(pieces: Pieces, width: int) -> LaneRow:
    return tuple(pieces.get(lane) for lane in range(width))


def _item(walk: LaneWalk, row: Pieces | tuple[Field, Pieces], width: int) -> BlockItem[Expression]:
    # What has no field is a plain row; the pieces of others stand in the matrix.
    if isinstance(row, dict):
        return _row(row, width)
    field, lanes = row
    return lane_field(field, walk.graph, [walk.items[k] for k in field.ports], list(lanes))


def _source_rows(rows: Iterable[Pieces | tuple[Field, Pieces]], width: int) -> Iterator[LaneRow]:
    """Sources of different lanes side by side."""
    found: list[Pieces] = []
    for row in rows:
        assert isinstance(row, dict), "a source belongs to no field"
        # Sources at different lanes share one section, as the lanes of a supply do.
        free = next((other for other in found if other.keys().isdisjoint(row)), None)
        if free is None:
            found.append(dict(row))
        else:
            free |= row
    return (_row(pieces, width) for pieces in found)


class _Joint:
    def __init__(self, walk: LaneWalk, n: int) -> None:
        self.walk = walk
        self.before, self.after = walk.stages[n], walk.stages[n + 1]
        self.couplings = walk.connections[n]
        # The variables that a reader takes without being told are those of the neighbours; only others are written.
        ways, ahead = self.before.ways(), self.after.ways()
        section = next(iter(self.before.section.values()), None)
        self.usual_1: Side = "across"
        if ways:
            self.usual_1 = given_side(ways[-1])
        elif section is not None:
            self.usual_1 = walk.scheme.elements[section.name].decides
        self.usual_2: Side = taken_side(ahead[0]) if ahead else "through"
        self.takes: dict[int, Side] = {}
        self.gives: dict[int, Side] = {}
        self.K: dict[tuple[int, int], Expression] = {}

    def connection(self, domains: tuple[str, ...]) -> Connection:
        for coupling, forward in self.couplings:
            self._add(coupling, forward)
        rows, columns = len(self.after.nodes), len(self.before.nodes)
        return Connection(
            unplaced("_".join(plain_name(coupling.element) for coupling, _ in self.couplings)),
            tuple(tuple(self.K.get((i, j), ZERO) for j in range(columns)) for i in range(rows)),
            None,
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
        # For two scalar sides the conjugate relation says the same, and its usual form needs no words.
        usual = len(left) == len(right) == 1 and sides_1[0] != self.usual_1 and sides_2[0] != self.usual_2
        for i, (b_2, y) in enumerate(zip(right, sides_2, strict=True)):
            for j, (b_1, x) in enumerate(zip(left, sides_1, strict=True)):
                entry = K[i][j]
                if entry is ZERO:
                    continue
                # Branches against the lane turn the sign, and a relation read backwards turns it for through variables.
                sign = self._sign(b_1) * self._sign(b_2) * (1 if forward or x == y else -1)
                entry = entry if sign > 0 else -entry
                # One modulus may be written for the conjugates too: then it is the reciprocal.
                self.K[self._lane(self.after, b_2), self._lane(self.before, b_1)] = ONE / entry if usual else entry
        for b, x in zip(left, sides_1, strict=True):
            self._settle(self.takes, self._lane(self.before, b), other_side(x) if usual else x)
        for b, y in zip(right, sides_2, strict=True):
            self._settle(self.gives, self._lane(self.after, b), other_side(y) if usual else y)

    def _settle(self, sides: dict[int, Side], lane: int, side: Side) -> None:
        # A lane has one variable in a connection: K cannot take its voltage in one row and its current in another.
        if sides.setdefault(lane, side) != side:
            raise NoLanesError

    def _lane(self, stage: WalkStage, branch: Branch) -> int:
        # Lanes of the stage before have moved on to their last nodes, those of the stage behind are where they start.
        node = self.walk.end_of(branch)
        return (stage.nodes if stage is self.before else stage.starts).index(node)

    def _sign(self, branch: Branch) -> int:
        return -1 if self.walk.reference[branch.plus] else 1
