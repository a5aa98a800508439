"""Comparisons and their combinations: what an `if` asks."""

import operator as op
from collections.abc import Callable
from typing import Any

from tellegen.expressions.canonical import as_expression
from tellegen.expressions.interning import intern_logic, intern_relation
from tellegen.expressions.nodes import Condition, Connective, Expression, Logic, Number, Operator, Scalar

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": op.lt,
    "<=": op.le,
    ">": op.gt,
    ">=": op.ge,
    "==": op.eq,
    "!=": op.ne,
}

TRUE = intern_logic("true", ())
FALSE = intern_logic("false", ())


def relation(operator: Operator, left: Expression | Scalar, right: Expression | Scalar) -> Condition:
    """A comparison; TRUE or FALSE where both sides are numbers or the same expression."""
    a, b = as_expression(left), as_expression(right)
    for side in (a, b):
        if isinstance(side, Condition):
            raise TypeError(f"a condition cannot be compared: {side!r}")
    if a is b:
        return TRUE if operator in ("<=", ">=", "==") else FALSE
    if isinstance(a, Number) and isinstance(b, Number):
        return TRUE if COMPARE[operator](a.rational, b.rational) else FALSE
    return intern_relation(operator, a, b)


def logic(operator: Connective, *conditions: Expression) -> Condition:
    """Conditions joined by `and`, `or`, or one under `not`; TRUE and FALSE are folded, an empty `and` is TRUE."""
    for condition in conditions:
        if not isinstance(condition, Condition):
            raise TypeError(f"not a condition: {condition!r}")
    if operator == "not":
        return _negated(*conditions)
    neutral, decisive = (TRUE, FALSE) if operator == "and" else (FALSE, TRUE)
    flat = [inner for condition in conditions for inner in _flattened(operator, condition) if inner is not neutral]
    if decisive in flat:
        return decisive
    kept = tuple(dict.fromkeys(flat))
    if not kept:
        return neutral
    return intern_logic(operator, kept) if len(kept) > 1 else _condition(kept[0])


def _flattened(operator: Connective, condition: Expression) -> tuple[Expression, ...]:
    same = isinstance(condition, Logic) and condition.operator == operator
    return condition.args if same else (condition,)


def _negated(*conditions: Expression) -> Condition:
    if len(conditions) != 1:
        raise TypeError(f"'not' takes one condition, not {len(conditions)}")
    inner = conditions[0]
    if inner is TRUE or inner is FALSE:
        return FALSE if inner is TRUE else TRUE
    if isinstance(inner, Logic) and inner.operator == "not":
        return _condition(inner.arguments[0])
    return intern_logic("not", (inner,))


def _condition(x: Expression) -> Condition:
    assert isinstance(x, Condition), "conditions are joined with conditions only"
    return x
