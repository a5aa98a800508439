"""Where the points of a mechanism are at given coordinates, and how its plane lies on the page."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from math import atan2, pi, sin
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.drawing import rules
from tellegen.expressions import ZERO, Expression, number, symbol, to_text
from tellegen.model import kinematics
from tellegen.model.kinematics import BodyPose as Placed
from tellegen.model.mechanism import CENTRE, GROUND, ORIGIN, RIGID, BodyPoint, Geometry, Joint, Mechanism
from tellegen.model.model import Closure, Model
from tellegen.notations.parameters import definition_order, evaluate_in_order
from tellegen.scenes.geometry import Point, direction
from tellegen.scenes.scene import MARGIN

HELD = ("revolute", "fixed")
"""The joints whose two points are one."""
TURN_STEP = pi / 24
"""How far a driving body turns from one place of what it drives to the next."""
FARTHEST = 1.0
"""How far another body may turn meanwhile, in radians."""
IN_LINE, SPREAD = 0.05, 0.37
"""Bodies within so many radians are in one line; how far each is turned more than the one before it."""
GAP = 1e-3
"""How far these may be apart, as a share of the size of the whole."""


def placed_tree(model: Model, geometry: Geometry) -> kinematics.MechanismTree:
    """The tree of a geometry; its coordinates are the displacements and signals that the formulas read."""
    # Parameters that displacements change are written out, so that formulas read coordinates and constants only.
    formulas = {name: parameter.expression for name, parameter in model.parameters.items()}
    constant = _constants(model)
    moving = {name: formula for name, formula in formulas.items() if name not in constant and formula is not None}
    read: set[str] = set()

    def told(formula: Expression) -> Expression:
        while inside := formula.free_symbols & moving.keys():
            formula = formula.substitute({name: moving[name] for name in inside})
        read.update(formula.free_symbols)
        return formula

    bodies = {
        name: replace(body, points={point: (told(x), told(y)) for point, (x, y) in body.points.items()})
        for name, body in geometry.mechanism.bodies.items()
    }
    tree = kinematics.MechanismTree(replace(geometry.mechanism, bodies=bodies))
    for name, ((x, y), angle) in geometry.placements.items():
        tree.poses[name] = Placed(kinematics.body_vector((told(x), told(y))), kinematics.Angle("", told(angle)))
        tree.base[name] = BodyPoint(name, ORIGIN)
    tree.coordinates = {
        name: kinematics.Coordinate(name, {}) for name in (*model.displacements, *model.signals) if name in read
    }
    return tree


def check_joints_meet(joints: Mapping[str, Joint], places: Mapping[BodyPoint, Point], name: str) -> None:
    """Refuse a geometry whose pins hold points that are not at one place.

    Raises: FigureError (F183).
    """
    # As a share of the whole: a gap of a millimetre tears a watch, not a crane.
    xs, ys = zip(*places.values(), strict=True)
    size = max(max(xs) - min(xs), max(ys) - min(ys))
    torn = []
    for joint in joints.values():
        (x, y), (u, v) = places[joint.first], places[joint.second]
        if joint.kind in HELD and max(abs(x - u), abs(y - v)) > GAP * size:
            torn.append(f"{joint.name} ({joint.first} at {x:.4g}, {y:.4g}; {joint.second} at {u:.4g}, {v:.4g})")
    if torn:
        what = f"the geometry of '{name}' does not fit at {listing(torn)}"
        fix = "correct the places or angles of the bodies there, or join them by a 'spring'"
        raise rules.TORN_GEOMETRY.error(what, where=name, fix=fix)


@final
class MechanismPose:
    """A mechanism at some coordinates. Lengths are in metres, y upwards."""

    def __init__(self, model: Model, coordinates: Mapping[str, float] | None = None) -> None:
        self.mechanism = _mechanism(model)
        self.tree: kinematics.MechanismTree = (
            kinematics.build_tree(self.mechanism) if model.geometry is None else placed_tree(model, model.geometry)
        )
        self._name, self._closures = model.name, model.closures
        self._values = _initial(model, self.tree)
        self._values.update(coordinates or {})
        if model.geometry is not None:
            joints = self.mechanism.joints
            marks = {mark for joint in joints.values() for mark in (joint.first, joint.second)} | {
                BodyPoint(GROUND, ORIGIN)
            }
            # Formulas of users say where each body is by itself: nothing but this check joins them.
            check_joints_meet(joints, {mark: self.point(mark) for mark in marks}, model.name)

    def value(self, formula: Expression) -> float:
        """The value of a formula of parameters and coordinates.

        Raises: FigureError (F182) where a parameter in it has no value.
        """
        missing = sorted(formula.free_symbols - self._values.keys())
        if missing:
            what = f"the mechanism '{self._name}' cannot be drawn: {listing(missing)} has no value"
            fix = f"give it one under 'parameters:', {missing[0]}: 0.1 m, or among the coordinates"
            raise rules.NO_LENGTH.error(what, fix=fix)
        try:
            return formula.evaluate(self._values)
        except (ArithmeticError, ValueError) as error:
            what = f"the mechanism '{self._name}' cannot be drawn: {to_text(formula)} has no value there ({error})"
            raise rules.NO_LENGTH.error(what, fix="check the lengths, or where the motion leads") from error

    def point(self, mark: BodyPoint) -> Point:
        """Where a point of a body is."""
        x, y = kinematics.components(self.tree.position(mark))
        return self.value(x), self.value(y)

    def along(self, angle: kinematics.Angle) -> Point:
        """The unit vector at an angle."""
        x, y = kinematics.components(kinematics.unit_vector(angle))
        return self.value(x), self.value(y)

    def axis(self, joint: Joint) -> Point:
        """The direction along which a joint lets its second point slide, or a wheel roll."""
        return self.along(self.tree.axis(joint))

    def size(self, joint: Joint, setting: str) -> float:
        """A length among the settings of a joint; zero where nothing is said."""
        return self.value(joint.settings.get(setting, ZERO))

    def spread(self) -> dict[str, float]:
        """Angles that tell an open chain's lengths and angles apart, where it starts with bodies in one line; else nothing."""
        joints = [
            joint for joint in self.mechanism.joints.values() if GROUND not in (joint.first.body, joint.second.body)
        ]
        rigid = all(joint.kind in RIGID for joint in self.mechanism.joints.values())
        angles = {
            name: self.value(self.tree.poses[name].angle.expression) for name in self.mechanism.bodies if name != GROUND
        }
        lined = any(
            abs(sin(angles[j.first.body] - angles[j.second.body])) < IN_LINE for j in joints if j.kind == "revolute"
        )
        if self._closures or not rigid or not lined:
            return {}
        own = [body.angle for body in self.mechanism.bodies.values() if body.angle in self.tree.coordinates]
        return {name: self._values[name] + (k + 1) * SPREAD for k, name in enumerate(own)}

    def is_driven(self, joint: Joint) -> bool:
        """Whether what slides along a joint is in a loop, so that other bodies decide where it is."""
        return bool(self._loops_of(joint))

    def _loops_of(self, joint: Joint) -> list[Closure]:
        moving = set.union(
            *(set(part.free_symbols) for part in kinematics.components(self.tree.position(joint.second)))
        )
        return [closure for closure in self._closures if moving & set(closure.solves)]

    def stroke(self, joint: Joint) -> list[Point]:
        """Where what slides along a joint gets to while one of the bodies that drive it turns once; nothing where none does."""
        x, y = kinematics.components(self.tree.position(joint.second))
        loops = self._loops_of(joint)
        equations = [equation for loop in loops for equation in loop.equations]
        solved = [name for loop in loops for name in loop.solves]
        angles = {body.angle for body in self.mechanism.bodies.values()}
        driving = {name for equation in equations for name in equation.free_symbols & angles} - set(solved)
        slopes = [[equation.derivative(name) for name in solved] for equation in equations]
        found: list[Point] = []
        for name, step in product(sorted(driving & self._values.keys()), (TURN_STEP, -TURN_STEP)):
            known = dict(self._values)
            for _ in range(round(2 * pi / TURN_STEP)):
                known[name] += step
                reached = kinematics.nearest_position(equations, slopes, solved, dict(known))
                # It turns as far as its loop closes; beyond, another position may close it that it cannot get to.
                if reached is None or any(abs(reached[k] - known[k]) > FARTHEST for k in angles.intersection(solved)):
                    break
                known.update(reached)
                found.append((x.evaluate(known), y.evaluate(known)))
        return found


