"""`functions`: a model as functions that NumPy evaluates, JAX differentiates and CasADi builds from symbols.

They are one text of Python, which the three run alike: all that differs is behind F.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final, get_args

import numpy as np
import numpy.typing as npt

from tellegen.compiler.context import KINDS
from tellegen.compiler.statements import (
    Let,
    Newton,
    Read,
    Routine,
    Solve,
    Statement,
    all_statements,
    needed_statements,
    targets_of,
)
from tellegen.compiler.steps import variable
from tellegen.core.names import did_you_mean, identifier
from tellegen.core.packages import load_package
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, Sources, exchanged
from tellegen.exporting.python.libraries import LIBRARIES, table, table_slope
from tellegen.expressions import Expression, printing
from tellegen.expressions.nodes import Constant, Logic, Rational, Relation, postorder
from tellegen.expressions.printing import ATOM, PrintedPiece
from tellegen.expressions.python_code import made_function
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model

Library = Literal["numpy", "jax", "casadi"]
Array = npt.NDArray[np.float64]


@final
@dataclass(frozen=True)
class ModelNames:
    """The names of what the functions are given and give, in order."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]


@final
@dataclass(frozen=True)
class ModelFunctions:
    """`rates(t, y, u, p)` and `outputs(t, y, u, p)` of a model, where they begin, and the values of inputs and parameters.

    With CasADi they are a `casadi.Function` of t, x, u and p each.
    """

    name: str
    of: Library
    rates: Callable[..., Any]
    outputs: Callable[..., Any]
    names: ModelNames
    start: Array
    inputs: Array
    parameters: Array

    def to_control(self) -> Any:
        """The model as a `control.NonlinearIOSystem`; its parameters may be given by name.

        Raises: ExportError (X001) without python-control.
        """
        control = load_package("control", extra="control", purpose="a model of python-control")
        numbers = self if self.of == "numpy" else None
        if numbers is None:
            raise rules.UNKNOWN_OPTION.error(
                "python-control calls functions of numbers", fix="functions(model).to_control()"
            )

        def valued(given: Mapping[str, float]) -> Array:
            found = self.parameters.copy()
            for k, name in enumerate(self.names.parameters):
                found[k] = given.get(name, found[k])
            return found

        return control.nlsys(
            lambda t, x, u, given: self.rates(t, x, u, valued(given)),
            lambda t, x, u, given: self.outputs(t, x, u, valued(given)),
            name=identifier(self.name.replace(" ", "_")),
            states=list(map(identifier, self.names.states)),
            inputs=list(map(identifier, self.names.inputs)),
            outputs=list(map(identifier, self.names.outputs)),
            params=dict(zip(self.names.parameters, self.parameters.tolist(), strict=True)),
        )


def functions(model: AnyModel, of: Library = "numpy", *, sources: Sources = "open") -> ModelFunctions:
    """The rates and outputs of a model as functions of time, states, inputs and parameters; all values are in SI units.

    The states are those of storages, displacements and signals, in this order. `of="jax"` gives functions that JAX differentiates
    and compiles; `of="casadi"` a `casadi.Function` each, from t, x, u, p to xdot and y. With `sources="experiment"` the courses of
    the experiment are inside, and no source is an input.

    Raises: ExportError for what functions cannot hold (X401, X402, X408, X409, X410), a library that there is not (X407) or that
        is not installed (X001).
    """
    if of not in get_args(Library):
        fix = did_you_mean(of, get_args(Library)) or f"give {', '.join(get_args(Library))}"
        raise rules.UNKNOWN_OPTION.error(f"'of' is '{of}'", fix=fix)
    made = _made(as_model(model), sources)
    library = load_package(of, extra=of if of != "numpy" else "", purpose=f"functions for {of}")
    if of == "jax" and not library.config.jax_enable_x64:
        raise rules.UNKNOWN_OPTION.error(
            "JAX computes in 32 bits, which is not enough for a model",
            fix="jax.config.update('jax_enable_x64', True) before anything else",
        )
    lines, known = _function_lines(made), _model_values(made)
    space = {word: _function(word, getattr(lines, word), lines.tables) for word in ("rates", "outputs")}
    names = ModelNames(*(tuple(map(str, known[word])) for word in ("STATES", "INPUTS", "PARAMETERS", "OUTPUTS")))
    rates, outputs = _in_library(of, library, space, names, symbols_of_calls=_reads_unknowns(made))
    values = (np.array(known[word], dtype=float) for word in ("START", "INPUT_VALUES", "PARAMETER_VALUES"))
    return ModelFunctions(made.name, of, rates, outputs, names, *values)


