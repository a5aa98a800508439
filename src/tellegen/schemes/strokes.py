"""Causal strokes: what elements decide, spread through junctions and two-ports.

At a junction exactly one bond brings the shared variable. TF passes a variable on, GY turns it into its conjugate. Where spreading
stops short of all bonds, a loop of junctions can be solved in more than one direction: one is tried, and taken back if it leads to
a contradiction.
"""

from collections.abc import Sequence

from tellegen.core.domains import DOMAINS
from tellegen.expressions.elimination import Elimination, Residues
from tellegen.schemes.draft import Draft, DraftBond, DraftItem, Key

Strokes = dict[int, Key]
"""For each bond, by its identity, the item at the end that receives the effort."""


class StrokeSearch:
    """Spreads strokes over the bonds of a draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.strokes: Strokes = {}
        self.trail: list[DraftBond] = []
        self.open: dict[Key, int] = {}
        self.brought: dict[Key, int] = {}
        for item in draft.items.values():
            if item.role == "junction":
                self.open[item.key] = len(item.bonds)
                self.brought[item.key] = 0

    def run(self, decided: Sequence[tuple[DraftBond, Key]], bonds: Sequence[DraftBond]) -> bool:
        """Start from the strokes at elements and settle all bonds; False where that cannot be."""
        if not all(self._settle(bond, end) for bond, end in decided):
            return False
        choices: list[tuple[int, int, DraftBond]] = []  # length of the trail, position in `bonds`, the bond tried
        position = 0
        while True:
            while position < len(bonds) and id(bonds[position]) in self.strokes:
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

    def run_through(self, decided: Sequence[tuple[DraftBond, Key]], bonds: Sequence[DraftBond]) -> Strokes:
        """Strokes on all bonds as far as they agree: where causality contradicts itself, the figure shows it."""
        for bond, end in (*decided, *((bond, bond.head) for bond in bonds)):
            if id(bond) not in self.strokes:
                self._settle(bond, end)
        return self.strokes

    def _undo(self, length: int) -> None:
        while len(self.trail) > length:
            bond = self.trail.pop()
            for key in (bond.tail, bond.head):
                if key in self.open:
                    self.open[key] += 1
                    self.brought[key] -= self._brings(bond, self.draft.items[key])
            del self.strokes[id(bond)]

    def _brings(self, bond: DraftBond, junction: DraftItem) -> bool:
        """Whether a bond decides the shared variable of a junction."""
        receives_effort = self.strokes[id(bond)] == junction.key
        return receives_effort == (DOMAINS[junction.domain].effort == junction.shares)

    def _settle(self, bond: DraftBond, end: Key) -> bool:
        """Put a stroke and all that follow from it; False at a contradiction."""
        stack = [(bond, end)]
        while stack:
            bond, end = stack.pop()
            known = self.strokes.get(id(bond))
            if known is not None:
                if known != end:
                    return False
                continue
            self.strokes[id(bond)] = end
            self.trail.append(bond)
            for key in (bond.tail, bond.head):
                if key in self.open:
                    self.open[key] -= 1
                    self.brought[key] += self._brings(bond, self.draft.items[key])
            for key in (bond.tail, bond.head):
                follows = self._follows(self.draft.items[key], bond)
                if follows is None:
                    return False
                stack.extend(follows)
        return True

    def _follows(self, item: DraftItem, bond: DraftBond) -> list[tuple[DraftBond, Key]] | None:
        """The strokes that follow at an item; None where they contradict each other."""
        if item.role == "junction":
            return self._at_junction(item)
        if item.role == "one-port":
            return []
        if item.matrix:
            return at_matrix(item, self.strokes)
        other = next(b for b in item.bonds.values() if b is not bond)
        here = self.strokes[id(bond)] == item.key
        # TF: the effort that comes in goes out at the other side; GY: it comes in at both or goes out at both.
        inwards = not here if item.kind == "TF" else here
        return [(other, item.key if inwards else other.other(item.key))]

    def _at_junction(self, item: DraftItem) -> list[tuple[DraftBond, Key]] | None:
        brought, left = self.brought[item.key], self.open[item.key]
        if brought > 1 or (left == 0 and brought == 0):
            return None
        if left == 0 or (brought == 0 and left > 1):
            return []
        effort_shared = DOMAINS[item.domain].effort == item.shares
        follow = []
        for bond in item.bonds.values():
            if id(bond) not in self.strokes:
                inwards = effort_shared == (brought == 0)
                follow.append((bond, item.key if inwards else bond.other(item.key)))
        return follow


def at_matrix(item: DraftItem, strokes: Strokes) -> list[tuple[DraftBond, Key]] | None:
    """The strokes that follow at a two-port with a matrix; None where they contradict each other.

    It maps the flows of the bonds in to those out (GY: to efforts), and takes the conjugates back. As many bonds in as out may run
    the other way, provided the part of the matrix between them can be inverted.
    """
    sides: dict[bool, list[DraftBond]] = {True: [], False: []}  # bonds in, bonds out
    for bond in item.bonds.values():
        sides[bond.head == item.key].append(bond)
    against = {into: [b for b in bonds if _runs_against(b, into, item, strokes)] for into, bonds in sides.items()}
    free = {into: [b for b in bonds if id(b) not in strokes] for into, bonds in sides.items()}
    follow: list[tuple[DraftBond, Key]] = []
    for into in (True, False):
        if free[into]:
            continue
        missing = len(against[into]) - len(against[not into])
        if missing < 0 or missing > len(free[not into]):
            return None
        if missing in (0, len(free[not into])):
            follow += [(b, _end(b, not into, item, against=missing > 0)) for b in free[not into]]
    if any(free.values()):
        return follow
    rows = [{b.head_port: _residue(item, b.head_port, c.tail_port) for b in against[True]} for c in against[False]]
    entries = [{j: e for j, e in row.items() if e} for row in rows]
    left = Elimination(entries, Residues()).eliminate_all(b.head_port for b in against[True])
    return None if left else []


def _end(bond: DraftBond, into: bool, item: DraftItem, *, against: bool) -> Key:
    """The end that receives the effort: of bonds in the far one, of bonds out the near one for TF and the far one for GY."""
    near = (not into and item.kind == "TF") != against
    return item.key if near else bond.other(item.key)


def _runs_against(bond: DraftBond, into: bool, item: DraftItem, strokes: Strokes) -> bool:
    return strokes.get(id(bond)) == _end(bond, into, item, against=True)


def _residue(item: DraftItem, column: int, row: int) -> int:
    residues = item.matrix[row - 1][column - 1].residues()
    assert residues is not None, "a modulus has no pole at a random point"
    return residues[0]
