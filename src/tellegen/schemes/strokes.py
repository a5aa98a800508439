"""Causal strokes, spread over the bonds of a graph from what its one-ports decide.

At a junction exactly one bond brings the shared variable. TF passes a variable on, GY turns it into its conjugate. Where spreading
stops short of all bonds, a loop of junctions can be solved in more than one direction: one is tried, and taken back if it leads to
a contradiction.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tellegen.core.domains import DOMAINS, Side
from tellegen.expressions import Expression
from tellegen.expressions.elimination import Elimination, ResidueField
from tellegen.model.bond_graph import BondGraph, PowerBond, plain_kind

Matrix = tuple[tuple[Expression, ...], ...]
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
    search = _StrokeSearch(graph, matrices)
    decided = list(_decided(graph, decides))
    if not search.run(decided):
        if not contradictory:
            return None
        search = _StrokeSearch(graph, matrices)
        search.run_through(decided)
    ends = search.strokes
    bonds = (replace(b, stroke="tail" if ends[b.number] == b.tail else "head") for b in graph.bonds)
    return replace(graph, bonds=tuple(bonds))


def _decided(graph: BondGraph, decides: Mapping[str, Side]) -> Iterator[tuple[PowerBond, str]]:
    for name, side in decides.items():
        (bond,) = graph.bonds_of(name)
        gives_effort = side == DOMAINS[graph.items[name].domain].effort
        yield bond, bond.other(name) if gives_effort else name


class _StrokeSearch:
    """Spreads strokes over the bonds of a graph."""

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
        if not all(self._settle(bond, end) for bond, end in decided):
            return False
        bonds = self.graph.bonds
        choices: list[tuple[int, int, PowerBond]] = []  # length of the trail, position in `bonds`, the bond tried
        position = 0
        while True:
            while position < len(bonds) and bonds[position].number in self.strokes:
                position += 1
            if position == len(bonds):
                return True
            bond = bonds[position]
            choices.append((len(self.trail), position, bond))
            if self._settle(bond, bond.head):
                continue
            while choices:
                length, position, bond = choices.pop()
                self._undo(length)
                if self._settle(bond, bond.tail):
                    break
            else:
                return False

    def run_through(self, decided: Follow) -> None:
        """Strokes on all bonds as far as they agree."""
        for bond, end in (*decided, *((bond, bond.head) for bond in self.graph.bonds)):
            if bond.number not in self.strokes:
                self._settle(bond, end)

    def _undo(self, length: int) -> None:
        while len(self.trail) > length:
            bond = self.trail.pop()
            for name in (bond.tail, bond.head):
                if name in self.open:
                    self.open[name] += 1
                    self.brought[name] -= self._brings(bond, name)
            del self.strokes[bond.number]

    def _brings(self, bond: PowerBond, junction: str) -> bool:
        """Whether a bond decides the shared variable of a junction."""
        return (self.strokes[bond.number] == junction) == self._shares_effort(junction)

    def _shares_effort(self, junction: str) -> bool:
        return self.graph.items[junction].letters == "0"

    def _settle(self, bond: PowerBond, end: str) -> bool:
        """Put a stroke and all that follow from it; False at a contradiction."""
        stack = [(bond, end)]
        while stack:
            bond, end = stack.pop()
            known = self.strokes.get(bond.number)
            if known is not None:
                if known != end:
                    return False
                continue
            self.strokes[bond.number] = end
            self.trail.append(bond)
            for name in (bond.tail, bond.head):
                if name in self.open:
                    self.open[name] -= 1
                    self.brought[name] += self._brings(bond, name)
            for name in (bond.tail, bond.head):
                follows = self._follows(name, bond)
                if follows is None:
                    return False
                stack.extend(follows)
        return True

    def _follows(self, name: str, bond: PowerBond) -> Follow | None:
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
        if brought > 1 or (left == 0 and brought == 0):
            return None
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
        against = {
            into: [b for b in bonds if strokes.get(b.number) == self._end(b, into, against=True)]
            for into, bonds in self.sides.items()
        }
        free = {into: [b for b in bonds if b.number not in strokes] for into, bonds in self.sides.items()}
        found: Follow = []
        for into in (True, False):
            if free[into]:
                continue
            missing = len(against[into]) - len(against[not into])
            if missing < 0 or missing > len(free[not into]):
                return None
            if missing in (0, len(free[not into])):
                found += [(b, self._end(b, not into, against=missing > 0)) for b in free[not into]]
        if any(free.values()):
            return found
        return [] if self._invertible(against[True], against[False]) else None

    def _end(self, bond: PowerBond, into: bool, *, against: bool) -> str:
        """The end that receives the effort: of bonds in the far one, of bonds out the near one for TF and the far one for GY."""
        near = (not into and self.transformer) != against
        return self.name if near else bond.other(self.name)

    def _invertible(self, columns: Iterable[PowerBond], rows: Iterable[PowerBond]) -> bool:
        """Whether the part of the matrix between bonds has full rank, at a random point modulo a prime."""
        places = [bond.head_port for bond in columns]
        entries = [{j: e for j in places if (e := self._residue(bond.tail_port, j))} for bond in rows]
        return not Elimination(entries, ResidueField()).eliminate_all(places)

    def _residue(self, row: int, column: int) -> int:
        residues = self.matrix[row - 1][column - 1].residues()
        assert residues is not None, "a modulus has no pole at a random point"
        return residues[0]
