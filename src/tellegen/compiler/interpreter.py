"""Routines run by Python itself, with the interface of compiled ones: the slow way, without a C compiler."""

import ast
import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Any, Final, NamedTuple, final

import numpy as np

from tellegen.compiler.context import EXTERNAL, FIELDS, FUNCTIONS, PAST, Array, TgContext, function_of, keep_error
from tellegen.compiler.newton_search import FailedSearchError, NewtonSearch, solution
from tellegen.compiler.numeric_model import PROTOTYPES
from tellegen.compiler.statements import (
    Let,
    Newton,
    Read,
    Routine,
    Solve,
    Statement,
    all_statements,
    expressions_of,
    limited,
    targets_of,
)
from tellegen.compiler.steps import variable
from tellegen.expressions import Expression
from tellegen.expressions.python_code import NAMESPACE, Place, PythonWriter, assigned, called, made_function, name

_NAMES: Final = {**NAMESPACE, "NewtonSearch": NewtonSearch, "solution": solution}


def python_function(routine: Routine, arrays: Iterable[str]) -> Callable[..., tuple[float, ...]]:
    """The routine as a function of the time, the arrays that it reads, the values kept between calls, and a function that reads.

    The function raises FailedSearchError where a system inside has no solution.
    """
    return made_function(("t", *arrays, "kept", "read"), _Body(routine).lines(), routine.name, _NAMES)


@final
class _Body:
    """The lines of one function."""

    def __init__(self, routine: Routine) -> None:
        self.routine = routine
        self.places: dict[str, Place] = {
            f"%{k}": "t" if word == "t" else (word, i) for k, (word, i) in routine.leaves.items()
        }
        for statement in all_statements(routine.statements):
            self.places.update((f"%{k}", f"v{k}") for k in targets_of(statement))
        self.inner = 0

    def lines(self) -> list[ast.stmt]:
        """Everything below the head."""
        writer = self._writer(self.routine.statements, self.routine.results)
        for statement in self.routine.statements:
            self._statement(statement, writer)
        results = ast.Tuple([writer.value(e) for e in self.routine.results], ast.Load())
        return [*writer.lines, ast.Return(results)]

    def _writer(self, statements: Sequence[Statement], others: Iterable[Expression], prefix: str = "s") -> PythonWriter:
        writer = PythonWriter(self.places, prefix)
        writer.count(e for s in statements if not isinstance(s, Newton) for e in expressions_of(s))
        writer.count(others)
        return writer

    def _statement(self, statement: Statement, writer: PythonWriter) -> None:
        match statement:
            case Let():
                writer.set(f"v{statement.target}", statement.value)
            case Read():
                arguments = ast.Tuple([writer.value(e) for e in statement.arguments], ast.Load())
                what = ast.Constant(statement.kind), ast.Constant(statement.number)
                writer.lines.append(assigned(f"v{statement.target}", called("read", *what, arguments)))
            case Solve():
                matrix, right = _matrix(statement.matrix, writer), _row(statement.right, writer)
                writer.lines.append(_unpacked(statement.targets, called("solution", matrix, right)))
            case Newton():
                writer.lines += self._newton(statement)

    def _newton(self, statement: Newton) -> list[ast.stmt]:
        """The same steps as the C code takes."""
        self.inner += 1
        self.places[f"%{statement.limit}"] = f"limit{self.inner}"
        statement = limited(statement, variable(statement.limit))
        inside = (*statement.body, *statement.slopes)
        slopes = (e for row in statement.jacobian for e in row)
        writer = self._writer(inside, (*statement.residuals, *slopes), f"n{self.inner}_")
        # Searches may stand inside of searches: each has a name of its own.
        word, unknowns = f"w{self.inner}", statement.unknowns
        writer.lines.append(_unpacked(unknowns, _attribute(word, "x")))
        writer.lines.append(assigned(f"limit{self.inner}", _attribute(word, "limit")))
        for one in statement.body:
            self._statement(one, writer)
        backs_up = called(_attribute(word, "backs_up"), _row(statement.residuals, writer))
        writer.lines.append(ast.If(backs_up, [ast.Continue()], []))
        if statement.terms:
            writer.lines.append(ast.If(_attribute(word, "asks"), self._measured(statement, word), []))
        for one in statement.slopes:
            self._statement(one, writer)
        steps = called(_attribute(word, "steps"), _matrix(statement.jacobian, writer))
        writer.lines.append(ast.If(steps, [ast.Break()], []))
        places = ast.Tuple(list(map(ast.Constant, statement.places)), ast.Load())
        told = ast.Constant(statement.scratch), places, ast.Constant(statement.linear)
        return [
            assigned(word, called("NewtonSearch", name("kept"), *told)),
            ast.While(ast.Constant(True), writer.lines, []),
            _unpacked(unknowns, called(_attribute(word, "found"), name("kept"))),
        ]

    def _measured(self, statement: Newton, word: str) -> list[ast.stmt]:
        """The terms, which are seldom asked for."""
        writer = self._writer(statement.measures, statement.terms, f"m{self.inner}_")
        for one in statement.measures:
            self._statement(one, writer)
        told = called(_attribute(word, "measures"), _row(statement.terms, writer))
        return [*writer.lines, ast.Expr(told)]


