import copy
import gc
import math
import pickle
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings

from expressions.strategies import exact_values, expressions, rational_expressions
from tellegen.expressions import (
    ONE,
    PI,
    ZERO,
    Add,
    Expression,
    Mul,
    Number,
    Pow,
    call,
    evaluate_exact,
    logic,
    nodes,
    number,
    power,
    product,
    relation,
    sqrt,
    symbol,
    total,
)

a, b, c, x, y = map(symbol, ("a", "b", "c", "x", "y"))


def test_equal_expressions_are_the_same_object() -> None:
    assert a + b is b + a
    assert a * b / c is b / c * a
    assert hash(a + b) == hash(b + a)
    assert call("sin", x + y) is call("sin", y + x)


@settings(max_examples=50, deadline=None)
@given(expressions, expressions, expressions)
def test_sums_and_products_are_commutative_and_sums_associative(p: Expression, q: Expression, r: Expression) -> None:
    assert p + q is q + p
    assert p * q is q * p
    assert (p + q) + r is p + (q + r)


@settings(max_examples=50, deadline=None)
@given(rational_expressions, rational_expressions, rational_expressions)
def test_products_are_associative_up_to_numbers_shared_out_over_sums(
    p: Expression, q: Expression, r: Expression
) -> None:
    assert nodes.ENGINE.residues((p * q) * r - p * (q * r)) in ((0, 0), None)
    assert product([p, q, r]) is product([r, q, p])


@settings(max_examples=50, deadline=None)
@given(expressions)
def test_like_terms_and_like_powers_are_collected(p: Expression) -> None:
    assert p + p is 2 * p
    assert 3 * p - 2 * p is p
    assert p - p is ZERO
    assert p * p is p**2
    assert p is ZERO or p / p is ONE
    minus = -p
    assert -minus is p


def test_numbers_are_exact() -> None:
    assert number(0.1).value == Fraction(1, 10)
    assert (x * 0.1 + x * 0.2) is x * Fraction(3, 10)
    assert number(1e300).value == 10**300
    assert isinstance(a * 0 + 2, Number)


@pytest.mark.parametrize("wrong", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_finite_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        number(wrong)
    with pytest.raises(ValueError, match="finite"):
        a + wrong


def test_zero_and_one_rules() -> None:
    assert a * 0 is ZERO
    assert a * 1 is a
    assert a + 0 is a
    assert a**0 is ONE
    assert a**1 is a
    assert ONE**a is ONE
    assert number(0) ** 3 is ZERO


def test_products_of_sums_are_never_expanded() -> None:
    assert isinstance((a + b) * (a - b), Mul)
    assert isinstance((a + b) ** 2, Pow)
    assert isinstance(x * (a + b), Mul)


def test_a_number_times_a_sum_is_a_sum() -> None:
    assert 2 * (a + b) is 2 * a + 2 * b
    assert isinstance(-(a - b), Add)


def test_whole_powers_are_shared_out_over_products() -> None:
    assert (2 * a * b) ** 3 is 8 * a**3 * b**3
    assert (a / b) ** -2 is b**2 / a**2
    assert isinstance(sqrt(a * b), Pow)
    assert sqrt(a * b) * sqrt(a * b) is a * b


def test_exact_roots_fold() -> None:
    assert sqrt(number(Fraction(4, 9))) is number(Fraction(2, 3))
    assert number(27) ** Fraction(1, 3) is number(3)
    assert sqrt(4 * x) is 2 * sqrt(x)
    assert sqrt(number(2)) * sqrt(number(2)) is number(2)
    assert sqrt(x) ** 2 is x
    assert sqrt(x**2) is not x
    assert number(2) ** Fraction(3, 2) is 2 * sqrt(number(2))


def test_symbolic_exponents_are_collected() -> None:
    assert a**x * a ** (2 * x) is a ** (3 * x)
    assert a**x / a**x is ONE
    assert (a**x) ** 2 is a ** (2 * x)
    assert a ** (x / 2) * a ** (x / 2) is a**x
    assert a ** (x / 2) * (a ** (x / 2) * b) is a**x * b
    assert (a ** (x + y)) ** 2 * b is a ** (2 * x + 2 * y) * b


def test_functions_fold_only_where_the_result_is_exact() -> None:
    assert call("sin", 0) is ZERO
    assert call("cos", 0) is ONE
    assert call("exp", 0) is ONE
    assert call("log", 1) is ZERO
    assert call("abs", Fraction(-3, 2)) is number(1.5)
    assert call("floor", -1.5) is number(-2)
    assert call("hypot", 3, 4) is number(5)
    assert call("ln", x) is call("log", x)
    assert str(call("sin", 1)) == "sin(1)"


def test_min_and_max_are_flat_and_do_not_depend_on_order() -> None:
    assert call("min", a, call("min", b, 3), 2) is call("min", 2, b, a)
    assert call("max", a, a) is a
    assert call("max", 1, 2, 3) is number(3)


def test_conditions_fold_and_choose() -> None:
    assert call("if", relation("<", 1, 2), a, b) is a
    assert call("if", relation("<", a, a), a, b) is b
    assert call("if", relation("<", a, b), c, c) is c
    assert logic("not", logic("not", relation("<", a, b))) is relation("<", a, b)
    assert logic("and", relation("<", 1, 2), relation("<", a, b)) is relation("<", a, b)


@pytest.mark.parametrize(
    "make",
    [
        lambda q: q + 1,
        lambda q: 2 * q,
        lambda q: q**2,
        lambda q: a**q,
        lambda q: call("sin", q),
        lambda q: relation("<", q, a),
        lambda q: call("if", q, q, a),
    ],
)
def test_a_condition_is_no_number(make: Callable[[Expression], Expression]) -> None:
    with pytest.raises(TypeError, match="condition"):
        make(relation("<", a, b))


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="sqrt takes 1 argument, not 2"):
        call("sqrt", a, b)
    with pytest.raises(TypeError, match="condition"):
        call("if", a, a, b)
    with pytest.raises(ValueError, match="constant"):
        symbol("pi")


