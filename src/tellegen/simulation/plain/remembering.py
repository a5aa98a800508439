"""What delayed signals will need of the present: written at the ends of steps and at breaks."""

import numpy as np

from tellegen.simulation.plain.halts import gap, next_sample
from tellegen.simulation.plain.job_view import Array, JobView
from tellegen.simulation.plain.past import PlainPast


def remember(view: JobView, past: PlainPast | None, t: float, y: Array, yp: Array) -> bool:
    """Keep an instant; gives whether it is a new one."""
    if past is None or past.knows(t):
        return False
    room = max(past.room, view.job.n_observables)
    return past.remember(t, view.observe(t, y, yp, room))


def remember_break(view: JobView, past: PlainPast | None) -> None:
    """Keep where the run stands, on the other side of a break, which will come back. A stretch that only goes on makes none."""
    if past is None:
        return
    new = remember(view, past, view.job.t, view.y, view.yp)
    past.breaks = False
    if new:
        t = past.break_at(view.job.t)
        past.expect_echoes(t, _age_of_break(view, past, t) + 1)


def before_event(start: float, t: float) -> float:
    """A time in the step from `start` that surely lies before the event found at `t`, which is found but for rounding."""
    return max(start, t - 16.0 * gap(t))


def _age_of_break(view: JobView, past: PlainPast, t: float) -> int:
    """How often the break at a time has come back already: not at all where an input or a sample makes it anew."""
    near = 4.0 * gap(t)
    if bool(np.any(np.abs(view.stops[: view.job.next_stop] - t) <= near)):
        return 0
    pairs = zip(view.periods.tolist(), view.offsets.tolist(), strict=True)
    if any(next_sample(t - near, period, offset) <= t + near for period, offset in pairs):
        return 0
    return past.age_of_echo(t)
