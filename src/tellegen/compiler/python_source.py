"""Routines as Python functions: every statement written out, for machines without a C compiler."""

import ast
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import Final, final

from tellegen.compiler.newton_search import NewtonSearch, solution
from tellegen.compiler.routines import Routine
from tellegen.compiler.statements import Let, Newton, Read, Solve, Statement, expressions_of, targets_of
from tellegen.expressions import Expression
from tellegen.expressions.python_code import NAMESPACE, Place, PythonWriter, assigned, called, name

_NAMES: Final = {**NAMESPACE, "NewtonSearch": NewtonSearch, "solution": solution}


def python_function(routine: Routine, arrays: Iterable[str]) -> Callable[..., tuple[float, ...]]:
    """The routine as a function of the time, the arrays that it reads, the values kept between calls, and a function that reads.

    The function raises FailedSearchError where a system inside has no solution.
    """
    arguments = ast.arguments([], [ast.arg(word) for word in ("t", *arrays, "kept", "read")], None, [], [], None, [])
    module = ast.parse("def routine(): pass")  # a head, to be filled
    head = module.body[0]
    assert isinstance(head, ast.FunctionDef), "that is what the text says"
    head.args, head.body = arguments, _Body(routine).lines()
    code = compile(ast.fix_missing_locations(module), f"<{routine.name}>", "exec")
    body = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return FunctionType(body, _NAMES)


@final
class _Body:
    """The lines of one function."""

    def __init__(self, routine: Routine) -> None:
        self.routine = routine
        self.places: dict[str, Place] = {
            f"%{k}": "t" if word == "t" else (word, i) for k, (word, i) in routine.leaves.items()
        }
        for statement in _all_statements(routine.statements):
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
        inside = (*statement.body, *statement.slopes)
        writer = self._writer(inside, expressions_of(statement), f"n{self.inner}_")
        word, unknowns = f"w{self.inner}", statement.unknowns
        writer.lines.append(_unpacked(unknowns, _attribute(word, "x")))
        for one in statement.body:
            self._statement(one, writer)
        backs_up = called(_attribute(word, "backs_up"), _row(statement.residuals, writer))
        writer.lines.append(ast.If(backs_up, [ast.Continue()], []))
        for one in statement.slopes:
            self._statement(one, writer)
        steps = called(_attribute(word, "steps"), _matrix(statement.jacobian, writer))
        writer.lines.append(ast.If(steps, [ast.Break()], []))
        place = (statement.scratch, len(unknowns), statement.linear)
        return [
            assigned(word, called("NewtonSearch", name("kept"), *map(ast.Constant, place))),
            ast.While(ast.Constant(True), writer.lines, []),
            _unpacked(unknowns, called(_attribute(word, "found"), name("kept"))),
        ]


def _attribute(word: str, of: str) -> ast.expr:
    return ast.Attribute(name(word), of, ast.Load())


def _row(row: Sequence[Expression], writer: PythonWriter) -> ast.expr:
    return ast.List([writer.value(e) for e in row], ast.Load())


def _matrix(matrix: Sequence[Sequence[Expression]], writer: PythonWriter) -> ast.expr:
    return ast.List([_row(row, writer) for row in matrix], ast.Load())


def _unpacked(targets: Sequence[int], values: ast.expr) -> ast.stmt:
    names: list[ast.expr] = [ast.Name(f"v{k}", ast.Store()) for k in targets]
    return ast.Assign([ast.Tuple(names, ast.Store())], values)


def _all_statements(statements: Iterable[Statement]) -> Iterable[Statement]:
    for statement in statements:
        if isinstance(statement, Newton):
            yield from _all_statements((*statement.body, *statement.slopes))
        yield statement
