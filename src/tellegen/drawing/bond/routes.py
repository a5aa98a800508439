"""Bonds that close meshes: the sides they come from, their way round all that stands, and those cut because they lead far.

A graph of a thousand elements at random has hundreds of bonds across the whole figure. Lines for all of them would cover it, and
finding ways for them would take minutes.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise, product
from math import ceil, floor
from typing import final

from tellegen.drawing.bond.clusters import Side, is_wide
from tellegen.drawing.bond.layout import BondLayout
from tellegen.drawing.bond.pen import OTHER_END, SMALL_TEXT, BondPen
from tellegen.drawing.bond.plan import BondLink, BondPlan
from tellegen.drawing.options import Options
from tellegen.scenes.geometry import Box, Point, along, straightened
from tellegen.scenes.ink import Ink, Stroke
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Align, Label, Origin, label_box

STEP = 10.0
# Beyond the ink a few lines can run beside each other; farther round nobody would follow them.
MARGIN = 80.0
TEXT_MARGIN = 6.0
STUB = 30.0
"""The straight piece at either end, for barb and stroke."""
# Where there is no other way, a line rather goes through labels, which can find other places, than through items.
LABEL_COST, WALL_COST = 10.0, 60.0


@final
@dataclass(frozen=True, slots=True)
class RouteCosts:
    """What a corner and a crossing cost, in steps, and how much more the way that is left counts than the way that is gone.

    More haste finds a way sooner, with more corners.
    """

    corner: float
    crossing: float
    haste: float


# The way that is left, times the haste, is what A* adds to a cost (Hart, Nilsson and Raphael 1968). Above one it may miss the best
# way, and looks at far fewer cells.
PATIENT, QUICK, HASTY, HEADLONG = (
    RouteCosts(10.0, 8.0, 1.15),
    RouteCosts(8.0, 8.0, 1.6),
    RouteCosts(4.0, 6.0, 1.6),
    RouteCosts(2.0, 3.0, 5.0),
)
SMALL, MEDIUM, LARGE = 3_000_000, 10_000_000, 500_000_000
"""Cells of the grid times the number of lines: up to here there is time for few corners."""


WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Directions of travel in the order of turning."""
LEAVING: dict[Side, int] = {"E": 0, "S": 1, "W": 2, "N": 3}
WALL, LEVEL, UPRIGHT, SLANTED, RESERVED, EDGE, LABEL = 1, 2, 4, 8, 16, 32, 64
"""What a cell holds: a wall, a line to be crossed upright, a line to be crossed level, a slanted line, the start of another, the
edge of the grid, or a label that can stand elsewhere."""
LINE = LEVEL | UPRIGHT | SLANTED
ARRIVED = 2
"""In the place of an axis: the way came to its end."""


