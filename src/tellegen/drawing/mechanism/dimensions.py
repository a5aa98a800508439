"""The dimensions of a mechanism: axes of the plane, angles of bodies, lengths along them, masses at their centres."""

from collections.abc import Iterator
from math import dist
from typing import NamedTuple

from tellegen.drawing.formulas import figure_latex
from tellegen.drawing.mechanism.pose import MechanismPose, PageView, angle_in_quarters, direction_between
from tellegen.drawing.schematic.symbols import arc, arrow, line
from tellegen.expressions import ZERO, Expression, split_coefficient
from tellegen.model.mechanism import CENTRE, GROUND, ORIGIN, Body, BodyPoint
from tellegen.scenes.geometry import Point
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Curve

AXIS, RADIUS = 40.0, 30.0
"""The length of an axis, and the radius of the arc of an angle."""
ASIDE, FURTHER = 20.0, 12.0
"""How far the first length stands beside its body, and each one more."""
SHORTEST = 26.0
"""What is shorter on the page has no room for two arrowheads."""
HEAD = 6.0, 5.0


class ShownDimension(NamedTuple):
    """What one dimension consists of: lines, a text, and where that would best stand."""

    element: str
    curves: tuple[Curve, ...]
    text: str
    at: Point


def dimensions_of(pose: MechanismPose, view: PageView) -> Iterator[ShownDimension]:
    """All dimensions of a mechanism at a pose."""
    origin = view.page((0.0, 0.0))
    for text, towards in (("x", (1.0, 0.0)), ("y", (0.0, -1.0))):
        tip = origin[0] + AXIS * towards[0], origin[1] + AXIS * towards[1]
        beyond = origin[0] + (AXIS + 10) * towards[0], origin[1] + (AXIS + 10) * towards[1]
        yield ShownDimension("", (line(origin, tip, weight="hair"), arrow(tip, towards, *HEAD)), text, beyond)
    for name, body in pose.mechanism.bodies.items():
        if name != GROUND:
            yield from _angle(pose, view, body)
            yield from _lengths(pose, view, body)
            if body.mass is not ZERO:
                yield ShownDimension(name, (), figure_latex(body.mass), view.page(pose.point(BodyPoint(name, CENTRE))))


def _base(pose: MechanismPose, body: Body) -> BodyPoint:
    return pose.tree.base.get(body.name, BodyPoint(body.name, ORIGIN))


def _angle(pose: MechanismPose, view: PageView, body: Body) -> Iterator[ShownDimension]:
    """From the direction of x to that of the body, where it turns by a coordinate of its own."""
    angle = pose.tree.poses[body.name].angle
    if not angle.coordinate or angle.coordinate != body.angle:
        return
    x, y = view.page(pose.point(_base(pose, body)))
    along = view.way(pose.along(angle))
    turn = angle_in_quarters(along)
    level = line((x, y), (x + RADIUS + 14, y), weight="hair", dashed=True)
    curve = arc(x, y, RADIUS, 0.0, turn)
    tip = curve.outline[-1][1][-1]
    sense = 1 if turn > 0 else -1
    heading = -along[1] * sense, along[0] * sense
    bisector = direction_between((0.0, 0.0), (along[0] + 1.0001, along[1]))
    at = x + (RADIUS + 12) * bisector[0], y + (RADIUS + 12) * bisector[1]
    yield ShownDimension(body.name, (level, curve, arrow(tip, heading, *HEAD)), name_latex(body.angle), at)


def _lengths(pose: MechanismPose, view: PageView, body: Body) -> Iterator[ShownDimension]:
    """From the base to the points in line with it, and to the centre of mass on the other side."""
    base = _base(pose, body)
    start = view.page(pose.point(base))
    at_base = body.points[base.point]
    sides = {1: ASIDE, -1: ASIDE}
    for point, place in body.points.items():
        length, aside = place[0] - at_base[0], place[1] - at_base[1]
        end = view.page(pose.point(BodyPoint(body.name, point)))
        if point == base.point or aside is not ZERO or dist(start, end) < SHORTEST:
            continue
        side = -1 if point == CENTRE else 1
        yield _length(body.name, start, end, side * sides[side], _size(length))
        sides[side] += FURTHER


def _size(length: Expression) -> str:
    return figure_latex(-length if split_coefficient(length)[0] < 0 else length)


def _length(name: str, start: Point, end: Point, aside: float, text: str) -> ShownDimension:
    """A line with two heads beside two points, and lines that lead from them to it."""
    dx, dy = direction_between(start, end)
    ends = [(x - dy * aside, y + dx * aside) for x, y in (start, end)]
    beyond = aside + (4.0 if aside > 0 else -4.0)
    leads = [line(p, (p[0] - dy * beyond, p[1] + dx * beyond), weight="hair") for p in (start, end)]
    heads = arrow(ends[0], (-dx, -dy), *HEAD), arrow(ends[1], (dx, dy), *HEAD)
    outwards = 1.0 if aside > 0 else -1.0
    middle = (ends[0][0] + ends[1][0]) / 2 - dy * 10 * outwards, (ends[0][1] + ends[1][1]) / 2 + dx * 10 * outwards
    return ShownDimension(name, (line(*ends, weight="hair"), *leads, *heads), text, middle)
