import math
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from expressions.strategies import NAMES, exact_values, expressions, rational_expressions, values
from tellegen.expressions import (
    ONE,
    PRIME,
    ZERO,
    Expression,
    call,
    evaluate_exact,
    is_zero,
    number,
    parse,
    relation,
    substitute_all,
    symbol,
)
from tellegen.expressions.evaluation import residues_of_name

a, b, x, y = map(symbol, ("a", "b", "x", "y"))


def deep(levels: int) -> Expression:
    chain: Expression = x
    for k in range(levels):
        chain = call("sin", chain) + k * a
    return chain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x^3", "3*x^2"),
        ("a*x + b", "a"),
        ("1/x", "-1/x^2"),
        ("sqrt(x)", "1/(2*sqrt(x))"),
        ("sin(2*x)", "2*cos(2*x)"),
        ("exp(-x/a)", "-exp(-x/a)/a"),
        ("log(x)", "1/x"),
        ("abs(x)", "sign(x)"),
        ("sign(x)", "0"),
        ("floor(x)", "0"),
        ("if(x > 0, x^2, a)", "if(x > 0, 2*x, 0)"),
        ("a^x", "a^x*log(a)"),
        ("x^a", "a*x^(a - 1)"),
        ("hypot(x, a)", "x/hypot(a, x)"),
        ("atan2(x, a)", "a/(a^2 + x^2)"),
        ("y^2", "0"),
    ],
)
def test_derivatives_of_the_textbook(text: str, expected: str) -> None:
    assert parse(text).derivative("x") is parse(expected)


def test_the_derivative_of_min_follows_the_smaller_argument() -> None:
    slope = parse("min(x^2, a)").derivative("x")
    assert slope.evaluate({"x": 2, "a": 10}) == 4
    assert slope.evaluate({"x": 5, "a": 10}) == 0
    slope = parse("max(x, 2*x, a)").derivative("x")
    assert slope.evaluate({"x": 5, "a": 1}) == 2
    assert slope.evaluate({"x": -5, "a": -100}) == 1


SMOOTH = [
    "sin(x)*a + cos(x)/b",
    "tan(x/4)",
    "asin(x/4) - acos(x/5) + atan(x)",
    "sinh(x) + cosh(x)*tanh(x)",
    "exp(-a*x)*log(b + x)",
    "sqrt(1 + x^2)*x^(1/3)",
    "atan2(x, a)*hypot(x, b)",
    "(a + x)^(b*x)",
    "x^2/(a + b/(x + 1/x))",
]


@pytest.mark.parametrize("text", SMOOTH)
def test_derivatives_agree_with_finite_differences(text: str) -> None:
    p = parse(text)
    at = {"x": 1.3, "a": 0.7, "b": 1.9}
    h = 1e-5
    difference = (p.evaluate(at | {"x": 1.3 + h}) - p.evaluate(at | {"x": 1.3 - h})) / (2 * h)
    assert p.derivative("x").evaluate(at) == pytest.approx(difference, rel=1e-8)  # central difference: h^2


@settings(max_examples=50, deadline=None)
@given(rational_expressions, rational_expressions)
def test_derivatives_obey_the_product_rule(p: Expression, q: Expression) -> None:
    left = (p * q).derivative("a")
    right = p.derivative("a") * q + p * q.derivative("a")
    assert is_zero(left - right) or (left - right).residues() is None


def test_substitution_is_simultaneous() -> None:
    assert (x / y).substitute({"x": y, "y": x}) is y / x
    assert (x + y).substitute({"x": 1, "y": 0.5}) is number(1.5)
    assert (x**2 + 1).substitute({"z": y}) is x**2 + 1


def test_only_the_branch_that_counts_is_substituted() -> None:
    p = parse("if(a > 0, 1/a, 3*b)")
    assert p.substitute({"a": 0}) is parse("3*b")
    assert p.substitute({"a": 2}) is parse("1/2")
    assert parse("b + 2*if(a == 0 or c > 1, b, b/a)").substitute({"a": 0}) is parse("3*b")
    with pytest.raises(ZeroDivisionError):
        parse("if(b > 0, 1/a, 3)").substitute({"a": 0})


def test_several_expressions_are_substituted_together() -> None:
    assert substitute_all((x + 1, y), {"x": y}) == (y + 1, y)


@settings(max_examples=50, deadline=None)
@given(expressions, values)
def test_substituting_numbers_is_evaluating(p: Expression, at: dict[str, float]) -> None:
    try:
        direct = p.evaluate(at)
        assume(abs(direct) < 1e100)
        indirect = p.substitute(at).evaluate({})
    except (ArithmeticError, ValueError):
        return
    if not any(word in str(p) for word in ("floor", "sign", "if", "min", "max")):  # these jump
        assert indirect == pytest.approx(direct, rel=1e-6, abs=1e-6)


def test_ten_thousand_nested_functions_are_no_problem() -> None:
    chain = deep(10_000)
    assert chain.free_symbols == {"a", "x"}
    assert chain.substitute({"x": y, "a": b}).free_symbols == {"b", "y"}
    assert math.isfinite(chain.evaluate({"a": 0.1, "x": 0.2}))
    assert chain.residues() is not None
    assert repr(chain) == "<expression of 20001 parts>"
    assert chain.derivative("a").evaluate({"a": 0.0, "x": 0.2}) > 0


