"""Where event functions pass zero within a step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.simulation.plain.halts import gap
from tellegen.simulation.plain.job_view import Array, Integers, JobView

Guards = Callable[[float], Array]
"""The event functions at a time of the present step."""

_PEAK_ROUNDS: Final = 6


@final
@dataclass(frozen=True)
class Crossing:
    """The time just after event functions passed zero, and which: 1 rising, -1 falling, 0 not involved."""

    t: float
    signs: Integers


def crosses(view: JobView, before: Array, after: Array) -> NDArray[np.bool_]:
    """Which event functions pass zero, in the direction that counts."""
    rising, falling = (before < 0.0) & (after >= 0.0), (before > 0.0) & (after <= 0.0)
    either = np.where(view.directions < 0, falling, rising | falling)
    return np.asarray(np.where(view.directions > 0, rising, either) & (view.bands == 0.0), dtype=bool)


def first_crossing(
    view: JobView, guards: Guards, times: Sequence[float], start: Array, margin: float
) -> tuple[Crossing | None, Array]:
    """The first crossing of a step, looked for at some times of it and where a function turns back between them.

    `start` are the functions at the first of the times. A crossing is told `margin` units of time beyond it. Gives the functions
    at the last time that was looked at, too.
    """
    known = [start]
    for k in range(1, len(times)):
        known.append(guards(times[k]))
        low, high, found = k - 1, times[k], known[k]
        if not crosses(view, known[low], found).any():
            hidden = _hidden_event(view, guards, times[k - 2 : k + 1], known[k - 2 : k + 1]) if k > 1 else None
            if hidden is None:
                continue
            high, found = hidden
            low = k - 2 if high < times[k - 1] else k - 1
        return _closed_in(view, guards, (times[low], high), (known[low], found), margin, times[-1])
    return None, known[-1]


def _closed_in(
    view: JobView, guards: Guards, times: tuple[float, float], known: tuple[Array, Array], margin: float, end: float
) -> tuple[Crossing | None, Array]:
    """A crossing between two times, closed in from both sides; the step ends at `end`."""
    (low, high), (low_g, high_g) = times, known
    rounds = 0
    while high - low > gap(high):
        at = _look_at(view, (low, high), (low_g, high_g), rounds)
        if not low < at < high:
            break
        g = guards(at)
        if crosses(view, low_g, g).any():
            high, high_g = at, g
        else:
            low, low_g = at, g
        rounds += 1
    if margin > 0.0:
        high = min(high + margin * gap(high), end)
        high_g = guards(high)
    passed = crosses(view, low_g, high_g)
    return Crossing(high, np.where(passed, np.where(low_g < 0.0, 1, -1), 0).astype(np.int32)), high_g


def _look_at(view: JobView, times: tuple[float, float], known: tuple[Array, Array], rounds: int) -> float:
    """Where to look next: a little beyond where a straight line leads; every third time in the middle."""
    (low, high), (low_g, high_g) = times, known
    middle, width = 0.5 * (low + high), high - low
    passing = np.flatnonzero(crosses(view, low_g, high_g))
    if rounds % 3 == 2 or not len(passing):
        return middle
    e = passing[0]
    x = low + width * float(low_g[e] / (low_g[e] - high_g[e]))
    x += 0.02 * width if x < middle else -0.02 * width
    return x if low < x < high else middle


def _hidden_event(
    view: JobView, guards: Guards, times: Sequence[float], known: Sequence[Array]
) -> tuple[float, Array] | None:
    """A function may pass zero and come back between three times at which it has not passed it: parabolas lead to its peak."""
    for e in np.flatnonzero(known[1]):
        side = 1.0 if known[1][e] < 0.0 else -1.0
        if view.directions[e] * side < 0 or view.bands[e] > 0.0:
            continue
        found = _peak(guards, int(e), side, list(times), [side * float(g[e]) for g in known])
        if found is not None:
            return found
    return None


def _peak(
    guards: Guards, event: int, side: float, times: list[float], values: list[float]
) -> tuple[float, Array] | None:
    (low, middle, high), (u, v, w) = times, values
    for _ in range(_PEAK_ROUNDS):
        a, b = middle - low, middle - high
        bend = a * (v - w) - b * (v - u)
        if not bend > 0.0:
            return None
        x = middle - 0.5 * (a * a * (v - w) - b * b * (v - u)) / bend
        if not low < x < high or abs(x - middle) <= 1e-6 * (high - low):
            return None
        peak = u * (x - middle) * (x - high) / (a * (high - low)) + v * (x - low) * (x - high) / (a * b)
        peak += w * (x - low) * (x - middle) / ((high - low) * -b)
        if not peak > -0.25 * (max(u, v, w) - min(u, v, w)):
            return None
        g = guards(x)
        y = side * float(g[event])
        if y >= 0.0:
            return x, g
        better = y > v
        if (x > middle) == better:
            low, u = (middle, v) if better else (x, y)
        else:
            high, w = (middle, v) if better else (x, y)
        if better:
            middle, v = x, y
    return None
