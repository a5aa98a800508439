"""How the plane of a mechanism lies on the page, and which points of its bodies are shown."""

from math import pi
from typing import final

from tellegen.description.mechanisms.values import CENTRE, GROUND, ORIGIN, Joint, Mark, Mechanism
from tellegen.drawing.geometry import Point
from tellegen.drawing.mechanism_pose import Pose
from tellegen.expressions import ZERO, number, symbol

WIDTH, HEIGHT = 440.0, 320.0
"""What the points of a mechanism fill at most."""
CAM = "cam"
LIFT, STEPS = 48.0, 72
"""How far a cam lifts on the page at most, and the corners of its profile."""
MARGIN = 26.0
"""Round the figure."""


@final
class View:
    """How the plane of a mechanism lies on the page; `origin` makes coordinates on the page positive at the start."""

    def __init__(self, pose: Pose) -> None:
        points = [point for marks in marks_of(pose).values() for point in map(pose.point, marks)]
        width = max(x for x, _ in points) - min(x for x, _ in points)
        height = max(y for _, y in points) - min(y for _, y in points)
        radius = max((pose.size(j, "radius") for j in pose.mechanism.joints.values()), default=0.0)
        scales = [room / size for room, size in ((WIDTH, width), (HEIGHT, height)) if size > 0]
        if radius > 0:
            scales.append(60.0 / radius)
        lifts = [cam_lifts(pose, joint) for joint in pose.mechanism.joints.values() if joint.kind == CAM]
        scales += [LIFT / (max(found) - min(found)) for found in lifts if found and max(found) > min(found)]
        self.scale = min(scales, default=1.0)
        corner = self.page((min(x for x, _ in points), max(y for _, y in points)))
        self.origin = 3 * MARGIN - corner[0], 3 * MARGIN - corner[1]

    def page(self, point: Point) -> Point:
        """A point of the plane on the page."""
        return point[0] * self.scale, -point[1] * self.scale

    def way(self, vector: Point) -> Point:
        """A direction of the plane on the page."""
        return vector[0], -vector[1]


def cam_lifts(pose: Pose, joint: Joint) -> list[float]:
    """How far a follower is out over one turn of its cam, from where it is now; empty for a cam that does not turn."""
    body = pose.mechanism.bodies.get(joint.first.body)
    if body is None:
        return []
    lift, now = joint.settings["lift"], pose.value(symbol(body.angle))
    turned = (now + 2 * pi * k / STEPS for k in range(STEPS))
    return [pose.value(lift.substitute({body.angle: number(angle)})) for angle in turned]


def ends_of(mechanism: Mechanism, joint: Joint) -> tuple[Mark, Mark]:
    """The points that a joint holds; a cam and its follower may be named by the joint along which they slide."""

    def end(mark: Mark) -> Mark:
        slide = mechanism.joints.get(mark.body) if mark.body not in mechanism.bodies else None
        return mark if slide is None else slide.second

    return end(joint.first), end(joint.second)


def marks_of(pose: Pose) -> dict[str, list[Mark]]:
    """The points of each body that joints hold or that have names; its centre where it has no others."""
    found: dict[str, list[Mark]] = {name: [] for name in pose.mechanism.bodies}
    for joint in pose.mechanism.joints.values():
        if joint.kind != CAM:
            found[joint.first.body].append(joint.first)
            found[joint.second.body].append(joint.second)
    for name, body in pose.mechanism.bodies.items():
        found[name] += [Mark(name, point) for point in body.points if point not in (ORIGIN, CENTRE)]
        if name != GROUND and body.mass is not ZERO:
            found[name].append(Mark(name, CENTRE))
        if not found[name] and name != GROUND:
            found[name].append(Mark(name, ORIGIN))
    return found
