"""Strokes on the bonds of a graph: how they spread from what one-ports decide, and in which order they are put, with reasons.

At a junction exactly one bond brings the shared variable. TF passes a variable on, GY turns it into its conjugate. Where spreading
stops short of all bonds, a loop of junctions can be solved in more than one direction: one is tried, and taken back if it leads to
a contradiction.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, final

from tellegen.causality.exact import Demand, demands
from tellegen.core.domains import DOMAINS, Side
from tellegen.core.language import Phrases
from tellegen.expressions.elimination import Elimination, ResidueField
from tellegen.graph import Port, SourceLaw, StorageLaw
from tellegen.model.bond_graph import BondGraph, PowerBond, plain_kind
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, Matrix, OnePort

Strokes = dict[int, str]
"""For each bond, by its number, the item at the end that receives the effort."""
Follow = list[tuple[PowerBond, str]]
"""Bonds and the ends where strokes then stand."""


def with_strokes(
    graph: BondGraph, decides: Mapping[str, Side], matrices: Mapping[str, Matrix], *, contradictory: bool = False
) -> BondGraph | None:
    """The graph with a stroke on every bond; None where no choice suits all junctions.

    `decides` are the power variables that one-ports impose, `matrices` those of two-ports that have one. A `contradictory` graph
    gets strokes as far as they agree: the figure then shows where causality contradicts itself.
    """
    search = StrokeSearch(graph, matrices)
    decided = list(_decided(graph, decides))
    if not search.run(decided):
        if not contradictory:
            return None
        # Kept apart from a second search: a search that failed has taken back its last trial, and its strokes are no
        # use to a figure.
        search = StrokeSearch(graph, matrices)
        for bond, end in (*decided, *((bond, bond.head) for bond in graph.bonds)):
            if bond.number not in search.strokes:
                search.settle(bond, end)
    # The stroke stands at the end that receives the effort (docs/theory/bond_graphs.md), whatever the direction of the half arrow.
    ends = search.strokes
    bonds = (replace(b, stroke="tail" if ends[b.number] == b.tail else "head") for b in graph.bonds)
    return replace(graph, bonds=tuple(bonds))


def _decided(graph: BondGraph, decides: Mapping[str, Side]) -> Iterator[tuple[PowerBond, str]]:
    for name, side in decides.items():
        (bond,) = graph.bonds_of(name)
        # In mechanics the effort is the through variable, so "decides the across variable" means "gives the flow" there.
        gives_effort = side == DOMAINS[graph.items[name].domain].effort
        # Who gives the effort has the stroke at the far end of its bond; who gives the flow has it at its own.
        yield bond, bond.other(name) if gives_effort else name


class StrokeSearch:
    """The strokes put so far, and those that follow from them."""

    def __init__(self, graph: BondGraph, matrices: Mapping[str, Matrix]) -> None:
        self.graph = graph
        self.matrices = matrices
        self.strokes: Strokes = {}
        self.trail: list[PowerBond] = []
        # For each junction the bonds without a stroke, and those that bring what it shares: counts, so that a
        # junction of thousands of bonds costs no more than the bonds themselves.
        self.open = {item.name: len(graph.bonds_of(item.name)) for item in graph.of_role("junction")}
        self.brought = dict.fromkeys(self.open, 0)

    def run(self, decided: Follow) -> bool:
        """Start from the strokes at elements and settle all bonds; False where that cannot be."""
        # Elements first: what they decide is not to be chosen, so that a contradiction here cannot be cured by another choice.
        if not all(self.settle(bond, end) for bond, end in decided):
            return False
        bonds = self.graph.bonds
        # An explicit stack in place of recursion: a ladder of thousands of sections would overflow the stack of Python.
        choices: list[tuple[int, int, PowerBond]] = []  # length of the trail, position in `bonds`, the bond tried
        # Bonds are tried in the order of description, so that the same model always gets the same strokes.
        position = 0
        while True:
            while position < len(bonds) and bonds[position].number in self.strokes:
                position += 1
            if position == len(bonds):
                return True
            bond = bonds[position]
            choices.append((len(self.trail), position, bond))
            # The head is tried first, the tail when that leads to a contradiction: two values a bond, so no choice is left out.
            if self.settle(bond, bond.head):
                continue
            while choices:
                length, position, bond = choices.pop()
                self._undo(length)
                if self.settle(bond, bond.tail):
                    break
            else:
                return False

    def _undo(self, length: int) -> None:
        # The trail lists strokes in the order in which they were put, so that taking back is as cheap as putting.
        while len(self.trail) > length:
            bond = self.trail.pop()
            for name in (bond.tail, bond.head):
                if name in self.open:
                    self.open[name] += 1
                    # Asked before the stroke goes: whether a bond brings the variable is read from its stroke.
                    self.brought[name] -= self._brings(bond, name)
            del self.strokes[bond.number]

    def _brings(self, bond: PowerBond, junction: str) -> bool:
        """Whether a bond decides the shared variable of a junction."""
        # A 0-junction shares the effort, which comes in where the stroke is; a 1-junction shares the flow, which comes
        # in where it is not.
        return (self.strokes[bond.number] == junction) == self._shares_effort(junction)

    def _shares_effort(self, junction: str) -> bool:
        return self.graph.items[junction].letters == "0"

    def settle(self, bond: PowerBond, end: str) -> bool:
        """Put a stroke and all that follow from it; False at a contradiction."""
        # Depth first: a contradiction shows at once in the part that a stroke decides, before unrelated bonds are touched.
        stack = [(bond, end)]
        while stack:
            bond, end = stack.pop()
            known = self.strokes.get(bond.number)
            if known is not None:
                if known != end:
                    return False
                continue
            self.put(bond, end)
            for name in (bond.tail, bond.head):
                follows = self.follows(name, bond)
                if follows is None:
                    return False
                stack.extend(follows)
        return True

    def put(self, bond: PowerBond, end: str) -> None:
        """Put one stroke."""
        self.strokes[bond.number] = end
        self.trail.append(bond)
        # Both counts are brought up to date before anything follows from them: a bond between two junctions counts at both.
        for name in (bond.tail, bond.head):
            if name in self.open:
                self.open[name] -= 1
                self.brought[name] += self._brings(bond, name)

    def follows(self, name: str, bond: PowerBond) -> Follow | None:
        """The strokes that follow at an item; None where they contradict each other."""
        item = self.graph.items[name]
        if item.role == "junction":
            return self._at_junction(name)
        if item.role == "one-port":
            return []
        if name in self.matrices:
            return _MatrixStrokes(name, self.graph, self.matrices[name]).follow(self.strokes)
        other = next(b for b in self.graph.bonds_of(name) if b.number != bond.number)
        here = self.strokes[bond.number] == name
        # TF: the effort that comes in goes out at the other side; GY: it comes in at both or goes out at both.
        inwards = not here if plain_kind(item.letters) == "TF" else here
        return [(other, name if inwards else other.other(name))]

    def _at_junction(self, name: str) -> Follow | None:
        brought, left = self.brought[name], self.open[name]
        # One bond decides what a junction shares, no more and no less (docs/theory/bond_graphs.md, strokes).
        if brought > 1 or (left == 0 and brought == 0):
            return None
        # Nothing follows yet: either all is settled, or more than one bond could still be the one that decides.
        if left == 0 or (brought == 0 and left > 1):
            return []
        # All open bonds take what is brought already, or the only one that is left has to bring it.
        inwards = self._shares_effort(name) == (brought == 0)
        open_bonds = (bond for bond in self.graph.bonds_of(name) if bond.number not in self.strokes)
        return [(bond, name if inwards else bond.other(name)) for bond in open_bonds]


class _MatrixStrokes:
    """The strokes at a two-port with a matrix.

    It maps the flows of the bonds in to those out (GY: to efforts), and takes the conjugates back. As many bonds in as out may run
    the other way, provided the part of the matrix between them can be inverted.
    """

    def __init__(self, name: str, graph: BondGraph, matrix: Matrix) -> None:
        self.name = name
        self.matrix = matrix
        self.transformer = plain_kind(graph.items[name].letters) == "TF"
        self.sides: dict[bool, list[PowerBond]] = {True: [], False: []}  # bonds in, bonds out
        for bond in graph.bonds_of(name):
            self.sides[bond.head == name].append(bond)

    def follow(self, strokes: Strokes) -> Follow | None:
        """The strokes that follow; None where they contradict each other."""
        # "Against" is the way opposite to the one in which the matrix is written: a bond in that is given an effort
        # where the matrix asks for its flow.
        against = {
            into: [b for b in bonds if strokes.get(b.number) == self._end(b, into, against=True)]
            for into, bonds in self.sides.items()
        }
        free = {into: [b for b in bonds if b.number not in strokes] for into, bonds in self.sides.items()}
        found: Follow = []
        for into in (True, False):
            if free[into]:
                continue
            # As many bonds run against the matrix on one side as on the other, because the part between them has to be square.
            missing = len(against[into]) - len(against[not into])
            if missing < 0 or missing > len(free[not into]):
                return None
            if missing in (0, len(free[not into])):
                found += [(b, self._end(b, not into, against=missing > 0)) for b in free[not into]]
        if any(free.values()):
            return found
        # Only when all strokes are known is the rank asked for: it costs an elimination.
        return [] if self._invertible(against[True], against[False]) else None

    def _end(self, bond: PowerBond, into: bool, *, against: bool) -> str:
        """The end that receives the effort: of bonds in the far one, of bonds out the near one for TF and the far one for GY."""
        near = (not into and self.transformer) != against
        return self.name if near else bond.other(self.name)

    def _invertible(self, columns: Iterable[PowerBond], rows: Iterable[PowerBond]) -> bool:
        """Whether the part of the matrix between bonds has full rank, at a random point modulo a prime."""
        places = [bond.head_port for bond in columns]
        entries = [{j: e for j in places if (e := self._residue(bond.tail_port, j))} for bond in rows]
        # A random point modulo a prime tells the rank with a chance of error that nobody meets, and needs no symbols.
        return not Elimination(entries, ResidueField()).eliminate_all(places)

    def _residue(self, row: int, column: int) -> int:
        residues = self.matrix[row - 1][column - 1].residues()
        assert residues is not None, "a modulus has no pole at a random point"
        return residues[0]


# One after the other, as on a blackboard

Rank = Literal["source", "demand", "law", "storage", "resistive", "junction", "two-port", "open"]
"""Why a stroke stands: a port decides it, in the order of their wishes, or it follows; an open one may be put either way."""


@final
@dataclass(frozen=True, slots=True)
class CausalStroke:
    """The stroke of a bond: the item at the end that receives the effort, and why.

    `because` is a key of the table of words with the `parts` that it names; `at` is the element, junction or two-port that decides.
    """

    bond: int
    end: str
    rank: Rank
    at: str
    because: str
    parts: Mapping[str, str] = field(default_factory=dict)
    follower: str = ""
    """A storage that has to follow because of it."""

    def reason(self, say: Phrases) -> str:
        """Why the stroke stands there, as a sentence."""
        # A variable is said in the words of the reader; names are names.
        parts = {key: say(f"power.{part}") if key == "given" else part for key, part in self.parts.items()}
        told = say(f"strokes.{self.because}", **parts)
        return f"{told} {say('strokes.so_derivative', element=self.follower)}" if self.follower else told


def stroke_sequence(scheme: BondGraphScheme) -> tuple[CausalStroke, ...]:
    """The strokes of a bond graph in the order of their assignment: sources, demands, storages, then resistive elements, and after
    each one what follows from it at junctions and two-ports.

    >>> from tellegen.workflow.transforming import bond_graph
    >>> [f"{stroke.bond} {stroke.rank}" for stroke in stroke_sequence(bond_graph("rlc"))]
    ['1 source', '3 storage', '2 junction', '4 junction']
    """
    return tuple(_Sequence(scheme).strokes())


class _Sequence:
    """Puts the strokes that a scheme has, each for the first reason that there is."""

    def __init__(self, scheme: BondGraphScheme) -> None:
        self.scheme, self.graph = scheme, scheme.graph
        matrices = {name: item.matrix for name, item in scheme.two_ports.items() if item.matrix}
        self.search = StrokeSearch(scheme.graph, matrices)
        self.ends = {b.number: b.head if b.stroke == "head" else b.tail for b in scheme.bonds}

    def strokes(self) -> Iterator[CausalStroke]:
        ports = self.scheme.causal.graph.ports
        owners = {port.element: one for one in self.scheme.one_ports.values() for port in _ports_of(one)}
        for demand in demands(self.scheme.causal.graph):
            # An element without a bond of its own, between joined nodes, has no stroke.
            one_port = owners.get(ports[demand.port].element)
            if one_port is not None:
                for bond in self.scheme.bonds_of(one_port.name):
                    yield from self._spread(bond, self._wish(bond, one_port, demand))
        for bond in self.scheme.bonds:
            yield from self._spread(bond, CausalStroke(bond.number, self.ends[bond.number], "open", bond.tail, "open"))

    def _wish(self, bond: PowerBond, one_port: OnePort, demand: Demand) -> CausalStroke:
        """The stroke that an element decides, or that others leave to it."""
        letters, name, end = one_port.letters or one_port.kind, one_port.name, self.ends[bond.number]
        gives = "flow" if end == name else "effort"
        parts = {"element": f"{letters}:{name}", "given": gives}
        law = one_port.port.law
        if isinstance(law, SourceLaw):
            return CausalStroke(bond.number, end, "source", name, "source", parts)
        if isinstance(law, StorageLaw):
            follows = one_port.causality == "derivative"
            key = "derivative" if follows else "demand" if demand.must else "storage"
            return CausalStroke(bond.number, end, "demand" if demand.must else "storage", name, key, parts)
        return CausalStroke(
            bond.number, end, "law" if demand.must else "resistive", name, "law" if demand.must else "resistive", parts
        )

    def _spread(self, first: PowerBond, why: CausalStroke) -> Iterator[CausalStroke]:
        """A stroke and all that follow from it, the nearest first."""
        queue = deque([(first, why)])
        while queue:
            bond, stroke = queue.popleft()
            if bond.number in self.search.strokes:
                continue
            self.search.put(bond, stroke.end)
            yield stroke
            for name in (bond.tail, bond.head):
                for follower, end in self.search.follows(name, bond) or ():
                    # Where causality contradicts itself, what would follow is not what stands in the figure.
                    if end == self.ends[follower.number]:
                        queue.append((follower, self._consequence(name, bond, follower, end)))

    def _consequence(self, name: str, bond: PowerBond, follower: PowerBond, end: str) -> CausalStroke:
        item = self.graph.items[name]
        parts = {"item": f"{item.letters}:{name}", "bond": str(follower.number), "by": str(bond.number)}
        told = self.scheme.one_ports.get(follower.other(name))
        follows = f"{told.letters or told.kind}:{told.name}" if told and told.causality == "derivative" else ""
        if item.role == "two-port":
            kind = "matrix" if name in self.search.matrices else plain_kind(item.letters).lower()
            return CausalStroke(follower.number, end, "two-port", name, kind, parts, follower=follows)
        shared = "effort" if item.letters == "0" else "flow"
        # A 0-junction is told its effort where the stroke stands at it, a 1-junction its flow where it does not.
        brings = (end == name) == (item.letters == "0")
        parts |= {"given": shared}
        if not brings:
            parts["by"] = str(self._bringer(name))
        return CausalStroke(
            follower.number, end, "junction", name, "last" if brings else "shared", parts, follower=follows
        )

    def _bringer(self, junction: str) -> int:
        """The bond that brings what a junction shares."""
        effort = self.graph.items[junction].letters == "0"
        strokes = self.search.strokes
        return next(
            b.number
            for b in self.scheme.bonds_of(junction)
            if b.number in strokes and (strokes[b.number] == junction) == effort
        )


def _ports_of(one: OnePort) -> Iterator[Port]:
    """The ports behind an item: those of its components, where it is a vector or a field."""
    yield from (part.port for part in one.parts or (one,))
