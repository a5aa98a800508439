"""Positions in which loops fit: Newton's method with steps of least size, from several starts."""

import math
import random
from collections.abc import Mapping, Sequence

from tellegen.expressions import Expression

STEPS, TRIES, FEW = 60, 40, 8
CLOSE = 1e-13
"""Equations are solved to this share of the size of their terms."""

DAMPED = 1e-9
"""What is added to the diagonal of dependent rows, beside its largest entry."""

Values = dict[str, float]


def assembled(
    equations: Sequence[Expression], unknown: Sequence[str], values: Mapping[str, float], guesses: Mapping[str, float]
) -> Values | None:
    """Values of the unknown coordinates that solve the equations, near the guesses if possible; None where none was found."""
    slopes = [[e.derivative(name) for name in unknown] for e in equations]
    chance = random.Random(1)
    for attempt in range(TRIES):
        start = {name: guesses.get(name, 0.0) for name in unknown}
        if attempt:
            start = {name: value + chance.uniform(-2.0, 2.0) * min(1.0, attempt / 8) for name, value in start.items()}
        found = _newton(equations, slopes, list(unknown), {**values, **start})
        if found is not None:
            return found
    return None


def closest(
    equations: Sequence[Expression], unknown: Sequence[str], values: Mapping[str, float], guesses: Mapping[str, float]
) -> Values:
    """Where what is left of the equations is least, for a mechanism that fits nowhere: damped steps, from a few starts."""
    slopes = [[e.derivative(name) for name in unknown] for e in equations]
    chance = random.Random(1)
    best, least = dict(values), math.inf
    for attempt in range(FEW):
        start = {name: guesses.get(name, 0.0) + bool(attempt) * chance.uniform(-2.0, 2.0) for name in unknown}
        found = {**values, **start}
        damping = 1e-3
        for _ in range(STEPS):
            g = residuals(equations, found)
            J = [[slope.evaluate(found) for slope in row] for row in slopes]
            step = _damped_step(J, g, damping)
            trial = {**found, **{name: found[name] - change for name, change in zip(unknown, step, strict=True)}}
            better = math.hypot(*residuals(equations, trial)) < math.hypot(*g)
            found, damping = (trial, damping / 3) if better else (found, damping * 4)
        if (left := math.hypot(*residuals(equations, found))) < least:
            best, least = found, left
    return best


def _damped_step(J: list[list[float]], g: list[float], damping: float) -> list[float]:
    """J^T (J J^T + damping size)^-1 g: Newton's step where damping is small, downhill where it is large."""
    rows = range(len(J))
    square = [[sum(a * b for a, b in zip(J[i], J[k], strict=True)) for k in rows] for i in rows]
    much = damping * max(square[i][i] for i in rows) + 1e-300
    weights = _solved([[x + much * (i == k) for k, x in enumerate(square[i])] for i in rows], list(g))
    return [0.0] * len(J[0]) if weights is None else [sum(J[i][k] * weights[i] for i in rows) for k in range(len(J[0]))]


def residuals(equations: Sequence[Expression], values: Mapping[str, float]) -> list[float]:
    """How far each equation is from being solved."""
    return [equation.evaluate(values) for equation in equations]


def _newton(
    equations: Sequence[Expression], slopes: list[list[Expression]], unknown: list[str], values: Values
) -> Values | None:
    size = _size(equations, slopes, values)
    best = math.inf
    for _ in range(STEPS):
        try:
            g = residuals(equations, values)
            J = [[slope.evaluate(values) for slope in row] for row in slopes]
        except (ArithmeticError, ValueError):
            return None
        now = max(map(abs, g), default=0.0)
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


def _size(equations: Sequence[Expression], slopes: list[list[Expression]], values: Values) -> float:
    try:
        return max((abs(s.evaluate(values)) for row in slopes for s in row), default=1.0) or 1.0
    except (ArithmeticError, ValueError):
        return 1.0


def least_step(J: list[list[float]], g: list[float]) -> list[float] | None:
    """The smallest step with J step = g; nearly that where rows of J depend on each other, None where nothing moves."""
    rows = range(len(J))
    square = [[sum(a * b for a, b in zip(J[i], J[k], strict=True)) for k in rows] for i in rows]
    weights = _solved(square, list(g))
    if weights is None:
        much = DAMPED * max((square[i][i] for i in rows), default=0.0)
        weights = _solved([[x + much * (i == k) for k, x in enumerate(square[i])] for i in rows], list(g))
    if weights is None:
        return None
    return [sum(J[i][k] * weights[i] for i in rows) for k in range(len(J[0]))] if J else []


def _solved(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    scale = max((abs(x) for row in matrix for x in row), default=0.0)
    for k in range(n):
        pivot = max(range(k, n), key=lambda r: abs(rows[r][k]))
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