class Router:
    """A grid over the figure: texts are walls, bonds may be crossed but neither followed nor framed_scene on.

    `lines` is how many ways will be asked for.
    """

    def __init__(self, pen: BondPen, lines: int) -> None:
        self.pen = pen
        boxes = pen.boxes()
        self.left = floor((min(box.left for box in boxes) - MARGIN) / STEP)
        self.top = floor((min(box.top for box in boxes) - MARGIN) / STEP)
        self.width = ceil((max(box.right for box in boxes) + MARGIN) / STEP) - self.left + 1
        self.height = ceil((max(box.bottom for box in boxes) + MARGIN) / STEP) - self.top + 1
        self.grid = bytearray(self.width * self.height)
        # As much care as there is time for: a second or two for a figure, some more for a large one.
        work = lines * len(self.grid)
        care = [PATIENT, QUICK, HASTY, HEADLONG]
        self.care = care[bisect_left((SMALL, MEDIUM, LARGE), work)]
        # A fence round the grid, so that no way leads over its edge and no cell has to be asked for its place.
        last = len(self.grid) - self.width
        for start in range(0, len(self.grid), self.width):
            self.grid[start] = self.grid[start + self.width - 1] = EDGE
        self.grid[: self.width] = self.grid[last:] = bytes([EDGE]) * self.width
        self.seen = 0
        self.look()

    @property
    def is_vast(self) -> bool:
        """Whether there are too many ways, in too large a figure, to look for all of them."""
        return self.care is HEADLONG

    def look(self) -> None:
        """Take in what was drawn since the last look."""
        for ink, is_label in self.pen.drawn(self.seen):
            self._mark(ink, LABEL if is_label else WALL)
        self.seen = self.pen.count

    def _mark(self, ink: Ink, text: int) -> None:
        if not isinstance(ink, Stroke):
            self._fill(ink.box.grown(TEXT_MARGIN), text)
            return
        (x, y), (u, v) = ink.start, ink.end
        if max(abs(x - u), abs(y - v)) <= 20:
            self._fill(ink.box.grown(5), WALL)  # barbs and strokes: a line across them would change what they say
        elif abs(y - v) < 0.01:
            self._fill(ink.box.grown(4), LEVEL)
        elif abs(x - u) < 0.01:
            self._fill(ink.box.grown(4), UPRIGHT)
        else:
            count = ceil(max(abs(x - u), abs(y - v)) / 5)
            for k in range(count + 1):
                point = (x + (u - x) * k / count, y + (v - y) * k / count)
                self._fill(Box(*point, *point).grown(5), SLANTED)

    def _fill(self, box: Box, what: int) -> None:
        first, last = max(0, ceil(box.left / STEP) - self.left), floor(box.right / STEP) - self.left
        above, below = max(0, ceil(box.top / STEP) - self.top), floor(box.bottom / STEP) - self.top
        for j in range(above, min(self.height - 1, below) + 1):
            for i in range(first, min(self.width - 1, last) + 1):
                self.grid[j * self.width + i] |= what

    def reserve(self, point: Point, side: Side, *, taken: bool = True) -> None:
        """Keep others away from the first piece of a bond that is still to be drawn, or no longer."""
        for far in (10.0, 20.0, 30.0):
            cell = self._cell(along(point, WAYS[LEAVING[side]], far))
            self.grid[cell] = self.grid[cell] | RESERVED if taken else self.grid[cell] & ~RESERVED

    def route(self, start: Point, start_side: Side, end: Point, end_side: Side) -> tuple[Point, ...]:
        """The points of a line that leaves one point on a side and comes to the other."""
        self.reserve(start, start_side, taken=False)
        self.reserve(end, end_side, taken=False)
        # The search runs between the free ends of two straight pieces, which have room for the barb and the stroke.
        first, last = _off(start, start_side), _off(end, end_side)
        ends = self._cell(first), LEAVING[start_side], self._cell(last), (LEAVING[end_side] + 2) % 4
        cells = self._search(*ends)
        # Walls are not merely dear from the start: the search would then look at cells behind every wall.
        forced = not cells
        cells = cells or self._search(*ends, through_walls=True)
        assert cells, "there is a way through walls"
        # Ports lie where texts end, not on the grid; the first and the last piece are moved to be in line with them.
        way = _aligned([self._point(cell) for cell in cells], start, LEAVING[start_side])
        way = _aligned(way[::-1], end, LEAVING[end_side])[::-1]
        # Two pieces may be in line after they were moved to their ports, within rounding.
        points = straightened([start, *way, end], 0.01)
        if forced:
            self.pen.clear_way(points)
        return points

    def _cell(self, point: Point) -> int:
        return (round(point[1] / STEP) - self.top) * self.width + round(point[0] / STEP) - self.left

    def _point(self, cell: int) -> Point:
        j, i = divmod(cell, self.width)
        return (i + self.left) * STEP, (j + self.top) * STEP

    def _search(self, start: int, leaving: int, end: int, arriving: int, *, through_walls: bool = False) -> list[int]:
        """The cells from one to the other at which the way turns, by A* over straight lines."""
        return _Search(self, end, arriving, through_walls=through_walls).way_from(start, leaving)


Corner = tuple[int, int]
"""A cell, and the axis along which the way goes on from there: 0 for level, 1 for upright."""
Found = tuple[float, float, int, int]
"""What a corner promises, what the way to it costs, its cell and its axis."""


