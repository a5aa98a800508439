"""Labels near their points, where nothing else is."""

from collections.abc import Iterable, Iterator
from math import cos, pi, sin

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.overlaps import Grid, Ink, inks, touch
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Label, Origin, Shape

SIZE, NEAR = 15.0, 3.0
"""Of the labels, and the least distance between a label and anything else."""


def labels_beside(shapes: Iterable[Shape], wanted: Iterable[tuple[str, Point, Origin]]) -> list[Label]:
    """Each wanted text at the nearest place to its point where neither a shape nor another label is."""
    grid = Grid()
    found: list[Ink] = []
    for shape in shapes:
        for ink in inks(shape):
            grid.add(ink if isinstance(ink, Box) else ink.box, len(found))
            found.append(ink)
    labels: list[Label] = []
    for text, at, origin in wanted:
        tried = (Label(text, place, SIZE, origin=origin) for place in _around(at))
        label = next(label for label in tried if _is_free(label_box(label).grown(NEAR), grid, found))
        grid.add(label_box(label), len(found))
        found.append(label_box(label))
        labels.append(label)
    return labels


def _is_free(box: Box, grid: Grid, found: list[Ink]) -> bool:
    return not any(touch(box, found[k]) for k in grid.near(box))


def _around(at: Point) -> Iterator[Point]:
    """Places round a point, further and further out: above and below first, then beside."""
    radius = 14.0
    while True:
        for k in (-4, 4, -2, -6, 2, 6, 0, 8, -3, -5, 3, 5, -1, -7, 1, 7):
            angle = k * pi / 8
            yield at[0] + 1.4 * radius * cos(angle), at[1] + radius * sin(angle)
        radius += 4.0
