"""Where sensitivities jump: at the first samples, and at instants where the rates of a model do.

An instant moves with a parameter by dtau/dp: that of an event is -(dg/dy s + dg/dp) / (dg/dt), g the event function, that of a
scheduled one follows from its formula. A sensitivity then jumps by dtau/dp times the rates before less those after (the saltation
of the variational equations).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation import rules
from tellegen.simulation.starting import consistent_start, take_first_samples
from tellegen.simulation.stretch import PreparedModel, Settings, Standing

Array = NDArray[np.float64]
Integers = NDArray[np.int32]

MovedPast = Callable[[int, float], AbstractContextManager[None]]
"""Moves the past along a parameter by a little, for as long as the context lasts."""

NUDGE: Final = 6e-6
"""Of central differences: the cube root of the rounding unit."""

LARGEST_SHIFT: Final = 1e-2
HALVINGS: Final = 40
"""How far an event that jumps is looked for beside a parameter, as a share of the run, and how exactly."""

ASIDE: Final = 1e-9
"""How far from an event both sides of it are looked at, beside the length of the run."""


def nudge(value: float) -> float:
    """The step of central differences of a parameter."""
    return NUDGE * (abs(value) or 1.0)


def moved(model: NumericModel, context: Context, number: int, by: float) -> Context:
    """The same context with another value of one parameter."""
    values = context.parameters[: len(model.parameters)].copy()
    values[number] += by
    made = model.new_context(values, context.inputs[: len(model.inputs)].copy())
    made.memory[:] = context.memory
    made.share_past(context)
    return made


def consistent(plain: PreparedModel, context: Context, t: float, y: Array, yp: Array | None = None) -> Standing:
    """Rates and unknowns at a point, as exactly as rounding allows."""
    fine = Settings(1e-13, np.full(plain.model.size, 1e-15))
    return consistent_start(plain, context, fine, t, y, yp)


def first_held(
    model: NumericModel, context: Context, start: Standing, numbers: Integers, slopes: Array | None
) -> Array:
    """Let samples be taken at the start; gives d(memory)/dp afterwards, a row for each parameter."""
    found = np.zeros((len(numbers), max(len(model.memory), 1)))
    for k, number in enumerate(numbers):
        step = nudge(context.parameters[number])
        move = np.zeros(model.size) if slopes is None else np.asarray(slopes, dtype=float)[:, k]
        sides = []
        for by in (step, -step):
            aside = moved(model, context, int(number), by)
            y = start.y + by * move
            yp = model.rhs(start.t, y, aside) if model.explicit else start.yp
            take_first_samples(model, aside, Standing(start.t, y, yp))
            sides.append(aside.memory[: len(model.memory)].copy())
        found[k, : len(model.memory)] = (sides[0] - sides[1]) / (2.0 * step)
    take_first_samples(model, context, start)
    return found


def instant_slopes(
    plain: PreparedModel,
    context: Context,
    at: Standing,
    slopes: Array,
    held: Array,
    numbers: Integers,
    event: int,
    aside: float,
    moved_past: MovedPast,
) -> Array:
    """dtau/dp of an event for each parameter; `slopes` and `held` are dy/dp and d(memory)/dp before it, by parameter. `moved_past`
    lets delayed signals be what they would have been.

    Raises: SimulationError (S175) where the event function only touches zero: the instant is then no smooth function.
    """
    model = plain.model
    rates = consistent(plain, context, at.t - aside, at.y - aside * at.yp, at.yp).yp  # those before: they may jump here
    later, earlier = (_guards(plain, context, at.t - by, at.y - by * rates, at)[event] for by in (aside, 2.0 * aside))
    speed = (later - earlier) / aside
    found, grazes = np.zeros(len(numbers)), False
    for k, number in enumerate(numbers):
        step = nudge(context.parameters[number])

        def guard(by: float, after: float, k: int = k, number: int = int(number)) -> float:
            other = moved(model, context, number, by)
            other.memory[: len(model.memory)] += by * held[k, : len(model.memory)]
            with moved_past(k, by):
                y = at.y + by * slopes[k] + after * rates
                return float(_guards(plain, other, at.t + after, y, at)[event])

        found[k] = -(guard(step, 0.0) - guard(-step, 0.0)) / (2.0 * step)
        if speed == 0.0 and found[k] != 0.0:
            found[k], jumps = _moved_jump(guard, step, aside)
            grazes = grazes or not jumps
        else:
            found[k] /= speed or 1.0
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


def rates_aside(plain: PreparedModel, context: Context, at: Standing, aside: float) -> tuple[Array, Array]:
    """The rates on both sides of an instant."""
    before, after = (consistent(plain, context, at.t + by, at.y + by * at.yp, at.yp).yp for by in (-aside, aside))
    return before, after


def _guards(plain: PreparedModel, context: Context, t: float, y: Array, near: Standing) -> Array:
    there = consistent(plain, context, t, y, near.yp)
    return plain.model.event_values(t, there.y, there.yp, context)
