"""Loops of a mechanism: what a joint that closes one says about positions and speeds, and whether every motion moves some inertia.

A revolute joint closes a loop with two equations g = 0 in the coordinates. Of the speeds in g' = sum d_k w_k two follow. The
joint holds the velocities of its points together along two vectors, each at a right angle to the d of one of the two: each row
then has one of them as its only unknown, with the factor d_1 x d_2. So nothing is ever divided by but this determinant, which
vanishes in the true singular positions of the loop and nowhere else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

from tellegen.expressions import ONE, ZERO, Add, Expression, sqrt
from tellegen.model.kinematics import (
    MechanismTree,
    RotatingVector,
    Vector,
    components,
    cross_product,
    opposite_vector,
    partial_derivative,
    perpendicular,
    unit_vector,
    vector_sum,
)
from tellegen.model.mechanism import CENTRE, GROUND, BodyPoint, Joint

GOOD = 0.05
"""Of several choices the first in the order of description is taken whose determinant is at least this share of the best one."""

SINGULAR = 1e-5
"""A determinant below this share of the product of its columns counts as zero: in a singular position, Newton's method comes no
closer than the root of its tolerance."""


@final
@dataclass(frozen=True)
class VelocityRow:
    """One velocity that a joint sets to zero: the difference of the velocities of its points along a vector.

    `turning` is the factor of the angular velocity of the first body in it. A row without a vector holds the angle alone.
    """

    along: Vector
    turning: Expression = ZERO


@final
@dataclass(frozen=True)
class KinematicLoop:
    """A loop: its equations between positions, the coordinates and speeds that they decide, and the rows between velocities.

    `margin` tells how far it is from a singular position: the sine between the directions that it solves for.
    """

    joint: Joint
    equations: tuple[Expression, ...]
    solves: tuple[str, ...]
    follows: tuple[str, ...]
    rows: tuple[VelocityRow, ...]
    margin: Expression


class _Gap:
    """The gap between the two sides of a joint that closes a loop."""

    def __init__(self, tree: MechanismTree, joint: Joint) -> None:
        self.tree = tree
        self.joint = joint
        self.between = vector_sum(tree.position(joint.first), opposite_vector(tree.position(joint.second)))
        one, two = (tree.poses[mark.body].angle for mark in (joint.first, joint.second))
        self.turn = one.turned(joint.settings.get("angle", ZERO)).expression - two.expression
        self.axis = unit_vector(tree.axis(joint))


def equations_of(tree: MechanismTree, joint: Joint) -> tuple[Expression, ...]:
    """What is zero where a joint that closes a loop fits: lengths, and for a joint that holds an angle the angle first."""
    gap = _Gap(tree, joint)
    if joint.slides:
        return gap.turn, cross_product(gap.axis, gap.between)
    return components(gap.between) if joint.turns else (gap.turn, *components(gap.between))


def close_loop(tree: MechanismTree, joint: Joint, solves: tuple[str, ...]) -> KinematicLoop:
    """The loop that a joint closes, with the coordinates that shall follow from it."""
    gap = _Gap(tree, joint)
    rows: list[VelocityRow] = []
    if joint.slides:
        rows.append(VelocityRow(perpendicular(gap.axis), -cross_product(gap.between, perpendicular(gap.axis))))
        margin = equations_of(tree, joint)[1].derivative(solves[1])
    else:
        one, two = (_scaled(partial_derivative(gap.between, name)) for name in solves[-2:])
        # d x v is v along d turned anticlockwise: the row for one coordinate leaves out what the other one moves
        rows.extend((VelocityRow(perpendicular(two)), VelocityRow(perpendicular(one))))
        margin = cross_product(one, two)
    if not joint.turns:
        rows.insert(0, VelocityRow(()))
    follows = tuple(next(iter(tree.coordinates[name].rates)) for name in solves)
    return KinematicLoop(joint, equations_of(tree, joint), solves, follows, tuple(rows), margin)


def _scaled(vector: Vector) -> Vector:
    """The vector by the length of its first part: a unit vector as a rule, so that what the joint passes on are forces."""
    along, across, _ = vector[0]
    length = along if across is ZERO else across if along is ZERO else sqrt(along * along + across * across)
    return tuple(RotatingVector(part.along / length, part.across / length, part.angle) for part in vector)


def candidate_coordinates(tree: MechanismTree, joint: Joint, taken: set[str]) -> list[str]:
    """Coordinates that a loop can decide, later ones first: people describe what drives before what follows."""
    held = set(tree.mechanism.independent)
    names = {s for e in equations_of(tree, joint) for s in e.free_symbols}
    direct = [name for name, c in tree.coordinates.items() if set(c.rates.values()) == {ONE}]
    return [name for name in reversed(direct) if name in names and name not in taken and name not in held]


def solvable_coordinates(
    tree: MechanismTree, joint: Joint, taken: set[str], values: Mapping[str, float]
) -> list[tuple[str, ...]]:
    """Sets of coordinates that a loop can decide at a position, the ones to take first in front."""
    equations = equations_of(tree, joint)
    free = candidate_coordinates(tree, joint, taken)
    columns = {name: [e.derivative(name).evaluate(values) for e in equations] for name in free}
    rated = []
    for names in combinations(free, len(equations)):
        ordered = _angle_first(names, equations[0]) if not joint.turns else names
        if ordered is not None and (size := relative_determinant([columns[n] for n in ordered])) > SINGULAR:
            rated.append((size, ordered))
    best = max((size for size, _ in rated), default=0.0)
    return [names for size, names in rated if size >= GOOD * best]


def _angle_first(names: tuple[str, ...], angle: Expression) -> tuple[str, ...] | None:
    """The coordinates with one in front that the equation of the angle decides; None where it decides none of them."""
    first = next((name for name in names if angle.derivative(name) is not ZERO), None)
    return None if first is None else (first, *(name for name in names if name != first))


def relative_determinant(columns: list[list[float]]) -> float:
    """The determinant beside the product of the lengths of its columns: one for right angles, zero for dependent columns."""
    lengths = [sum(x * x for x in column) ** 0.5 for column in columns]
    if not all(lengths):
        return 0.0
    scaled = [[x / length for x in column] for column, length in zip(columns, lengths, strict=True)]
    return abs(_determinant(scaled))


def _determinant(columns: list[list[float]]) -> float:
    if len(columns) == 1:
        return columns[0][0]
    if len(columns) == 2:
        (a, b), (c, d) = columns
        return a * d - b * c
    (a, b, c), two, three = columns
    minors = [two[i] * three[j] - two[j] * three[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return a * minors[0] + b * minors[1] + c * minors[2]


def sliding_distance(tree: MechanismTree, joint: Joint) -> Expression:
    """The distance along a prismatic joint that closes a loop."""
    gap = _Gap(tree, joint)
    return cross_product(gap.between, perpendicular(gap.axis)) * -1


NO_INERTIA = 1e-12
"""An inertia below this share of the largest one counts as none."""

SpeedRow = dict[str, float]


def speed_without_inertia(tree: MechanismTree, loops: Sequence[KinematicLoop], values: Mapping[str, float]) -> str:
    """A speed that can change without moving any inertia, at a position; empty where there is none."""
    rows = _weighted_rows(tree, values)
    for loop in loops:
        rows = _followed(rows, loop, tree, values)
    speeds = [name for name in tree.speeds if not any(name in loop.follows for loop in loops)]
    held = _held(tree)
    return _without_pivot(rows, [name for name in speeds if name not in held])


def _held(tree: MechanismTree) -> set[str]:
    """Speeds that a wheel or a skate holds at zero."""
    return {name for name, speed in tree.speeds.items() if speed.node.endswith(".across")}


def _weighted_rows(tree: MechanismTree, values: Mapping[str, float]) -> list[SpeedRow]:
    """Velocities of masses and angular velocities of inertias by speeds, times the roots of these: M is the sum of squares."""
    rows: list[SpeedRow] = []
    for name, body in tree.mechanism.bodies.items():
        if name == GROUND:
            continue
        if body.mass is not ZERO:
            size = abs(body.mass.evaluate(values)) ** 0.5
            x, y = components(tree.position(BodyPoint(name, CENTRE)))
            rows += [_by_speeds(tree, e, values, size) for e in (x, y)]
        if body.inertia is not ZERO:
            size = abs(body.inertia.evaluate(values)) ** 0.5
            rows.append(_by_speeds(tree, tree.poses[name].angle.expression, values, size))
    return rows


def _by_speeds(tree: MechanismTree, position: Expression, values: Mapping[str, float], size: float) -> SpeedRow:
    row: SpeedRow = {}
    terms = position.terms if isinstance(position, Add) else ((position, 1),)
    for term, count in terms:  # one by one: each reads few of the coordinates of a long chain
        for name in term.free_symbols & tree.coordinates.keys():
            slope = term.derivative(name).evaluate(values) * float(count) * size
            for speed, factor in tree.coordinates[name].rates.items():
                row[speed] = row.get(speed, 0.0) + slope * factor.evaluate(values)
    return row


def _followed(
    rows: list[SpeedRow], loop: KinematicLoop, tree: MechanismTree, values: Mapping[str, float]
) -> list[SpeedRow]:
    """Rows in which the speeds that a loop decides are replaced by what decides them."""
    equations = [_by_speeds(tree, e, values, 1.0) for e in loop.equations]
    for speed in loop.follows:
        pivot = max(equations, key=lambda e: abs(e.get(speed, 0.0)))
        if not pivot.get(speed):
            return rows
        equations = [_minus(e, pivot, speed) for e in equations if e is not pivot]
        rows = [_minus(row, pivot, speed) for row in rows]
    return rows


def _minus(row: SpeedRow, pivot: SpeedRow, speed: str) -> SpeedRow:
    factor = row.get(speed, 0.0) / pivot[speed]
    found = {name: row.get(name, 0.0) - factor * pivot.get(name, 0.0) for name in row.keys() | pivot.keys()}
    found[speed] = 0.0
    return found


def _without_pivot(rows: list[SpeedRow], speeds: list[str]) -> str:
    largest = max((abs(x) for row in rows for x in row.values()), default=0.0)
    left = list(rows)
    for speed in speeds:
        pivot = max(left, key=lambda row: abs(row.get(speed, 0.0)), default={})
        if abs(pivot.get(speed, 0.0)) <= NO_INERTIA**0.5 * largest or not largest:
            return speed
        left = [_minus(row, pivot, speed) for row in left if row is not pivot]
    return ""
