"""Formulas as syntax trees of Python: many of one function, with what they share computed once.

No text is made on the way: names are ours, numbers are numbers, and functions are those of the table.
"""

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from types import CodeType, FunctionType
from typing import Final, NamedTuple, final

from tellegen.expressions import nodes
from tellegen.expressions.functions import PYTHON_NAMESPACE
from tellegen.expressions.nodes import Expression, Rational, postorder
from tellegen.expressions.rules import NoRealValueError

Place = str | tuple[str, int]
"""Where a variable is found: under a name, or in an array."""

_DEEPEST: Final = 40
"""What is nested more deeply is given a name: the compiler of Python follows trees by recursion."""
_LONGEST: Final = 20
"""Sums and products of more parts are calls of a function, which is as deep as one of them."""

_COMPARE: Final[Mapping[str, Callable[[], ast.cmpop]]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
}


def _real_power(base: float, exponent: float) -> float:
    """A power that is a real number. Raises NoRealValueError where there is none."""
    found: float | complex = base**exponent
    # Python's power of a negative number is complex; compiled C gives not a number, and so do we.
    if isinstance(found, complex):
        raise NoRealValueError(f"{base:g} has no real power {exponent:g}")
    return found


def _product(factors: Iterable[float]) -> float:
    return reduce(operator.mul, factors)


NAMESPACE: Final[Mapping[str, object]] = PYTHON_NAMESPACE | {
    "real_power": _real_power,
    "sum_of": sum,
    "product_of": _product,
    "NO_VALUE": (ArithmeticError, ValueError),
}
"""What trees of a PythonWriter need in order to run."""


class _Piece(NamedTuple):
    """A tree, whether evaluating it may fail, and how deep it is."""

    tree: ast.expr
    may_fail: bool
    depth: int


def name(word: str) -> ast.expr:
    """A name of ours that is read."""
    return ast.Name(word, ast.Load())


def called(function: ast.expr | str, *arguments: ast.expr) -> ast.expr:
    """A function with its arguments."""
    return ast.Call(name(function) if isinstance(function, str) else function, list(arguments), [])


def assigned(word: str, tree: ast.expr) -> ast.stmt:
    """A name of ours set to a value."""
    return ast.Assign([ast.Name(word, ast.Store())], tree)


def made_function(words: Sequence[str], lines: list[ast.stmt], title: str, known: Mapping[str, object]) -> FunctionType:
    """A function of these arguments that runs these lines, and knows nothing but what it is given.

    Made as a tree, never as text: whatever a name in a model looks like, it cannot become code.
    """
    module = ast.parse(f"def function({', '.join(words)}): pass")  # a head, to be filled
    head = module.body[0]
    assert isinstance(head, ast.FunctionDef), "that is what the text says"
    head.body = lines
    code = compile(ast.fix_missing_locations(module), f"<{title}>", "exec")
    # The code of the function itself: running the module would only define it under a name.
    body = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    return FunctionType(body, dict(known))


def row_function(expression: Expression, names: Sequence[str]) -> Callable[[Sequence[float]], float]:
    """The expression as a function of a row of values, for many rows; not a number where it has no value."""
    writer = PythonWriter({word: ("row", k) for k, word in enumerate(names)})
    writer.count([expression])
    value = writer.value(expression)
    return made_function(("row",), [*writer.lines, ast.Return(value)], "formula", NAMESPACE)


