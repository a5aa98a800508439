"""Planar kinematics: vectors that turn with bodies, the tree of a mechanism with its coordinates, and positions in which loops fit.

A part `(along, across)` at an angle theta stands for along (cos, sin) + across (-sin, cos). The cross product of two parts needs
only the difference of their angles: sin(a) cos(b) - cos(a) sin(b) never has to be recognised.

Coordinates are the angle of each body that can turn, the distance along each prismatic joint of the tree, and the position of a
body that no joint leads to.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, final

from tellegen.expressions import ONE, ZERO, Expression, call, symbol, total
from tellegen.model.mechanism import CENTRE, GROUND, ORIGIN, RIGID, BodyPoint, Joint, Mechanism, Pair


class Angle(NamedTuple):
    """The angle of a body: a coordinate, or none for one that does not turn, and a constant."""

    coordinate: str = ""
    offset: Expression = ZERO

    @property
    def expression(self) -> Expression:
        """The angle as a formula."""
        return symbol(self.coordinate) + self.offset if self.coordinate else self.offset

    def turned(self, by: Expression) -> "Angle":
        """The angle of what is turned against the body."""
        return Angle(self.coordinate, self.offset + by)


class RotatingVector(NamedTuple):
    """A vector fixed to something that turns."""

    along: Expression
    across: Expression
    angle: Angle


Vector = tuple[RotatingVector, ...]

FIXED = Angle()


def body_vector(pair: Pair, angle: Angle = FIXED) -> Vector:
    """The vector with given components in a frame at an angle."""
    return () if pair[0] is ZERO and pair[1] is ZERO else (RotatingVector(pair[0], pair[1], angle),)


def vector_sum(*vectors: Vector) -> Vector:
    """The sum; parts at one angle are joined."""
    found: dict[Angle, list[Expression]] = {}
    for part in (part for vector in vectors for part in vector):
        components = found.setdefault(part.angle, [ZERO, ZERO])
        components[0] = components[0] + part.along
        components[1] = components[1] + part.across
    return tuple(RotatingVector(a, b, angle) for angle, (a, b) in found.items() if a is not ZERO or b is not ZERO)


def opposite_vector(vector: Vector) -> Vector:
    """The opposite vector."""
    return tuple(RotatingVector(-part.along, -part.across, part.angle) for part in vector)


def partial_derivative(vector: Vector, coordinate: str) -> Vector:
    """The partial derivative by a coordinate: what turns with it moves at right angles, what it stretches moves along."""
    parts: list[RotatingVector] = []
    for along, across, angle in vector:
        stretched = (along.derivative(coordinate), across.derivative(coordinate))
        parts.extend(body_vector(stretched, angle))
        if angle.coordinate == coordinate:
            parts.append(RotatingVector(-across, along, angle))
    return vector_sum(tuple(parts))


def components(vector: Vector) -> Pair:
    """The components along the axes of the plane."""
    x, y = [], []
    for along, across, angle in vector:
        cos, sin = _cos(angle.expression), _sin(angle.expression)
        x.append(along * cos - across * sin)
        y.append(along * sin + across * cos)
    return total(x), total(y)


def cross_product(one: Vector, two: Vector) -> Expression:
    """The cross product, x_1 y_2 - y_1 x_2."""
    terms = []
    for a in one:
        for b in two:
            between = _between(a.angle, b.angle)
            terms.append((a.along * b.along + a.across * b.across) * _sin(between))
            terms.append((a.along * b.across - a.across * b.along) * _cos(between))
    return total(terms)


def perpendicular(vector: Vector) -> Vector:
    """The vector turned by a right angle, anticlockwise."""
    return tuple(RotatingVector(-part.across, part.along, part.angle) for part in vector)


def unit_vector(angle: Angle) -> Vector:
    """The unit vector at an angle."""
    return (RotatingVector(ONE, ZERO, angle),)


def _between(one: Angle, two: Angle) -> Expression:
    if one.coordinate == two.coordinate:
        return two.offset - one.offset
    return two.expression - one.expression


def _sin(angle: Expression) -> Expression:
    return ZERO if angle is ZERO else call("sin", angle)


def _cos(angle: Expression) -> Expression:
    return ONE if angle is ZERO else call("cos", angle)


class BodyPose(NamedTuple):
    """Where the origin of a body is, and its angle."""

    origin: Vector
    angle: Angle


class NodeSpeed(NamedTuple):
    """The velocity of a node that moves with a freedom of the tree, and the name of that velocity."""

    name: str
    node: str
    domain: str


class Coordinate(NamedTuple):
    """A coordinate and its rate, as a sum of speeds with their factors.

    A rate is one speed as a rule. A body on a wheel or a skate moves by the speeds along it and across it, which are the rates of
    no coordinates.
    """

    name: str
    rates: Mapping[str, Expression]

    @property
    def rate(self) -> Expression:
        """The rate as a formula of speeds."""
        return total(factor * symbol(speed) for speed, factor in self.rates.items())


@final
@dataclass
class MechanismTree:
    """`joint_to[b]` leads to body b and `base[b]` is the point of b that it holds; a body without one floats.

    `coordinates` are in the order of description; `ranked` has their names away from the ground, whatever the order of lines.
    """

    mechanism: Mechanism
    poses: dict[str, BodyPose] = field(default_factory=dict)
    joint_to: dict[str, Joint] = field(default_factory=dict)
    base: dict[str, BodyPoint] = field(default_factory=dict)
    speeds: dict[str, NodeSpeed] = field(default_factory=dict)
    coordinates: dict[str, Coordinate] = field(default_factory=dict)
    closing: list[Joint] = field(default_factory=list)
    ranked: list[str] = field(default_factory=list)

    def position(self, mark: BodyPoint) -> Vector:
        """Where a point is in the plane."""
        origin, angle = self.poses[mark.body]
        return vector_sum(origin, body_vector(self.mechanism.coordinates_of(mark), angle))

    def add(self, coordinate: str, speed: str, node: str, domain: str) -> None:
        """A freedom whose speed is the rate of its coordinate."""
        self.speeds[speed] = NodeSpeed(speed, node, domain)
        self.coordinates[coordinate] = Coordinate(coordinate, {speed: ONE})

    def axis(self, joint: Joint) -> Angle:
        """The direction of a prismatic joint, which is fixed in its first body."""
        return self.poses[joint.first.body].angle.turned(joint.settings.get("direction", ZERO))


def build_tree(mechanism: Mechanism) -> MechanismTree:
    """The tree of a mechanism and its coordinates."""
    tree = MechanismTree(mechanism)
    tree.poses[GROUND] = BodyPose((), Angle())
    left = {name: joint for name, joint in mechanism.joints.items() if joint.kind in RIGID}
    while True:
        following = min(_leading_on(tree, left), key=lambda joint: list(RIGID).index(joint.kind), default=None)
        if following is not None:
            del left[following.name]
            _reach(tree, following)
            continue
        # Only when no joint leads on: a body in a chain has the coordinates of its joint, and fewer of them.
        floating = next((name for name in mechanism.bodies if name not in tree.poses), None)
        if floating is None:
            break
        _float(tree, floating)
    tree.closing.extend(left.values())
    _sort(tree)
    return tree


def in_plain_order(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with its bodies and joints away from the ground, then by name: whatever the order of its lines."""
    away = _steps_from_ground(mechanism)

    def rank(joint: Joint) -> tuple[int, int, str]:
        near, far = sorted((away[joint.first.body], away[joint.second.body]))
        return near, far, joint.name

    bodies = sorted(mechanism.bodies, key=lambda name: (away[name], name))
    return replace(
        mechanism,
        bodies={name: mechanism.bodies[name] for name in bodies},
        joints={joint.name: joint for joint in sorted(mechanism.joints.values(), key=rank)},
    )


