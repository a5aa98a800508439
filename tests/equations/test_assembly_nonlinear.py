"""Nonlinear laws in the equations: f, a state-dependent L, states that are energy variables, algebraic unknowns."""

import math
from collections.abc import Mapping
from fractions import Fraction

import pytest
from scipy.optimize import brentq

from support.networks import agree, element, equations, law, model, network
from tellegen.core.errors import CausalityError, EquationError
from tellegen.equations.system import EquationSystem
from tellegen.expressions import parse as to_expression
from tellegen.expressions import symbol
from tellegen.model.model import Element

FORCE = element("F", "force source", "frame", "m")
MASS = element("m", "mass", "m", "frame")
CURRENT = element("I", "current source", "gnd", "a")
VOLTAGE = element("V", "voltage source", "a", "gnd")
LEAK = element("R", "resistor", "a", "gnd")


def damper(formula: str, *nodes: str, name: str = "c") -> Element:
    return element(name, "damper", *(nodes or ("m", "frame")), law=law("resistive", "v", formula, "through"))


def capacitor(form: str, variable: str, formula: str, *nodes: str, name: str = "C") -> Element:
    assert form in ("content", "output", "energy", "coenergy")
    return element(name, "capacitor", *(nodes or ("a", "gnd")), law=law(form, variable, formula))  # type: ignore[arg-type]


def solved(system: EquationSystem, values: Mapping[str, float], low: float, high: float) -> dict[str, float]:
    """The values with the one algebraic unknown found by bisection."""
    (name,), (residual,) = system.algebraic.unknowns, system.algebraic.residuals
    root = brentq(lambda w: residual.evaluate({**values, name: float(w)}), low, high, xtol=1e-14)
    return {**values, name: float(root)}


def power_balance(system: EquationSystem, values: Mapping[str, float]) -> tuple[float, float]:
    """Supplied power, and stored plus dissipated power, for models without B_1 and with at most one state."""
    entry = {name: [[e.evaluate(values) for e in row] for row in m] for name, m in system.matrices.items()}
    f = [e.evaluate(values) for e in system.vectors["f"]]
    f_y = [e.evaluate(values) for e in system.vectors["f_y"]]
    x, u = [values[n] for n in system.states], [values[n] for n in system.inputs]
    assert system.stored_energy is not None
    stored = 0.0
    for i, name in enumerate(system.states):
        assert all(e == 0 for j, e in enumerate(entry["L"][i]) if j != i)
        driven = math.fsum(-a * b for a, b in zip(entry["A"][i], x, strict=True)) - f[i]
        driven += math.fsum(a * b for a, b in zip(entry["B"][i], u, strict=True))
        stored += system.stored_energy.derivative(name).evaluate(values) * driven / entry["L"][i][i]
    y = [
        math.fsum([*(a * b for a, b in zip(c, x, strict=True)), *(a * b for a, b in zip(d, u, strict=True)), rest])
        for c, d, rest in zip(entry["C"], entry["D"], f_y, strict=True)
    ]
    supplied = math.fsum(a * b for a, b in zip(y, u, strict=True))
    return supplied, stored + system.dissipated_power.evaluate(values)


# -- friction ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["F_c*sign(v)", "b*v*abs(v)", "b*v + F_c*tanh(v/v_0)"])
def test_friction_on_a_mass_is_a_force_that_is_not_linear_in_its_speed(formula: str) -> None:
    system = equations(model(FORCE, MASS, damper(formula)))
    expected = damper(formula.replace("v/", "v_m/").replace("*v", "*v_m").replace("(v)", "(v_m)"))
    assert system.states == ("v_m",)
    assert agree(system.matrices["L"], [["m"]])
    assert system.is_zero("A")
    assert expected.law is not None
    assert system.vectors["f"] == (expected.law.expression,)
    assert not system.linear
    values = {"m": 2.0, "F_c": 3.0, "b": 0.5, "v_0": 0.1, "v_m": -1.3, "F": 4.0}
    supplied, used = power_balance(system, values)
    assert supplied == pytest.approx(used, rel=1e-12)


def test_linear_friction_beside_a_nonlinear_one_stays_in_A() -> None:
    system = equations(model(FORCE, MASS, damper("F_c*sign(v)"), element("b", "damper", "m", "frame")))
    assert agree(system.matrices["A"], [["b"]])
    assert agree([system.vectors["f"], system.vectors["f_y"]], [["F_c*sign(v_m)"], ["0"]])