@final
class _Search:
    """A search for one way by A* over straight lines instead of single steps, which takes a tenth of the time.

    From a corner one looks along its line; every free cell there may be the next corner. Those that come nearest to the end are
    looked at first, the others of the line only when they are the best that is left.
    """

    def __init__(self, router: Router, end: int, arriving: int, *, through_walls: bool) -> None:
        self.grid, self.width, self.care = router.grid, router.width, router.care
        self.end, self.arriving, self.through_walls = end, arriving, through_walls
        self.goal = end % router.width, end // router.width
        self.done = bytearray(len(router.grid)), bytearray(len(router.grid))
        self.came: dict[Corner, Corner] = {}
        self.queue: list[tuple[Found, Corner, Iterator[Found]]] = []

    def way_from(self, start: int, leaving: int) -> list[int]:
        """The cells of the corners from the start to the end; none where there is no way."""
        if start == self.end:
            return [start]
        origin = start, leaving % 2
        self._follow(origin, self._line(start, leaving, 0.0))
        # It may turn at once where its first piece ends, unless a corner there would lie on another line.
        if not self.grid[start] & LINE:
            turn = self.care.corner
            heappush(self.queue, ((turn, turn, start, 1 - leaving % 2), origin, iter(())))
        queue, done = self.queue, self.done
        while queue:
            (_, cost, cell, axis), parent, rest = heappop(queue)
            # Its line gives the next candidate only now, so the queue never holds more than one corner of each line.
            self._follow(parent, rest)
            if axis == ARRIVED:
                return self._traced(parent)
            if not done[axis][cell]:
                corner = cell, axis
                self.came[corner] = parent
                self._follow(corner, self._line(cell, axis, cost))
                self._follow(corner, self._line(cell, axis + 2, cost))
        return []

    def _follow(self, parent: Corner, rest: Iterator[Found]) -> None:
        """Put the next corner of a line into the queue."""
        found = next(rest, None)
        if found is not None:
            heappush(self.queue, (found, parent, rest))

    def _line(self, cell: int, way: int, cost: float) -> Iterator[Found]:
        """The corners along a line from a cell: first those on the way towards the end, then one after the other."""
        axis, grid, end = way % 2, self.grid, self.end
        corner, crossing, haste = self.care.corner, self.care.crossing, self.care.haste
        along, across = self.done[axis], self.done[1 - axis]
        # Along a line of its own direction a way would lie on it, and nobody could tell the two apart; across it may go.
        blocked = WALL | RESERVED | EDGE | LABEL | (UPRIGHT if axis else LEVEL)
        (dx, dy), (far_x, far_y) = WAYS[way], self.goal
        x, y = cell % self.width, cell // self.width
        ahead = dx * (far_x - x) + dy * (far_y - y)
        beside = abs(far_y - y) if axis == 0 else abs(far_x - x)
        near: list[Found] = []
        along[cell] = 1
        move = dx + dy * self.width
        here = cell + move
        while True:
            cost += 1.0
            ahead -= 1
            if held := grid[here]:
                if held & blocked and here != end:
                    if held & EDGE or not self.through_walls:
                        break
                    cost += LABEL_COST if held & blocked == LABEL else WALL_COST
                elif held & LINE:
                    cost += crossing
            if along[here] or (here == end and (way - self.arriving) % 4 == 2):
                break  # seen from elsewhere, or against the direction in which the way shall arrive
            along[here] = 1
            if here == end:
                if way == self.arriving or (axis != self.arriving % 2 and not held & LINE):
                    total = cost if way == self.arriving else cost + corner
                    near.append((total, total, end, ARRIVED))
            elif not (held & LINE or across[here]):  # no corner on another line
                total = cost + corner
                found = total + haste * (abs(ahead) + beside), total, here, 1 - axis
                # On the way towards the end the best corner is known when the line was followed; beyond, each one is worse.
                if ahead > 0:
                    near.append(found)
                    here += move
                    continue
                if near:
                    yield from sorted(near)
                    near.clear()
                yield found
            here += move
        yield from sorted(near)

    def _traced(self, corner: Corner) -> list[int]:
        cells = [self.end, corner[0]]
        while corner in self.came:
            corner = self.came[corner]
            cells.append(corner[0])
        return list(dict.fromkeys(reversed(cells)))  # a way that turns at its start has that cell twice


def _off(point: Point, side: Side) -> Point:
    return along(point, WAYS[LEAVING[side]], STUB)


