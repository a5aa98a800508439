"""The value of an expression, in floating point or exactly; an explicit stack, so depth does not matter."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tellegen.expressions.conditions import COMPARE
from tellegen.expressions.functions import FUNCTIONS
from tellegen.expressions.nodes import (
    ENGINE,
    Add,
    Call,
    Constant,
    Expression,
    Logic,
    Mul,
    Number,
    Pow,
    Relation,
    Symbol,
    postorder,
)


def evaluate(expression: Expression, values: Mapping[str, float]) -> float:
    """The value in floating point."""
    if isinstance(expression, Number):
        return float(expression.rational)
    known: dict[Expression, float] = {}
    stack = [expression]
    while stack:
        node = stack[-1]
        waiting = [] if node in known else [arg for arg in _needed(node, known) if arg not in known]
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if node not in known:
            known[node] = _value(node, known, values)
    return known[expression]


def _needed(node: Expression, known: Mapping[Expression, float]) -> tuple[Expression, ...]:
    """What must be known before the node is; of an `if`, only the branch that its condition picks."""
    args = node.args
    if isinstance(node, Call) and node.name == "if":
        condition = args[0]
        if condition not in known:
            return (condition,)
        return (args[1] if known[condition] else args[2],)
    return args[: _deciding(node, known)] if isinstance(node, Logic) else args


def _deciding(node: Logic, known: Mapping[Expression, float]) -> int:
    """How many conditions, from the first on, decide `and` or `or`, as far as is known."""
    stop = 0.0 if node.operator == "and" else 1.0
    for count, arg in enumerate(node.arguments, 1):
        if known.get(arg, stop) == stop:
            return count
    return len(node.arguments)


def _value(node: Expression, known: Mapping[Expression, float], values: Mapping[str, float]) -> float:
    if isinstance(node, Symbol):
        return float(values[node.name])
    if isinstance(node, Number):
        return float(node.rational)
    if isinstance(node, Add):
        return _sum(node, known)
    if isinstance(node, Mul):
        return _product(node, known)
    if isinstance(node, Pow):
        return _power(known[node.base], _exponent(node, known))
    if isinstance(node, Call):
        return _call(node, known)
    if isinstance(node, Constant):
        return node.value
    return _condition(node, known)


def _exponent(node: Pow, known: Mapping[Expression, float]) -> float:
    exponent = node.exponent
    return exponent.rational if isinstance(exponent, Number) and type(exponent.rational) is int else known[exponent]


def _power(base: float, exponent: float) -> float:
    result: float | complex = base**exponent
    if isinstance(result, complex):
        raise ValueError(f"{base:g} has no real power {exponent:g}")
    return result


def _sum(node: Add, known: Mapping[Expression, float]) -> float:
    result = float(node.constant)
    for term, c in node.terms:
        result += known[term] if c == 1 else float(c) * known[term]
    return result


def _product(node: Mul, known: Mapping[Expression, float]) -> float:
    result = float(node.coefficient)
    for base, q in node.factors:
        result *= known[base] if q == 1 else _power(known[base], q if type(q) is int else float(q))
    return result


def _call(node: Call, known: Mapping[Expression, float]) -> float:
    if node.name == "if":
        condition, yes, no = node.arguments
        return known[yes] if known[condition] else known[no]
    return FUNCTIONS[node.name].evaluate(*[known[arg] for arg in node.arguments])


def _condition(node: Expression, known: Mapping[Expression, float]) -> float:
    if isinstance(node, Relation):
        return float(COMPARE[node.operator](known[node.left], known[node.right]))
    assert isinstance(node, Logic), "what is left are joined conditions"
    if node.operator == "not":
        return float(not known[node.arguments[0]])
    held = (known[arg] for arg in node.arguments)  # one after the other, as far as they count
    return float(any(held) if node.operator in ("or", "false") else all(held))


def evaluate_exact(expression: Expression, values: Mapping[str, Fraction | int]) -> Fraction:
    """The exact value of an expression that has only rational operations.

    Raises: ValueError for functions, pi and fractional powers; KeyError and ZeroDivisionError as `evaluate`.
    """
    known: dict[Expression, Fraction] = {}
    for node in postorder(expression):
        known[node] = _exact(node, known, values)
    return known[expression]


def _exact(node: Expression, known: Mapping[Expression, Fraction], values: Mapping[str, Fraction | int]) -> Fraction:
    if isinstance(node, Symbol):
        return Fraction(values[node.name])
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Add):
        return sum((c * known[term] for term, c in node.terms), Fraction(node.constant))
    factors: tuple[tuple[Expression, Any], ...] = ()
    if isinstance(node, Mul):
        factors = node.factors
    elif isinstance(node, Pow) and isinstance(node.exponent, Number):
        factors = ((node.base, node.exponent.rational),)
    if not factors or any(type(q) is not int for _, q in factors):
        raise ValueError(f"not a rational expression: {node!r}")
    result = Fraction(node.coefficient if isinstance(node, Mul) else 1)
    for base, q in factors:
        result *= known[base] ** q
    return result


ENGINE.evaluate = evaluate
