"""Mechanisms as scenes: bodies, joints, forces and torques, with labels where there is room and dimensions where asked for; at
one time or in motion.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, cos, dist, pi, sin
from typing import NamedTuple, final

import numpy as np

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.drawing.formulas import figure_latex, time_label
from tellegen.drawing.mechanism import symbols as parts
from tellegen.drawing.mechanism.pose import (
    MechanismPose,
    PageView,
    angle_in_quarters,
    cam_lifts,
    direction_between,
    joint_ends,
    shown_points,
)
from tellegen.drawing.mechanism.symbols import solid_shapes
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.overlay.marks import Array
from tellegen.drawing.schematic.plan import LABEL_SIZE, SchematicLabels
from tellegen.drawing.schematic.scene import BETWEEN, arrange_schematic
from tellegen.drawing.schematic.symbols import arc, arrow, curves, is_load, line, placed
from tellegen.elements import ElementKind
from tellegen.expressions import ZERO, Expression, split_coefficient
from tellegen.expressions.python_code import row_function
from tellegen.model.kinematics import components
from tellegen.model.mechanism import CENTRE, GROUND, ORIGIN, Body, BodyPoint, Joint
from tellegen.model.model import MECHANISM, Element, Model
from tellegen.results import Run
from tellegen.scenes.geometry import WHOLE, Box, Point, is_inside, outline_points, polyline, union
from tellegen.scenes.ink import Pen, ink_box
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import MARGIN, Curve, Label, Origin, Scene, Shape, Tone, Weight, label_box, moved, tidy

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


NEAR = 2.4
"""The least distance between a label and anything else."""


def labels_beside(shapes: Iterable[Shape], wanted: Iterable[tuple[str, Point, Origin]]) -> list[Label]:
    """Each wanted text at the nearest place to its point where neither a shape nor another label is.

    In the face of a body stands what belongs to that body alone: another text there would be taken for its name.
    """
    pen = Pen()
    faces: list[tuple[str, tuple[Point, ...]]] = []
    for shape in shapes:
        pen.put(shape)
        if isinstance(shape, Curve) and shape.origin.part == "body" and shape.pale:
            faces.append((shape.origin.element, outline_points(shape.outline)))
    labels: list[Label] = []
    for text, at, origin in wanted:
        others = [face for name, face in faces if name != origin.element]
        tried = (
            Label(text, place, LABEL_SIZE, origin=origin)
            for place in _around(at)
            if not any(is_inside(place, face) for face in others)
        )
        label = next(label for label in tried if pen.is_free(label_box(label), NEAR))
        pen.put(label)
        labels.append(label)
    return labels


def _around(at: Point) -> Iterator[Point]:
    """Places round a point, further and further out: above and below first, then beside."""
    radius = 14.0
    while True:
        # In sixteenths of a turn. A text is wider than high, so places at its sides are farther out.
        for k in (-4, 4, -2, -6, 2, 6, 0, 8, -3, -5, 3, 5, -1, -7, 1, 7):
            angle = k * pi / 8
            yield at[0] + 1.4 * radius * cos(angle), at[1] + radius * sin(angle)
        radius += 4.0


NODE = ElementKind(MECHANISM, "storage", ("rotational",), "a body or a joint that a network is tied to", "")
SLIDING = ("prismatic", "guide")


def mechanism_scene(model: Model, options: Options = DEFAULTS, coordinates: Mapping[str, float] | None = None) -> Scene:
    """The bodies and joints of a model where it starts, or where `coordinates` put them.

    The scale and the place of the origin are those of the start, so that scenes of one motion lie on each other.

    Raises: FigureError for a model without a mechanism (F181) or with lengths that have no value (F182).
    """
    start = MechanismPose(model)
    if options.dimensions and coordinates is None and (spread := start.spread()):
        start = MechanismPose(model, spread)
    view = PageView(start)
    pose = start if coordinates is None else MechanismPose(model, coordinates)
    shapes = MechanismPicture(model, pose, view, options).shapes
    box = ink_box(shapes).grown(MARGIN)
    dx, dy = view.origin
    title = f"Mechanism: {model.name}" if model.name else "Mechanism"
    # The joints in words, for those who cannot see the figure.
    about = "; ".join(f"{j.kind} {name}: {j.first}, {j.second}" for name, j in start.mechanism.joints.items())
    return tidy(Scene(title, about, box.moved(dx, dy), tuple(moved(shape, dx, dy) for shape in shapes)))


@final
class MechanismPicture:
    """The shapes of a mechanism at one pose: bodies first, then joints on them, then labels where there is room.

    `bare` leaves out labels and the network, which stay where they are while bodies move.
    """

    def __init__(
        self, model: Model, pose: MechanismPose, view: PageView, options: Options, *, bare: bool = False
    ) -> None:
        self.pose, self.view, self.options, self._bare = pose, view, options, bare
        self.shapes: list[Shape] = []
        self._wanted: list[tuple[str, Point, Origin]] = []
        self._acted: dict[str, str] = {}
        self._marks = shown_points(pose)
        order = {name: k for k, name in enumerate(pose.mechanism.bodies)}
        # How many torques are drawn about a point already.
        self._turning: Counter[Point] = Counter()
        # What slides on the ground lies under the links that it is joined to.
        slides = {j.second.body for j in pose.mechanism.joints.values() if j.kind in SLIDING and j.first.body == GROUND}
        for name in sorted(pose.mechanism.bodies.keys() - {GROUND}, key=lambda name: (name not in slides, order[name])):
            self._body(name, self._marks[name])
        for joint in pose.mechanism.joints.values():
            self._joint(joint)
        for name, body in pose.mechanism.bodies.items():
            if body.mass is not ZERO and name != GROUND:
                self._add(parts.CENTRE_OF_MASS, self._at(BodyPoint(name, CENTRE)), (1, 0), Origin(name, "centre"))
        drawn = {element.name for element in model.elements if self._source(element)}
        if options.style == "solid":
            self.shapes = solid_shapes(self.shapes, pose.mechanism, self._acted)
        if bare:
            return
        if options.dimensions:
            self._dimensions()
        self.shapes += labels_beside(self.shapes, self._wanted)
        if model.geometry is None:  # else the network has a schematic of its own
            self._network(model, [element for element in model.elements if element.name not in drawn])

    def _dimensions(self) -> None:
        for k, dimension in enumerate(dimensions_of(self.pose, self.view)):
            origin = Origin(dimension.element, "dimension", str(k))
            self.shapes += (replace(curve, tone="quiet", origin=origin) for curve in dimension.curves)
            self._wanted.append((dimension.text, dimension.at, origin))

    # -- bodies and joints -----------------------------------------------------------------------------------------------------

    def _body(self, name: str, marks: list[BodyPoint]) -> None:
        points = [self._at(mark) for mark in marks]
        joints = self.pose.mechanism.joints.values()
        slide = next((j for j in joints if j.kind in SLIDING and j.second.body == name), None)
        origin = Origin(name, "body")
        carried = [joint for joint in joints if joint.kind in SLIDING and joint.first.body == name]
        points += map(self._beyond, carried)
        if slide is not None and self._is_block(name):
            outline, at, way = parts.SLIDING_BLOCK, self._at(slide.second), self._axis(slide)
        else:
            if slide is not None and slide.first.body == GROUND:
                (x, y), (dx, dy) = self._at(slide.second), self._axis(slide)
                points += [(x + side * 34 * dx, y + side * 34 * dy) for side in (-1, 1)]
            # A body in which another long one slides has to be wider than that: a cylinder about its rod.
            is_barrel = any(not self._is_block(joint.second.body) for joint in carried)
            outline = (parts.rounded_hull(points, parts.BARREL if is_barrel else parts.LINK),)
            at, way = (0.0, 0.0), (1.0, 0.0)
        # Twice: the face in the pale colour of its domain, and over it the line in ink, which seen from the side keeps its front.
        self.shapes += (
            replace(curve, tone="translational", pale=True) for curve in curves(outline, placed(at, way), origin)
        )
        self._add(outline, at, way, origin)
        # The middle of what it covers, and not its centre of mass, which is often at a joint.
        middle = union(Box(*p, *p) for p in points).centre
        self._wanted.append((name_latex(name), middle, Origin(name, "body name")))

    def _is_block(self, name: str) -> bool:
        """Whether a body is no longer than a block."""
        points = [self._at(mark) for mark in self._marks[name]]
        return max(dist(p, q) for p in points for q in points) < 2 * parts.LINK

    def _beyond(self, joint: Joint) -> Point:
        """Behind a block that slides on a body: the body is at least that long."""
        (x, y), (u, v), (dx, dy) = self._at(joint.second), self._at(joint.first), self._axis(joint)
        sense = 1 if (x - u) * dx + (y - v) * dy >= 0 else -1
        return x + sense * 40 * dx, y + sense * 40 * dy

    def _joint(self, joint: Joint) -> None:
        origin = Origin(joint.name, "joint")
        at = self._at(joint_ends(self.pose.mechanism, joint)[1])
        grounded = GROUND in (joint.first.body, joint.second.body)
        match joint.kind:
            case "revolute":
                self._add([*parts.PIN_MARK, *(parts.SUPPORT if grounded else [])], at, (1, 0), origin)
            case "fixed":
                self._add(parts.WELD, at, (1, 0), origin)
            case "pad":
                own = [*parts.PIN_MARK, *parts.ELASTIC_SUPPORT, *(parts.SUPPORT if grounded else [])]
                self._add(own, at, (1, 0), origin)
            case "prismatic" | "guide":
                self._slide(joint, at, grounded, origin)
            case "spring":
                self._spring(joint, origin)
            case "wheel" | "omniwheel" | "skate":
                radius = self.pose.size(joint, "radius") * self.view.scale
                own = (
                    [*parts.SKATE] if joint.kind == "skate" else parts.wheel(radius, rollers=joint.kind == "omniwheel")
                )
                self._add(own, self._at(joint.first), self._axis(joint), origin)
            case "contact":
                self._contact(joint, origin)
            case "cam":
                self._cam(joint, at, origin)
        if self.options.names:
            self._wanted.append((name_latex(joint.name), at, Origin(joint.name, "joint name")))

    def _slide(self, joint: Joint, at: Point, grounded: bool, origin: Origin) -> None:
        axis = self._axis(joint)
        half = self.pose.size(joint, "length") * self.view.scale / 2 if joint.kind == "guide" else parts.HEAD
        is_piston = not (grounded or self._is_block(joint.second.body))
        if is_piston:
            head = parts.piston_head(half)
            self._add([head, replace(head, tone="ink", pale=False)], at, axis, origin)
        if joint.kind == "guide":
            self._add(parts.elastic_contacts(half, parts.BORE if is_piston else parts.LINK), at, axis, origin)
        if grounded:
            lone = self._is_block(joint.second.body)
            offset = parts.BLOCK[1] if lone else parts.LINK + 2 * parts.ROLLER
            # A motion lays its own rails, under the way that it goes.
            reached = [] if self._bare else map(self.view.page, self.pose.stroke(joint))
            steps = [0.0, *((x - at[0]) * axis[0] + (y - at[1]) * axis[1] for x, y in reached)]
            sides = (1, -1) if lone else (1,)
            if lone and self.pose.is_driven(joint):
                sides = (self._free_side(joint, at, axis),)
            self._add(parts.rails(sides, offset, -min(steps), max(steps)), at, axis, origin)
            if not lone:
                self._add(parts.rollers(offset), at, axis, Origin(joint.name, "rollers"))

    def _free_side(self, slide: Joint, at: Point, axis: Point) -> int:
        """On which side of a sliding block nothing is joined to it: long rails there cross no links."""
        joints = [joint for joint in self.pose.mechanism.joints.values() if joint is not slide]
        held = [
            mark.body
            for j in joints
            for mark in (j.first, j.second)
            if slide.second.body in (j.first.body, j.second.body)
        ]
        points = [
            self._at(mark) for body in held if body not in (GROUND, slide.second.body) for mark in self._marks[body]
        ]
        return -1 if sum((y - at[1]) * axis[0] - (x - at[0]) * axis[1] for x, y in points) > 0 else 1

    def _spring(self, joint: Joint, origin: Origin) -> None:
        first, second = self._at(joint.first), self._at(joint.second)
        length = dist(first, second)
        damped = joint.settings.get("b", ZERO) is not ZERO
        self._add(parts.spring(length, damped=damped), first, direction_between(first, second), origin)
        if joint.first.body == GROUND:
            self._add(parts.SUPPORT, first, (1, 0), origin)
        # A spring is held by a pin at both ends.
        for end in (first, second):
            self._add(parts.PIN_MARK, end, (1, 0), origin)
        middle = (first[0] + second[0]) / 2, (first[1] + second[1]) / 2
        if not self.options.names:
            self._wanted.append((name_latex(joint.name), middle, Origin(joint.name, "joint name")))

    def _contact(self, joint: Joint, origin: Origin) -> None:
        radius = self.pose.size(joint, "radius") * self.view.scale
        # The wall belongs to the second body and turns with it.
        angle = self.pose.tree.poses[joint.second.body].angle.turned(joint.settings["direction"])
        normal = self.view.way(self.pose.along(angle))
        if radius > 1:
            x, y = self._at(joint.first)
            self._add([parts.rounded_hull([(0.0, 0.0)], radius)], (x, y), (1, 0), origin)
        self._add(parts.WALL, self._at(joint.second), normal, origin)

    def _cam(self, joint: Joint, follower: Point, origin: Origin) -> None:
        """The profile that lifts a follower, about the axis of the cam, and a dashed line to what follows it."""
        lifts = [self.view.scale * lift for lift in cam_lifts(self.pose, joint)]
        first, _ = joint_ends(self.pose.mechanism, joint)
        at = self._at(self.pose.tree.base.get(joint.first.body, first))
        if lifts:
            slide = self.pose.mechanism.joints.get(joint.second.body)
            towards = direction_between(at, follower) if slide is None else self._axis(slide)
            self._add(parts.cam(lifts), at, towards, origin)
        self._add([line(at, follower, weight="hair", dashed=True)], (0, 0), (1, 0), origin)

    # -- what acts on the bodies -----------------------------------------------------------------------------------------------

    def _source(self, element: Element) -> bool:
        """Draw the arrow of a force or a torque that acts on a body; say whether there was one to draw."""
        # What a mechanism brings itself, such as its weights, has the name of its body before it.
        if not is_load(element.kind) or "." in element.name:
            return False
        first, second = element.nodes
        node, sense = (first, -1) if second in REFERENCES else (second, 1)
        found = self._place_of(node)
        is_torque = element.kind.domains[0] == "rotational"
        if found is None or (is_torque and node not in self.pose.mechanism.bodies):
            return False
        at, (dx, dy) = found
        joint = self.pose.mechanism.joints.get(node)
        self._acted[element.name] = node.partition(".")[0] if joint is None else joint.second.body
        origin = Origin(element.name, "source")
        # Several torques at one place are drawn round each other, each a little wider.
        if is_torque:
            self._add(parts.torque(-sense, 19.0 + 8.0 * self._turning[at]), at, (1, 0), origin)
            self._turning[at] += 1
        else:
            at = at[0] - dx * sense * 30, at[1] - dy * sense * 30
            self._add(parts.FORCE, at, (dx * sense, dy * sense), origin)
        self._wanted.append((name_latex(element.name), at, Origin(element.name, "name")))
        return True

    def _place_of(self, node: str) -> tuple[Point, Point] | None:
        """Where a node of the network is on the mechanism, and along what it moves."""
        mechanism, tree = self.pose.mechanism, self.pose.tree
        if node in mechanism.bodies:
            base = tree.base.get(node, BodyPoint(node, ORIGIN))
            return self._at(base), (1.0, 0.0)
        if node in mechanism.joints:
            joint = mechanism.joints[node]
            return self._at(joint.second), self._axis(joint)
        body, _, rest = node.partition(".")
        point, _, axis = rest.rpartition(".")
        if body in mechanism.bodies and point in mechanism.bodies[body].points and axis in ("x", "y"):
            return self._at(BodyPoint(body, point)), (1.0, 0.0) if axis == "x" else (0.0, -1.0)
        return None

    # -- shapes ----------------------------------------------------------------------------------------------------------------

    def _at(self, mark: BodyPoint) -> Point:
        return self.view.page(self.pose.point(mark))

    def _axis(self, joint: Joint) -> Point:
        return self.view.way(self.pose.axis(joint))

    def _add(self, own: Iterable[Curve], at: Point, towards: Point, origin: Origin) -> None:
        self.shapes += curves(own, placed(at, towards), origin)

    def _network(self, model: Model, elements: list[Element]) -> None:
        """The schematic of what else the network has, below; bodies and joints that it is tied to are blocks there."""
        own = self.pose.mechanism.bodies.keys() | self.pose.mechanism.joints.keys()
        rest = [element for element in elements if element.name.partition(".")[0] not in own]
        # A form that opens a constraint cuts the node of a body in two; the half that a joint keeps is named after the force.
        inside = {node for e in elements if e.name.partition(".")[0] in own for node in e.nodes} - REFERENCES
        tied: dict[str, Element] = {}
        for element in rest:
            for terminal, node in enumerate(element.nodes):
                if node in inside or node.partition(".")[0] in own:
                    domain = element.kind.domains[terminal // 2]
                    tied[node] = Element(node, replace(NODE, domains=(domain,)), (node, DOMAINS[domain].reference))
        if not rest:
            return
        shapes, _ = arrange_schematic([*rest, *tied.values()], SchematicLabels(model, self.options))
        above, below = ink_box(self.shapes), ink_box(shapes)
        self.shapes += (moved(shape, above.left - below.left, above.bottom + BETWEEN - below.top) for shape in shapes)


MOVING = ("body", "joint", "rollers", "centre", "source")
"""The parts of a mechanism that are drawn anew in each frame; names would jump about."""
RECENT = 80
"""The last points of a trail, which show more strongly."""
MOVES = 2.0
"""A point that moves less than this on the page has no trail."""
RAIL = 104.0
"""The length of rails."""
FEWEST_BETWEEN = 8
"""The fewest points of a trail for each frame; there are more where a point turns fast."""
PIECE, MOST_POINTS = 12.0, 4000
"""How far two points of a trail may be apart on the page, and how many points it may have at most."""
TIME, NOTE = 24.0, 13.0
"""The row under the figure that tells the time, and its size."""


MechanismMotion = tuple[Scene, tuple[tuple[Shape, ...], ...]]
"""What stays of a moving mechanism, and the frames over it."""


def mechanism_motion(model: Model, run: Run, times: Array, options: Options) -> MechanismMotion:
    """A mechanism at some times of a run, with the trails of its points up to then.

    Raises: FigureError for a model without a mechanism (F181) or with lengths that have no value (F182).
    """
    start = MechanismPose(model)
    view = PageView(start)
    # The view is that of the start for all frames: a scale of their own would make bodies breathe.
    poses = [MechanismPose(model, coordinates) for coordinates in coordinates_at(start, run.resampled(times))]
    drawn = (MechanismPicture(model, pose, view, options, bare=True).shapes for pose in poses)
    pictures = [[s for s in shapes if isinstance(s, Curve) and s.origin.part in MOVING] for shapes in drawn]
    trails, between = _smooth_trails(start, view, run, times)
    # What slides on the ground has rails under its whole way, which stay, in place of the short ones that it is drawn with.
    joints = start.mechanism.joints
    rails = {name: j.second for name, j in joints.items() if j.kind in SLIDING and j.first.body == GROUND}
    still = _drawn(trails, "quiet", "way")
    for name, mark in rails.items():
        laid = [s for s in pictures[0] if s.origin.part == "joint" and s.origin.element == name]
        still += _rails(laid, [view.page(pose.point(mark)) for pose in poses])

    def on_rails(shape: Shape) -> bool:
        return shape.origin.part == "joint" and shape.origin.element in rails

    frames = [
        [*_recent(trails, between, k), *(shape for shape in shapes if not on_rails(shape))]
        for k, shapes in enumerate(pictures)
    ]
    return _framed(model, still, frames, times)


def coordinates_at(pose: MechanismPose, run: Run) -> list[dict[str, float]]:
    """Parameters and coordinates at the rows of a run."""
    names = [name for name in pose.tree.coordinates if name in run]
    return [{**run.parameters, **dict(zip(names, row, strict=True))} for row in run.table(names).tolist()]


# -- rails and trails ------------------------------------------------------------------------------------------------------------


def _rails(laid: Sequence[Shape], path: Sequence[Point]) -> list[Shape]:
    """Rails under the whole way of a slide, made from those where it starts."""
    (x, y), first, last = path[0], min(path), max(path)
    way = dist(first, last)
    along = ((last[0] - first[0]) / way, (last[1] - first[1]) / way) if way else (1.0, 0.0)
    count = ceil(way / RAIL)
    begin = (way - count * RAIL) / 2  # whole rails, so that their hatching goes on evenly
    steps = [
        (first[0] + (begin + k * RAIL) * along[0], first[1] + (begin + k * RAIL) * along[1]) for k in range(count + 1)
    ]
    return [moved(shape, u - x, v - y) for u, v in steps for shape in laid]


def _smooth_trails(pose: MechanismPose, view: PageView, run: Run, times: Array) -> tuple[list[tuple[Point, ...]], int]:
    """The trails of points, with so many pieces for each frame that what turns fast has no corners."""
    between = FEWEST_BETWEEN
    while True:
        dense = np.linspace(times[0], times[-1], between * (len(times) - 1) + 1)
        trails = _trails(pose, view, coordinates_at(pose, run.resampled(dense)))
        longest = max((dist(*piece) for trail in trails for piece in pairwise(trail)), default=0.0)
        # Only a run of these pieces shows how fast its points turn, so it is sampled again where they came out too long.
        finer = ceil(between * longest / PIECE)
        if longest <= PIECE or finer * len(times) > MOST_POINTS:
            return trails, between
        between = finer


def _trails(pose: MechanismPose, view: PageView, rows: Sequence[Mapping[str, float]]) -> list[tuple[Point, ...]]:
    """The ways of the points that move: joints and ends of bodies, or centres where there are no others."""
    marks = [mark for body, found in shown_points(pose).items() if body != GROUND for mark in found]
    # The way of a joint tells how a mechanism works; that of a centre is shown only where nothing else moves.
    named = [mark for mark in marks if mark.point != CENTRE]
    for chosen in (named, marks):
        # Points that a joint holds together have one way, and one trail; in an order that does not depend on their names.
        ways = {_way(pose, view, mark, rows) for mark in chosen}
        moving = sorted(way for way in ways if max(dist(point, way[0]) for point in way) > MOVES)
        if moving:
            return moving
    return []


def _way(
    pose: MechanismPose, view: PageView, mark: BodyPoint, rows: Sequence[Mapping[str, float]]
) -> tuple[Point, ...]:
    x, y = components(pose.tree.position(mark))
    points = map(view.page, zip(_along(x, rows), _along(y, rows), strict=True))
    return tuple(((u * 1e2 + WHOLE - WHOLE) / 1e2, (v * 1e2 + WHOLE - WHOLE) / 1e2) for u, v in points)


def _along(formula: Expression, rows: Sequence[Mapping[str, float]]) -> list[float]:
    """The values of a coordinate; one that does not move, as of a slide, has one for all rows."""
    if not formula.free_symbols and rows:
        return [formula.evaluate(rows[0])] * len(rows)
    names = sorted(formula.free_symbols)
    value = row_function(formula, names)
    return [value([row[name] for name in names]) for row in rows]


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

    told = [time_label(float(t), at, NOTE) for t in times]
    scene = Scene(title, f"{model.name} from {times[0]:g} s to {times[-1]:g} s", box, drawn(still))
    return scene, tuple((*drawn(shapes), label) for shapes, label in zip(frames, told, strict=True))
