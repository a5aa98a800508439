"""Advancing by Taylor series of high order with the package heyoka, which compiles them for the model at hand."""

import contextlib
import time
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation import jobs
from tellegen.simulation.stretch import POLL_S, Rows, Settings, Standing, StretchEnd, Watch
from tellegen.simulation.taylor_formulas import constants, heyoka, rates_of, switching_times, taylor_system
from tellegen.simulation.trajectory import Effort

Array = NDArray[np.float64]

TOLERANCE: Final = float(np.finfo(float).eps)
"""Rounding, whatever is asked: steps follow from the largest variable only, and small ones beside it keep their digits too."""

LARGEST_WRITTEN_OUT: Final = 12
"""Models with more states are compiled as loops: written out, that would take seconds."""

_QUADRATURE: Final = 10
_CLOSE: Final = 4.0 * TOLERANCE


def taylor_stretch(
    model: NumericModel,
    context: Context,
    settings: Settings,
    rows: Rows,
    standing: Standing,
    until: float,
    watch: Watch,
) -> StretchEnd:
    """Advance to `until`, from one break to the next; rows are written on the way."""
    made = _Advance(model, context, settings, rows, watch)
    made.here = standing
    status = jobs.CANCELLED
    with contextlib.suppress(KeyboardInterrupt):
        status = made.to(until)
    return made.ended(status)


@final
class _Advance:
    """A run on its way: `here` is where it stands."""

    here: Standing

    def __init__(self, model: NumericModel, context: Context, settings: Settings, rows: Rows, watch: Watch) -> None:
        self.model, self.context, self.settings, self.rows, self.watch = model, context, settings, rows, watch
        self.rates = rates_of(model)
        self.known = constants(self.rates, context)
        self.steps = self.calls = 0
        self.energies = np.zeros(4)
        self.keep_books = settings.keep_books and "balance" in model.addresses
        self.points, self.weights = np.polynomial.legendre.leggauss(_QUADRATURE)
        self.looked = time.perf_counter()

    def to(self, until: float) -> int:
        """Advance to the end; the status of the last stretch."""
        start = self.here.t
        known = switching_times(self.rates, self.known) | set(self.model.break_times(until, start).tolist())
        for halt in (*sorted(t for t in known if start < t < until), until):
            status = self._smoothly(halt, last=halt == until)
            if status != jobs.FINISHED:
                return status
        return jobs.FINISHED

    def _smoothly(self, halt: float, *, last: bool) -> int:
        """Advance to a break: up to there one set of formulas holds."""
        start = self.here.t
        series = heyoka().taylor_adaptive(
            taylor_system(self.rates, self.known, 0.5 * (start + halt)),
            state=self.here.y.tolist(),
            time=start,
            tol=TOLERANCE,
            compact_mode=self.model.size > LARGEST_WRITTEN_OUT,
        )
        while halt - self.here.t > _CLOSE * abs(halt):
            if self.steps >= self.settings.max_steps:
                return jobs.MANY_STEPS
            if self._cancelled():
                return jobs.CANCELLED
            status = self._step(series, halt, last=last)
            if status != jobs.FINISHED:
                return status
        self.here = Standing(halt, self.here.y, self.here.yp)
        return jobs.FINISHED

    def _step(self, series: Any, halt: float, *, last: bool) -> int:
        before = self.here.t
        outcome, length = series.step(max_delta_t=min(halt - before, self.settings.max_step), write_tc=True)
        if outcome == heyoka().taylor_outcome.err_nf_state or not np.all(np.isfinite(series.state)):
            return jobs.NOT_FINITE
        self.steps += 1
        now = float(series.time)
        if length <= _CLOSE * abs(now) and halt - now > _CLOSE * abs(halt):
            return jobs.TINY_STEP
        try:
            self._write_rows(series, min(now, halt), halt, last=last)
            if self.keep_books:
                self._keep_books(series, before, now)
            self.here = Standing(now, np.array(series.state), self._rate(now, np.array(series.state)))
        except FloatingPointError:
            return jobs.NOT_FINITE
        return jobs.FINISHED

    def _write_rows(self, series: Any, now: float, halt: float, *, last: bool) -> None:
        """Rows up to now; one at a break belongs to what comes after it."""
        rows = self.rows
        arrived = halt - now <= _CLOSE * abs(halt)
        reached = halt if arrived else now
        while rows.done < len(rows.t) and (
            rows.t[rows.done] < reached or (rows.t[rows.done] == reached and (last or not arrived))
        ):
            t = float(rows.t[rows.done])
            rows.y[rows.done] = series.update_d_output(t)
            rows.yp[rows.done] = self._rate(t, rows.y[rows.done])
            rows.done += 1

    def _keep_books(self, series: Any, before: float, now: float) -> None:
        """The energies of a step, by the points of Gauss."""
        half = 0.5 * (now - before)
        for point, weight in zip(self.points, self.weights, strict=True):
            t = before + half * (1.0 + float(point))
            y = np.array(series.update_d_output(t))
            self.energies += half * weight * self.model.balance(t, y, self._rate(t, y), self.context)[:4]

    def _rate(self, t: float, y: Array) -> Array:
        self.calls += 1
        return self.model.rhs(t, y, self.context)

    def _cancelled(self) -> bool:
        """Whether someone outside wants the run to end; they are told the time now and then."""
        now = time.perf_counter()
        if self.watch.progress is not None and now - self.looked > POLL_S:
            self.looked = now
            self.watch.progress(self.here.t)
        return self.watch.cancel is not None and self.watch.cancel.is_set()

    def ended(self, status: int) -> StretchEnd:
        """How the run ended."""
        effort = Effort(self.steps, 0, self.calls)
        return StretchEnd(status, self.here, effort, self.energies, failed=self.context.failed)
