"""Many runs of one explicit model at a time: in vector registers, or on a graphics card.

Their text is one: a model's straight lines, a method with its coefficients, what is kept, and the loop of lanes.h. A card has one
lane a thread; its text is compiled by NVRTC, and its arrays are CuPy's.
"""

import ctypes
import hashlib
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, address_of
from tellegen.compiler.straight import StraightCode, support
from tellegen.compiler.toolchain import Build, build_files, compiler_macros
from tellegen.simulation import batches
from tellegen.simulation.batches import UNMADE, BatchResult, listed_stops, work_in_threads
from tellegen.simulation.solvers.coefficients import (
    BOGACKI_SHAMPINE_3,
    CLASSIC_4,
    DORMAND_PRINCE_8,
    TSITOURAS_5,
    Row,
    Tableau,
)

PAIRS: Final[Mapping[str, Tableau]] = {
    "dormand-prince": DORMAND_PRINCE_8,
    "tsitouras": TSITOURAS_5,
    "bogacki-shampine": BOGACKI_SHAMPINE_3,
    "classic": CLASSIC_4,
}
"""The methods, by the words that a study keeps. What tells no error of a step takes steps that are given."""

SHARE: Final = 0.25
"""Of the tolerance: what a single step may use, for errors of steps add up."""
CAUTION: Final = 0.8
PI_SHARE: Final = 0.04
PI_PARTS: Final = {"dormand-prince": 0.2}
"""Those of higher order; the others have"""
PI_PART: Final = 0.75
"""How the control of steps weighs the step before: as codes of Hairer and Wanner have it for these orders."""


@final
@dataclass(frozen=True)
class Keeping:
    """What is kept of each run: numbers as (kind, channel, time), those of kind `AT` in order of time, and the channels of rows."""

    numbers: tuple[tuple[int, int, float], ...]
    rows: tuple[int, ...] = ()

    @property
    def channels(self) -> tuple[int, ...]:
        """The channels that are told, each once."""
        return tuple(dict.fromkeys((*(place for _, place, _ in self.numbers), *self.rows)))


def lanes_text(code: StraightCode, pair: str, keeping: Keeping, host: str, *, rolled: bool = False) -> str:
    """The whole text; `host` says what it runs on, as macros. The functions of `code` tell the channels of `keeping`.

    `rolled` stages are a loop: the rates stand in the program once, and not once for each stage.
    """
    tableau = PAIRS[pair]
    told = {place: k for k, place in enumerate(keeping.channels)}
    ats = [k for k, (kind, _, _) in enumerate(keeping.numbers) if kind == batches.AT]
    kinds = [kind for kind, _, _ in keeping.numbers]
    sizes = {
        "N": code.size,
        "N_VALUES": code.values,
        "N_CONSTANTS": code.constants,
        "N_TOLD": code.told,
        "BENDS": code.bends,
        "KEPT": len(keeping.numbers),
        "ATS": len(ats),
        "EXTREMES": sum(batches.MAX <= kind <= batches.TIME_OF_MIN for kind in kinds),
        "SUMS": sum(kind >= batches.INTEGRAL for kind in kinds),
        "ROW_WIDTH": len(keeping.rows),
    }
    lists = [
        _listed("int", "KIND", kinds),
        _listed("int", "PLACE", [told[place] for _, place, _ in keeping.numbers]),
        _listed("double", "AT_TIME", [keeping.numbers[k][2] for k in ats]),
        _listed("int", "AT_NUMBER", ats),
        _listed("int", "ROW_PLACE", [told[place] for place in keeping.rows]),
    ]
    macros = {**{name: str(value) for name, value in sizes.items()}, **_method(tableau, pair)}
    if _reads_one_before(tableau):
        macros["STAGE_CODE"] = _block(_stages_in_place(tableau, rolled=rolled))
        lists += _stages_in_place_tables(tableau)
    elif rolled:
        macros["STAGE_CODE"] = _block(_rolled_stages(tableau))
        lists += _stage_tables(tableau)
    defined = "\n".join(f"#define TG_{name} {text}" for name, text in macros.items())
    loop = Path(__file__).with_name("lanes.h").read_text(encoding="ascii")
    return "\n".join((host, defined, *lists, support(), _HEADS, code.text, loop))


def _listed(kind: str, name: str, values: Sequence[float]) -> str:
    return f"TG_TABLE {kind} TG_{name}[] = {{{', '.join(map(repr, values or [0]))}}};"


