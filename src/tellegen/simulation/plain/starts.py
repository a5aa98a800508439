"""Starts: consistent rates and unknowns, and equilibria. The job gives t, y, yp and gets the answer back in y, yp."""

from typing import Final

import numpy as np

from tellegen.simulation.plain.job_view import Array, JobView, StoppedError
from tellegen.simulation.plain.newton import PRECISION, NewtonMethod
from tellegen.simulation.solvers import jobs

_QUIET: Final = 3
"""So many long steps that change nothing are rest."""
_LONG: Final = 1e6
_TRY_EVERY: Final = 6


def consistent(view: JobView) -> int:
    """Rates and algebraic unknowns that agree with the states."""
    NewtonMethod(view).make_consistent(view.job.t, view.y, view.yp)
    return jobs.FINISHED


def equilibrium(view: JobView) -> int:
    """F(t, y, 0) = 0 by Newton's method; where that fails, by implicit steps in time that grow as the motion dies away.

    `first_step` is the first step, `max_steps` how many of them.
    """
    newton = NewtonMethod(view)
    failed = _at_rest(newton, view.y, 60)
    if failed:
        _die_away(newton, failed)
    view.yp[:] = 0.0
    return jobs.FINISHED


def _at_rest(newton: NewtonMethod, y: Array, most_steps: int) -> int:
    """Look for the rest from where y is; moves y there and gives 0, or why there is none."""
    newton.on_y, newton.on_yp = np.ones(newton.view.block), np.zeros(newton.view.block)
    there, rest = y.copy(), np.zeros(len(y))
    try:
        newton.solve(newton.view.job.t, there, rest, most_steps)
    except StoppedError as stopped:
        return stopped.status
    y[:] = there
    return jobs.FINISHED


def _die_away(newton: NewtonMethod, failed: int) -> None:
    """Implicit steps in time. They keep what the motion keeps, so that the rest is the one where it leads."""
    view = newton.view
    job, first, step, quiet = view.job, view.job.first_step, view.job.first_step, 0
    for k in range(job.max_steps):
        if job.cancel:
            break
        y = view.y.copy()
        try:
            _implicit_step(newton, y, step)
        except StoppedError as stopped:
            step /= 8.0
            if step < 1e-12 * first:
                raise StoppedError(stopped.status) from None
            continue
        still = np.abs(y - view.y) <= PRECISION * (np.abs(y) + newton.floor)
        quiet = quiet + 1 if step > _LONG * first and bool(np.all(still)) else 0
        view.y[:] = y
        job.steps += 1
        step *= 4.0
        if quiet == _QUIET:
            return
        if step > 1e9 * first or k % _TRY_EVERY == _TRY_EVERY - 1:
            if not _at_rest(newton, view.y, 25):
                return
            if step > 1e15 * first:
                break
    raise StoppedError(failed)


def _implicit_step(newton: NewtonMethod, y: Array, step: float) -> None:
    view = newton.view
    moving = np.arange(view.block) < view.job.n_differential
    newton.on_y, newton.on_yp = np.ones(view.block), np.where(moving, 1.0 / step, 0.0)
    view.yp[:] = 0.0
    newton.solve(view.job.t, y, view.yp, 12)
