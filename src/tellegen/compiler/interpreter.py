"""Routines run by Python itself: the slow way, for machines without a C compiler, with the interface of the fast one."""

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

import numpy as np

from tellegen.compiler.context import EXTERNAL, PAST, Array, TgContext
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.compiler.routines import Routine
from tellegen.compiler.statements import Let, Newton, Read, Solve, Statement
from tellegen.expressions import Expression

POINTERS: Mapping[str, tuple[str, ...]] = {
    "residual": ("y", "yp", "out"),
    "rhs": ("y", "out"),
    "rhs_powers": ("y", "out"),
    "tangent": ("y", "yp", "dy", "dyp", "dp", "out"),
    "rhs_tangent": ("y", "dy", "dp", "out"),
    "observe": ("y", "yp", "out"),
    "powers": ("y", "yp", "out"),
    "events": ("y", "yp", "out"),
}
_OF_CONTEXT = {"u": "inputs", "m": "memory", "p": "parameters"}
_MOST_ROUNDS, _MOST_HALVINGS = 60, 40


class _FailureError(Exception):
    """A value that is not finite, or a system without solution."""


@final
class Interpreter:
    """The native functions of a model whose code is Python; `addresses` are good while the interpreter lives."""

    def __init__(self, routines: Sequence[Routine], tables: Array, places: Sequence[int]) -> None:
        self.routines = {routine.name: routine for routine in routines}
        self.tables = tables
        self.places = places
        self._callbacks: dict[str, Any] = {}
        for name in PROTOTYPES:
            if (function := self._function(name)) is not None:
                self._callbacks[name] = PROTOTYPES[name](function)

    @property
    def addresses(self) -> dict[str, int]:
        """Where the functions can be called by native code."""
        return {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in self._callbacks.items()}

    def _function(self, name: str) -> Callable[..., int] | None:
        if name == "sample":
            return self._sample
        if name == "balance" and "powers" in self.routines:
            return self._balance
        if name not in self.routines and f"{name}_y" not in self.routines:
            return None
        words = POINTERS[name]

        def function(context: int, t: float, *pointers: int | None) -> int:
            given = dict(zip(words, pointers, strict=True))
            chosen = name
            if name not in self.routines:
                chosen = f"{name}_p" if given["dp"] else f"{name}_y"
            return self._call(chosen, context, t, given)

        return function

    def _balance(self, context: int, t: float, y: int | None, yp: int | None, out: int | None) -> int:
        assert out is not None, "whoever asks for powers has room for them"
        powers = self._call("powers", context, t, {"y": y, "yp": yp, "out": out})
        after = out + 4 * ctypes.sizeof(ctypes.c_double)
        return powers or self._call("stored", context, t, {"y": y, "yp": yp, "out": after})

    def _sample(self, context: int, t: float, y: int | None, yp: int | None, group: int, memory: int | None) -> int:
        if f"sample_{group}" not in self.routines:
            return 0
        return self._call(f"sample_{group}", context, t, {"y": y, "yp": yp, "out": memory})

    def _call(self, name: str, context: int, t: float, pointers: Mapping[str, int | None]) -> int:
        routine, struct = self.routines[name], TgContext.from_address(context)
        run = _Run(self, struct)
        for k, (word, i) in routine.leaves.items():
            if word == "t":
                run.values[f"%{k}"] = t
            else:
                place = getattr(struct, _OF_CONTEXT[word]) if word in _OF_CONTEXT else pointers.get(word)
                run.values[f"%{k}"] = _doubles(place, i + 1)[i] if place else 0.0
        try:
            with np.errstate(all="ignore"):  # what is not finite is reported, not warned about
                run.statements(routine.statements)
            results = [run.value(e) for e in routine.results]
        except _FailureError:
            struct.failed = routine.unknown + 1
            return 1
        if results:
            out = pointers["out"]
            assert out is not None, "results have a place to go"
            _doubles(out, len(results))[:] = results
        for i, result in enumerate(results if routine.checked else ()):
            if not math.isfinite(result):
                struct.failed = routine.first + i + 1
                return 1
        return 0


def _doubles(address: int, count: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address))