# -- storages ------------------------------------------------------------------------------------------------------------------


def test_a_charge_of_the_voltage_gives_an_energy_matrix_of_the_state() -> None:
    system = equations(model(CURRENT, capacitor("content", "v", "C_0*v + k*v^3"), LEAK))
    assert system.states == ("V_C",)
    assert agree(system.matrices["L"], [["C_0 + 3*V_C^2*k"]])
    assert system.stored_energy is not None
    assert agree([[system.stored_energy]], [["C_0*V_C^2/2 + 3*V_C^4*k/4"]])
    assert not system.linear


def test_a_co_energy_gives_the_same_model_as_its_derivative() -> None:
    by_content = equations(model(CURRENT, capacitor("content", "v", "C_0*v + k*v^3"), LEAK))
    by_coenergy = equations(model(CURRENT, capacitor("coenergy", "v", "C_0*v^2/2 + k*v^4/4"), LEAK))
    assert by_coenergy.matrices == by_content.matrices
    assert by_coenergy.stored_energy == by_content.stored_energy


def test_an_energy_of_the_output_gives_the_slope_of_the_content() -> None:
    """dE = v dq, so dq/dv = E'(v)/v."""
    system = equations(model(CURRENT, capacitor("energy", "v", "C_0*v^2/2 + k*v^4/4"), LEAK))
    values = {"C_0": 2.0, "k": 3.0, "V_C": 1.5, "R": 1.0}
    assert system.matrices["L"][0][0].evaluate(values) == pytest.approx(2.0 + 3.0 * 1.5**2)
    assert system.stored_energy is not None
    assert agree([[system.stored_energy]], [["C_0*V_C^2/2 + V_C^4*k/4"]])


def test_an_energy_of_the_output_has_a_capacitance_at_rest() -> None:
    system = equations(model(CURRENT, capacitor("energy", "v", "C_0*v^2/2 + k*v^4/4"), LEAK))
    assert system.matrices["L"][0][0].evaluate({"C_0": 2.0, "k": 3.0, "V_C": 0.0}) == 2.0


def test_a_force_of_the_displacement_makes_the_displacement_a_state() -> None:
    spring = element("s", "spring", "m", "frame", law=law("output", "x", "K*x + k*x^3", "through"))
    system = equations(model(FORCE, MASS, spring))
    assert system.states == ("v_m", "x_s")
    assert agree(system.matrices["L"], [["m", "0"], ["0", "1"]])
    assert agree(system.matrices["A"], [["0", "0"], ["-1", "0"]])
    assert agree([system.vectors["f"]], [["K*x_s + k*x_s^3", "0"]])
    assert system.stored_energy is not None
    assert agree([[system.stored_energy]], [["K*x_s^2/2 + k*x_s^4/4 + m*v_m^2/2"]])
    supplied, used = power_balance(system, {"K": 2.0, "k": 0.3, "m": 1.5, "x_s": -0.7, "v_m": 1.1, "F": 5.0})
    assert supplied == pytest.approx(used, rel=1e-12)


def test_an_energy_of_the_displacement_is_kept_and_gives_the_force() -> None:
    spring = element("s", "spring", "m", "frame", law=law("energy", "x", "U_0*(1 - cos(x/x_0))"))
    system = equations(model(FORCE, MASS, spring))
    assert agree([system.vectors["f"]], [["U_0*sin(x_s/x_0)/x_0", "0"]])
    assert system.stored_energy is not None
    assert agree([[system.stored_energy]], [["U_0*(1 - cos(x_s/x_0)) + m*v_m^2/2"]])


UNFOUND = [
    ("inductor", "content", "i", "phi_s*log(1 + exp(i/I_s)) + L*i"),
    ("inductor", "output", "phi", "I_s*tanh(phi/phi_s)^3 + phi/L"),
    ("capacitor", "content", "v", "I_s*v*exp(-(v/phi_s)^2)*cosh(v/L)"),
    ("capacitor", "coenergy", "v", "L*v^2/2 + I_s*phi_s^2*sin((v/phi_s)^2)/3"),
]


