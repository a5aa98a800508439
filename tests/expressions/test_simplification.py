"""Shorter forms of formulas, however their parts are shared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.expressions import parse, to_text, total
from tellegen.expressions.simplification import MOST_NODES, readable, readable_terms, shortened


def test_formulas_that_share_their_parts_are_shortened_or_left() -> None:
    """Written out this one has 2^60 terms: nothing may walk it so."""
    shared = parse("a/(a + b)")
    for _ in range(60):
        shared = shared * shared / (shared + 1)
    assert shortened(shared) is shared
    twice = parse("1/(a + b) - a/((a + b)*b)")
    for _ in range(8):
        twice = (twice + twice**2 / twice) / 2
    assert shortened(twice) == shortened(parse("1/(a + b) - a/((a + b)*b)"))


@pytest.mark.parametrize(
    ("formula", "written"),
    [
        ("R*cos(theta) - R*a*cos(theta)/L", "R*cos(theta)*(1 - a/L)"),
        ("-cos(-phi)", "-cos(phi)"),
        ("sin(-a - b) + tan(-x)", "-tan(x) - sin(a + b)"),
        ("a/r + b/r - c/r", "(a + b - c)/r"),
        ("w*(a*b/2 + a*c/2)", "a*w*(b + c)/2"),
        ("a + a*b", "a + a*b"),
        ("a*b + a*b*c", "a*b*(c + 1)"),
        ("cos(a - b)", "cos(a - b)"),
    ],
)
def test_formulas_are_written_as_people_write_them(formula: str, written: str) -> None:
    assert to_text(readable(parse(formula))) == written


ATOMS = st.sampled_from(["a", "b", "c", "x", "L", "1", "2", "1/3"])
FORMULAS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, st.sampled_from(["L", "(a + b)", "x"])).map(lambda p: f"({p[0]})/{p[1]}"),
        st.tuples(st.sampled_from(["sin", "cos", "tanh", "atan", "cosh"]), inner).map(lambda p: f"{p[0]}(-({p[1]}))"),
        inner.map(lambda text: f"({text})^2"),
    ),
    max_leaves=12,
)


@given(FORMULAS)
def test_readable_formulas_have_the_same_value(formula: str) -> None:
    expression = parse(formula)
    for form in (readable(expression), readable_terms(expression)):
        for point in (
            {"a": 0.7, "b": 1.3, "c": -0.4, "x": 0.9, "L": 1.7},
            {"a": -1.1, "b": 0.2, "c": 2.3, "x": -0.6, "L": 0.8},
        ):
            assert form.evaluate(point) == pytest.approx(expression.evaluate(point), rel=1e-9, abs=1e-9)


def test_what_nobody_reads_is_not_looked_through() -> None:
    large = total(parse(f"sin(-x_{k})*y") for k in range(MOST_NODES))
    assert readable(large) is large
