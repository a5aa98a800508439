"""Points and boxes of a figure. One unit is one CSS pixel at 100 %; x runs to the right, y downwards."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, inf
from typing import final

Point = tuple[float, float]


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

    def grown(self, by: float) -> "Box":
        """A box with a margin round it, or within it where `by` is negative."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

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
    # One pass without lists: this is called for every shape of every figure. Of no points at all it is empty in both directions.
    left, top, right, bottom = inf, inf, -inf, -inf
    for x, y in points:
        left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
    return Box(left, top, right, bottom)


def union(boxes: Iterable[Box]) -> Box:
    """The smallest box that holds all boxes."""
    return hull(point for box in boxes for point in ((box.left, box.top), (box.right, box.bottom)))


def ceil_to(value: float, step: float = 10.0) -> float:
    """The next multiple of a step; by default of the grid on which figures stand."""
    # Less a hair: rounding must not push what is on the grid to the next place.
    return ceil(value / step - 1e-9) * step
