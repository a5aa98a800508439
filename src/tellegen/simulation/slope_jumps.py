"""Where sensitivities jump: at the first samples, and at events where the rates of a model do."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.starting import take_first_samples
from tellegen.simulation.stretch import Standing, StretchEnd

Array = NDArray[np.float64]
Integers = NDArray[np.int32]

NUDGE: Final = 6e-6
"""Of central differences: the cube root of the rounding unit."""

ASIDE: Final = 1e-9
"""How far from an event both sides of it are looked at, beside the length of the run."""


def first_held(
    model: NumericModel, context: Context, start: Standing, numbers: Integers, slopes: Array | None
) -> Array:
    """Let samples be taken at the start; gives d(memory)/dp afterwards, a row for each parameter."""
    found = np.zeros((len(numbers), max(len(model.memory), 1)))
    for k, number in enumerate(numbers):
        step = NUDGE * (abs(context.parameters[number]) or 1.0)
        move = np.zeros(model.size) if slopes is None else np.asarray(slopes, dtype=float)[:, k]
        sides = []
        for by in (step, -step):
            moved = _moved(model, context, int(number), by)
            y = start.y + by * move
            yp = model.rhs(start.t, y, moved) if model.explicit else start.yp
            take_first_samples(model, moved, Standing(start.t, y, yp))
            sides.append(moved.memory[: len(model.memory)].copy())
        found[k, : len(model.memory)] = (sides[0] - sides[1]) / (2.0 * step)
    take_first_samples(model, context, start)
    return found


def after_event(model: NumericModel, context: Context, end: StretchEnd, numbers: Integers, span: float) -> Standing:
    """Where a run goes on after an event of an explicit model.

    The instant moves with a parameter by -(dg/dy s + dg/dp) / (dg/dt), g the event function, and s jumps by that times the rates
    before less those after (the saltation of the variational equations).
    """
    at, n = end.standing, model.size
    y, slopes = at.y[:n], at.y[n:].reshape(len(numbers), n).copy()
    aside = ASIDE * span
    rate = model.rhs(at.t, y, context)
    earlier, later = (model.rhs(at.t + by, y + by * rate, context) for by in (-aside, aside))
    for event in np.flatnonzero(end.signs):
        along = _guard(model, context, at.t + aside, y + aside * later) - _guard(
            model, context, at.t - aside, y - aside * earlier
        )
        speed = along[event] / (2.0 * aside)
        if speed == 0.0 or np.allclose(earlier, later, rtol=1e-6, atol=0.0):
            continue
        for k, number in enumerate(numbers):
            slopes[k] -= (
                (earlier - later) * _guard_slope(model, context, at.t, y, slopes[k], int(number))[event] / speed
            )
        break  # several at once are one jump of the rates
    return Standing(at.t, np.concatenate([y, slopes.ravel()]), at.yp)


def _guard(model: NumericModel, context: Context, t: float, y: Array) -> Array:
    return model.event_values(t, y, model.rhs(t, y, context), context)


def _guard_slope(model: NumericModel, context: Context, t: float, y: Array, slope: Array, number: int) -> Array:
    """How the event functions change along a sensitivity, with the parameter itself."""
    step = NUDGE * (abs(context.parameters[number]) or 1.0)
    sides = [_guard(model, _moved(model, context, number, by), t, y + by * slope) for by in (step, -step)]
    return np.asarray((sides[0] - sides[1]) / (2.0 * step))


def _moved(model: NumericModel, context: Context, number: int, by: float) -> Context:
    """The same context with another value of one parameter."""
    values = context.parameters[: len(model.parameters)].copy()
    values[number] += by
    moved = model.new_context(values, context.inputs[: len(model.inputs)].copy())
    moved.memory[:] = context.memory
    return moved
