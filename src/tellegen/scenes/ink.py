"""What the shapes of a figure cover, which of them touch, and the checks that every figure has to pass.

Layouts are tested with these; they find what an eye would. A free end of a wire is meant where its origin's part is `lead`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import dist, floor, hypot
from typing import Literal, final

from tellegen.scenes.geometry import Box, Point, along, box_about, direction, hull, union
from tellegen.scenes.scene import (
    MARGIN,
    Band,
    Block,
    Bond,
    Curve,
    Dot,
    Label,
    Ring,
    Scene,
    Section,
    Shape,
    Sum,
    Trace,
    Wire,
    label_box,
    moved,
)
from tellegen.scenes.strokes import BARB_BACK, BARB_SIDE, DOT_RADIUS, SUM_RADIUS, stroke_line

# Of the grid that finds neighbours: about the size of a symbol, so that most shapes lie in one to four cells.
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
        return box_about(self.centre, 2 * self.radius, 2 * self.radius)


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
        case Wire() | Trace():
            yield from strokes_through(shape.points)
        case Section():
            yield Stroke(shape.start, shape.end)
        case Curve():
            yield from strokes_through(tuple(point for _, points in shape.outline for point in points))
        case Bond():
            yield from _bond(shape)
        case _:
            return  # areas lie behind everything


def ink_box(shapes: Iterable[Shape], *around: Box) -> Box:
    """The extent of the ink of some shapes, of the areas behind them, and of further boxes."""
    found = (ink.box for shape in shapes for ink in ((shape.box,) if isinstance(shape, Band) else inks(shape)))
    return union((*around, *found))


def strokes_through(points: tuple[Point, ...]) -> Iterator[Stroke]:
    """The pieces of a line through points."""
    return (Stroke(*piece) for piece in pairwise(points))


def _bond(bond: Bond) -> Iterator[Stroke]:
    # The barb and the stroke are ink too: a label on either would change what a reader sees.
    yield from strokes_through(bond.points)
    last = direction(*bond.points[-2:])
    yield Stroke(bond.points[-1], along(bond.points[-1], last, -BARB_BACK, bond.flow_side * BARB_SIDE))
    if bond.stroke:
        yield Stroke(*stroke_line(bond))


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
        return dist(one.centre, two.centre) < one.radius + two.radius - slack
    assert isinstance(one, Box), "discs come second"
    x, y = two.centre
    # From the point of the box that is nearest to the centre.
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
        # How much of the stroke, from 0 to 1, lies between two parallel sides; what is left of both pairs lies in the box.
        near, far = sorted((low / step, high / step))
        enters, leaves = max(enters, near), min(leaves, far)
    return enters < leaves


class Grid:
    """Finds what lies near a box, such as the ink of some shapes, by their numbers and with so much `room` round it."""

    def __init__(self, shapes: Iterable[Shape] = (), room: float = 0.0) -> None:
        self._cells: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._items: list[tuple[Box, int]] = []
        for k, shape in enumerate(shapes):
            for ink in inks(shape):
                self.add(ink.box.grown(room), k)

    def add(self, box: Box, number: int) -> None:
        """Remember something under a number."""
        place = len(self._items)
        self._items.append((box, number))
        for cell in _cells(box):
            self._cells[cell].append(place)

    def near(self, box: Box) -> list[int]:
        """The numbers of all that might touch a box, each once, in order."""
        places = {place for cell in _cells(box) for place in self._cells.get(cell, ())}
        items = (self._items[place] for place in places)
        # Edges count here, unlike in `overlaps`: a box without width, of a point or a line, has nothing else.
        return sorted(
            {
                number
                for one, number in items
                if one.left <= box.right and box.left <= one.right and one.top <= box.bottom and box.top <= one.bottom
            }
        )


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for i in range(floor(box.left / CELL), floor(box.right / CELL) + 1):
        for j in range(floor(box.top / CELL), floor(box.bottom / CELL) + 1):
            yield i, j


def cut_into_pages(scene: Scene, height: float) -> tuple[Scene, ...]:
    """The scene on pages of a height, cut at levels where nothing but areas of domains is; where there is none a page is higher."""
    solid = sorted(
        ((box := ink_box([s])).top, box.bottom, k) for k, s in enumerate(scene.shapes) if not isinstance(s, Band)
    )
    # What lies side by side is one stripe; between stripes the paper is free.
    stripes: list[tuple[float, float, list[Shape]]] = []
    for top, bottom, k in solid:
        if stripes and top < stripes[-1][1]:
            stripes[-1] = stripes[-1][0], max(bottom, stripes[-1][1]), [*stripes[-1][2], scene.shapes[k]]
        else:
            stripes.append((top, bottom, [scene.shapes[k]]))
    room = height - 2 * MARGIN
    pages: list[list[tuple[float, float, list[Shape]]]] = []
    for stripe in stripes:
        if pages and stripe[1] - pages[-1][0][0] <= room:
            pages[-1].append(stripe)
        else:
            pages.append([stripe])
    if len(pages) < 2:
        return (scene,)
    return tuple(_page(scene, page, height) for page in pages)


def _page(scene: Scene, stripes: list[tuple[float, float, list[Shape]]], height: float) -> Scene:
    top, bottom = stripes[0][0] - MARGIN, stripes[-1][1] + MARGIN
    kept = {id(shape) for _, _, shapes in stripes for shape in shapes}
    shapes: list[Shape] = []
    for shape in scene.shapes:
        if isinstance(shape, Band):
            box = Box(shape.box.left, max(shape.box.top, top), shape.box.right, min(shape.box.bottom, bottom))
            shapes += [replace(shape, box=box.moved(0.0, -top))] if box.height > 0 else []
        elif id(shape) in kept:
            shapes.append(moved(shape, 0.0, -top))
    return replace(scene, box=Box(0, 0, scene.box.width, max(height, bottom - top)), shapes=tuple(shapes))


class Pen:
    """Collects shapes, and knows where ink is."""

    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        # Counted, because it is told: a figure says what it does not show.
        self.left_out = 0
        """The labels and numbers that found no free place."""
        self._inks: list[Ink] = []
        self._gone: set[int] = set()
        """The inks of shapes that were taken away again: a grid forgets nothing."""
        self._grid = Grid()

    def put(self, shape: Shape) -> None:
        """Draw a shape."""
        self.shapes.append(shape)
        for ink in inks(shape):
            self._cover(ink)

    def keep_free(self, ink: Ink) -> None:
        """Let nothing that is drawn later stand here."""
        self._cover(ink)

    def is_free(self, box: Box, margin: float = 2.0) -> bool:
        """Whether a text may stand here."""
        wide = box.grown(margin)
        return not any(touch(wide, self._inks[k], 0) for k in self._grid.near(wide) if k not in self._gone)

    def touching(self, ink: Ink) -> Iterator[Ink]:
        """What lies near enough to touch something."""
        return (self._inks[k] for k in self._grid.near(ink.box) if k not in self._gone)

    def _cover(self, ink: Ink) -> None:
        self._grid.add(ink.box, len(self._inks))
        self._inks.append(ink)


ProblemKind = Literal["overlap", "free end", "missing", "twice", "outside"]

LEAD = "lead"
"""The part of a wire that comes from outside or goes there."""
NEAR = 0.8
"""An end so near to something touches it."""
BOND_GAP = 26.0
"""A bond stops at most so far from the text that it belongs to."""


@final
@dataclass(frozen=True, slots=True)
class FigureProblem:
    """Something that an eye would object to."""

    kind: ProblemKind
    what: str


def check_scene(scene: Scene, elements: Iterable[str] = ()) -> tuple[FigureProblem, ...]:
    """All problems of a scene, none for a good one. `elements` are the names that some shape must carry."""
    overlaps = (FigureProblem("overlap", f"{_name(one)} and {_name(two)}") for one, two in overlapping(scene))
    loose = (
        FigureProblem("free end", f"{_name(shape)} ends at ({end[0]:g}, {end[1]:g}), where nothing is")
        for shape, end, _ in free_ends(scene.shapes)
    )
    return (*overlaps, *loose, *_counts(scene, elements), *_outside(scene))


def _name(shape: Shape) -> str:
    origin = shape.origin
    words = [word for word in (origin.element, origin.port, origin.part) if word]
    text = f" {shape.text!r}" if isinstance(shape, Label) else ""
    return f"{type(shape).__name__.lower()}{text} of {'/'.join(words) or 'nothing'}"


def overlapping(scene: Scene) -> Iterator[tuple[Shape, Shape]]:
    """Shapes that lie on each other and should not."""
    shapes = [shape for shape in scene.shapes if not isinstance(shape, Band)]
    covered = [tuple(inks(shape)) for shape in shapes]
    grid = Grid(shapes)
    for k, (shape, pieces) in enumerate(zip(shapes, covered, strict=True)):
        near = {j for ink in pieces for j in grid.near(ink.box) if j > k}
        for j in sorted(near):
            # The cheap question first: most neighbours are wires that may touch anything of their kind.
            if _may_touch(shape, shapes[j]):
                continue
            if any(touch(one, two) for one in pieces for two in covered[j]):
                yield shape, shapes[j]


def _may_touch(one: Shape, two: Shape) -> bool:
    """Whether two shapes may lie on each other: lines on lines, dots and rings on lines, a text in its block or ring."""
    lines = Wire, Bond, Section, Dot
    if isinstance(one, Label):
        one, two = two, one
    if isinstance(two, Label):
        return _holds(one, label_box(two))
    if isinstance(one, lines) and isinstance(two, lines):
        return True
    if isinstance(one, Trace) or isinstance(two, Trace):
        return True  # curves run where their values are
    if isinstance(one, Ring) or isinstance(two, Ring):
        return isinstance(one, lines) or isinstance(two, lines)
    # Outlines of symbols may lie on each other and on blocks: they are drawn so. Lines may not run over blocks.
    curves = not isinstance(one, Block | Sum | Ring) or not isinstance(two, Block | Sum | Ring)
    return curves and not (isinstance(one, lines) or isinstance(two, lines))


def _holds(shape: Shape, text: Box) -> bool:
    if isinstance(shape, Block):
        box = shape.box
        return box.contains((text.left, text.top)) and box.contains((text.right, text.bottom))
    if isinstance(shape, Ring):
        x, y = shape.centre
        corners = [(u, v) for u in (text.left, text.right) for v in (text.top, text.bottom)]
        return all(hypot(u - x, v - y) <= shape.radius for u, v in corners)
    return False


def free_ends(shapes: Iterable[Shape]) -> Iterator[tuple[Wire | Bond, Point, Point]]:
    """The ends of wires and bonds where nothing is, each with the point of the line before it."""
    drawn = tuple(shapes)
    # A bond ends at a text or a block, never at another bond; areas, sections and rings are only behind or round things.
    targets: list[Shape] = [shape for shape in drawn if not isinstance(shape, Bond | Band | Section | Ring)]
    grid = Grid(targets, BOND_GAP)
    for shape in drawn:
        if not isinstance(shape, Wire | Bond) or shape.origin.part == LEAD:
            continue
        # A bond stops short of the text it belongs to, a wire does not.
        reach, points = (NEAR if isinstance(shape, Wire) else BOND_GAP), shape.points
        for end, before in ((points[0], points[1]), (points[-1], points[-2])):
            others = [targets[k] for k in grid.near(Box(*end, *end))]
            if not any(_reached(end, other, reach) for other in others if other is not shape):
                yield shape, end, before


def _reached(end: Point, shape: Shape, reach: float) -> bool:
    match shape:
        case Block() | Label():
            box = shape.box if isinstance(shape, Block) else label_box(shape)
            # A signal may end at the text that it moves.
            gap = reach if isinstance(shape, Block) else BOND_GAP
            return box.grown(gap).contains(end)
        case Sum() | Dot():
            return any(isinstance(ink, Disc) and dist(ink.centre, end) <= ink.radius + reach for ink in inks(shape))
        case Wire():
            return any(distance(end, piece) <= NEAR for piece in strokes_through(shape.points))
        case _:
            return any(isinstance(ink, Stroke) and distance(end, ink) <= NEAR for ink in inks(shape))


def _counts(scene: Scene, elements: Iterable[str]) -> Iterator[FigureProblem]:
    # A vector block stands for several elements, with spaces between their names.
    shown = {name for shape in scene.shapes for name in (shape.origin.element, *shape.origin.element.split())}
    for name in elements:
        if name not in shown:
            yield FigureProblem("missing", f"nothing stands for '{name}'")
    solid = [shape for shape in scene.shapes if isinstance(shape, Block | Sum | Label | Bond) and shape.origin.part]
    counted = Counter((type(shape).__name__.lower(), shape.origin) for shape in solid if shape.origin.element)
    for (kind, origin), count in counted.items():
        if count > 1:
            what = f"{count} shapes are the {kind} of {origin.element}/{origin.port}/{origin.part}"
            yield FigureProblem("twice", what)


def _outside(scene: Scene) -> Iterator[FigureProblem]:
    for shape in scene.shapes:
        for ink in inks(shape):
            box = ink.box.grown(-0.02)  # strokes are made a hair wide, and coordinates are rounded to thousandths
            if not (scene.box.contains((box.left, box.top)) and scene.box.contains((box.right, box.bottom))):
                yield FigureProblem("outside", f"{_name(shape)} is not within the figure")
                break
