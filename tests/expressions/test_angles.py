"""Sines and cosines: identities that the zero test sees, and sums that become shorter."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.expressions import is_zero, parse, to_text
from tellegen.expressions.elimination import leaf_count
from tellegen.expressions.evaluation import is_rounding
from tellegen.expressions.waves import joined_sines


@pytest.mark.parametrize(
    "text",
    [
        "sin(x)^2 + cos(x)^2 - 1",
        "cos(x)*cos(y) + sin(x)*sin(y) - cos(x - y)",
        "sin(2*x) - 2*sin(x)*cos(x)",
        "sin(-x) + sin(x)",
        "sin(x + 0.3) - sin(x)*cos(0.3) - cos(x)*sin(0.3)",
        "cos(x/2)^2 + sin(x/2)^2 - 1",
        "sin(a*b)^2 + cos(a*b)^2 - 1",
    ],
)
def test_identities_between_sines_and_cosines_are_seen(text: str) -> None:
    assert is_zero(parse(text))


@pytest.mark.parametrize(
    "text", ["sin(x) - cos(x)", "sin(x) - x", "cos(x + y) - cos(x - y)", "sin(x)^2 - cos(x)^2 - 1"]
)
def test_what_is_no_identity_is_not_zero(text: str) -> None:
    assert not is_zero(parse(text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("m*l^2*sin(x)^2 + m*l^2*cos(x)^2 + J", "J + l^2*m"),
        ("a*cos(x)*cos(y) + a*sin(x)*sin(y)", "a*cos(x - y)"),
        ("cos(x)*cos(y) - sin(x)*sin(y)", "cos(x + y)"),
        ("sin(x)*cos(y) + cos(x)*sin(y)", "sin(x + y)"),
        ("a*sin(x)*cos(y) - b*cos(x)*sin(y)", "a*cos(y)*sin(x) - b*cos(x)*sin(y)"),
        # Three phases, three wheels: what is the same in every direction has no angle.
        ("a*cos(x)^2 + a*cos(x + 2*pi/3)^2 + a*cos(x - 2*pi/3)^2", "3*a/2"),
        ("cos(x)*sin(x) + cos(x + pi/3)*sin(x + pi/3) + cos(x - pi/3)*sin(x - pi/3)", "0"),
        ("cos(x)*sin(y) + cos(x - 2*pi/3)*sin(y - 2*pi/3) + cos(x + 2*pi/3)*sin(y + 2*pi/3)", "-3*sin(x - y)/2"),
        ("b + a*cos(x)^2 + a*cos(x + pi/2)^2 + a*cos(x/2)", "a + b + a*cos(x/2)"),
        ("k*cos(x)^4 + 2*k*cos(x)^2*sin(x)^2 + k*sin(x)^4", "k"),
        # A body on a hinge: what cancels only shows when it is multiplied out.
        ("J + m*(a*cos(x) + b*sin(x))^2 + m*(a*sin(x) - b*cos(x))^2", "J + a^2*m + b^2*m"),
        ("m*(a*cos(x) - b*sin(x))*(a*sin(x) + b*cos(x)) + m*(a*sin(x) + b*cos(x))*(b*sin(x) - a*cos(x))", "0"),
        ("m*(a*cos(x) + b*sin(y))^2", "(a*cos(x) + b*sin(y))^2*m"),
        ("sin(x)*cos(x)", "cos(x)*sin(x)"),
        ("cos(x + 0.1) + cos(x - 0.1)", "cos(x + 0.1) + cos(x - 0.1)"),
    ],
)
def test_two_terms_become_one_where_they_can(text: str, wanted: str) -> None:
    assert to_text(joined_sines(parse(text))) == wanted


WAVES = st.tuples(
    st.sampled_from(["sin", "cos"]), st.sampled_from(["x", "y", "x - y", "2*x", "x/2"]), st.integers(-12, 12)
)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "1"]), st.lists(WAVES, min_size=1, max_size=3)), max_size=6))
def test_harmonics_change_no_value_and_make_no_sum_longer(terms: list[tuple[str, list[tuple[str, str, int]]]]) -> None:
    texts = (f"{c}*" + "*".join(f"{f}({angle} + {turn}*pi/12)" for f, angle, turn in waves) for c, waves in terms)
    expression = parse(" + ".join(["0", *texts]))
    joined = joined_sines(expression)
    values = {"a": 1.3, "b": -0.7, "x": 0.4, "y": 2.1}
    assert math.isclose(joined.evaluate(values), expression.evaluate(values), abs_tol=1e-12)
    assert len(joined.args) <= max(len(expression.args), 1)


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["sin", "cos"]), st.sampled_from(["sin", "cos"])), max_size=8
    )
)
def test_joining_angles_changes_no_value(terms: list[tuple[str, str, str]]) -> None:
    expression = parse(" + ".join(["0", *(f"{c}*{f}(x)*{g}(y)" for c, f, g in terms)]))
    values = {"a": 1.3, "b": -0.7, "x": 0.4, "y": 2.1}
    assert math.isclose(joined_sines(expression).evaluate(values), expression.evaluate(values), abs_tol=1e-12)


SUMS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["sin(x)", "cos(x)", "sin(y)", "1"])), min_size=1, max_size=3
)


@given(st.lists(st.tuples(SUMS, SUMS, st.sampled_from("mn")), min_size=1, max_size=4))
def test_products_of_sums_of_waves_keep_their_value(
    terms: list[tuple[list[tuple[str, str]], list[tuple[str, str]], str]],
) -> None:
    def written(summands: list[tuple[str, str]]) -> str:
        return " + ".join(f"{factor}*{wave}" for factor, wave in summands)

    formula = parse(" + ".join(f"{factor}*({written(one)})*({written(two)})" for one, two, factor in terms))
    found = joined_sines(formula)
    assert is_zero(found - formula)
    assert leaf_count(found) <= leaf_count(formula)


@given(st.integers(-9, 9))
def test_whole_numbers_of_right_angles_are_exact(turns: int) -> None:
    degrees = f"{turns}*{90 * Fraction(math.pi) / 180}"
    for angle in (f"{turns}*pi/2", degrees):
        assert to_text(parse(f"cos({angle})")) == ("1", "0", "-1", "0")[turns % 4]
        assert to_text(parse(f"sin({angle})")) == ("0", "1", "0", "-1")[turns % 4]


ROUNDED = ["cos(pi/4) - sin(pi/4)", "cos(atan2(1, 0))", "sin(acos(-1))", "tan(pi/4) - 1", "pi - 3.141592653589793"]
SMALL = ["exp(-40)", "cos(1.5707)", "1e-18*cos(1)", "sin(1e-17)", "tan(pi/4) - 0.999999999", "a - a*cos(pi/3)"]


@pytest.mark.parametrize(("text", "expected"), [*((t, True) for t in ROUNDED), *((t, False) for t in SMALL)])
def test_what_only_rounding_leaves_is_told_from_what_is_small(text: str, expected: bool) -> None:
    assert is_rounding(parse(text)) is expected
