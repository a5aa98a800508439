"""Laws that users write: their forms, their letters, and the linear ones that become values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellegen.core.errors import DescriptionError, Finding
from tellegen.expressions import number, parse, symbol
from tellegen.model.laws import Law
from tellegen.model.model import Element
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

PARAMETERS = "C: 2 uF, K: 3 N/m, k_3: 5 N/m^3, b: 2 N*s^2/m^2, R: 4 ohm, V_0: 2 V, I_0: 3 A, F_0: 1 N"


def text_of(line: str, parameters: str = PARAMETERS) -> str:
    return f"system: T\nparameters: {{{parameters}}}\nnetwork:\n  X: {{{line}}}\n"


def element(line: str, parameters: str = PARAMETERS) -> Element:
    return read_model(text_of(line, parameters)).elements[0]


def law(line: str) -> Law:
    found = element(line).law
    assert found is not None
    return found


def error(line: str, parameters: str = PARAMETERS) -> Finding:
    with pytest.raises(DescriptionError) as caught:
        read_model(text_of(line, parameters))
    (only,) = caught.value.findings
    return only


@pytest.mark.parametrize(
    ("line", "form", "variable", "expression", "gives"),
    [
        ('damper: [x], law: "F = b*v*abs(v)"', "resistive", "v", "b*v*abs(v)", "through"),
        ('damper: [x], law: "v = sign(F)*sqrt(abs(F)/b)"', "resistive", "F", "sign(F)*sqrt(abs(F)/b)", "across"),
        ('resistor: [a], law: "i = I_0*(exp(v/V_0) - 1)"', "resistive", "v", "I_0*(exp(v/V_0) - 1)", "through"),
        ('spring: [x], law: "F = K*x + k_3*x^3"', "output", "x", "K*x + k_3*x^3", "through"),
        ('spring: [x], law: "x = F/K + 1e-3 m * (F/F_0)^3"', "content", "F", "F/K + 0.001*(F/F_0)^3", "through"),
        ('capacitor: [a], law: "q = C*V_0*tanh(v/V_0)"', "content", "v", "C*V_0*tanh(v/V_0)", "across"),
        ('capacitor: [a], law: "v = q/C + 1e9*q^3"', "output", "q", "q/C + 1e9*q^3", "across"),
        ('spring: [x], energy: "K*x^2/2 + k_3*x^4/4"', "energy", "x", "K*x^2/2 + k_3*x^4/4", "through"),
        (
            'capacitor: [a], coenergy: "C*V_0^2*(cosh(v/V_0) - 1)"',
            "coenergy",
            "v",
            "C*V_0^2*(cosh(v/V_0) - 1)",
            "across",
        ),
        ('capacitor: [a], energy: "C*v^4/V_0^2"', "energy", "v", "C*v^4/V_0^2", "across"),
        (
            'damper: [x], law: "through = b*across*abs(across)"',
            "resistive",
            "across",
            "b*across*abs(across)",
            "through",
        ),
        ('damper: [x], law: "F = b*v_1*abs(v_1)", velocity: v_1', "resistive", "v_1", "b*v_1*abs(v_1)", "through"),
        ('spring: [x], law: "F = K*s + k_3*s^3", displacement: s', "output", "s", "K*s + k_3*s^3", "through"),
    ],
)
def test_the_left_side_decides_the_form_of_a_law(
    line: str, form: str, variable: str, expression: str, gives: str
) -> None:
    found = law(line)
    assert (found.form, found.variable, found.gives) == (form, variable, gives)
    assert found.expression is parse(expression)
    assert element(line).value is None


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('resistor: [a], law: "v = R*i"', "R"),
        ('resistor: [a], law: "i = v/R"', "R"),
        ('conductance: [a], law: "v = R*i"', "1/R"),
        ('capacitor: [a], law: "q = C*v"', "C"),
        ('capacitor: [a], law: "v = q/C"', "C"),
        ('spring: [x], law: "F = K*x"', "K"),
        ('spring: [x], law: "x = F/K"', "K"),
        ('compliance: [x], law: "F = K*x"', "1/K"),
        ('capacitor: [a], energy: "q^2/(2*C)"', "C"),
        ('capacitor: [a], energy: "C*v^2/2"', "C"),
        ('capacitor: [a], coenergy: "C*v^2/2"', "C"),
        ('spring: [x], energy: "K*x^2/2"', "K"),
        ('spring: [x], energy: "F^2/(2*K)"', "K"),
        ('resistor: [a], law: "v = 2*R*I + R*i"', "3*R"),
    ],
)
def test_a_linear_law_is_the_value_it_stands_for(line: str, value: str) -> None:
    found = element(line)
    assert found.law is None
    assert found.value is parse(value)


def test_a_linear_law_with_a_number_is_a_parameter_of_the_element() -> None:
    model = read_model(text_of('resistor: [a], law: "v = 1000*i"'))
    assert model.elements[0].value is symbol("X")
    assert model.parameters["X"].expression is number(1000)
    assert read_model(text_of('resistor: [a], law: "v = 2 kohm * i"')).parameters["X"].expression is number(2000)


@pytest.mark.parametrize(
    ("line", "code", "what", "fix"),
    [
        ('resistor: [a], law: "3*i"', "D150", "the law of X has no '='", "write a law such as 'v = R*i'"),
        (
            'resistor: [a], law: "I = 2 S*V + 1 A*sinh(V/(1 V))"',
            "D158",
            "the law of X reads the 'V' of '2 S*V' as a unit, and 'V' is its variable too",
            "for the variable write (2 S)*V, or another letter of it for what is no unit",
        ),
        (
            'resistor: [a], law: "z = 3*i"',
            "D150",
            "the law of X has 'z' on its left side",
            "the left side is 'v' or 'i'",
        ),
        (
            'friction: [a], law: "F = 3*v"',
            "D150",
            "the law of X has 'F' on its left side",
            "the left side is 'tau' or 'omega', as in 'tau = b*omega'; 'damper', ",
        ),
        (
            'capacitor: [a], law: "q = C*i"',
            "D151",
            "the law of X uses a variable that a law of a capacitor",
            "write it with the voltage",
        ),
        (
            'capacitor: [a], law: "i = C*v"',
            "D151",
            "the law of X uses a variable that a law of a capacitor",
            "write it with the charge",
        ),
        (
            'resistor: [a], law: "q = 3*v"',
            "D151",
            "the law of X uses a variable that a law of a resistor",
            "write it with the voltage",
        ),
        (
            'spring: [x], law: "F = K*x + 3*v"',
            "D151",
            "the law of X uses a variable",
            "write it with the displacement 'x'",
        ),
        ('capacitor: [a], energy: "q*v/2"', "D151", "the law of X mixes two variables", "use one of 'q', 'v'"),
        (
            'capacitor: [a], coenergy: "q^2/C/2"',
            "D151",
            "the law of X uses a variable",
            "write it with the voltage 'v'",
        ),
        (
            'resistor: [a], law: "v = V_0"',
            "D152",
            "the law of X does not depend on the current",
            "use 'i' in it, or describe a source",
        ),
        (
            'resistor: [a], law: "v = R*i + U_9*i^2"',
            "D120",
            "the law of X uses 'U_9', which is not a parameter",
            "add 'U_9' to the parameters",
        ),
        (
            'resistor: [a], law: "v = V_0*tanh(i)"',
            "D123",
            "the law of X takes 'tanh' of something in A",
            "check the units of its parts",
        ),
        ('resistor: [a], law: "v = I_0*tanh(i/I_0)"', "D121", "the law of X is in A, not in V", "give it in V"),
        (
            'resistor: [a], law: "v = V_0*tanh(i/I_0) + I_0"',
            "D122",
            "the law of X adds A and V",
            "check the units of its parts",
        ),
        (
            'resistor: [a], law: "v = C*i"',
            "D121",
            "the resistance in the law of X is in F, not in ohm",
            "give it in ohm",
        ),
        (
            'spring: [x], energy: "E = K*x^2"',
            "D150",
            "the law of X of the energy has a '='",
            "write the expression alone",
        ),
        (
            'resistor: [a], energy: "R*i^2"',
            "D155",
            "the resistor X has no 'energy': it keeps no energy",
            "write a law such as",
        ),
        ('gear: [a, b], law: "F1 = 2*F2"', "D155", "the gear X has no 'law': its modulus says all", "leave it out"),
        ('resistor: [a], law: "v = R*i", R: 3', "D115", "'R' and 'law' both decide the resistor X", "keep one of them"),
    ],
)
def test_a_wrong_law_is_told_what_fits(line: str, code: str, what: str, fix: str) -> None:
    found = error(line)
    assert (found.code, found.what[: len(what)], found.fix[: len(fix)]) == (code, what, fix)


def test_a_letter_means_the_variable_and_a_parameter_of_its_name_is_warned_of() -> None:
    model = read_model(text_of('resistor: [a], law: "v = R*i + R*i^3/I_0^2"', PARAMETERS + ", i: 3 A"))
    (found,) = (f for f in model.findings if f.code != "D139")  # other texts use the other parameters
    assert (found.severity, found.what) == ("warning", "in the law of X, 'i' is the current, not the parameter")
    assert model.elements[0].law is not None
    assert model.elements[0].law.variable == "i"


def test_two_letters_of_one_variable_are_one_variable() -> None:
    found = law('resistor: [a], law: "v = R*I + R*i*abs(i)/I_0"')
    assert found.expression.free_symbols == {"I", "R", "I_0"}


@given(st.lists(st.sampled_from([1, -1, 2, 0.3, 1e3, -4.5]), min_size=1, max_size=5))
def test_a_law_of_plain_numbers_is_one_in_si_units_and_written_as_it_was(factors: list[float]) -> None:
    """A factor of one is not seen in a formula: it hides a unit like any other number."""
    terms = " + ".join(f"{factor}*i^{power}" for power, factor in enumerate(factors, 1))
    model = read_model(text_of(f'resistor: [a, gnd], law: "v = {terms}"'))
    (again,) = read_model(to_yaml(model)).elements
    (first,) = model.elements
    assert (again.law is None) == (first.law is None)
    if first.law is not None and again.law is not None:
        assert again.law.expression is first.law.expression


@pytest.mark.parametrize(
    "law", ["I = (2 S)*V + 1 A*sinh(V/(1 V))", "I = 2 mA/V*(V + V^3/(1 V^2))", "I = 2 S*v + R2V*V^3"]
)
def test_a_unit_beside_the_letter_of_a_variable_is_no_doubt(law: str) -> None:
    assert element(f'resistor: [a], law: "{law}"', "R2V: 3 A/V^3").law is not None
