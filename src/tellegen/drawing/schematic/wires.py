"""The wires of a node as lines with corners and dots, how often wires cross, and whether wires and symbols collide."""

import itertools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import ceil
from typing import final

from tellegen.scenes.geometry import Box, Point, box_about, straightened
from tellegen.scenes.ink import Grid, Stroke, distance, touch
from tellegen.scenes.scene import Dot, Origin, Shape, Wire

_DIGITS = 3


@final
class Net:
    """Pieces of wire that belong to one node. They meet at their ends only."""

    def __init__(self, origin: Origin, *, dots: bool) -> None:
        self.origin, self.dots = origin, dots
        self._near: dict[Point, list[Point]] = defaultdict(list)

    def join(self, *points: Point) -> None:
        """A wire through points."""
        # Pieces that meet have computed their common end in different ways; rounded, it is one point of the net.
        tidy = [(round(x, _DIGITS), round(y, _DIGITS)) for x, y in points]
        for one, two in itertools.pairwise(tidy):
            if one != two and two not in self._near[one]:
                self._near[one].append(two)
                self._near[two].append(one)

    def row(self, y: float, places: Iterable[float], closed: Iterable[tuple[float, float]] = ()) -> None:
        """A straight line through places at one height, left out where something sits on it."""
        xs = sorted(set(places))
        # A symbol on the line is the line there: a wire through it would short it to the eye.
        shut = {(round(a, _DIGITS), round(b, _DIGITS)) for a, b in closed}
        for one, two in itertools.pairwise(xs):
            if (round(one, _DIGITS), round(two, _DIGITS)) not in shut:
                self.join((one, y), (two, y))

    def shapes(self) -> Iterator[Shape]:
        """The lines from end to end or dot to dot, and the dots."""
        degree = {point: len(near) for point, near in self._near.items()}
        used: set[tuple[Point, Point]] = set()
        # Where two pieces meet the line only turns; lines run from end to end or to where three meet.
        ends = [point for point in self._near if degree[point] != 2]
        for start in [*ends, *self._near]:  # a closed loop has no ends
            for following in self._near[start]:
                if (start, following) not in used:
                    yield Wire(straightened(self._walk(start, following, used)), origin=self.origin)
        if self.dots:
            # Shafts have no dots: rods that meet at a plate are seen to be one body.
            yield from (Dot(point, origin=self.origin) for point in ends if degree[point] > 2)

    def _walk(self, start: Point, following: Point, used: set[tuple[Point, Point]]) -> list[Point]:
        points = [start, following]
        used |= {(start, following), (following, start)}
        while len(near := self._near[points[-1]]) == 2:
            onward = near[0] if near[0] != points[-2] else near[1]
            # A closed loop comes back to where it started.
            if (points[-1], onward) in used:
                break
            used |= {(points[-1], onward), (onward, points[-1])}
            points.append(onward)
        return points


def count_crossings(shapes: Iterable[Shape]) -> int:
    """How often wires cross, those of one node too: who reads the figure cannot know that they belong together."""
    level: list[tuple[float, float, float]] = []
    upright: list[tuple[float, float, float]] = []
    for wire in shapes:
        if isinstance(wire, Wire):
            for (x, y), (u, v) in itertools.pairwise(wire.points):
                if y == v:
                    level.append((y, min(x, u), max(x, u)))
                elif x == u:
                    upright.append((x, min(y, v), max(y, v)))
    # One search among the sorted upright pieces for each level one: every plan of a large mesh is counted so.
    upright.sort()
    xs = [x for x, _, _ in upright]
    return sum(
        # Ends that touch are joints or corners. Only what passes through counts.
        top < y < bottom
        for y, left, right in level
        for _, top, bottom in upright[bisect_right(xs, left) : bisect_left(xs, right)]
    )


NEAR = 2.5
"""Wires of two nodes keep at least so far from each other's ends."""
SLANTED = 0.7
"""The side of the boxes along a slanted symbol, as a share of how wide it is."""
INSIDE = 1.5
"""So much of a wire may be within the box of a symbol where it ends."""


@final
class Collisions:
    """Symbols and wires as they are drawn, and whether they stand in each other's way."""

    def __init__(self) -> None:
        self._symbols: list[Box] = []
        self._owners: list[int] = []
        """The number of the symbol that each box belongs to."""
        self._wires: list[tuple[str, Stroke]] = []

    def symbol(self, box: Box) -> None:
        """A symbol takes a box; its wires end at the edge."""
        # Its own wires reach a little into it, which is no collision.
        self._take([box.grown(-INSIDE)])

    def slanted(self, centre: Point, way: Point, length: float, across: float) -> None:
        """A symbol on a slanted line takes small boxes along it, which its wires do not reach."""
        # One box round a slanted symbol would forbid the free corners beside it; small ones follow its axis.
        side = SLANTED * min(length, across)
        reach = max(0.0, length / 2 - side)
        count = max(1, ceil(2 * reach / side))
        steps = [reach * (2 * k / count - 1) for k in range(count + 1)]
        self._take([box_about((centre[0] + s * way[0], centre[1] + s * way[1]), side, side) for s in steps])

    def _take(self, boxes: list[Box]) -> None:
        owner = len(self._owners)
        self._symbols += boxes
        self._owners += [owner] * len(boxes)

    def wire(self, one: Point, two: Point, node: str) -> None:
        """A straight wire of a node."""
        self._wires.append((node, Stroke(one, two)))

    def found(self) -> bool:
        """Whether anything lies on anything else."""
        return self._symbols_meet() or self._wires_meet()

    def _symbols_meet(self) -> bool:
        grid = Grid()
        for k, box in enumerate(self._symbols):
            # The small boxes of one slanted symbol overlap each other on purpose.
            if any(self._owners[j] != self._owners[k] and box.overlaps(self._symbols[j]) for j in grid.near(box)):
                return True
            grid.add(box, k)
        return any(
            _runs_into(self._symbols[k], wire) for _, wire in self._wires for k in grid.near(wire.box.grown(2 * NEAR))
        )

    def _wires_meet(self) -> bool:
        """Whether an end of a wire is on the wire of another node; crossings in the open are allowed."""
        grid = Grid()
        for k, (_, wire) in enumerate(self._wires):
            grid.add(wire.box.grown(NEAR), k)
        for node, wire in self._wires:
            # An end on a strange wire reads as a joint; a crossing in the open does not.
            for end in (wire.start, wire.end):
                for k in grid.near(Box(*end, *end)):
                    other, stroke = self._wires[k]
                    if other != node and distance(end, stroke) < NEAR:
                        return True
        return False


def _runs_into(symbol: Box, wire: Stroke) -> bool:
    """Whether a wire is inside a symbol, or passes near one at which it does not end."""
    round_it = symbol.grown(INSIDE + NEAR)
    ends = round_it.contains(wire.start) or round_it.contains(wire.end)
    return touch(symbol if ends else round_it, wire, 0)
