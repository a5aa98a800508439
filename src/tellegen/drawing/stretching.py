"""A figure of right angles like an earlier one: space is put between its parts until they stand where they stood.

Space goes only where a straight cut meets nothing but wires along its way. So nothing comes nearer to anything, and no overlap can
arise. What is new makes room for itself: what follows moves on by as much as that takes, and no more.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median_high
from typing import Literal, TypeGuard, final

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.moving import mapped, moved, tidy
from tellegen.drawing.overlaps import ink_box
from tellegen.drawing.scene import Band, Label, Scene, Section, Shape, Wire

Axis = Literal[0, 1]
"""Across (0) or down (1)."""
Span = tuple[float, float]
Wish = tuple[Point, int]
"""Where something shall be, and how much that weighs."""
Move = tuple[float, float, int]
"""Where something is along an axis, how far it should move, and how much that weighs."""
CLEAR = 3.0
"""Lines that are nearer to each other than twice this belong together."""
STRAIGHT = 0.01


def stretched(scene: Scene, here: Mapping[str, Point], wishes: Mapping[str, Wish]) -> Scene:
    """The scene with items that are `here` as near to where they shall be as longer wires bring them.

    Rows that nothing joins are stretched each for itself.
    """
    both = [name for name in here if name in wishes]
    if all(here[name] == wishes[name][0] for name in both):
        return scene

    def moves(names: Iterable[str], axis: Axis) -> list[Move]:
        return [(here[k][axis], wishes[k][0][axis] - here[k][axis], wishes[k][1]) for k in names]

    down = _Stretch(1, scene.shapes, moves(both, 1))
    shapes: dict[int, Shape] = {}
    for (top, bottom), numbers in _rows(scene.shapes):
        own = [name for name in both if top <= here[name][1] <= bottom]
        row = [scene.shapes[k] for k in numbers]
        across = _Stretch(0, row, moves(own, 0))
        for k, wider in zip(numbers, across.applied(), strict=True):
            shapes[k] = wider
    settled = down.applied([shapes[k] for k in range(len(scene.shapes))])
    settled = _centred(scene.shapes, settled)
    return tidy(replace(scene, box=_frame(scene, settled), shapes=tuple(settled)))


def _centred(before: Sequence[Shape], after: Sequence[Shape]) -> list[Shape]:
    """The shapes with the names of areas in the middle of these, as they were before the areas became wider."""
    areas = [
        (one.box, two.box)
        for one, two in zip(before, after, strict=True)
        if isinstance(one, Band) and isinstance(two, Band)
    ]
    found: list[Shape] = []
    for one, two in zip(before, after, strict=True):
        near = [new for old, new in areas if _is_caption(one) and abs(old.centre[0] - one.at[0]) < STRAIGHT]
        if near and _is_caption(two):
            under = min(near, key=lambda area: abs(area.bottom - two.at[1]))
            found.append(moved(two, under.centre[0] - two.at[0], 0.0))
        else:
            found.append(two)
    return found


def _is_caption(shape: Shape) -> TypeGuard[Label]:
    return isinstance(shape, Label) and shape.origin.part == "caption"


def _frame(scene: Scene, shapes: Sequence[Shape]) -> Box:
    """A box with the margins of the scene round its shapes."""
    old, new, box = ink_box(scene.shapes), ink_box(shapes), scene.box
    return Box(
        new.left + box.left - old.left,
        new.top + box.top - old.top,
        new.right + box.right - old.right,
        new.bottom + box.bottom - old.bottom,
    )


def _rows(shapes: Sequence[Shape]) -> list[tuple[Span, list[int]]]:
    """Shapes by their numbers, in rows with nothing between them."""
    spans = [_span(ink_box([shape]), 1) for shape in shapes]
    rows = _merged(spans)
    tops = [top for top, _ in rows]
    members: list[list[int]] = [[] for _ in rows]
    for k, (top, _) in enumerate(spans):
        members[bisect_right(tops, top) - 1].append(k)
    return list(zip(rows, members, strict=True))


@final
class _Stretch:
    """Longer wires along one axis: everything between two cuts moves alike, and never less than what is before it."""

    def __init__(self, axis: Axis, shapes: Sequence[Shape], moves: Iterable[Move]) -> None:
        self.axis, self.shapes = axis, shapes
        self.spans = _rigid(axis, shapes)
        stiff = _merged(sorted({span for span in self.spans if span is not None}))
        self.cuts = [(end + start) / 2 for (_, end), (start, _) in pairwise(stiff)]
        wanted: list[list[float]] = [[] for _ in range(len(self.cuts) + 1)]
        for at, far, weight in moves:
            wanted[bisect_right(self.cuts, at)] += [far] * weight
        self.shifts = _rising(wanted)

    def shift(self, at: float) -> float:
        """How far something moves."""
        return self.shifts[bisect_right(self.cuts, at)]

    def applied(self, shapes: Sequence[Shape] | None = None) -> list[Shape]:
        """The shapes after that; `shapes` are those of this stretch, moved along the other axis."""
        return [
            self._applied(shape, span)
            for shape, span in zip(self.shapes if shapes is None else shapes, self.spans, strict=True)
        ]

    def _applied(self, shape: Shape, span: Span | None) -> Shape:
        if span is not None:
            far = self.shift(sum(span) / 2)
            return moved(shape, far, 0.0) if self.axis == 0 else moved(shape, 0.0, far)
        return mapped(shape, self._point, self._box)

    def _point(self, point: Point) -> Point:
        x, y = point
        return (x + self.shift(x), y) if self.axis == 0 else (x, y + self.shift(y))

    def _box(self, box: Box) -> Box:
        (left, top), (right, bottom) = self._point((box.left, box.top)), self._point((box.right, box.bottom))
        return Box(left, top, right, bottom)


# -- what holds together -----------------------------------------------------------------------------------------------------------


def _rigid(axis: Axis, shapes: Sequence[Shape]) -> list[Span | None]:
    """The span that no cut divides, for each shape: that of all that belongs to its element or section; None for what stretches."""
    sections = {shape.origin.port for shape in shapes if isinstance(shape, Section)} - {""}
    groups: dict[tuple[str, str | int], list[Shape]] = defaultdict(list)
    keys: list[tuple[str, str | int]] = []
    for k, shape in enumerate(shapes):
        origin = shape.origin
        if origin.port in sections:
            keys.append(("section", origin.port))
        else:
            keys.append(("element", origin.element) if origin.element else ("shape", k))
        if isinstance(shape, Section) or not _stretches(shape):
            groups[keys[-1]].append(shape)
    spans = {key: _span(ink_box(members).grown(CLEAR), axis) for key, members in groups.items()}
    return [None if _stretches(shape) else spans[key] for shape, key in zip(shapes, keys, strict=True)]


def _stretches(shape: Shape) -> bool:
    """Whether a shape may become longer: areas with their names, sections, and wires with right angles."""
    if isinstance(shape, Wire):
        return all(abs(x - u) < STRAIGHT or abs(y - v) < STRAIGHT for (x, y), (u, v) in pairwise(shape.points))
    return isinstance(shape, Band | Section) or _is_caption(shape)


def _span(box: Box, axis: Axis) -> Span:
    return (box.left, box.right) if axis == 0 else (box.top, box.bottom)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Spans that touch become one."""
    found: list[Span] = []
    for low, high in sorted(spans):
        if found and low <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], high)
        else:
            found.append((low, high))
    return found


# -- how far -----------------------------------------------------------------------------------------------------------------------


def _rising(wanted: Sequence[Sequence[float]]) -> list[float]:
    """For each part a move, none smaller than that before it, so that all moves together are as near as can be to those wanted.

    Parts that would come nearer to each other move alike, by the median of what they want. One that wants nothing moves with those
    before it.
    """
    pools: list[tuple[list[float], int]] = []
    for moves in wanted:
        if not moves and pools:
            pools[-1] = pools[-1][0], pools[-1][1] + 1
            continue
        pool, count = list(moves), 1
        while pools and (not pools[-1][0] or median_high(pools[-1][0]) > median_high(pool)):
            before, more = pools.pop()
            pool, count = before + pool, count + more
        pools.append((pool, count))
    return [median_high(pool) if pool else 0.0 for pool, count in pools for _ in range(count)]
