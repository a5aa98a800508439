"""One piece of a bond graph drawn about its own origin: a body, a joint, a machine, always in the same arrangement.

A body has three rows: what moves along x above, what turns in the middle, what moves along y below; its points stand right and left
of its base, each with the transformers from the turning row. Where velocities are added up with other factors, as at contacts and
in closed loops, the sum stands in the middle of a fan: transformers of the first body left of it, those of others right.
What is left grows outwards from what stands. Bonds that leave the piece end at a name.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import hypot
from typing import Literal, final

from tellegen.drawing.bond.clusters import Slot, clipped, draw_beside, draw_text, gap_of
from tellegen.drawing.bond.owners import ENTRY, Owners, Piece
from tellegen.drawing.bond.pen import VARIABLE, BondPen
from tellegen.drawing.bond.piece_texts import PieceTexts
from tellegen.drawing.bond.plan import BondLink, BondNode, ItemText
from tellegen.drawing.options import Options
from tellegen.model.bond_graph import PowerBond
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.ink import Stroke, touch
from tellegen.scenes.scene import Label, Origin, label_box
from tellegen.scenes.typesetting import set_math
from tellegen.schemes.bond_graph_scheme import BondGraphScheme

BAY, ROW = 136.0, 104.0
"""From a base to a point of a body, and from the turning row to those of x and y."""
FAN, RUNG = 150.0, 58.0
"""From the sum of a fan to its transformers, and between these."""
STEP, STUB = 96.0, 66.0
"""Between items that grow on each other, and the length of a bond that leaves the piece."""
ONE_PORT = 80.0
CORNER = (78.0, 62.0)
APART = 7.0
"""Between texts."""
FURTHER = (1.0, 1.25, 1.6, 2.1, 2.8)
"""How much farther out a place is looked for, where the nearer ones are taken."""
WAYS: tuple[Slot, ...] = ("N", "S", "E", "W", "NE", "NW", "SE", "SW")
_VECTOR = {way: (("E" in way) - ("W" in way), ("S" in way) - ("N" in way)) for way in WAYS}
_OPPOSITE: dict[Slot, Slot] = {"N": "S", "S": "N", "E": "W", "W": "E", "NE": "SW", "SW": "NE", "NW": "SE", "SE": "NW"}


@final
@dataclass
class Block:
    """A part of a piece that hangs together on the page."""

    at: dict[str, Point] = field(default_factory=dict)
    pen: BondPen = field(default_factory=BondPen)

    def box(self) -> Box:
        """Round all its ink."""
        return union(self.pen.boxes())


@final
@dataclass(frozen=True)
class _End:
    """One end of a bond at an item of the piece, whose other end is a name."""

    item: str
    bond: PowerBond
    words: str


@final
class PieceDrawing:
    """The blocks of one piece."""

    def __init__(self, scheme: BondGraphScheme, owners: Owners, piece: Piece, texts: PieceTexts, options: Options) -> None:
        self.scheme, self.owners, self.piece, self.texts, self.options = scheme, owners, piece, texts, options
        self.items = set(piece.items)
        self.skeleton = [name for name in piece.items if not self._is_leaf(name)]
        self.block_of: dict[str, Block] = {}
        self.blocks: list[Block] = []
        self.gaps: dict[str, Box] = {}
        self._lay_out()
        self._draw()

    def _is_leaf(self, name: str) -> bool:
        if name not in self.scheme.one_ports:
            return False
        bonds = self.scheme.bonds_of(name)
        return len(bonds) == 1 and bonds[0].other(name) not in self.scheme.one_ports

    def _inner(self, name: str) -> Iterator[str]:
        """The neighbours of an item in the skeleton of this piece."""
        return (o for bond in self.scheme.bonds_of(name) if (o := bond.other(name)) in self.items and not self._is_leaf(o))

    # -- where the skeleton stands -----------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        couplings = self._couplings()
        bays = [rows for rows in couplings if self._is_bay(rows)]
        self._bays(bays)
        for rows in couplings:
            if rows not in bays:
                for entries in rows.values():
                    self._fan(entries)
        for block in self.blocks:
            self._grow(block)
        for name in sorted(self.skeleton, key=self.texts.rank):
            if name not in self.block_of:
                self._grow(self._begun(name, (0.0, 0.0)))

    def _begun(self, name: str, at: Point) -> Block:
        block = Block()
        self.blocks.append(block)
        self._put(block, name, at)
        return block

    def _put(self, block: Block, name: str, at: Point) -> None:
        block.at[name] = at
        self.block_of[name] = block

    def _couplings(self) -> list[dict[int, dict[int, str]]]:
        """The opened couplings of the piece: for each its two-ports by row and column."""
        found: dict[str, dict[int, dict[int, str]]] = {}
        for name in self.piece.items:
            if name in self.scheme.two_ports and (entry := ENTRY.fullmatch(self.owners.path(name))):
                found.setdefault(entry[1], {}).setdefault(int(entry[2]), {})[int(entry[3])] = name
        return list(found.values())

    def _ends_of(self, two_port: str) -> tuple[str, str]:
        """What the two bonds of a two-port come from and lead to, as its matrix is written."""
        bonds = self.scheme.bonds_of(two_port)
        return bonds[0].other(two_port), bonds[-1].other(two_port)

    def _hub(self, entries: dict[int, str]) -> str:
        """The junction at which the entries of a row are added up."""
        ends = [set(self._ends_of(name)) for name in entries.values()]
        common = set.intersection(*ends)
        first = next(iter(entries.values()))
        return self._ends_of(first)[1] if len(common) != 1 else common.pop()

    def _input(self, two_port: str, hub: str) -> str:
        return next(end for end in (*self._ends_of(two_port), hub) if end != hub or self._ends_of(two_port) == (hub, hub))

    def _is_bay(self, rows: dict[int, dict[int, str]]) -> bool:
        """Whether a coupling has the form of a rigid body: two rows, moved by the same one or two inputs."""
        if len(rows) > 2:
            return False
        hubs = [self._hub(entries) for entries in rows.values()]
        inputs = [{self._input(name, hub) for name in entries.values()} for entries, hub in zip(rows.values(), hubs, strict=True)]
        everything = set.union(*inputs)
        turning = all(self.scheme.graph.items[name].domain == "rotational" for name in set.intersection(*inputs))
        return len(set(hubs)) == len(hubs) and len(everything) <= 2 and len(set.intersection(*inputs)) >= 1 and turning

    def _bays(self, bays: Sequence[dict[int, dict[int, str]]]) -> None:
        """The points of a body beside its base: the first right, the second left, others for themselves."""
        sides: dict[tuple[int, str], list[int]] = {}
        for rows in bays:
            first = next(iter(rows.values()))
            turning = self._turning(rows)
            block = self.block_of.get(turning)
            way = 1
            if block is None and turning in self.items:
                block = self._begun(turning, (0.0, 0.0))
            elif block is not None:
                taken = sides.get((id(block), turning), [])
                way = next((way for way in (1, -1) if way not in taken), 0)
            if block is None or way == 0 or any(self._hub(entries) in self.block_of for entries in rows.values()):
                block, way = Block(), 1
                self.blocks.append(block)
            else:
                sides.setdefault((id(block), turning), []).append(way)
            x0, y0 = block.at.get(turning, (0.0, 0.0))
            for row, entries in rows.items():
                up = -1 if row == min(rows) and (len(rows) > 1 or row == 1) else 1
                hub = self._hub(entries)
                y = y0 + up * ROW
                for name in entries.values():
                    further = 0.5 if self._input(name, hub) == turning else 1.5
                    self._put(block, name, (x0 + way * further * BAY, y0 + up * ROW / 2))
                if hub in self.items and hub not in self.block_of:
                    self._put(block, hub, (x0 + way * BAY, y))
                for other, at in self._beside_hub(hub, (x0, y), way):
                    if other in self.items and other not in self.block_of:
                        self._put(block, other, at)
            second = [self._input(n, self._hub(e)) for e in rows.values() for n in e.values()]
            for name in second:
                if name != turning and name in self.items and name not in self.block_of:
                    self._put(block, name, (x0 + way * 2 * BAY, y0))
            del first

    def _turning(self, rows: dict[int, dict[int, str]]) -> str:
        """What moves both rows of a bay from inside: the input that belongs to the piece, the first of two."""
        inputs = [self._input(rows[i][j], self._hub(rows[i])) for i in rows for j in sorted(rows[i])]
        own = [name for name in inputs if name in self.items]
        return own[0] if own else inputs[0]

    def _beside_hub(self, hub: str, base: Point, way: int) -> Iterator[tuple[str, Point]]:
        """The junctions that a sum takes from, at the base, and those that it gives to, farther out."""
        x, y = base
        for bond in self.scheme.bonds_of(hub):
            other = bond.other(hub)
            if other in self.scheme.junctions:
                yield other, (x if bond.head == hub else x + way * 2 * BAY, y)

    def _fan(self, entries: dict[int, str]) -> None:
        """Transformers left and right of their sum."""
        hub = self._hub(entries)
        names = [name for _, name in sorted(entries.items()) if name not in self.block_of]
        if not names:
            return
        if hub in self.block_of or hub not in self.items:
            return  # the sum stands elsewhere: its transformers grow where they can
        block = self._begun(hub, (0.0, 0.0))
        owners = [self.owners.of.get(self._input(name, hub), "") for name in names]
        first = owners[0]
        left = [name for name, owner in zip(names, owners, strict=True) if owner == first]
        right = [name for name in names if name not in left]
        for side, group in ((-1, left), (1, right)):
            group.sort(key=lambda name: self.texts.rank(self._input(name, hub)))
            for k, name in enumerate(group):
                y = (k - (len(group) - 1) / 2) * RUNG
                self._put(block, name, (side * FAN, y))
                if (source := self._input(name, hub)) in self.items and source not in self.block_of:
                    self._put(block, source, (side * (FAN + STEP), y))

    def _grow(self, block: Block) -> None:
        """Put what hangs on the items of a block beside them."""
        queue = list(block.at)
        for name in queue:
            for other in self._inner(name):
                if other in self.block_of:
                    continue
                at = self._free_spot(block, name, other)
                if at is not None:
                    self._put(block, other, at)
                    queue.append(other)

    def _free_spot(self, block: Block, name: str, other: str) -> Point | None:
        x, y = block.at[name]
        ways: tuple[Slot, ...] = ("E", "W", "S", "N") if x >= 0 else ("W", "E", "S", "N")
        if other in self.scheme.junctions and name in self.scheme.junctions and self._has_fan(name):
            ways = ("S", "N", "E", "W")
        boxes = [self._solid(item, at) for item, at in block.at.items()]
        lines = list(self._lines(block))
        for way in ways:
            dx, dy = _VECTOR[way]
            at = x + dx * STEP, y + dy * STEP
            box = self._solid(other, at)
            line = Stroke(*clipped((x, y), at, self.gap(name), self.gap(other)))
            near = any(box.grown(10).overlaps(one) for one in boxes)
            crossed = any(touch(line, one, 0) for one in lines) or any(touch(one, box, 0) for one in lines)
            through = any(touch(b, line, 0) for item, b in zip(block.at, boxes, strict=True) if item != name)
            if not (near or crossed or through):
                return at
        return None

    def _has_fan(self, name: str) -> bool:
        return sum(other in self.scheme.two_ports for other in self._inner(name)) > 1

    def _lines(self, block: Block) -> Iterator[Stroke]:
        for bond in self.scheme.bonds:
            if bond.tail in block.at and bond.head in block.at:
                yield self._line(block, bond)

    def _line(self, block: Block, bond: PowerBond) -> Stroke:
        start, end = block.at[bond.tail], block.at[bond.head]
        gaps = [self.gap(name).moved(*block.at[name]) for name in (bond.tail, bond.head)]
        return Stroke(*clipped(start, end, *gaps))

    def node(self, name: str) -> BondNode:
        """An item as a node of the figure."""
        role: Literal["junction", "multiport", "leaf"] = "leaf" if self._is_leaf(name) else "multiport"
        role = "junction" if name in self.scheme.junctions else role
        return BondNode(name, name, role, self.texts.item(name, self.piece), self.texts.domain(name))

    def gap(self, name: str) -> Box:
        """The box about an item at which its bonds stop, about its centre."""
        if name not in self.gaps:
            self.gaps[name] = gap_of(self.node(name), (0.0, 0.0), "N")
        return self.gaps[name]

    def _solid(self, name: str, at: Point) -> Box:
        """What an item covers, with its modulus."""
        gap, text = self.gap(name).moved(*at), self.node(name).text
        wide = max(gap.width, set_math(text.modulus, VARIABLE).box.width if text.modulus else 0.0)
        above = 26.0 if text.modulus else 0.0
        return Box(at[0] - wide / 2, gap.top - above, at[0] + wide / 2, gap.bottom)

    # -- drawn -----------------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        for block in self.blocks:
            for name, at in block.at.items():
                self._draw_item(block, name, at)
        cut = {
            bond.number
            for bond in self.scheme.bonds
            if {bond.tail, bond.head} <= self.block_of.keys() and not self._joined(bond)
        }
        ends = list(self._ends(cut))
        for block in self.blocks:
            self._notes(block)
            self._leaves(block)
        for end in ends:
            self._stub(end)
        for block in self.blocks:
            block.pen.settle()

    def _draw_item(self, block: Block, name: str, at: Point) -> None:
        node = self.node(name)
        # Slanted bonds come to the transformers of a bay from above and from below: their moduli stand beside them.
        bay = any(
            (o := bond.other(name)) in block.at and 20 < abs(block.at[o][1] - at[1]) and abs(block.at[o][0] - at[0]) < BAY
            for bond in self.scheme.bonds_of(name)
        )
        steep = bay or any(
            (o := bond.other(name)) in block.at and block.at[o][1] < at[1] - 20 and abs(block.at[o][0] - at[0]) < 20
            for bond in self.scheme.bonds_of(name)
        )
        if node.text.modulus and steep:
            draw_beside(block.pen, node, self.gap(name), right=self._beside_right(block, name), centre=at)
        else:
            draw_text(block.pen, node, at, "name")

    def _beside_right(self, block: Block, name: str) -> bool:
        x = block.at[name][0]
        return (x > 0) if abs(x) < BAY else (x < 0) if False else x > 0

    def _joined(self, bond: PowerBond) -> bool:
        """Draw a bond between two items of one block, where nothing is in its way."""
        block = self.block_of[bond.tail]
        if block is not self.block_of[bond.head]:
            return False
        line = self._line(block, bond)
        if hypot(line.end[0] - line.start[0], line.end[1] - line.start[1]) < 16 or any(
            touch(ink, line, 0) for ink in block.pen.touching(line)
        ):
            return False
        block.pen.bond(self._link(bond), (line.start, line.end), self.options, later=True)
        return True

    def _link(self, bond: PowerBond, tail: str = "", head: str = "") -> BondLink:
        ends = tail or bond.tail, head or bond.head
        stroke = ends[1] if bond.stroke == "head" else ends[0]
        leaf = next((name for name in (bond.tail, bond.head) if name in self.items and self._is_leaf(name)), "")
        effort, flow = self.texts.variables(bond, leaf, self.piece) if leaf else ("", "")
        return BondLink(
            bond.number, *ends, stroke, bond.domain, effort, flow, size=bond.size, warned=self.texts.warned(bond)
        )

    def _ends(self, cut: set[int]) -> Iterator[_End]:
        """Bonds that leave the piece, or that are cut in it; those of one velocity that lead to one name are one bond."""
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
                bringing = next((b for b in bonds if (b.stroke == "tail") == (b.tail == name)), bonds[0])
                yield _End(name, bringing, told)

    def _notes(self, block: Block) -> None:
        for name, at in block.at.items():
            text = self.texts.note(name, self.piece)
            if not text:
                continue
            origin = Origin(name, "note", "", 1, self.texts.domain(name))
            for right, down in ((1, -1), (-1, -1), (1, 1), (-1, 1), (1.6, -1.7), (-1.6, -1.7), (1.6, 1.7), (-1.6, 1.7)):
                place = at[0] + right * 13.0, at[1] + down * 17.0
                label = Label(text, place, VARIABLE, "left" if right > 0 else "right", tone="quiet", origin=origin)
                if block.pen.is_free(label_box(label), 1.5):
                    block.pen.put(label)
                    break

    def _leaves(self, block: Block) -> None:
        for name in list(block.at):
            for bond in self.scheme.bonds_of(name):
                other = bond.other(name)
                if other in self.items and self._is_leaf(other):
                    leaf = self.node(other)
                    self._hang(block, name, leaf, self._link(bond), self._wanted(block, name, leaf))

    def _wanted(self, block: Block, name: str, leaf: BondNode) -> tuple[Slot, ...]:
        """The places of an element: storages above in the upper rows and below in the lower ones, away from the base."""
        x, y = block.at[name]
        low = any(v < y - 20 for _, v in block.at.values()) and not any(v > y + 20 for _, v in block.at.values())
        middle = any(v < y - 20 for _, v in block.at.values()) and any(v > y + 20 for _, v in block.at.values())
        upright: tuple[Slot, ...] = ("S", "N") if low else ("N", "S")
        letters = leaf.text.letters
        if letters.endswith("R") or letters == "C":
            upright = ("S", "N")
        level: tuple[Slot, ...] = ("E", "W") if x > 0 else ("W", "E")
        corners: tuple[Slot, ...] = ("NE", "NW", "SE", "SW") if upright[0] == "N" else ("SE", "SW", "NE", "NW")
        if "S" in letters or middle:
            return (*level, *upright, *corners)
        return (*upright, *level, *corners)

    def _stub(self, end: _End) -> None:
        block = self.block_of[end.item]
        name = f"end {end.bond.number} {end.item}"
        text = BondNode(name, "", "leaf", ItemText("", end.words), end.bond.domain)
        tail, head = (end.item, name) if end.bond.tail == end.item else (name, end.item)
        link = replace(self._link(end.bond, tail, head), effort="", flow="", warned=False)
        x, y = block.at[end.item]
        side: tuple[Slot, ...] = ("W", "E") if x < -1 else ("E", "W")
        vertical: tuple[Slot, ...] = ("N", "S") if y <= 0 else ("S", "N")
        lean: tuple[Slot, ...] = ("NW", "SW", "NE", "SE") if x < -1 else ("NE", "SE", "NW", "SW")
        if y > 1:
            lean = lean[1], lean[0], lean[3], lean[2]
        self._hang(block, end.item, text, link, (*side, *vertical, *lean))

    def _hang(self, block: Block, name: str, leaf: BondNode, link: BondLink, wanted: Iterable[Slot]) -> None:
        """Draw an element, or the name of another end, at the best free place round an item."""
        ways = tuple(wanted)
        for further in FURTHER:
            for way in ways:
                if self._hung(block, name, leaf, link, way, further, forced=False):
                    return
        block.pen.left_out += 1
        self._hung(block, name, leaf, link, ways[0], 4.0, forced=True)

    def _hung(
        self, block: Block, name: str, leaf: BondNode, link: BondLink, way: Slot, further: float, *, forced: bool
    ) -> bool:
        centre, gap = block.at[name], self.gap(name)
        at = self._leaf_at(centre, gap, leaf, link, way, further)
        outer = gap_of(leaf, at, way)
        start, end = clipped(centre, at, gap.moved(*centre), outer)
        if name in self.scheme.junctions and len(way) > 1:
            start, end = clipped(centre, at, Box(-19, -19, 19, 19).moved(*centre), outer)
        solid = Box(outer.left, outer.top, outer.right, outer.bottom).grown(-3.0)
        line = Stroke(start, end)
        pen = block.pen
        free = pen.is_free(solid, APART) and not any(touch(ink, line, 0) for ink in pen.touching(line))
        if free:
            # The barb and the labels beside the bond need room too.
            free = all(pen.is_free(box, 0.5) for box in self._beside(link, start, end))
        if not (free or forced):
            return False
        draw_text(pen, leaf, at, "name", way)
        points = (end, start) if link.tail == leaf.name else (start, end)
        pen.bond(link, points, self.options, element=leaf.element)
        return True

    def _beside(self, link: BondLink, start: Point, end: Point) -> list[Box]:
        (x, y), (u, v) = start, end
        if abs(y - v) < 1:  # level
            reach = max((set_math(t, VARIABLE).box.width / 2 for t in (link.effort, link.flow) if t), default=6.0)
            middle = (x + u) / 2
            high = 26.0 if link.effort else 9.0
            return [Box(middle - reach, y - high, middle + reach, y - 3), Box(middle - reach, y + 3, middle + reach, y + (24 if link.flow else 9))]
        if abs(x - u) < 1:
            left, right = (12.0 + set_math(t, VARIABLE).box.width if t else 8.0 for t in (link.effort, link.flow))
            middle = (y + v) / 2
            return [Box(x - left, middle - 9, x - 3, middle + 9), Box(x + 3, middle - 9, x + right, middle + 9)]
        return []

    def _leaf_at(self, centre: Point, gap: Box, leaf: BondNode, link: BondLink, way: Slot, further: float) -> Point:
        (x, y), (dx, dy) = centre, _VECTOR[way]
        size = VARIABLE if not leaf.text.letters else 18.0
        half = set_math(leaf.text.latex(reversed_="W" in way), size).box.width / 2
        stub = not leaf.text.letters
        if dy == 0:
            labels = max((set_math(t, VARIABLE).box.width for t in (link.effort, link.flow) if t), default=0.0)
            length = max(40.0 if stub else 56.0, labels + 34.0) * further
            edge = gap.right if dx > 0 else -gap.left
            return x + dx * (edge + length + 7.0 + half), y
        if dx == 0:
            return x, y + dy * (STUB if stub else ONE_PORT) * further
        u, v = CORNER
        return x + dx * (u * further + max(0.0, half - 20)), y + dy * v * further
