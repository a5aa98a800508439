"""Loops: what a joint that closes one says about positions and speeds, and which coordinates follow from it.

A revolute joint closes a loop with two equations g = 0 in the coordinates. Of the speeds in g' = sum d_k w_k two follow. The
joint holds the velocities of its points together along two vectors, each at a right angle to the d of one of the two: each row
then has one of them as its only unknown, with the factor d_1 x d_2. So nothing is ever divided by but this determinant, which
vanishes in the true singular positions of the loop and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import final

from tellegen.description.mechanisms.geometry import (
    Part,
    Vector,
    components,
    cross,
    direction,
    minus,
    plus,
    rate_by,
    rotated,
)
from tellegen.description.mechanisms.tree import Tree
from tellegen.description.mechanisms.values import Joint
from tellegen.expressions import ONE, ZERO, Expression, sqrt

GOOD = 0.05
"""Of several choices the first in the order of description is taken whose determinant is at least this share of the best one."""

SINGULAR = 1e-5
"""A determinant below this share of the product of its columns counts as zero: in a singular position, Newton's method comes no
closer than the root of its tolerance."""


@final
@dataclass(frozen=True)
class Row:
    """One velocity that a joint sets to zero: the difference of the velocities of its points along a vector.

    `turning` is the factor of the angular velocity of the first body in it. A row without a vector holds the angle alone.
    """

    along: Vector
    turning: Expression = ZERO


@final
@dataclass(frozen=True)
class Loop:
    """A loop: its equations between positions, the coordinates and speeds that they decide, and the rows between velocities.

    `margin` tells how far it is from a singular position: the sine between the directions that it solves for.
    """

    joint: Joint
    equations: tuple[Expression, ...]
    solves: tuple[str, ...]
    follows: tuple[str, ...]
    rows: tuple[Row, ...]
    margin: Expression


class _Gap:
    """The gap between the two sides of a joint that closes a loop."""

    def __init__(self, tree: Tree, joint: Joint) -> None:
        self.tree = tree
        self.joint = joint
        self.between = plus(tree.position(joint.first), minus(tree.position(joint.second)))
        one, two = (tree.poses[mark.body].angle for mark in (joint.first, joint.second))
        self.turn = one.turned(joint.settings.get("angle", ZERO)).expression - two.expression
        self.axis = direction(tree.axis(joint))


def equations_of(tree: Tree, joint: Joint) -> tuple[Expression, ...]:
    """What is zero where a joint that closes a loop fits: lengths, and for a joint that holds an angle the angle first."""
    gap = _Gap(tree, joint)
    if joint.kind == "prismatic":
        return gap.turn, cross(gap.axis, gap.between)
    return components(gap.between) if joint.kind == "revolute" else (gap.turn, *components(gap.between))


def close(tree: Tree, joint: Joint, solves: tuple[str, ...]) -> Loop:
    """The loop that a joint closes, with the coordinates that shall follow from it."""
    gap = _Gap(tree, joint)
    rows: list[Row] = []
    if joint.kind == "prismatic":
        rows.append(Row(rotated(gap.axis), -cross(gap.between, rotated(gap.axis))))
        margin = equations_of(tree, joint)[1].derivative(solves[1])
    else:
        one, two = (_scaled(rate_by(gap.between, name)) for name in solves[-2:])
        # d x v is v along d turned anticlockwise: the row for one coordinate leaves out what the other one moves
        rows.extend((Row(rotated(two)), Row(rotated(one))))
        margin = cross(one, two)
    if joint.kind != "revolute":
        rows.insert(0, Row(()))
    follows = tuple(next(iter(tree.coordinates[name].rates)) for name in solves)
    return Loop(joint, equations_of(tree, joint), solves, follows, tuple(rows), margin)


def _scaled(vector: Vector) -> Vector:
    """The vector by the length of its first part: a unit vector as a rule, so that what the joint passes on are forces."""
    along, across, _ = vector[0]
    length = along if across is ZERO else across if along is ZERO else sqrt(along * along + across * across)
    return tuple(Part(part.along / length, part.across / length, part.angle) for part in vector)


def candidates(tree: Tree, joint: Joint, taken: set[str]) -> list[str]:
    """Coordinates that a loop can decide, later ones first: people describe what drives before what follows."""
    held = set(tree.mechanism.independent)
    names = {s for e in equations_of(tree, joint) for s in e.free_symbols}
    direct = [name for name, c in tree.coordinates.items() if set(c.rates.values()) == {ONE}]
    return [name for name in reversed(direct) if name in names and name not in taken and name not in held]


def choices(tree: Tree, joint: Joint, taken: set[str], values: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Sets of coordinates that a loop can decide at a position, the ones to take first in front."""
    equations = equations_of(tree, joint)
    free = candidates(tree, joint, taken)
    columns = {name: [e.derivative(name).evaluate(values) for e in equations] for name in free}
    rated = []
    for names in combinations(free, len(equations)):
        ordered = _angle_first(names, equations[0]) if joint.kind != "revolute" else names
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


def sliding_distance(tree: Tree, joint: Joint) -> Expression:
    """The distance along a prismatic joint that closes a loop."""
    gap = _Gap(tree, joint)
    return cross(gap.between, rotated(gap.axis)) * -1
