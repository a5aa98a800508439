"""One piece of a bond graph drawn about its own origin: a body, a joint, a machine. Bonds that leave the piece end at a name.

Its junctions and transformers stand always in the same arrangement, so that a reader knows his way about. A body has three rows:
what moves along x above, what turns in the middle, what moves along y below; its points stand right and left of its base, each with
the transformers from the turning row. Where velocities are added up with other factors, as at contacts and in closed loops, the
sum stands in the middle of a fan: transformers of the first body left of it, those of others right. What is left grows outwards.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import dist
from typing import final

from tellegen.drawing.bond.clusters import DOTS, MODULUS, Slot, clipped, draw_beside, draw_text, gap_of
from tellegen.drawing.bond.owners import ENTRY, Owners, Piece
from tellegen.drawing.bond.pen import FULL_SIZE, ITEM, VARIABLE, BondPen, bond_shape
from tellegen.drawing.bond.piece_texts import PieceTexts
from tellegen.drawing.bond.plan import BondLink, BondNode, ItemText, Role
from tellegen.drawing.formulas import bold_latex
from tellegen.drawing.memory import NAME_RISE
from tellegen.drawing.options import Options
from tellegen.model.bond_graph import PowerBond
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.ink import Ink, Stroke, inks, touch
from tellegen.scenes.scene import Align, Label, Origin, label_box
from tellegen.scenes.scene import Block as Frame
from tellegen.scenes.typesetting import COLON, set_math
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


BOX, PORT, PORT_LENGTH = 17.0, 76.0, 66.0
"""Half the height of the box of a field, and the distances and lengths of its bonds."""
ONE_PORT, STUB = 64.0, 52.0
"""From an item to an element above or below it, and to the name of another end."""
CORNERS = (72.0, 60.0), (104.0, 36.0), (42.0, 84.0)
"""How far what stands at a corner is beside and above or below an item: in the middle, then nearer to level and to upright."""
APART = 6.0
"""Between texts."""
FURTHER = (1.0, 1.25, 1.6, 2.0, 2.5, 3.0, 3.6, 4.3)
"""How much farther out a place is looked for, where the nearer ones are taken."""
SHORTEST = 16.0
"""A bond that is shorter shows neither barb nor stroke well."""
NOTES = tuple((x, y) for y in (-17.0, 17.0, -30.0, 30.0) for x in (13.0, -13.0))
"""Where the name of a junction may stand: at its corners."""
WAYS: tuple[Slot, ...] = ("N", "S", "E", "W", "NE", "NW", "SE", "SW")
_VECTOR = {way: (("E" in way) - ("W" in way), ("S" in way) - ("N" in way)) for way in WAYS}


@final
@dataclass(frozen=True)
class _End:
    """A bond at an item of the piece whose other end is a name."""

    item: str
    bond: PowerBond
    words: str


@final
class PiecePen(BondPen):
    """Labels of one size."""

    attempts = FULL_SIZE


@final
class PieceDrawing:
    """The blocks of one piece, each drawn with a pen of its own."""

    def __init__(self, owners: Owners, piece: Piece, texts: PieceTexts, options: Options) -> None:
        self.scheme, self.piece, self.texts, self.options = owners.scheme, piece, texts, options
        self.items = set(piece.items)
        self._nodes: dict[str, BondNode] = {}
        self._gaps: dict[str, Box] = {}
        if piece.kind == "field":
            self.pens = [self._field()]
            return
        arranged = Arrangement(owners, piece, texts.rank, self.gap, self.solid)
        self.skeleton = arranged.skeleton
        self.block_of = arranged.block_of
        self.blocks = arranged.blocks
        self.pens = [PiecePen() for _ in self.blocks]
        self._pen_of = {id(block): pen for block, pen in zip(self.blocks, self.pens, strict=True)}
        self._draw()

    def _field(self) -> PiecePen:
        """A box with a bond for each storage in it."""
        pen = PiecePen()
        half = PORT * len(self.piece.items) / 2
        first = self.scheme.one_ports[self.piece.items[0]]
        pen.put(Frame(Box(-half, -BOX, half, BOX), origin=Origin(self.piece.name, "box")))
        text = rf"\mathrm{{{first.letters or first.kind}}}{COLON}{bold_latex(self.piece.name)}"
        pen.put(Label(text, (0.0, NAME_RISE), ITEM, level="baseline", origin=Origin(self.piece.name, "name")))
        for k, name in enumerate(self.piece.items):
            (bond,) = self.scheme.bonds_of(name)
            x = PORT * (k + 0.5) - half
            told = self.texts.end(bond, name, self.piece)
            end = BondNode(f"end {bond.number} {name}", "", "leaf", ItemText("", told), bond.domain)
            at = x, BOX + PORT_LENGTH
            draw_text(pen, end, at, "name", "S")
            ends = (name, end.name) if bond.tail == name else (end.name, name)
            link = replace(self._link(bond, *ends), effort=self.texts.variables(bond, name, self.piece)[0])
            points = (x, BOX + 4.0), (x, gap_of(end, at, "S").top)
            pen.bond(link, points if bond.tail == name else points[::-1], self.options, element=name, later=True)
        pen.label()
        pen.settle()
        return pen

    # -- items -----------------------------------------------------------------------------------------------------------------

    def node(self, name: str) -> BondNode:
        """An item as a node of the figure."""
        if name not in self._nodes:
            role: Role = "leaf" if is_leaf(self.scheme, name) else "multiport"
            role = "junction" if name in self.scheme.junctions else role
            self._nodes[name] = BondNode(name, name, role, self.texts.item(name, self.piece), self.texts.domain(name))
        return self._nodes[name]

    def gap(self, name: str) -> Box:
        """The box about an item at which its bonds stop, about its centre."""
        if name not in self._gaps:
            self._gaps[name] = gap_of(self.node(name), (0.0, 0.0), "N")
        return self._gaps[name]

    def solid(self, name: str, at: Point) -> Box:
        """What an item covers, with its modulus."""
        gap, modulus = self.gap(name).moved(*at), self.node(name).text.modulus
        if not modulus:
            return gap
        half = max(gap.width, set_math(modulus, VARIABLE).box.width) / 2
        return Box(at[0] - half, gap.top - 26.0, at[0] + half, gap.bottom)

    def _pen(self, name: str) -> BondPen:
        return self._pen_of[id(self.block_of[name])]

    # -- drawn -----------------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        for name in self.block_of:
            self._item(name)
        cut = {
            bond.number
            for bond in self.scheme.bonds
            if bond.tail in self.block_of and bond.head in self.block_of and not self._joined(bond)
        }
        for name in self.block_of:
            self._note(name)
        for block in self.blocks:
            for name in list(block):
                self._leaves(name)
        # What leaves the piece comes last: a name can do with any place.
        for end in list(self._ends(cut)):
            self._stub(end)
        for pen in self.pens:
            pen.settle()

    def _item(self, name: str) -> None:
        node, block = self.node(name), self.block_of[name]
        (x, y), pen = block[name], self._pen(name)
        beside = [block[o] for bond in self.scheme.bonds_of(name) if (o := bond.other(name)) in block]
        # The bonds of a bay come to its transformers from above and below: their moduli stand beside them.
        if node.text.modulus and any(abs(v - y) > 30 and abs(u - x) < 100 for u, v in beside):
            draw_beside(pen, node, self.gap(name), right=x > 0, centre=(x, y))
        elif node.text.modulus and any(abs(v - y) > 8 and abs(u - x) >= 100 for u, v in beside):
            self._outwards(name, -1 if x < 0 else 1)
        else:
            draw_text(pen, node, (x, y), "name")

    def _outwards(self, name: str, way: int) -> None:
        """A transformer of a fan: its modulus reaches outwards, away from the slanted bonds to the sum."""
        node, pen = self.node(name), self._pen(name)
        x, y = self.block_of[name][name]
        draw_text(pen, replace(node, text=replace(node.text, modulus="")), (x, y), "name")
        pen.put(Label("{:}", (x + way * 4.0, y - DOTS), ITEM, origin=Origin(name, "dots")))
        at = x - way * 6.0, y - MODULUS
        align: Align = "left" if way > 0 else "right"
        pen.put(Label(node.text.modulus, at, VARIABLE, align, "baseline", origin=Origin(name, "modulus")))

    def _joined(self, bond: PowerBond) -> bool:
        """Draw a bond between two items of one block, where nothing is in its way."""
        block = self.block_of[bond.tail]
        if block is not self.block_of[bond.head]:
            return False
        line = bond_line(block, bond, self.gap, self.scheme.junctions)
        if dist(line.start, line.end) < SHORTEST or not self._is_clear(self._pen(bond.tail), line):
            return False
        self._pen(bond.tail).bond(self._link(bond), (line.start, line.end), self.options, later=True)
        return True

    @staticmethod
    def _is_clear(pen: BondPen, *lines: Ink) -> bool:
        return not any(
            crosses(ink, line) if isinstance(ink, Stroke) and isinstance(line, Stroke) else touch(ink, line, 0)
            for line in lines
            for ink in pen.touching(line)
        )

    def _link(self, bond: PowerBond, tail: str = "", head: str = "") -> BondLink:
        ends = tail or bond.tail, head or bond.head
        stroke = ends[1] if bond.stroke == "head" else ends[0]
        leaf = next((name for name in (bond.tail, bond.head) if is_leaf(self.scheme, name)), "")
        inside = leaf in self.items and not (tail or head)
        variables = self.texts.variables(bond, leaf, self.piece) if inside else ("", "")
        warned = inside and self.texts.warned(bond)
        sink = inside and self.texts.is_sink(bond)
        return BondLink(bond.number, *ends, stroke, bond.domain, *variables, size=bond.size, warned=warned, sink=sink)

    def _note(self, name: str) -> None:
        """The variable that the bonds of a junction share, at the first free of its corners."""
        text = self.texts.note(name, self.piece)
        x, y = self.block_of[name][name]
        origin = Origin(name, "note", "", 1, self.texts.domain(name))
        for right, down in NOTES if text else ():
            align: Align = "left" if right > 0 else "right"
            label = Label(text, (x + right, y + down), VARIABLE, align, tone="quiet", origin=origin)
            if self._pen(name).is_free(label_box(label), 1.5):
                self._pen(name).put(label)
                return

    # -- what hangs on items ------------------------------------------------------------------------------------------------------

    def _leaves(self, name: str) -> None:
        for bond in self.scheme.bonds_of(name):
            if (other := bond.other(name)) in self.items and is_leaf(self.scheme, other):
                leaf = self.node(other)
                self._hang(name, leaf, self._link(bond), self._wanted(name, leaf))

    def _wanted(self, name: str, leaf: BondNode) -> tuple[Slot, ...]:
        """The places of an element: storages outwards in the rows of a body, resistors opposite to them, sources beside."""
        block = self.block_of[name]
        x, y = block[name]
        above = any(v < y - 20 for _, v in block.values())
        below = any(v > y + 20 for _, v in block.values())
        letters = leaf.text.letters
        upright: tuple[Slot, ...] = ("S", "N") if above and not below else ("N", "S")
        if letters.endswith("R") and above == below:
            upright = ("S", "N")
        level: tuple[Slot, ...] = ("E", "W") if x > 0 else ("W", "E")
        corners: tuple[Slot, ...] = ("NE", "NW", "SE", "SW") if upright[0] == "N" else ("SE", "SW", "NE", "NW")
        if "S" in letters or (above and below):
            return (*level, *upright, *corners)
        return (*upright, *level, *corners)

    def _ends(self, cut: set[int]) -> Iterator[_End]:
        """Bonds that leave the piece, or are cut in it; those of one velocity that lead to one name are one bond."""
        for name in self.skeleton:
            merged: dict[tuple[str, bool], list[PowerBond]] = {}
            for bond in self.scheme.bonds_of(name):
                inside = bond.other(name) in self.items
                if inside and bond.number not in cut:
                    continue
                told = self.texts.end(bond, name, self.piece, inside=inside)
                if self.scheme.kind_of(name) == "1" and self.scheme.kind_of(bond.other(name)) != "1":
                    merged.setdefault((told, bond.tail == name), []).append(bond)
                else:
                    yield _End(name, bond, told)
            for (told, _), bonds in merged.items():
                # The one that brings the velocity, if any of them does, tells the stroke of all.
                yield _End(name, next((b for b in bonds if (b.stroke == "tail") == (b.tail == name)), bonds[0]), told)

    def _stub(self, end: _End) -> None:
        name = f"end {end.bond.number} {end.item}"
        node = BondNode(name, "", "leaf", ItemText("", end.words), end.bond.domain)
        ends = (end.item, name) if end.bond.tail == end.item else (name, end.item)
        x, y = self.block_of[end.item][end.item]
        level: tuple[Slot, ...] = ("W", "E") if x < -1 else ("E", "W")
        upright: tuple[Slot, ...] = ("N", "S") if y <= 0 else ("S", "N")
        corners = tuple(f"{one}{two}" for two in level for one in upright)
        self._hang(end.item, node, self._link(end.bond, *ends), (*level, *upright, *corners))  # type: ignore[arg-type]

    def _hang(self, name: str, leaf: BondNode, link: BondLink, wanted: Iterable[Slot]) -> None:
        """Draw an element, or the name of another end, at the best free place round an item."""
        ways = tuple(wanted)
        for further, corner in product(FURTHER, CORNERS):
            for way in ways if corner is CORNERS[0] else (way for way in ways if len(way) > 1):
                if self._hung(name, leaf, link, way, further, corner):
                    return
        self._hung(name, leaf, link, ways[0], 2 * FURTHER[-1], CORNERS[0], forced=True)

    def _hung(
        self,
        name: str,
        leaf: BondNode,
        link: BondLink,
        way: Slot,
        further: float,
        corner: Point,
        *,
        forced: bool = False,
    ) -> bool:
        centre, pen = self.block_of[name][name], self._pen(name)
        gap = self.gap(name).moved(*centre)
        at = self._leaf_at(name, leaf, link, _VECTOR[way], further, corner)
        outer = gap_of(leaf, at, way)
        if len(way) > 1 and name in self.scheme.junctions:
            gap, outer = Box(*centre, *centre).grown(SLANTED), outer.grown(4.0)
        start, end = clipped(centre, at, gap, outer)
        points = (end, start) if link.tail == leaf.name else (start, end)
        # With its barb and its stroke, which reach aside.
        free = pen.is_free(outer.grown(-3.0), APART) and self._is_clear(pen, *inks(bond_shape(link, points)))
        if not forced and not (free and all(pen.is_free(box, 0.5) for box in _room_beside(link, start, end))):
            return False
        draw_text(pen, leaf, at, "name", way)
        pen.bond(link, points, self.options, element=leaf.element)
        return True

    def _leaf_at(
        self, name: str, leaf: BondNode, link: BondLink, way: tuple[int, int], further: float, corner: Point
    ) -> Point:
        (x, y), gap, (dx, dy) = self.block_of[name][name], self.gap(name), way
        stub = not leaf.text.letters
        half = set_math(leaf.text.latex(reversed_=dx < 0), VARIABLE if stub else 18.0).box.width / 2
        if dy == 0:
            length = max(34.0 if stub else 50.0, _widest(link) + 32.0) * further
            return x + dx * ((gap.right if dx > 0 else -gap.left) + length + 7.0 + half), y
        if dx == 0:
            return x, y + dy * (STUB if stub else ONE_PORT) * further
        return x + dx * (corner[0] * further + max(0.0, half - 16)), y + dy * corner[1] * further

    @cached_property
    def _extents(self) -> list[Box]:
        return [union(pen.boxes()) for pen in self.pens]

    def extents(self) -> list[Box]:
        """The boxes of the blocks."""
        return self._extents


def _widest(link: BondLink) -> float:
    return max((set_math(text, VARIABLE).box.width for text in (link.effort, link.flow) if text), default=0.0)


def _room_beside(link: BondLink, start: Point, end: Point) -> list[Box]:
    """What the labels of a bond and its barb need."""
    (x, y), (u, v) = start, end
    middle = (x + u) / 2, (y + v) / 2
    boxes: list[Box] = []
    if abs(y - v) < 1:
        reach = max(_widest(link) / 2, 6.0)
        above, below = (26.0 if link.effort else 9.0), (24.0 if link.flow else 9.0)
        boxes.append(Box(middle[0] - reach, y - above, middle[0] + reach, y - 3))
        boxes.append(Box(middle[0] - reach, y + 3, middle[0] + reach, y + below))
    elif abs(x - u) < 1:
        left, right = (13.0 + set_math(t, VARIABLE).box.width if t else 8.0 for t in (link.effort, link.flow))
        boxes.append(Box(x - left, middle[1] - 9, x - 3, middle[1] + 9))
        boxes.append(Box(x + 3, middle[1] - 9, x + right, middle[1] + 9))
    return boxes
