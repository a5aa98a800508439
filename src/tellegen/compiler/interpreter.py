"""Routines run by Python itself: the slow way, for machines without a C compiler, with the interface of the fast one."""

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple, final

import numpy as np

from tellegen.compiler.context import EXTERNAL, PAST, Array, TgContext
from tellegen.compiler.newton_search import FailedSearchError
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.compiler.python_source import python_function
from tellegen.compiler.routines import Routine

ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "residual": ("y", "yp"),
    "rhs": ("y",),
    "rhs_powers": ("y",),
    "tangent": ("y", "yp", "dy", "dyp", "dp"),
    "rhs_tangent": ("y", "dy", "dp"),
    "observe": ("y", "yp"),
    "powers": ("y", "yp"),
    "stored": ("y", "yp"),
    "events": ("y", "yp"),
    "sample": ("y", "yp"),
}
"""The arrays that functions of a model are given; where results go comes after them."""

_OF_CONTEXT = {"u": "inputs", "m": "memory", "p": "parameters"}


@final
class Interpreter:
    """The native functions of a model whose code is Python; `addresses` are good while the interpreter lives."""

    def __init__(self, routines: Sequence[Routine], tables: Array, places: Sequence[int]) -> None:
        self._routines = {routine.name: _PythonRoutine(routine, tables, places) for routine in routines}
        self._callbacks: dict[str, Any] = {}
        for name in PROTOTYPES:
            if (function := self._function(name)) is not None:
                self._callbacks[name] = PROTOTYPES[name](function)

    @property
    def addresses(self) -> dict[str, int]:
        """Where the functions can be called by native code."""
        return {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in self._callbacks.items()}

    def _function(self, name: str) -> Callable[..., int] | None:
        routines = self._routines
        if name == "sample":
            return self._sample
        if name == "balance" and "powers" in routines:
            return self._balance
        if name not in routines and f"{name}_y" not in routines:
            return None
        if name in routines:
            return routines[name].call

        def tangent(context: int, t: float, *pointers: int | None) -> int:
            along_parameters = pointers[-2]  # the results come last
            return routines[f"{name}_p" if along_parameters else f"{name}_y"].call(context, t, *pointers)

        return tangent

    def _balance(self, context: int, t: float, y: int | None, yp: int | None, out: int | None) -> int:
        assert out is not None, "whoever asks for powers has room for them"
        after = out + 4 * ctypes.sizeof(ctypes.c_double)
        powers = self._routines["powers"].call(context, t, y, yp, out)
        return powers or self._routines["stored"].call(context, t, y, yp, after)

    def _sample(self, context: int, t: float, y: int | None, yp: int | None, group: int, memory: int | None) -> int:
        routine = self._routines.get(f"sample_{group}")
        return 0 if routine is None else routine.call(context, t, y, yp, memory)


class _Array(NamedTuple):
    """An array that a routine reads: a field of the context, or an argument by its place; and how much of it is read."""

    field: str | None
    place: int
    kind: Any
    size: int


@final
class _PythonRoutine:
    """One routine; its function is written when it is first called."""

    def __init__(self, routine: Routine, tables: Array, places: Sequence[int]) -> None:
        self.routine, self.tables, self.places = routine, tables, places

    @cached_property
    def function(self) -> Callable[..., tuple[float, ...]]:
        """The routine in Python."""
        return python_function(self.routine, self.sizes)

    @cached_property
    def sizes(self) -> Mapping[str, int]:
        """The arrays that are read, and how much of each."""
        found: dict[str, int] = {}
        read = self.routine.words_read()
        for word, i in self.routine.leaves.values():
            if word in read and word != "t":
                found[word] = max(found.get(word, 0), i + 1)
        return found

    @cached_property
    def arrays(self) -> tuple[_Array, ...]:
        """What the function is given after the time."""
        arguments = ARGUMENTS[_kind(self.routine.name)]
        return tuple(
            _Array(_OF_CONTEXT.get(word), 0 if word in _OF_CONTEXT else arguments.index(word), _doubles(size), size)
            for word, size in self.sizes.items()
        )

    @cached_property
    def kept(self) -> int:
        """How many values systems inside keep from one call to the next."""
        return self.routine.values_kept()

    def call(self, context: int, t: float, *pointers: int | None) -> int:
        """Evaluate into the last of the pointers; 1 where a value is not finite."""
        routine, struct = self.routine, TgContext.from_address(context)
        arrays = []
        for field, place, kind, size in self.arrays:
            at = getattr(struct, field) if field else pointers[place]
            arrays.append(kind.from_address(at)[:] if at else [0.0] * size)
        kept = _doubles(self.kept).from_address(struct.values) if self.kept else ()
        try:
            results = self.function(t, *arrays, kept, partial(self._read, struct))
        except FailedSearchError:
            struct.failed = routine.unknown + 1
            return 1
        if results:
            _doubles(len(results)).from_address(pointers[-1])[:] = results
        if routine.checked and not all(map(math.isfinite, results)):
            struct.failed = routine.first + next(i for i, v in enumerate(results) if not math.isfinite(v)) + 1
            return 1
        return 0

    def _read(self, struct: TgContext, kind: str, number: int, arguments: Sequence[float]) -> float:
        if kind == "past":
            return float(PAST(struct.past)(struct.history, number, arguments[0])) if struct.past else arguments[1]
        if kind == "external":
            return float(EXTERNAL(struct.external)(number, _doubles(max(len(arguments), 1))(*arguments)))
        table = self.tables[self.places[number] :]
        return _table(table, arguments[0]) if kind == "table" else _slope(table, arguments[0])


def _kind(name: str) -> str:
    """The function of the model that a routine belongs to: those of tangents and samples come in several."""
    return name if name in ARGUMENTS else name.rsplit("_", 1)[0]


@lru_cache(maxsize=1024)
def _doubles(count: int) -> Any:
    return ctypes.c_double * count


def _parts(table: Array) -> tuple[int, Array, Array, Array]:
    kind, n = int(table[0]), int(table[1])
    return kind, table[2 : 2 + n], table[2 + n : 2 + 2 * n], table[2 + 2 * n : 2 + 3 * n]


def _table(table: Array, x: float) -> float:
    kind, points, values, slopes = _parts(table)
    if not x > points[0]:
        return float(values[0])
    if x >= points[-1]:
        return float(values[-1])
    k = int(np.searchsorted(points, x, side="right")) - 1
    h = points[k + 1] - points[k]
    s = (x - points[k]) / h
    if kind == 1:
        return float(values[k])
    if kind == 0:
        return float(values[k] + s * (values[k + 1] - values[k]))
    ends = values[k] * (1 + 2 * s) * (1 - s) ** 2 + values[k + 1] * s**2 * (3 - 2 * s)
    return float(ends + h * slopes[k] * s * (1 - s) ** 2 - h * slopes[k + 1] * s**2 * (1 - s))


def _slope(table: Array, x: float) -> float:
    kind, points, values, slopes = _parts(table)
    if kind == 1 or not points[0] < x < points[-1]:
        return 0.0
    k = int(np.searchsorted(points, x, side="right")) - 1
    h = points[k + 1] - points[k]
    s = (x - points[k]) / h
    if kind == 0:
        return float((values[k + 1] - values[k]) / h)
    rise = 6 * s * (1 - s) * (values[k + 1] - values[k]) / h
    return float(rise + slopes[k] * (1 - s) * (1 - 3 * s) - slopes[k + 1] * s * (2 - 3 * s))
