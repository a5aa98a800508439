"""The past of delayed signals: written by the solvers at the end of each step, read by the model."""

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.solvers.jobs import History
from tellegen.simulation.solvers.library import library

Integers = NDArray[np.int32]

GENERATIONS = 4
"""A jump comes back after the delay, smoother by one order each time: so often it is treated as a break."""
MOST_GENERATIONS, MOST_BREAKS = 100_000, 20_000
"""The same where nothing smooths it, and how many breaks are told before a run."""


@final
class Past:
    """What delayed signals were, from the start of a run on. It lives as long as the context that reads it."""

    def __init__(self, model: NumericModel, context: ModelContext, slopes: Array | None = None) -> None:
        """`slopes` are those of the initial values, by parameter: the past then keeps them behind what it keeps of the signals."""
        more = np.zeros(0) if slopes is None else slopes.ravel()
        beyond = np.arange(len(model.observables), len(model.observables) + len(more))
        # Slopes of delayed signals stand behind the observables: to C they are further signals with delays.
        observables = np.array([*(d.observable for d in model.delays), *beyond], dtype=np.int32)
        delays = np.resize([d.by for d in model.delays], len(model.delays) + len(more)).astype(float)
        initial = np.array([*(d.initial for d in model.delays), *more])
        self._hold(observables, delays, initial, len(model.observables) + len(more))
        self.struct.most_echoes = _generations(model)
        self.tie(context)

    def _hold(self, observables: Integers, delays: Array, initial: Array, width: int) -> None:
        # Kept, for C holds only their addresses.
        self._observables, self._delays, self._initial, self._scratch = observables, delays, initial, np.zeros(width)
        self._forget = library().tg_forget
        self._forget.argtypes = [ctypes.c_void_p]
        self.struct = History()
        self.struct.n_delays = len(observables)
        self.struct.observables = observables.ctypes.data
        self.struct.delays = delays.ctypes.data
        self.struct.initial = initial.ctypes.data
        self.struct.scratch = self._scratch.ctypes.data
        self.struct.most_echoes = GENERATIONS
        # Kept, for the context holds only its address.
        self._tell = library().tg_past

    # Addresses mean nothing in another process: the columns that C wrote go there, and into memory of its own.
    def __getstate__(self) -> tuple[object, ...]:
        told, count = self.struct, self.struct.count
        lengths = (8 * count, 8 * count * told.n_delays, count)
        columns = [
            ctypes.string_at(at, n) for at, n in zip((told.times, told.values, told.fresh), lengths, strict=True) if n
        ]
        kept = self._observables, self._delays, self._initial, len(self._scratch)
        return *kept, told.most_echoes, told.start, count, columns

    def __setstate__(self, kept: tuple[Any, ...]) -> None:
        *arrays, most_echoes, start, count, columns = kept
        self._hold(*arrays)
        self.struct.most_echoes, self.struct.start = most_echoes, start
        recall = library().tg_recall
        recall.argtypes = [ctypes.c_void_p, ctypes.c_int64, *3 * [ctypes.c_char_p]]
        if not recall(self.address, count, *(columns or 3 * [None])):
            raise MemoryError("no memory for the past of delayed signals")

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return ctypes.addressof(self.struct)

    def tie(self, context: ModelContext) -> None:
        """Let the context of another mode of the same graph read this past."""
        context.remember(ctypes.cast(self._tell, ctypes.c_void_p).value, self.address)

    def begin(self, model: NumericModel, before: Mapping[str, float]) -> None:
        """Let delayed signals have been something else before the start, by name."""
        for k, delay in enumerate(model.delays):
            self._initial[k] = before.get(delay.name, self._initial[k])

    def forget_last(self) -> None:
        """Forget the last instant, which is told again."""
        self.struct.count -= 1

    def mark_break(self) -> None:
        """Signals may jump at the last instant: it is told again from the other side."""
        self.struct.breaks = 1

    def follow(self, model: NumericModel) -> None:
        """Write what the model of another mode of the same graph tells from now on."""
        own, seen = len(model.delays), len(model.observables)
        self._observables[:own] = [d.observable for d in model.delays]
        self._observables[own:] = np.arange(seen, seen + len(self._observables) - own)
        # Another mode may observe more than the first one did.
        if len(self._scratch) < seen + len(self._observables) - own:
            self._scratch = np.zeros(seen + len(self._observables) - own)
            self.struct.scratch = self._scratch.ctypes.data

    def __del__(self) -> None:
        # C has allocated the columns as they grew.
        self._forget(self.address)


def past_of(model: NumericModel, context: ModelContext, before: Mapping[str, float]) -> Past | None:
    """The past that a model needs, tied to its context; None without delayed signals. `before` as in a Problem."""
    if not model.delays:
        return None
    past = Past(model, context)
    past.begin(model, before)
    return past


def longest_delay_step(model: NumericModel) -> float:
    """A step may not reach beyond what the past already tells."""
    return min((d.by for d in model.delays), default=np.inf)


def _generations(model: NumericModel) -> int:
    return MOST_GENERATIONS if any(d.returns for d in model.delays) else GENERATIONS


def delayed_breaks(model: NumericModel, breaks: Iterable[float], start: float, until: float) -> Array:
    """The breaks known before a run, with those that come back through delays. What is sampled jumps, and comes back too."""
    # Delays on delays: each generation is the one before, later by every delay there is.
    found = {*breaks, *(_sampling_instants(model, until) if model.delays else ())}
    fresh = found | {start}
    for _ in range(_generations(model) if model.delays else 0):
        fresh = {later for t in fresh for d in model.delays if (later := t + d.by) < until} - found
        found |= fresh
        if not fresh or len(found) > MOST_BREAKS:
            break
    return np.array(sorted(t for t in found if start < t < until))


def _sampling_instants(model: NumericModel, until: float) -> Iterator[float]:
    if np.isfinite(until):
        for group in model.sample_groups:
            yield from group.instants(until).tolist()
