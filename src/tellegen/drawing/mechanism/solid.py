"""Mechanisms with depth: bodies as plates in layers one behind the other, in an oblique projection.

It is an oblique projection: the front of a body keeps its shape, and what lies further back is moved along one direction of the
page. Bodies that a joint holds together lie in different layers, so that links pass each other as those of a machine do.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from math import hypot

from tellegen.drawing.geometry import Point, union
from tellegen.drawing.ink import inks
from tellegen.drawing.mechanism.pose import joint_ends
from tellegen.drawing.mechanism.symbols import PIN
from tellegen.drawing.scene import Curve, Shape, moved
from tellegen.drawing.strokes import polyline
from tellegen.drawing.typesetting import Outline
from tellegen.model.mechanism import GROUND, Mechanism

BACKWARDS: Point = (0.55, -0.42)
"""Where a unit of depth goes on the page."""
PLATE, GAP, PROUD = 18.0, 4.0, 5.0
"""The depth of a body, the room between two layers, and how far pins stand out of the front."""
ABOVE, BESIDE = 16, 42
"""The shades of faces that look up and of those that look to the right, in per cent."""
PIECES = 5
"""The straight pieces of a quarter of a circle."""
ORDER = ("body", "centre", "joint", "source")


def solid_shapes(shapes: Iterable[Shape], mechanism: Mechanism, acted: Mapping[str, str]) -> list[Shape]:
    """The shapes of a mechanism with depth, from the back to the front. `acted` names the body that a source acts on."""
    layers = depth_layers(mechanism)
    front = max(layers.values())
    found: list[tuple[int, int, Shape]] = []
    for shape in shapes:
        layer = _layer(shape, mechanism, layers, acted)
        depth = (front - layer) * (PLATE + GAP)
        place = ORDER.index(shape.origin.part)
        found += ((layer, place, face) for face in _with_depth(shape, depth))
    return [shape for _, _, shape in sorted(found, key=lambda item: item[:2])]


def depth_layers(mechanism: Mechanism) -> dict[str, int]:
    """The layer of each body, 0 the ground at the back: the first that none of those has to which a joint holds it."""
    joined: dict[str, list[str]] = {name: [] for name in mechanism.bodies}
    for joint in mechanism.joints.values():
        one, two = (mark.body for mark in joint_ends(mechanism, joint))
        if one != two:
            joined[one].append(two)
            joined[two].append(one)
    layers = {GROUND: 0}
    waiting = [GROUND, *(name for name in mechanism.bodies if name != GROUND)]
    for name in waiting:
        if name not in layers:
            taken = {layers[other] for other in joined[name] if other in layers} | {0}
            layers[name] = next(k for k in range(len(layers) + 1) if k not in taken)
        waiting += (other for other in joined.get(name, ()) if other not in layers and other not in waiting)
    return layers


def _layer(shape: Shape, mechanism: Mechanism, layers: Mapping[str, int], acted: Mapping[str, str]) -> int:
    name = shape.origin.element
    if shape.origin.part == "joint":
        joint = mechanism.joints[name]
        ends = [layers[mark.body] for mark in joint_ends(mechanism, joint)]
        # What holds a body to the ground is behind it, what holds two together is seen in front.
        return max(ends) if _is_pin(shape) or 0 not in ends else max(0, max(ends) - 1)
    return layers.get(acted.get(name, name), max(layers.values()))


def _is_pin(shape: Shape) -> bool:
    """Whether a shape is the small circle of a pin."""
    if not isinstance(shape, Curve) or shape.outline[-1][0] != "Z":
        return False
    box = union(ink.box for ink in inks(shape))
    return max(box.width, box.height) <= 2 * PIN + 2


def _with_depth(shape: Shape, depth: float) -> Iterator[Shape]:
    dx, dy = depth * BACKWARDS[0], depth * BACKWARDS[1]
    at = moved(shape, dx, dy)
    if not isinstance(at, Curve):
        yield at
    elif at.pale:
        yield from _faces(at, PLATE)
        yield at
    elif at.origin.part == "joint" and _is_pin(at):
        proud = moved(at, -PROUD * BACKWARDS[0], -PROUD * BACKWARDS[1])
        assert isinstance(proud, Curve), "a curve that moves is a curve"
        pin = replace(proud, tone="translational", pale=True)
        yield from _faces(pin, PROUD)
        yield pin
        yield proud
    else:
        yield at


def _faces(front: Curve, depth: float) -> Iterator[Curve]:
    """The faces between the front of a plate and its back that look up or to the right, and the edge of the back."""
    corners = polygon(front.outline)
    turn = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise((*corners, corners[0])))
    sense = 1 if turn > 0 else -1
    dx, dy = depth * BACKWARDS[0], depth * BACKWARDS[1]
    for (x, y), (u, v) in pairwise((*corners, corners[0])):
        length = hypot(u - x, v - y)
        if length < 1e-6:
            continue
        normal = sense * (v - y) / length, -sense * (u - x) / length
        if normal[0] * dx + normal[1] * dy <= 0:
            continue  # it looks away
        edge = ((x, y), (u, v), (u + dx, v + dy), (x + dx, y + dy))
        shade = round(ABOVE + (BESIDE - ABOVE) * (1 + normal[0] + normal[1]) / 2)
        shade = min(max(shade, ABOVE), BESIDE)
        yield Curve(polyline(edge, closed=True), tone=front.tone, origin=front.origin, pale=True, shade=shade)
        back = polyline(((x + dx, y + dy), (u + dx, v + dy)))
        yield Curve(back, "hair", tone="ink", origin=front.origin)


def polygon(outline: Outline) -> list[Point]:
    """The corners of a closed outline, with its curves in straight pieces."""
    found: list[Point] = []
    for letter, points in outline:
        if letter in ("M", "L"):
            found.append(points[0])
        elif letter == "C":
            start, (one, two, end) = found[-1], points
            found += (_cubic(start, one, two, end, k / PIECES) for k in range(1, PIECES + 1))
        elif letter == "Q":
            start, (control, end) = found[-1], points
            found += (
                _cubic(start, _third(start, control), _third(end, control), end, k / PIECES)
                for k in range(1, PIECES + 1)
            )
    return found[:-1] if len(found) > 1 and _apart(found[0], found[-1]) < 1e-6 else found


def _cubic(a: Point, b: Point, c: Point, d: Point, t: float) -> Point:
    s = 1 - t
    weights = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    x, y = (sum(w * p[k] for w, p in zip(weights, (a, b, c, d), strict=True)) for k in (0, 1))
    return x, y


def _third(end: Point, control: Point) -> Point:
    return end[0] / 3 + 2 * control[0] / 3, end[1] / 3 + 2 * control[1] / 3


def _apart(one: Point, two: Point) -> float:
    return hypot(one[0] - two[0], one[1] - two[1])
