"""Integrals of formulas: their differences are what quadrature finds, across corners and jumps too."""

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from tellegen.expressions import parse
from tellegen.expressions.antiderivatives import integral_from_zero

NUMBERS = st.sampled_from(["2", "3/2", "5", "1/3"])
LINES = st.builds(
    lambda a, b: f"({a}*x + {b})", st.sampled_from(["1", "2", "-1/2", "-3"]), st.sampled_from(["0", "1", "-2", "1/2"])
)
SMOOTH = st.builds(
    lambda f, u: f"{f}({u}/4)", st.sampled_from(["sin", "cos", "exp", "sinh", "cosh", "tanh", "atan"]), LINES
)
CORNERS = st.one_of(
    st.builds(lambda f, u: f"{f}({u})", st.sampled_from(["abs", "sign"]), LINES),
    st.builds(lambda f, u, v: f"{f}({u}, {v})", st.sampled_from(["max", "min"]), LINES, NUMBERS),
    st.builds(
        lambda u, r, f, g: f"if({u} {r} 0, {f}, {g})", LINES, st.sampled_from([">", "<", ">=", "<="]), LINES, NUMBERS
    ),
)
WHOLE = st.one_of(SMOOTH, CORNERS, LINES)
TERMS = st.one_of(
    WHOLE,
    st.builds(lambda p, f: f"x^{p}*{f}", st.sampled_from(["1", "2"]), st.one_of(CORNERS, LINES)),
    st.builds(lambda f, g: f"{f}*{g}", CORNERS, st.one_of(CORNERS, LINES)),
    st.builds(lambda f: f"x*{f}(x^2/9)", st.sampled_from(["sin", "cos", "exp", "tanh"])),
    st.sampled_from(
        ["x/(1 + x^2)", "x*sqrt(1 + x^2)", "1/(1 + exp(-x))^2*exp(-x)", "x*exp(x/3)", "x*sin(x)", "log(x + 20)"]
    ),
)
SUMS = st.builds(
    lambda terms: " + ".join(f"{c}*{t}" for c, t in terms), st.lists(st.tuples(NUMBERS, TERMS), min_size=1, max_size=3)
)


@given(SUMS, st.floats(-6.0, 6.0))
def test_integrals_are_those_that_quadrature_finds(text: str, x: float) -> None:
    expression = parse(text)
    found = integral_from_zero(expression, "x")
    assert found is not None, "every one of these has a formula"
    # Corners and jumps lie at multiples of a sixth here.
    edges = [k / 12 for k in range(-72, 73) if min(0.0, x) < k / 12 < max(0.0, x)]
    ends = sorted([min(0.0, x), *edges, max(0.0, x)])
    parts = (quad(lambda at: expression.evaluate({"x": at}), a, b)[0] for a, b in pairwise(ends))
    expected = math.copysign(1.0, x) * sum(parts)
    assert math.isclose(found.evaluate({"x": x}), expected, rel_tol=1e-9, abs_tol=1e-9 * (1 + abs(expected)))


def test_what_nobody_integrates_is_left() -> None:
    assert integral_from_zero(parse("log(1 + exp(x))"), "x") is None
    assert integral_from_zero(parse("1/x"), "x") is None
    assert integral_from_zero(parse("sin(x^2)"), "x") is None


def test_saturation_keeps_its_range() -> None:
    found = integral_from_zero(parse("tanh(x)"), "x")
    assert found is not None
    assert found.evaluate({"x": 1e6}) == 1e6 - math.log(2)
