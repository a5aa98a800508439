"""What a compiled model is given: the C struct `tg_context` and its arrays, packed tables, and slopes compiled later."""

import ctypes
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.statements import Routine
from tellegen.compiler.toolchain import CompilerStoppedError, stop_compiler
from tellegen.core.cancellation import Cancellable
from tellegen.core.errors import Finding
from tellegen.graph.signals import Table

_UNDER_WAY: dict[int, Cancellable] = {}
"""What each thread is making."""


def stop_building_slopes(thread: int) -> None:
    """End the making of slopes in a thread, if it is at that: its compiler, or the writing of what that is to read."""
    making = _UNDER_WAY.get(thread)
    # The compiler is another process and can be ended at once; what Python does meanwhile is asked to stop.
    if making is not None and not stop_compiler(thread):
        making.stop(CompilerStoppedError)


_KEPT = threading.local()
"""What a function of ours raised while C was calling it, in each thread."""


def keep_error(error: BaseException) -> None:
    """Keep what a callback raises for whoever has called C: ctypes would print it, and C would go on with rubbish."""
    if getattr(_KEPT, "error", None) is None:  # what comes after the first error follows from it
        _KEPT.error = error


def raise_kept_error() -> None:
    """Raise what a callback has raised in this thread since it was last asked."""
    error: BaseException | None = getattr(_KEPT, "error", None)
    if error is not None:
        _KEPT.error = None
        raise error


MAKE = ctypes.CFUNCTYPE(ctypes.c_int)
"""Sets the functions; gives 1 where it cannot."""


class TgSlopes(ctypes.Structure):
    """The struct of model.h, field by field."""

    _fields_ = (("tangent", ctypes.c_void_p), ("rhs_tangent", ctypes.c_void_p), ("make", ctypes.c_void_p))


@final
@dataclass(frozen=True)
class BuiltSlopes:
    """Where the functions of slopes lie while their owner lives; `findings` say why they are slow, where they are."""

    addresses: Mapping[str, int]
    owner: object
    findings: tuple[Finding, ...] = ()


@final
class DeferredSlopes:
    """The slopes of one model. Whichever thread is first has `build` called."""

    def __init__(self, build: Callable[[], BuiltSlopes]) -> None:
        self.made = False
        self.findings: tuple[Finding, ...] = ()
        self._build = build
        self._built: BuiltSlopes | None = None
        self._one_at_a_time = threading.Lock()
        self._make = MAKE(self.make)
        self._struct = TgSlopes(make=ctypes.cast(self._make, ctypes.c_void_p).value)

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return ctypes.addressof(self._struct)

    def make(self) -> int:
        """Compile them, unless that is done. Gives 1 where somebody has stopped it; else there is always a way, if a slow one."""
        thread, making = threading.get_ident(), Cancellable()
        _UNDER_WAY[thread] = making
        try:
            # Several contexts of one model may run at once, and all of them may ask first.
            with self._one_at_a_time, making.here():
                self._make_once()
        except CompilerStoppedError:  # nothing can be raised through a solver in C
            return 1
        finally:
            del _UNDER_WAY[thread]
        return 0

    def _make_once(self) -> None:
        if self.made:
            return
        self._built = built = self._build()
        # The owner is kept before the addresses are set: a solver may call them the next moment.
        for name in ("tangent", "rhs_tangent"):
            setattr(self._struct, name, built.addresses[name])
        # Last: who sees `made` may call the slopes.
        self.findings, self.made = built.findings, True


Array = NDArray[np.float64]
Integers = NDArray[np.int32]

PAST = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int, ctypes.c_double)
"""The value of a delayed expression: history, number of the delay, time."""

EXTERNAL = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_double))
"""A signal of the host: the host, its number, its arguments."""


FUNCTIONS: Mapping[str, tuple[str, ...]] = {
    "residual": ("y", "yp"),
    "rhs": ("y",),
    "rhs_powers": ("y",),
    "tangent": ("y", "yp", "dy", "dyp", "dp"),
    "rhs_tangent": ("y", "dy", "dp"),
    "following": ("y",),
    "rates_along": ("y", "dy", "du", "dp"),
    "outputs_along": ("y", "dy", "du", "dp"),
    "initial": (),
    "times": (),
    "derived": (),
    "crossings": (),
    "inertia": (),
    "restitutions": (),
    "observe": ("y", "yp"),
    "balance": ("y", "yp"),
    "powers": ("y", "yp"),
    "events": ("y", "yp"),
    "contents": ("y", "yp"),
    "sample": ("y", "yp"),
}
"""The functions of model.h with the arrays that each is given after context and time; the array of its results comes last."""

FIELDS = {"u": "inputs", "m": "memory", "p": "parameters"}
"""What routines read from the context, by the letter that stands for it."""


def function_of(routine: str) -> str:
    """The function of model.h that a routine belongs to: tangents, samples and the balance come in several."""
    return routine if routine in FUNCTIONS else "balance" if routine == "stored" else routine.rsplit("_", 1)[0]


_first_byte = ctypes.c_char.from_buffer
_place_of = ctypes.addressof


def address_of(values: NDArray[Any]) -> int:
    """Where the numbers of a contiguous array lie. The way round by `ctypes` takes a sixth of the time: it counts in short runs."""
    try:
        return _place_of(_first_byte(values))  # type: ignore[arg-type]  # arrays are buffers; Python 3.11 cannot say so
    except (TypeError, ValueError):  # read-only, or empty
        return int(values.__array_interface__["data"][0])


