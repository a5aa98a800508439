"""One step of an explicit Runge-Kutta pair with its interpolant, from the coefficients that the C generator reads, too."""

import math
from functools import cache
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.job_view import Array, JobView
from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8, Row, Tableau

SHARE: Final = 0.25
"""Of the tolerance that a single step may use, for errors of steps add up."""
_FADING: Final = 0.9
"""What one estimate of the error is of the other falls by no more than this from step to step."""


def _row(row: Row, length: int) -> Array:
    found = np.zeros(length)
    found[list(row)] = list(row.values())
    return found


@final
class _Coefficients:
    """A tableau as arrays."""

    def __init__(self, tableau: Tableau) -> None:
        self.stages = len(tableau.a)
        self.all = self.stages + 1 + len(tableau.dense_a)
        self.a = [_row(row, k) for k, row in enumerate(tableau.a)]
        self.b = _row(tableau.b, self.stages)
        self.error, self.second_error = (_row(row, self.stages + 1) for row in (tableau.error, tableau.second_error))
        self.dense_a = [_row(row, self.stages + 1 + k) for k, row in enumerate(tableau.dense_a)]
        self.dense_b = np.array([_row(row, self.all) for row in tableau.dense_b])
        self.weighted = tuple(tableau.b.items())


@cache
def _coefficients() -> _Coefficients:
    return _Coefficients(DORMAND_PRINCE_8)


@final
class ExplicitStep:
    """The step from (t, y), h long, to y1; `k` are the rates of its stages, the first those at y."""

    order: Final = DORMAND_PRINCE_8.order
    stability: Final = DORMAND_PRINCE_8.stability

    def __init__(self, view: JobView) -> None:
        self._view, self._of = view, _coefficients()
        self.t = self.end = view.job.t
        self.h, self.y, self.y1 = 0.0, view.y.copy(), view.y.copy()
        self.k = np.zeros((self._of.all, view.n))
        self._arguments = np.zeros((self._of.stages, view.n))
        self._dense: Array | None = None
        self._ratio = 0.0

    @property
    def start_rates(self) -> Array:
        """The rates at y."""
        return np.asarray(self.k[0])

    @property
    def end_rates(self) -> Array:
        """The rates at y1."""
        return np.asarray(self.k[self._of.stages])

    def make(self, t: float, y: Array, h: float) -> None:
        """All stages, from the rates at y that stand in `k` already. Raises StoppedError where one cannot be evaluated."""
        of, view, tableau = self._of, self._view, DORMAND_PRINCE_8
        self.t, self.h, self.y, self._dense = t, h, y.copy(), None
        self._arguments[0] = y
        for i in range(1, of.stages):
            self._arguments[i] = y + h * (of.a[i] @ self.k[:i])
            self.k[i] = view.rhs(t + tableau.c[i] * h, self._arguments[i])
        self.y1 = y + h * (of.b @ self.k[: of.stages])

    def finish(self, reached: float) -> None:
        """The rates at the end, which may differ from t + h by rounding."""
        self.h, self.end = reached - self.t, reached
        self.k[self._of.stages] = self._view.rhs(reached, self.y1)

    def error(self) -> float:
        """In the maximum norm, 1 being the tolerance.

        By two estimates, of which the finer one is too large and falls more slowly with the step than the error does: their ratio
        tells by how much (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.10). It fades slowly,
        so that an estimate that happens to pass through zero does not count twice.
        """
        view, of = self._view, self._of
        if not view.n:
            return 0.0
        scale = view.atol + view.job.rtol * np.maximum(np.abs(self.y), np.abs(self.y1))
        k = self.k[: of.stages + 1]
        fine, coarse = (float(np.max(np.abs(row @ k) / scale)) for row in (of.error, of.second_error))
        if not (math.isfinite(fine) and math.isfinite(coarse)):
            return math.inf
        if fine and coarse:
            ratio = max(fine / coarse, self._ratio)
            self._ratio = _FADING * min(ratio, 1.0)
            fine *= ratio / math.sqrt(ratio * ratio + 0.01)
        return fine * abs(self.h) / SHARE

    def mean_powers(self) -> Array:
        """Of the whole step, by the weights of the method."""
        c = DORMAND_PRINCE_8.c
        powers = (
            weight * self._view.powers(self.t + c[i] * self.h, self._arguments[i], self.k[i])
            for i, weight in self._of.weighted
        )
        return sum(powers, np.zeros(4))

    def at(self, t: float) -> Array:
        """y at a time of the step, on its interpolant."""
        dense, x = self._interpolant(), (t - self.t) / self.h
        value = dense[-1]
        for r in range(len(dense) - 2, -1, -1):
            value = dense[r] + (x if r % 2 else 1.0 - x) * value
        return np.asarray(self.y + x * value)

    def defect(self, t: float, y: Array, yp: Array) -> float:
        """How far the slope of the interpolant is from the right-hand side, over the step and in tolerances."""
        dense, x = self._interpolant(), (t - self.t) / self.h
        value, slope = dense[-1], np.zeros(self._view.n)
        for r in range(len(dense) - 2, -1, -1):
            by = x if r % 2 else 1.0 - x
            slope = (value if r % 2 else -value) + by * slope
            value = dense[r] + by * value
        scale = self._view.atol + self._view.job.rtol * np.abs(y)
        return float(np.max(np.abs(value + x * slope - self.h * yp) / scale, initial=0.0))

    def fastest(self) -> float:
        """An estimate of the fastest eigenvalue, from two stages at the end of the step; 0 where they tell nothing."""
        of, view = self._of, self._view
        scale = 1.0 / (view.atol + view.job.rtol * np.abs(self.y1))
        above = np.linalg.norm((self.end_rates - self.k[of.stages - 1]) * scale)
        below = np.linalg.norm((self.y1 - self._arguments[of.stages - 1]) * scale)
        return float(above / below) if below > 0.0 else 0.0

    def _interpolant(self) -> Array:
        """The further stages and the polynomial of the step; only where a row or an event asks for it."""
        if self._dense is None:
            of, h, tableau = self._of, self.h, DORMAND_PRINCE_8
            for i, row in enumerate(of.dense_a):
                place = of.stages + 1 + i
                argument = self.y + h * (row @ self.k[:place])
                self.k[place] = self._view.rhs(self.t + tableau.dense_c[i] * h, argument)
            d = self.y1 - self.y
            first = (d, h * self.k[0] - d, 2.0 * d - h * (self.end_rates + self.k[0]))
            self._dense = np.vstack([*first, h * (of.dense_b @ self.k)])
        return self._dense
