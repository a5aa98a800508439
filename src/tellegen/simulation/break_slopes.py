"""Scheduled instants that move with parameters: the end of a pulse whose width is one, a step at a time that is one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.equations.system import parameter_values
from tellegen.expressions import ZERO, Expression, number
from tellegen.graph import PowerGraph
from tellegen.graph.signals import Delayed, Value
from tellegen.simulation.delays import GENERATIONS
from tellegen.simulation.slope_jumps import nudge

Array = NDArray[np.float64]

NEAR: Final = 64.0 * float(np.finfo(float).eps)
"""Instants that differ by less than this share are one: solvers cross a break by a few units in the last place."""


@final
@dataclass(frozen=True)
class _Moving:
    """A break at `at`, then after every `period`, and how both change with each parameter."""

    at: float
    period: float
    by_at: Array
    by_period: Array

    @property
    def moves(self) -> bool:
        """Whether any parameter moves it."""
        return bool(np.any(self.by_at) or np.any(self.by_period))

    def later(self, by: float, slopes: Array) -> "_Moving":
        """The same a time later."""
        return _Moving(self.at + by, self.period, self.by_at + slopes, self.by_period)

    def count(self, t: float) -> float:
        return round((t - self.at) / self.period) if self.period > 0.0 else 0.0


@final
@dataclass(frozen=True)
class MovingBreaks:
    """The scheduled instants of a run that may change with the parameters asked for.

    Where several fall together the first one counts: what jumps there is what the signals themselves do, before what comes back
    through delays, which is smoother.
    """

    breaks: tuple[_Moving, ...] = ()

    def slopes(self, t: float) -> Array | None:
        """dt/dp by parameter of the instant at t; None where there is none that moves."""
        for known in self.breaks:
            k = known.count(t)
            if k >= 0 and abs(known.at + k * known.period - t) <= NEAR * max(abs(t), abs(known.at)):
                found = known.by_at + k * known.by_period
                return found if np.any(found) else None
        return None

    def returning(self, t: float, by: Array, delays: Sequence[tuple[float, Array]]) -> "MovingBreaks":
        """The same, and the returns of an instant that moves by `by` through delays, each a time and how it changes."""
        fresh, found = [_Moving(t, 0.0, by, np.zeros(len(by)))], list[_Moving]()
        for _ in range(GENERATIONS):
            fresh = [known.later(*delay) for known in fresh for delay in delays]
            found += fresh
        return MovingBreaks((*self.breaks, *found))

    def between(self, start: float, until: float) -> Array:
        """The instants that move strictly between two times, in order."""
        times: list[Array] = [np.zeros(0)]
        for known in self.breaks:
            if not known.moves:
                continue
            if known.period <= 0.0:
                times.append(np.array([known.at]))
                continue
            first = max(0.0, np.ceil((start - known.at) / known.period))
            last = np.floor((until - known.at) / known.period)
            times.append(known.at + known.period * np.arange(first, last + 1.0))
        found = np.unique(np.concatenate(times))
        found = found[np.diff(found, prepend=-np.inf) > NEAR * np.abs(found)]
        gaps = NEAR * np.abs(found)
        return np.asarray(found[(found - gaps > start) & (found + gaps < until)])


NOTHING_MOVES: Final = MovingBreaks()


def moving_breaks(graph: PowerGraph, parameters: Sequence[str]) -> MovingBreaks:
    """The scheduled instants of the signals of a graph, and those that come back through delays, with what moves them."""
    look = _Slopes(graph, parameters)
    breaks = {b for signal in graph.signals if isinstance(signal, Value) for b in signal.breaks}
    fresh = [look.moving(b.at, b.period or ZERO) for b in breaks]
    fresh.sort(key=lambda known: (not known.moves, known.at, known.period))
    found = list(fresh)
    delays = [look.moving(signal.by, ZERO) for signal in graph.signals if isinstance(signal, Delayed)]
    if delays:
        fresh.append(look.moving(ZERO, ZERO))  # the start itself
    for _ in range(GENERATIONS if delays else 0):
        fresh = [known.later(by.at, by.by_at) for known in fresh for by in delays]
        found += fresh
    return MovingBreaks(tuple(found)) if any(known.moves for known in found) else NOTHING_MOVES


def delay_slopes(graph: PowerGraph, parameters: Sequence[str]) -> dict[str, tuple[Array, Array]]:
    """How the delays of a graph and their initial values change with parameters, by the names of the delayed signals."""
    look = _Slopes(graph, parameters)
    delays = [signal for signal in graph.signals if isinstance(signal, Delayed)]
    return {signal.name: (look.of(signal.by), look.of(signal.initial)) for signal in delays}


@final
class _Slopes:
    """Values of formulas of parameters, and how they change with some of them, by central differences."""

    def __init__(self, graph: PowerGraph, parameters: Sequence[str]) -> None:
        self._values = parameter_values(graph.parameters)
        self._steps = [nudge(self._values.get(name, 0.0)) for name in parameters]
        self._sides = [
            [_beside(graph, name, self._values.get(name, 0.0) + by) for by in (step, -step)]
            for name, step in zip(parameters, self._steps, strict=True)
        ]

    def moving(self, at: Expression, period: Expression) -> _Moving:
        """An instant that comes again after each period."""
        known = self._values
        return _Moving(at.evaluate(known), period.evaluate(known), self.of(at), self.of(period))

    def of(self, formula: Expression) -> Array:
        """The slopes of a formula, by parameter."""
        sides = zip(self._sides, self._steps, strict=True)
        return np.array([(formula.evaluate(up) - formula.evaluate(down)) / (2.0 * step) for (up, down), step in sides])


def _beside(graph: PowerGraph, name: str, value: float) -> Mapping[str, float]:
    return parameter_values({**graph.parameters, name: number(value)})