_HEADS: Final = """\
typedef double tg_wide[TG_WIDTH];
#define TG_T t[l]
#define TG_Y(i) y[i][l]
#define TG_OUT(i) out[i][l]
#define TG_VALUE(i) values[i]
#define TG_CONSTANT(i) constants[i][l]
#define TG_SETTLE_BEGIN(name) static TG_APART void name(const double *values, tg_wide *constants, int l) { \\
  (void)values; (void)constants; (void)l;
#define TG_SETTLE_END }
#define TG_RATES_BEGIN(name) static TG_APART void name(const double *TG_ALONE t, const tg_wide *TG_ALONE y, \\
  const tg_wide *TG_ALONE constants, tg_wide *TG_ALONE out) { (void)t; (void)y; (void)constants; (void)out; TG_EACH {
#define TG_RATES_END } }
#define TG_TOLD_BEGIN TG_RATES_BEGIN
#define TG_TOLD_END } }
"""


def _method(tableau: Tableau, pair: str) -> dict[str, str]:
    stages = _rows_of_stages(tableau)
    return {
        "STAGES": str(stages),
        "KEEPS_STEP": str(int(not tableau.error)),
        "ROWS_OF_RATES": str(stages + 1 + max(len(tableau.dense_a), int(_reads_one_before(tableau)))),
        "DENSE_ROWS": str(3 + len(tableau.dense_b)),
        "ORDER": f"{float(tableau.order)}f",
        "SHARE": repr(SHARE),
        "CAUTION": f"{CAUTION}f",
        "PI_SHARE": f"{PI_SHARE}f",
        "PI_PART": f"{PI_PARTS.get(pair, PI_PART)}f",
        "HAS_COARSE": str(int(bool(tableau.second_error))),
        "ERROR": f"({_error(tableau)})",
        "COARSE": f"({_sum(tableau.second_error)})",
        "STAGE_CODE": _block(_stage_code(tableau)),
        "DENSE_CODE": _block(_dense_code(tableau)),
        "DENSE_VALUE": _dense_value(3 + len(tableau.dense_b)),
    }


def _rows_of_stages(tableau: Tableau) -> int:
    """How many rows of rates a step needs: all stages, or the present one beside the first."""
    return 1 if _reads_one_before(tableau) else len(tableau.a)


def _reads_one_before(tableau: Tableau) -> bool:
    """Whether each stage reads the one before alone, and nothing is asked for between."""
    alone = all(row == {k - 1: c} for k, (c, row) in enumerate(zip(tableau.c, tableau.a, strict=True)) if k)
    return alone and not (tableau.second_error or tableau.dense_c or tableau.dense_b)


_OVER = "TG_UNROLL_ALL for (int i = 0; i < TG_N; i++) TG_EACH"


def _stage_code(tableau: Tableau) -> Iterable[str]:
    for i, row in enumerate(tableau.a):
        if i:
            yield from _stage(i, tableau.c[i], row)
    yield f"{_OVER} w->y1[i][l] = w->y[i][l] + w->step[l] * ({_sum(tableau.b)});"
    yield "TG_EACH w->at[l] = w->t[l] + w->step[l];"
    yield "tg_rates(w->at, w->y1, w->constants, w->k[TG_STAGES]);"


def _stage_tables(tableau: Tableau) -> list[str]:
    rows = [*tableau.a[1:], tableau.b]
    stages = len(tableau.a)
    return [
        _listed("double", "STAGE_SHARES", [row.get(j, 0.0) for row in rows for j in range(stages)]),
        _listed("double", "STAGE_TIMES", [*tableau.c[1:], 1.0]),
    ]


def _rolled_stages(tableau: Tableau) -> Iterable[str]:
    """All stages by one loop. Places in arrays are known beforehand all the same, or registers could not hold them."""
    stages = len(tableau.a)
    shares = " + ".join(f"TG_STAGE_SHARES[{stages} * q + {j}] * w->k[{j}][i][l]" for j in range(stages))
    # what a stage before it has left would count with a share of zero, and be no number perhaps
    yield f"{_OVER} {{ {' '.join(f'w->k[{j}][i][l] = 0.0;' for j in range(1, stages))} }}"
    yield f"TG_ROLLED for (int q = 0; q < {stages}; q++) {{"
    yield f"{_OVER} w->s[i][l] = w->y[i][l] + w->step[l] * ({shares});"
    yield "TG_EACH w->at[l] = w->t[l] + TG_STAGE_TIMES[q] * w->step[l];"
    yield "tg_rates(w->at, w->s, w->constants, w->k[TG_STAGES]);"
    kept = " ".join(
        f"w->k[{j}][i][l] = q == {j - 1} ? w->k[TG_STAGES][i][l] : w->k[{j}][i][l];" for j in range(1, stages)
    )
    yield f"{_OVER} {{ {kept} }}"
    yield "}"
    yield f"{_OVER} w->y1[i][l] = w->s[i][l];"


