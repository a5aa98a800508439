"""Newton's method on F(t, y + on_y z, yp + on_yp z) = 0 for z: consistent starts and equilibria.

The vectors on_y and on_yp say what may move: rates and unknowns for a consistent start, all variables for an equilibrium, both ends
of a step for a method of fixed step.
"""

from typing import Final, final

import numpy as np

from tellegen.simulation.plain.job_view import Array, JobView, StoppedError
from tellegen.simulation.plain.linear import Factors, Jacobian
from tellegen.simulation.solvers import jobs

PRECISION: Final = 1e-10
_MOST_STEPS: Final = 60
_SHORTEST: Final = 1e-8
_ROUNDING: Final = 64.0 * float(np.finfo(float).eps)
_SMALL_RATES: Final = 1e-6
"""Rates have no tolerance of their own: those so far below the largest count little."""


@final
class NewtonMethod:
    """Newton's method for the systems of one job, with steps shortened until they help."""

    def __init__(self, view: JobView) -> None:
        self.view = view
        self.jacobian = Jacobian(view)
        self.on_y, self.on_yp = np.zeros(view.block), np.zeros(view.block)
        rtol = view.job.rtol
        self.floor = view.atol / rtol if rtol > 0.0 else view.atol.copy()

    def make_consistent(self, t: float, y: Array, yp: Array) -> None:
        """Rates and algebraic unknowns that agree with the given states, in place."""
        moving = np.arange(self.view.block) < self.view.job.n_differential
        self.on_y, self.on_yp = np.where(moving, 0.0, 1.0), np.where(moving, 1.0, 0.0)
        self.solve(t, y, yp, _MOST_STEPS)

    def solve(self, t: float, y: Array, yp: Array, most_steps: int = _MOST_STEPS) -> None:
        """Solve from y, yp, which hold the solution afterwards.

        Raises: StoppedError (not finite, singular, no convergence).
        """
        residual = self.view.residual(t, y, yp)
        for _ in range(most_steps):
            values = self.jacobian.residual(t, y, yp, self.on_y, self.on_yp)
            factors = self.jacobian.factors(values)
            step = -factors.solve(residual)
            size, exact = self.size(step, y, yp), self._rounding_only(values, y, yp, residual)
            found = self._shortened(t, y, yp, step, size, factors, exact=exact)
            if found is None:
                if exact or self._loads_cancel(t, y, yp):
                    return
                break
            by, y[:], yp[:], residual = found
            if by == 1.0 and (size <= PRECISION or exact):
                return
        raise StoppedError(jobs.NO_CONVERGENCE)

    def size(self, step: Array, y: Array, yp: Array) -> float:
        """The largest relative change that a step makes."""
        if not len(step):
            return 0.0
        on_y, on_yp = self._wide(self.on_y), self._wide(self.on_yp)
        moved = np.abs(on_yp * step)
        rates = float(np.max(np.where(on_yp != 0.0, np.abs(yp) + moved, 0.0)))
        of_rates = moved / (np.abs(yp) + _SMALL_RATES * rates) if rates > 0.0 else np.zeros(len(step))
        with np.errstate(all="ignore"):
            sizes = np.where(on_y != 0.0, np.abs(on_y * step) / (np.abs(y) + self.floor), of_rates)
        return float(np.max(sizes)) if np.all(np.isfinite(sizes)) else float("inf")

    def _wide(self, of_block: Array) -> Array:
        return np.tile(of_block, max(self.view.job.blocks, 1))

    def _shortened(
        self, t: float, y: Array, yp: Array, step: Array, size: float, factors: Factors, *, exact: bool
    ) -> tuple[float, Array, Array, Array] | None:
        """The share of a step that makes the next one shorter (Deuflhard's natural monotonicity test), and where it leads."""
        by, on_y, on_yp = 1.0, self._wide(self.on_y) * step, self._wide(self.on_yp) * step
        while by >= _SHORTEST:
            there, rates = y + by * on_y, yp + by * on_yp
            try:
                residual = self.view.residual(t, there, rates)
            except StoppedError:
                by /= 2.0
                continue
            following = self.size(-factors.solve(residual), there, rates)
            if following <= (1.0 - by / 4.0) * size or (by == 1.0 and size <= PRECISION) or exact:
                return by, there, rates, residual
            by /= 2.0
        return None

    def _rounding_only(self, values: Array, y: Array, yp: Array, residual: Array) -> bool:
        """Whether the residuals are rounding errors of their terms: then no step can make them smaller."""
        n = self.view.block
        with np.errstate(all="ignore"):
            of_rates = np.where(self.on_yp != 0.0, yp[:n] / self.on_yp, 0.0)
            z = np.where(self.on_y != 0.0, y[:n] / self.on_y, of_rates)
        return self._is_rounding(residual, self.jacobian.sizes(values, z))

    def _loads_cancel(self, t: float, y: Array, yp: Array) -> bool:
        """The same with the terms of what is held, too: loads that cancel leave rates that are rounding errors."""
        n = self.view.block
        ones, zeros = np.ones(n), np.zeros(n)
        try:
            terms = self.jacobian.sizes(self.jacobian.residual(t, y, yp, ones, zeros), y[:n])
            terms += self.jacobian.sizes(self.jacobian.residual(t, y, yp, zeros, ones), yp[:n])
            return self._is_rounding(self.view.residual(t, y, yp), terms)
        except StoppedError:
            return False

    def _is_rounding(self, residual: Array, terms: Array) -> bool:
        return bool(np.all(np.abs(residual) <= _ROUNDING * self._wide(terms)))
