"""A stretch by explicit Runge-Kutta steps, as native/runge_kutta.c makes them."""

import math
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.books import GAUSS_POINTS, GAUSS_WEIGHTS
from tellegen.simulation.plain.crossings import Crossing, first_crossing
from tellegen.simulation.plain.explicit_control import SMALL_ERROR, Stiffness, first_step, next_step, shorter_step
from tellegen.simulation.plain.explicit_step import ExplicitStep
from tellegen.simulation.plain.halts import ends_at, gap, go_on_after, next_halt, pass_halt, stop_before, take_samples
from tellegen.simulation.plain.happenings import (
    chatters,
    check_guards,
    ends_stretch,
    jumps,
    log_events,
    rest_bends,
    wake_bends,
)
from tellegen.simulation.plain.job_view import Array, JobView, StoppedError
from tellegen.simulation.plain.past import POINTS, known_past
from tellegen.simulation.plain.remembering import before_event, remember, remember_break
from tellegen.simulation.plain.turns import Turns
from tellegen.simulation.solvers import jobs

_LARGEST_DEFECT: Final = 100.0
_MOST_FAILURES: Final = 60
_LANDINGS: Final = 5
"""Beyond a place where a formula bends or jumps, stages of a step mislead its interpolant before that place, too: the step is made
again up to there, so often."""


def runge_kutta_run(view: JobView) -> int:
    """Advance to the end of a stretch."""
    return _ExplicitRun(view).run()


