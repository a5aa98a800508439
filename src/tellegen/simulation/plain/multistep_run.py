"""A stretch by CVODE or IDA, as native/sundials.c drives them."""

import contextlib
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.books import GAUSS_POINTS, GAUSS_WEIGHTS, KeptPowers
from tellegen.simulation.plain.crossings import Crossing, first_crossing
from tellegen.simulation.plain.halts import ends_at, gap, go_on_after, next_halt, pass_halt, stop_before, take_samples
from tellegen.simulation.plain.happenings import (
    Swings,
    chatters,
    check_guards,
    ends_stretch,
    jumps,
    log_events,
    rest_bends,
    wake_bends,
)
from tellegen.simulation.plain.job_view import Array, JobView, StoppedError
from tellegen.simulation.plain.multistep_solver import MultistepSolver
from tellegen.simulation.plain.newton import NewtonMethod
from tellegen.simulation.plain.past import known_past
from tellegen.simulation.plain.remembering import before_event, remember, remember_break
from tellegen.simulation.plain.turns import Turns
from tellegen.simulation.solvers import jobs

_HIGHEST_ORDER: Final = 5
_MARGIN: Final = 4.0
"""Where a function is zero, a condition may not be on its other side yet."""
_MOST_STUCK: Final = 100


def cvode_run(view: JobView) -> int:
    """Advance an explicit model to the end of a stretch."""
    return _run(view, implicit=False)


def ida_run(view: JobView) -> int:
    """Advance an implicit model to the end of a stretch."""
    return _run(view, implicit=True)


def _run(view: JobView, *, implicit: bool) -> int:
    solver = MultistepSolver(view, implicit=implicit)
    try:
        return _MultistepRun(view, solver).run()
    finally:
        solver.close()