def _steps_from_ground(mechanism: Mechanism) -> dict[str, int]:
    """How many rigid joints lead to each body; for one that none lead to, more than there are bodies."""
    beside: dict[str, set[str]] = {name: set() for name in mechanism.bodies}
    for joint in mechanism.joints.values():
        if joint.kind in RIGID:
            beside[joint.first.body].add(joint.second.body)
            beside[joint.second.body].add(joint.first.body)
    away, now = {GROUND: 0}, {GROUND}
    while now:
        now = {new for old in now for new in beside.get(old, ()) if new not in away}
        away |= dict.fromkeys(now, max(away.values()) + 1)
    return {name: away.get(name, len(mechanism.bodies) + 1) for name in (GROUND, *mechanism.bodies)}


def _sort(tree: MechanismTree) -> None:
    """Coordinates and speeds in the order in which the bodies that they move are described, not in that of the tree."""
    away = _steps_from_ground(tree.mechanism)
    order: list[str] = []
    ranks: dict[str, tuple[int, int, str]] = {}
    for name, body in tree.mechanism.bodies.items():
        joint = tree.joint_to.get(name)
        slide = [joint.names["distance"]] if joint is not None and joint.slides else []
        own = [*slide, *body.at, body.angle]
        order += own
        # A crank turns round and round where a slide has dead centres: angles before distances.
        ranks |= {coordinate: (away[name], coordinate != body.angle, coordinate) for coordinate in own}
    tree.coordinates = {name: tree.coordinates[name] for name in order if name in tree.coordinates}
    tree.ranked = sorted(tree.coordinates, key=lambda name: ranks[name])
    speeds = dict.fromkeys(speed for c in tree.coordinates.values() for speed in c.rates)
    tree.speeds = {name: tree.speeds[name] for name in speeds}


