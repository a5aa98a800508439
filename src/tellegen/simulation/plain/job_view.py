"""A job as Python sees it: its arrays, and the functions of its model."""

import ctypes
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import TgContext, address_of
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.jobs import Job

Array = NDArray[np.float64]
Integers = NDArray[np.int32]


class StoppedError(Exception):
    """A run cannot go on; `status` is one of `jobs`."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@final
class JobView:
    """The arrays of a job, which are written in place, and the functions of its model with arrays.

    Functions raise StoppedError (not finite) where a law has no value.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.n = job.n
        self.block = job.n // max(job.blocks, 1)
        self.context = TgContext.from_address(job.context)
        self.y, self.yp, self.atol = (doubles(place, job.n) for place in (job.y, job.yp, job.atol))
        self.times = doubles(job.times, job.n_times)
        self.out_y, self.out_yp = (
            doubles(place, job.n_times * job.n).reshape(job.n_times, job.n) for place in (job.out_y, job.out_yp)
        )
        self.stops = doubles(job.stops, job.n_stops)
        self.periods, self.offsets = doubles(job.periods, job.n_groups), doubles(job.offsets, job.n_groups)
        self.directions, self.terminal, self.bends = (
            integers(place, job.n_events) for place in (job.directions, job.terminal, job.bends)
        )
        self.bands = np.zeros(job.n_events)
        """Of bends that rest: they wake where their functions leave these."""
        self.explicit = bool(job.rhs)
        self._functions = {name: _function(name, place) for name in PROTOTYPES if (place := getattr(job, name))}

    @property
    def memory(self) -> Array:
        """What is held between sampling instants."""
        return doubles(self.context.memory, self.job.n_memory)

    def rhs(self, t: float, y: Array) -> Array:
        """f(t, y)."""
        self.job.rhs_calls += 1
        return self._call("rhs", self.n, t, y)

    def residual(self, t: float, y: Array, yp: Array) -> Array:
        """F(t, y, yp)."""
        self.job.rhs_calls += 1
        return self._call("residual", self.n, t, y, yp)

    def rhs_tangent(self, t: float, y: Array, dy: Array) -> Array:
        """df/dy dy of the first block."""
        return self._call("rhs_tangent", self.block, t, y, dy, None)

    def tangent(self, t: float, y: Array, yp: Array, dy: Array, dyp: Array) -> Array:
        """dF/dy dy + dF/dyp dyp of the first block."""
        return self._call("tangent", self.block, t, y, yp, dy, dyp, None)

    def powers(self, t: float, y: Array, yp: Array) -> Array:
        """Supplied, dissipated, generated, work of modulation."""
        name, room = ("powers", 4) if "powers" in self._functions else ("balance", 5)
        return self._call(name, room, t, y, yp)[:4]

    def energy(self, t: float, y: Array, yp: Array) -> float:
        """What is stored."""
        return float(self._call("balance", 5, t, y, yp)[4])

    def events(self, t: float, y: Array, yp: Array) -> Array:
        """The event functions."""
        return self._call("events", self.job.n_events, t, y, yp)

    def observe(self, t: float, y: Array, yp: Array, room: int) -> Array:
        """Every observable, and what a wrapper writes behind them, up to `room` of them."""
        return self._call("observe", room, t, y, yp)

    def sample(self, group: int) -> Array:
        """The memory after the present sampling instant of a group."""
        taken = self.memory.copy()
        function, given = self._functions["sample"], (address_of(self.y), address_of(self.yp))
        self._check(function(self.job.context, self.job.t, *given, group, address_of(taken)))
        return taken

    def rates(self, t: float, y: Array, yp: Array) -> Array:
        """The rates at a point: of implicit models those that are given."""
        return self.rhs(t, y) if self.explicit else yp

    def stand_at(self, t: float, y: Array, yp: Array | None = None) -> None:
        """Note where the run stands."""
        self.job.t = self.job.progress = t
        self.y[:] = y
        if yp is not None:
            self.yp[:] = yp

    def write_row(self, y: Array, yp: Array) -> None:
        """The next row of the output."""
        self.out_y[self.job.next_time] = y
        self.out_yp[self.job.next_time] = yp
        self.job.next_time += 1

    def row_before(self, reached: float) -> float | None:
        """The time of the next row, where it does not lie beyond what is reached, and nobody cancels: there may be millions."""
        k, job = self.job.next_time, self.job
        return float(self.times[k]) if k < job.n_times and self.times[k] <= reached and not job.cancel else None

    def write_start(self) -> None:
        """Rows of where the run stands."""
        while self.row_before(self.job.t) is not None:
            self.write_row(self.y, self.yp)

    def book(self, energies: Array) -> None:
        """Add energies to the books."""
        for b in range(4):
            self.job.books[b] += float(energies[b])

    def check_going_on(self) -> None:
        """Stop where somebody asks for it, or after too many steps."""
        if self.job.cancel:
            raise StoppedError(jobs.CANCELLED)
        if self.job.steps >= self.job.max_steps:
            raise StoppedError(jobs.MANY_STEPS)

    def _call(self, name: str, room: int, t: float, *arrays: Array | None) -> Array:
        out = np.zeros(room or 1)
        places = [None if a is None else address_of(a) for a in arrays]
        self._check(self._functions[name](self.job.context, t, *places, address_of(out)))
        return out[:room]

    def _check(self, bad: int) -> None:
        if bad:
            raise StoppedError(jobs.NOT_FINITE)


def doubles(place: int | None, count: int) -> Array:
    """The numbers that lie at an address."""
    if not place or count <= 0:
        return np.zeros(0)
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(place))


def integers(place: int | None, count: int) -> Integers:
    """The whole numbers that lie at an address."""
    if not place or count <= 0:
        return np.zeros(0, dtype=np.int32)
    return np.ctypeslib.as_array((ctypes.c_int32 * count).from_address(place))


@lru_cache(maxsize=4096)
def _function(name: str, address: int) -> Any:
    return PROTOTYPES[name](address)
