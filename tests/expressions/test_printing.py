from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from expressions.strategies import expressions, values
from tellegen.core.names import identifier
from tellegen.expressions import (
    PYTHON_NAMESPACE,
    Expression,
    latex_name,
    number,
    parse,
    symbol,
    to_c,
    to_latex,
    to_python,
    to_text,
    to_yaml,
)
from tellegen.expressions.c import CWriter
from tellegen.expressions.symbols import written_with


@settings(max_examples=50, deadline=None)
@given(expressions)
def test_text_is_read_back_to_the_same_expression(p: Expression) -> None:
    assert parse(to_text(p)) is p


@settings(max_examples=50, deadline=None)
@given(expressions, values)
def test_python_text_has_the_same_value(p: Expression, at: dict[str, float]) -> None:
    try:
        direct = p.evaluate(at)
        printed = eval(to_python(p), dict(PYTHON_NAMESPACE), {identifier(name): v for name, v in at.items()})
    except (ArithmeticError, ValueError):
        return
    assume(not isinstance(printed, complex))
    if not any(word in to_text(p) for word in ("floor", "sign", "if", "min", "max")):  # these jump
        assert printed == pytest.approx(direct, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "R_a + K_m^2/b_m",
        "1/(R_L + R_c)",
        "-R_L/(R_L + R_c)",
        "1 - R_L/(R_L + R_c)",
        "x + 1",
        "x - 1",
        "-x - y",
        "y - x",
        "2*x/(3*y)",
        "x/2",
        "-x/2",
        "0.0047*x",
        "0.15",
        "1/2",
        "2/3",
        "1e9",
        "-2e-5",
        "pi*d^2/4",
        "sqrt(x)",
        "1/sqrt(x)",
        "x^(3/2)",
        "x^(-y)",
        "(a + b)^2",
        "(a^b)^c",
        "a^b^c",
        "(-2)^x",
        "(1/2)^x",
        "a*(b + c)*sin(x)",
        "R_2 + R_10",
        "if(x > 0 and not (y < 2), x, -y^2)",
        "min(a, b, 3)",
        "motor.R[3]*x[1,2]",
        "exp(-t/tau)",
        "1 - exp(-t/tau)",
        "a/(b*c)",
        "a^2*b/(c*(d + e))",
    ],
)
def test_formulas_are_printed_as_papers_write_them(text: str) -> None:
    p = parse(text)
    printed = to_text(p)
    assert parse(printed) is p
    assert printed == {"a*(b + c)*sin(x)": "a*sin(x)*(b + c)", "a^b^c": "a^(b^c)"}.get(text, text)
    assert to_yaml(p) == printed == str(p) == repr(p)


@pytest.mark.parametrize("q", [Fraction(1, 10**450), 10**450, 10**3999, Fraction(7, 2**13_000), Fraction(10**3999, 3)])
def test_numbers_beyond_any_machine_number_are_still_read_back(q: Fraction | int) -> None:
    assert parse(to_text(number(q))) is number(q)
    assert parse(to_text(symbol("x") * q)) is symbol("x") * q


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x^2/2", "x**2/2"),
        ("x/3 + 0.25", "x/3 + 1/4"),
        ("sqrt(x)*ln(y)", "log(y)*sqrt(x)"),
        ("drive.motor.R[3]*lambda", "drive__motor__R_3*lambda_"),
        ("if(x > 0, x, -x)", "(x if x > 0 else -x)"),
        ("abs(x) + sign(x)", "abs(x) + sign(x)"),
        ("a^(-b)", "a**(-b)"),
    ],
)
def test_python_text(text: str, expected: str) -> None:
    assert to_python(parse(text)) == expected
    compile(expected, "formula", "eval")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x/2 + 1", "0.5*x + 1.0"),
        ("x/3", "x/3.0"),
        ("2/3", "2.0/3.0"),
        ("x^2*y", "x*x*y"),
        ("1/x^2", "1.0/(x*x)"),
        ("x^7", "pow(x, 7.0)"),
        ("(a + b)^2", "pow(a + b, 2.0)"),
        ("x^(3/2)", "x*sqrt(x)"),
        ("1/(x + y)^(3/2)", "1.0/((x + y)*sqrt(x + y))"),
        ("x^(9/4)", "pow(x, 2.25)"),
        ("sqrt(x)", "sqrt(x)"),
        ("abs(x)", "fabs(x)"),
        ("sign(x)", "tellegen_sign(x)"),
        ("min(a, b, c)", "fmin(fmin(a, b), c)"),
        ("max(a, 1)", "fmax(a, 1.0)"),
        ("pi*d^2/4", "0.25*M_PI*d*d"),
        ("if(x > 0 and not y == 1, x, -x)", "((x > 0.0 && !(y == 1.0)) ? x : -x)"),
        ("drive.motor.R[3]", "drive__motor__R_3"),
        ("1e-12*x", "1e-12*x"),
        ("double", "double_"),
        ("ceil(x)", "ceil(x)"),
    ],
)
def test_c_text(text: str, expected: str) -> None:
    assert to_c(parse(text)) == expected


def test_c_names_can_be_given() -> None:
    assert to_c(parse("R*x + k"), {"x": "x[3]", "R": "p->R"}) == "k + p->R*x[3]"


def test_c_refuses_what_no_double_can_hold() -> None:
    with pytest.raises(OverflowError):
        to_c(parse("10^390*x"))


