"""Limits of formulas: orders, ratios, and an end to formulas that are too large."""

import pytest

from tellegen.expressions import ZERO, is_zero, parse, symbol, total
from tellegen.reduction.asymptotics import DependsOnRatioError, NoLimitError, leading_term, limit_of


@pytest.mark.parametrize(
    ("formula", "orders", "limit"),
    [
        ("1/(a + e)", {"e": 1}, "1/a"),
        ("e/(a + e) + b", {"e": 1}, "b"),
        ("K/(K + a)", {"K": -1}, "1"),
        ("1/(1/K + 1/(a + e))", {"K": -1, "e": 1}, "a"),
        ("e*a/(e + d) + d*a/(d + e)", {"e": 1, "d": 1}, "a"),
        ("(2*e + 2*d + e*d + d^2)/(e + d)", {"e": 1, "d": 1}, "2"),
    ],
)
def test_the_limit_is_read_from_the_orders(formula: str, orders: dict[str, int], limit: str) -> None:
    found = limit_of(parse(formula), orders)
    assert found is not None
    assert is_zero(found - parse(limit))


def test_what_grows_without_bound_has_no_limit_and_what_vanishes_is_zero() -> None:
    assert limit_of(parse("a/e"), {"e": 1}) is None
    assert limit_of(parse("e*K"), {"e": 1, "K": 1}) is ZERO


def test_a_ratio_of_small_things_is_named() -> None:
    with pytest.raises(DependsOnRatioError) as caught:
        limit_of(parse("e/(e + d)"), {"e": 1, "d": 1})
    assert set(caught.value.args) == {"e", "d"}


@pytest.mark.parametrize(
    ("formula", "orders", "limit"),
    [
        ("a*e/(b*e + e^2)", {"e": 1}, "a/b"),
        ("(a + e)/(b + e) - (a + d)/(b + d) + c", {"e": 1, "d": 1}, "c"),
        ("K*(1/(K + a) - 1/(K + b)) + c", {"K": -1}, "c"),
        ("1/e - 1/(e + a*e^2)", {"e": 1}, "a"),
    ],
)
def test_factors_tell_the_same_limit(formula: str, orders: dict[str, int], limit: str) -> None:
    found = leading_term(parse(formula), orders)
    assert found is not None
    assert found[1] == ()
    assert is_zero(found[0] - parse(limit))
    plain = limit_of(parse(formula), orders)
    assert plain is not None
    assert is_zero(plain - parse(limit))


def test_a_sum_of_many_fractions_has_the_sum_of_their_limits() -> None:
    names = [f"e_{k}" for k in range(20)]
    fractions = total(1 / (symbol(f"a_{k}") + symbol(name)) for k, name in enumerate(names))
    found = limit_of(fractions, dict.fromkeys(names, 1))
    assert found is not None
    assert is_zero(found - total(1 / symbol(f"a_{k}") for k in range(20)))


def test_many_fractions_that_grow_against_each_other_cancel() -> None:
    """Each term grows like 1/e, and their sum does not."""
    e = symbol("e")
    terms = [1 / (e * (symbol(f"a_{k}") + e)) - 1 / (e * symbol(f"a_{k}")) for k in range(12)]
    found = limit_of(total(terms), {"e": 1})
    assert found is not None
    assert is_zero(found + total(1 / symbol(f"a_{k}") ** 2 for k in range(12)))


@pytest.mark.slow
def test_too_many_small_things_that_cancel_are_given_up_in_time() -> None:
    names = [f"e_{k}" for k in range(20)]
    terms = [
        1 / (symbol(f"a_{k}") * symbol(n) + symbol(n) ** 2) - 1 / (symbol(f"a_{k}") * symbol(n))
        for k, n in enumerate(names)
    ]
    with pytest.raises(NoLimitError, match="many fractions"):
        limit_of(total(terms), dict.fromkeys(names, 1))


def test_a_comparison_is_continued_where_its_sides_stay_apart() -> None:
    assert limit_of(parse("if(x > e, a + e, b)"), {"e": 1}) is parse("if(x > 0, a, b)")


@pytest.mark.parametrize("formula", ["if(e > 0, a, b)", "if(x > 1/e, a, b)", "if(e > 2*e, a, b)"])
def test_a_comparison_that_the_limit_does_not_decide_has_none(formula: str) -> None:
    with pytest.raises(NoLimitError):
        limit_of(parse(formula), {"e": 1})
