"""Where a run must halt: breaks, sampling instants, breaks that come back through delays, and its end."""

import math

import numpy as np

from tellegen.simulation.plain.job_view import JobView, doubles
from tellegen.simulation.plain.past import PlainPast

_EPSILON = float(np.finfo(float).eps)


def gap(t: float) -> float:
    """Breaks are crossed by a few units in the last place on either side, so that conditions on time are seen before and after."""
    return 8.0 * _EPSILON * abs(t)


def next_halt(view: JobView, past: PlainPast | None) -> float:
    """The next time at which the integration must stop."""
    job = view.job
    t = job.t
    halt = float(job.until)
    later = np.searchsorted(view.stops, t + gap(t), side="right")
    if later < len(view.stops):
        halt = min(halt, float(view.stops[later]))
    for period, offset in zip(view.periods.tolist(), view.offsets.tolist(), strict=True):
        halt = min(halt, next_sample(t, period, offset))
    return halt if past is None else min(halt, past.next_echo(t))


def next_sample(t: float, period: float, offset: float) -> float:
    """The next instant of a sampled group strictly after t."""
    return offset + period * max(math.floor((t - offset + gap(t)) / period) + 1, 0)


def ends_at(view: JobView, before: float, halt: float) -> bool:
    """Whether a run is over at a halt. Samples that are due at its very end are still taken, as at any other instant."""
    return halt >= view.job.until and not any(due_groups(view, before, halt))


def due_groups(view: JobView, before: float, now: float) -> list[bool]:
    """Which groups take their samples, where the last halt was `before`."""
    pairs = zip(view.periods.tolist(), view.offsets.tolist(), strict=True)
    return [next_sample(before, period, offset) <= now + gap(now) for period, offset in pairs]


def stop_before(view: JobView, halt: float) -> float:
    """Where to stop before a halt."""
    return halt if ends_at(view, view.job.t, halt) else halt - gap(halt)


def go_on_after(view: JobView, halt: float) -> float:
    """Where to go on after a halt, without a sliver at the end."""
    return halt + gap(halt) if halt + 2.0 * gap(halt) < view.job.until else view.job.until


def take_samples(view: JobView, before: float) -> None:
    """Let the groups due at the present instant take their samples; all of them read the values from before it."""
    job = view.job
    due = due_groups(view, before, job.t)
    if not any(due):
        return
    held = view.memory.copy()
    following = held.copy()
    for group in (g for g, now in enumerate(due) if now):
        taken = view.sample(group)
        changed = taken != held
        following[changed] = taken[changed]
    view.memory[:] = following
    if job.sample_log and job.n_sampled < job.sample_room:
        width = job.n_memory + 1
        log = doubles(job.sample_log, job.sample_room * width).reshape(job.sample_room, width)
        log[job.n_sampled, 0] = job.t - 2.0 * gap(job.t)  # a row at the instant itself is written after it
        log[job.n_sampled, 1:] = following
        job.n_sampled += 1


def pass_halt(view: JobView, halt: float) -> None:
    """Note that the breaks up to a halt lie behind."""
    view.job.next_stop = max(view.job.next_stop, int(np.searchsorted(view.stops, halt, side="right")))
