"""Schematics with elements of many ports: these are boxes in columns, and all else lies in strands between facing boxes.

A strand is what hangs together without the boxes. It leads from one box to one in the next column, or is tied to one box alone. A
one-port between two strands is a bridge over the boxes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.options import Options
from tellegen.drawing.schematic.bodies import LABEL_GAP, element_shapes, label_shape
from tellegen.drawing.schematic.layout import ABOVE, WIRE_SPACING, SchematicLayout, is_planetary_gear
from tellegen.drawing.schematic.plan import (
    LABEL_SIZE,
    SchematicLabels,
    SchematicLink,
    SchematicPlan,
    Station,
    stations_between,
)
from tellegen.drawing.schematic.rails import connected_groups, distances, neighbours
from tellegen.drawing.schematic.row_drawing import BAND_MARGIN, RowDrawing, domain_areas
from tellegen.drawing.schematic.symbols import (
    MECHANICAL_DOMAINS,
    circle,
    curves,
    is_feed,
    placed,
    rectangle,
)
from tellegen.drawing.schematic.wires import count_crossings
from tellegen.model.model import Element
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.ink import check_scene, ink_box
from tellegen.scenes.scene import CAPTION_DROP, Band, Dot, Label, Origin, Scene, Shape, Wire, captions_along, moved

LEAST_TIES = 3
"""What an element must have to be a box in a column."""


@final
@dataclass(frozen=True, slots=True)
class Strand:
    """Stations from left to right, in the gap before a column; `ties` are the boxes on its left and right, or nothing."""

    plan: SchematicPlan
    gap: int
    ties: tuple[str, str]

    @property
    def ends(self) -> tuple[str, str]:
        """The nodes at its ends."""
        return self.plan.stations[0].key, self.plan.stations[-1].key

    @property
    def is_bare(self) -> bool:
        """Whether it is a wire alone."""
        return not any(s.hanging or s.port or s.element for s in self.plan.stations) and not self.plan.links

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that follow each other in it."""
        nodes = [station.domain for station in self.plan.stations if station.element is None]
        return tuple(d for k, d in enumerate(nodes) if k == 0 or nodes[k - 1] != d)


@final
@dataclass(frozen=True, slots=True)
class Columns:
    """Boxes by column from top to bottom, the strands of each gap from top to bottom, and bridges from left to right.

    `below` are the ends of bridges that lead under the boxes.
    """

    boxes: tuple[tuple[Station, ...], ...]
    gaps: tuple[tuple[Strand, ...], ...]
    bridges: tuple[SchematicLink, ...]
    below: frozenset[str] = frozenset()


def arrange_in_columns(plan: SchematicPlan, below: frozenset[str] = frozenset()) -> Columns | None:
    """The columns of a connected part; None where it has no such boxes, or where lines would have to cross.

    Bridges between the nodes `below` lead under the boxes.
    """
    ties = Counter(link.first for link in plan.links if link.terminal >= 0)
    plain = [s for s in plan.stations if s.element is not None and s.symbol is None and ties[s.key] >= LEAST_TIES]
    # A return line would have to pass under all strands, and a box on the line has its own place there.
    if not plain or _has_returns(plan) or any(_stays_on_line(plan, station) for station in plain):
        return None
    return _ColumnArranger(plan, {station.key: station for station in plain}).columns(below)


def _has_returns(plan: SchematicPlan) -> bool:
    """Whether something is tied to a return line, which would have to pass under all strands."""
    tied = {node for station in plan.stations if station.element is not None for node in station.element.nodes}
    tied |= {node for station in plan.stations for item in station.hanging for node in (item.line, item.reference)}
    return not tied.isdisjoint(plan.returns)


def _stays_on_line(plan: SchematicPlan, station: Station) -> bool:
    """Whether a box has a symbol of its own, or terminals at a node that is drawn as a rail without being a reference."""
    assert station.element is not None, "a node is no box"
    drawn = REFERENCES | {link.second for link in plan.links}
    return is_planetary_gear(station.element) or not drawn.issuperset(station.element.nodes)


@final
@dataclass
class _Group:
    """Stations that hang together, with the links between them and those that tie them to boxes, in order of description."""

    stations: list[Station] = field(default_factory=list)
    links: list[SchematicLink] = field(default_factory=list)
    ties: list[SchematicLink] = field(default_factory=list)
    order: int = 0

    @property
    def is_simple(self) -> bool:
        """Whether it can lie between two columns."""
        return 0 < len(self.ties) <= 2 and len({tie.first for tie in self.ties}) == len(self.ties)


