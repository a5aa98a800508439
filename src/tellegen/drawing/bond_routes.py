"""Bonds that close meshes: level and upright pieces round everything that stands, with few corners and few crossings."""

from array import array
from heapq import heappop, heappush
from math import ceil, floor, inf

from tellegen.drawing.bond_clusters import Side
from tellegen.drawing.bond_pen import Pen
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.overlaps import Ink, Stroke

STEP = 10.0
MARGIN = 80.0
TEXT_MARGIN = 6.0
STUB = 30.0
"""The straight piece at either end, for barb and stroke."""
CORNER_COST, CROSSING_COST, WALL_COST = 4.0, 6.0, 60.0
HASTE = 1.6
"""How much more the way that is left counts than the way that is gone: more finds a way sooner, with more corners."""

WAYS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Directions of travel in the order of turning."""
LEAVING: dict[Side, int] = {"E": 0, "S": 1, "W": 2, "N": 3}
TURNS = tuple((way, (way + 1) % 4, (way + 3) % 4) for way in range(4))
"""From each direction of travel: straight on, right, left."""
WALL, LEVEL, UPRIGHT, SLANTED, RESERVED, EDGE = 1, 2, 4, 8, 16, 32
"""What a cell holds: a wall, a line to be crossed upright, a line to be crossed level, a slanted line, the start of another, or
the edge of the grid."""
DONE = -1.0
"""The cost of a state that is left for good: looking at states twice takes far more time than it saves corners."""
LINE = LEVEL | UPRIGHT | SLANTED


class Router:
    """A grid over the figure: texts are walls, bonds may be crossed but neither followed nor cornered on."""

    def __init__(self, pen: Pen) -> None:
        self.pen = pen
        boxes = pen.boxes()
        self.left = floor((min(box.left for box in boxes) - MARGIN) / STEP)
        self.top = floor((min(box.top for box in boxes) - MARGIN) / STEP)
        self.width = ceil((max(box.right for box in boxes) + MARGIN) / STEP) - self.left + 1
        self.height = ceil((max(box.bottom for box in boxes) + MARGIN) / STEP) - self.top + 1
        self.grid = bytearray(self.width * self.height)
        self._unknown = array("d", [inf]) * (4 * len(self.grid))
        self._fence()
        self.seen = 0
        self.look()

    def _fence(self) -> None:
        """Let no way lead over the edge of the grid."""
        width, last = self.width, len(self.grid) - self.width
        for j in range(self.height):
            self.grid[j * width] = self.grid[(j + 1) * width - 1] = EDGE
        self.grid[:width] = self.grid[last:] = bytes([EDGE]) * width

    def look(self) -> None:
        """Take in what was drawn since the last look."""
        for ink in self.pen.drawn(self.seen):
            self._mark(ink)
        self.seen = self.pen.count

    def _mark(self, ink: Ink) -> None:
        if not isinstance(ink, Stroke):
            self._fill((ink if isinstance(ink, Box) else ink.box).grown(TEXT_MARGIN), WALL)
            return
        (x, y), (u, v) = ink.start, ink.end
        if max(abs(x - u), abs(y - v)) <= 20:
            self._fill(ink.box.grown(5), WALL)  # barbs and strokes
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
        first, last = (
            max(0, ceil(box.left / STEP) - self.left),
            min(self.width - 1, floor(box.right / STEP) - self.left),
        )
        for j in range(
            max(0, ceil(box.top / STEP) - self.top), min(self.height - 1, floor(box.bottom / STEP) - self.top) + 1
        ):
            for i in range(first, last + 1):
                self.grid[j * self.width + i] |= what

    def reserve(self, point: Point, side: Side) -> None:
        """Keep others away from the first piece of a bond that is still to be drawn."""
        for cell in self._stub(point, side):
            self.grid[cell] |= RESERVED

    def _release(self, point: Point, side: Side) -> None:
        for cell in self._stub(point, side):
            self.grid[cell] &= ~RESERVED

    def _stub(self, point: Point, side: Side) -> list[int]:
        (x, y), (dx, dy) = point, WAYS[LEAVING[side]]
        return [self._cell((x + dx * far, y + dy * far)) for far in (10.0, 20.0, 30.0)]

    def route(self, start: Point, start_side: Side, end: Point, end_side: Side) -> tuple[Point, ...]:
        """The points of a line that leaves one point on a side and comes to the other."""
        self._release(start, start_side)
        self._release(end, end_side)
        first, last = _off(start, start_side), _off(end, end_side)
        ends = self._cell(first), LEAVING[start_side], self._cell(last), (LEAVING[end_side] + 2) % 4
        cells = self._search(*ends) or self._search(*ends, through_walls=True)
        assert cells, "there is a way through walls"
        points = [self._point(cell) for cell in cells]
        return _corners([start, *points, end])

    def _cell(self, point: Point) -> int:
        return (round(point[1] / STEP) - self.top) * self.width + round(point[0] / STEP) - self.left

    def _point(self, cell: int) -> Point:
        j, i = divmod(cell, self.width)
        return (i + self.left) * STEP, (j + self.top) * STEP

    def _search(self, start: int, leaving: int, end: int, arriving: int, *, through_walls: bool = False) -> list[int]:
        """The way from cell to cell by A*; a state is a cell with the direction of travel."""
        width, grid = self.width, self.grid
        moves = [dx + dy * width for dx, dy in WAYS]
        blocked = [WALL | RESERVED | EDGE | (LEVEL if way % 2 == 0 else UPRIGHT) for way in range(4)]
        goal_y, goal_x = divmod(end, width)
        goal = end * 4 + arriving
        best = array("d", self._unknown)
        came: dict[int, int] = {}
        best[start * 4 + leaving] = 0.0
        queue: list[tuple[float, float, int]] = [(0.0, 0.0, start * 4 + leaving)]
        while queue:
            _, cost, state = heappop(queue)
            if state == goal:
                return _traced(state, came)
            if best[state] < 0:
                continue
            best[state] = DONE
            cell, way = divmod(state, 4)
            # No corner on another line.
            for step in (way,) if grid[cell] & LINE else TURNS[way]:
                there = cell + moves[step]
                held = grid[there]
                total = cost + 1.0 if step == way else cost + 1.0 + CORNER_COST
                if held:
                    if held & blocked[step] and there != end:
                        if held & EDGE or not through_walls:
                            continue
                        total += WALL_COST
                    else:
                        total += CROSSING_COST
                after = there * 4 + step
                if total < best[after]:
                    best[after] = total
                    came[after] = state
                    y, x = divmod(there, width)
                    heappush(queue, (total + HASTE * (abs(x - goal_x) + abs(y - goal_y)), total, after))
        return []


def _traced(state: int, came: dict[int, int]) -> list[int]:
    cells = [state // 4]
    while state in came:
        state = came[state]
        cells.append(state // 4)
    return cells[::-1]


def _off(point: Point, side: Side) -> Point:
    dx, dy = WAYS[LEAVING[side]]
    return point[0] + dx * STUB, point[1] + dy * STUB


def _corners(points: list[Point]) -> tuple[Point, ...]:
    """The points at which the direction changes, and the ends."""
    kept = [points[0]]
    for before, point, after in zip(points, points[1:], points[2:], strict=False):
        same_x = abs(before[0] - point[0]) < 0.01 and abs(point[0] - after[0]) < 0.01
        same_y = abs(before[1] - point[1]) < 0.01 and abs(point[1] - after[1]) < 0.01
        if not (same_x or same_y):
            kept.append(point)
    return (*kept, points[-1])
