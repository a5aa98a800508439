"""What is noted of events, and which of them are looked for again."""

import math
from collections.abc import Sequence
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.crossings import Crossing
from tellegen.simulation.plain.job_view import Array, Integers, JobView, StoppedError, doubles, integers
from tellegen.simulation.solvers import jobs

_MANY_INSTANTS: Final = 16384
_MOST_INSTANTS: Final = 1e9
_LONGER: Final = 1.1
_SHORTER: Final = 0.5
_MANY_SMALL_SWINGS: Final = 4096

# -- bends that rest -----------------------------------------------------------------------------------------------------------


def wake_bends(view: JobView, g: Array) -> None:
    """A bend is looked for again after its function has left the band in which tolerances alone would move it to and fro."""
    view.bands[np.abs(g) > view.bands] = 0.0


def rest_bends(view: JobView, signs: Integers, g: Array, others: Sequence[Array] = ()) -> None:
    """Bends rest that were found where the run stands: their bands are as wide as functions are off by tolerances.

    `g` are the event functions there, `others` further ones to which they are compared.
    """
    found = (signs != 0) & (view.bends != 0)
    if not found.any():
        return
    size = view.atol + view.job.rtol * np.abs(view.y)
    mixed = 2.0 * np.mod(0.618 * np.arange(1, view.n + 1), 1.0) - 1.0  # what variables have in common may cancel
    for off in (*others, *_guards_off(view, (mixed * size, size))):
        view.bands[found] = np.maximum(view.bands, np.abs(off - g))[found]


def _guards_off(view: JobView, by: Sequence[Array]) -> list[Array]:
    """The event functions where variables are moved a little; not where they have no value."""
    found = []
    for moved in by:
        y = view.y + moved
        try:
            found.append(view.events(view.job.t, y, view.rates(view.job.t, y, view.yp)))
        except StoppedError:
            continue
    return found


# -- what is noted -------------------------------------------------------------------------------------------------------------


def ends_stretch(view: JobView, signs: Integers) -> bool:
    """Whether one of the events that happen together is terminal."""
    return bool(np.any((signs != 0) & (view.terminal != 0)))


def jumps(view: JobView, signs: Integers) -> bool:
    """Whether formulas jump at one of them. At a bend nothing can stay: the motion is the same on both sides."""
    return bool(np.any((signs != 0) & (view.bends == 0)))


def log_events(view: JobView, t: float, signs: Integers) -> bool:
    """Note the events of an instant; gives whether one of them is terminal."""
    job = view.job
    times, numbers = doubles(job.event_times, job.log_size), integers(job.event_numbers, job.log_size)
    for e in np.flatnonzero(signs):
        if job.n_logged < job.log_size:
            times[job.n_logged], numbers[job.n_logged] = t, e
            job.n_logged += 1
    terminal = ends_stretch(view, signs)
    if terminal:
        integers(job.event_signs, job.n_events)[:] = signs
    return terminal


def chatters(view: JobView, t: float) -> bool:
    """Count an instant of events; whether they follow each other ever faster, as on the border between two formulas."""
    job = view.job
    job.n_instants += 1
    n = job.n_instants
    if n & (n - 1):
        return False
    at = [t, *job.doubled[:-1]]
    job.doubled[:] = at
    if n < _MANY_INSTANTS:
        return False
    for k in range(len(at) - 2):
        if not _SHORTER <= (at[k] - at[k + 1]) / (at[k + 1] - at[k + 2]) <= _LONGER:
            return False
    return bool(job.until - t > (at[0] - at[1]) * math.log2(_MOST_INSTANTS / n))


def check_guards(view: JobView) -> None:
    """After a break or a sample the guard of a mode may have jumped above zero without a crossing: the mode ends there."""
    if not view.job.n_events:
        return
    g = view.events(view.job.t, view.y, view.yp)
    signs = ((view.terminal != 0) & (view.directions > 0) & (g > 0.0)).astype(np.int32)
    if signs.any() and log_events(view, view.job.t, signs):
        raise StoppedError(jobs.EVENT)


@final
class Swings:
    """How far event functions swing between events: thousands of swings that tolerances cannot see are no motion."""

    def __init__(self, view: JobView) -> None:
        self._view = view
        self._widest = 0.0

    def in_vain(self, crossing: Crossing, known: Sequence[Array]) -> bool:
        """Note the functions known before an event; whether thousands of swings were too small for the tolerance to see."""
        passed = crossing.signs != 0
        self._widest = max(self._widest, *(float(np.max(np.abs(g[passed]))) for g in known))
        n = self._view.job.n_instants
        if n & (n - 1):
            return False
        size = self._view.atol + self._view.job.rtol * np.abs(self._view.y)
        off = _guards_off(self._view, (size,)) if n >= _MANY_SMALL_SWINGS else []
        if any(bool(np.any(np.abs(g[passed]) > self._widest)) for g in off):
            self._view.job.detail = 1
            return True
        self._widest = 0.0
        return False
