"""Sines and cosines: identities that the zero test sees, and sums that become shorter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.expressions import is_zero, parse, to_text
from tellegen.expressions.simplification import joined_sines


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
    ],
)
def test_two_terms_become_one_where_they_can(text: str, wanted: str) -> None:
    assert to_text(joined_sines(parse(text))) == wanted


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from(["sin", "cos"]), st.sampled_from(["sin", "cos"])), max_size=8
    )
)
def test_joining_angles_changes_no_value(terms: list[tuple[str, str, str]]) -> None:
    expression = parse(" + ".join(["0", *(f"{c}*{f}(x)*{g}(y)" for c, f, g in terms)]))
    values = {"a": 1.3, "b": -0.7, "x": 0.4, "y": 2.1}
    assert math.isclose(joined_sines(expression).evaluate(values), expression.evaluate(values), abs_tol=1e-12)
