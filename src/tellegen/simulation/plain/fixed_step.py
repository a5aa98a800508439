"""Methods that keep their step and the structure of the energy, as native/fixed_step.c makes them.

Midpoint: 0 = F(t + h/2, (y0 + y1)/2, (y1 - y0)/h). Discrete gradient: the rates of the states may differ from (y1 - y0)/h by s x, x
the states in the middle, and s is chosen so that the change of stored energy is exactly h times the power at the middle.
"""

import math
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.halts import ends_at, go_on_after, next_halt, pass_halt, stop_before, take_samples
from tellegen.simulation.plain.job_view import Array, JobView, StoppedError
from tellegen.simulation.plain.linear import Factors
from tellegen.simulation.plain.newton import NewtonMethod
from tellegen.simulation.plain.past import known_past
from tellegen.simulation.plain.remembering import remember, remember_break
from tellegen.simulation.solvers import jobs

_EPSILON: Final = float(np.finfo(float).eps)
_MOST_ROUNDS: Final = 40
_MOST_FACTORS: Final = 20
_MOST_CORRECTIONS: Final = 12
_GROWTH: Final = 1e-4


def midpoint_run(view: JobView) -> int:
    """Advance by the implicit midpoint rule."""
    return _FixedStepRun(view, exact=False).run()


def discrete_gradient_run(view: JobView) -> int:
    """Advance by the discrete gradient."""
    return _FixedStepRun(view, exact=True).run()