@final
class _MultistepRun:
    """The loop over halts and steps."""

    def __init__(self, view: JobView, solver: MultistepSolver) -> None:
        self.view, self.job, self.solver = view, view.job, solver
        self.past = known_past(view.job.history)
        self.turns = Turns(view)
        self.powers = KeptPowers()
        self.newton = NewtonMethod(view) if solver.implicit else None
        self.jumps = bool(np.any(view.terminal == 0)) and bool(view.job.n_events)
        """Whether an event that stays in this stretch can change formulas."""
        self.guards = self.last_guards = np.zeros(0)
        self.swings = Swings(view)

    def run(self) -> int:
        """From halt to halt."""
        job, view = self.job, self.view
        self._begin()
        while True:
            before, halt = job.t, next_halt(view, self.past)
            try:
                self._advance(halt)
            except StoppedError as stopped:
                self._leave_rates(stopped.status)
                raise
            pass_halt(view, halt)
            self._set_rates()
            if ends_at(view, before, halt):
                return jobs.FINISHED
            job.t = go_on_after(view, halt)
            take_samples(view, before)
            self._restart()
            self._begin()
            if job.t >= job.until:
                return jobs.FINISHED
            check_guards(view)

    def _leave_rates(self, status: int) -> None:
        """Whoever asks why a run ended reads the rates, too, and what failed last."""
        if status <= jobs.EVENT or self.solver.implicit:
            return
        failed = self.view.context.failed
        with contextlib.suppress(StoppedError):
            self._set_rates()
        self.view.context.failed = failed or self.view.context.failed

    def _set_rates(self) -> None:
        """Those where the run stands; IDA keeps them itself."""
        if not self.solver.implicit:
            self.view.yp[:] = self.view.rhs(self.job.t, self.view.y)

    def _begin(self) -> None:
        """Rows, powers and the past where the run stands, after a break."""
        view = self.view
        self._set_rates()
        remember_break(view, self.past)
        self._begin_books()
        view.write_start()

    def _begin_books(self) -> None:
        if self.job.keep_books:
            self.powers.begin(self.job.t, self.view.powers(self.job.t, self.view.y, self.view.yp))

    def _restart(self) -> None:
        if self.newton is not None:
            self.newton.make_consistent(self.job.t, self.view.y, self.view.yp)
        self.solver.restart()

    def _arrives(self, stop: float) -> bool:
        """Whether no more than rounding of time is left, in which the library makes no step: then the run stands at `stop`."""
        if stop - self.job.t > gap(stop):
            return False
        self.job.t = self.job.progress = max(self.job.t, stop)
        self._begin()
        return True

    def _advance(self, halt: float) -> None:
        """One stretch without breaks."""
        job, view, solver = self.job, self.view, self.solver
        stop, stuck = stop_before(view, halt), 0
        if self._arrives(stop):
            return
        solver.stop_at(stop)
        if job.n_events:
            self.guards = view.events(job.t, view.y, view.yp)
            wake_bends(view, self.guards)
        while True:
            start = job.t
            reached, is_stop = solver.step(stop)
            job.steps += 1
            stuck = stuck + 1 if reached - start <= gap(reached) else 0
            if stuck > _MOST_STUCK:  # the library itself goes on until steps vanish
                raise StoppedError(jobs.TINY_STEP)
            crossing = self._crossing(reached) if job.n_events else None
            reached = reached if crossing is None else crossing.t
            y, yp = (solver.y, solver.yp) if crossing is None else solver.at(reached)
            self._accept(start, reached, y, yp, crossing)
            if crossing is not None:
                self._pass(crossing)
                if self._arrives(stop):
                    return
                solver.stop_at(stop)
            if (is_stop and crossing is None) or reached >= stop:
                return
            view.check_going_on()

    def _accept(self, start: float, reached: float, y: Array, yp: Array, crossing: Crossing | None) -> None:
        """Books, rows and the past of a step; the run stands at its end."""
        view, implicit = self.view, self.solver.implicit
        self._book(start, reached, y, yp)
        self._write_rows(reached)
        view.stand_at(reached, y, yp if implicit else None)
        self.turns.see(view.y)
        if self.past is not None:
            self._remember(start, breaks=crossing is not None and not ends_stretch(view, crossing.signs))

    def _write_rows(self, reached: float) -> None:
        view = self.view
        while (t := view.row_before(reached)) is not None:
            y, yp = self.solver.at(t)
            view.write_row(y, view.rates(t, y, yp) if not self.solver.implicit else yp)

    # -- books -----------------------------------------------------------------------------------------------------------------

    def _book(self, start: float, end: float, y: Array, yp: Array) -> None:
        view = self.view
        if not self.job.keep_books or end <= start:
            return
        if self.jumps:
            view.book(self._inside(start, end))
            return
        if not self.solver.implicit:
            yp = self.solver.at(end)[1]
        self.powers.note(end, view.powers(end, y, yp))
        energies = self.powers.energies()
        view.book(self._inside(start, end) if energies is None else energies)

    def _inside(self, start: float, end: float) -> Array:
        """By points inside the step: at an event powers jump, and of few steps the ends tell too little."""
        found = np.zeros(4)
        for point, weight in zip(GAUSS_POINTS, GAUSS_WEIGHTS, strict=True):
            t = start + point * (end - start)
            found += (end - start) * weight * self.view.powers(t, *self.solver.at(t))
        return found

    # -- events and delays -----------------------------------------------------------------------------------------------------

    def _point(self, t: float) -> tuple[Array, Array]:
        """Variables and rates inside the last step; of explicit models the rates of the right-hand side itself."""
        y, yp = self.solver.at(t)
        return y, yp if self.solver.implicit else self.view.rhs(t, y)

    def _crossing(self, reached: float) -> Crossing | None:
        view, start = self.view, self.job.t

        def guards(t: float) -> Array:
            return view.events(t, *self._point(t))

        times = [start, 0.5 * (start + reached), reached]
        crossing, self.last_guards = first_crossing(view, guards, times, self.guards, _MARGIN)
        if crossing is None:
            self.guards = self.last_guards
            wake_bends(view, self.guards)
        return crossing

    def _pass(self, crossing: Crossing) -> None:
        """Note an event; the run goes on behind it where it is not terminal."""
        view, t = self.view, crossing.t
        self._set_rates()
        if log_events(view, t, crossing.signs):
            raise StoppedError(jobs.EVENT)
        if jumps(view, crossing.signs) and (
            chatters(view, t) or self.swings.in_vain(crossing, (self.guards, self.last_guards))
        ):
            raise StoppedError(jobs.CHATTERING)
        self._restart()
        self._begin_books()
        self.guards = view.events(t, view.y, view.yp)
        wake_bends(view, self.guards)
        rest_bends(view, crossing.signs, self.guards, (self.last_guards,))

    def _remember(self, start: float, *, breaks: bool) -> None:
        """The last step, for delayed signals: as many points as the polynomial of the solver needs, and both sides of an event."""
        view, t = self.view, self.job.t
        times = [start + q * (t - start) / _HIGHEST_ORDER for q in range(1, _HIGHEST_ORDER)]
        for at in (*times, *([before_event(start, t)] if breaks else [])):
            remember(view, self.past, at, *self._point(at))
        self._set_rates()
        if breaks:
            remember_break(view, self.past)
        else:
            remember(view, self.past, t, view.y, view.yp)
