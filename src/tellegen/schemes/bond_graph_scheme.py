"""A causal bond graph: the graph with what its one-ports and two-ports are physically; its connected parts and trees."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import Literal, final

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.expressions import ZERO, Expression, symbol, to_text
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.signal_lowering import named_between
from tellegen.model.bond_graph import (
    DETECTORS,
    SINKS,
    BondEnds,
    BondGraph,
    BondItem,
    PowerBond,
    SignalBond,
    bond_ends,
)

Matrix = tuple[tuple[Expression, ...], ...]
OnePortKind = Literal["Se", "Sf", "C", "I", "R"]
TwoPortKind = Literal["TF", "GY"]
Causality = Literal["integral", "derivative", ""]


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
    port: Port
    decides: Side
    turned: bool = False
    field: str = ""
    letters: str = ""
    parts: "tuple[OnePort, ...]" = ()

    @property
    def kind(self) -> OnePortKind:
        """The letters of its law in the reading of bond graphs."""
        law, domain = self.port.law, DOMAINS[self.port.domain]
        if isinstance(law, SourceLaw):
            return "Se" if law.side == domain.effort else "Sf"
        if isinstance(law, StorageLaw):
            return "C" if law.side == domain.effort else "I"
        return "R" if law.potential is None else "C"

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

    def lettered(self, *, moving: bool = False) -> "OnePort":
        """The same with the letters of its kind, or with those for what moves, for sensors and for residual sinks.

        A sensor of effort and the sink rSe both have no flow: the sensor is the one whose variable has its name. A source that
        reads nothing but what it decides is a sink whose stroke is that of a source.
        """
        law, kind = self.port.law, self.kind
        letters = f"M{kind}" if moving else kind
        # The order matters: a residual sink is a source that reads only itself, and a modulated source reads anything else.
        if isinstance(law, SourceLaw) and law.signal is not None:
            letters = f"r{kind}" if law.signal == symbol(self.port.variable(law.side)) else f"M{kind}"
        # An element of coefficient zero takes no power: it is a sensor of its other variable, or the ideal law of a residual sink.
        elif isinstance(law, ResistiveLaw) and law.coefficient is ZERO:
            open_side = other_side(law.side)
            word = "e" if open_side == DOMAINS[self.domain].effort else "f"
            letters = f"D{word}" if self.port.variable(open_side) == self.port.element else f"rS{word}"
        return replace(self, letters=letters)

    def item(self) -> BondItem:
        """The item of the graph that stands for it, with the name of its own variable where a reader would take another."""
        letters, side = self.letters or self.kind, self.port.law.side
        name = self.port.variable(side)
        # Names that a reader would give anyway are left out of the line, and so are those with an index, which no line can say.
        usual = name == default_variable(self.port, self.name, side) or "[" in name or name in DOMAINS
        # What a switch decides changes with its mode, so that its lines name both variables by their words.
        named = () if usual or self.parts or letters in (*DETECTORS, *SINKS, "Sw") else (name,)
        return BondItem(self.name, letters, self.domain, named, len(self.parts))


def default_variable(port: Port, name: str, side: Side) -> str:
    """The name that a variable of an element gets where none is given."""
    if isinstance(port.law, SourceLaw) and port.law.side == side:
        return name
    return f"{DOMAINS[port.domain].power(side).symbol}_{name}"


@final
@dataclass(frozen=True, slots=True)
class TwoPort:
    """TF: e_a = m e_b, f_b = m f_a; GY: e_a = r f_b, e_b = r f_a, along the half arrows a -> b. `origins` names its couplings.

    With a `matrix`, TF: f_b = K f_a, e_a = K^T e_b; GY: e_b = K f_a, e_a = K^T f_b, and `domains` are those of the first bonds in
    and out.
    """

    name: str
    kind: TwoPortKind
    modulus: Expression
    domains: tuple[str, str]
    origins: tuple[str, ...]
    matrix: tuple[tuple[Expression, ...], ...] = ()


@final
@dataclass(frozen=True)
class BondGraphScheme:
    """A bond graph with strokes and variables on every bond, and what is behind its items. Bonds are numbered from 1.

    The physics stands beside the graph and not in it, by name: a two-port that was joined with others or turned has a modulus that
    no element of the model has. `causal` is where it was made from.
    """

    name: str
    graph: BondGraph
    one_ports: Mapping[str, OnePort]
    two_ports: Mapping[str, TwoPort]
    causal: CausalGraph = field(compare=False, repr=False)
    junctions: Mapping[str, BondItem] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        # Looked up for each bond that is drawn; made once, because the dataclass is frozen.
        object.__setattr__(self, "junctions", {item.name: item for item in self.graph.of_role("junction")})

    @property
    def bonds(self) -> tuple[PowerBond, ...]:
        """The bonds, in the order of description."""
        return self.graph.bonds

    def bonds_of(self, name: str) -> tuple[PowerBond, ...]:
        """The bonds at an item."""
        return self.graph.bonds_of(name)

    def sources(self) -> Iterator[OnePort]:
        """The sources, in the order of description."""
        return (item for item in self.one_ports.values() if isinstance(item.port.law, SourceLaw))

    def elements_at(self, junction: BondItem) -> list[PowerBond]:
        """The bonds of one-ports at a junction: the storage that decides, other storages, static elements, sources.

        Where the author named a variable between two of them, they stand as described.
        """
        found = [b for b in self.bonds_of(junction.name) if b.other(junction.name) in self.one_ports]
        if named := named_between(self.causal.graph):
            unit = DOMAINS[junction.domain].power(other_side(junction.shares)).unit
            names = [self.one_ports[b.other(junction.name)].port.element for b in found]
            if any((*pair, unit) in named for pair in pairwise(names)):
                return found

        def rank(bond: PowerBond) -> int:
            law = self.one_ports[bond.other(junction.name)].port.law
            if isinstance(law, StorageLaw):
                return 0 if bond.receives(junction.name) == junction.shares else 1
            return 3 if isinstance(law, SourceLaw) else 2

        # The storage that decides stands first: the lines of all others then run one way, and do not cross it. A reader
        # gives its variable the name of the section beside it.
        return sorted(found, key=rank)

    def sources_at(self, junction: BondItem) -> list[PowerBond]:
        """The bonds of sources at a junction."""
        bonds = self.elements_at(junction)
        return [b for b in bonds if isinstance(self.one_ports[b.other(junction.name)].port.law, SourceLaw)]

    def kind_of(self, name: str) -> str:
        """The letters that stand before the name of an item: 0, 1, Se, Sf, C, I, R, TF, GY, MTF, De, ..."""
        return self.graph.items[name].letters

    def size_of(self, name: str) -> int:
        """The number of components of an item; 1 for two-ports, which have a size on either side."""
        return max(self.graph.items[name].size, 1)

    def rebonded(self, one_ports: Mapping[str, OnePort], bonds: Sequence[PowerBond]) -> "BondGraphScheme":
        """The scheme with other one-ports and bonds between its junctions and two-ports."""
        # Items of one-ports are made anew: their letters may have changed with their causes (a source of effort that
        # becomes one of flow).
        others = [item for item in self.graph.items.values() if item.role != "one-port"]
        return replace(self, graph=graph_of(others, one_ports, bonds), one_ports=one_ports)

    def __str__(self) -> str:
        """One bond a line: number, items, stroke (`|` at its end), effort and flow."""
        return str(self.graph)


def graph_of(others: Iterable[BondItem], one_ports: Mapping[str, OnePort], bonds: Sequence[PowerBond]) -> BondGraph:
    """The graph of one-ports and other items, with the signals that sources follow."""
    items = {item.name: item for item in (*others, *(one_port.item() for one_port in one_ports.values()))}
    signals = [
        SignalBond(to_text(one_port.port.law.signal), name)
        for name, one_port in one_ports.items()
        if isinstance(one_port.port.law, SourceLaw) and one_port.port.law.signal is not None and not one_port.parts
    ]
    return BondGraph(items, tuple(bonds), tuple(signals))


def numbered_graph(
    others: Iterable[BondItem],
    one_ports: Mapping[str, OnePort],
    bonds: Iterable[PowerBond],
    given: Mapping[int, BondEnds],
) -> BondGraph:
    """The graph with numbers on its bonds: those that the author gave, and for others what is free, in the order of description."""
    graph = graph_of(others, one_ports, [replace(b, number=k, numbered=False) for k, b in enumerate(bonds, 1)])
    if not given:
        return graph
    # An element keeps the name that its author gave; the item of a part has one without dots.
    called = {name: item.port.element for name, item in one_ports.items() if not item.parts}
    ends = list(bond_ends(graph, called))
    own: dict[int, int] = {}
    for number, place in given.items():
        like = {bond.number: place.likeness(other) for bond, other in ends if bond.number not in own}
        best = max(like, key=lambda k: like[k], default=0)
        # A bond that the rules simplified away takes its number with it.
        if like.get(best):
            own[best] = number
    taken = set(own.values())
    free = (k for k in count(1) if k not in taken)
    numbers = [own.get(bond.number) or next(free) for bond in graph.bonds]
    named = (replace(b, number=k, numbered=b.number in own) for b, k in zip(graph.bonds, numbers, strict=True))
    return replace(graph, bonds=tuple(named))


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

    def bonds(self, name: str) -> list[PowerBond]:
        """The bonds of a member to other members."""
        return [b for b in self.graph.bonds_of(name) if b.other(name) not in self.graph.one_ports]

    def is_tree(self) -> bool:
        """Whether no mesh closes through its junctions."""
        # A connected graph is a tree where it has one bond fewer than members; each bond is counted at both of its ends.
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
        # A figure that was drawn before is kept as it was as far as possible: a reader finds his place again after a
        # small change of the model.
        if known:
            # The element that stood first before tells the end; others may have been added in front of it.
            near = self._distances(min(known, key=known.__getitem__))
            ends = [name for name in self._candidates() if not self.is_path() or len(self.bonds(name)) <= 1]
            return min(ends, key=lambda name: (near[name], rank[name]))
        # Power is read from left to right as it flows: from the supply where there is one, else in the order of the description.
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
                # A voltage or a pressure supplies a circuit; a speed at a shaft is a drive or a load, and says nothing
                # about where reading begins.
                supplies = item.decides == "across" and bond.domain not in SHAFT_DOMAINS
                return bond.other(item.name) if supplies else ""
        return ""

    def _candidates(self) -> Iterable[str]:
        # Meshes have no ladder, so that any member may be the first one of their vector block.
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
        # Breadth first over a list that grows while it is read: each member is met at its smallest distance.
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
    # Parts stand in the order of the description, not in that of junctions, whose order follows the rules of simplification.
    return sorted(found, key=lambda part: min((b.number for n in part.members for b in graph.bonds_of(n)), default=0))


def heavy_children(part: ConnectedPart, root: str) -> dict[str, list[PowerBond]]:
    """For each member of a tree the bonds that lead away from the root, the one to the deepest subtree first.

    Where ladders were drawn before, what went on along the ladder does so again.
    """
    order, parent = [root], {root: ""}
    # Parents come before children, so that the second loop, which runs backwards, has the heights of all children when
    # it asks for them.
    for name in order:
        for bond in part.bonds(name):
            other = bond.other(name)
            if other != parent[name]:
                parent[other] = name
                order.append(other)
    # The deepest branch goes on as the main ladder: it makes side ladders short, and the figure flat.
    height = dict.fromkeys(order, 0)
    ladder = {name: NOT_DRAWN_BEFORE if (place := part.place(name)) is None else place[0] for name in order}
    found: dict[str, list[PowerBond]] = {}
    for name in reversed(order):
        away = [bond for bond in part.bonds(name) if bond.other(name) != parent[name]]
        # Ladders of an earlier figure come first, the longest branch after that; a minus sign sorts the deepest one to the front.
        away.sort(key=lambda bond, name=name: (ladder[bond.other(name)], -height[bond.other(name)]))  # type: ignore[misc]
        found[name] = away
        ladder[name] = min([ladder[name], *(ladder[bond.other(name)] for bond in away)])
        height[name] = 1 + max((height[bond.other(name)] for bond in away), default=0)
    return found