def _mechanism(model: Model) -> Mechanism:
    if model.geometry is not None:
        return model.geometry.mechanism
    if model.mechanism is None:
        what = f"'{model.name}' has no mechanism"
        fix = "draw its schematic, draw(model, 'network'), or say where its bodies are under 'geometry:'"
        raise rules.NO_MECHANISM.error(what, fix=fix)
    return model.mechanism


def _constants(model: Model) -> dict[str, float]:
    """The values of the parameters that have one; what is wrong with the others is not a matter of figures."""
    order, _ = definition_order(model.parameters)
    return evaluate_in_order(model.parameters, order)[0]


def _initial(model: Model, tree: kinematics.MechanismTree) -> dict[str, float]:
    """Values of parameters, and of coordinates where the loops fit."""
    values = _constants(model)
    start = dict.fromkeys(tree.coordinates, 0.0)
    for name, formula in model.experiment.initial.items():
        try:
            start[name] = formula.evaluate(values)
        except (TellegenError, ArithmeticError, ValueError, KeyError):
            continue  # what is wrong with it is reported when the model runs
    # A closed chain can be drawn only where its loops close: the positions that they decide are solved for.
    known = {**values, **start}
    equations = [equation for closure in model.closures for equation in closure.equations]
    unknown = [name for closure in model.closures for name in closure.solves]
    if unknown and all(equation.free_symbols <= known.keys() for equation in equations):
        known.update(kinematics.solve_positions(equations, unknown, known, known) or {})
    return known


