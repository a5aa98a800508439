"""What must hold of every figure: nothing overlaps, every wire ends at something, every element is there once.

Layouts are tested with these; they find what an eye would. A free end of a wire is meant where its origin's part is `lead`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import hypot
from typing import Literal, final

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.overlaps import Disc, Grid, Ink, Stroke, distance, inks, strokes_through, touch
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Band, Block, Bond, Dot, Label, Ring, Scene, Section, Shape, Sum, Wire

ProblemKind = Literal["overlap", "free end", "missing", "twice", "outside"]

LEAD = "lead"
"""The part of a wire that comes from outside or goes there."""
NEAR = 0.8
"""An end so near to something touches it."""
BOND_GAP = 26.0
"""A bond stops at most so far from the text that it belongs to."""


@final
@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an eye would object to."""

    kind: ProblemKind
    what: str


def check_scene(scene: Scene, elements: Iterable[str] = ()) -> tuple[Problem, ...]:
    """All problems of a scene, none for a good one. `elements` are the names that some shape must carry."""
    return (*_overlaps(scene), *_free_ends(scene), *_counts(scene, elements), *_outside(scene))


def _name(shape: Shape) -> str:
    origin = shape.origin
    words = [word for word in (origin.element, origin.port, origin.part) if word]
    text = f" {shape.text!r}" if isinstance(shape, Label) else ""
    return f"{type(shape).__name__.lower()}{text} of {'/'.join(words) or 'nothing'}"


def _overlaps(scene: Scene) -> Iterator[Problem]:
    for one, two in overlapping(scene):
        yield Problem("overlap", f"{_name(one)} and {_name(two)}")


def overlapping(scene: Scene) -> Iterator[tuple[Shape, Shape]]:
    """Shapes that lie on each other and should not."""
    shapes = [shape for shape in scene.shapes if not isinstance(shape, Band)]
    covered = [tuple(inks(shape)) for shape in shapes]
    grid = Grid()
    for k, pieces in enumerate(covered):
        for ink in pieces:
            grid.add(_box(ink), k)
    for k, (shape, pieces) in enumerate(zip(shapes, covered, strict=True)):
        near = {j for ink in pieces for j in grid.near(_box(ink)) if j > k}
        for j in sorted(near):
            if _may_touch(shape, shapes[j]):
                continue
            if any(touch(one, two) for one in pieces for two in covered[j]):
                yield shape, shapes[j]


def _box(ink: Ink) -> Box:
    return ink if isinstance(ink, Box) else ink.box


def _may_touch(one: Shape, two: Shape) -> bool:
    """Whether two shapes may lie on each other: lines on lines, dots and rings on lines, a text in its block or ring."""
    lines = Wire, Bond, Section, Dot
    if isinstance(one, Label):
        one, two = two, one
    if isinstance(two, Label):
        return _holds(one, label_box(two))
    if isinstance(one, lines) and isinstance(two, lines):
        return True
    if isinstance(one, Ring) or isinstance(two, Ring):
        return isinstance(one, lines) or isinstance(two, lines)
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


def _free_ends(scene: Scene) -> Iterator[Problem]:
    for shape, end, _ in free_ends(scene.shapes):
        yield Problem("free end", f"{_name(shape)} ends at ({end[0]:g}, {end[1]:g}), where nothing is")


def free_ends(shapes: Iterable[Shape]) -> Iterator[tuple[Wire | Bond, Point, Point]]:
    """The ends of wires and bonds where nothing is, each with the point of the line before it."""
    drawn = tuple(shapes)
    targets: list[Shape] = [shape for shape in drawn if not isinstance(shape, Bond | Band | Section | Ring)]
    grid = Grid()
    for k, shape in enumerate(targets):
        for ink in inks(shape):
            grid.add(_box(ink).grown(BOND_GAP), k)
    for shape in drawn:
        if not isinstance(shape, Wire | Bond) or shape.origin.part == LEAD:
            continue
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
            return any(isinstance(ink, Disc) and _to(ink, end) <= ink.radius + reach for ink in inks(shape))
        case Wire():
            return any(distance(end, piece) <= NEAR for piece in strokes_through(shape.points))
        case _:
            return any(isinstance(ink, Stroke) and distance(end, ink) <= NEAR for ink in inks(shape))


def _to(disc: Disc, point: Point) -> float:
    return hypot(disc.centre[0] - point[0], disc.centre[1] - point[1])


def _counts(scene: Scene, elements: Iterable[str]) -> Iterator[Problem]:
    # A vector block stands for several elements, with spaces between their names.
    shown = {name for shape in scene.shapes for name in (shape.origin.element, *shape.origin.element.split())}
    for name in elements:
        if name not in shown:
            yield Problem("missing", f"nothing stands for '{name}'")
    solid = [shape for shape in scene.shapes if isinstance(shape, Block | Sum | Label | Bond) and shape.origin.part]
    counted = Counter((type(shape).__name__.lower(), shape.origin) for shape in solid if shape.origin.element)
    for (kind, origin), count in counted.items():
        if count > 1:
            what = f"{count} shapes are the {kind} of {origin.element}/{origin.port}/{origin.part}"
            yield Problem("twice", what)


def _outside(scene: Scene) -> Iterator[Problem]:
    for shape in scene.shapes:
        for ink in inks(shape):
            box = _box(ink).grown(-0.02)
            if not (scene.box.contains((box.left, box.top)) and scene.box.contains((box.right, box.bottom))):
                yield Problem("outside", f"{_name(shape)} is not within the figure")
                break
