"""Limits of formulas: orders, ratios, and an end to formulas that are too large."""

import pytest

from tellegen.expressions import ZERO, is_zero, parse, symbol, total
from tellegen.reduction.asymptotics import DependsOnRatioError, NoLimitError, limit_of


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


def test_a_sum_of_many_fractions_is_given_up_in_time() -> None:
    names = [f"e_{k}" for k in range(20)]
    fractions = total(1 / (symbol(f"a_{k}") + symbol(name)) for k, name in enumerate(names))
    with pytest.raises(NoLimitError, match="many fractions"):
        limit_of(fractions, dict.fromkeys(names, 1))