def _attribute(word: str, of: str) -> ast.expr:
    return ast.Attribute(name(word), of, ast.Load())


def _row(row: Sequence[Expression], writer: PythonWriter) -> ast.expr:
    return ast.List([writer.value(e) for e in row], ast.Load())


def _matrix(matrix: Sequence[Sequence[Expression]], writer: PythonWriter) -> ast.expr:
    return ast.List([_row(row, writer) for row in matrix], ast.Load())


def _unpacked(targets: Sequence[int], values: ast.expr) -> ast.stmt:
    names: list[ast.expr] = [ast.Name(f"v{k}", ast.Store()) for k in targets]
    return ast.Assign([ast.Tuple(names, ast.Store())], values)


@final
class Interpreter:
    """The native functions of a model whose code is Python; `addresses` are good while the interpreter lives."""

    def __init__(self, routines: Sequence[Routine], tables: Array, places: Sequence[int]) -> None:
        self._routines = {routine.name: _PythonRoutine(routine, tables, places) for routine in routines}
        self._callbacks: dict[str, Any] = {}
        for word, prototype in PROTOTYPES.items():
            if (function := self._function(word)) is not None:
                self._callbacks[word] = prototype(function)

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
            # The two routines are one function in model.h; dp tells which is meant, as in C.
            along_parameters = pointers[-2]  # the results come last
            return routines[f"{name}_p" if along_parameters else f"{name}_y"].call(context, t, *pointers)

        return tangent

    def _balance(self, context: int, t: float, y: int | None, yp: int | None, out: int | None) -> int:
        assert out is not None, "whoever asks for powers has room for them"
        # The balance is the powers, and behind these four the stored energy.
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
        arguments = FUNCTIONS[function_of(self.routine.name)]
        return tuple(
            _Array(FIELDS.get(word), 0 if word in FIELDS else arguments.index(word), _doubles(size), size)
            for word, size in self.sizes.items()
        )

    @cached_property
    def kept(self) -> int:
        """How many values systems inside keep from one call to the next."""
        return self.routine.values_kept()

    def call(self, context: int, t: float, *pointers: int | None) -> int:
        """Evaluate into the last of the pointers; 1 where a value is not finite, or where an error is kept for the caller of C."""
        struct = TgContext.from_address(context)
        try:
            return self._evaluate(struct, t, pointers)
        # In C a return value says so; the solver then tries a smaller step.
        except FailedSearchError as search:
            struct.failed = self.routine.unknown + search.place + 1
        except BaseException as error:  # Ctrl-C, too: nothing can be raised through a solver in C
            keep_error(error)
            struct.failed = self.routine.first + 1
        return 1

    def _evaluate(self, struct: TgContext, t: float, pointers: Sequence[int | None]) -> int:
        routine = self.routine
        arrays = []
        for field, place, kind, size in self.arrays:
            at = getattr(struct, field) if field else pointers[place]
            # A null pointer stands for zeros. A list, for Python reads single numbers from it faster than from an array
            # of NumPy.
            arrays.append(kind.from_address(at)[:] if at else [0.0] * size)
        kept = _doubles(self.kept).from_address(struct.values) if self.kept else ()
        results = self.function(t, *arrays, kept, partial(self._read, struct))
        if results:
            _doubles(len(results)).from_address(pointers[-1])[:] = results
        if routine.checked and not all(map(math.isfinite, results)):
            # Counted as in C: one more than the place among the variables of the model.
            struct.failed = routine.first + next(i for i, v in enumerate(results) if not math.isfinite(v)) + 1
            return 1
        return 0

    def _read(self, struct: TgContext, kind: str, number: int, arguments: Sequence[float]) -> float:
        if kind == "past":
            return float(PAST(struct.past)(struct.history, number, arguments[0])) if struct.past else arguments[1]
        if kind == "external":
            return float(EXTERNAL(struct.external)(struct.host, number, _doubles(max(len(arguments), 1))(*arguments)))
        table = self.tables[self.places[number] :]
        return _table(table, arguments[0]) if kind == "table" else _slope(table, arguments[0])


@lru_cache(maxsize=1024)
def _doubles(count: int) -> Any:
    return ctypes.c_double * count


def _parts(table: Array) -> tuple[int, Array, Array, Array]:
    kind, n = int(table[0]), int(table[1])
    return kind, table[2 : 2 + n], table[2 + n : 2 + 2 * n], table[2 + 2 * n : 2 + 3 * n]


def _table(table: Array, x: float) -> float:
    kind, points, values, slopes = _parts(table)
    # Also where x is not a number: the first value, as in support.h.
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