def _leading_on(tree: MechanismTree, joints: dict[str, Joint]) -> Iterator[Joint]:
    for joint in joints.values():
        if (joint.first.body in tree.poses) != (joint.second.body in tree.poses):
            yield joint


def _reach(tree: MechanismTree, joint: Joint) -> None:
    forward = joint.first.body in tree.poses
    known, new = (joint.first, joint.second) if forward else (joint.second, joint.first)
    body = tree.mechanism.bodies[new.body]
    old = tree.poses[known.body].angle
    if joint.turns:
        angle = Angle(body.angle)
        tree.add(body.angle, body.speed, new.body, "rotational")
    else:
        turn = joint.settings.get("angle", ZERO)
        angle = old.turned(turn if forward else -turn)
    at = tree.position(known)
    if joint.slides:
        distance, speed = joint.names["distance"], joint.names["speed"]
        axis = (old if forward else angle).turned(joint.settings.get("direction", ZERO))
        slid = body_vector((symbol(distance), ZERO), axis)
        at = vector_sum(at, slid if forward else opposite_vector(slid))
        tree.add(distance, speed, joint.name, "translational")
    tree.poses[new.body] = BodyPose(
        vector_sum(at, opposite_vector(body_vector(tree.mechanism.coordinates_of(new), angle))), angle
    )
    tree.joint_to[new.body] = joint
    tree.base[new.body] = new


def _float(tree: MechanismTree, name: str) -> None:
    """A body that no joint leads to has its position and its angle as coordinates."""
    body = tree.mechanism.bodies[name]
    x, y = map(symbol, body.at)
    tree.poses[name] = BodyPose(body_vector((x, y)), Angle(body.angle))
    rolling = next((j for j in tree.mechanism.joints.values() if j.steers and j.first.body == name), None)
    if rolling is None:
        tree.base[name] = BodyPoint(name, ORIGIN)
        # With its origin in the centre of mass the speeds of a free body are those of its mass, m v and no coupling.
        central = body.mass is not ZERO and body.points[CENTRE] == body.points[ORIGIN]
        speeds = body.velocity if central else (f"{name}.vx_{ORIGIN}", f"{name}.vy_{ORIGIN}")
        for axis, coordinate, speed in zip("xy", body.at, speeds, strict=True):
            tree.add(coordinate, speed, f"{name}.{ORIGIN}.{axis}", "translational")
    else:
        _steer(tree, name, rolling)
    tree.add(body.angle, body.speed, name, "rotational")


def _steer(tree: MechanismTree, name: str, rolling: Joint) -> None:
    """Along and across a wheel or a skate, so that what holds it across is one speed, whatever the angle of the body."""
    body = tree.mechanism.bodies[name]
    tree.base[name] = rolling.first
    heading = tree.axis(rolling)
    words = (f"{name}.v_along", f"{name}.v_across")
    for word, node in zip(words, ("along", "across"), strict=True):
        tree.speeds[word] = NodeSpeed(word, f"{name}.{node}", "translational")
    lever = opposite_vector(body_vector(tree.mechanism.coordinates_of(rolling.first), tree.poses[name].angle))
    along, turned = components(unit_vector(heading)), components(perpendicular(lever))
    across = (-along[1], along[0])
    for k, coordinate in enumerate(body.at):
        rates = {words[0]: along[k], words[1]: across[k], body.speed: turned[k]}
        tree.coordinates[coordinate] = Coordinate(coordinate, {s: e for s, e in rates.items() if e is not ZERO})


NEWTON_STEPS, NEWTON_STARTS, FEW_STARTS = 60, 40, 8
CLOSE = 1e-13
"""Equations are solved to this share of the size of their terms."""

DAMPED = 1e-9
"""What is added to the diagonal of dependent rows, beside its largest entry."""

Positions = dict[str, float]


def solve_positions(
    equations: Sequence[Expression], unknown: Sequence[str], values: Mapping[str, float], guesses: Mapping[str, float]
) -> Positions | None:
    """Values of the unknown coordinates that solve the equations, near the guesses if possible; None where none was found."""
    slopes = [[e.derivative(name) for name in unknown] for e in equations]
    # The same starts every time: a file must not be right today and wrong tomorrow.
    chance = random.Random(1)
    for attempt in range(NEWTON_STARTS):
        start = {name: guesses.get(name, 0.0) for name in unknown}
        if attempt:
            # Near the guesses first, then further away: the position that somebody meant is the nearest one.
            start = {name: value + chance.uniform(-2.0, 2.0) * min(1.0, attempt / 8) for name, value in start.items()}
        found = nearest_position(equations, slopes, list(unknown), {**values, **start})
        if found is not None:
            return found
    return None