class TgContext(ctypes.Structure):
    """The struct of model.h, field by field."""

    _fields_ = (
        ("parameters", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("memory", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("tangents", ctypes.c_void_p),
        ("structure", ctypes.c_void_p),
        ("constants", ctypes.c_void_p),
        ("tables", ctypes.c_void_p),
        ("history", ctypes.c_void_p),
        ("failed", ctypes.c_int),
        ("past", ctypes.c_void_p),
        ("external", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("slopes", ctypes.c_void_p),
    )


class SignalHost(Protocol):
    """What answers for signals that are no formulas: a function in C and what it is given first; and what went wrong."""

    function: int | None
    address: int | None

    @property
    def said(self) -> str:
        """What a function raised or a unit refused."""
        ...


@final
@dataclass(frozen=True)
class ModelData:
    """What a context of the model holds beside parameters and inputs."""

    scratch: int = 0
    structure: Integers = field(default_factory=lambda: np.zeros(1, np.int32))
    constants: Array = field(default_factory=lambda: np.zeros(1))
    tables: Array = field(default_factory=lambda: np.zeros(1))
    external: "SignalHost | None" = None
    coefficients: Any = None
    slopes: DeferredSlopes | None = None
    rates: Routine | None = None
    """f(t, y) as formulas, of an explicit model that is written out: for solvers that derive their own code."""
    powers_read_rates: bool = True
    """Whether the powers depend on yp: where they do not, nobody needs to work it out for them."""

    def constants_for(self, parameters: Array) -> Array:
        """The coefficients of a looped model at given parameters."""
        found: Array = self.constants if self.coefficients is None else self.coefficients(parameters)
        return found


@final
class ModelContext:
    """A `tg_context` with its arrays. One thread uses it at a time; several contexts of one model may run at once."""

    def __init__(self, data: ModelData, parameters: Array, inputs: Array, memory: Array) -> None:
        self.parameters, self.inputs, self.memory = map(_at_least_one, (parameters, inputs, memory))
        # Each context has scratch of its own: that is what lets several of one model run at once.
        self.values, self.tangents = np.zeros(max(data.scratch, 1)), np.zeros(max(data.scratch, 1))
        # Kept here, for C is given their bare addresses: Python would free them behind its back.
        self._data, self._constants = data, data.constants_for(parameters)
        self._past: Any = None
        own = (self.parameters, self.inputs, self.memory, self.values, self.tangents)
        fields: tuple[NDArray[Any], ...] = (*own, data.structure, self._constants, data.tables)
        self.struct = TgContext(*map(address_of, fields))  # the first ones, in their order
        if data.external is not None:
            self.struct.external, self.struct.host = data.external.function, data.external.address
        if data.slopes is not None:
            self.struct.slopes = data.slopes.address

    @property
    def address(self) -> int:
        """Where the struct lies."""
        return ctypes.addressof(self.struct)

    @property
    def failed(self) -> int | None:
        """The index of the program variable that was not finite in the last call, if any."""
        # C counts from one here, so that zero means that nothing failed.
        return None if self.struct.failed == 0 else int(self.struct.failed) - 1

    def share_past(self, other: "ModelContext") -> None:
        """Read the same past as another context."""
        self._past = other._past
        self.struct.past, self.struct.history = other.struct.past, other.struct.history

    def remember(self, past: Any, history: int | None = None) -> None:
        """Give the function that tells past values (a `PAST`, or the address of a C function) and its history."""
        self._past = past
        self.struct.past = past if isinstance(past, int) else ctypes.cast(past, ctypes.c_void_p).value
        self.struct.history = history


def _at_least_one(values: Array) -> Array:
    """C is given the place of an array: an empty one has none."""
    return values if len(values) else np.zeros(1)


# Numbers, for tables lie among numbers; support.h and the interpreter read the same ones.
KINDS = {"linear": 0.0, "previous": 1.0, "cubic": 2.0}


def packed_tables(tables: Sequence[Table]) -> tuple[Array, list[int]]:
    """Kind, count, points, values and slopes of each table, and where each begins."""
    parts: list[Array] = []
    places: list[int] = []
    size = 0
    for table in tables:
        points, values = np.array(table.points, dtype=float), np.array(table.values, dtype=float)
        places.append(size)
        parts.append(
            np.concatenate([[KINDS[table.interpolation], len(points)], points, values, monotone_slopes(points, values)])
        )
        size += len(parts[-1])
    return (np.concatenate(parts) if parts else np.zeros(1)), places


def monotone_slopes(points: Array, values: Array) -> Array:
    """Slopes that keep a cubic monotonic where the points are (Fritsch and Butland 1984): no overshoot between them."""
    if len(points) < 2:
        return np.zeros(len(points))
    h = np.diff(points)
    # A point given twice is a jump of a table of straight lines, which have no slopes at their points.
    rise = np.divide(np.diff(values), h, out=np.zeros(len(h)), where=h > 0.0)
    slopes = np.zeros(len(points))
    slopes[0], slopes[-1] = rise[0], rise[-1]
    left, right = rise[:-1], rise[1:]
    # The harmonic mean, weighted by the distances: it is never more than three times the smaller slope, which is enough
    # to stay monotonic.
    w_left, w_right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    # Where the slope changes sign the point is a peak, and its slope is zero: anything else would pass beyond it.
    same = left * right > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (w_left + w_right) / (w_left / left + w_right / right)
    slopes[1:-1] = np.where(same, inner, 0.0)
    return slopes
