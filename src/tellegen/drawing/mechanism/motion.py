"""A mechanism in motion: its bodies at every frame, the rails they slide on, and the trails of its points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, hypot
from typing import final

import numpy as np

from tellegen.drawing.formulas import quantity_latex
from tellegen.drawing.geometry import Box, Point, union
from tellegen.drawing.ink import ink_box
from tellegen.drawing.mechanism.pose import MechanismPose, PageView, shown_points
from tellegen.drawing.mechanism.scene import SLIDING, MechanismPicture
from tellegen.drawing.options import Options
from tellegen.drawing.overlay.flows import Array
from tellegen.drawing.scene import MARGIN, Curve, Label, Origin, Scene, Shape, Tone, Weight, moved, tidy
from tellegen.drawing.strokes import polyline
from tellegen.model.kinematics import components
from tellegen.model.mechanism import CENTRE, GROUND, BodyPoint
from tellegen.model.model import Model
from tellegen.results import Run

MOVING = ("body", "joint", "centre", "source")
"""The parts of a mechanism that are drawn anew in each frame; names would jump about."""
RECENT = 80
"""The last points of a trail, which show more strongly."""
MOVES = 2.0
"""A point that moves less than this on the page has no trail."""
RAIL = 104.0
"""The length of rails."""
BETWEEN = 8
"""The fewest points of a trail for each frame; there are more where a point turns fast."""
PIECE, MOST_POINTS = 12.0, 4000
"""How far two points of a trail may be apart on the page, and how many points it may have at most."""
TIME, NOTE = 24.0, 13.0
"""The row under the figure that tells the time, and its size."""


@final
@dataclass(frozen=True)
class MechanismMotion:
    """The frames of a moving mechanism over what stays."""

    still: Scene
    frames: tuple[tuple[Shape, ...], ...] = field(repr=False)


def mechanism_motion(model: Model, run: Run, times: Array, options: Options) -> MechanismMotion:
    """A mechanism at some times of a run, with the trails of its points up to then.

    Raises: FigureError for a model without a mechanism (F181) or with lengths that have no value (F182).
    """
    start = MechanismPose(model)
    view = PageView(start)
    poses = [MechanismPose(model, coordinates) for coordinates in coordinates_at(start, run.resampled(times))]
    pictures = [_moving(model, pose, view, options) for pose in poses]
    trails, between = _smooth_trails(start, view, run, times)
    rails = _slides(start)
    still = _drawn(trails, "quiet", "way")
    for name, mark in rails.items():
        laid = [s for s in pictures[0] if s.origin.part == "joint" and s.origin.element == name]
        still += _rails(laid, [view.page(pose.point(mark)) for pose in poses])
    frames = [[*_recent(trails, between, k), *_without(rails, shapes)] for k, shapes in enumerate(pictures)]
    return _framed(model, still, frames, times)


def coordinates_at(pose: MechanismPose, run: Run) -> list[dict[str, float]]:
    """Parameters and coordinates at the rows of a run."""
    names = [name for name in pose.tree.coordinates if name in run]
    return [{**run.parameters, **dict(zip(names, row, strict=True))} for row in run.table(names).tolist()]


def _moving(model: Model, pose: MechanismPose, view: PageView, options: Options) -> list[Shape]:
    shapes = MechanismPicture(model, pose, view, options).shapes
    return [shape for shape in shapes if isinstance(shape, Curve) and shape.origin.part in MOVING]


# -- rails and trails ------------------------------------------------------------------------------------------------------------


def _slides(pose: MechanismPose) -> dict[str, BodyPoint]:
    """The joints that slide on the ground, with the point that slides."""
    joints = pose.mechanism.joints
    return {name: j.second for name, j in joints.items() if j.kind in SLIDING and j.first.body == GROUND}


def _without(rails: Mapping[str, BodyPoint], shapes: list[Shape]) -> list[Shape]:
    return [shape for shape in shapes if not (shape.origin.part == "joint" and shape.origin.element in rails)]


def _rails(laid: list[Shape], path: Sequence[Point]) -> list[Shape]:
    """Rails under the whole way of a slide, made from those where it starts."""
    (x, y), first, last = path[0], min(path), max(path)
    way = _apart(first, last)
    along = ((last[0] - first[0]) / way, (last[1] - first[1]) / way) if way else (1.0, 0.0)
    count = ceil(way / RAIL)
    begin = (way - count * RAIL) / 2  # whole rails, so that their hatching goes on evenly
    steps = [
        (first[0] + (begin + k * RAIL) * along[0], first[1] + (begin + k * RAIL) * along[1]) for k in range(count + 1)
    ]
    return [moved(shape, u - x, v - y) for u, v in steps for shape in laid]


def _apart(one: Point, two: Point) -> float:
    return hypot(one[0] - two[0], one[1] - two[1])


def _smooth_trails(pose: MechanismPose, view: PageView, run: Run, times: Array) -> tuple[list[tuple[Point, ...]], int]:
    """The trails of points, with so many pieces for each frame that what turns fast has no corners."""
    between = BETWEEN
    while True:
        dense = np.linspace(times[0], times[-1], between * (len(times) - 1) + 1)
        trails = _trails(pose, view, coordinates_at(pose, run.resampled(dense)))
        longest = max((_apart(*piece) for trail in trails for piece in pairwise(trail)), default=0.0)
        finer = ceil(between * longest / PIECE)
        if longest <= PIECE or finer * len(times) > MOST_POINTS:
            return trails, between
        between = finer


def _trails(pose: MechanismPose, view: PageView, rows: Sequence[Mapping[str, float]]) -> list[tuple[Point, ...]]:
    """The ways of the points that move: joints and ends of bodies, or centres where there are no others."""
    marks = [mark for body, found in shown_points(pose).items() if body != GROUND for mark in found]
    named = [mark for mark in marks if mark.point != CENTRE]
    for chosen in (named, marks):
        ways = {_way(pose, view, mark, rows) for mark in chosen}
        moving = sorted(way for way in ways if _length(way) > MOVES)
        if moving:
            return moving
    return []


def _way(
    pose: MechanismPose, view: PageView, mark: BodyPoint, rows: Sequence[Mapping[str, float]]
) -> tuple[Point, ...]:
    x, y = components(pose.tree.position(mark))
    points = (view.page((x.evaluate(row), y.evaluate(row))) for row in rows)
    return tuple((round(u, 2), round(v, 2)) for u, v in points)


def _length(way: Sequence[Point]) -> float:
    return max(_apart(point, way[0]) for point in way)


def _recent(trails: Sequence[tuple[Point, ...]], between: int, frame: int) -> list[Shape]:
    """The last pieces of the trails."""
    if frame == 0:
        return []
    last = between * frame
    return _drawn([trail[max(0, last - RECENT) : last + 1] for trail in trails], "power", "trail", "thin")


def _drawn(ways: Sequence[tuple[Point, ...]], tone: Tone, part: str, weight: Weight = "hair") -> list[Shape]:
    return [
        Curve(polyline(way), weight, tone=tone, origin=Origin(part=part, port=str(k)))
        for k, way in enumerate(ways, start=1)
    ]


def _framed(model: Model, still: list[Shape], frames: list[list[Shape]], times: Array) -> MechanismMotion:
    """All frames in one box, with the time under them."""
    full = union([ink_box(shapes) for shapes in (still, *frames) if shapes]).grown(MARGIN)
    box = Box(0, 0, float(np.ceil(full.width)), float(np.ceil(full.height)) + TIME)
    title = f"Motion: {model.name}" if model.name else "Motion"
    at = MARGIN, box.bottom - TIME / 2 + 4

    def drawn(shapes: list[Shape]) -> tuple[Shape, ...]:
        return tidy(Scene(title, "", box, tuple(moved(s, -full.left, -full.top) for s in shapes))).shapes

    told = [
        Label(
            rf"t = {quantity_latex(float(f'{t:.4g}'), 's')}", at, NOTE, "left", "baseline", origin=Origin(part="time")
        )
        for t in times
    ]
    scene = Scene(title, f"{model.name} from {times[0]:g} s to {times[-1]:g} s", box, drawn(still))
    return MechanismMotion(scene, tuple((*drawn(shapes), label) for shapes, label in zip(frames, told, strict=True)))
