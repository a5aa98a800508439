"""Which shapes of a scene touch: ink as boxes, discs and strokes, found through a grid so that large figures stay quick."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import floor, hypot
from typing import final

from tellegen.drawing.geometry import Box, Point, hull, union
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Band, Block, Bond, Curve, Dot, Label, Ring, Section, Shape, Sum, Wire
from tellegen.drawing.strokes import BARB_BACK, BARB_SIDE, DOT_RADIUS, STROKE_LENGTH, SUM_RADIUS, along, direction

CELL = 80.0
SLACK = 0.6
"""So much may lie on top of each other: half a line."""


@final
@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle."""

    centre: Point
    radius: float

    @property
    def box(self) -> Box:
        """Its extent."""
        (x, y), r = self.centre, self.radius
        return Box(x - r, y - r, x + r, y + r)


@final
@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight piece of a line."""

    start: Point
    end: Point

    @property
    def box(self) -> Box:
        """Its extent, at least a hair wide so that a grid finds it."""
        return hull((self.start, self.end)).grown(0.01)


Ink = Box | Disc | Stroke


def inks(shape: Shape) -> Iterator[Ink]:
    """What a shape covers: the box of a label or a block, the pieces of a line."""
    match shape:
        case Label():
            yield label_box(shape)
        case Block():
            yield shape.box
        case Sum():
            yield Disc(shape.centre, SUM_RADIUS)
        case Dot():
            yield Disc(shape.centre, DOT_RADIUS[shape.weight])
        case Ring():
            yield Disc(shape.centre, shape.radius)
        case Wire():
            yield from strokes_through(shape.points)
        case Section():
            yield Stroke(shape.start, shape.end)
        case Curve():
            yield from strokes_through(tuple(point for _, points in shape.outline for point in points))
        case Bond():
            yield from _bond(shape)
        case _:
            return


def ink_box(shapes: Iterable[Shape]) -> Box:
    """The extent of the ink of some shapes, and of the areas behind them."""
    return union(
        ink if isinstance(ink, Box) else ink.box
        for shape in shapes
        for ink in ((shape.box,) if isinstance(shape, Band) else inks(shape))
    )


def strokes_through(points: tuple[Point, ...]) -> Iterator[Stroke]:
    """The pieces of a line through points."""
    return (Stroke(a, b) for a, b in pairwise(points))


def _bond(bond: Bond) -> Iterator[Stroke]:
    yield from strokes_through(bond.points)
    first, last = direction(*bond.points[:2]), direction(*bond.points[-2:])
    yield Stroke(bond.points[-1], along(bond.points[-1], last, -BARB_BACK, bond.flow_side * BARB_SIDE))
    if bond.stroke:
        end, unit = (bond.points[0], first) if bond.stroke == "start" else (bond.points[-1], last)
        yield Stroke(along(end, unit, 0, -STROKE_LENGTH / 2), along(end, unit, 0, STROKE_LENGTH / 2))


def touch(one: Ink, two: Ink, slack: float = SLACK) -> bool:
    """Whether two inks lie on top of each other by more than the slack."""
    if isinstance(one, Box) and isinstance(two, Box):
        return one.grown(-slack).overlaps(two)
    if isinstance(one, Stroke) and isinstance(two, Stroke):
        return False  # lines may cross
    if isinstance(one, Stroke) or (isinstance(one, Disc) and isinstance(two, Box)):
        one, two = two, one
    if isinstance(two, Stroke):
        if isinstance(one, Box):
            return _reaches(one.grown(-slack), two)
        assert isinstance(one, Disc), "strokes come second"
        return distance(one.centre, two) < one.radius - slack
    assert isinstance(two, Disc), "boxes come first"
    if isinstance(one, Disc):
        (x, y), (u, v) = one.centre, two.centre
        return hypot(x - u, y - v) < one.radius + two.radius - slack
    assert isinstance(one, Box), "discs come second"
    x, y = two.centre
    nearest = min(max(x, one.left), one.right), min(max(y, one.top), one.bottom)
    return hypot(nearest[0] - x, nearest[1] - y) < two.radius - slack


def distance(point: Point, stroke: Stroke) -> float:
    """From a point to the nearest point of a stroke."""
    (x, y), (a, b) = stroke.start, stroke.end
    dx, dy = a - x, b - y
    square = dx * dx + dy * dy
    share = ((point[0] - x) * dx + (point[1] - y) * dy) / square if square else 0.0
    share = min(1.0, max(0.0, share))
    return hypot(point[0] - x - share * dx, point[1] - y - share * dy)


def _reaches(box: Box, stroke: Stroke) -> bool:
    """Whether a stroke has a piece inside a box (Liang and Barsky 1984)."""
    if box.width <= 0 or box.height <= 0:
        return False
    (x, y), (a, b) = stroke.start, stroke.end
    enters, leaves = 0.0, 1.0
    for step, low, high in ((a - x, box.left - x, box.right - x), (b - y, box.top - y, box.bottom - y)):
        if step == 0:
            if low >= 0 or high <= 0:
                return False
            continue
        near, far = sorted((low / step, high / step))
        enters, leaves = max(enters, near), min(leaves, far)
    return enters < leaves


class Grid:
    """Finds what lies near a box."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._items: list[tuple[Box, int]] = []

    def add(self, box: Box, number: int) -> None:
        """Remember something under a number."""
        place = len(self._items)
        self._items.append((box, number))
        for cell in _cells(box):
            self._cells[cell].append(place)

    def near(self, box: Box) -> list[int]:
        """The numbers of all that might touch a box, each once, in order."""
        places = {place for cell in _cells(box) for place in self._cells.get(cell, ())}
        return sorted({self._items[place][1] for place in places if _meet(self._items[place][0], box)})


def _meet(one: Box, two: Box) -> bool:
    return one.left <= two.right and two.left <= one.right and one.top <= two.bottom and two.top <= one.bottom


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for i in range(floor(box.left / CELL), floor(box.right / CELL) + 1):
        for j in range(floor(box.top / CELL), floor(box.bottom / CELL) + 1):
            yield i, j