def closest_positions(
    equations: Sequence[Expression], unknown: Sequence[str], values: Mapping[str, float], guesses: Mapping[str, float]
) -> Positions:
    """Where what is left of the equations is least, for a mechanism that fits nowhere: damped steps, from a few starts."""
    slopes = [[e.derivative(name) for name in unknown] for e in equations]
    chance = random.Random(1)
    best, least = dict(values), math.inf
    for attempt in range(FEW_STARTS):
        start = {name: guesses.get(name, 0.0) + bool(attempt) * chance.uniform(-2.0, 2.0) for name in unknown}
        found = {**values, **start}
        damping = 1e-3
        for _ in range(NEWTON_STEPS):
            g = residuals(equations, found)
            J = [[slope.evaluate(found) for slope in row] for row in slopes]
            step = _damped_step(J, g, damping)
            trial = {**found, **{name: found[name] - change for name, change in zip(unknown, step, strict=True)}}
            # Levenberg and Marquardt: bolder after a step that helped, more careful after one that did not.
            better = math.hypot(*residuals(equations, trial)) < math.hypot(*g)
            found, damping = (trial, damping / 3) if better else (found, damping * 4)
        if (left := math.hypot(*residuals(equations, found))) < least:
            best, least = found, left
    return best


def _damped_step(J: list[list[float]], g: list[float], damping: float) -> list[float]:
    """J^T (J J^T + damping size)^-1 g: Newton's step where damping is small, downhill where it is large."""
    square = _by_its_transpose(J)
    much = (
        damping * max(row[i] for i, row in enumerate(square)) + 1e-300
    )  # so that a matrix of zeros can be solved, too
    weights = _solved(_plus_on_diagonal(square, much), g)
    return [0.0] * len(J[0]) if weights is None else _combined(J, weights)


def _by_its_transpose(J: list[list[float]]) -> list[list[float]]:
    return [[sum(a * b for a, b in zip(one, two, strict=True)) for two in J] for one in J]


def _plus_on_diagonal(square: list[list[float]], much: float) -> list[list[float]]:
    return [[x + much * (i == k) for k, x in enumerate(row)] for i, row in enumerate(square)]


def _combined(rows: list[list[float]], weights: list[float]) -> list[float]:
    return [sum(weight * x for weight, x in zip(weights, column, strict=True)) for column in zip(*rows, strict=True)]


def residuals(equations: Sequence[Expression], values: Mapping[str, float]) -> list[float]:
    """How far each equation is from being solved."""
    return [equation.evaluate(values) for equation in equations]


def nearest_position(
    equations: Sequence[Expression], slopes: list[list[Expression]], unknown: list[str], values: Positions
) -> Positions | None:
    """What solves the equations from these values by Newton's method, whose steps are the smallest; None where it does not."""
    size = _size(equations, slopes, values)
    best = math.inf
    for _ in range(NEWTON_STEPS):
        try:
            g = residuals(equations, values)
            J = [[slope.evaluate(values) for slope in row] for row in slopes]
        except (ArithmeticError, ValueError):
            return None
        now = max(map(abs, g), default=0.0)
        # Rounding in long formulas may keep it a little further away: near, and no longer coming nearer, will do.
        if now <= CLOSE * size or (now <= 1e3 * CLOSE * size and now >= best):
            return {name: values[name] for name in unknown}
        best = min(best, now)
        step = least_step(J, g)
        if step is None or not any(step):  # what is left over moves with nothing that may change
            return None
        factor = min(1.0, 1.0 / max(map(abs, step)))  # an angle that jumps by more than a radian has lost its way
        for name, change in zip(unknown, step, strict=True):
            values[name] -= factor * change
    return None


def _size(equations: Sequence[Expression], slopes: list[list[Expression]], values: Positions) -> float:
    try:
        return max((abs(s.evaluate(values)) for row in slopes for s in row), default=1.0) or 1.0
    except (ArithmeticError, ValueError):
        return 1.0


def least_step(J: list[list[float]], g: list[float]) -> list[float] | None:
    """The smallest step with J step = g; nearly that where rows of J depend on each other, None where nothing moves."""
    square = _by_its_transpose(J)
    weights = _solved(square, g)
    if weights is None:
        much = DAMPED * max((row[i] for i, row in enumerate(square)), default=0.0)
        weights = _solved(_plus_on_diagonal(square, much), g)
    return None if weights is None else _combined(J, weights)


def _solved(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    scale = max((abs(x) for row in matrix for x in row), default=0.0)
    for k in range(n):
        pivot = max(range(k, n), key=lambda r: abs(rows[r][k]))
        # Dependent rows: the caller damps them, or tries from elsewhere.
        if abs(rows[pivot][k]) <= 1e-15 * scale:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(k + 1, n):
            factor = rows[r][k] / rows[k][k]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    found = [0.0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))) / rows[k][k]
    return found
