"""The shapes of a schematic in columns: boxes, strands between them, bridges above or below, and the areas of the domains
behind all.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import final

from tellegen.drawing.geometry import Box, Point, union
from tellegen.drawing.ink import check_scene, ink_box
from tellegen.drawing.options import Options
from tellegen.drawing.scene import CAPTION_DROP, Band, Dot, Origin, Scene, Shape, Wire, captions_along, moved
from tellegen.drawing.schematic.bodies import LABEL_GAP, label_shape, one_port_shapes
from tellegen.drawing.schematic.columns import Columns, Strand
from tellegen.drawing.schematic.layout import ABOVE, WIRE_SPACING, SchematicLayout
from tellegen.drawing.schematic.outlines import curves, placed, rectangle
from tellegen.drawing.schematic.plan import SchematicLabels, SchematicLink, Station, label_extent
from tellegen.drawing.schematic.row_drawing import BAND_MARGIN, RowDrawing, domain_areas
from tellegen.drawing.schematic.symbols import MECHANICAL_DOMAINS, one_port_symbol
from tellegen.drawing.schematic.wires import count_crossings

LEAD = 16.0
"""Of the wire between a strand and its box."""
APART, PAD = 14.0, 22.0
"""Between strands under each other, and from the edge of a box to its first terminal."""
STUB = 28.0
"""Of the wire at a terminal to which nothing is joined."""
BridgeLanes = dict[tuple[int, int], list[float]]
"""Where bridges leave strands, by the strand and its side, from the box outwards."""
LEAST_HALF = 24.0
"""Half the width of a narrow box."""


@final
class StrandPlace:
    """A strand with its ink about its own line, and where it stands: x is added to its coordinates, y is that of its line."""

    def __init__(self, strand: Strand, texts: SchematicLabels, climbs: tuple[int, int]) -> None:
        self.strand, self.climbs = strand, climbs
        self.joined = tuple(bool(box) or count > 0 for box, count in zip(strand.ties, climbs, strict=True))
        left, right = self.joined
        self.layout = SchematicLayout(strand.plan, texts.of, label_extent, (left, right))
        end, line = self.layout.width, self.layout.rows[strand.ends[0]]
        # A terminal that nothing is joined to has a short wire.
        self._stub = STUB if strand.is_bare and left != right and not any(climbs) else 0.0
        drawn = [] if strand.is_bare else RowDrawing(self.layout, reach=([0.0][:left], [end][:right])).shapes
        self.ink = union([Box(0.0, line, end + self._stub, line), *([ink_box(drawn)] if drawn else [])])
        self.x = self.y = 0.0

    def row(self, side: int) -> float:
        """The height of the line at its left or right end."""
        return self.y + self.layout.rows[self.strand.ends[side]]

    def shapes(self, reach: tuple[list[float], list[float]]) -> list[Shape]:
        """What it is drawn as, with wires to these places on its left and on its right."""
        left, right = ([x - self.x for x in places] for places in reach)
        if self._stub:
            left, right = ([*left, self._stub], []) if left else ([], [0.0, *right])
        drawn = RowDrawing(self.layout, reach=(left, right)).shapes
        return [moved(shape, self.x, self.y) for shape in drawn]


@final
class ColumnDrawing:
    """Draws columns. `strands` are those of each gap; `edges` the left and right edges of each column of boxes."""

    def __init__(self, columns: Columns, texts: SchematicLabels) -> None:
        self.columns, self.texts = columns, texts
        self.half = [max(self._half(station) for station in column) for column in columns.boxes]
        self.strands = [[StrandPlace(s, texts, self._climbs(s)) for s in gap] for gap in columns.gaps]
        self.boxes: dict[str, Box] = {}
        self.edges: list[tuple[float, float]] = []
        self.shapes: list[Shape] = []
        self._tangled = False
        self._spans: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
        self._across()
        self._down()
        self._draw()

    def _half(self, station: Station) -> float:
        assert station.element is not None, "a box is an element"
        return max(LEAST_HALF, label_extent(self.texts.of(station.element))[0] / 2 + 8)

    def _climbs(self, strand: Strand) -> tuple[int, int]:
        """How many bridges go up at the left and at the right end of a strand."""
        first, last = strand.ends
        bridges = self.columns.bridges
        return sum(bridge.second == first for bridge in bridges), sum(bridge.first == last for bridge in bridges)

    @property
    def is_complete(self) -> bool:
        """Whether every bridge leads between ends that look to each other, over or under what no other one crosses.

        Bridges between the same ends lie in each other.
        """
        climbs = [count for gap in self.strands for strand in gap for count in strand.climbs]
        if self._tangled or sum(climbs) != 2 * len(self.columns.bridges) or count_crossings(self.shapes):
            return False
        for spans in self._spans:
            if any(one[1] >= two[0] for one, two in pairwise(sorted(spans))):
                return False
        found = check_scene(Scene("", "", ink_box(self.shapes).grown(1.0), tuple(self.shapes)))
        return all(problem.kind == "free end" for problem in found)  # terminals may be open

    # -- places ----------------------------------------------------------------------------------------------------------------

    def _across(self) -> None:
        """Where gaps and columns are from left to right."""
        x = 0.0
        for k, gap in enumerate(self.strands):
            before, after = (self._zone(gap, side) for side in (0, 1))
            if k == 0:
                before = 0.0
            if k == len(self.strands) - 1:
                after = 0.0
            room = max((strand.ink.width for strand in gap), default=0.0)
            start, end = x + before, x + before + room
            for strand in gap:
                left, right = strand.joined
                free = room - strand.ink.width
                strand.x = start - strand.ink.left + (free / 2 if left and right else free if right else 0.0)
            x = end + after
            if k < len(self.half):
                self.edges.append((x, x + 2 * self.half[k]))
                x += 2 * self.half[k]

    def _zone(self, gap: list[StrandPlace], side: int) -> float:
        """The room for wires between strands and a box."""
        return LEAD + WIRE_SPACING * sum(strand.climbs[side] for strand in gap)

    def _down(self) -> None:
        """The heights of strands: as high as they can be, as low as they can be, and half way between these."""
        every = [strand for gap in self.strands for strand in gap]
        number = {id(strand): k for k, strand in enumerate(every)}
        rules = [(number[id(a)], number[id(b)], apart) for a, b, apart in self._distances()]
        high = _pushed([0.0] * len(every), rules)
        lowest = max(high)
        low = _pushed([0.0] * len(every), [(b, a, apart) for a, b, apart in rules])
        for k, strand in enumerate(every):
            strand.y = round((high[k] + lowest - low[k]) / 2)
        for k, column in enumerate(self.columns.boxes):
            for station in column:
                rows = [strand.row(side) for strand, side in self._tied(k, station)]
                left, right = self.edges[k]
                self.boxes[station.key] = Box(left, min(rows) - PAD, right, max(rows) + PAD)

    def _tied(self, k: int, station: Station) -> list[tuple[StrandPlace, int]]:
        """The strands at a box of a column, each with the side on which the box is."""
        return [
            (strand, side)
            for side, gap in ((1, self.strands[k]), (0, self.strands[k + 1]))
            for strand in gap
            if strand.strand.ties[side] == station.key
        ]

    def _distances(self) -> Iterator[tuple[StrandPlace, StrandPlace, float]]:
        """Pairs of strands of which the second is at least so far below the first."""
        for gap in self.strands:
            for one, two in pairwise(gap):
                yield one, two, one.ink.bottom - two.ink.top + APART
        for k, column in enumerate(self.columns.boxes):
            for above, below in pairwise(column):
                for one, side in self._tied(k, above):
                    for two, other in self._tied(k, below):
                        rows = one.layout.rows[one.strand.ends[side]] - two.layout.rows[two.strand.ends[other]]
                        yield one, two, rows + 2 * PAD + APART

    # -- shapes ----------------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        lanes = self._lanes()
        for k, gap in enumerate(self.strands):
            for strand in gap:
                self.shapes += strand.shapes((self._reach(k, strand, 0, lanes), self._reach(k, strand, 1, lanes)))
        for column in self.columns.boxes:
            for station in column:
                self.shapes += self._box(station)
        top, bottom = ink_box(self.shapes).top, max(box.bottom for box in self.boxes.values())
        pairs: dict[tuple[str, str], list[SchematicLink]] = {}
        for bridge in self.columns.bridges:
            pairs.setdefault((bridge.first, bridge.second), []).append(bridge)
        for bridges in pairs.values():
            limits = top, bottom
            if any(count not in (0, len(bridges)) for count in self._meeting(bridges[0])):
                self._tangled = True  # bridges to several places from one end would lie on each other
                continue
            for number, bridge in enumerate(bridges):
                limits = self._bridge(bridge, limits, lanes, number)

    def _meeting(self, bridge: SchematicLink) -> tuple[int, int]:
        """How many bridges there are at the ends of one; none where no strand ends there."""
        one, two = self._end(bridge.first, 1), self._end(bridge.second, 0)
        return 0 if one is None else one.climbs[1], 0 if two is None else two.climbs[0]

    def _reach(self, k: int, strand: StrandPlace, side: int, lanes: BridgeLanes) -> list[float]:
        """Where a strand leads to: its box, and the bridges that go up from it."""
        edge = [self.edges[k - 1][1] if side == 0 else self.edges[k][0]] if strand.strand.ties[side] else []
        return [*edge, *lanes.get((id(strand), side), [])]

    def _lanes(self) -> BridgeLanes:
        """Where bridges go up or down, by strand and side: the first strand of a gap nearest to the box."""
        found: BridgeLanes = {}
        for k, gap in enumerate(self.strands):
            for side in (0, 1):
                climbing = [strand for strand in gap for _ in range(strand.climbs[side])]
                for number, strand in enumerate(climbing):
                    edge = self.edges[k - 1][1] if side == 0 else self.edges[k][0]
                    away = LEAD / 2 + WIRE_SPACING * number
                    found.setdefault((id(strand), side), []).append(edge + (away if side == 0 else -away))
        return found

    def _box(self, station: Station) -> Iterator[Shape]:
        element, box = station.element, self.boxes[station.key]
        assert element is not None, "a box is an element"
        half, high = box.width / 2, box.height / 2
        outline = (rectangle(-half, -high, half, high),)
        yield from curves(outline, placed(box.centre, (1, 0)), Origin(element.name, "symbol"))
        yield label_shape(element, self.texts.of(element), box.centre)

    def _bridge(
        self, bridge: SchematicLink, limits: tuple[float, float], lanes: BridgeLanes, number: int
    ) -> tuple[float, float]:
        """A one-port above the boxes, or below them, with wires to its strands; gives how far it reaches up and down.

        `number` counts bridges between the same ends, from inside.
        """
        assert bridge.element is not None, "a bridge is an element"
        one, two = self._end(bridge.first, 1), self._end(bridge.second, 0)
        if one is None or two is None:
            return limits
        first, second = lanes[id(one), 1][number], lanes[id(two), 0][number]
        symbol, text = one_port_symbol(bridge.element.kind), self.texts.of(bridge.element)
        across = label_extent(text)[1]
        top, bottom = limits
        below = bridge.first in self.columns.below
        above = symbol.up + LABEL_GAP + across
        y, x = bottom + ABOVE + above if below else top - ABOVE - symbol.down, (first + second) / 2
        if number == len(lanes[id(one), 1]) - 1:
            self._spans[below].append((first, second))
        forward = bridge.element.nodes[0] == bridge.first
        self.shapes += one_port_shapes(bridge.element, symbol, (x, y), (1.0 if forward else -1.0, 0.0))
        self.shapes.append(label_shape(bridge.element, text, (x, y - symbol.up - LABEL_GAP - across / 2)))
        half = symbol.length / 2
        for strand, side, climb, end in ((one, 1, first, x - half), (two, 0, second, x + half)):
            self._climb(strand, side, ((climb, strand.row(side)), (climb, y), (end, y)))
        return min(top, y - above), max(bottom, y + symbol.down)

    def _climb(self, strand: StrandPlace, side: int, points: tuple[Point, ...]) -> None:
        station = strand.strand.plan.stations[-side]
        origin = Origin(part="wire", port=station.key, domain=station.domain)
        self.shapes.append(Wire(points, origin=origin))
        if station.domain not in MECHANICAL_DOMAINS:
            self.shapes.append(Dot(points[0], origin=origin))

    def _end(self, node: str, side: int) -> StrandPlace | None:
        """The strand that a bridge goes up from, at its end on a side."""
        found = (s for gap in self.strands for s in gap if s.climbs[side] and s.strand.ends[side] == node)
        return next(found, None)


def _pushed(places: list[float], rules: Iterable[tuple[int, int, float]]) -> list[float]:
    """The least places from the given ones on, in which every second of a rule is so far behind the first."""
    known = list(rules)
    for _ in range(len(places) + 1):
        before = list(places)
        for one, two, apart in known:
            places[two] = max(places[two], places[one] + apart)
        if places == before:
            break
    return places


CAPTION_RISE = 9.0
"""From the top of a figure to the baseline of the words above it."""


def column_bands(drawing: ColumnDrawing, options: Options) -> list[Shape]:
    """The bands of a drawing, with words under those at the bottom, and above it for domains that are only at the top."""
    area = ink_box(drawing.shapes).grown(BAND_MARGIN)
    cuts = [area.left, *((left + right) / 2 for left, right in drawing.edges), area.right]
    bands = [
        band
        for gap, (left, right) in zip(drawing.strands, pairwise(cuts), strict=True)
        for band in _stripes(gap, Box(left, area.top, right, area.bottom))
    ]
    if not options.shows_captions:
        return list(bands)
    lowest = [band for band in bands if band.box.bottom == area.bottom]
    below = list(captions_along(lowest, area.bottom + CAPTION_DROP))
    named = {label.origin.domain for label in below}
    highest = [band for band in bands if band.box.top == area.top and band.domain not in named]
    above = captions_along(highest, area.top - CAPTION_RISE, len(bands))
    return [*bands, *below, *above]


def _stripes(gap: list[StrandPlace], area: Box) -> Iterator[Band]:
    """A stripe for strands of one domain under each other, and one for each strand that goes through several."""
    groups: list[list[StrandPlace]] = []
    for strand in gap:
        if groups and len(strand.strand.domains) == 1 and strand.strand.domains == groups[-1][0].strand.domains:
            groups[-1].append(strand)
        else:
            groups.append([strand])
    borders = [
        (above[-1].y + above[-1].ink.bottom + below[0].y + below[0].ink.top) / 2 for above, below in pairwise(groups)
    ]
    for group, (top, bottom) in zip(groups, pairwise([area.top, *borders, area.bottom]), strict=False):
        strand = group[0]
        stripe = Box(area.left - strand.x, top, area.right - strand.x, bottom)
        for domain, box in domain_areas(strand.layout, stripe):
            yield Band(box.moved(strand.x, 0.0), domain, Origin(domain=domain))
