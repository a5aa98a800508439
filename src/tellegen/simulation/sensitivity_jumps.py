"""Where sensitivities jump: at the first samples, at events, and at scheduled instants that move with parameters.

An instant moves with a parameter by dtau/dp: that of an event is -(dg/dy s + dg/dp) / (dg/dt), g the event function, that of a
scheduled one follows from its formula. A sensitivity then jumps by dtau/dp times the rates before less those after (the saltation
of the variational equations).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, final

import numpy as np

from tellegen.compiler.context import Array, Integers, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.equations.system import parameter_values
from tellegen.expressions import ZERO, Expression, number
from tellegen.graph import PowerGraph
from tellegen.graph.signals import Delayed, Table, Value, breaks_of_table
from tellegen.simulation import rules
from tellegen.simulation.solvers.delays import GENERATIONS
from tellegen.simulation.solvers.stretch import PreparedModel, SolverSettings, StatePoint
from tellegen.simulation.starting import consistent_start, take_first_samples

if TYPE_CHECKING:
    from tellegen.simulation.sensitivities import SensitivityModel

NUDGE: Final = 6e-6
"""Of central differences: the cube root of the rounding unit."""

LARGEST_SHIFT: Final = 1e-2
HALVINGS: Final = 40
"""How far an event that jumps is looked for beside a parameter, as a share of the run, and how exactly."""

ASIDE: Final = 1e-9
"""How far from an event both sides of it are looked at, beside the length of the run."""


def difference_step(value: float) -> float:
    """The step of central differences of a parameter."""
    return NUDGE * (abs(value) or 1.0)


def context_with_parameter(model: NumericModel, context: ModelContext, number: int, by: float) -> ModelContext:
    """The same context with another value of one parameter."""
    values = context.parameters[: len(model.parameters)].copy()
    values[number] += by
    made = model.new_context(values, context.inputs[: len(model.inputs)].copy())
    made.memory[:] = context.memory
    made.share_past(context)
    return made


def consistent_point(
    plain: PreparedModel, context: ModelContext, t: float, y: Array, yp: Array | None = None
) -> StatePoint:
    """Rates and unknowns at a point, as exactly as rounding allows."""
    # Differences of such points are taken: what Newton leaves open would be divided by a small step.
    fine = SolverSettings(1e-13, np.full(plain.model.size, 1e-15))
    return consistent_start(plain, context, fine, t, y, yp)


def first_sample_slopes(
    model: NumericModel, context: ModelContext, start: StatePoint, numbers: Integers, slopes: Array | None
) -> Array:
    """Let samples be taken at the start; gives d(memory)/dp afterwards, a row for each parameter."""
    found = np.zeros((len(numbers), max(len(model.memory), 1)))
    for k, which in enumerate(numbers):
        step = difference_step(context.parameters[which])
        move = np.zeros(model.size) if slopes is None else np.asarray(slopes, dtype=float)[:, k]
        sides = []
        for by in (step, -step):
            aside = context_with_parameter(model, context, int(which), by)
            y = start.y + by * move
            yp = model.rhs(start.t, y, aside) if model.explicit else start.yp
            take_first_samples(model, aside, StatePoint(start.t, y, yp))
            sides.append(aside.memory[: len(model.memory)].copy())
        found[k, : len(model.memory)] = (sides[0] - sides[1]) / (2.0 * step)
    # At last for the run itself: the two sides have started from the memory before.
    take_first_samples(model, context, start)
    return found


def event_time_slopes(
    wide: "SensitivityModel", at: StatePoint, slopes: Array, held: Array, event: int, aside: float
) -> Array:
    """dtau/dp of an event for each parameter; `slopes` and `held` are dy/dp and d(memory)/dp before it, by parameter.

    Raises: SimulationError (S175) where the event function only touches zero: the instant is then no smooth function.
    """
    plain, context, model = wide.plain, wide.context, wide.model
    rates = consistent_point(
        plain, context, at.t - aside, at.y - aside * at.yp, at.yp
    ).yp  # those before: they may jump here
    # Both on the near side of the event: the guard may bend or jump behind it.
    later, earlier = (_guards(plain, context, at.t - by, at.y - by * rates, at)[event] for by in (aside, 2.0 * aside))
    speed = (later - earlier) / aside
    found, grazes = np.zeros(len(wide.numbers)), False
    for k, which in enumerate(wide.numbers):
        step = difference_step(context.parameters[which])

        def guard(by: float, after: float, k: int = k, number: int = int(which)) -> float:
            other = context_with_parameter(model, context, number, by)
            other.memory[: len(model.memory)] += by * held[k, : len(model.memory)]
            with wide.moved_past(k, by):
                y = at.y + by * slopes[k] + after * rates
                return float(_guards(plain, other, at.t + after, y, at)[event])

        found[k] = -(guard(step, 0.0) - guard(-step, 0.0)) / (2.0 * step)
        # A guard that jumps, as that of a switch does, has no slope in time: the jump itself is looked for.
        if speed == 0.0 and found[k] != 0.0:
            found[k], jumps = _moved_jump(guard, step, aside)
            grazes = grazes or not jumps
        else:
            found[k] /= speed or 1.0
            # An instant that moves by more than the length of the run, for a tiny step of the parameter, has no slope.
            grazes = grazes or abs(found[k]) * step > aside / ASIDE
    if grazes:
        raise rules.GRAZING.error(
            f"at t = {at.t:.6g} s '{model.events[event].element}' only touches the limit of its mode",
            where=model.name,
            fix="choose values at which it passes the limit, or use differences of two runs",
            members=(model.events[event].element,),
        )
    return found


def _moved_jump(guard: Callable[[float, float], float], step: float, aside: float) -> tuple[float, bool]:
    """dtau/dp of an event function that jumps, as that of a switch does: where it jumps beside the parameter; whether it does."""
    instants = []
    for by in (step, -step):
        reach = aside
        # Wider and wider, until the jump lies inside.
        while (guard(by, -reach) > 0.0) == (guard(by, reach) > 0.0):
            reach *= 4.0
            if reach > LARGEST_SHIFT * aside / ASIDE:
                return 0.0, False
        low, high, before = -reach, reach, guard(by, -reach) > 0.0
        for _ in range(HALVINGS):
            half = 0.5 * (low + high)
            low, high = (half, high) if (guard(by, half) > 0.0) == before else (low, half)
        instants.append(0.5 * (low + high))
    return (instants[0] - instants[1]) / (2.0 * step), True


def rates_on_both_sides(
    plain: PreparedModel, context: ModelContext, at: StatePoint, aside: float
) -> tuple[Array, Array]:
    """The rates on both sides of an instant."""
    before, after = (consistent_point(plain, context, at.t + by, at.y + by * at.yp, at.yp).yp for by in (-aside, aside))
    return before, after


def _guards(plain: PreparedModel, context: ModelContext, t: float, y: Array, near: StatePoint) -> Array:
    there = consistent_point(plain, context, t, y, near.yp)
    return plain.model.event_values(t, there.y, there.yp, context)


NEAR: Final = 64.0 * float(np.finfo(float).eps)
"""Instants that differ by less than this share are one: solvers cross a break by a few units in the last place."""


@final
@dataclass(frozen=True)
class _DependentBreak:
    """A break at `at`, and every `period` before and after it, and how both change with each parameter."""

    at: float
    period: float
    by_at: Array
    by_period: Array

    @property
    def moves(self) -> bool:
        """Whether any parameter moves it."""
        return bool(np.any(self.by_at) or np.any(self.by_period))

    def later(self, by: float, slopes: Array) -> "_DependentBreak":
        """The same a time later."""
        return _DependentBreak(self.at + by, self.period, self.by_at + slopes, self.by_period)

    def count(self, t: float) -> float:
        return round((t - self.at) / self.period) if self.period > 0.0 else 0.0


@final
@dataclass(frozen=True)
class ParameterDependentBreaks:
    """The scheduled instants of a run that may change with the parameters asked for.

    Where several fall together the first one counts: what jumps there is what the signals themselves do, before what comes back
    through delays, which is smoother.
    """

    breaks: tuple[_DependentBreak, ...] = ()

    def slopes(self, t: float) -> Array | None:
        """dt/dp by parameter of the instant at t; None where there is none that moves."""
        for known in self.breaks:
            k = known.count(t)
            if abs(known.at + k * known.period - t) <= NEAR * max(abs(t), abs(known.at)):
                found = known.by_at + k * known.by_period
                # The first one that falls here counts, also when it does not move: it is what the signal itself does.
                return found if np.any(found) else None
        return None

    def returning(self, t: float, by: Array, delays: Sequence[tuple[float, Array]]) -> "ParameterDependentBreaks":
        """The same, and the returns of an instant that moves by `by` through delays, each a time and how it changes."""
        fresh, found = [_DependentBreak(t, 0.0, by, np.zeros(len(by)))], list[_DependentBreak]()
        for _ in range(GENERATIONS):
            fresh = [known.later(*delay) for known in fresh for delay in delays]
            found += fresh
        return ParameterDependentBreaks((*self.breaks, *found))

    def between(self, start: float, until: float) -> Array:
        """The instants that move strictly between two times, in order."""
        times: list[Array] = [np.zeros(0)]
        for known in self.breaks:
            if not known.moves:
                continue
            if known.period <= 0.0:
                times.append(np.array([known.at]))
                continue
            first = np.ceil((start - known.at) / known.period)
            last = np.floor((until - known.at) / known.period)
            times.append(known.at + known.period * np.arange(first, last + 1.0))
        found = np.unique(np.concatenate(times))
        # Several that fall together are one stop: between them there would be no time to advance.
        found = found[np.diff(found, prepend=-np.inf) > NEAR * np.abs(found)]
        gaps = NEAR * np.abs(found)
        return np.asarray(found[(found - gaps > start) & (found + gaps < until)])


NOTHING_MOVES: Final = ParameterDependentBreaks()


def parameter_dependent_breaks(graph: PowerGraph, parameters: Sequence[str]) -> ParameterDependentBreaks:
    """The scheduled instants of the signals of a graph, and those that come back through delays, with what moves them."""
    look = _Slopes(graph, parameters)
    breaks = {b for signal in graph.signals if isinstance(signal, Value) for b in signal.breaks}
    # Between straight lines and cubics a rate only bends: no sensitivity jumps there.
    held = (s for s in graph.signals if isinstance(s, Table) and s.interpolation == "previous")
    breaks |= {b for table in held for b in breaks_of_table(table, table.argument, graph.parameters)[0]}
    fresh = [look.dependent_break(b.at, b.period or ZERO) for b in breaks]
    # Those that move first, so that they count where several fall together; then by time, for a set has no order.
    fresh.sort(key=lambda known: (not known.moves, known.at, known.period))
    found = list(fresh)
    delays = [look.dependent_break(signal.by, ZERO) for signal in graph.signals if isinstance(signal, Delayed)]
    if delays:
        fresh.append(look.dependent_break(ZERO, ZERO))  # the start itself
    for _ in range(GENERATIONS if delays else 0):
        fresh = [known.later(by.at, by.by_at) for known in fresh for by in delays]
        found += fresh
    return ParameterDependentBreaks(tuple(found)) if any(known.moves for known in found) else NOTHING_MOVES


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
        self._steps = [difference_step(self._values.get(name, 0.0)) for name in parameters]
        self._sides = [
            [
                parameter_values({**graph.parameters, name: number(self._values.get(name, 0.0) + by)})
                for by in (step, -step)
            ]
            for name, step in zip(parameters, self._steps, strict=True)
        ]

    def dependent_break(self, at: Expression, period: Expression) -> _DependentBreak:
        """An instant that comes again after each period."""
        known = self._values
        return _DependentBreak(at.evaluate(known), period.evaluate(known), self.of(at), self.of(period))

    def of(self, formula: Expression) -> Array:
        """The slopes of a formula, by parameter."""
        sides = zip(self._sides, self._steps, strict=True)
        return np.array([(formula.evaluate(up) - formula.evaluate(down)) / (2.0 * step) for (up, down), step in sides])