def direction_between(start: Point, end: Point) -> Point:
    """The direction from one point to another; to the right where they are the same."""
    return direction(start, end) if start != end else (1.0, 0.0)


def angle_in_quarters(vector: Point) -> float:
    """The angle of a vector on the page, in quarters of a turn, clockwise."""
    return atan2(vector[1], vector[0]) / (atan2(1.0, 0.0))


WIDTH, HEIGHT = 440.0, 320.0
"""What the points of a mechanism fill at most."""
CAM = "cam"
LIFT, STEPS = 48.0, 72
"""How far a cam lifts on the page at most, and the corners of its profile."""


@final
class PageView:
    """How the plane of a mechanism lies on the page; `origin` makes coordinates on the page positive at the start."""

    def __init__(self, pose: MechanismPose) -> None:
        points = [point for marks in shown_points(pose).values() for point in map(pose.point, marks)]
        width = max(x for x, _ in points) - min(x for x, _ in points)
        height = max(y for _, y in points) - min(y for _, y in points)
        radius = max((pose.size(j, "radius") for j in pose.mechanism.joints.values()), default=0.0)
        # The smallest scale wins, so that the points, the wheels and the lifts of cams all have room.
        scales = [room / size for room, size in ((WIDTH, width), (HEIGHT, height)) if size > 0]
        # A wheel may be all that has a size: a mechanism of one point would have no scale otherwise.
        if radius > 0:
            scales.append(60.0 / radius)
        lifts = [cam_lifts(pose, joint) for joint in pose.mechanism.joints.values() if joint.kind == CAM]
        scales += [LIFT / (max(found) - min(found)) for found in lifts if found and max(found) > min(found)]
        self.scale = min(scales, default=1.0)
        corner = self.page((min(x for x, _ in points), max(y for _, y in points)))
        # Three margins, since bodies and labels reach beyond the points that the scale is made of.
        self.origin = 3 * MARGIN - corner[0], 3 * MARGIN - corner[1]

    def page(self, point: Point) -> Point:
        """A point of the plane on the page."""
        return point[0] * self.scale, -point[1] * self.scale

    def way(self, vector: Point) -> Point:
        """A direction of the plane on the page."""
        return vector[0], -vector[1]


def cam_lifts(pose: MechanismPose, joint: Joint) -> list[float]:
    """How far a follower is out over one turn of its cam, from where it is now; empty for a cam that does not turn."""
    body = pose.mechanism.bodies.get(joint.first.body)
    if body is None:
        return []
    lift, now = joint.settings["lift"], pose.value(symbol(body.angle))
    # The profile is told by its lift: the cam is turned once round and the lift is read at every step.
    turned = (now + 2 * pi * k / STEPS for k in range(STEPS))
    return [pose.value(lift.substitute({body.angle: number(angle)})) for angle in turned]


def joint_ends(mechanism: Mechanism, joint: Joint) -> tuple[BodyPoint, BodyPoint]:
    """The points that a joint holds; a cam and its follower may be named by the joint along which they slide."""

    def end(mark: BodyPoint) -> BodyPoint:
        slide = mechanism.joints.get(mark.body) if mark.body not in mechanism.bodies else None
        return mark if slide is None else slide.second

    return end(joint.first), end(joint.second)


def shown_points(pose: MechanismPose) -> dict[str, list[BodyPoint]]:
    """The points of each body that joints hold or that have names; its centre where it has no others."""
    found: dict[str, list[BodyPoint]] = {name: [] for name in pose.mechanism.bodies}
    for joint in pose.mechanism.joints.values():
        if joint.kind != CAM:
            found[joint.first.body].append(joint.first)
            found[joint.second.body].append(joint.second)
    for name, body in pose.mechanism.bodies.items():
        found[name] += [BodyPoint(name, point) for point in body.points if point not in (ORIGIN, CENTRE)]
        if name != GROUND and body.mass is not ZERO:
            found[name].append(BodyPoint(name, CENTRE))
        if not found[name] and name != GROUND:
            found[name].append(BodyPoint(name, ORIGIN))
    return found
