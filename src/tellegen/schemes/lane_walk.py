"""Walks over a network in layers: lanes of nodes that move on together, through series elements and through connections."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Literal, final

from tellegen.graph import Branch, Coupling, Field, SourceLaw, StorageLaw
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.written import Piece, Way


class NoLanesError(Exception):
    """The network has another shape."""


Pieces = dict[int, Piece]
"""Pieces by the number of their lane."""


@final
@dataclass(eq=False)
class Stage:
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
        self.seen: set[int] = set()  # nodes that lanes have been at: no other lane may come there, also not a later one
        self.field_of = {k: field for field in self.graph.fields for k in field.ports}
        self.stages: list[Stage] = []
        self.connections: list[list[tuple[Coupling, bool]]] = []
        self.starts = starts

    def run(self) -> None:
        """Fill `stages`, and the couplings between them into `connections`.

        Raises: NoLanesError where the network has another shape.
        """
        nodes = list(dict.fromkeys(self._node_of(k) for k in self.starts))
        self.stages.append(Stage(nodes, list(nodes)))
        self._enter(nodes)
        for k in self.starts:
            lane = nodes.index(self._node_of(k))
            if lane in self.stages[0].section:
                continue  # two sources at one node: the second is a branch
            self.stages[0].section[lane] = Piece(self.items[k], self._source_sign(k, nodes[lane]))
            self.placed.add(k)
        while True:
            self._parallel()
            if self._series() or self._connect():
                continue
            break
        if len(self.placed) < len(self.graph.ports) or len(self.passed) < len(self.graph.couplings):
            raise NoLanesError
        self._settle_end(self.stages[-1])

    def _settle_end(self, stage: Stage) -> None:
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
                late += [row for row in rows if isinstance(row, dict) and moving.isdisjoint(row)]
                rows[:] = [row for row in rows if row not in late]
        stage.parts = [part for part in stage.parts if part[1]]
        for row in late:
            stage.add("sources", row)
        ended = {lane for row in late for lane in row}
        if stage.ways()[-1:] == ["series"] and len(ended) < len(stage.nodes):
            raise NoLanesError

    def _enter(self, nodes: Iterable[int]) -> None:
        for node in nodes:
            if node in self.seen:
                raise NoLanesError
            self.seen.add(node)

    def _node_of(self, k: int) -> int:
        """The node of a port that lies at a reference."""
        port = self.graph.ports[k]
        if self.reference[port.plus] == self.reference[port.minus]:
            raise NoLanesError
        return port.minus if self.reference[port.plus] else port.plus

    def _source_sign(self, k: int, node: int) -> int:
        """Across variables fall from the node by default, through variables flow into it."""
        port = self.graph.ports[k]
        falls = port.plus == node
        return 1 if falls == (self.items[k].decides == "across") else -1

    def _source(self, k: int) -> bool:
        return isinstance(self.graph.ports[k].law, SourceLaw)

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _parallel(self) -> None:
        """Place what lies between the lanes and their references."""
        stage = self.stages[-1]
        ready: dict[int, dict[int, int]] = {}  # port -> lane, by rank of the row
        for lane, node in enumerate(stage.nodes):
            mine = [k for k in self.at.get(node, []) if k not in self.placed and self._is_parallel(k)]
            elements = sorted((k for k in mine if not self._source(k) and k not in self.field_of), key=self._rank)
            for n, k in enumerate(elements):
                ready.setdefault(n, {})[k] = lane
        for row in ready.values():
            stage.add(
                "parallel", {lane: Piece(self.items[k], self._sign(k, stage.nodes[lane])) for k, lane in row.items()}
            )
            self.placed.update(row)
        for field in self.graph.fields:
            self._place_field(field, stage, "parallel")
        for lane, node in enumerate(stage.nodes):
            self._place_sources(stage, lane, [k for k in self.at.get(node, []) if k not in self.placed])

    def _place_sources(self, stage: Stage, lane: int, ports: Iterable[int]) -> None:
        for k in ports:
            if self._source(k) and self._is_parallel(k):
                stage.add("sources", {lane: Piece(self.items[k], self._source_sign(k, stage.nodes[lane]))})
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

    def _place_field(self, field: Field, stage: Stage, way: Way) -> bool:
        """Place a field whose ports all lie at lanes of the stage, in one way."""
        if field.ports[0] in self.placed:
            return False
        lanes: dict[int, Piece] = {}
        for k in field.ports:
            port = self.graph.ports[k]
            here = [n for n, node in enumerate(stage.nodes) if node in (port.plus, port.minus)]
            if len(here) != 1 or self._is_parallel(k) != (way == "parallel") or here[0] in lanes:
                return False
            lanes[here[0]] = Piece(self.items[k], self._sign(k, stage.nodes[here[0]]))
        if any(piece.sign < 0 for piece in lanes.values()):
            raise NoLanesError  # the entries of its matrix would change their signs
        stage.add(way, (field, lanes))
        self.placed.update(field.ports)
        if way == "series":
            for k, lane in zip(field.ports, lanes, strict=True):
                self._move(stage, lane, k)
        return True

    def _move(self, stage: Stage, lane: int, k: int) -> None:
        """Take a lane through a port to its other node."""
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
            if len(ahead) > 1:
                raise NoLanesError
            if ahead:
                row[lane] = ahead[0]
        single = {lane: k for lane, k in row.items() if k not in self.field_of}
        if single:
            self._no_coupling_at(stage.nodes[lane] for lane in single)
            pieces = {lane: Piece(self.items[k], self._sign(k, stage.nodes[lane])) for lane, k in single.items()}
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
            if n not in self.passed and any({b.plus, b.minus} & here for b in (*coupling.side_1, *coupling.side_2)):
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
            if not set(right).isdisjoint(stage.nodes) or len(set(right)) < len(right) or len(set(left)) < len(left):
                raise NoLanesError
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
        self.stages.append(Stage(new, list(new)))
        return True

    def end_of(self, branch: Branch) -> int:
        """The node of a branch that lies at a reference."""
        if self.reference[branch.plus] == self.reference[branch.minus]:
            raise NoLanesError
        return branch.minus if self.reference[branch.plus] else branch.plus

    def _join(self, stage: Stage, node: int) -> None:
        """A lane that begins in this stage, because a connection needs its node."""
        mine = [k for k in self.at.get(node, []) if k not in self.placed]
        if not all(self._is_parallel(k) for k in mine) or any(k in self.field_of for k in mine):
            raise NoLanesError
        elements = sorted((k for k in mine if not self._source(k)), key=self._rank)
        lane, ways = len(stage.nodes), stage.ways()
        self._enter([node])
        stage.nodes.append(node)
        stage.starts.append(node)
        if ways[:1] == ["series"]:
            if not elements or len(ways) > 1:
                raise NoLanesError
            first, *elements = elements
            # from the reference to the node: before it the lane is at rest
            row = {lane: Piece(self.items[first], 1 if self.graph.ports[first].minus == node else -1)}
            next(rows for kind, rows in stage.parts if kind == "series").append(row)
            self.placed.add(first)
        for k in elements:
            stage.add("parallel", {lane: Piece(self.items[k], self._sign(k, node))})
            self.placed.add(k)
        self._place_sources(stage, lane, mine)