@final
class _Run:
    """The variables of one call."""

    def __init__(self, interpreter: Interpreter, struct: TgContext) -> None:
        self.interpreter = interpreter
        self.struct = struct
        self.values: dict[str, float] = {}

    def value(self, expression: Expression) -> float:
        try:
            return float(expression.evaluate(self.values))
        except (ArithmeticError, ValueError):
            return math.nan

    def statements(self, statements: Sequence[Statement]) -> None:
        for statement in statements:
            match statement:
                case Let():
                    self.values[f"%{statement.target}"] = self.value(statement.value)
                case Read():
                    self.values[f"%{statement.target}"] = self._read(statement)
                case Solve():
                    right = np.array([self.value(e) for e in statement.right])
                    found = self._solved(statement.matrix, right)
                    self.values.update(zip((f"%{k}" for k in statement.targets), found.tolist(), strict=True))
                case Newton():
                    self._newton(statement)

    def _solved(self, matrix: Sequence[Sequence[Expression]], right: Array) -> Array:
        return _solution(np.array([[self.value(e) for e in row] for row in matrix]), right)

    def _read(self, statement: Read) -> float:
        arguments = [self.value(e) for e in statement.arguments]
        if statement.kind == "past":
            if not self.struct.past:
                return arguments[1]
            return float(PAST(self.struct.past)(self.struct.history, statement.number, arguments[0]))
        if statement.kind == "external":
            given = (ctypes.c_double * max(len(arguments), 1))(*arguments)
            return float(EXTERNAL(self.struct.external)(statement.number, given))
        table = self.interpreter.tables[self.interpreter.places[statement.number] :]
        return _table(table, arguments[0]) if statement.kind == "table" else _slope(table, arguments[0])

    def _residuals(self, statement: Newton, names: Sequence[str], x: Array) -> Array:
        self.values.update(zip(names, x.tolist(), strict=True))
        self.statements(statement.body)
        return np.array([self.value(e) for e in statement.residuals])

    def _slopes(self, statement: Newton) -> Array:
        self.statements(statement.slopes)
        return np.array([[self.value(e) for e in row] for row in statement.jacobian])

    def _newton(self, statement: Newton) -> None:
        """The same steps as the C code takes."""
        names = [f"%{k}" for k in statement.unknowns]
        kept = _doubles(self.struct.values, statement.scratch + len(names))[statement.scratch :]
        x: Array = np.zeros(len(names)) if statement.linear else np.where(np.isfinite(kept), kept, 0.0)
        step: Array = np.zeros(len(names))
        before, slopes = math.inf, np.full((len(names), len(names)), math.nan)
        rounding = False
        for round_ in range(_MOST_ROUNDS):
            for halvings in range(_MOST_HALVINGS):
                residuals = self._residuals(statement, names, x)
                norm = float(residuals @ residuals)
                moved = bool(np.any(np.abs(step) > 1e-11 * np.abs(x)))
                if round_ == 0 or norm <= before or not (moved or not math.isfinite(norm)):
                    break
                doubt = round_ > 1 and halvings == 0 and norm <= 1e4 * before
                rounding = doubt and _same(self._slopes(statement), slopes)
                if rounding:
                    break
                step = step / 2
                x = x + step
            old, slopes = slopes, self._slopes(statement)
            # Where the slopes stay as they are, a whole step should leave nothing: what it leaves is rounding.
            rounding |= round_ > 1 and halvings == 0 and norm >= 1e-8 * before and _same(slopes, old)
            before = norm
            if rounding and not statement.linear:
                break
            step = _solution(slopes, residuals)
            x = x - step
            small = np.all((np.abs(step) <= 1e-13 * np.abs(x)) | (np.abs(step) <= 1e-300))
            if statement.linear or small or before == 0.0:
                break
        done = statement.linear or rounding or np.all(np.abs(step) <= 1e-9 * np.abs(x) + 1e-300)
        if not done or not np.all(np.isfinite(x)):
            raise _FailureError
        kept[:] = x
        self.values.update(zip(names, x.tolist(), strict=True))


def _same(one: Array, two: Array) -> bool:
    """Whether the slopes of two rounds are equal but for rounding."""
    return bool(np.abs(one - two).sum() <= 1e-9 * np.abs(one).sum())


def _solution(matrix: Array, right: Array) -> Array:
    try:
        found: Array = np.asarray(np.linalg.solve(matrix, right), dtype=float)
    except np.linalg.LinAlgError as reason:
        raise _FailureError from reason
    return found


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
