"""The wires of one node of a schematic: pieces along the axes become lines with corners, and dots where three or more meet."""

import itertools
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import final

from tellegen.drawing.geometry import Point
from tellegen.drawing.scene import Dot, Origin, Shape, Wire

_DIGITS = 3


@final
class Net:
    """Pieces of wire that belong to one node. They meet at their ends only."""

    def __init__(self, origin: Origin, *, dots: bool) -> None:
        self.origin, self.dots = origin, dots
        self._near: dict[Point, list[Point]] = defaultdict(list)

    def join(self, *points: Point) -> None:
        """A wire through points."""
        tidy = [(round(x, _DIGITS), round(y, _DIGITS)) for x, y in points]
        for one, two in itertools.pairwise(tidy):
            if one != two and two not in self._near[one]:
                self._near[one].append(two)
                self._near[two].append(one)

    def row(self, y: float, places: Iterable[float], closed: Iterable[tuple[float, float]] = ()) -> None:
        """A straight line through places at one height, left out where something sits on it."""
        xs = sorted(set(places))
        shut = {(round(a, _DIGITS), round(b, _DIGITS)) for a, b in closed}
        for one, two in itertools.pairwise(xs):
            if (round(one, _DIGITS), round(two, _DIGITS)) not in shut:
                self.join((one, y), (two, y))

    def shapes(self) -> Iterator[Shape]:
        """The lines from end to end or dot to dot, and the dots."""
        degree = {point: len(near) for point, near in self._near.items()}
        used: set[tuple[Point, Point]] = set()
        ends = [point for point in self._near if degree[point] != 2]
        for start in [*ends, *self._near]:  # a closed loop has no ends
            for following in self._near[start]:
                if (start, following) not in used:
                    yield Wire(_straightened(self._walk(start, following, used)), origin=self.origin)
        if self.dots:
            yield from (Dot(point, origin=self.origin) for point in ends if degree[point] > 2)

    def _walk(self, start: Point, following: Point, used: set[tuple[Point, Point]]) -> list[Point]:
        points = [start, following]
        used |= {(start, following), (following, start)}
        while len(near := self._near[points[-1]]) == 2:
            onward = near[0] if near[0] != points[-2] else near[1]
            if (points[-1], onward) in used:
                break
            used |= {(points[-1], onward), (onward, points[-1])}
            points.append(onward)
        return points


def _straightened(points: list[Point]) -> tuple[Point, ...]:
    """Without the points at which a line does not turn."""
    kept = [points[0]]
    for k in range(1, len(points) - 1):
        (a, b), (x, y), (u, v) = kept[-1], points[k], points[k + 1]
        if not (a == x == u or b == y == v):
            kept.append((x, y))
    return (*kept, points[-1])


def crossing_wires(shapes: Iterable[Shape]) -> int:
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
    upright.sort()
    xs = [x for x, _, _ in upright]
    return sum(
        top < y < bottom
        for y, left, right in level
        for _, top, bottom in upright[bisect_right(xs, left) : bisect_left(xs, right)]
    )