@pytest.mark.parametrize("name", ["a b", "x;y", "a\nb", "é"])
def test_only_identifiers_reach_a_program(name: str) -> None:
    with pytest.raises(ValueError, match="not an identifier"):
        to_c(symbol(name))
    with pytest.raises(ValueError, match="not an identifier"):
        to_python(symbol(name))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("R", "R"),
        ("L_a", "L_{a}"),
        ("omega_m", r"\omega_{m}"),
        ("K_se", r"K_{\text{se}}"),
        ("F_b1", "F_{b1}"),
        ("V_R_a", "V_{R_{a}}"),
        ("tau_motor_1", r"\tau_{\text{motor,1}}"),
        ("tau_k_1", r"\tau_{k_{1}}"),
        ("tau_s1_s2", r"\tau_{s1,s2}"),
        ("drive.motor.R", r"R_{\text{drive,motor}}"),
        ("drive.motor.L_a", r"L_{\text{a,drive,motor}}"),
        ("x[3]", "x_{3}"),
        ("x[1,2]", "x_{1,2}"),
        ("theta1", r"\theta_{1}"),
        ("R1", "R_{1}"),
        ("mass", r"\mathrm{mass}"),
        ("b_omega", r"b_{\omega}"),
        ("lambda_", r"\lambda"),
        ("x_", r"x_{\mathrm{\_}}"),
        ("omega_x_", r"\omega_{x,\mathrm{\_}}"),
        ("motor_e.R", r"R_{\text{motor,e}}"),
    ],
)
def test_names_in_latex(name: str, expected: str) -> None:
    assert latex_name(name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R_a + K_m^2/b_m", r"R_{a} + \frac{K_{m}^{2}}{b_{m}}"),
        ("-R_L/(R_L + R_c)", r"-\frac{R_{L}}{R_{L} + R_{c}}"),
        ("pi*d^2/4", r"\frac{\pi d^{2}}{4}"),
        ("sqrt(x + 1)", r"\sqrt{x + 1}"),
        ("x^(1/3)", "x^{1/3}"),
        ("2*x*(a + b)", r"2 x \left(a + b\right)"),
        ("sin(x)^2", r"\sin^{2} x"),
        ("abs(x)", r"\left| x \right|"),
        ("2e-5*x", r"2 \cdot 10^{-5} x"),
        ("1/2", r"\frac{1}{2}"),
        ("ln(x)", r"\ln x"),
    ],
)
def test_formulas_in_latex(text: str, expected: str) -> None:
    assert to_latex(parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(R*sin(theta) - d)*R*cos(theta)", r"R \left(R \sin \theta - d\right) \cos \theta"),
        ("cos(theta)^2*(a + b)^2", r"\left(a + b\right)^{2} \cos^{2} \theta"),
        ("omega*theta*p", r"\omega p \theta"),
        ("a*sin(x - y)/cos(x - y)", r"a \tan\left(x - y\right)"),
        ("cos(x)^2/sin(x)", r"\cos x \cot x"),
        ("sin(x)/cos(y)", r"\frac{\sin x}{\cos y}"),
        ("b + 2*cos(x)/sin(x)", r"b + 2 \cot x"),
    ],
)
def test_products_in_latex_stand_as_people_write_them(text: str, expected: str) -> None:
    assert to_latex(parse(text)) == expected


def test_parameters_stand_before_variables_where_they_are_known() -> None:
    formula = parse("theta*p*alpha + omega_m^2*b_m + I^2*R + R*omega*sin(theta)*m")
    with written_with({}, ("p", "alpha", "b_m", "R", "m")):
        written = to_latex(formula)
    assert written == r"R I^{2} + \alpha p \theta + b_{m} \omega_{m}^{2} + R m \omega \sin \theta"
    # Outside, nothing is known of the names.
    assert to_latex(parse("I*R")) == "I R"


def test_c_writer_declares_what_expressions_share_before_its_first_use() -> None:
    one, two = parse("sin(x)*(a + b)^2"), parse("sin(x) + a + b")
    writer = CWriter({"x": "y[0]"})
    writer.count((one, two))
    first = writer.write(one)
    assert writer.lines == ["const double s0 = a + b;", "const double s1 = sin(y[0]);"]
    assert first == "s0*s0*s1"
    assert writer.write(two) == "a + b + s1"
    assert len(writer.lines) == 2


def test_c_writer_declares_nothing_that_is_used_once() -> None:
    writer = CWriter({})
    writer.count((parse("sin(x) + y*z"),))
    assert writer.write(parse("sin(x) + y*z")) == "sin(x) + y*z"
    assert not writer.lines


def test_what_is_divided_by_again_and_again_is_inverted_once() -> None:
    base = parse("1 + x^2")
    expressions = [parse("a/sqrt(1 + x^2)"), parse("b/(1 + x^2)^(3/2)"), parse("c/(1 + x^2)")]
    writer = CWriter({})
    writer.count(expressions)
    texts = [writer.write(expression) for expression in expressions]
    inverse = next(line for line in writer.lines if "1.0/sqrt(" in line)
    name = inverse.split()[2]
    assert [text.count(name) for text in texts] == [1, 3, 2]
    assert not any("/" in text for text in texts)
    assert sum("/" in line for line in writer.lines) == 1
    assert to_c(parse("a") / base) == "a/(x*x + 1.0)", "a single quotient is divided"