def _stages_in_place(tableau: Tableau, *, rolled: bool) -> Iterable[str]:
    """Stages of which each reads the one before alone: the sums of the step and of its error grow beside them, and none is kept.

    So 20 variables and what their rates need in between fit into the registers of a thread.
    """
    last = len(tableau.a) - 1
    yield f"{_OVER} {{ w->y1[i][l] = w->y[i][l]; w->k[1][i][l] = w->k[0][i][l]; w->k[2][i][l] = 0.0; }}"
    yield f"{'TG_ROLLED' if rolled else 'TG_UNROLL_ALL'} for (int q = 0; q < {last + 1}; q++) {{"
    yield "tg_wide part, far;"
    yield "TG_EACH { part[l] = w->step[l] * TG_STAGE_SHARES[q]; far[l] = w->step[l] * TG_STAGE_TIMES[q]; }"
    if tableau.error:
        yield f"{_OVER} w->k[2][i][l] = w->k[2][i][l] + TG_STAGE_ERRORS[q] * w->k[1][i][l];"
    yield f"{_OVER} w->y1[i][l] = w->y1[i][l] + part[l] * w->k[1][i][l];"
    yield f"{_OVER} w->s[i][l] = q == {last} ? w->y1[i][l] : w->y[i][l] + far[l] * w->k[1][i][l];"
    yield "TG_EACH w->at[l] = w->t[l] + far[l];"
    yield "tg_rates(w->at, w->s, w->constants, w->k[1]);"
    yield "}"


def _stages_in_place_tables(tableau: Tableau) -> list[str]:
    return [
        _listed("double", "STAGE_SHARES", [tableau.b[j] for j in range(len(tableau.a))]),
        _listed("double", "STAGE_TIMES", [*tableau.c[1:], 1.0]),
        _listed("double", "STAGE_ERRORS", [tableau.error.get(j, 0.0) for j in range(len(tableau.a))]),
    ]


def _error(tableau: Tableau) -> str:
    if not _reads_one_before(tableau) or not tableau.error:
        return _sum(tableau.error)
    return f"w->k[2][i][l] + {tableau.error[len(tableau.a)]!r} * w->k[1][i][l]"


def _stage(number: int, c: float, row: Row) -> Iterable[str]:
    yield f"{_OVER} w->s[i][l] = w->y[i][l] + w->step[l] * ({_sum(row)});"
    yield f"TG_EACH w->at[l] = w->t[l] + {c!r} * w->step[l];"
    yield f"tg_rates(w->at, w->s, w->constants, w->k[{number}]);"


def _dense_code(tableau: Tableau) -> Iterable[str]:
    end = _rows_of_stages(tableau)
    for i, (c, row) in enumerate(zip(tableau.dense_c, tableau.dense_a, strict=True), start=end + 1):
        yield from _stage(i, c, row)
    yield f"{_OVER} {{"
    yield "const double d = w->y1[i][l] - w->y[i][l];"
    yield "w->dense[0][i][l] = d;"
    yield "w->dense[1][i][l] = w->step[l] * w->k[0][i][l] - d;"
    yield f"w->dense[2][i][l] = 2.0 * d - w->step[l] * (w->k[{end}][i][l] + w->k[0][i][l]);"
    for i, row in enumerate(tableau.dense_b, start=3):
        yield f"w->dense[{i}][i][l] = w->step[l] * ({_sum(row)});"
    yield "}"


def _dense_value(rows: int) -> str:
    """The interpolant as nested products, alternately by x and 1 - x."""
    text = f"w->dense[{rows - 1}][i][l]"
    for i in range(rows - 2, -1, -1):
        text = f"(w->dense[{i}][i][l] + {'z' if i % 2 == 0 else 'x'} * {text})"
    return f"x * {text}"


def _sum(row: Row) -> str:
    return " + ".join(f"{value!r} * w->k[{j}][i][l]" for j, value in row.items()) or "0.0"


def _block(lines: Iterable[str]) -> str:
    return " \\\n  ".join(lines)


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


BLOCK: Final = 128
"""Threads that are started together."""
WAVES: Final = 8
"""Blocks for each multiprocessor: a thread whose run ends takes the next, so that more would only wait."""
AT_ONCE: Final = 1 << 20
"""Runs in one launch: between two of them somebody may stop the study."""

ROLLED_FROM: Final = 100
"""Operations of rates from which on a card waits for its program, where they stand in it once for each stage."""

OPTIONS: Final = ("--std=c++17", "-diag-suppress=177")

_CARD_HOST: Final = """\
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
    text = lanes_text(code, pair, keeping, _CARD_HOST.format(block=BLOCK), rolled=rolled)
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
