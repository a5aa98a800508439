"""What a model and its derivatives along parameters are made of: the struct of `slope_wrapper` as Python sees it."""

import ctypes
from collections.abc import Callable
from typing import Final, final

import numpy as np

from tellegen.compiler.context import TgContext, address_of
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.simulation.plain.halts import gap
from tellegen.simulation.plain.job_view import Array, doubles, integers
from tellegen.simulation.plain.past import PlainPast, known_past
from tellegen.simulation.solvers.jobs import SlopeWrapper

_NUDGE: Final = 6e-6
"""Of central differences: the cube root of the rounding unit."""


class FailedError(Exception):
    """A law of the model has no value."""


@final
class SlopeView:
    """A wrapper at a time, with its arrays and the functions of its model."""

    def __init__(self, address: int, t: float) -> None:
        self.struct, self.t = SlopeWrapper.from_address(address), t
        w = self.struct
        self.n, self.count, self.places = w.n, w.count, w.n_memory
        self.model = TgContext.from_address(w.model)
        self.parameters = integers(w.parameters, w.count)
        wide = max(w.n_memory, 1)
        self.held = doubles(w.held, w.count * wide).reshape(w.count, wide)
        self.held_before = doubles(w.held_before, w.count * wide).reshape(w.count, wide)

    def call(self, name: str, room: int, t: float, *arrays: Array | None, context: int | None = None) -> Array:
        """A function of the model with arrays."""
        out = np.zeros(room or 1)
        places = [None if a is None else address_of(a) for a in arrays]
        function = PROTOTYPES[name](getattr(self.struct, name))
        if function(self.struct.model if context is None else context, t, *places, address_of(out)):
            raise FailedError
        return out[:room]

    @property
    def memory(self) -> Array:
        """What the model holds."""
        return doubles(self.model.memory, self.places)

    @property
    def past(self) -> PlainPast | None:
        """Of delayed signals and, behind them, of their slopes."""
        return known_past(self.struct.history)

    def step_of(self, k: int) -> float:
        """How far parameter k is moved for differences."""
        value = ctypes.c_double.from_address(self.model.parameters + 8 * int(self.parameters[k])).value
        return _NUDGE * (abs(value) or 1.0)

    def move_past(self, k: int, by: float, *, with_delays: bool = False) -> None:
        """Let delayed signals be what they would have been with parameter k moved by a little."""
        self.struct.along, self.struct.shift = k, by
        self.struct.delay_shift = by if with_delays else 0.0

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def blocks(self, y: int, yp: int | None) -> Array:
        """F or, where no rates are given, f; then its derivatives along each parameter."""
        size = self.n * (1 + self.count)
        variables, rates = doubles(y, size), doubles(yp, size) if yp else None
        first = variables[: self.n]
        given = (first,) if rates is None else (first, rates[: self.n])
        name = "rhs" if rates is None else "residual"
        parts = [self.call(name, self.n, self.t, *given)]
        for k in range(self.count):
            block = slice(self.n * (k + 1), self.n * (k + 2))
            along = (variables[block],) if rates is None else (variables[block], rates[block])
            slope = self._tangent(name, given, along, k)
            parts.append(slope + self._of_memory(name, given, k) + self._of_past(name, given, k))
        return np.concatenate(parts)

    def _tangent(self, name: str, given: tuple[Array, ...], along: tuple[Array, ...], k: int) -> Array:
        highest = int(self.parameters.max(initial=0)) + 1
        direction = doubles(self.struct.direction, highest)
        direction[self.parameters[k]] = 1.0
        try:
            word = "rhs_tangent" if name == "rhs" else "tangent"
            return self.call(word, self.n, self.t, *given, *along, direction)
        finally:
            direction[self.parameters[k]] = 0.0

    def _of_memory(self, name: str, given: tuple[Array, ...], k: int) -> Array:
        """What is held changes with a parameter, too."""
        held = self.held[k, : self.places]
        size = float(np.max(np.abs(held), initial=0.0))
        if size == 0.0:
            return np.zeros(self.n)
        kept = self.memory.copy()
        step = _NUDGE * (float(np.max(np.abs(kept))) + 1e-3) / size

        def moved(by: float) -> Array:
            self.memory[:] = kept + by * held
            return self.call(name, self.n, self.t, *given)

        try:
            return (moved(step) - moved(-step)) / (2.0 * step)
        finally:
            self.memory[:] = kept

    def _of_past(self, name: str, given: tuple[Array, ...], k: int) -> Array:
        if self.past is None:
            return np.zeros(self.n)
        step = self.step_of(k)

        def moved(by: float) -> Array:
            self.move_past(k, by, with_delays=True)
            return self.call(name, self.n, self.t, *given)

        try:
            return (moved(step) - moved(-step)) / (2.0 * step)
        finally:
            self.move_past(k, 0.0)

    # -- samples and observables -----------------------------------------------------------------------------------------------

    def beside(self, k: int, by: float, y: int, yp: int, held: Array, function: Callable[..., Array]) -> Array:
        """A function of the model's context, variables and rates, with parameter k moved by a little."""
        block = slice(self.n * (k + 1), self.n * (k + 2))
        size = self.n * (1 + self.count)
        moved = [v[: self.n] + by * v[block] for v in (doubles(y, size), doubles(yp, size))]
        context = ctypes.c_void_p.from_address(self.struct.beside + 8 * (2 * k + (by < 0.0))).value
        assert context is not None, "samples and delays have contexts beside"
        memory = doubles(TgContext.from_address(context).memory, self.places)
        memory[:] = self.memory + by * held[k, : self.places]
        self.move_past(k, by)
        try:
            return function(context, memory, *moved)
        finally:
            self.move_past(k, 0.0)

    def sampled(self, group: int, context: int, memory: Array, y: Array, yp: Array) -> Array:
        """The memory after a sampling instant."""
        taken = memory.copy()
        function = PROTOTYPES["sample"](self.struct.sample)
        if function(context, self.t, address_of(y), address_of(yp), group, address_of(taken)):
            raise FailedError
        return taken

    def observed(self, context: int, _memory: Array, y: Array, yp: Array) -> Array:
        """Every observable."""
        return self.call("observe", self.struct.n_observables, self.t, y, yp, context=context)

    def note_held(self) -> None:
        """Write how what is held changes with parameters into the log."""
        w = self.struct
        if w.log_count < w.log_room:
            width = self.places * self.count + 1
            log = doubles(w.log, w.log_room * width).reshape(w.log_room, width)
            log[w.log_count, 0] = self.t - 2.0 * gap(self.t)  # a row at the instant itself is written after it
            log[w.log_count, 1:] = self.held[:, : self.places].ravel()
            w.log_count += 1
