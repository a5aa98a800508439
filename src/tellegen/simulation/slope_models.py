"""A model together with its derivatives along parameters, as the solvers see it: one wider model."""

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context, TgContext
from tellegen.compiler.numeric_model import PROTOTYPES, NumericModel, native_addresses
from tellegen.core.names import did_you_mean, listing
from tellegen.simulation import jobs, rules
from tellegen.simulation.delays import Past, new_past
from tellegen.simulation.native_library import can_compile, native_library, solver
from tellegen.simulation.plain.slopes import MOVED_PAST, plain_addresses
from tellegen.simulation.slope_jumps import moved, nudge
from tellegen.simulation.slope_wrapper import FUNCTIONS, SlopeWrapper
from tellegen.simulation.stretch import PreparedModel, Rows, Settings, Standing, instants, make_job

Array = NDArray[np.float64]
Integers = NDArray[np.int32]

DelaySlopes = Mapping[str, tuple[Array, Array]]
"""How delays and their initial values change with each parameter, by the names of the delayed signals."""


@final
class SlopeModel:
    """y of a model, then dy/dp for each parameter p asked for.

    `held` is d(memory)/dp, a row for each parameter. `settings` have the tolerances of the wider model: those of dy/dp are those of
    y over the size of the parameter.
    """

    def __init__(
        self, plain: PreparedModel, context: Context, numbers: Integers, settings: Settings, *, through_modes: bool
    ) -> None:
        model, count = plain.model, len(numbers)
        self.model, self.context, self.numbers, self.plain = model, context, numbers, plain
        self.prepared = replace(
            plain, blocks=1 + count, addresses=_addresses(model), terminal=_terminal(plain, through_modes=through_modes)
        )
        sizes = [abs(context.parameters[k]) or 1.0 for k in numbers]
        self.settings = replace(
            settings, atol=np.concatenate([settings.atol, *(settings.atol / size for size in sizes)])
        )
        self.held = np.zeros((count, max(len(model.memory), 1)))
        self._held_before = np.zeros_like(self.held)
        self._room = np.zeros(5 * max(model.size, len(model.memory), 1))
        self._direction = np.zeros(max(len(model.parameters), 1))
        self._log = np.zeros((0, 1))
        self._struct = self._wrapped()
        self.past: Past | None = None
        if model.sample_groups:
            self._look_beside()

    def delay(self, slopes: DelaySlopes, past: Past | None = None) -> None:
        """Let delayed signals be repeated with their sensitivities, from the start of a run on; `past` is that of another mode."""
        model, count = self.model, len(self.numbers)
        if not model.delays:
            return
        by, initial = (np.zeros((count, len(model.delays))) for _ in range(2))
        for i, delayed in enumerate(model.delays):
            by[:, i], initial[:, i] = slopes.get(delayed.name, (0.0, 0.0))
        self.past, self._by_slopes = past or new_past(model, self.context, initial), by
        self._observed = np.zeros(2 * len(model.observables))
        self._struct.history, self._struct.by_slopes = self.past.address, by.ctypes.data
        self._struct.n_delays, self._struct.n_observables = len(model.delays), len(model.observables)
        self._struct.observed = self._observed.ctypes.data
        told = native_library("sensitivities").tg_moved_past if can_compile() else MOVED_PAST
        self.context.remember(ctypes.cast(told, ctypes.c_void_p).value, self.address)
        self._look_beside()

    def _look_beside(self) -> None:
        """Contexts with a little more and a little less of each parameter, for what no tangent tells: samples and delays."""
        steps = [nudge(self.context.parameters[k]) for k in self.numbers]
        self._contexts = [
            moved(self.model, self.context, int(k), by)
            for k, step in zip(self.numbers, steps, strict=True)
            for by in (step, -step)
        ]
        self._beside = (ctypes.c_void_p * len(self._contexts))(*(c.address for c in self._contexts))
        self._struct.beside = ctypes.addressof(self._beside)

    @property
    def address(self) -> int:
        """Where the context that solvers are given lies."""
        return ctypes.addressof(self._struct)

    def begin(self, start: Standing, slopes: Array) -> Standing:
        """The start with its sensitivities (parameters by variables); those of algebraic unknowns and rates follow."""
        model, count = self.model, len(self.numbers)
        y = np.concatenate([start.y, np.ascontiguousarray(slopes).ravel()])
        wide = Standing(start.t, y, np.concatenate([start.yp, np.zeros(count * model.size)]))
        if model.explicit:
            return wide
        empty = Rows.at(np.zeros(0), self.prepared.width)
        job, arrays = make_job(self.prepared, self.context, self.settings, empty, wide, np.inf, address=self.address)
        if solver("steady", "tg_consistent")(job) != jobs.FINISHED:
            raise rules.NOT_CONSISTENT.error(
                f"the sensitivities of the algebraic unknowns at t = {start.t:g} s were not found", where=model.name
            )
        return Standing(start.t, arrays.y, arrays.yp)

    @contextmanager
    def moved_past(self, k: int, by: float) -> Iterator[None]:
        """Delayed signals as they would have been with parameter k moved by a little; whoever reads moves the parameter itself."""
        self._struct.along, self._struct.shift = k, by
        try:
            yield
        finally:
            self._struct.shift = 0.0

    def expect_samples(self, duration: float) -> None:
        """Room for the sampling instants of a stretch; forgets those before it."""
        self._log = np.zeros((len(self.model.sample_groups) * instants(self.model, duration), 1 + self._entry))
        self._struct.log = self._log.ctypes.data
        self._struct.log_room, self._struct.log_count = len(self._log), 0
        self._struct.sampled_at = -np.inf

    def held_at(self, times: Array, first: Array) -> Array:
        """d(memory)/dp at times of the stretch: rows, parameters, places; `first` is what it was at its start."""
        places = len(self.model.memory)
        start = np.concatenate([[-np.inf], first[:, :places].ravel()])
        log = np.vstack([start, self._log[: self._struct.log_count]])
        found = log[np.searchsorted(log[:, 0], times, side="right") - 1, 1:]
        return np.asarray(found.reshape(len(times), len(self.numbers), places))

    @property
    def _entry(self) -> int:
        return len(self.numbers) * len(self.model.memory)

    def _wrapped(self) -> SlopeWrapper:
        model, struct = self.model, SlopeWrapper()
        ctypes.memmove(ctypes.addressof(struct.head), self.context.address, ctypes.sizeof(TgContext))
        struct.model = self.context.address
        for name in FUNCTIONS:
            setattr(struct, name, model.addresses.get(name))
        struct.n, struct.count, struct.n_memory = model.size, len(self.numbers), len(model.memory)
        struct.parameters, struct.direction = self.numbers.ctypes.data, self._direction.ctypes.data
        struct.held, struct.held_before = self.held.ctypes.data, self._held_before.ctypes.data
        struct.room, struct.sampled_at = self._room.ctypes.data, -np.inf
        return struct