@final
class _FixedStepRun:
    """The loop over halts and steps. `middle` and `rate` belong to the middle of the present step, which begins at `y0`."""

    def __init__(self, view: JobView, *, exact: bool) -> None:
        self.view, self.job, self.exact = view, view.job, exact
        self.past = known_past(view.job.history)
        self.newton = NewtonMethod(view)
        self.moving = np.arange(view.n) < view.job.n_differential
        self.states = np.arange(view.n) < view.job.n_states
        self.y0, self.f0, self.y1, self.f1 = (view.y.copy() for _ in range(4))
        self.middle, self.rate = view.y.copy(), np.zeros(view.n)
        self.factors: Factors | None = None
        self.h_of_factors = self.energy = 0.0

    def run(self) -> int:
        """From halt to halt, by whole steps as near as possible to the one asked for."""
        job, view = self.job, self.view
        while True:
            before, halt = job.t, next_halt(view, self.past)
            stop, start = stop_before(view, halt), job.t
            self._set_rates(job.t, view.y, view.yp)
            view.write_start()
            remember_break(view, self.past)
            if self.exact:
                self.energy = view.energy(job.t, view.y, view.yp)
            if before >= job.until:
                return jobs.FINISHED
            count = math.ceil((stop - start) / job.first_step * (1.0 - 1e-12))
            h = (stop - start) / count
            for k in range(count):
                self._step(h)
                job.t = job.progress = stop if k + 1 == count else start + (k + 1) * h
                job.steps += 1
                job.last_step = h
                remember(view, self.past, job.t, view.y, view.yp)
                view.check_going_on()
            self._write_rows(job.t - h, h, job.t)
            pass_halt(view, halt)
            if ends_at(view, before, halt):
                return jobs.FINISHED
            job.t = go_on_after(view, halt)
            take_samples(view, before)

    def _set_rates(self, t: float, y: Array, yp: Array) -> None:
        """Rates at a point, from the states there, in place: unknowns keep their values as a guess."""
        if self.view.explicit:
            yp[:] = self.view.rhs(t, y)
            return
        self.factors = None
        self.newton.make_consistent(t, y, yp)

    def _step(self, h: float) -> None:
        job, view = self.job, self.view
        middle, reached = job.t + 0.5 * h, job.t + h
        self.y0, self.f0 = view.y.copy(), view.yp.copy()
        self.middle = self.y0 + np.where(self.moving, 0.5 * h * self.f0, 0.0)
        if self.exact:
            self._balance(job.t, h)
        else:
            self._solve_middle(middle, h, 0.0)
        if job.keep_books:
            view.book(h * view.powers(middle, self.middle, self.rate))
        view.y[:] = self.y1
        rows = view.row_before(reached) is not None
        if not rows and not view.explicit:
            view.yp[:] = self.rate  # the rates of the middle are guess enough
            return
        self._set_rates(reached, view.y, view.yp)
        self.y1, self.f1 = view.y.copy(), view.yp.copy()
        self._write_rows(job.t, h, reached)

    def _write_rows(self, start: float, h: float, reached: float) -> None:
        """Rows between steps: unknowns on the line between their ends, states on a cubic."""
        view = self.view
        while (t := view.row_before(reached)) is not None:
            u, d = (t - start) / h, self.y1 - self.y0
            y = self.y0 + u * d
            if u < 1.0:
                bent = u * (1.0 - u) * ((1.0 - u) * (h * self.f0 - d) - u * (h * self.f1 - d))
                y += np.where(self.moving, bent, 0.0)
            yp = self.f0.copy()
            self._set_rates(t, y, yp)
            view.write_row(y, yp)

    # -- one step --------------------------------------------------------------------------------------------------------------

    def _set_middle(self, h: float, s: float) -> None:
        self.rate = np.where(self.moving, 2.0 * (self.middle - self.y0) / h, 0.0)
        self.rate += np.where(self.states, s * self.middle, 0.0)

    def _factor(self, t: float, h: float, s: float) -> Factors:
        newton = self.newton
        newton.on_y = np.ones(self.view.n)
        newton.on_yp = np.where(self.moving, 2.0 / h, 0.0) + np.where(self.states, s, 0.0)
        values = newton.jacobian.residual(t, self.middle, self.rate, newton.on_y, newton.on_yp)
        self.factors, self.h_of_factors = newton.jacobian.factors(values), h
        return self.factors

    def _solve_middle(self, t: float, h: float, s: float) -> None:
        """Newton's method with factors kept from step to step while they serve, until rounding ends the progress."""
        last, fresh, factors = math.inf, 0, self.factors
        if factors is None or self.h_of_factors != h:
            self._set_middle(h, s)
            factors, fresh = self._factor(t, h, s), 1
        for _ in range(_MOST_ROUNDS):
            self._set_middle(h, s)
            step = -factors.solve(self.view.residual(t, self.middle, self.rate))
            size = self.newton.size(step, self.middle, self.rate)
            if not math.isfinite(size):
                break
            self.middle = self.middle + step
            if size <= 4.0 * _EPSILON or (size < 1e-11 and size > 0.3 * last):
                self._set_middle(h, s)
                self.y1 = np.where(self.moving, 2.0 * self.middle - self.y0, self.middle)
                return
            last = size if not (size > 0.2 * last and size > 1e-11) else math.inf
            if last == math.inf:
                if fresh > _MOST_FACTORS:
                    break
                self._set_middle(h, s)
                factors, fresh = self._factor(t, h, s), fresh + 1
        raise StoppedError(jobs.NO_CONVERGENCE)

    def _measured(self, t: float, h: float, s: float) -> tuple[float, float]:
        """Solve the step for a given s: the energy at its end too much, and what the step adds to the energy due."""
        self._solve_middle(t + 0.5 * h, h, s)
        supplied, dissipated, generated, modulation = self.view.powers(t + 0.5 * h, self.middle, self.rate).tolist()
        work = h * (supplied - dissipated + generated + modulation)
        return self.view.energy(t + h, self.y1, self.rate) - self.energy - work, work

    def _balance(self, t: float, h: float) -> None:
        """s such that the energy at the end is the energy due.

        Where the states carry next to no energy (a turning point) the correction would be large: what is off is then left to the
        next step, because the energy due does not depend on what was reached.
        """
        off, work = self._measured(t, h, 0.0)
        growth, s, last = self._energy_of_growth(t + 0.5 * h), 0.0, math.inf
        size = abs(self.energy) + float(np.finfo(float).tiny)
        for _ in range(_MOST_CORRECTIONS):
            if abs(off) <= _EPSILON * size or abs(off) >= 0.5 * last:
                break
            change = off / (h * growth) if growth else math.inf
            if not math.isfinite(change) or abs(s + change) * h > 0.1:
                break
            s, last = s + change, abs(off)
            off, work = self._measured(t, h, s)
        self.energy += work

    def _energy_of_growth(self, t: float) -> float:
        """How much the energy grows when the states in the middle grow by their own size."""
        grown = np.where(self.states, (1.0 + _GROWTH) * self.middle, self.middle)
        return (self.view.energy(t, grown, self.rate) - self.view.energy(t, self.middle, self.rate)) / _GROWTH
