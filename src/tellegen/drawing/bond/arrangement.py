"""Where the junctions and transformers of a piece stand: always in the same arrangement, so that a reader knows his way about.

A body has three rows: what moves along x above, what turns in the middle, what moves along y below; its points stand right and left
of its base, each with the transformers from the turning row. Where velocities are added up with other factors, as at contacts and
in closed loops, the sum stands in the middle of a fan: transformers of the first body left of it, those of others right.
What is left grows outwards from what stands.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import final

from tellegen.drawing.bond.clusters import clipped
from tellegen.drawing.bond.owners import ENTRY, Owners, Piece
from tellegen.model.bond_graph import PowerBond
from tellegen.scenes.geometry import Box, Point
from tellegen.scenes.ink import Stroke, touch
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

BAY, ROW = 138.0, 94.0
"""From a base to a point of a body, and from the turning row to those of x and y."""
FAN, RUNG = 118.0, 56.0
"""From the sum of a fan to its transformers, and between these."""
STEP, DROP = 84.0, 70.0
"""Between items that grow on each other, side by side and one below the other."""
SLANTED = 21.0
"""Slanted bonds stop so far from a junction, so that their strokes clear those of level ones."""
MOST_IN_FAN = 2
"""A junction with more bonds does not stand at the end of a fan: its elements would have no room there."""

Places = dict[str, Point]
"""The places of the items of a block, a part of a piece that hangs together on the page."""
Rows = Mapping[int, Mapping[int, str]]
"""The transformers of an opened matrix, by row and column."""


@final
class Arrangement:
    """The blocks of one piece. `rank` orders velocities, `gap` is the box about an item at which its bonds stop."""

    def __init__(
        self,
        owners: Owners,
        piece: Piece,
        rank: Callable[[str], tuple[int, str]],
        gap: Callable[[str], Box],
        solid: Callable[[str, Point], Box],
    ) -> None:
        self.owners, self.piece, self.rank, self.gap, self.solid = owners, piece, rank, gap, solid
        self.scheme = owners.scheme
        self.items = set(piece.items)
        self.skeleton = [name for name in piece.items if not is_leaf(self.scheme, name)]
        self.blocks: list[Places] = []
        self.block_of: dict[str, Places] = {}
        couplings = self._couplings()
        bays = [rows for rows in couplings if self._is_bay(rows)]
        self._bays(bays)
        for rows in couplings:
            if rows not in bays:
                for entries in rows.values():
                    self._fan(entries)
        for block in self.blocks:
            self._grow(block)
        for name in sorted(self.skeleton, key=rank):
            if name not in self.block_of:
                self._grow(self._begun(name))

    def _begun(self, name: str) -> Places:
        block: Places = {}
        self.blocks.append(block)
        self._put(block, name, (0.0, 0.0))
        return block

    def _put(self, block: Places, name: str, at: Point) -> bool:
        """Put an item of this piece somewhere, unless it stands already."""
        if name in self.block_of or name not in self.items:
            return False
        block[name] = at
        self.block_of[name] = block
        return True

    # -- opened matrices ---------------------------------------------------------------------------------------------------------

    def _couplings(self) -> list[Rows]:
        found: dict[str, dict[int, dict[int, str]]] = {}
        for name in self.piece.items:
            if name in self.scheme.two_ports and (entry := ENTRY.fullmatch(self.owners.path(name))):
                found.setdefault(entry[1], {}).setdefault(int(entry[2]), {})[int(entry[3])] = name
        return list(found.values())

    def _ends(self, two_port: str) -> tuple[str, str]:
        """What the bonds of a two-port come from and lead to, as its matrix is written."""
        bonds = self.scheme.bonds_of(two_port)
        return bonds[0].other(two_port), bonds[-1].other(two_port)

    def _hub(self, entries: Mapping[int, str]) -> str:
        """The junction at which the entries of a row are added up."""
        common = set.intersection(*({*self._ends(name)} for name in entries.values()))
        first = next(iter(entries.values()))
        return common.pop() if len(common) == 1 else self._ends(first)[1]

    def _input(self, two_port: str, hub: str) -> str:
        return next((end for end in self._ends(two_port) if end != hub), hub)

    def _inputs(self, rows: Rows) -> list[set[str]]:
        hubs = [self._hub(entries) for entries in rows.values()]
        return [
            {self._input(name, hub) for name in entries.values()}
            for entries, hub in zip(rows.values(), hubs, strict=True)
        ]

    def _is_bay(self, rows: Rows) -> bool:
        """Whether a matrix has the form of a rigid body: one or two rows, moved by the same one or two inputs that turn."""
        hubs = [self._hub(entries) for entries in rows.values()]
        inputs = self._inputs(rows)
        both = set.intersection(*inputs)
        turning = [name for name in both if self.scheme.graph.items[name].domain == "rotational"]
        return len(rows) <= 2 and len(set(hubs)) == len(hubs) and len(set.union(*inputs)) <= 2 and bool(turning)

    def _bays(self, bays: Sequence[Rows]) -> None:
        """The points of a body beside its base: the first right, the second left, others for themselves."""
        taken: dict[str, list[int]] = {}
        for rows in bays:
            turning = self._turning(rows)
            stands = any(self._hub(entries) in self.block_of for entries in rows.values())
            ways = [way for way in (1, -1) if way not in taken.get(turning, ())]
            if turning in self.items and ways and not stands:
                block = self.block_of.get(turning)
                block = self._begun(turning) if block is None else block
                way = ways[0]
                taken.setdefault(turning, []).append(way)
                base = block[turning]
            else:
                block, way, base = {}, 1, (0.0, 0.0)
                self.blocks.append(block)
            self._bay(block, rows, turning, base, way)

    def _bay(self, block: Places, rows: Rows, turning: str, base: Point, way: int) -> None:
        x, y = base
        for row, entries in rows.items():
            up = -1 if row == 1 else 1
            hub = self._hub(entries)
            for name in entries.values():
                along = 0.5 if self._input(name, hub) == turning else 1.5
                self._put(block, name, (x + way * along * BAY, y + up * ROW / 2))
            self._put(block, hub, (x + way * BAY, y + up * ROW))
            # A sum takes from what stands at the base, and gives to what is farther out.
            for bond in self.scheme.bonds_of(hub):
                other = bond.other(hub)
                at = x if bond.head == hub else x + way * 2 * BAY, y + up * ROW
                if hub in block and other in self.scheme.junctions and at not in block.values():
                    self._put(block, other, at)
        for name in sorted(set.union(*self._inputs(rows))):
            self._put(block, name, (x + way * 2 * BAY, y))

    def _turning(self, rows: Rows) -> str:
        """What turns the bay from inside: of two inputs the one that belongs to the piece."""
        both = sorted(
            (n for n in set.intersection(*self._inputs(rows)) if self.scheme.graph.items[n].domain == "rotational"),
            key=self.rank,
        )
        return next((name for name in both if name in self.items), both[0])

    def _fan(self, entries: Mapping[int, str]) -> None:
        """Transformers left and right of their sum; where that stands elsewhere, they grow where they can."""
        hub = self._hub(entries)
        names = [name for _, name in sorted(entries.items()) if name not in self.block_of]
        if not names or hub in self.block_of or hub not in self.items:
            return
        block = self._begun(hub)
        owners = [self.owners.of[self._input(name, hub)] for name in names]
        left = [name for name, owner in zip(names, owners, strict=True) if owner == owners[0]]
        right = [name for name in names if name not in left]
        for side, group in ((-1, left), (1, right)):
            group.sort(key=lambda name: self.rank(self._input(name, hub)))
            for k, name in enumerate(group):
                y = (k - (len(group) - 1) / 2) * RUNG
                self._put(block, name, (side * FAN, y))
                if not self._is_star(source := self._input(name, hub)):
                    self._put(block, source, (side * (FAN + STEP), y))

    def _is_star(self, name: str) -> bool:
        """Whether a junction has so much round it that it stands for itself."""
        bonds = self.scheme.bonds_of(name)
        return len(bonds) > MOST_IN_FAN or any(is_leaf(self.scheme, bond.other(name)) for bond in bonds)

    # -- what grows --------------------------------------------------------------------------------------------------------------

    def _inner(self, name: str) -> Iterator[str]:
        """The neighbours of an item in the skeleton of this piece."""
        others = (bond.other(name) for bond in self.scheme.bonds_of(name))
        return (other for other in others if other in self.items and not is_leaf(self.scheme, other))

    def _grow(self, block: Places) -> None:
        """Put what hangs on the items of a block beside them."""
        queue = list(block)
        for name in queue:
            for other in self._inner(name):
                # What a transformer of a matrix takes from is no branch of its sum.
                entry = name in self.scheme.two_ports and ENTRY.fullmatch(self.owners.path(name))
                if other in self.block_of or (entry and self._is_star(other)):
                    continue
                if (at := self._spot(block, name, other)) is not None:
                    self._put(block, other, at)
                    queue.append(other)

    def _spot(self, block: Places, name: str, other: str) -> Point | None:
        """A free place beside an item, straight on if it can be."""
        x, y = block[name]
        level = ((1, 0), (-1, 0)) if x >= 0 else ((-1, 0), (1, 0))
        upright = ((0, 1), (0, -1)) if y >= 0 else ((0, -1), (0, 1))
        fan = sum(o in self.scheme.two_ports for o in self._inner(name)) > 1
        boxes = {item: self.solid(item, at) for item, at in block.items()}
        lines = [bond_line(block, bond, self.gap) for bond in self._bonds_in(block)]
        for dx, dy in (*upright, *level) if fan else (*level, *upright):
            at = x + dx * STEP, y + dy * DROP
            box = self.solid(other, at)
            line = Stroke(*clipped((x, y), at, self.gap(name).moved(x, y), self.gap(other).moved(*at)))
            free = not any(box.grown(10).overlaps(one) for one in boxes.values())
            free = free and not any(crosses(line, one) or touch(one, box, 0) for one in lines)
            if free and not any(touch(one, line, 0) for item, one in boxes.items() if item != name):
                return at
        return None

    def _bonds_in(self, block: Places) -> Iterator[PowerBond]:
        return (bond for bond in self.scheme.bonds if bond.tail in block and bond.head in block)


def is_leaf(scheme: BondGraphScheme, name: str) -> bool:
    """Whether an item hangs at the end of one bond."""
    if name not in scheme.one_ports:
        return False
    bonds = scheme.bonds_of(name)
    return len(bonds) == 1 and bonds[0].other(name) not in scheme.one_ports


def bond_line(
    block: Places, bond: PowerBond, gap: Callable[[str], Box], junctions: Mapping[str, object] | None = None
) -> Stroke:
    """The straight line of a bond between two items of a block."""
    start, end = block[bond.tail], block[bond.head]
    slanted = min(abs(start[0] - end[0]), abs(start[1] - end[1])) > 5
    wide = Box(-SLANTED, -SLANTED, SLANTED, SLANTED)
    boxes = [
        (wide if slanted and junctions and name in junctions else gap(name)).moved(*block[name])
        for name in (bond.tail, bond.head)
    ]
    return Stroke(*clipped(start, end, *boxes))


def crosses(one: Stroke, two: Stroke) -> bool:
    """Whether two lines have a point in common that is no end of both."""

    def side(a: Point, b: Point, c: Point) -> float:
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    apart = side(one.start, one.end, two.start) * side(one.start, one.end, two.end)
    return apart < -1e-6 and side(two.start, two.end, one.start) * side(two.start, two.end, one.end) < -1e-6
