"""Whether every motion of a mechanism moves some inertia: without any, nothing decides its acceleration."""

from collections.abc import Mapping, Sequence

from tellegen.description.mechanisms.geometry import components
from tellegen.description.mechanisms.loops import Loop
from tellegen.description.mechanisms.tree import Tree
from tellegen.description.mechanisms.values import CENTRE, GROUND, Mark
from tellegen.expressions import ZERO, Add, Expression

NOTHING = 1e-12
"""An inertia below this share of the largest one counts as none."""

Row = dict[str, float]


def without_inertia(tree: Tree, loops: Sequence[Loop], values: Mapping[str, float]) -> str:
    """A speed that can change without moving any inertia, at a position; empty where there is none."""
    rows = _weighted_rows(tree, values)
    for loop in loops:
        rows = _followed(rows, loop, tree, values)
    speeds = [name for name in tree.speeds if not any(name in loop.follows for loop in loops)]
    held = _held(tree)
    return _without_pivot(rows, [name for name in speeds if name not in held])


def _held(tree: Tree) -> set[str]:
    """Speeds that a wheel or a skate holds at zero."""
    return {name for name, speed in tree.speeds.items() if speed.node.endswith(".across")}


def _weighted_rows(tree: Tree, values: Mapping[str, float]) -> list[Row]:
    """Velocities of masses and angular velocities of inertias by speeds, times the roots of these: M is the sum of squares."""
    rows: list[Row] = []
    for name, body in tree.mechanism.bodies.items():
        if name == GROUND:
            continue
        if body.mass is not ZERO:
            size = abs(body.mass.evaluate(values)) ** 0.5
            x, y = components(tree.position(Mark(name, CENTRE)))
            rows += [_by_speeds(tree, e, values, size) for e in (x, y)]
        if body.inertia is not ZERO:
            size = abs(body.inertia.evaluate(values)) ** 0.5
            rows.append(_by_speeds(tree, tree.poses[name].angle.expression, values, size))
    return rows


def _by_speeds(tree: Tree, position: Expression, values: Mapping[str, float], size: float) -> Row:
    row: Row = {}
    terms = position.terms if isinstance(position, Add) else ((position, 1),)
    for term, count in terms:  # one by one: each reads few of the coordinates of a long chain
        for name in term.free_symbols & tree.coordinates.keys():
            slope = term.derivative(name).evaluate(values) * float(count) * size
            for speed, factor in tree.coordinates[name].rates.items():
                row[speed] = row.get(speed, 0.0) + slope * factor.evaluate(values)
    return row


def _followed(rows: list[Row], loop: Loop, tree: Tree, values: Mapping[str, float]) -> list[Row]:
    """Rows in which the speeds that a loop decides are replaced by what decides them."""
    equations = [_by_speeds(tree, e, values, 1.0) for e in loop.equations]
    for speed in loop.follows:
        pivot = max(equations, key=lambda e: abs(e.get(speed, 0.0)))
        if not pivot.get(speed):
            return rows
        equations = [_minus(e, pivot, speed) for e in equations if e is not pivot]
        rows = [_minus(row, pivot, speed) for row in rows]
    return rows


def _minus(row: Row, pivot: Row, speed: str) -> Row:
    factor = row.get(speed, 0.0) / pivot[speed]
    found = {name: row.get(name, 0.0) - factor * pivot.get(name, 0.0) for name in row.keys() | pivot.keys()}
    found[speed] = 0.0
    return found


def _without_pivot(rows: list[Row], speeds: list[str]) -> str:
    largest = max((abs(x) for row in rows for x in row.values()), default=0.0)
    left = list(rows)
    for speed in speeds:
        pivot = max(left, key=lambda row: abs(row.get(speed, 0.0)), default={})
        if abs(pivot.get(speed, 0.0)) <= NOTHING**0.5 * largest or not largest:
            return speed
        left = [_minus(row, pivot, speed) for row in left if row is not pivot]
    return ""
