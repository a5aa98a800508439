"""Points, lines, outlines and boxes of a figure. One unit is one CSS pixel at 100 %; x runs to the right, y downwards."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, hypot, inf
from typing import TypeVar, final

Point = tuple[float, float]
AnyPoint = TypeVar("AnyPoint", bound=Point)
"""A point, or a cell of a grid."""
PointMap = Callable[[Point], Point]
"""From one place to another, or from the coordinates of a symbol to those of the figure."""
Command = tuple[str, tuple[Point, ...]]
"""A step of an outline: M and L with one point, Q with two, C with three, Z with none."""
Outline = tuple[Command, ...]
WHOLE = 1.5 * 2**52
"""Added and taken away again, it leaves a whole number: five times quicker than `round`, which writes and reads a text."""


@final
@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle with sides along the axes."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From top to bottom."""
        return self.bottom - self.top

    @property
    def box(self) -> "Box":
        """Itself: all ink has a box."""
        return self

    @property
    def centre(self) -> Point:
        """The point in the middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def moved(self, dx: float, dy: float) -> "Box":
        """The same box elsewhere."""
        return Box(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)

    def grown(self, by: float, down: float | None = None) -> "Box":
        """A box with a margin round it, or within it where `by` is negative; above and below of `down`, if given."""
        high = by if down is None else down
        return Box(self.left - by, self.top - high, self.right + by, self.bottom + high)

    def overlaps(self, other: "Box") -> bool:
        """Whether the two have more than an edge in common."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def contains(self, point: Point) -> bool:
        """Whether a point is inside or on the edge."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


def box_about(centre: Point, width: float, height: float) -> Box:
    """The box of a width and a height about its centre."""
    x, y = centre
    return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)


def hull(points: Iterable[Point]) -> Box:
    """The smallest box that holds all points."""
    # One pass without lists or calls: every shape of every figure comes here. Of no points at all it is empty in both directions.
    left, top, right, bottom = inf, inf, -inf, -inf
    for x, y in points:
        left = x if x < left else left
        right = x if x > right else right
        top = y if y < top else top
        bottom = y if y > bottom else bottom
    return Box(left, top, right, bottom)


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all boxes."""
    return hull(point for box in boxes for point in ((box.left, box.top), (box.right, box.bottom)))


def ceil_to(value: float, step: float = 10.0) -> float:
    """The next multiple of a step; by default of the grid on which figures stand."""
    # Less a hair: rounding must not push what is on the grid to the next place.
    return ceil(value / step - 1e-9) * step


# -- lines and outlines ------------------------------------------------------------------------------------------------------------


def shifted(points: Iterable[Point], dx: float, dy: float = 0.0) -> tuple[Point, ...]:
    """The same points elsewhere."""
    return tuple((x + dx, y + dy) for x, y in points)


def direction(start: Point, end: Point) -> Point:
    """The unit vector from one point to another."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    # Two equal points have no direction, and must not stop a figure.
    length = hypot(dx, dy) or 1.0
    return dx / length, dy / length


def along(point: Point, unit: Point, forward: float, right: float = 0) -> Point:
    """A point moved along a direction, and to the right of it as seen on the page."""
    return point[0] + unit[0] * forward - unit[1] * right, point[1] + unit[1] * forward + unit[0] * right


def straightened(points: Sequence[AnyPoint], within: float = 0.0) -> tuple[AnyPoint, ...]:
    """A line without the points at which it does not turn: those in line with their neighbours, level or upright."""
    kept = [points[0]]
    for point, (u, v) in pairwise(points[1:]):
        (a, b), (x, y) = kept[-1], point
        if max(abs(a - x), abs(x - u)) > within and max(abs(b - y), abs(y - v)) > within:
            kept.append(point)
    return (*kept, points[-1])


def polyline(points: Iterable[Point], closed: bool = False) -> Outline:
    """A line through points as an outline."""
    steps = [("M" if k == 0 else "L", (point,)) for k, point in enumerate(points)]
    return (*steps, ("Z", ())) if closed else tuple(steps)


def box_outline(box: Box) -> Outline:
    """The four sides of a box."""
    corners = ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))
    return polyline(corners, closed=True)


def mapped_outline(outline: Outline, move: PointMap) -> Outline:
    """An outline with its points elsewhere."""
    return tuple((letter, tuple(map(move, points))) for letter, points in outline)


def outline_points(outline: Outline) -> tuple[Point, ...]:
    """The points of an outline, those that curves only aim at among them."""
    return tuple(point for _, points in outline for point in points)


def is_inside(point: Point, corners: Sequence[Point]) -> bool:
    """Whether a point is inside a polygon: a ray to the right crosses an odd number of its sides."""
    x, y = point
    inside = False
    for (a, b), (u, v) in pairwise((*corners, corners[0])):
        if (b > y) != (v > y) and x < a + (u - a) * (y - b) / (v - b):
            inside = not inside
    return inside


def cubic_controls(start: Point, control: Point, end: Point) -> tuple[Point, Point]:
    """The control points of a quadratic curve as a cubic one: two thirds of the way to the one that it has."""
    (x, y), (a, b), (u, v) = start, control, end
    return (x + (a - x) * 2 / 3, y + (b - y) * 2 / 3), (u + (a - u) * 2 / 3, v + (b - v) * 2 / 3)