def parameter_numbers(model: NumericModel, parameters: Sequence[str]) -> Integers:
    """The places of parameters in a model.

    Raises: SimulationError (S126) for a name that is none.
    """
    for name in parameters:
        if name not in model.parameters:
            raise rules.NO_SENSITIVITY.error(
                f"there is no parameter '{name}'",
                where=model.name,
                fix=did_you_mean(name, model.parameters) or f"the parameters are {listing(model.parameters)}",
            )
    return np.array([model.parameters.index(name) for name in parameters], dtype=np.int32)


def _terminal(plain: PreparedModel, *, through_modes: bool) -> Integers:
    """Which events end a stretch: those where rates jump; transitions are known from the run before, where there are any."""
    kinds = [event.kind for event in plain.model.events]
    if through_modes:
        return np.array([int(kind != "transition") for kind in kinds] or [0], dtype=np.int32)
    return np.ones_like(plain.terminal)


def _addresses(model: NumericModel) -> dict[str, int]:
    ours = native_addresses(native_library("sensitivities")) if can_compile() else plain_addresses()
    # rates and powers of a model side by side would have the powers where the slopes belong
    assert ours.keys() == PROTOTYPES.keys() - {"rhs_powers"}, "the wrapper passes on every other function of a model"
    return {name: address for name, address in ours.items() if name in model.addresses}