@final
class _ExplicitRun:
    """The loop over halts and steps. `next` is the step to try."""

    def __init__(self, view: JobView) -> None:
        self.view, self.job = view, view.job
        self.past = known_past(view.job.history)
        self.step = ExplicitStep(view)
        self.turns = Turns(view)
        self.guards = np.zeros(0)
        self.stiffness = Stiffness()

    def run(self) -> int:
        """From halt to halt."""
        job, view = self.job, self.view
        self._begin()
        self.next = job.first_step if job.first_step > 0.0 else first_step(view, self.step.start_rates)
        while True:
            before, halt = job.t, next_halt(view, self.past)
            try:
                self._advance(halt)
            finally:
                view.yp[:] = self.step.start_rates  # whoever asks why it ended reads the rates, too
            pass_halt(view, halt)
            if ends_at(view, before, halt):
                return jobs.FINISHED
            job.t = go_on_after(view, halt)
            take_samples(view, before)
            self._begin()
            if job.t >= job.until:
                return jobs.FINISHED
            check_guards(view)
            self.next = max(min(self.next, first_step(view, self.step.start_rates)), 0.01 * self.next)

    def _begin(self) -> None:
        """Rates, rows and event functions where the run stands, after a break."""
        view = self.view
        self.step.k[0] = view.rhs(self.job.t, view.y)
        view.yp[:] = self.step.k[0]
        view.write_start()
        if self.job.n_events:
            self.guards = view.events(self.job.t, view.y, view.yp)
            wake_bends(view, self.guards)
        remember_break(view, self.past)

    def _advance(self, halt: float) -> None:
        """Up to a halt."""
        job, view, step = self.job, self.view, self.step
        stop, old, whole = stop_before(view, halt), SMALL_ERROR, 0.0
        failures = landings = 0
        rejected = False
        while job.t < stop:
            left = stop - job.t
            h = min(self.next, job.max_step)
            last = h >= left * (1.0 - 1e-12)
            if last:
                h = left
            elif h > 0.5 * left and not whole:
                h = 0.5 * left  # no sliver at the end
            if h <= gap(job.t):
                raise StoppedError(jobs.NOT_FINITE if failures else jobs.TINY_STEP)
            error = self._tried(h, stop if last else job.t + h)
            if not error <= 1.0:
                job.rejected += 1
                rejected, whole = True, 0.0
                failures += not math.isfinite(error)
                if failures > _MOST_FAILURES:
                    raise StoppedError(jobs.NOT_FINITE)
                self.next = shorter_step(h, error)
                continue
            failures = 0
            crossing = self._crossing() if job.n_events else None
            if crossing is not None:
                lands = not whole and crossing.t < step.end and crossing.t - step.t > 16.0 * gap(crossing.t)
                if lands and not ends_stretch(view, crossing.signs) and landings < _LANDINGS:
                    landings += 1
                    whole, self.next = h, crossing.t - step.t
                    continue
                landings = 0
            h, whole = whole or h, 0.0
            job.steps += 1
            if job.watch_stiffness and self.stiffness.shows(h * step.fastest()) and (stop - job.t) / h > 1000.0:
                raise StoppedError(jobs.STIFF)
            self.next, old = next_step(h, error, old, rejected=rejected)
            rejected = False
            job.last_step = h
            self._accept(crossing, h)
            self._look_up(stop)

    def _tried(self, h: float, reached: float) -> float:
        """Make a step; its error, infinite where it leads beyond the domain of a law."""
        try:
            self.step.make(self.job.t, self.view.y, h)
            error = self.step.error()
            if error <= 1.0:
                self.step.finish(reached)
        except StoppedError:
            return math.inf
        return error

    # -- a step that is accepted -----------------------------------------------------------------------------------------------

    def _crossing(self) -> Crossing | None:
        """The first event of the step."""
        step, view = self.step, self.view
        end = step.end

        def guards(t: float) -> Array:
            y = step.y1 if t == end else step.at(t)
            return view.events(t, y, view.rhs(t, y))

        times = [*(step.t + q * 0.25 * step.h for q in range(4)), end]
        crossing, last = first_crossing(view, guards, times, self.guards, 0.0)
        if crossing is None:
            self.guards = last
            wake_bends(view, last)
        return crossing

    def _accept(self, crossing: Crossing | None, h: float) -> None:
        """Books, rows and the past of a step, or of its part up to an event; the run stands at its end."""
        view, step, job = self.view, self.step, self.job
        end = step.end
        at = end if crossing is None else crossing.t
        if job.keep_books:
            view.book((at - step.t) * (step.mean_powers() if at == end else self._powers_up_to(at)))
        self._write_rows(at)
        self._remember_between(at)
        if crossing is None:
            view.stand_at(end, step.y1, step.end_rates)
            step.k[0] = step.end_rates
            remember(view, self.past, job.t, view.y, view.yp)
        else:
            self._settle(crossing, h)
        self.turns.see(view.y)

    def _settle(self, crossing: Crossing, h: float) -> None:
        """Go on from an event."""
        view, step, t = self.view, self.step, crossing.t
        stays = not ends_stretch(view, crossing.signs)
        if stays and self.past is not None:
            self._remember_point(before_event(step.t, t))
        y = step.at(t) if t < step.end else step.y1
        view.stand_at(t, y, view.rhs(t, y))
        step.k[0] = view.yp
        if stays:
            remember_break(view, self.past)
        else:
            remember(view, self.past, t, view.y, view.yp)
        if log_events(view, t, crossing.signs):
            raise StoppedError(jobs.EVENT)
        if jumps(view, crossing.signs) and chatters(view, t):
            raise StoppedError(jobs.CHATTERING)
        self.guards = view.events(t, view.y, view.yp)
        wake_bends(view, self.guards)
        rest_bends(view, crossing.signs, self.guards)
        self.next = min(self.next, 0.1 * h)

    def _look_up(self, stop: float) -> None:
        job = self.job
        if job.t >= job.pause_at:
            if job.turns >= job.pause_turns and job.t < stop:
                raise StoppedError(jobs.PAUSED)
            job.pause_at = math.inf  # looked at once
        self.view.check_going_on()

    def _powers_up_to(self, at: float) -> Array:
        """Mean powers of a part of the step, on its interpolant."""
        step, found = self.step, np.zeros(4)
        for point, weight in zip(GAUSS_POINTS, GAUSS_WEIGHTS, strict=True):
            t = step.t + point * (at - step.t)
            y = step.at(t)
            found += weight * self.view.powers(t, y, self.view.rhs(t, y))
        return found

    def _write_rows(self, reached: float) -> None:
        step, view = self.step, self.view
        while (t := view.row_before(reached)) is not None:
            if t == step.end:
                view.write_row(step.y1, step.end_rates)
                continue
            y = step.at(t)
            yp = view.rhs(t, y)
            if step.defect(t, y, yp) > _LARGEST_DEFECT:
                # fast motions that have died away come back in the interpolant, large: such rows are stepped to
                side = ExplicitStep(view)
                side.k[0] = step.k[0]
                side.make(step.t, step.y, t - step.t)
                y = side.y1
                yp = view.rhs(t, y)
            view.write_row(y, yp)

    def _remember_between(self, at: float) -> None:
        """Points inside a step: those of high order are long, and what is read between their ends should be as good."""
        if self.past is not None:
            for q in range(1, POINTS - 1):
                self._remember_point(self.step.t + q * (at - self.step.t) / (POINTS - 1))

    def _remember_point(self, t: float) -> None:
        y = self.step.at(t)
        remember(self.view, self.past, t, y, self.view.rhs(t, y))
