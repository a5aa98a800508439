"""What stands at a node: shunts down to a rail, masses and discs on a line of motion, rods to a wall, and the circle of a port."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.schematic import symbols
from tellegen.drawing.schematic.compounds import CYLINDER, VALVE
from tellegen.drawing.schematic.plan import LABEL_SIZE, SchematicLabels, Shunt, Station
from tellegen.drawing.schematic.rails import return_line_height
from tellegen.drawing.schematic.symbols import OnePortSymbol, circle, curves, placed
from tellegen.model.model import Element
from tellegen.scenes.geometry import Point, PointMap, shifted
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Label, Origin, Shape


@final
@dataclass(frozen=True, slots=True)
class PlacedSymbol:
    """A symbol with its label and its wires, about the left end of the body of its station.

    `wires` belong to the node, or to the return `line`, `drop` to the reference; `wall` is where a wall stands and the direction
    that leads to it.
    """

    element: Element | None
    symbol: OnePortSymbol | None = None
    centre: Point = (0.0, 0.0)
    towards: Point = (1.0, 0.0)
    text: str = ""
    text_at: Point = (0.0, 0.0)
    wires: tuple[tuple[Point, ...], ...] = ()
    drop: tuple[Point, ...] = ()
    rail: float | None = None
    wall: tuple[Point, Point] | None = None
    line: str = ""


@final
@dataclass(slots=True)
class NodeBody:
    """What a station carries between its left and its right end, and the height that it takes above the line of nodes."""

    width: float = 0.0
    top: float = symbols.MID
    row: float = symbols.MID
    pieces: list[PlacedSymbol] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    closed: list[tuple[float, float]] = field(default_factory=list)


def moved_symbol(piece: PlacedSymbol, dx: float, dy: float = 0.0) -> PlacedSymbol:
    """The same piece further to the right, or below."""
    centre, text_at = shifted((piece.centre, piece.text_at), dx, dy)
    return replace(
        piece,
        centre=centre,
        text_at=text_at,
        wires=tuple(shifted(wire, dx, dy) for wire in piece.wires),
        drop=shifted(piece.drop, dx, dy),
        rail=None if piece.rail is None else piece.rail + dx,
        wall=None if piece.wall is None else (shifted(piece.wall[:1], dx, dy)[0], piece.wall[1]),
    )


PAD = 12.0
"""Between neighbours."""
LABEL_GAP = 6.0
"""Between a symbol and its label."""
LEVEL = 16.0
"""Between rods that lie under each other, beside their symbols and labels."""
PORT_LEAD = 18.0
"""Of the wire between a node and the circle of its port."""
TERMINAL = OnePortSymbol(6.0, 3.0, 3.0, (circle(0, 0, 3),))
REACH = 10.0
"""Of the rod between the plate of a node and a symbol."""


@final
class NodeBodyMaker:
    """Makes the body of a node. `ends` says whether its left and its right side are free of other lines."""

    def __init__(self, station: Station, texts: SchematicLabels) -> None:
        self.station, self.texts = station, texts

    def make(self, ends: tuple[bool, bool]) -> NodeBody:
        """Everything that hangs from the node, from left to right."""
        if not self.station.port:
            return self._body(ends)
        left, right = ends
        # The port takes a free side before rods do: others are joined there, and it has to be found.
        body = self._body((False, right) if left else (left, False))
        self._port(body, -1 if left else 1, free=left or right)
        return body

    def _body(self, ends: tuple[bool, bool]) -> NodeBody:
        if not self.station.is_shaft:
            return self._rungs(last=ends[1] and not ends[0])
        return self._on_the_line(ends)

    def _port(self, body: NodeBody, side: int, *, free: bool) -> None:
        """A small circle with the name of the port, at a free end of the line or below it."""
        text = port_text(self.station.port)
        along, across = self.texts.extent(text)
        radius = TERMINAL.length / 2
        x, row = 0.0 if side < 0 else body.width, body.row
        if free:
            # A long name reaches back over the wire, not beyond it.
            lead = max(PORT_LEAD, along / 2 - radius)
            at = x + side * (lead + radius), row
            text_at = at[0], row - radius - LABEL_GAP - across / 2
            wires: tuple[Point, ...] = ((x, row), (at[0] - side * radius, row))
            place = x
            out = max(lead + 2 * radius, lead + radius + along / 2)
        else:
            at = x + PAD, row + PORT_LEAD
            text_at = at[0] + radius + LABEL_GAP + along / 2, at[1]
            wires = ((x + PAD, row), (x + PAD, at[1] - radius))
            place = x + PAD
            out = PAD + radius + LABEL_GAP + along
        # A body begins at zero: what is put on its left moves all the rest.
        shift = out if side < 0 else 0.0
        pieces = [*body.pieces, PlacedSymbol(None, TERMINAL, at, text=text, text_at=text_at, wires=(wires,))]
        body.pieces = [moved_symbol(piece, shift) for piece in pieces]
        body.places = [known + shift for known in (*body.places, place)]
        body.closed = [(a + shift, b + shift) for a, b in body.closed]
        body.width += out
        body.top = min(body.top, row - radius - LABEL_GAP - across)

    # -- rungs -----------------------------------------------------------------------------------------------------------------

    def _rungs(self, *, last: bool) -> NodeBody:
        body = NodeBody(row=symbols.ROW, top=symbols.ROW)
        # A source stands at the outer end of the line, where current enters the figure: at its left, or at its right.
        rank = {True: 0, False: 1} if not last else {True: 1, False: 0}
        x = 0.0
        for item in sorted(
            self.station.hanging, key=lambda h: rank[h.element is not None and h.element.kind.role == "source"]
        ):
            if not item.line:
                x = self._rung(item, x, body)
        body.width = max(0.0, x, self._below(body))
        return body

    def _below(self, body: NodeBody) -> float:
        """What hangs from return lines, side by side under all else; gives how far it reaches."""
        below = [item for item in self.station.hanging if item.line]
        # Where something leads down to a line, what hangs from it should stand right below: one straight wire.
        leads = {item.line: [p.rail for p in body.pieces if p.rail is not None] for item in below if not item.depth}
        width = 0.0
        for depth in range(max((item.depth for item in below), default=-1) + 1):
            x = 0.0
            # What leads on to another line comes first, as that comes from the left.
            for item in sorted(
                (item for item in below if item.depth == depth),
                key=lambda item: (depth and min(leads.get(item.line, [0.0])), item.reference in REFERENCES),
            ):
                x, at = self._rung_below(item, x, leads.get(item.line, []), body)
                leads.setdefault(item.reference, []).append(at)
            width = max(width, x)
        return width

    def _rung_below(self, item: Shunt, x: float, leads: list[float], body: NodeBody) -> tuple[float, float]:
        """Under what leads down to the line, or well beside it; gives how far it reaches, and where it hangs."""
        under = NodeBody()
        right = self._rung(item, x + (PAD if x else 0.0), under)
        (piece,) = under.pieces
        (at,) = under.places
        # Within half a gap both are one wire; else the element moves past the wire so that it does not touch it.
        near = next((place for place in leads if (place >= at - PAD / 2 if item.depth else abs(place - at) < PAD)), at)
        dx = near - at if near >= at - PAD / 2 else near + PAD - at
        body.pieces.append(
            replace(moved_symbol(piece, dx, return_line_height(item.depth) - symbols.ROW), line=item.line)
        )
        return right + dx, at + dx

    def _rung(self, item: Shunt, x: float, body: NodeBody) -> float:
        if item.element is None:
            body.places.append(x + PAD)
            body.pieces.append(PlacedSymbol(None, drop=((x + PAD, symbols.ROW), (x + PAD, symbols.RAIL)), rail=x + PAD))
            return x + 2 * PAD
        symbol, text = self.texts.symbol(item.element), self.texts.of(item.element)
        # To a tank nothing leads; any other node is drawn.
        stands = symbol.standing is not None and not item.line and item.reference in REFERENCES
        symbol = symbol.standing or symbol if stands else symbol
        half, (along, _) = max(symbol.up, symbol.down), self.texts.extent(text)
        at = x + half + (PAD if body.pieces else 0.0)
        body.places.append(at)
        if stands:
            foot = at, symbols.ROW - REACH
            centre = at, foot[1] - symbol.length / 2
            text_at = at + half + LABEL_GAP + along / 2, centre[1]
            piece = PlacedSymbol(item.element, symbol, centre, (0.0, -1.0), text, text_at)
            body.pieces.append(replace(piece, wires=(((at, symbols.ROW), foot),)))
            body.top = min(body.top, foot[1] - symbol.length)
            return at + half + LABEL_GAP + along
        upper = (at, symbols.ROW), (at, symbols.MID - symbol.length / 2)
        lower = (at, symbols.MID + symbol.length / 2), (at, symbols.RAIL)
        towards, text_at = (0.0, 1.0 if item.away else -1.0), (at + half + LABEL_GAP + along / 2, symbols.MID)
        piece = PlacedSymbol(item.element, symbol, (at, symbols.MID), towards, text, text_at)
        body.pieces.append(replace(piece, wires=(upper,), drop=lower, rail=at))
        return at + half + LABEL_GAP + along

    # -- lines of motion -------------------------------------------------------------------------------------------------------

    def _on_the_line(self, ends: tuple[bool, bool]) -> NodeBody:
        body = NodeBody()
        rods = [item for item in self.station.hanging if self._inline(item) is None]
        inline = [item for item in self.station.hanging if self._inline(item) is not None]
        driving = [item for item in rods if item.element is not None and item.element.kind.role == "source"]
        x = 0.0
        # What drives a body stands before it, and so does its floor; all other rods lead to the wall behind.
        first = next((item for item in rods if _is_floor(item)), driving[0] if driving else None)
        if ends[0] and first is not None:
            rods.remove(first)
            x = self._rod(first, 0.0, 0.0, body, -1)
        for item in inline:
            x = self._block(item, x + (PAD if x else 0.0), body)
        if rods:
            x = self._rods(rods, x + (PAD if x else 0.0), body, free=ends[1])
        body.width = x
        return body

    def _inline(self, item: Shunt) -> OnePortSymbol | None:
        """The symbol of an element that sits on the line itself."""
        if item.element is None:
            return None
        kind, symbol = item.element.kind, self.texts.symbol(item.element)
        # A torque acts on the line itself; a force needs a side of its body to push at.
        if symbols.is_load(kind) and kind.domains[0] == "rotational":
            return symbols.torque_arrow(1 if not item.away else -1)
        return symbols.named_block(*self.texts.extent(self.texts.of(item.element))) if symbol.named else symbol.on_shaft

    def _block(self, item: Shunt, x: float, body: NodeBody) -> float:
        symbol = self._inline(item)
        assert symbol is not None, "only elements with such a symbol sit on the line"
        assert item.element is not None, "a wire sits on no line"
        text = self.texts.of(item.element)
        along, across = self.texts.extent(text)
        inside = symbols.one_port_symbol(item.element.kind).named
        half = symbol.length / 2 if inside else max(symbol.length, along) / 2
        at = x + half
        above = symbols.MID if inside else symbols.MID - symbol.up - LABEL_GAP - across / 2
        body.pieces.append(PlacedSymbol(item.element, symbol, (at, symbols.MID), text=text, text_at=(at, above)))
        left, right = at - symbol.length / 2, at + symbol.length / 2
        body.places += [left, right]
        # The line of motion is left out inside the symbol: a mass is not a rod.
        body.closed.append((left, right))
        body.top = min(body.top, symbols.MID - symbol.up - (0.0 if inside else LABEL_GAP + across))
        return at + half

    def _rods(self, rods: list[Shunt], x: float, body: NodeBody, *, free: bool) -> float:
        """Rods to a wall on the right; the first on the line itself where nothing goes on from there."""
        y, right, before = symbols.MID, x, symbols.MID
        for k, item in enumerate(rods):
            symbol = self._rod_symbol(item)
            across = self.texts.extent(self.texts.of(item.element))[1] if item.element is not None else 0.0
            # Something goes on to the right: all rods hang below, clear of the symbol and label there.
            if k == 0 and not free:
                y += max(30.0, symbol.up + LABEL_GAP + across + LEVEL)
            elif k:
                y += symbol.up + LABEL_GAP + across + LEVEL
            right = max(right, self._rod(item, x, y, body, 1, before))
            before = y
            y += symbol.down
        return right

    def _rod_symbol(self, item: Shunt) -> OnePortSymbol:
        if item.element is None:
            return OnePortSymbol(0.0, 0.0, 0.0, ())
        return symbols.FORCE_ARROW if symbols.is_load(item.element.kind) else self.texts.symbol(item.element)

    def _rod(self, item: Shunt, x: float, y: float, body: NodeBody, side: int, before: float = symbols.MID) -> float:
        """A symbol with a wall at its end, to the right of the plate at x or (side -1) before a plate that follows.

        The plate reaches down to the height `before` already.
        """
        symbol = self._rod_symbol(item)
        text = self.texts.of(item.element) if item.element is not None else ""
        along, across = self.texts.extent(text) if text else (0.0, 0.0)
        # A long label widens the rod: labels of rods above each other would overlap their neighbours otherwise.
        span = max(symbol.length, along)
        is_force = item.element is not None and symbols.is_load(item.element.kind)
        # Half of a wall's hatching and some air; a force has no wall, as its counterforce is outside the model.
        wall_room = 0.0 if is_force else 8.0
        plate = x if side > 0 else x + wall_room + span + REACH
        centre = plate + side * (REACH + span / 2)
        near, far = centre - side * symbol.length / 2, centre + side * symbol.length / 2
        wires = ((plate, before), (plate, y), (near, y))
        # A force acts on the body in the direction of its arrow, on whichever side of it there is room.
        away = item.away == (side > 0) if not is_force else not item.away
        wall = None if is_force else ((far, y), (float(side), 0.0))
        towards, text_at = (1.0 if away else -1.0, 0.0), (centre, y - symbol.up - LABEL_GAP - across / 2)
        shown = None if item.element is None else symbol
        piece = PlacedSymbol(item.element, shown, (centre, y), towards, text, text_at)
        body.places.append(plate)
        body.pieces.append(replace(piece, wires=(wires,), wall=wall))
        body.top = min(body.top, y - symbol.up - LABEL_GAP - across)
        return plate if side < 0 else plate + REACH + span + wall_room


def _is_floor(item: Shunt) -> bool:
    """Whether an element keeps its node from moving back beyond the frame: it stands before the node."""
    return item.element is not None and item.element.kind.behaviour == "stop" and not item.away


def element_shapes(
    element: Element,
    symbol: OnePortSymbol | symbols.TwoPortSymbol,
    move: PointMap,
    text: str = "",
    text_at: Point = (0.0, 0.0),
) -> Iterator[Shape]:
    """The symbol of an element at its place, with the letter that it has inside, and its label."""
    domain = element.kind.domains[0] if isinstance(symbol, OnePortSymbol) else ""
    yield from curves(symbol.parts, move, Origin(element.name, "symbol", domain=domain))
    if symbol.letter:
        yield Label(symbol.letter, move((0.0, 0.0)), LABEL_SIZE, origin=Origin(element.name, "letter"))
    if text:
        yield label_shape(element, text, text_at)


def terminal_shapes(at: Point, origin: Origin, text: str = "", text_at: Point = (0.0, 0.0)) -> Iterator[Shape]:
    """The small circle of an open end or of a port, with the name of the port."""
    yield from curves(TERMINAL.parts, placed(at, (1, 0)), origin)
    if text:
        yield Label(text, text_at, LABEL_SIZE, origin=origin)


def label_shape(element: Element, text: str, at: Point) -> Label:
    """The label of an element."""
    # What powers are drawn beside is one element: a label of several has none.
    part = "members" if element.kind.name in (VALVE, CYLINDER) else "name"
    return Label(text, at, LABEL_SIZE, origin=Origin(element.name, part))


def port_text(name: str) -> str:
    """The name of a port as it is set beside its circle."""
    return rf"\mathrm{{{name}}}" if name.isalpha() else name_latex(name)
