"""Places for one connected part on a line: stations and boxes of elements with several ports along it, links between neighbours
on it, the others above it.

Every station has three cells: lanes on its left for lines that go up from there, its body, and lanes on its right; a gap follows.
Symbols above the line stand in gaps, where no line goes up, so that nothing ever lies on a symbol.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.schematic import symbols
from tellegen.drawing.schematic.bodies import LABEL_GAP, NodeBody, NodeBodyMaker
from tellegen.drawing.schematic.plan import SchematicLabels, SchematicLink, SchematicPlan, Station
from tellegen.model.model import Element
from tellegen.scenes.geometry import Point

WIRE_SPACING = 14.0
"""Between wires that run beside each other."""

Edge = Literal["left", "right", "crown"]
EDGES: tuple[Edge, ...] = ("left", "right", "crown")


@final
@dataclass(frozen=True, slots=True)
class Pin:
    """A terminal: where it is about the middle of the symbol, where its wire meets the line of nodes, and on which side."""

    at: Point
    meets: Point
    edge: Edge


@final
@dataclass(frozen=True, slots=True)
class MultiportBox:
    """An element with several ports about its middle; `pins` by terminal, `rails` the terminals at the reference.

    It takes `before` and `after` of the line of nodes, and reaches up to `top`, label included.
    """

    element: Element
    symbol: symbols.TwoPortSymbol
    mirrored: bool
    pins: Mapping[int, Pin]
    rails: Mapping[int, Pin]
    text: str
    text_at: Point
    before: float
    after: float
    top: float


StationNumbers = Mapping[str, int]
"""The number of each station on the line."""


def _multiport_box(layout: "SchematicLayout", station: Station) -> MultiportBox:
    """The box of a station."""
    element, place, texts = station.element, layout.place, layout.texts
    assert element is not None, "a node has no ports"
    text = texts.of(element)
    along, across = texts.extent(text)
    mirrored = False
    if station.symbol is not None:
        left, right = (next(node for node in pair if node in place) for pair in (element.nodes[:2], element.nodes[2:]))
        # Between its nodes each side faces its own; with both on one side, the nearer one is faced.
        own = place[station.key]
        # A symbol that is turned to the wrong side needs wires round itself.
        between = (place[left] < own) != (place[right] < own)
        mirrored = place[left] > place[right] if between else place[left] < place[right]
        symbol = (station.symbol.mirrored or station.symbol) if mirrored else station.symbol
        pins, rails = _pins(element, symbol, place, mirrored=mirrored)
    else:
        symbol, pins = _plain(layout, station, along)
        rails = _feet(element, symbol, place)
    # The label belongs to the box when it takes its place on the line: neighbours keep away from both.
    before, after = (symbol.right, symbol.left) if mirrored else (symbol.left, symbol.right)
    top, at = -symbol.up, (0.0, symbols.MID)
    match symbol.caption:
        case (x, y):
            before, after = (max(before, x + along), after) if mirrored else (before, max(after, x + along))
            at = (-1 if mirrored else 1) * (x + along / 2), y - LABEL_GAP - across / 2
            top = min(top, y - LABEL_GAP - across)
        case "above":
            before, after = max(before, along / 2), max(after, along / 2)
            # A symbol that reaches from wire to wire has its label above the wires.
            row = symbols.ROW if top > symbols.ROW and symbol.up > -symbols.TOP - 1 else top
            at, top = (0.0, row - LABEL_GAP - across / 2), row - LABEL_GAP - across
        case "left" | "right":
            if (symbol.caption == "left") != mirrored:
                at, before = (-before - LABEL_GAP - along / 2, symbols.MID), before + LABEL_GAP + along
            else:
                at, after = (after + LABEL_GAP + along / 2, symbols.MID), after + LABEL_GAP + along
    return MultiportBox(
        element=element,
        symbol=symbol,
        mirrored=mirrored,
        pins=pins,
        rails=rails,
        text=text,
        text_at=at,
        before=before,
        after=after,
        top=min([top, *(pin.meets[1] for pin in pins.values())]) if pins else min(top, symbols.MID),
    )


def _pins(
    element: Element, symbol: symbols.TwoPortSymbol, place: StationNumbers, *, mirrored: bool
) -> tuple[dict[int, Pin], dict[int, Pin]]:
    pins: dict[int, Pin] = {}
    rails: dict[int, Pin] = {}
    for terminal, (node, pin) in enumerate(zip(element.nodes, symbol.pins, strict=True)):
        if pin is None:
            continue
        x, y = (-pin[0], pin[1]) if mirrored else pin
        # Terminals of wires end short of the line of nodes and of the rail; those of shafts lie on their line.
        meets = x, {symbols.TOP: symbols.ROW, symbols.BOTTOM: symbols.RAIL}.get(y, y)
        edge: Edge = "left" if (terminal // 2 == 0) != mirrored else "right"
        (pins if node in place else rails)[terminal] = Pin((x, y), meets, edge)
    return pins, rails


def _plain(layout: "SchematicLayout", station: Station, width: float) -> tuple[symbols.TwoPortSymbol, dict[int, Pin]]:
    """A box: the nearest node on each side at its own height, the others from the top, the far ones inside."""
    place, links = layout.place, layout.terminals[station.key]
    own = place[station.key]
    before = sorted((link for link in links if place[link.second] < own), key=lambda link: -place[link.second])
    after = sorted((link for link in links if place[link.second] > own), key=lambda link: place[link.second])
    beside = [*before[:1], *after[:1]]
    # Wires to far nodes nest: the farthest on the left and on the right leave outermost.
    crown = [*before[1:], *reversed(after[1:])]
    left, right = ([layout.rows[link.second] for link in side[:1]] for side in (before, after))
    feet = sum(node not in place for node in station.element.nodes) if station.element is not None else 0
    # Room for the label inside, and for the terminals on the top or below, whichever has more.
    half = max(24.0, width / 2 + 8, (max(len(crown), feet) + 1) * WIRE_SPACING / 2)
    symbol = symbols.plain_box((tuple(left), tuple(right)), half, len(crown), WIRE_SPACING)
    # Its picture has shafts to the left, to the right and up: with other neighbours the plain box is clearer.
    if is_planetary_gear(station.element) and left and right and len(crown) == 1:
        symbol = symbols.PLANETARY_GEAR
    edges: list[Edge] = []
    for edge, count in zip(EDGES, (len(left), len(right), len(crown)), strict=True):
        edges += [edge] * count
    pins: dict[int, Pin] = {}
    for link, at, side in zip([*beside, *crown], symbol.pins, edges, strict=True):
        assert at is not None, "all terminals of a plain box are drawn"
        pins[link.terminal] = Pin(at, at, side)
    return symbol, pins


def _feet(element: Element, symbol: symbols.TwoPortSymbol, place: StationNumbers) -> dict[int, Pin]:
    """Terminals below a plain box, to nodes that are drawn as rails; what a reference means for a box needs no wire."""
    terminals = [k for k, node in enumerate(element.nodes) if node not in place and node not in REFERENCES]
    found: dict[int, Pin] = {}
    for k, terminal in enumerate(terminals):
        x = (k - (len(terminals) - 1) / 2) * WIRE_SPACING
        found[terminal] = Pin((x, symbol.down), (x, symbols.RAIL), "left")
    return found


def is_planetary_gear(element: Element | None) -> bool:
    """Whether one relation binds the speeds of three shafts: two of them decide the third."""
    if element is None or element.multiport is None or set(element.kind.domains) != {"rotational"}:
        return False
    relation = element.multiport
    sides = {*relation.given_sides, *relation.gives_sides}
    counts = len(relation.given), len(relation.gives)
    return (sides == {"across"} and counts == (2, 1)) or (sides == {"through"} and counts == (1, 2))


BESIDE = 9.0
"""Between a symbol on the line and the station next to it."""
ABOVE = 14.0
"""Between a line and what is below it."""
CELLS = 4
LEFT, BODY, RIGHT, GAP = range(CELLS)


@final
@dataclass(slots=True)
class RaisedLink:
    """A link above the line, from its left end to its right end: the cells where it goes up, the lanes there, its height.

    `flipped` says whether its left end is the second of the link; `gap` is the cell of its symbol.
    """

    link: SchematicLink
    cells: tuple[int, int]
    flipped: bool
    gap: int
    left: float = 0.0
    right: float = 0.0
    height: float = 0.0


@final
class SchematicLayout:
    """Places for everything in a plan."""

    def __init__(self, plan: SchematicPlan, texts: SchematicLabels, joined: tuple[bool, bool] = (False, False)) -> None:
        """`joined` says whether a line leads on from the first station to the left, and from the last to the right."""
        self.plan, self.texts, self.joined = plan, texts, joined
        self.place = {station.key: k for k, station in enumerate(plan.stations)}
        self.rows = {s.key: symbols.MID if s.is_shaft else symbols.ROW for s in plan.stations if s.element is None}
        self.terminals: dict[str, list[SchematicLink]] = defaultdict(list)
        for link in plan.links:
            if link.terminal >= 0:
                self.terminals[link.first].append(link)
        stations = enumerate(plan.stations)
        self.boxes = {k: _multiport_box(self, station) for k, station in stations if station.element is not None}
        # Boxes are known before links are sorted: a terminal on the top of a box cannot be met on the line.
        self.on_line: dict[int, SchematicLink] = {}
        self.arcs: list[RaisedLink] = []
        for link in plan.links:
            self._sort(link)
        # Bodies come after links: where no line leaves a node, its rods and its port may use that side.
        self._climbing = {cell for arc in self.arcs for cell in arc.cells}
        self.bodies: dict[int, NodeBody] = {k: self._body(k) for k, s in enumerate(plan.stations) if s.element is None}
        self.lanes = self._lanes()
        self.lefts, self.widths = self._cells()
        self._lift()

    @property
    def width(self) -> float:
        """From the first cell to the end of the last."""
        return self.lefts[-1] + self.widths[-1]

    # -- what goes where -------------------------------------------------------------------------------------------------------

    def _sort(self, link: SchematicLink) -> None:
        """On the line between neighbours, or above it."""
        one, two = self.place[link.first], self.place[link.second]
        gap = min(one, two)
        # The first link between neighbours takes the line; parallel ones go above it in the order of description.
        if abs(one - two) == 1 and gap not in self.on_line and self._meets_line(link, one, two):
            self.on_line[gap] = link
            return
        first = CELLS * one + (RIGHT if one < two else LEFT)
        second = CELLS * two + (LEFT if one < two else RIGHT)
        if link.terminal >= 0:
            edge = self.boxes[one].pins[link.terminal].edge
            first = CELLS * one + {"left": LEFT, "crown": BODY, "right": RIGHT}[edge]
        flipped = first > second
        cells = (second, first) if flipped else (first, second)
        # The symbol stands in the middle gap: no line ever goes up in a gap, so nothing can cross it.
        middle = (min(one, two) + max(one, two) - 1) // 2
        self.arcs.append(RaisedLink(link, cells, flipped, CELLS * middle + GAP))

    def _meets_line(self, link: SchematicLink, one: int, two: int) -> bool:
        if link.terminal < 0:
            return True
        pin = self.boxes[one].pins[link.terminal]
        return pin.edge == ("right" if one < two else "left") and pin.meets[1] == self.rows[link.second]

    def _body(self, k: int) -> NodeBody:
        station = self.plan.stations[k]
        ends = k == 0 and self.joined[0], k == len(self.plan.stations) - 1 and self.joined[1]
        left, right = (
            not (letter or end or gap in self.on_line or CELLS * k + side in self._climbing)
            for letter, end, gap, side in ((station.before, ends[0], k - 1, LEFT), (station.after, ends[1], k, RIGHT))
        )
        return NodeBodyMaker(station, self.texts).make((left, right))

    # -- along the line --------------------------------------------------------------------------------------------------------

    def _lanes(self) -> dict[int, list[tuple[RaisedLink, bool]]]:
        """The arcs that go up in each cell from left to right, and whether it is their left end. Inner arcs are outermost."""
        found: dict[int, list[tuple[RaisedLink, bool]]] = defaultdict(list)
        # Of arcs between the same cells the first is lowest, so that it is inside at both ends.
        for arc in self.arcs:
            found[arc.cells[1]].append((arc, False))
        for arc in reversed(self.arcs):
            found[arc.cells[0]].append((arc, True))
        for ends in found.values():
            # Those that go to the left come first, the nearest outermost; then those to the right, the nearest last.
            ends.sort(key=lambda end: (end[1], -end[0].cells[1] if end[1] else -end[0].cells[0]))
        return found

    def _cells(self) -> tuple[list[float], list[float]]:
        lefts: list[float] = []
        widths: list[float] = []
        standing: dict[int, list[SchematicLink]] = defaultdict(list)
        for arc in self.arcs:
            standing[arc.gap].append(arc.link)
        x = 0.0
        for k in range(len(self.plan.stations)):
            lanes = [WIRE_SPACING * len(self.lanes.get(CELLS * k + side, ())) for side in (LEFT, RIGHT)]
            for width in (lanes[0], self._body_width(k), lanes[1], self._gap(k, standing[CELLS * k + GAP])):
                lefts.append(x)
                widths.append(width)
                x += width
        return lefts, widths

    def _body_width(self, k: int) -> float:
        if k in self.boxes:
            return self.boxes[k].before + self.boxes[k].after
        return self.bodies[k].width

    def _gap(self, k: int, above: list[SchematicLink]) -> float:
        if k == len(self.plan.stations) - 1:
            return 0.0
        links = [link for link in (*above, self.on_line.get(k)) if link is not None and link.element is not None]
        row = self.on_line.get(k)
        # Neighbours that only a wire joins may stand closer: between others a reader must see that nothing joins them.
        least = WIRE_SPACING if row is not None and row.element is None else 2 * WIRE_SPACING
        return max([least, *(self._span(link) + 2 * BESIDE for link in links)])

    def _span(self, link: SchematicLink) -> float:
        assert link.element is not None, "a plain wire has no symbol"
        return max(self.texts.symbol(link.element).length, self.texts.extent(self.texts.of(link.element))[0])

    # -- above the line --------------------------------------------------------------------------------------------------------

    def _lift(self) -> None:
        """Give lanes to the ends of arcs, then heights to arcs: the short ones are nearest to the line."""
        for cell, ends in self.lanes.items():
            for number, (arc, is_left) in enumerate(ends):
                x = self._lane(cell, number, arc)
                arc.left, arc.right = (x, arc.right) if is_left else (arc.left, x)
        tops = self._tops()
        # Short arcs first: a long one then goes over them, and its ends never cross their level pieces.
        for arc in sorted(self.arcs, key=lambda arc: arc.cells[1] - arc.cells[0]):
            self._raise(arc, tops)

    def _lane(self, cell: int, number: int, arc: RaisedLink) -> float:
        if cell % CELLS == BODY:
            k = cell // CELLS
            return self.middle(k) + self.boxes[k].pins[arc.link.terminal].at[0]
        return self.lefts[cell] + (number + 0.5) * WIRE_SPACING

    def middle(self, k: int) -> float:
        """The middle of the symbol of a station with ports."""
        return self.lefts[CELLS * k + BODY] + self.boxes[k].before

    def _tops(self) -> list[float]:
        """How high each cell reaches so far."""
        tops: list[float] = []
        for k in range(len(self.plan.stations)):
            if k in self.boxes:
                tops += [self.boxes[k].top] * 3
            else:
                tops += [self.bodies[k].row, self.bodies[k].top, self.bodies[k].row]
            tops.append(self._gap_top(k))
        return tops

    def _gap_top(self, k: int) -> float:
        link = self.on_line.get(k)
        if link is None:
            return symbols.MID
        row = self.rows[link.second]
        return row if link.element is None else row - self.height_of(link)

    def height_of(self, link: SchematicLink) -> float:
        """From the axis of a symbol to the top of its label."""
        assert link.element is not None, "a plain wire has no symbol"
        up = self.texts.symbol(link.element).up
        return up + LABEL_GAP + self.texts.extent(self.texts.of(link.element))[1]

    def _raise(self, arc: RaisedLink, tops: list[float]) -> None:
        first, last = arc.cells
        element = arc.link.element
        # Above all that it passes, ends included: the lanes were ordered so that this crosses nothing.
        height = min(tops[first : last + 1]) - ABOVE
        if element is not None:
            height = min(height, tops[arc.gap] - self.texts.symbol(element).down - LABEL_GAP)
        arc.height = height
        # Whatever comes next goes over this arc, wherever they overlap.
        tops[first : last + 1] = [height] * (last + 1 - first)
        if element is not None:
            tops[arc.gap] = height - self.height_of(arc.link)
