"""The past of delayed signals, kept in Python."""

import bisect
import itertools
from collections.abc import Mapping
from typing import Final, final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import PAST, ModelContext
from tellegen.compiler.numeric_model import NumericModel

Array = NDArray[np.float64]

POINTS: Final = 8
"""Of the polynomial by which the past is read."""

_EPSILON: Final = float(np.finfo(float).eps)
_KNOWN: "WeakValueDictionary[int, PlainPast]" = WeakValueDictionary()
_NUMBERS: Final = itertools.count(1)


def _gap(t: float) -> float:
    return 8.0 * _EPSILON * abs(t)


@final
class PlainPast:
    """What delayed signals were at the ends of steps, from the start of a run on, and the breaks that will come back.

    The first `count` times are known; `fresh` says whether a time begins a new piece, with a break just before it.
    """

    def __init__(self, model: NumericModel, slopes: Array | None, most_echoes: int) -> None:
        more = np.zeros(0) if slopes is None else slopes.ravel()
        seen = len(model.observables)
        self.observables = np.array([*(d.observable for d in model.delays), *(seen + np.arange(len(more)))], dtype=int)
        self.delays = np.resize([d.by for d in model.delays], len(model.delays) + len(more)).astype(float)
        self.initial = np.array([*(d.initial for d in model.delays), *more])
        self.address = next(_NUMBERS)
        self.times: list[float] = []
        self.values: list[Array] = []
        self.fresh: list[bool] = []
        self.breaks = False
        self.most_echoes = most_echoes
        self.echoes: list[tuple[float, int]] = []
        _KNOWN[self.address] = self

    # -- what whoever looks after a run does with it ---------------------------------------------------------------------------

    def tie(self, context: ModelContext) -> None:
        """Let the context of another mode of the same graph read this past."""
        context.remember(_TELL, self.address)

    def begin(self, model: NumericModel, before: Mapping[str, float]) -> None:
        """Let delayed signals have been something else before the start, by name."""
        for k, delay in enumerate(model.delays):
            self.initial[k] = before.get(delay.name, self.initial[k])

    def forget_last(self) -> None:
        """Forget the last instant, which is told again."""
        for told in (self.times, self.values, self.fresh):
            told.pop()

    def mark_break(self) -> None:
        """Signals may jump at the last instant: it is told again from the other side."""
        self.breaks = True

    def follow(self, model: NumericModel) -> None:
        """Write what the model of another mode of the same graph tells from now on."""
        own, seen = len(model.delays), len(model.observables)
        self.observables[:own] = [d.observable for d in model.delays]
        self.observables[own:] = np.arange(seen, seen + len(self.observables) - own)

    # -- what solvers do with it -----------------------------------------------------------------------------------------------

    @property
    def room(self) -> int:
        """How many observables it reads, those of sensitivities included."""
        return int(self.observables.max(initial=-1)) + 1

    def remember(self, t: float, observed: Array) -> bool:
        """Keep an instant; gives whether it is a new one."""
        if self.knows(t):
            return False
        self.times.append(t)
        self.values.append(observed[self.observables])
        self.fresh.append(False)
        return True

    def knows(self, t: float) -> bool:
        """Whether an instant is kept already, and need not be told from its other side."""
        return bool(self.times) and self.times[-1] >= t and not (self.breaks and self.times[-1] == t)

    def break_at(self, t: float) -> float:
        """The last instant lies on the other side of a break, whose time this gives."""
        last = len(self.times) - 1
        self.fresh[last] = last > 0
        return 0.5 * (self.times[last - 1] + t) if last else t

    def expect_echoes(self, t: float, age: int) -> None:
        """A break that has come back `age` times will come back after each delay."""
        for delay in self.delays.tolist() if age <= self.most_echoes else ():
            self._expect(t + delay, age)

    def next_echo(self, t: float) -> float:
        """The next break that comes back; those that have passed are dropped."""
        while self.echoes and self.echoes[0][0] <= t + 4.0 * _gap(t):
            self.echoes.pop(0)
        return self.echoes[0][0] if self.echoes else np.inf

    def age_of_echo(self, t: float) -> int:
        """How often the break at a time has come back already."""
        near = 4.0 * _gap(t)
        return next((age for at, age in self.echoes if abs(at - t) <= near), 0)

    def _expect(self, t: float, age: int) -> None:
        """One that is there already, but for rounding, counts as the younger of both."""
        at = bisect.bisect_right(self.echoes, (t + 4.0 * _gap(t), self.most_echoes))
        if at and self.echoes[at - 1][0] >= t - 4.0 * _gap(t):
            known, its = self.echoes[at - 1]
            self.echoes[at - 1] = known, min(age, its)
        else:
            self.echoes.insert(at, (t, age))

    # -- reading ---------------------------------------------------------------------------------------------------------------

    def value(self, k: int, t: float) -> float:
        """What delayed signal k was: a polynomial through points around a time, on this side of any break."""
        times = self.times
        if not times or t < times[0]:
            return float(self.initial[k])
        if t >= times[-1]:
            return float(self.values[-1][k])
        low = bisect.bisect_right(times, t) - 1
        high = low + 1
        if self.fresh[high]:
            return float(self.values[low if t - times[low] < times[high] - t else high][k])
        points = self._points(low, high)
        at = np.array([times[i] for i in points])
        apart = at[:, None] - at[None, :]
        np.fill_diagonal(apart, 1.0)
        shares = np.tile(t - at, (len(at), 1))
        np.fill_diagonal(shares, 1.0)
        weights = np.prod(shares / apart, axis=1)
        return float(weights @ np.array([self.values[i][k] for i in points]))

    def _points(self, low: int, high: int) -> list[int]:
        """Steps are tiny after a restart: points closer to each other than half the step that is read are passed over."""
        least = 0.5 * (self.times[high] - self.times[low])
        points, ends = [low, high], {-1: low, 1: high}
        taken = {-1: 0, 1: 0}
        while len(points) < POINTS and ends:
            side = -1 if -1 in ends and (1 not in ends or taken[-1] <= taken[1]) else 1
            found = self._point_beside(ends[side], side, least)
            if found is None:
                del ends[side]
                continue
            points.append(found)
            taken[side] += 1
            ends[side] = found
        return points

    def _point_beside(self, start: int, side: int, least: float) -> int | None:
        i = start
        while 0 <= i + side < len(self.times) and not self.fresh[i if side < 0 else i + 1]:
            i += side
            if abs(self.times[i] - self.times[start]) >= least:
                return i
        return None


def known_past(address: int | None) -> PlainPast | None:
    """The past of an address in a job."""
    return _KNOWN.get(address) if address else None


def _told(address: int, k: int, t: float) -> float:
    return _KNOWN[address].value(k, t)


_TELL: Final = PAST(_told)
