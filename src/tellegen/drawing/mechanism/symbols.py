"""Symbols that mechanisms are drawn with, flat or with depth: links, pins, slides, springs, wheels, cams, centres of mass.

Depth is an oblique projection: the front of a body keeps its shape, and what lies further back is moved along one direction of the
page. Bodies that a joint holds together lie in different layers, so that links pass each other as those of a machine do.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import cos, dist, hypot, pi, sin

from tellegen.drawing.mechanism.pose import angle_in_quarters, direction_between, joint_ends
from tellegen.drawing.schematic.symbols import arc, arrow, circle, closed_polygon, hatching, line, rectangle
from tellegen.model.mechanism import GROUND, Mechanism
from tellegen.scenes.geometry import Command, Outline, Point, cubic_controls, polyline, union
from tellegen.scenes.ink import inks
from tellegen.scenes.scene import Curve, Shape, moved

LINK = 8.0
"""Half the width of a link."""
PIN = 3.6
BLOCK = (24.0, 15.0)
"""Half the length and half the height of a sliding block."""
ROLLER = 5.0
"""Radius of the wheels of a trolley."""
BARREL = 15.0
"""Half the width of a body in which another one slides."""
BORE, HEAD = 12.5, 7.0
"""Half the width of the hole in it, and half the length of the head of a piston."""
SPRING, COILS = 7.0, 8
CAM = 24.0
"""The least radius of a cam."""


def rounded_hull(points: Iterable[Point], radius: float = LINK) -> Curve:
    """The outline at a distance round the convex hull of some points: a disc, a link, a plate."""
    corners = _hull(points)
    if len(corners) == 1:
        return circle(*corners[0], radius)
    steps: list[Command] = []
    count = len(corners)
    for k, corner in enumerate(corners):
        before, after = direction_between(corners[k - 1], corner), direction_between(corner, corners[(k + 1) % count])
        # On the page a hull that runs clockwise has its outside on the left.
        first, last = angle_in_quarters((before[1], -before[0])), angle_in_quarters((after[1], -after[0]))
        turn = (last - first) % 4
        piece = arc(*corner, radius, first, turn).outline
        steps += piece if not steps else (("L", piece[0][1]), *piece[1:])
    steps += [("L", steps[0][1]), ("Z", ())]
    return Curve(tuple(steps), closed=True)


def _hull(points: Iterable[Point]) -> list[Point]:
    """The corners of the convex hull, clockwise on the page (Andrew 1979)."""
    # Rounded to tenths: points that are one but for rounding would give corners without a direction.
    found = sorted({(round(x, 1), round(y, 1)) for x, y in points})
    if len(found) <= 2:
        return found
    halves = []
    for order in (found, found[::-1]):
        half: list[Point] = []
        for point in order:
            while len(half) > 1 and _side(half[-2], half[-1], point) <= 0:
                half.pop()
            half.append(point)
        halves.append(half[:-1])
    return [*halves[0], *halves[1]]


def _side(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


PIN_MARK = (circle(0, 0, PIN),)
"""A pin about the origin."""
SUPPORT = (line((-2.5, 3), (-10, 17), (10, 17), (2.5, 3)), *hatching((14, 17), (-14, 17), -1))
"""What of the ground holds a pin."""
SLIDING_BLOCK = (rectangle(-BLOCK[0], -BLOCK[1], BLOCK[0], BLOCK[1]),)
"""A block that slides along +x."""
ELASTIC_SUPPORT = (replace(circle(0, 0, 11), dashed=True),)
"""The ring of a pin that gives way."""
SKATE = (line((-16, 0), (16, 0), weight="bold"),)
"""A knife edge along +x."""
WALL = tuple(hatching((0, 34), (0, -34), -1))
"""A wall whose outward normal is +x."""
FORCE = line((-44, 0), (-9, 0), weight="bold"), arrow((0, 0), (1, 0), 12, 10)
"""A force that ends at the origin and acts along +x."""
WELD = (rectangle(-4, -4, 4, 4, filled=True),)
"""What holds two bodies together."""
_QUARTERS = ((*arc(0, 0, 5, k, 1).outline, ("L", ((0.0, 0.0),)), ("Z", ())) for k in (0, 2))
CENTRE_OF_MASS = circle(0, 0, 5), *(Curve(quarter, filled=True, closed=True) for quarter in _QUARTERS)


def rails(sides: Sequence[int], offset: float = BLOCK[1], back: float = 0.0, ahead: float = 0.0) -> list[Curve]:
    """What guides a block along +x as far back and ahead as it gets: the ground below it (+1), above it (-1), or both."""
    start, end = -52 - back, 52 + ahead
    ends = {1: ((end, offset), (start, offset)), -1: ((start, -offset), (end, -offset))}
    return [curve for side in sides for curve in hatching(*ends[side], -1)]


def rollers(offset: float = BLOCK[1]) -> list[Curve]:
    """The wheels of a body on rails below it; they go with the body."""
    return [circle(x, offset - ROLLER, ROLLER) for x in (-22, 22)]


def elastic_contacts(half: float, across: float = LINK) -> list[Curve]:
    """Two elastic contacts at both ends of a sliding block, or of the head of a piston, so far across from its axis."""
    return [circle(x, y, 2.4, filled=True) for x in (-half, half) for y in (-across, across)]


def piston_head(half: float) -> Curve:
    """What closes the bore of a cylinder, at the end of its rod."""
    return replace(rectangle(-half, -BORE, half, BORE), tone="translational", pale=True)


def spring(length: float, *, damped: bool) -> list[Curve]:
    """A spring from the origin along +x, with a damper beside it where it has one."""
    lead = min(12.0, length / 5)
    step = (length - 2 * lead) / COILS
    points = [(0.0, 0.0), (lead, 0.0)]
    points += [(lead + (k + 0.5) * step, SPRING if k % 2 else -SPRING) for k in range(COILS)]
    found = [line(*points, (length - lead, 0), (length, 0))]
    if damped:
        a, b, y = length * 0.42, length * 0.58, 20.0
        cup = line((b, y - 6), (a, y - 6), (a, y + 6), (b, y + 6))
        found += [line((lead, 0), (lead, y), (a, y)), cup, line((a + 4, y - 4), (a + 4, y + 4), weight="bold")]
        found += [line((a + 4, y), (length - lead, y), (length - lead, 0))]
    return found


def wheel(radius: float, *, rollers: bool) -> list[Curve]:
    """A wheel from above, rolling along +x; an omniwheel shows its rollers."""
    half = max(12.0, radius)
    found = [rectangle(-half, -5, half, 5)]
    if rollers:
        found += [line((x, -5), (x, 5), weight="hair") for x in (-half / 2, 0, half / 2)]
    return found


def cam(lifts: Sequence[float]) -> list[Curve]:
    """A cam about the origin by its lifts over one turn, the first along +x, where the follower is.

    Its base circle is chosen, since the lift alone does not tell it.
    """
    least, count = min(lifts), len(lifts)
    radii = [CAM + lift - least for lift in lifts]
    # When the cam turns on, against the clock, what comes to the follower has stood clockwise of it on the page.
    points = [(r * cos(2 * pi * k / count), r * sin(2 * pi * k / count)) for k, r in enumerate(radii)]
    return [closed_polygon(*points)]


def torque(sense: int, radius: float = 19.0) -> list[Curve]:
    """A torque about the origin: an arrow over a good half turn; `sense` is -1 against the clock."""
    start, quarters = (-2.4, 2.7) if sense > 0 else (-2.6 + 3, -2.7)
    turn = arc(0, 0, radius, start, quarters)
    tip = turn.outline[-1][1][-1]
    length = hypot(*tip)
    return [turn, arrow(tip, (-tip[1] / length * sense, tip[0] / length * sense), 9, 8)]


# -- with depth --------------------------------------------------------------------------------------------------------------------

BACKWARDS: Point = (0.55, -0.42)
"""Where a unit of depth goes on the page."""
PLATE, GAP, PROUD = 18.0, 4.0, 5.0
"""The depth of a body, the room between two layers, and how far pins stand out of the front."""
ABOVE, BESIDE = 16, 42
"""The shades of faces that look up and of those that look to the right, in per cent."""
PIECES = 5
"""The straight pieces of a quarter of a circle."""
ORDER = ("body", "centre", "joint", "rollers", "source")


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
    # Outwards from the ground along the joints, as a machine is assembled; what nothing holds comes in the order of description.
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
    if shape.origin.part in ("joint", "rollers"):
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
    # The sign of the area tells on which side of its edges a front lies, so which way their normals point outwards.
    corners = polygon(front.outline)
    turn = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise((*corners, corners[0])))
    sense = 1 if turn > 0 else -1
    dx, dy = depth * BACKWARDS[0], depth * BACKWARDS[1]
    for (x, y), (u, v) in pairwise((*corners, corners[0])):
        length = hypot(u - x, v - y)
        if length < 1e-6:
            continue
        # A face that looks up is lit, one that looks to the right is in the shade, those between are in between.
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
            start, end = found[-1], points[1]
            one, two = cubic_controls(start, *points)
            found += (_cubic(start, one, two, end, k / PIECES) for k in range(1, PIECES + 1))
    return found[:-1] if len(found) > 1 and dist(found[0], found[-1]) < 1e-6 else found


def _cubic(a: Point, b: Point, c: Point, d: Point, t: float) -> Point:
    s = 1 - t
    weights = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    x, y = (sum(w * p[k] for w, p in zip(weights, (a, b, c, d), strict=True)) for k in (0, 1))
    return x, y