def test_evaluation_raises_as_python_does() -> None:
    with pytest.raises(ZeroDivisionError):
        (1 / x).evaluate({"x": 0})
    with pytest.raises(ValueError, match="real"):
        (x ** Fraction(1, 2)).evaluate({"x": -1})
    with pytest.raises(ValueError, match="math domain"):
        call("log", x).evaluate({"x": -1})
    with pytest.raises(OverflowError):
        call("exp", x).evaluate({"x": 1e6})
    with pytest.raises(KeyError, match="y"):
        (x + y).evaluate({"x": 1})


def test_only_the_branch_that_counts_is_evaluated() -> None:
    p = call("if", relation("!=", x, 0), 1 / x, y)
    assert p.evaluate({"x": 0, "y": 7}) == 7
    assert p.evaluate({"x": 2}) == 0.5
    p = parse("if(x != 0 and 1/x > 1, 1, 2)")
    assert [p.evaluate({"x": v}) for v in (0, 0.5, 2)] == [2, 1, 2]
    p = parse("if(x == 0 or y == 0 or 1/x > y, 1, 2)")
    assert [p.evaluate({"x": v, "y": 1}) for v in (0, 0.5, 2)] == [1, 1, 2]


def test_exact_evaluation_is_for_rational_expressions() -> None:
    assert evaluate_exact(x / 3 + y**-2, {"x": 1, "y": Fraction(1, 2)}) == Fraction(13, 3)
    for p in (call("sin", x), x ** Fraction(1, 2), parse("pi"), 2**x):
        with pytest.raises(ValueError, match="not a rational expression"):
            evaluate_exact(p, {"x": Fraction(2)})


@settings(max_examples=50, deadline=None)
@given(rational_expressions)
def test_residues_are_the_exact_value_modulo_the_prime(p: Expression) -> None:
    at = {name: residues_of_name(name) for name in NAMES}
    for k in (0, 1):
        try:
            exact = evaluate_exact(p, {name: Fraction(at[name][k]) for name in NAMES})
        except ZeroDivisionError:
            return
        found = p.residues()
        assert found is not None
        assert found[k] == exact.numerator * pow(exact.denominator, -1, PRIME) % PRIME


def test_residues_do_not_change_between_runs() -> None:
    assert residues_of_name("R") == (936708944545221396, 1556094300563702085)


@pytest.mark.parametrize(
    "text",
    [
        "(a + b)^2 - a^2 - 2*a*b - b^2",
        "a/(a + b) + b/(a + b) - 1",
        "1/(1/a + 1/b) - a*b/(a + b)",
        "sin(a*(b + 1)) - sin(a*b + a)",
        "sqrt(a^2 + 2*a*b + b^2) - sqrt((a + b)^2)",
        "(a + b)^(3/2) - a*sqrt(a + b) - b*sqrt(a + b)",
        "min(a*(b + 1), x) - min(x, a*b + a)",
        "2^(x*(y + 1)) - 2^(x*y + x)",
        "sqrt((a + 1)^2 - a^2 - 2*a - 1)",
    ],
)
def test_zero_is_seen_without_simplification(text: str) -> None:
    assert is_zero(parse(text))


@pytest.mark.parametrize(
    "text", ["a", "1", "pi", "a - b", "sin(a) - sin(b)", "sqrt(a) - sqrt(b)", "a^x - a^y", "a*1e-300"]
)
def test_what_is_not_zero_is_not_called_zero(text: str) -> None:
    assert not is_zero(parse(text))


def test_a_division_by_zero_has_no_residues() -> None:
    p = 1 / ((a + 1) ** 2 - a**2 - 2 * a - 1)
    assert p.residues() is None
    assert (p + 1).residues() is None
    assert not is_zero(p)


@settings(max_examples=50, deadline=None)
@given(rational_expressions, exact_values)
def test_the_zero_test_agrees_with_exact_values(p: Expression, at: dict[str, Fraction]) -> None:
    try:
        value = evaluate_exact(p, at)
    except ZeroDivisionError:
        return
    if is_zero(p):
        assert value == 0


def test_derivatives_of_numbers_are_zero_and_of_names_one() -> None:
    assert number(3).derivative("x") is ZERO
    assert x.derivative("x") is ONE


@pytest.mark.parametrize(
    "law", ["sqrt(max(x, 0))", "sqrt(max(x, 0)/a)", "sign(x)*sqrt(abs(x))", "a*abs(x)^0.3*max(x, 0)"]
)
def test_roots_of_what_rests_at_zero_have_no_slope_there(law: str) -> None:
    """The chain rule would multiply zero by infinity."""
    slope = parse(law).derivative("x")
    assert slope.evaluate({"x": 0.0, "a": 2.0}) == 0.0
    above = (parse(law).evaluate({"x": 0.3 + h, "a": 2.0}) for h in (1e-6, -1e-6))
    assert slope.evaluate({"x": 0.3, "a": 2.0}) == pytest.approx((next(above) - next(above)) / 2e-6, rel=1e-6)
