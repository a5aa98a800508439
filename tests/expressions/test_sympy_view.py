import subprocess
import sys

import pytest
import sympy
from hypothesis import given, settings

from expressions.strategies import rational_expressions
from tellegen.expressions import Expression, is_zero, parse, symbol
from tellegen.expressions.sympy_view import from_sympy, matrix_to_sympy, to_sympy


def test_sympy_is_not_imported_before_somebody_asks() -> None:
    code = "import sys, tellegen.expressions, tellegen.expressions.sympy_view; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@settings(max_examples=50, deadline=None)
@given(rational_expressions)
def test_there_and_back_keeps_the_value(p: Expression) -> None:
    if p.residues() is not None:
        assert is_zero(from_sympy(to_sympy(p)) - p)


@pytest.mark.parametrize(
    "text",
    [
        "a*sin(x)^2 + cos(x)/b",
        "exp(-t/tau)*ln(x)*log(y)",
        "abs(x)*sign(x) + floor(x) - ceil(y)",
        "min(a, b) + max(a, 3)",
        "atan2(y, x) + sqrt(x + 1)",
        "pi*d^2/4",
        "if(x > 0, a, b)",
        "if(x != y, a, if(x < -1, b, c))",
        "x^y",
        "motor.R[3] + 1/3",
    ],
)
def test_functions_go_there_and_back(text: str) -> None:
    p = parse(text)
    assert from_sympy(to_sympy(p)) is p


def test_matrices_become_sympy_matrices() -> None:
    a, b = symbol("a"), symbol("b")
    m = matrix_to_sympy([[a, -b], [b, a]])
    assert sympy.factor(m.det()) == sympy.Symbol("a") ** 2 + sympy.Symbol("b") ** 2


def test_what_has_no_counterpart_is_refused() -> None:
    x = sympy.Symbol("x")
    with pytest.raises(ValueError, match="gamma"):
        from_sympy(sympy.gamma(x))
    with pytest.raises(ValueError, match="no expression stands for"):
        from_sympy(sympy.I)
    with pytest.raises(ValueError, match="no expression stands for"):
        from_sympy(sympy.oo)


def test_sympy_takes_our_expressions_wherever_it_meets_them() -> None:
    x = sympy.Symbol("x")
    assert (x + 1).subs({"x": parse("2*a*cos(b)")}) == 2 * sympy.Symbol("a") * sympy.cos(sympy.Symbol("b")) + 1
