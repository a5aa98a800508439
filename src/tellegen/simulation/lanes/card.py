"""Runs on a graphics card: the text of lanes with one lane a thread, compiled by NVRTC, its arrays by CuPy."""

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Final, final

import numpy as np

from tellegen.compiler.straight import StraightCode
from tellegen.simulation.batches import BatchResult
from tellegen.simulation.lanes.processor import (
    LaneControl,
    Lanes,
    LaneTables,
    empty_result,
    lanes_arrays,
)
from tellegen.simulation.lanes.text import Keeping, lanes_text

BLOCK: Final = 128
"""Threads that are started together."""
WAVES: Final = 8
"""Blocks for each multiprocessor: a thread whose run ends takes the next, so that more would only wait."""
AT_ONCE: Final = 1 << 20
"""Runs in one launch: between two of them somebody may stop the study."""

ROLLED_FROM: Final = 100
"""Operations of rates from which on a card waits for its program, where they stand in it once for each stage."""

OPTIONS: Final = ("--std=c++17", "-diag-suppress=177")

_HOST: Final = """\
#ifdef __cplusplus
#define TG_FOR_C extern "C"
#else
#define TG_FOR_C
#endif
#define TG_WIDTH 1
#define TG_INLINE __device__ __forceinline__
#define TG_APART __device__ __forceinline__
#define TG_ALONE __restrict__
#define TG_EACH for (int l = 0; l < 1; l++)
#define TG_SOME for (int l = 0; l < 1; l++)
#define TG_UNROLL_ALL _Pragma("unroll")
#define TG_ROLLED _Pragma("unroll 1")
#define TG_TABLE static __device__ const
#define TG_ENTRY TG_FOR_C __global__ __launch_bounds__({block})
#define TG_LANES const tg_lanes
#define TG_INT long long
#define TG_COUNTER unsigned long long
#define TG_NEXT(counter) ((long long)atomicAdd(counter, 1ull))
#define TG_FLAG int
#define TG_CANCELLED(lanes) 0
"""

_LITERAL = re.compile(r"(?<![\w.])((?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?![\w.])")


def in_single(text: str) -> str:
    """The same text in single precision: a bare 0.5 would have the card compute in double."""
    return "#define TG_SINGLE\n" + re.sub(r"\bdouble\b", "float", _LITERAL.sub(r"\1f", text))


def card_text(code: StraightCode, pair: str, keeping: Keeping, *, single: bool = False) -> str:
    """CUDA C of the runs; as C with a few words defined it runs on a processor, too."""
    rolled = code.operations > ROLLED_FROM
    text = lanes_text(code, pair, keeping, _HOST.format(block=BLOCK), rolled=rolled)
    return in_single(text) if single else text


@final
@dataclass(frozen=True)
class CardBatch:
    """How all runs are made on a graphics card."""

    code: StraightCode
    pair: str
    keeping: Keeping
    single: bool = False

    @cached_property
    def text(self) -> str:
        """The CUDA C that is compiled."""
        return card_text(self.code, self.pair, self.keeping, single=self.single)

    @cached_property
    def kernel(self) -> Any:
        """The compiled kernel; CuPy keeps it on the disk."""
        return import_module("cupy").RawModule(code=self.text, options=OPTIONS).get_function("tg_run_lanes")

    def run(
        self,
        tables: LaneTables,
        control: LaneControl,
        threads: int = 1,
        between: Callable[[int], bool] | None = None,
    ) -> BatchResult:
        """Make all runs; those with another status than 0 have to be made in another way."""
        count = len(tables.untils)
        made = empty_result(count, self.keeping, tables.row_times.shape[1])
        interrupted = False
        try:
            for first in range(0, count, AT_ONCE):
                if between is not None and between(first):
                    break
                self._launch(tables, control, made, slice(first, min(first + AT_ONCE, count)))
        except KeyboardInterrupt:
            interrupted = True
        return made._replace(interrupted=interrupted)

    def _launch(self, tables: LaneTables, control: LaneControl, made: BatchResult, part: slice) -> None:
        cupy = import_module("cupy")
        count, rows = part.stop - part.start, tables.row_times.shape[1]
        arrays, shared_stops = lanes_arrays(tables, control, part)
        real = np.float32 if self.single else np.float64
        given = {
            name: cupy.asarray(array, dtype=real if array.dtype == np.float64 else None)
            for name, array in arrays.items()
        }
        out = {
            "out": cupy.full((count, len(self.keeping.numbers)), np.nan, dtype=real),
            "rows": cupy.full((count, rows, len(self.keeping.rows)), np.nan, dtype=real),
            "reached": cupy.zeros(count, dtype=real),
            "steps": cupy.zeros(count, dtype=np.int32),
            "status": cupy.full(count, -1, dtype=np.int8),
            "next": cupy.zeros(1, dtype=np.uint64),
        }
        struct = (SingleLanes if self.single else Lanes)(count, rows, control.most_steps, shared_stops)
        struct.rtol, struct.max_step = control.rtol, min(control.max_step, 1e30)
        for name, array in {**given, **out}.items():
            setattr(struct, name, array.data.ptr)
        told = cupy.asarray(np.frombuffer(bytes(struct), dtype=np.uint8))
        blocks = min(-(-count // BLOCK), WAVES * cupy.cuda.Device().attributes["MultiProcessorCount"])
        self.kernel((blocks,), (BLOCK,), (told,))
        for name in ("out", "rows", "reached", "status"):
            getattr(made, name)[part] = out[name].get()
        made.counts[part, 0] = out["steps"].get()


class SingleLanes(ctypes.Structure):
    """The struct `tg_lanes` in single precision."""

    _fields_ = tuple((name, ctypes.c_float if kind is ctypes.c_double else kind) for name, kind in Lanes._fields_)  # type: ignore[misc]
