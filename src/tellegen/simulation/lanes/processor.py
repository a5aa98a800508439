"""Runs in the vector registers of a processor: as many at a time as two registers hold, on threads."""

import ctypes
import hashlib
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, address_of
from tellegen.compiler.straight import StraightCode
from tellegen.compiler.toolchain import Build, build_files, compiler_macros
from tellegen.simulation.batches import UNMADE, BatchResult, listed_stops, work_in_threads
from tellegen.simulation.lanes.text import Keeping, lanes_text

AGAIN: Final = 100
"""The status of a run that has to be made in another way."""

FLAGS: Final = ("-O3", "-ffp-contract=off", "-fno-trapping-math", "-fopenmp-simd")
"""Without joined products and sums: a run has the same bits on every processor."""

WIDTHS: Final = {"__AVX512F__": 16, "__AVX2__": 8, "__ARM_NEON": 8}
NARROW: Final = 4

_HOST: Final = """\
#include <math.h>
#include <stdint.h>
#define TG_WIDTH {width}
#define TG_INLINE inline __attribute__((always_inline))
#define TG_APART __attribute__((noinline))
#define TG_ALONE restrict
#define TG_EACH _Pragma("omp simd") for (int l = 0; l < TG_WIDTH; l++)
#define TG_SOME for (int l = 0; l < TG_WIDTH; l++)
#define TG_UNROLL_ALL
#define TG_ROLLED
#define TG_TABLE static const
#define TG_ENTRY
#define TG_LANES tg_lanes
#define TG_INT int64_t
#define TG_COUNTER volatile int64_t
#define TG_NEXT(counter) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED)
#define TG_FLAG volatile int
#define TG_CANCELLED(lanes) (lanes)->cancel
"""


@cache
def vector_flags() -> tuple[tuple[str, ...], int, str]:
    """The flags for the vector instructions of this processor, how many lanes suit them, and what tells them from others."""
    native = "-march=native" if platform.machine().lower() in ("x86_64", "amd64", "i686") else "-mcpu=native"
    macros = compiler_macros(native)
    if macros is None:
        return (), NARROW, ""
    width = next((count for name, count in WIDTHS.items() if f" {name} " in macros), NARROW)
    wide = ("-mprefer-vector-width=512",) if width == WIDTHS["__AVX512F__"] else ()
    return (native, *wide), width, hashlib.sha256(macros.encode()).hexdigest()[:16]


class Lanes(ctypes.Structure):
    """The struct `tg_lanes`."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_runs", "n_rows", "most_steps", "n_shared")),
        *(
            (name, ctypes.c_void_p)
            for name in ("values", "starts", "untils", "stops", "stops_from", "row_times", "atol")
        ),
        *((name, ctypes.c_double) for name in ("rtol", "max_step")),
        *((name, ctypes.c_void_p) for name in ("out", "rows", "reached", "steps", "status", "next")),
        ("cancel", ctypes.c_int),
    )


class LaneTables(NamedTuple):
    """What differs between runs: a row for each. `stops` are the break times of each run, or of all where they are one array."""

    values: Array
    starts: Array
    untils: Array
    row_times: Array
    stops: Array | Sequence[Array]


@final
@dataclass(frozen=True)
class LaneControl:
    """The tolerance, and when a run is given up."""

    rtol: float
    atol: Array
    max_step: float = np.inf
    most_steps: int = 1_000_000_000


@final
@dataclass(frozen=True)
class LaneBatch:
    """How all runs are made in lanes."""

    code: StraightCode
    pair: str
    keeping: Keeping
    width: int = 0
    """How many runs at a time; 0: what suits the processor."""

    @property
    def lanes(self) -> int:
        """How many runs at a time."""
        return self.width or vector_flags()[1]

    @cached_property
    def text(self) -> str:
        """The C that is compiled."""
        return lanes_text(self.code, self.pair, self.keeping, _HOST.format(width=self.lanes))

    @cached_property
    def built(self) -> Build:
        """The library, or why there is none."""
        flags, _, processor = vector_flags()
        # A cache may be shared by machines: the processor is part of the text, and with it of the key.
        return build_files({"lanes.c": f"/* {processor} */\n{self.text}"}, (*FLAGS, *flags))

    def run(
        self,
        tables: LaneTables,
        control: LaneControl,
        threads: int = 1,
        between: Callable[[int], bool] | None = None,
    ) -> BatchResult:
        """Make all runs; those with the status `AGAIN` have to be made in another way."""
        library = self.built.library
        assert library is not None, "who asks for runs has asked whether there is a library"
        count = len(tables.untils)
        made = empty_result(count, self.keeping, tables.row_times.shape[1])
        shared, arrays = lanes_struct(tables, control, made)
        steps, following = np.zeros(count, dtype=np.int32), np.zeros(1, dtype=np.int64)
        shared.steps, shared.next = address_of(steps), address_of(following)
        function = library.tg_run_lanes
        function.argtypes, function.restype = [ctypes.c_void_p], None

        def work() -> int:
            function(ctypes.addressof(shared))
            return 0

        def stop() -> None:
            shared.cancel = 1

        workers = max(1, min(threads, -(-count // self.lanes)))
        interrupted = work_in_threads([work] * workers, stop, lambda: min(int(following[0]), count), between)
        del arrays  # pointed to until now
        made.counts[:, 0] = steps
        return made._replace(interrupted=interrupted)


def empty_result(count: int, keeping: Keeping, rows: int) -> BatchResult:
    """Room for what is kept of so many runs."""
    return BatchResult(
        np.full((count, len(keeping.numbers)), np.nan),
        np.full((count, rows, len(keeping.rows)), np.nan),
        np.full(count, UNMADE, dtype=np.int8),
        np.zeros((count, 4)),
        np.zeros((count, 2), dtype=np.int64),
        np.zeros(count),
    )


def lanes_struct(tables: LaneTables, control: LaneControl, made: BatchResult) -> tuple[Lanes, dict[str, NDArray[Any]]]:
    """The struct for these runs, and the arrays that it points to."""
    count = len(tables.untils)
    arrays, shared_stops = lanes_arrays(tables, control, slice(0, count))
    shared = Lanes(count, tables.row_times.shape[1], control.most_steps, shared_stops)
    shared.rtol, shared.max_step = control.rtol, control.max_step
    for name, array in arrays.items():
        setattr(shared, name, address_of(array))
    for name in ("out", "rows", "reached", "status"):
        setattr(shared, name, address_of(getattr(made, name)))
    return shared, arrays


def lanes_arrays(tables: LaneTables, control: LaneControl, part: slice) -> tuple[dict[str, NDArray[Any]], int]:
    """The arrays of some runs, and how many stops all of them share; -1 where each has its own."""
    given = {name: np.ascontiguousarray(getattr(tables, name)[part], dtype=float) for name in LaneTables._fields[:-1]}
    stops: dict[str, NDArray[Any]]
    if isinstance(tables.stops, np.ndarray):
        stops, shared = {"stops": np.append(tables.stops, 0.0), "stops_from": np.zeros(1, np.int64)}, len(tables.stops)
    else:
        stops, shared = listed_stops(tables.stops[part]), -1
    return {**given, **stops, "atol": np.ascontiguousarray(control.atol, dtype=float)}, shared