@final
class _ColumnArranger:
    def __init__(self, plan: SchematicPlan, boxes: Mapping[str, Station]) -> None:
        self.plan, self.boxes = plan, boxes
        self.turned: set[str] = set()
        """Nodes at whose terminals strands change sides, so that a bridge leads from one side of the box to the other."""
        # The first tie decides: boxes come in the order in which the description leads to them.
        self.order = {
            key: k for k, key in enumerate(dict.fromkeys(link.first for link in plan.links if link.first in boxes))
        }

    def columns(self, below: frozenset[str]) -> Columns | None:
        groups, bridges = self._groups()
        # More than two boxes at one strand would need a line round one of them; rows can draw that.
        if not all(group.is_simple for group in groups):
            return None
        levels = self._levels(groups)
        if levels is None:
            return None
        self._turn(groups, bridges, levels)
        columns = self._stacked(groups, levels)
        place = {key: k for column in columns for k, key in enumerate(column)}
        strands = [self._strand(group, levels) for group in self._by_domain(groups)]
        if any(strand is None for strand in strands):
            return None
        # Strands with bridges lie outermost in their gap, so that a bridge leaves without passing a strand.
        climbing = {end for bridge in bridges for end in (bridge.first, bridge.second)}
        gaps = [
            _sorted([s for s in strands if s is not None and s.gap == gap], place, climbing, below)
            for gap in range(len(columns) + 1)
        ]
        if not all(_is_straight(gap, place) for gap in gaps):
            return None
        ordered = _from_left(bridges, gaps)
        if ordered is None:
            return None
        boxes = tuple(tuple(self.boxes[key] for key in column) for column in columns)
        return Columns(boxes, tuple(map(tuple, gaps)), ordered, below)

    # -- strands ---------------------------------------------------------------------------------------------------------------

    def _groups(self) -> tuple[list[_Group], list[SchematicLink]]:
        """What hangs together without boxes; where that is too much for a strand, one-ports between boxes become bridges."""
        inner = [link for link in self.plan.links if link.first not in self.boxes]
        tied = {link.second for link in self.plan.links if link.first in self.boxes}
        # First everything together: only where that is too much for a strand do one-ports between boxes leave it.
        crowded = {s.key for group in self._joined(inner) if not group.is_simple for s in group.stations}
        bridges = [
            link
            for link in inner
            if link.element is not None and link.first in tied & crowded and link.second in tied & crowded
        ]
        return self._joined([link for link in inner if not any(link is bridge for bridge in bridges)]), bridges

    def _joined(self, links: list[SchematicLink]) -> list[_Group]:
        stations = {station.key: station for station in self.plan.stations if station.key not in self.boxes}
        groups: list[_Group] = []
        group_of: dict[str, _Group] = {}
        for keys in connected_groups(neighbours(((link.first, link.second) for link in links), stations)):
            groups.append(_Group([stations[key] for key in keys]))
            group_of |= dict.fromkeys(keys, groups[-1])
        for link in links:
            group_of[link.first].links.append(link)
        for k, link in enumerate(self.plan.links):
            if link.first in self.boxes:
                group = group_of[link.second]
                # Terminals of one box at one node are one: a star point is led out once, behind the phases.
                again = any((tie.first, tie.second) == (link.first, link.second) for tie in group.ties)
                group.order = group.order if group.ties and not again else k
                group.ties += [] if again else [link]
        return sorted(groups, key=lambda group: group.order)

    def _strand(self, group: _Group, levels: Mapping[str, int]) -> Strand | None:
        ties = sorted(group.ties, key=lambda tie: levels[tie.first])
        if len(ties) == 2:
            left, right = ties
            # Between two boxes a strand lies in the gap before the right one, its ends at their terminals.
            gap, keys = levels[right.first], (left.second, right.second)
            boxes = left.first, right.first
        else:
            (tie,) = ties
            before = self._is_before(tie, levels)
            gap = levels[tie.first] + (0 if before else 1)
            keys, boxes = (("", tie.second), ("", tie.first)) if before else ((tie.second, ""), (tie.first, ""))
        order = stations_between(group.links, keys, [station.key for station in group.stations])
        stations = {station.key: station for station in group.stations}
        # A strand that ends with a box has no node at which its wire could leave.
        if order is None or any(stations[end].element is not None for end in (order[0], order[-1])):
            return None
        plan = SchematicPlan(tuple(stations[key] for key in order), tuple(group.links), self.plan.rail_ports)
        return Strand(plan, gap, boxes)

    def _turn(self, groups: list[_Group], bridges: list[SchematicLink], levels: Mapping[str, int]) -> None:
        """Put the second end of a bridge on the other side of the only box, where both would be on one."""
        # With several columns every bridge leads forward anyhow.
        if max(levels.values()):
            return
        tie_of = {s.key: group.ties[0] for group in groups if len(group.ties) == 1 for s in group.stations}
        for bridge in bridges:
            ends = [tie_of.get(end) for end in (bridge.first, bridge.second)]
            if ends[0] is not None and ends[1] is not None:
                sides = [self._is_before(tie, levels) for tie in (ends[0], ends[1])]
                if sides[0] == sides[1]:
                    self.turned.add(ends[1].second)

    def _is_before(self, tie: SchematicLink, levels: Mapping[str, int]) -> bool:
        """Whether a strand with one tie is on the left of its box: at the first column, and of one alone in the first domain."""
        return self._belongs_before(tie, levels) != (tie.second in self.turned)

    def _belongs_before(self, tie: SchematicLink, levels: Mapping[str, int]) -> bool:
        last = max(levels.values())
        if last:
            return levels[tie.first] == 0
        domains = [self._domain(link) for link in self.plan.links if link.first in self.boxes]
        # A box between two domains has each on a side of its own, as every machine has.
        if len(set(domains)) > 1:
            return self._domain(tie) == domains[0]
        ties = [link for link in self.plan.links if link.first == tie.first]
        # Within one domain the first half of the terminals is on the left, as they are counted.
        return 2 * next(k for k, link in enumerate(ties) if link is tie) < len(ties)

    def _domain(self, tie: SchematicLink) -> str:
        element = self.boxes[tie.first].element
        assert element is not None, "a box is an element"
        return element.kind.domains[tie.terminal // 2]

    def _by_domain(self, groups: list[_Group]) -> list[_Group]:
        """Those of one domain together, in the order of description otherwise."""
        domains = list(dict.fromkeys(self._domain(group.ties[0]) for group in groups))
        return sorted(groups, key=lambda group: domains.index(self._domain(group.ties[0])))

    # -- columns ---------------------------------------------------------------------------------------------------------------

    def _levels(self, groups: list[_Group]) -> dict[str, int] | None:
        """The column of each box: those that are fed first, then by how many strands away they are."""
        ties = ((one.first, two.first) for group in groups for one, two in pairwise(group.ties))
        near = neighbours(ties, self.order)
        # Sources on the left: power then flows in the direction of reading.
        fed = [key for key in self.order if any(_is_fed(g) for g in groups if [t.first for t in g.ties] == [key])]
        levels = distances(fed or list(self.order)[:1], near)
        # Two boxes of one column with a strand between them: there is no gap for it.
        beside = any(levels.get(a) == levels.get(b) for a in near for b in near[a])
        return None if beside or len(levels) < len(self.boxes) else levels

    def _stacked(self, groups: list[_Group], levels: Mapping[str, int]) -> list[list[str]]:
        """The boxes of each column: as those in the column before to which they lead."""
        columns: list[list[str]] = [[] for _ in range(max(levels.values()) + 1)]
        for key in self.order:
            columns[levels[key]].append(key)
        for before, column in pairwise(columns):
            pairs = [{tie.first for tie in group.ties} for group in groups]
            first = {key: min(k for k, other in enumerate(before) if {key, other} in pairs) for key in column}
            # By the topmost box before, so that strands between two columns do not cross.
            column.sort(key=first.__getitem__)
        return columns


def _is_fed(group: _Group) -> bool:
    """Whether wires or pipes of a group have a source that decides what is across them."""
    return any(h.element is not None and is_feed(h.element.kind) for s in group.stations for h in s.hanging)


def _sorted(strands: list[Strand], place: Mapping[str, int], climbing: set[str], below: frozenset[str]) -> list[Strand]:
    """Strands from top to bottom: as their boxes, those with a bridge on top, or at the bottom where it leads below."""

    def rank(strand: Strand) -> tuple[int, int, int]:
        places = [place[box] for box in strand.ties if box]
        ends = {*strand.ends}
        return places[0], places[-1], 2 if below & ends else 0 if climbing & ends else 1

    return sorted(strands, key=rank)


def _is_straight(strands: list[Strand], place: Mapping[str, int]) -> bool:
    """Whether no two strands of a gap cross on their way to their boxes."""
    sides = ([place[strand.ties[side]] for strand in strands if strand.ties[side]] for side in (0, 1))
    return all(one <= two for side in sides for one, two in pairwise(side))


def _from_left(bridges: list[SchematicLink], gaps: list[list[Strand]]) -> tuple[SchematicLink, ...] | None:
    """The bridges as they lead from left to right; None where one does not lead from the end of a strand to another gap."""
    gap_of = {end: k for k, strands in enumerate(gaps) for strand in strands for end in strand.ends}
    if any(bridge.first not in gap_of or bridge.second not in gap_of for bridge in bridges):
        return None
    # All from left to right: who draws a bridge needs not ask for its direction.
    turned = [b if gap_of[b.first] < gap_of[b.second] else SchematicLink(b.second, b.first, b.element) for b in bridges]
    return None if any(gap_of[b.first] == gap_of[b.second] for b in bridges) else tuple(turned)


LEAD = 16.0
"""Of the wire between a strand and its box."""
# With a single terminal a box is twice PAD high, which is room for its text.
APART, PAD = 14.0, 22.0
"""Between strands under each other, and from the edge of a box to its first terminal."""
STUB = 28.0
"""Of the wire at a terminal to which nothing is joined."""
LEAST_HALF = 24.0
"""Half the width of a narrow box."""


MACHINE = 22.0
"""The radius of the circle of a machine."""


MACHINES = {"generator": "G", "synchronous machine": "SM"}
"""The letters of machines that are no plain motors."""


def phases_of(element: Element) -> int:
    """How many windings turn one shaft, of an element that is an electric machine; none of others."""
    kinds = Counter(element.kind.domains)
    is_machine = (
        element.multiport is not None and kinds.keys() == {"electrical", "rotational"} and kinds["rotational"] == 1
    )
    return kinds["electrical"] if is_machine and kinds["electrical"] > 1 else 0


@final
class StrandPlace:
    """A strand with its ink about its own line, and where it stands: x is added to its coordinates, y is that of its line."""

    def __init__(self, strand: Strand, texts: SchematicLabels, climbs: tuple[int, int]) -> None:
        self.strand, self.climbs = strand, climbs
        self.joined = tuple(bool(box) or count > 0 for box, count in zip(strand.ties, climbs, strict=True))
        left, right = self.joined
        self.layout = SchematicLayout(strand.plan, texts, (left, right))
        end, line = self.layout.width, self.layout.rows[strand.ends[0]]
        # A terminal that nothing is joined to has a short wire.
        self._stub = STUB if strand.is_bare and left != right and not any(climbs) else 0.0
        # Drawn once only to learn its size: where its ends lead is known when all strands have places.
        drawn = [] if strand.is_bare else RowDrawing(self.layout, reach=([0.0][:left], [end][:right])).shapes
        self.ink = union([Box(0.0, line, end + self._stub, line), *([ink_box(drawn)] if drawn else [])])
        self.x = self.y = 0.0
        self.lanes: tuple[list[float], list[float]] = ([], [])
        """Where bridges leave it on its left and on its right, from the box outwards."""

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
        least = MACHINE + 8 if phases_of(station.element) else LEAST_HALF
        return max(least, self.texts.extent(self.texts.of(station.element))[0] / 2 + 8)

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
        # Places came from rules that do not know of each other: the drawing is looked at as a reader would.
        found = check_scene(Scene("", "", ink_box(self.shapes).grown(1.0), tuple(self.shapes)))
        return all(problem.kind == "free end" for problem in found)  # terminals may be open

    # -- places ----------------------------------------------------------------------------------------------------------------

    def _across(self) -> None:
        """Where gaps and columns are from left to right."""
        x = 0.0
        for k, gap in enumerate(self.strands):
            # Nothing is tied to the outer ends of the outermost gaps.
            before = self._zone(gap, 0) if k else 0.0
            after = self._zone(gap, 1) if k < len(self.half) else 0.0
            room = max((strand.ink.width for strand in gap), default=0.0)
            start, end = x + before, x + before + room
            for strand in gap:
                left, right = strand.joined
                free = room - strand.ink.width
                # In the middle between two boxes, else right beside the box to which it is tied.
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
        # Longest paths down from the top and up from the bottom: any height between these two keeps all distances.
        high = _pushed([0.0] * len(every), rules)
        lowest = max(high)
        low = _pushed([0.0] * len(every), [(b, a, apart) for a, b, apart in rules])
        for k, strand in enumerate(every):
            # Half way between centres short columns beside long ones; whole numbers keep lines sharp on a screen.
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
                        # Of boxes above each other any two terminals keep apart, with an edge for both boxes.
                        rows = one.layout.rows[one.strand.ends[side]] - two.layout.rows[two.strand.ends[other]]
                        yield one, two, rows + 2 * PAD + APART

    # -- shapes ----------------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        self._give_lanes()
        for k, gap in enumerate(self.strands):
            for strand in gap:
                self.shapes += strand.shapes((self._reach(k, strand, 0), self._reach(k, strand, 1)))
        for column in self.columns.boxes:
            for station in column:
                self.shapes += self._box(station)
        # Bridges lead over everything drawn so far, or below the boxes.
        top, bottom = ink_box(self.shapes).top, max(box.bottom for box in self.boxes.values())
        pairs: dict[tuple[str, str], list[SchematicLink]] = {}
        for bridge in self.columns.bridges:
            pairs.setdefault((bridge.first, bridge.second), []).append(bridge)
        for (first, second), bridges in pairs.items():
            one, two, limits = self._end(first, 1), self._end(second, 0), (top, bottom)
            # Bridges to several places from one end would lie on each other.
            if (one and one.climbs[1] != len(bridges)) or (two and two.climbs[0] != len(bridges)):
                self._tangled = True
            elif one and two:
                for number, bridge in enumerate(bridges):
                    limits = self._bridge(bridge, (one, two), limits, number)

    def _reach(self, k: int, strand: StrandPlace, side: int) -> list[float]:
        """Where a strand leads to: its box, and the bridges that go up from it."""
        edge = [self._edge(k, side)] if strand.strand.ties[side] else []
        return [*edge, *strand.lanes[side]]

    def _edge(self, gap: int, side: int) -> float:
        """Where the boxes on a side of a gap begin."""
        return self.edges[gap][0] if side else self.edges[gap - 1][1]

    def _give_lanes(self) -> None:
        """Lanes in which bridges go up or down: the first strand of a gap has those nearest to the box."""
        for k, gap in enumerate(self.strands):
            for side in (0, 1):
                # The upper strand is nearest to the box, so that wires from below pass it on the far side.
                climbing = [strand for strand in gap for _ in range(strand.climbs[side])]
                for number, strand in enumerate(climbing):
                    away = LEAD / 2 + WIRE_SPACING * number
                    strand.lanes[side].append(self._edge(k, side) + (-away if side else away))

    def _box(self, station: Station) -> Iterator[Shape]:
        element, box = station.element, self.boxes[station.key]
        assert element is not None, "a box is an element"
        half, high = box.width / 2, box.height / 2
        outline = (rectangle(-half, -high, half, high),)
        yield from curves(outline, placed(box.centre, (1, 0)), Origin(element.name, "symbol"))
        (x, y), phases = box.centre, phases_of(element)
        if phases and half > MACHINE and high > 2 * MACHINE:
            yield from self._machine(element, phases, (x, y - MACHINE))
            y += MACHINE
        yield label_shape(element, self.texts.of(element), (x, y))

    def _machine(self, element: Element, phases: int, at: Point) -> Iterator[Shape]:
        """The circle of a machine with its number of phases: M 3~, SM 3~ or G 3~."""
        yield from curves((circle(0, 0, MACHINE),), placed(at, (1, 0)), Origin(element.name, "symbol"))
        for k, text in enumerate((rf"\mathrm{{{MACHINES.get(element.kind.name, 'M')}}}", rf"{phases}{{\sim}}")):
            origin = Origin(element.name, "letter", str(k))
            yield Label(text, (at[0], at[1] + (k - 0.5) * LABEL_SIZE), LABEL_SIZE, origin=origin)

    def _bridge(
        self, bridge: SchematicLink, ends: tuple[StrandPlace, StrandPlace], limits: tuple[float, float], number: int
    ) -> tuple[float, float]:
        """A one-port above the boxes, or below them, with wires to its strands; gives how far it reaches up and down.

        `number` counts bridges between the same ends, from inside.
        """
        assert bridge.element is not None, "a bridge is an element"
        one, two = ends
        first, second = one.lanes[1][number], two.lanes[0][number]
        symbol, text = self.texts.symbol(bridge.element), self.texts.of(bridge.element)
        across = self.texts.extent(text)[1]
        top, bottom = limits
        below = bridge.first in self.columns.below
        above = symbol.up + LABEL_GAP + across
        y, x = bottom + ABOVE + above if below else top - ABOVE - symbol.down, (first + second) / 2
        # The outermost of several bridges spans the others.
        if number == len(one.lanes[1]) - 1:
            self._spans[below].append((first, second))
        forward = bridge.element.nodes[0] == bridge.first
        move, text_at = placed((x, y), (1.0 if forward else -1.0, 0.0)), (x, y - symbol.up - LABEL_GAP - across / 2)
        self.shapes += element_shapes(bridge.element, symbol, move, text, text_at)
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
    # Relaxation as of Bellman and Ford: as many rounds as places are enough where rules do not go in a circle.
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
    # A domain is named once; those that reach neither edge are named by neither row of words.
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
