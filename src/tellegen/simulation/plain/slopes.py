"""A model and its derivatives along parameters as one model, in Python: y, then one block dy/dp for each parameter.

Solvers see the struct of `slope_wrapper` as the context; what they call is passed on to the model with its own context. Tangents of
models know nothing of what sampled signals hold, nor of the past: what these do is found by central differences, as in
native/sensitivities.c.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tellegen.compiler.context import PAST, TgContext
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.simulation.plain.job_view import Array, doubles
from tellegen.simulation.plain.past import known_past
from tellegen.simulation.plain.slope_view import FailedError, SlopeView
from tellegen.simulation.solvers.jobs import SlopeWrapper

_UNCHANGED: Final = 1e-9


def _passed(context: int, t: float, work: Callable[[SlopeView], None]) -> int:
    """0, or 1 where the model has no value; what failed is told in the wrapper."""
    view = SlopeView(context, t)
    try:
        work(view)
    except FailedError:
        view.struct.head.failed = view.model.failed
        return 1
    return 0


def _rhs(context: int, t: float, y: int, out: int) -> int:
    def work(view: SlopeView) -> None:
        doubles(out, view.n * (1 + view.count))[:] = view.blocks(y, None)

    return _passed(context, t, work)


def _residual(context: int, t: float, y: int, yp: int, out: int) -> int:
    def work(view: SlopeView) -> None:
        doubles(out, view.n * (1 + view.count))[:] = view.blocks(y, yp)

    return _passed(context, t, work)


def _passing_on(name: str) -> Callable[..., int]:
    """A function of the model as it is."""

    def function(context: int, t: float, *places: int | None) -> int:
        w = SlopeWrapper.from_address(context)
        bad = int(PROTOTYPES[name](getattr(w, name))(w.model, t, *places))
        w.head.failed = TgContext.from_address(w.model).failed
        return bad

    return function


def _sample(context: int, t: float, y: int, yp: int, group: int, memory: int) -> int:
    """The memory after the instant, and how it changes: entries that the group does not write stay as they were."""

    def work(view: SlopeView) -> None:
        w = view.struct
        if t != w.sampled_at:
            view.held_before[:] = view.held
        w.sampled_at = t
        for k in range(view.count):
            step = view.step_of(k)

            def moved(by: float, k: int = k) -> Array:
                return view.beside(k, by, y, yp, view.held_before, lambda *at: view.sampled(group, *at))

            slope = (moved(step) - moved(-step)) / (2.0 * step)
            before = view.held_before[k, : view.places]
            changed = np.abs(slope - before) > _UNCHANGED * (np.abs(slope) + np.abs(before))
            view.held[k, : view.places][changed] = slope[changed]
        view.note_held()
        at = (doubles(y, view.n), doubles(yp, view.n))
        doubles(memory, view.places)[:] = view.sampled(group, w.model, doubles(memory, view.places), *at)

    return _passed(context, t, work)


def _observe(context: int, t: float, y: int, yp: int, out: int) -> int:
    def work(view: SlopeView) -> None:
        w, past = view.struct, view.past
        seen, delays = w.n_observables, w.n_delays
        if past is None:
            if PROTOTYPES["observe"](w.observe)(w.model, t, y, yp, out):
                raise FailedError
            return
        room = doubles(out, seen + view.count * delays)
        room[:seen] = view.observed(w.model, view.memory, doubles(y, view.n), doubles(yp, view.n))
        places = past.observables[:delays]
        for k in range(view.count):
            step = view.step_of(k)
            above, below = (view.beside(k, by, y, yp, view.held, view.observed) for by in (step, -step))
            room[seen + k * delays : seen + (k + 1) * delays] = ((above - below) / (2.0 * step))[places]

    return _passed(context, t, work)


def _moved_past(wrapper: int, i: int, t: float) -> float:
    """What delayed signals were, for the model: moved along a parameter where that is asked for."""
    w = SlopeWrapper.from_address(wrapper)
    past = known_past(w.history)
    assert past is not None, "whoever reads the past has one"
    if w.shift == 0.0:
        return past.value(i, t)
    by = ctypes.c_double.from_address(w.by_slopes + 8 * (w.along * w.n_delays + i)).value
    return past.value(i, t - w.delay_shift * by) + float(w.shift) * past.value(w.n_delays * (1 + w.along) + i, t)


MOVED_PAST: Final = PAST(_moved_past)
"""Tells a model with slopes what delayed signals were."""

_CALLBACKS: Final[dict[str, Any]] = {
    name: PROTOTYPES[name](function)
    for name, function in {
        "rhs": _rhs,
        "residual": _residual,
        "sample": _sample,
        "observe": _observe,
        **{name: _passing_on(name) for name in ("tangent", "rhs_tangent", "balance", "powers", "events")},
    }.items()
}


def plain_addresses() -> dict[str, int]:
    """Where solvers call the wrapper's functions."""
    return {name: ctypes.cast(callback, ctypes.c_void_p).value or 0 for name, callback in _CALLBACKS.items()}
