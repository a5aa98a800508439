"""The functions of a model as one text of Python, which NumPy, JAX and CasADi run alike: all that differs is behind F."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

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
from tellegen.exporting.exchanged import Exchanged
from tellegen.expressions import Expression, printing
from tellegen.expressions.nodes import Constant, Logic, Rational, Relation, postorder
from tellegen.expressions.printing import ATOM, PrintedPiece

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


def reads_unknowns(made: Exchanged) -> bool:
    """Whether a search stands in the functions."""
    routines = [r for r in made.code.routines if r.name in ("rhs", "observe")]
    return any(isinstance(s, Newton) for r in routines for s in all_statements(r.statements))


@final
@dataclass(frozen=True)
class FunctionLines:
    """The bodies of `rates` and `outputs`, which read t, y, u, p, F and the tables, and nothing else."""

    rates: list[str]
    outputs: list[str]
    tables: Mapping[str, object]


def function_lines(made: Exchanged) -> FunctionLines:
    """The functions of a model, line by line."""
    routines = {routine.name: routine for routine in made.code.routines}
    rates, observe = routines["rhs"], routines["observe"]
    words = {*ARRAYS, "t"}
    leaves = {k: "t" if word == "t" else f"{word}[{i}]" for k, (word, i) in rates.leaves.items() if word in words}
    together = _with_rates(rates, observe)
    shown = [together.results[v.place] for v in made.by_role.get("observable", ())]
    return FunctionLines(
        _Function(rates, leaves).lines(list(rates.results)),
        _Function(together, leaves).lines(shown),
        dict(_tables(made)),
    )


def model_values(made: Exchanged) -> dict[str, tuple[str, ...] | list[float]]:
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


def python_file(made: Exchanged) -> str:
    """A module that needs nothing of this package."""
    libraries = Path(__file__).with_name("libraries.py").read_text(encoding="utf-8").split('"""', 2)[2].lstrip("\n")
    lines = function_lines(made)
    values = {"NAME": made.name, **model_values(made), **lines.tables}
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