@final
class PythonWriter:
    """Writes many expressions of one function. What has no value becomes one that is not a number, as it does in C.

    Every expression is counted before the first is written, so that the writer knows what is shared. `lines` grows by what an
    expression needs before it.
    """

    def __init__(self, places: Mapping[str, Place], prefix: str = "s") -> None:
        self.lines: list[ast.stmt] = []
        self._places = places
        self._prefix = prefix
        self._uses: Counter[Expression] = Counter()
        self._pieces: dict[Expression, _Piece] = {}
        self._count = 0

    def count(self, expressions: Iterable[Expression]) -> None:
        """Announce expressions that will be written."""
        for root in expressions:
            stack = [] if root in self._uses else [root]
            self._uses[root] += 1
            while stack:
                for arg in stack.pop().args:
                    if arg not in self._uses:
                        stack.append(arg)
                    self._uses[arg] += 1

    def set(self, word: str, expression: Expression) -> None:
        """Give a name to the value of an expression."""
        self._assign(word, self._written(expression))

    def value(self, expression: Expression) -> ast.expr:
        """A tree that can be evaluated without failing."""
        piece = self._written(expression)
        return (self._named(piece) if piece.may_fail else piece).tree

    def _written(self, expression: Expression) -> _Piece:
        for node in postorder(expression):
            if node not in self._pieces:
                piece = self._piece(node)
                # Deep trees are cut by names: `compile` follows them by recursion and would overflow its stack.
                needs_name = self._is_shared(node) or piece.depth > _DEEPEST
                self._pieces[node] = self._named(piece) if needs_name else piece
        return self._pieces[expression]

    def _is_shared(self, node: Expression) -> bool:
        return self._uses[node] > 1 and not isinstance(
            node, nodes.Symbol | nodes.Number | nodes.Constant | nodes.Condition
        )

    def _named(self, piece: _Piece) -> _Piece:
        word = f"{self._prefix}{self._count}"
        self._count += 1
        self._assign(word, piece)
        return _Piece(name(word), False, 0)

    def _assign(self, word: str, piece: _Piece) -> None:
        line = assigned(word, piece.tree)
        if piece.may_fail:
            # What has no value becomes not a number, as in C, so that a solver retries with a shorter step instead of ending.
            lost = [assigned(word, ast.Constant(float("nan")))]
            line = ast.Try([line], [ast.ExceptHandler(name("NO_VALUE"), None, lost)], [], [])
        self.lines.append(line)

    # -- nodes -----------------------------------------------------------------------------------------------------------------

    def _piece(self, node: Expression) -> _Piece:
        if isinstance(node, nodes.Symbol):
            return _Piece(_placed(self._places[node.name]), False, 0)
        if isinstance(node, nodes.Number):
            return _Piece(ast.Constant(float(node.rational)), False, 0)
        if isinstance(node, nodes.Constant):
            return _Piece(ast.Constant(node.value), False, 0)
        if isinstance(node, nodes.Add):
            return self._sum(node)
        if isinstance(node, nodes.Mul):
            return self._quotient(float(node.coefficient), node.factors)
        if isinstance(node, nodes.Pow):
            return self._power(node)
        return self._call(node) if isinstance(node, nodes.Call) else self._condition(node)

    def _sum(self, node: nodes.Add) -> _Piece:
        parts = [self._pieces[term] if c == 1 else _times(float(c), self._pieces[term]) for term, c in node.terms]
        if node.constant:
            parts.append(_Piece(ast.Constant(float(node.constant)), False, 0))
        return _joined(parts, ast.Add(), "sum_of")

    def _quotient(self, coefficient: float, factors: Sequence[tuple[Expression, Rational]]) -> _Piece:
        up = [self._raised(base, q) for base, q in factors if q > 0]
        down = [self._raised(base, -q) for base, q in factors if q < 0]
        above = _joined(up, ast.Mult(), "product_of") if up else _Piece(ast.Constant(1.0), False, 0)
        if coefficient != 1.0:
            above = _times(coefficient, above)
        if not down:
            return above
        below = _joined(down, ast.Mult(), "product_of")
        # Division may fail, so its line is guarded; sums and products of floats never raise.
        return _Piece(ast.BinOp(above.tree, ast.Div(), below.tree), True, 1 + max(above.depth, below.depth))

    def _raised(self, base: Expression, q: Rational) -> _Piece:
        """A power with a positive rational exponent."""
        piece = self._pieces[base]
        if q == 1:
            return piece
        if q.denominator == 1:
            tree: ast.expr = ast.BinOp(piece.tree, ast.Pow(), ast.Constant(int(q)))
        elif q.numerator == 1 and q.denominator == 2:
            tree = called("sqrt", piece.tree)
        else:
            tree = called("real_power", piece.tree, ast.Constant(float(q)))
        return _Piece(tree, True, 1 + piece.depth)

    def _power(self, node: nodes.Pow) -> _Piece:
        if isinstance(node.exponent, nodes.Number):
            return self._quotient(1.0, ((node.base, node.exponent.rational),))
        base, exponent = self._pieces[node.base], self._pieces[node.exponent]
        return _Piece(called("real_power", base.tree, exponent.tree), True, 1 + max(base.depth, exponent.depth))

    def _call(self, node: nodes.Call) -> _Piece:
        args = [self._pieces[arg] for arg in node.arguments]
        depth = 1 + max(arg.depth for arg in args)
        if node.name == "if":
            condition, yes, no = (arg.tree for arg in args)
            # Branches are not named before, so the one that does not count is not evaluated.
            return _Piece(ast.IfExp(condition, yes, no), any(arg.may_fail for arg in args), depth)
        return _Piece(called(node.name, *(arg.tree for arg in args)), True, depth)

    def _condition(self, node: Expression) -> _Piece:
        args = [self._pieces[arg] for arg in node.args]
        may_fail, depth = any(arg.may_fail for arg in args), 1 + max((arg.depth for arg in args), default=0)
        if isinstance(node, nodes.Relation):
            return _Piece(ast.Compare(args[0].tree, [_COMPARE[node.operator]()], [args[1].tree]), may_fail, depth)
        assert isinstance(node, nodes.Logic), "what is left are joined conditions"
        if node.operator == "not":
            return _Piece(ast.UnaryOp(ast.Not(), args[0].tree), may_fail, depth)
        if not args:
            return _Piece(ast.Constant(node.operator == "true"), False, 0)
        join = ast.And() if node.operator == "and" else ast.Or()
        return _Piece(ast.BoolOp(join, [arg.tree for arg in args]), may_fail, depth)


def _placed(place: Place) -> ast.expr:
    if isinstance(place, str):
        return name(place)
    array, k = place
    return ast.Subscript(name(array), ast.Constant(k), ast.Load())


def _times(coefficient: float, piece: _Piece) -> _Piece:
    # A sign is quicker than a product.
    if coefficient == -1.0:
        return _Piece(ast.UnaryOp(ast.USub(), piece.tree), piece.may_fail, piece.depth + 1)
    return _Piece(ast.BinOp(ast.Constant(coefficient), ast.Mult(), piece.tree), piece.may_fail, piece.depth + 1)


def _joined(parts: Sequence[_Piece], join: ast.operator, function: str) -> _Piece:
    """Parts joined by an operator, or given to a function where they are many."""
    may_fail, depth = any(part.may_fail for part in parts), max(part.depth for part in parts)
    trees = [part.tree for part in parts]
    # As one call with a tuple: a chain of additions would be as deep as it is long.
    if len(parts) > _LONGEST:
        return _Piece(called(function, ast.Tuple(trees, ast.Load())), may_fail, depth + 1)
    joined = reduce(lambda left, right: ast.BinOp(left, join, right), trees)
    return _Piece(joined, may_fail, depth + len(parts) - 1)