def _aligned(points: list[Point], port: Point, way: int) -> list[Point]:
    """The points with the first straight piece in line with the port, which may lie between the lines of the grid."""
    across = 1 - way % 2
    first = points[0][across]
    for k, point in enumerate(points):
        if point[across] != first:
            break
        points[k] = (point[0], port[1]) if across else (port[0], point[1])
    return points


# About a screen wide: a bond whose ends are not seen together has to be looked up anyhow.
FAR = 1200.0
"""Ends further apart than this are out of each other's sight."""
STEPS, BACK = (5.0, 10.0, 16.0), (-8.0, 0.0, 8.0, 16.0)
"""Between a cut bond and the name of what it leads to, and how far back from its end the name may stand."""
SIZES = (1.0, 0.8, 0.65)
"""Parts of the size in which a name is tried, where there is little room."""

BondEnd = tuple[str, Point, Side]
"""A node, the point at which a bond leaves it, and the side."""


def is_far(start: Point, end: Point) -> bool:
    """Whether a bond between two points is too long to be followed."""
    return abs(start[0] - end[0]) + abs(start[1] - end[1]) > FAR


def cut_bond(pen: BondPen, plan: BondPlan, link: BondLink, ends: tuple[BondEnd, BondEnd], options: Options) -> None:
    """Draw the two ends of a bond, from tail to head, with half arrow and stroke; its labels stand where there is room."""
    # Both pieces are whole bonds of their own, with half arrow and stroke, so that neither end has to be read from the other.
    tail, head = ends
    for (_, point, side), other in ((tail, head), (head, tail)):
        free = _off(point, side)
        pen.bond(link, (point, free) if other is head else (free, point), options, later=True)
        _tell(pen, link, name_latex(plan.nodes[other[0]].element), free, WAYS[LEAVING[side]])


def _tell(pen: BondPen, link: BondLink, text: str, end: Point, way: Point) -> None:
    """Write what is at the other end, behind the end that is free or beside it."""
    origin = Origin(part=OTHER_END, port=f"bond {link.number}" if link.number else "joint", domain=link.domain)
    for share in SIZES:
        for at, align in _places(end, way):
            label = Label(text, at, share * SMALL_TEXT, align, tone="quiet", origin=origin)
            if pen.is_free(label_box(label), 1.0):
                pen.put(label)
                return
    pen.left_out += 1


def _places(end: Point, way: Point) -> Iterator[tuple[Point, Align]]:
    """Where a name may stand: straight on, then to either side, then beside the bond."""
    (x, y), (dx, dy) = end, way
    for further in STEPS:
        if dx:
            yield (x + dx * further, y), "left" if dx > 0 else "right"
        else:
            yield (x, y + dy * (further + SMALL_TEXT / 2)), "centre"
    for back, near, side in product(BACK, STEPS, (1, -1)):
        if dx:
            yield (x - dx * back, y + side * (near + SMALL_TEXT / 2)), "centre"
        else:
            yield (x + side * near, y - dy * back), "left" if side > 0 else "right"


HIGHER = 90.0
"""So much above a wide item the other end of a bond must stand."""
CORNER_COST, LEFT_OUT_COST = 60.0, 2000.0
"""What a corner of a bond, and a label without a place, cost the reader, as lengths that the eye follows."""


def ends_from_above(plan: BondPlan, links: tuple[BondLink, ...], layout: BondLayout) -> dict[str, list[int]]:
    """For each wide item the bonds, by the identity of their links, that would come from above; from left to right."""
    found: dict[str, list[BondLink]] = {}
    for link in links:
        for name in (link.tail, link.head):
            other = link.other(name)
            if is_wide(plan, name) and layout.at[other][1] < layout.at[name][1] - HIGHER:
                found.setdefault(name, []).append(link)
    return {
        name: [id(link) for link in sorted(ends, key=lambda link: layout.at[link.other(name)][0])]
        for name, ends in found.items()
    }


def reading_effort(layout: BondLayout) -> float:
    """How much the eye has to follow in the bonds that close meshes."""
    # Of two layouts the one with fewer labels left out is better unless lines become longer by whole figures.
    effort = LEFT_OUT_COST * layout.pen.left_out
    for points in layout.routes.values():
        effort += CORNER_COST * (len(points) - 2)
        effort += sum(abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(points))
    return effort