def _function(word: str, lines: Sequence[str], tables: Mapping[str, object]) -> Callable[..., Any]:
    """A function from its lines, in which variables are numbers: no text of a model stands in them."""
    body = ast.parse("\n".join(lines)).body
    return made_function(("t", "y", "u", "p", "F"), body, word, {"table": table, "table_slope": table_slope, **tables})


def _in_library(
    of: Library, library: Any, space: Mapping[str, Any], names: ModelNames, *, symbols_of_calls: bool
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    words = LIBRARIES[of]()
    if of == "casadi":
        kind = library.MX if symbols_of_calls else library.SX
        t, x, u, p = (kind.sym(word, n) for word, n in zip("txup", (1, *map(len, _given(names))), strict=True))

        def built(word: str, result: str) -> Any:
            given = [[v[k] for k in range(v.shape[0])] for v in (x, u, p)]
            found = library.vertcat(*space[word](t, *given, words))
            return library.Function(word, [t, x, u, p], [found], ["t", "x", "u", "p"], [result])

        return built("rates", "xdot"), built("outputs", "y")

    def called(word: str) -> Callable[..., Any]:
        function = space[word]
        if of == "jax":
            return lambda t, y, u, p: library.numpy.stack(
                [library.numpy.asarray(e, dtype=float) for e in function(t, y, u, p, words)]
            )

        def with_numbers(t: float, y: Sequence[float], u: Sequence[float] = (), p: Sequence[float] = ()) -> Array:
            # The branch of a formula that does not hold may have no value.
            with np.errstate(all="ignore"):
                given = (np.asarray(v, dtype=float) for v in (y, u, p))
                return np.array(function(t, *given, words), dtype=float)

        return with_numbers

    return called("rates"), called("outputs")


def _given(names: ModelNames) -> tuple[Sequence[str], ...]:
    return names.states, names.inputs, names.parameters


def _made(model: Model, sources: Sources) -> Exchanged:
    made = exchanged(model, sources, with_nominal=False, with_modes=False)
    if made.code.program.signals.samples:
        law = made.code.program.signals.samples[0][0]
        how = "remembers what has happened" if law.is_latch else "is sampled"
        raise rules.SIGNALS.error(
            f"the signal '{law.name}' {how}, and functions of the present keep nothing",
            where=law.name,
            fix=f"export it to fmu or {'c' if law.is_latch else 'simulink'}, or leave the controller out",
        )
    return made


def python_files(model: Model, name: str, *, sources: Sources = "open") -> dict[str, str]:
    """The functions of a model as a module of Python that needs nothing of this package."""
    return {f"{name}_model.py": _python_file(_made(model, sources))}


ARRAYS = ("y", "u", "p")


@final
class _Printer(printing.AbstractPrinter):
    words = {"and": "both", "or": "either", "not": "no", "true": "True", "false": "False"}  # noqa: RUF012
    power_sign = "**"

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def name(self, name: str) -> str:
        return self.names[name]

    def number(self, q: Rational) -> tuple[str, str]:
        # As in C: the double nearest to the fraction, in its shortest digits.
        return repr(float(q)), ""

    def rational_exponent(self, q: Rational) -> PrintedPiece:
        # Whole powers are products in every library.
        return PrintedPiece(str(q) if q.denominator == 1 else repr(float(q)), ATOM, 1)

    def constant(self, node: Constant) -> str:
        return repr(node.value)

    def root(self, base: PrintedPiece) -> str:
        return f"F.sqrt({base.text})"

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        if name in ("min", "max") and len(args) > 2:
            return self.call(name, [args[0], self.call(name, args[1:])])
        return printing.listed(f"F.{'where' if name == 'if' else name}", args)

    def condition(self, node: Expression, pieces: printing.Pieces) -> PrintedPiece:
        if isinstance(node, Relation):
            left, right = (self.fence(pieces[arg].text) for arg in node.args)
            return PrintedPiece(f"({left} {node.operator} {right})", ATOM, 1)
        assert isinstance(node, Logic), "what is left are joined conditions"
        args = [pieces[arg] for arg in node.args]
        if not args:
            return PrintedPiece(self.words[node.operator], ATOM, 1)
        found = args[-1] if len(args) > 1 else printing.listed(f"F.{self.words[node.operator]}", args)
        for arg in args[-2::-1]:
            found = printing.listed(f"F.{self.words[node.operator]}", (arg, found))
        return found


@final
class _Function:
    """The lines of one function. What formulas share is computed once."""

    def __init__(self, routine: Routine, places: Mapping[int, str]) -> None:
        self.routine = routine
        names = {f"%{k}": text for k, text in places.items()}
        for statement in all_statements(routine.statements):
            for k in targets_of(statement):
                names[f"%{k}"] = f"v{k}"
        self.printer = _Printer(names)
        self.count = 0

    def lines(self, results: Sequence[Expression]) -> list[str]:
        """Everything below the head."""
        needed = needed_statements(self.routine.statements, results)
        lines, known = self._block(needed)
        texts = [self._text(e, lines, known) for e in results]
        return [*lines, f"return [{', '.join(texts)}]"]

    def _block(self, statements: Iterable[Statement]) -> tuple[list[str], dict[Expression, PrintedPiece]]:
        lines: list[str] = []
        known: dict[Expression, PrintedPiece] = {}
        for statement in statements:
            self._statement(statement, lines, known)
        return lines, known

    def _text(self, expression: Expression, lines: list[str], known: dict[Expression, PrintedPiece]) -> str:
        uses: dict[Expression, int] = {}
        for node in postorder(expression):
            for arg in node.args:
                uses[arg] = uses.get(arg, 0) + 1
        for node in postorder(expression):
            if node in known:
                continue
            piece = self.printer.piece(node, known)
            if uses.get(node, 0) > 1 and node.args and not isinstance(node, Relation | Logic) and piece.size > 1:
                self.count += 1
                lines.append(f"s{self.count} = {piece.text}")
                piece = PrintedPiece(f"s{self.count}", ATOM, 1)
            known[node] = piece
        return known[expression].text

    def _statement(self, statement: Statement, lines: list[str], known: dict[Expression, PrintedPiece]) -> None:
        def text(e: Expression) -> str:
            return self._text(e, lines, known)

        match statement:
            case Let():
                value = text(statement.value)
                lines.append(f"v{statement.target} = {value}")
                # Who reads it by its formula shall read it by its name.
                known[variable(statement.target)] = PrintedPiece(f"v{statement.target}", ATOM, 1)
            case Read():
                argument = text(statement.arguments[0])
                word = "table" if statement.kind == "table" else "table_slope"
                lines.append(f"v{statement.target} = {word}({argument}, TABLE_{statement.number}, F)")
            case Solve():
                rows = [f"[{', '.join(text(e) for e in row)}]" for row in statement.matrix]
                right = ", ".join(text(e) for e in statement.right)
                names = ", ".join(f"v{k}" for k in statement.targets)
                lines.append(f"{names}, = F.solve([{', '.join(rows)}], [{right}])")
            case Newton():
                self._newton(statement, lines)

    def _newton(self, statement: Newton, lines: list[str]) -> None:
        names = ", ".join(f"v{k}" for k in statement.unknowns)
        inner, known = self._block((*statement.body, *statement.slopes))
        residuals = [self._text(e, inner, known) for e in statement.residuals]
        slopes = [[self._text(e, inner, known) for e in row] for row in statement.jacobian]
        rows = ", ".join(f"[{', '.join(row)}]" for row in slopes)
        word = f"system_{statement.unknowns[0]}"
        lines += [f"def {word}(x):", f"    {names}, = x", *(f"    {line}" for line in inner)]
        lines += [f"    return [{', '.join(residuals)}], [{rows}]"]
        lines.append(f"{names}, = F.newton({word}, {len(statement.unknowns)}, {statement.linear})")


def _reads_unknowns(made: Exchanged) -> bool:
    """Whether a search stands in the functions."""
    routines = [r for r in made.code.routines if r.name in ("rhs", "observe")]
    return any(isinstance(s, Newton) for r in routines for s in all_statements(r.statements))


@final
@dataclass(frozen=True)
class _FunctionLines:
    """The bodies of `rates` and `outputs`, which read t, y, u, p, F and the tables, and nothing else."""

    rates: list[str]
    outputs: list[str]
    tables: Mapping[str, object]


def _function_lines(made: Exchanged) -> _FunctionLines:
    """The functions of a model, line by line."""
    routines = {routine.name: routine for routine in made.code.routines}
    rates, observe = routines["rhs"], routines["observe"]
    words = {*ARRAYS, "t"}
    leaves = {k: "t" if word == "t" else f"{word}[{i}]" for k, (word, i) in rates.leaves.items() if word in words}
    together = _with_rates(rates, observe)
    shown = [together.results[v.place] for v in made.by_role.get("observable", ())]
    return _FunctionLines(
        _Function(rates, leaves).lines(list(rates.results)),
        _Function(together, leaves).lines(shown),
        dict(_tables(made)),
    )


def _model_values(made: Exchanged) -> dict[str, tuple[str, ...] | list[float]]:
    """Names and numbers of what the functions are given and give, under the words of a written file."""
    program = made.code.program
    input_starts = {v.place: v.start or 0.0 for v in made.by_role.get("input", ())}
    return {
        "STATES": tuple(program.names[k] for k in made.code.y),
        "INPUTS": tuple(program.names[k] for k in program.inputs),
        "PARAMETERS": tuple(made.code.base),
        "OUTPUTS": tuple(v.name for v in made.by_role.get("observable", ())),
        "START": list(map(float, made.start)),
        "INPUT_VALUES": [float(input_starts.get(k, 0.0)) for k in range(len(program.inputs))],
        "PARAMETER_VALUES": [float(made.setup.parameters[name]) for name in made.code.base],
    }


def _with_rates(rates: Routine, observe: Routine) -> Routine:
    """The outputs behind the rates, which they may read."""
    own = set(rates.statements)
    yp = {i: k for k, (word, i) in observe.leaves.items() if word == "yp"}
    given = [Let(yp[i], e) for i, e in enumerate(rates.results)]
    statements = [*rates.statements, *given, *(s for s in observe.statements if s not in own)]
    return Routine("outputs", statements, observe.results, observe.leaves)


def _tables(made: Exchanged) -> Iterator[tuple[str, object]]:
    """Each table as points, where its pieces begin, and their coefficients; before and behind all points a value holds."""
    for k, begin in enumerate(made.code.places):
        packed = made.code.data.tables[begin:].tolist()
        kind, n = packed[0], int(packed[1])
        points, values, slopes = (packed[2 + j * n : 2 + (j + 1) * n] for j in range(3))
        rows = [(points[0], values[0], 0.0, 0.0, 0.0)]
        for i in range(n - 1):
            rows.append((points[i], *_cubic(kind, points[i : i + 2], values[i : i + 2], slopes[i : i + 2])))
        rows.append((points[-1], values[-1], 0.0, 0.0, 0.0))
        columns = [list(column) for column in zip(*rows, strict=True)]
        yield f"TABLE_{k}", (points, *columns)


def _cubic(
    kind: float, points: Sequence[float], values: Sequence[float], slopes: Sequence[float]
) -> tuple[float, float, float, float]:
    h, rise = points[1] - points[0], values[1] - values[0]
    if kind == KINDS["previous"] or h <= 0.0:
        return values[0], 0.0, 0.0, 0.0
    if kind == KINDS["linear"]:
        return values[0], rise / h, 0.0, 0.0
    return (
        values[0],
        slopes[0],
        (3 * rise / h - 2 * slopes[0] - slopes[1]) / h,
        (slopes[0] + slopes[1] - 2 * rise / h) / h**2,
    )


def _python_file(made: Exchanged) -> str:
    """A module that needs nothing of this package."""
    libraries = Path(__file__).with_name("libraries.py").read_text(encoding="utf-8").split('"""', 2)[2].lstrip("\n")
    lines = _function_lines(made)
    values = {"NAME": made.name, **_model_values(made), **lines.tables}
    return "\n".join(
        [
            ABOUT,
            libraries,
            "",
            *(f"{word} = {value!r}" for word, value in values.items()),
            "",
            "",
            "def rates(t, y, u, p, F):",
            '    """The rates of the states y at the time t, for inputs u and parameters p."""',
            *(f"    {line}" for line in lines.rates),
            "",
            "",
            "def outputs(t, y, u, p, F):",
            '    """The outputs at the same point."""',
            *(f"    {line}" for line in lines.outputs),
            "",
        ]
    )


ABOUT = '''"""A model written by Tellegen: NAME, its states, inputs, parameters and outputs, and their functions.

`rates(t, y, u, p, F)` and `outputs(t, y, u, p, F)` are formulas; F is what they call: `numpy_functions()`, `jax_functions()` or
`casadi_functions()`. All values are in SI units.
"""
'''