@pytest.mark.parametrize(("kind", "form", "letter", "formula"), UNFOUND)
@pytest.mark.parametrize("at", [0.9, -1.7])
def test_the_energy_of_a_law_without_closed_integral_is_found_by_quadrature(
    kind: str, form: str, letter: str, formula: str, at: float
) -> None:
    curved = element("E", kind, "b", "gnd", law=law(form, letter, formula))  # type: ignore[arg-type]
    system = equations(model(VOLTAGE, element("R", "resistor", "a", "b"), curved))
    values = {"phi_s": 0.8, "I_s": 1.3, "L": 0.7}
    (state,) = system.states
    energy = system.stored_energy
    assert energy is not None
    assert energy.evaluate({**values, state: 0.0}) == pytest.approx(0.0, abs=1e-15)
    # dE = x L dx, or x dq where the state is the content: by Simpson's rule with many points.
    output = symbol(state) * system.matrices["L"][0][0] if form != "output" else to_expression(formula)
    name = state if form != "output" else "phi"
    n = 2000
    weights = [1, *([4, 2] * (n // 2))[:-1], 1]
    points = [output.evaluate({**values, name: at * k / n}) for k in range(n + 1)]
    told = at / n / 3 * sum(w * x for w, x in zip(weights, points, strict=True))
    assert energy.evaluate({**values, state: at}) == pytest.approx(told, rel=1e-9)
    slope = energy.derivative(state).evaluate({**values, state: at})
    assert slope == pytest.approx(output.evaluate({**values, name: at}), rel=1e-9)


def test_a_force_with_a_pole_at_rest_is_no_reason_to_fail() -> None:
    spring = element("s", "spring", "m", "frame", law=law("output", "x", "k/x^2", "through"))
    assert agree([equations(model(FORCE, MASS, spring)).vectors["f"]], [["k/x_s^2", "0"]])


def test_a_dependent_nonlinear_storage_adds_its_slope_at_the_shared_output() -> None:
    system = equations(
        model(
            CURRENT, capacitor("content", "v", "C_0*v + k*v^3", name="D"), element("C", "capacitor", "a", "gnd"), LEAK
        )
    )
    assert agree(system.matrices["L"], [["C + C_0 + 3*V_C^2*k"]])
    assert system.dependent == {"V_D": symbol("V_C")}


def test_a_dependent_nonlinear_storage_behind_a_source_is_taken_at_the_difference() -> None:
    nonlinear = capacitor("content", "v", "C_0*v + k*v^3", "a", "b", name="D")
    system = equations(
        model(VOLTAGE, nonlinear, element("C", "capacitor", "b", "gnd"), element("R", "resistor", "b", "gnd"))
    )
    at = {"V": 3.0, "V_C": 1.0, "C_0": 0.5, "k": 0.25, "C": 2.0, "R": 4.0}
    slope = 0.5 + 3 * 0.25 * (3.0 - 1.0) ** 2
    value = {name: m[0][0].evaluate(at) for name, m in system.matrices.items()}
    assert value["L"] == pytest.approx(2.0 + slope)
    assert value["B_1"] == pytest.approx(slope)
    assert value["C"] == pytest.approx(slope / (4.0 * (2.0 + slope)))
    assert value["D_1"] == pytest.approx(slope * 2.0 / (2.0 + slope))


def test_a_storage_given_by_its_output_cannot_follow() -> None:
    with pytest.raises(CausalityError) as caught:
        equations(model(VOLTAGE, LEAK, capacitor("output", "q", "q + k*q^3")))
    assert caught.value.code == "K104"
    assert caught.value.what == "'C' would have to follow: its voltage is decided by 'V'"


def test_a_storage_cannot_follow_one_given_by_its_output() -> None:
    with pytest.raises(EquationError) as caught:
        equations(model(CURRENT, LEAK, capacitor("output", "q", "q + k*q^3"), element("D", "capacitor", "a", "gnd")))
    assert caught.value.code == "E102"
    assert caught.value.what == "'D' follows 'C', whose law gives its output"


# -- algebraic unknowns --------------------------------------------------------------------------------------------------------


def test_two_nonlinear_resistors_in_series_leave_one_unknown() -> None:
    """R_1 i + k i^3 + r i = V, solved directly and by the residual."""
    first = element("A", "resistor", "a", "b", law=law("resistive", "i", "R_1*i + k*i^3", "across"))
    second = element("B", "resistor", "b", "gnd", law=law("resistive", "i", "r*i^3", "across"))
    system = equations(model(VOLTAGE, first, second))
    assert len(system.algebraic.unknowns) == len(system.algebraic.residuals) == 1
    values = {"R_1": 2.0, "k": 0.5, "r": 1.5, "V": 7.0}
    current = brentq(lambda i: 2.0 * i + 0.5 * i**3 + 1.5 * i**3 - 7.0, 0, 7, xtol=1e-14)
    found = solved(system, values, -10, 10)
    output = system.vectors["f_y"][0].evaluate(found)
    assert output == pytest.approx(float(current), rel=1e-10)
    assert system.dissipated_power.evaluate(found) == pytest.approx(7.0 * float(current), rel=1e-10)


def test_a_resistor_and_a_diode_in_series_agree_with_their_direct_solution() -> None:
    diode = element("D", "conductance", "b", "gnd", law=law("resistive", "v", "I_s*(exp(v/V_T) - 1)", "through"))
    values: dict[str, Fraction | int | None] = {"I_s": Fraction(1, 10**6), "V_T": Fraction(1, 40), "R": 10}
    system = equations(model(VOLTAGE, element("R", "resistor", "a", "b"), diode, **values))
    numbers = {"I_s": 1e-6, "V_T": 0.025, "R": 10.0, "V": 2.0}
    direct = brentq(lambda v: (2.0 - v) / 10.0 - 1e-6 * (math.exp(v / 0.025) - 1), 0, 1, xtol=1e-15)
    found = solved(system, numbers, 0, 0.6)
    y = system.matrices["D"][0][0].evaluate(found) * 2.0 + system.vectors["f_y"][0].evaluate(found)
    assert y == pytest.approx((2.0 - float(direct)) / 10.0, rel=1e-9)


def test_a_diode_on_a_capacitor_needs_no_unknown() -> None:
    diode = element("D", "conductance", "b", "gnd", law=law("resistive", "v", "I_s*(exp(v/V_T) - 1)", "through"))
    system = equations(model(VOLTAGE, element("R", "resistor", "a", "b"), diode, element("C", "capacitor", "b", "gnd")))
    assert system.algebraic.unknowns == ()
    assert agree([system.vectors["f"], system.vectors["f_y"]], [["I_s*(exp(V_C/V_T) - 1)"], ["0"]])
    assert agree(system.matrices["A"], [["1/R"]])


def test_a_law_asked_backwards_is_an_unknown_with_the_law_as_residual() -> None:
    cubic = element("N", "resistor", "a", "gnd", law=law("resistive", "i", "r*i + k*i^3", "across"))
    system = equations(model(VOLTAGE, cubic))
    assert system.algebraic.unknowns == ("I_N",)
    found = solved(system, {"r": 1.0, "k": 2.0, "V": 3.0}, 0, 3)
    assert found["I_N"] == pytest.approx(1.0)
    assert system.vectors["f_y"][0].evaluate(found) == pytest.approx(1.0)


def test_nonlinear_dampers_in_series_on_a_mass_keep_the_power_balance() -> None:
    system = equations(model(FORCE, MASS, damper("b*v*abs(v)", "m", "a"), damper("d*v^3", "a", "frame", name="e")))
    found = solved(system, {"b": 2.0, "d": 0.7, "m": 1.0, "v_m": 1.4, "F": 3.0}, 0, 1.4)
    supplied, used = power_balance(system, found)
    assert supplied == pytest.approx(used, rel=1e-10)
    slip = brentq(lambda v: 2.0 * v * abs(v) - 0.7 * (1.4 - v) ** 3, 0, 1.4, xtol=1e-15)
    assert system.vectors["f"][0].evaluate(found) == pytest.approx(2.0 * float(slip) ** 2, rel=1e-10)


# -- numbers -------------------------------------------------------------------------------------------------------------------


def test_a_conductance_of_zero_divides_nothing() -> None:
    line = network(
        ("V", "voltage source", "a", "gnd"),
        ("G_1", "conductance", "a", "b"),
        ("G_2", "conductance", "b", "c"),
        ("G_3", "conductance", "c", "gnd"),
        ("G_4", "conductance", "c", "gnd"),
        G_1=0,
    )
    of = model(*line.model().elements, G_1=0)
    assert equations(of).matrices["D"][0][0].evaluate({"G_1": 0.0, "G_2": 1.0, "G_3": 1.0, "G_4": 1.0}) == 0.0