def test_division_by_zero_and_immense_numbers_are_refused() -> None:
    with pytest.raises(ZeroDivisionError):
        a / 0
    with pytest.raises(ZeroDivisionError):
        a / (b - b)
    with pytest.raises(OverflowError):
        number(9) ** 9**9
    with pytest.raises(OverflowError):
        total([number(Fraction(1, 10**3999)), number(Fraction(1, 3**8000))])


def test_expressions_nobody_uses_leave_the_table() -> None:
    gc.collect()
    before = len(nodes._TABLE)
    kept: Expression | None = a + symbol("used_once") ** 7
    assert len(nodes._TABLE) > before
    del kept
    gc.collect()
    assert len(nodes._TABLE) == before


@settings(max_examples=50, deadline=None)
@given(expressions)
def test_copies_are_the_same_object(p: Expression) -> None:
    assert pickle.loads(pickle.dumps(p)) is p
    assert copy.deepcopy(p) is p


@settings(max_examples=50, deadline=None)
@given(rational_expressions, rational_expressions, exact_values)
def test_construction_keeps_the_exact_value(p: Expression, q: Expression, point: dict[str, Fraction]) -> None:
    try:
        left, right = evaluate_exact(p, point), evaluate_exact(q, point)
    except ZeroDivisionError:
        return
    assert evaluate_exact(p * q + p, point) == left * right + left
    assert evaluate_exact((p - q) ** 2, point) == (left - right) ** 2


def test_pi_is_a_constant() -> None:
    assert PI.free_symbols == frozenset()
    assert PI.evaluate({}) == math.pi
    assert PI / PI is ONE


def test_a_sum_of_many_terms_takes_linear_time() -> None:
    many = [symbol(f"s_{k}") for k in range(20_000)]
    whole = total(many)
    assert isinstance(whole, Add)
    assert len(whole.terms) == 20_000
    assert len(whole.free_symbols) == 20_000


def test_powers_of_numbers_keep_their_sign() -> None:
    assert power(number(-2), number(3)) is number(-8)
    assert power(number(-2), number(-1)) is number(-0.5)
