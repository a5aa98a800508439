"""A bond graph as a value: junctions, one-ports and two-ports joined by bonds with half arrows, strokes and variables; its
connected parts and trees.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.expressions import Expression
from tellegen.graph import Port, SourceLaw, StorageLaw

JunctionKind = Literal["0", "1"]
OnePortKind = Literal["Se", "Sf", "C", "I", "R"]
TwoPortKind = Literal["TF", "GY"]
BondEnd = Literal["tail", "head"]
Causality = Literal["integral", "derivative", ""]


@final
@dataclass(frozen=True, slots=True)
class Junction:
    """A 0-junction (one effort) or a 1-junction (one flow). `shares` is the same in the across / through reading.

    A vector junction has the junctions of its components as `parts`.
    """

    name: str
    kind: JunctionKind
    domain: str
    shares: Side
    variable: str
    parts: "tuple[Junction, ...]" = ()

    @property
    def series(self) -> bool:
        """Whether its elements share the through variable."""
        return self.shares == "through"


@final
@dataclass(frozen=True, slots=True)
class OnePort:
    """A storage, resistive element or source. `decides` is the power variable that it imposes; `turned` reverses its signs.

    Only linear resistive elements are turned: their law does not see it. `field` names the multiport it is part of. `letters` are
    what stands before its name: those of its kind, or MSe, MSf, MR where a signal or a motion moves it, De, Df for an ideal sensor,
    rSe, rSf for a residual sink, IC for a field of both kinds. A vector one-port or a field has its components as `parts`, `port`
    being that of the first.
    """

    name: str
    kind: OnePortKind
    port: Port
    decides: Side
    turned: bool = False
    field: str = ""
    letters: str = ""
    parts: "tuple[OnePort, ...]" = ()

    @property
    def domain(self) -> str:
        """The physical domain."""
        return self.port.domain

    @property
    def causality(self) -> Causality:
        """Integral or derivative for a storage, empty for the others."""
        if not isinstance(self.port.law, StorageLaw):
            return ""
        return "integral" if self.decides == self.port.law.side else "derivative"


@final
@dataclass(frozen=True, slots=True)
class TwoPort:
    """TF: e_a = m e_b, f_b = m f_a; GY: e_a = r f_b, e_b = r f_a, along the half arrows a -> b. `origins` names its couplings.

    With a `matrix`, TF: f_b = K f_a, e_a = K^T e_b; GY: e_b = K f_a, e_a = K^T f_b, and `domains` are those of the first bonds in
    and out. `letters` are MTF or MGY where the modulus moves.
    """

    name: str
    kind: TwoPortKind
    modulus: Expression
    domains: tuple[str, str]
    origins: tuple[str, ...]
    letters: str = ""
    matrix: tuple[tuple[Expression, ...], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Bond:
    """A half arrow: power counts as positive from `tail` to `head`. The stroke stands at the end that receives the effort.

    A vector bond has the scalar bonds it stands for as `parts`, all with the same stroke. A scalar bond says which component of a
    vector item, or which port of a two-port with a matrix, it ends at, counted from 1.
    """

    number: int
    tail: str
    head: str
    domain: str
    across: str
    through: str
    stroke: BondEnd
    tail_port: int = 0
    head_port: int = 0
    parts: "tuple[Bond, ...]" = ()

    @property
    def size(self) -> int:
        """The number of scalar bonds it stands for."""
        return len(self.parts) or 1

    @property
    def effort(self) -> str:
        """The name of the effort."""
        return self.variable(DOMAINS[self.domain].effort)

    @property
    def flow(self) -> str:
        """The name of the flow."""
        return self.variable(DOMAINS[self.domain].flow)

    def variable(self, side: Side) -> str:
        """The name of a power variable."""
        return self.across if side == "across" else self.through

    def other(self, name: str) -> str:
        """The item at the other end."""
        return self.head if self.tail == name else self.tail

    def receives(self, name: str) -> Side:
        """The power variable that the item at an end is told through this bond."""
        domain: Domain = DOMAINS[self.domain]
        at_stroke = (self.head if self.stroke == "head" else self.tail) == name
        return domain.effort if at_stroke else domain.flow

    def brings(self, name: str) -> Side:
        """The power variable that the item at an end gives to this bond."""
        return other_side(self.receives(name))


@final
@dataclass(frozen=True)
class BondGraphScheme:
    """A causal bond graph. Names of items are unique; bonds are numbered from 1. `causal` is where it was raised from."""

    name: str
    junctions: Mapping[str, Junction]
    one_ports: Mapping[str, OnePort]
    two_ports: Mapping[str, TwoPort]
    bonds: tuple[Bond, ...]
    causal: CausalGraph = field(compare=False, repr=False)
    _at: Mapping[str, tuple[Bond, ...]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        at: dict[str, list[Bond]] = {}
        for bond in self.bonds:
            at.setdefault(bond.tail, []).append(bond)
            at.setdefault(bond.head, []).append(bond)
        object.__setattr__(self, "_at", {name: tuple(bonds) for name, bonds in at.items()})

    def bonds_of(self, name: str) -> tuple[Bond, ...]:
        """The bonds at an item."""
        return self._at.get(name, ())

    def sources(self) -> Iterator[OnePort]:
        """The sources, in the order of description."""
        return (item for item in self.one_ports.values() if isinstance(item.port.law, SourceLaw))

    def kind_of(self, name: str) -> str:
        """The letters that stand before the name of an item: 0, 1, Se, Sf, C, I, R, TF, GY, MTF, De, ..."""
        if name in self.junctions:
            return self.junctions[name].kind
        item: OnePort | TwoPort = self.one_ports[name] if name in self.one_ports else self.two_ports[name]
        return item.letters or item.kind

    def size_of(self, name: str) -> int:
        """The number of components of an item; 1 for two-ports, which have a size on either side."""
        item = self.junctions.get(name) or self.one_ports.get(name)
        return len(item.parts) or 1 if item is not None else 1

    def __str__(self) -> str:
        """One bond a line: number, items, stroke (`|` at its end), effort and flow."""
        return "\n".join(self._line(bond) for bond in self.bonds)

    def _line(self, bond: Bond) -> str:
        arrow = "|->" if bond.stroke == "tail" else "->|"
        if bond.size > 1:
            arrow = arrow.replace("->", f"-[{bond.size}]->")
        ends = (
            f"{self.kind_of(name)}:{name}" + (f"[{port}]" if port else "")
            for name, port in ((bond.tail, bond.tail_port), (bond.head, bond.head_port))
        )
        return f"{bond.number:>3}  {f' {arrow} '.join(ends)}   ({bond.effort}, {bond.flow})"


NOT_DRAWN_BEFORE = 10**9
"""The number of the ladder of what was not drawn before."""
SHAFT_DOMAINS = ("rotational", "translational")
"""Domains whose sources drive or load: those of the others supply."""


@final
@dataclass(frozen=True)
class ConnectedPart:
    """A part of a bond graph that hangs together. `members` are junctions and two-ports.

    `earlier` are the places of elements in ladders drawn before, the number of the ladder and that of the column.
    """

    graph: BondGraphScheme = field(repr=False)
    members: tuple[str, ...]
    earlier: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    def bonds(self, name: str) -> list[Bond]:
        """The bonds of a member to other members."""
        return [b for b in self.graph.bonds_of(name) if b.other(name) not in self.graph.one_ports]

    def is_tree(self) -> bool:
        """Whether no mesh closes through its junctions."""
        return sum(len(self.bonds(name)) for name in self.members) == 2 * (len(self.members) - 1)

    def is_path(self) -> bool:
        """Whether no member has more than two neighbours."""
        return self.is_tree() and all(len(self.bonds(name)) <= 2 for name in self.members)

    def start(self) -> str:
        """Where the main ladder starts: at the first source, if it supplies wires or pipes, else at what is described first.

        That is the nearer end of a path; in a tree an end, or a junction with a source. A load or a drive that is taken away does
        so not turn the ladder round. A ladder that was drawn before starts where it did.
        """
        rank = self._ranks()
        known = {name: place for name in self.members if (place := self.place(name)) is not None}
        if known:
            near = self._distances(min(known, key=known.__getitem__))
            ends = [name for name in self._candidates() if not self.is_path() or len(self.bonds(name)) <= 1]
            return min(ends, key=lambda name: (near[name], rank[name]))
        first = self._supplied(rank) or min(self._candidates(), key=rank.__getitem__)
        if not self.is_path():
            return first
        ends = [name for name in self.members if len(self.bonds(name)) <= 1]
        distance = self._distances(first)
        return min(ends, key=lambda name: (distance[name], rank[name]))

    def place(self, name: str) -> tuple[int, int] | None:
        """Where a member stood in the ladders drawn before."""
        others = (bond.other(name) for bond in self.graph.bonds_of(name))
        own = (name, *(other for other in others if other in self.graph.one_ports))
        return min((self.earlier[item] for item in own if item in self.earlier), default=None)

    def _supplied(self, members: Mapping[str, int]) -> str:
        """The junction of the first source, where that decides what is across wires or pipes."""
        for item in self.graph.sources():
            (bond,) = self.graph.bonds_of(item.name)
            if bond.other(item.name) in members:
                supplies = item.decides == "across" and bond.domain not in SHAFT_DOMAINS
                return bond.other(item.name) if supplies else ""
        return ""

    def _candidates(self) -> Iterable[str]:
        if self.is_path() or not self.is_tree():
            return self.members
        sources = {self.graph.bonds_of(item.name)[0].other(item.name) for item in self.graph.sources()}
        return [name for name in self.members if name in sources or len(self.bonds(name)) <= 1]

    def _ranks(self) -> dict[str, int]:
        """For each member the number of the element at it that is described first."""
        found = dict.fromkeys(self.members, len(self.graph.one_ports))
        for k, name in enumerate(self.graph.one_ports):
            (bond,) = self.graph.bonds_of(name)
            junction = bond.other(name)
            if junction in found:
                found[junction] = min(found[junction], k)
        return found

    def _distances(self, start: str) -> dict[str, int]:
        found = {start: 0}
        queue = [start]
        for name in queue:
            for bond in self.bonds(name):
                other = bond.other(name)
                if other not in found:
                    found[other] = found[name] + 1
                    queue.append(other)
        return found


def connected_parts(graph: BondGraphScheme, earlier: Sequence[Sequence[str]] = ()) -> list[ConnectedPart]:
    """The parts of a bond graph, in the order of its bonds; `earlier` are the elements along ladders drawn before."""
    before = {name: (n, k) for n, line in enumerate(earlier) for k, name in enumerate(line)}
    found: list[ConnectedPart] = []
    seen: set[str] = set()
    for name in graph.junctions:
        if name in seen:
            continue
        seen.add(name)
        queue = [name]
        for member in queue:
            for bond in graph.bonds_of(member):
                other = bond.other(member)
                if other not in seen and other not in graph.one_ports:
                    seen.add(other)
                    queue.append(other)
        found.append(ConnectedPart(graph, tuple(queue), before))
    return sorted(found, key=_first_bond)


def _first_bond(part: ConnectedPart) -> int:
    """The number of the first bond of a part: bonds follow the order of description."""
    return min((bond.number for name in part.members for bond in part.graph.bonds_of(name)), default=0)


def heavy_children(part: ConnectedPart, root: str) -> dict[str, list[Bond]]:
    """For each member of a tree the bonds that lead away from the root, the one to the deepest subtree first.

    Where ladders were drawn before, what went on along the ladder does so again.
    """
    order, parent = [root], {root: ""}
    for name in order:
        for bond in part.bonds(name):
            other = bond.other(name)
            if other != parent[name]:
                parent[other] = name
                order.append(other)
    height = dict.fromkeys(order, 0)
    ladder = {name: NOT_DRAWN_BEFORE if (place := part.place(name)) is None else place[0] for name in order}
    found: dict[str, list[Bond]] = {}
    for name in reversed(order):
        away = [bond for bond in part.bonds(name) if bond.other(name) != parent[name]]
        away.sort(key=lambda bond, name=name: (ladder[bond.other(name)], -height[bond.other(name)]))  # type: ignore[misc]
        found[name] = away
        ladder[name] = min([ladder[name], *(ladder[bond.other(name)] for bond in away)])
        height[name] = 1 + max((height[bond.other(name)] for bond in away), default=0)
    return found
