"""Where a mode begins, where it is a moment later, and its guards at both: what the choice among modes looks at."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.mode_models import ModeModel
from tellegen.simulation.starting import consistent_start
from tellegen.simulation.stretch import Settings, Standing

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class Beginning:
    """A consistent start, and the event functions there and a moment later, as plain numbers: one by one they are read faster."""

    standing: Standing
    before: list[float]
    after: list[float]


def beginning(model: ModeModel, settings: Settings, t: float, y: Array, probe: float) -> Beginning:
    """The beginning of a mode from its states, which are kept.

    Raises: SimulationError where it has no consistent start; FloatingPointError where a guard has no value.
    """
    if model.model.explicit:
        lookout: _Lookout = model.plans.get("lookout") or model.plans.setdefault(
            "lookout", _Lookout(model.model, model.context)
        )
        if (found := lookout.look(t, y, probe)) is not None:
            return found
    start = consistent_start(model.prepared, model.context, settings, t, y)
    later = consistent_start(
        model.prepared, model.context, settings, t + probe, _ahead(model.model, start, probe), start.yp
    )
    return Beginning(start, _guards(model, start), _guards(model, later))


def guard_bands(model: ModeModel, settings: Settings, at: Standing) -> Array:
    """By how much errors of the states that are within the tolerance move the event functions, at most."""
    numeric, moving = model.model, model.model.size - len(model.model.unknowns)
    here, bands = np.array(_guards(model, at)), np.zeros(len(numeric.events))
    for k in range(moving):
        y = at.y.copy()
        y[k] += settings.atol[k] + settings.rtol * abs(y[k])
        moved = consistent_start(model.prepared, model.context, settings, at.t, y, at.yp)
        bands += np.abs(np.array(_guards(model, moved)) - here)
    return bands


def _ahead(model: NumericModel, at: Standing, probe: float) -> Array:
    """y a moment later; algebraic unknowns are solved for anyway."""
    y = at.y.copy()
    moving = model.size - len(model.unknowns)
    y[:moving] += probe * at.yp[:moving]
    return y


def _guards(model: ModeModel, at: Standing) -> list[float]:
    values: list[float] = model.model.event_values(at.t, at.y, at.yp, model.context).tolist()
    return values


@final
class _Lookout:
    """Functions of one explicit model tied to arrays that serve again and again: changes of mode come by the thousand."""

    def __init__(self, model: NumericModel, context: Context) -> None:
        self._size, self._events = model.size, len(model.events)
        self._y, self._yp = np.zeros(max(model.size, 1)), np.zeros(max(model.size, 1))
        self._guards = np.zeros(max(self._events, 1))
        self._rates = model.prepared_call("rhs", self._y, self._yp, context=context)
        self._watch = model.prepared_call("events", self._y, self._yp, self._guards, context=context)

    def look(self, t: float, y: Array, probe: float) -> Beginning | None:
        """The beginning, or None where something has no value: the long way round tells what."""
        here, rates, n = self._y, self._yp, self._size
        here[:n] = y
        if self._rates(t) or self._watch(t):
            return None
        start, before = Standing(t, y, rates[:n].copy()), self._guards[: self._events].tolist()
        here += probe * rates
        if self._rates(t + probe) or self._watch(t + probe):
            return None
        return Beginning(start, before, self._guards[: self._events].tolist())
