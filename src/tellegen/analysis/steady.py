"""The steady state of a model under constant inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tellegen.analysis import rules
from tellegen.analysis.linear_model import Array
from tellegen.core.names import listing
from tellegen.equations.matrices import Vector, dot
from tellegen.equations.system import EquationSystem, with_values
from tellegen.expressions import Expression, symbol

STEPS = 60
CLOSE = 1e-10


def steady_state(
    system: EquationSystem, inputs: Mapping[str, float], start: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Values of states, displacements and algebraic unknowns at which nothing moves, beside those of the inputs.

    Found by Newton's method with halved steps from `start` (zero where not given). Where many states would do, as a charge that
    nobody drains, the one nearest to the start is taken.

    Raises: EquationError (E201) naming what keeps moving.
    """
    # Unknowns of algebraic equations are looked for together with the states: at rest they have to hold as well.
    names = (*system.states, *system.displacements, *system.algebraic.unknowns)
    problem = _Rates(system, names, {n: float(inputs.get(n, 0.0)) for n in system.inputs})
    here = np.array([float((start or {}).get(name, 0.0)) for name in names])
    rates = problem.rates(here)
    for _ in range(STEPS):
        if problem.is_small(rates, here):
            return {**problem.inputs, **dict(zip(names, map(float, here), strict=True))}
        # Newton alone may leap over a kink of a friction law and never come back: steps are halved until they help.
        there, after = problem.advance(here, problem.newton_step(rates, here), rates)
        # No rate came down any further: what is left cannot come to rest under these inputs.
        if not np.any(np.abs(after) < np.abs(rates)):
            break
        here, rates = there, after
    moving = [name for name, r, s in zip(names, rates, problem.sizes(here), strict=True) if abs(r) > CLOSE * s]
    raise rules.NO_STEADY_STATE.error(
        f"{listing(moving)} {'keeps' if len(moving) == 1 else 'keep'} moving",
        where=system.name,
        fix="give the point at which the model is wanted, or other inputs",
        members=moving,
    )


class _Rates:
    """What must vanish, with its derivatives, as functions of an array."""

    def __init__(self, system: EquationSystem, names: Sequence[str], inputs: Mapping[str, float]) -> None:
        # Derivatives by states must see through the names of `where`.
        numeric = _written_out(with_values(system))
        m, x = numeric.matrices, [symbol(n) for n in numeric.states]
        u = [symbol(n) for n in numeric.inputs]
        forces = tuple(
            dot(b, u) - dot(a, x) - dot(n, x) - f
            for a, n, b, f in zip(m["A"], m["N"], m["B"], numeric.vectors["f"], strict=True)
        )
        self.names, self.inputs = names, dict(inputs)
        self.functions: Vector = (*forces, *numeric.displacements.values(), *numeric.algebraic.residuals)
        self.derivatives = [
            [(j, e.derivative(name)) for j, name in enumerate(names) if name in e.free_symbols] for e in self.functions
        ]

    def rates(self, at: Array) -> Array:
        """The functions at a point; infinite where a law is not defined there."""
        values = self._values(at)
        try:
            return np.array([e.evaluate(values) for e in self.functions], dtype=float)
        except (ArithmeticError, ValueError, TypeError):
            # Outside of its domain a law rejects the step, and a shorter one is tried.
            return np.full(len(self.functions), np.inf)

    def sizes(self, at: Array) -> Array:
        """How large the terms of each function are, so that a rest can be judged."""
        jacobian = self.jacobian(at)
        # What stays at rest without any state, such as a weight, is a size to compare with too.
        values = {**self._values(at), **dict.fromkeys(self.names, 0.0)}
        offset = np.array([_magnitude(e, values) for e in self.functions])
        return np.asarray(np.abs(jacobian) @ np.abs(at) + offset)

    def is_small(self, rates: Array, at: Array) -> bool:
        """Whether all that is left of the functions is rounding."""
        return bool(np.all(np.abs(rates) <= CLOSE * self.sizes(at)))

    def jacobian(self, at: Array) -> Array:
        """The derivatives at a point."""
        values = self._values(at)
        found = np.zeros((len(self.functions), len(self.names)))
        for i, row in enumerate(self.derivatives):
            for j, e in row:
                found[i, j] = e.evaluate(values)
        return found

    def newton_step(self, rates: Array, at: Array) -> Array:
        """The smallest step that makes the rates vanish to first order, rows and columns scaled to one."""
        jacobian = self.jacobian(at)
        # Newtons and amperes in one matrix: unscaled, the smallest unit would decide what counts as zero.
        rows = np.abs(jacobian).max(axis=1, initial=0.0)
        rows[rows == 0] = 1.0
        columns = np.abs(jacobian / rows[:, None]).max(axis=0, initial=0.0)
        columns[columns == 0] = 1.0
        # Least squares, since the matrix may be singular: a charge that nothing drains stays where it is.
        step, *_ = np.linalg.lstsq(jacobian / rows[:, None] / columns, -rates / rows, rcond=1e-12)
        return np.asarray(step / columns)

    def advance(self, at: Array, step: Array, rates: Array) -> tuple[Array, Array]:
        """The step, halved until it brings the rates down."""
        share, sizes = 1.0, self.sizes(at)
        sizes[sizes == 0] = 1.0
        before = np.abs(rates / sizes).max()
        while True:
            there = at + share * step
            found = self.rates(there)
            # Where not even so short a step helps, the direction leads nowhere, and the search ends with it.
            if share < 1e-4 or np.abs(found / sizes).max() < before:
                return there, found
            share /= 2

    def _values(self, at: Array) -> dict[str, float]:
        return {**self.inputs, **dict(zip(self.names, map(float, at), strict=True))}


def _written_out(system: EquationSystem) -> EquationSystem:
    written: dict[str, Expression] = {}
    for name, expression in system.where.items():
        written[name] = expression.substitute(written)
    moved = {name: e.substitute(written) for name, e in system.displacements.items()}
    return replace(system.with_entries(lambda e: e.substitute(written)), where={}, displacements=moved)


def _magnitude(function: Expression, values: Mapping[str, float]) -> float:
    """How large a function is; zero at a point where it is not defined, such as a linkage folded flat."""
    try:
        return abs(function.evaluate(values))
    except (ArithmeticError, ValueError, TypeError):
        return 0.0
