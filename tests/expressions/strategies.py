"""Random expressions."""

from fractions import Fraction

from hypothesis import strategies as st

from tellegen.expressions import Expression, call, number, power, relation, symbol
from tellegen.expressions.nodes import Operator

OPERATORS: tuple[Operator, ...] = ("<", ">=", "!=")
NAMES = ("a", "b", "R_10", "motor.R[3]", "x_")

names = st.sampled_from(NAMES)
rationals = st.fractions(min_value=-20, max_value=20, max_denominator=30)
leaves = st.one_of(names.map(symbol), rationals.map(number))


def _tamed(p: Expression) -> Expression:
    """The expression, unless repeated squares have made its numbers immense."""
    return p if len(str(p)) < 300 else symbol("a")


def _symbolic_power(pair: tuple[Expression, Expression]) -> Expression:
    base, exponent = pair
    try:
        return power(base**2 + 1, exponent)
    except OverflowError:
        return base


def _quotient(pair: tuple[Expression, Expression]) -> Expression:
    up, down = pair
    return up if down is number(0) else up / down


def _arithmetic(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        pairs.map(_quotient),
        inner.map(lambda x: x**2),
        inner.map(lambda x: x**3),
    ).map(_tamed)


rational_expressions = st.recursive(leaves, _arithmetic, max_leaves=12)


def _functions(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    pairs = st.tuples(inner, inner)
    return st.one_of(
        _arithmetic(inner),
        st.tuples(st.sampled_from(("sin", "atan", "tanh", "abs", "sign", "floor", "log", "exp")), inner).map(
            lambda p: call(*p)
        ),
        inner.map(lambda x: power(x * x + 1, number(Fraction(1, 2)))),
        inner.map(lambda x: power(x * x + 2, number(Fraction(-3, 2)))),
        pairs.map(_symbolic_power),
        st.tuples(st.sampled_from(("min", "max", "hypot", "atan2")), inner, inner).map(lambda p: call(*p)),
        st.tuples(st.sampled_from(OPERATORS), inner, inner, inner).map(
            lambda p: call("if", relation(p[0], p[1], p[2]), p[3], p[1])
        ),
    ).map(_tamed)


expressions = st.recursive(leaves, _functions, max_leaves=10)
values = st.fixed_dictionaries({name: st.floats(min_value=0.3, max_value=3) for name in NAMES})
exact_values = st.fixed_dictionaries(
    {name: st.fractions(min_value=1, max_value=9, max_denominator=7) for name in NAMES}
)
