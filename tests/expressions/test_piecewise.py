"""Curves through points: they meet the points, keep their shape, and their integrals are integrals."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from tellegen.expressions import symbol
from tellegen.expressions.polynomials import interpolated, interpolated_integral

X = symbol("x")
WHOLE = st.integers(-20, 20)


@st.composite
def tables(draw: st.DrawFn) -> list[tuple[Fraction, Fraction]]:
    places = sorted(draw(st.sets(WHOLE, min_size=2, max_size=8)))
    return [(Fraction(p, 4), Fraction(draw(WHOLE), 3)) for p in places]


@given(tables(), st.booleans())
def test_a_curve_meets_its_points(points: list[tuple[Fraction, Fraction]], smooth: bool) -> None:
    curve = interpolated(points, X, smooth=smooth)
    for x, y in points:
        assert curve.evaluate({"x": float(x)}) == pytest.approx(float(y), abs=1e-9)


@given(tables(), st.booleans())
def test_a_curve_rises_and_falls_only_where_its_points_do(
    points: list[tuple[Fraction, Fraction]], smooth: bool
) -> None:
    curve = interpolated(points, X, smooth=smooth)
    for (a, low), (b, high) in pairwise(points):
        values = [curve.evaluate({"x": x}) for x in np.linspace(float(a), float(b), 9)]
        rising = np.diff(values) * float(high - low)
        assert np.all(rising >= -1e-8)


@given(tables())
def test_a_smooth_curve_has_no_corner_between_its_points(points: list[tuple[Fraction, Fraction]]) -> None:
    slope = interpolated(points, X, smooth=True).derivative("x")
    for x, _ in points:
        left, right = (slope.evaluate({"x": float(x) + d}) for d in (-1e-9, 1e-9))
        assert left == pytest.approx(right, abs=1e-5)


@given(tables(), st.booleans(), st.integers(-30, 30))
def test_the_integral_of_a_curve_is_its_area_from_zero(
    points: list[tuple[Fraction, Fraction]], smooth: bool, end: int
) -> None:
    curve, area = interpolated(points, X, smooth=smooth), interpolated_integral(points, X, smooth=smooth)
    assert area.evaluate({"x": 0.0}) == 0
    upto = end / 4
    knots = sorted({0.0, upto, *(float(x) for x, _ in points if min(0, upto) < x < max(0, upto))}, reverse=upto < 0)
    exact = sum(quad(lambda x: curve.evaluate({"x": x}), a, b)[0] for a, b in pairwise(knots))
    assert area.evaluate({"x": upto}) == pytest.approx(exact, abs=1e-6)


def test_lines_go_on_beyond_their_ends() -> None:
    curve = interpolated(
        [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(2)), (Fraction(2), Fraction(3))], X, smooth=False
    )
    assert curve.evaluate({"x": -1.0}) == -2
    assert curve.evaluate({"x": 4.0}) == 5
    assert curve.derivative("x").evaluate({"x": 0.5}) == 2
