"""Integrals that stay integrals: their values, slopes and texts."""

import math
import pickle

import pytest
import sympy
from scipy.integrate import quad

from tellegen.expressions import (
    PYTHON_NAMESPACE,
    ZERO,
    Expression,
    parse,
    symbol,
    to_c,
    to_latex,
    to_python,
    to_sympy,
    to_text,
)
from tellegen.expressions.integrals import BOUND, integral

STEEP = [("exp(-(20*x)^2)*a", 3.0), ("log(1 + exp(x/a))", -40.0), ("sqrt(abs(x - a))", 2.0), ("sin(x^2)/a", 6.0)]


def over(text: str, upper: str, letter: str = "x") -> Expression:
    """The integral of a formula of x."""
    return integral(parse(text).substitute({"x": symbol(BOUND)}), parse(upper), letter)


@pytest.mark.parametrize(("text", "x"), STEEP)
def test_values_are_those_of_another_quadrature(text: str, x: float) -> None:
    expression = parse(text)
    corners = [0.7] if min(0.0, x) < 0.7 < max(0.0, x) else None
    told = quad(
        lambda at: expression.evaluate({"x": at, "a": 0.7}), 0.0, x, points=corners, epsabs=0.0, epsrel=1e-11, limit=400
    )[0]
    found = over(text, "b")
    assert found.evaluate({"a": 0.7, "b": x}) == pytest.approx(told, rel=1e-9)
    assert eval(to_python(found), {**PYTHON_NAMESPACE, "a": 0.7, "b": x}) == pytest.approx(told, rel=1e-9)


def test_slopes_are_those_of_the_end_and_of_what_is_inside() -> None:
    found = over("exp(-a*x^2)", "b*c")
    at = {"a": 0.4, "b": 1.3, "c": -0.9}
    for name, value in at.items():
        ends = [found.evaluate({**at, name: value + step}) for step in (-1e-5, 1e-5)]
        assert found.derivative(name).evaluate(at) == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-8), name


def test_names_inside_are_replaced_and_the_bound_one_is_none() -> None:
    found = over("exp(-a*x^2)", "b")
    assert found.free_symbols == {"a", "b"}
    assert to_text(found.substitute({"x": 3, "a": parse("c^2")})) == to_text(over("exp(-c^2*x^2)", "b"))
    assert found.substitute({"b": 0}) is ZERO
    assert found.evaluate({"a": 1.0, "b": 1.0}) == pytest.approx(math.sqrt(math.pi) / 2 * math.erf(1.0))
    assert found.residues() == over("exp(-a*x^2)", "b", "z").residues()
    assert pickle.loads(pickle.dumps(found)) is found


def test_every_language_says_what_it_can() -> None:
    found = 2 * over("exp(-a*x^2)", "V_C", "v") + parse("v")
    assert to_text(found) == "v + 2*integral(exp(-a*v^2), v, 0, V_C)"
    assert to_text(over("exp(-v*x^2)", "V_C", "v")) == "integral(exp(-v*v_1^2), v_1, 0, V_C)"
    assert to_python(found) == "v + 2*integral(lambda v: exp(-a*v**2), 0, V_C)"
    assert r"\int_0^{V_{C}} \left(\exp\left(-a v^{2}\right)\right) \, \mathrm{d}v" in to_latex(found)
    theirs = to_sympy(over("cos(a*x)", "b"))
    assert theirs.doit().subs({"a": 2, "b": 3}).evalf() == pytest.approx(float(sympy.sin(6)) / 2)
    with pytest.raises(ValueError, match="no formula is known for the integral"):
        to_c(found)
