"""The built-in systems against the equations of the books, written by hand.

Sources: the corking machine paper (Mechatronics), equation (2), for `dc_motor`; the POG lecture for `dc_motor_pump`; the manual of
POG_Modeler, page 18, for the circuit of that page. The others follow from Kirchhoff's and Newton's laws on a page of paper.
"""

import contextlib
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

import tellegen as tg
from support.amount import small_now
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import Expression, evaluate_exact, parse
from tellegen.model.model import Element, Model

Rows = Sequence[Sequence[str]]

IDENTITY_OF_TWO = (("1", "0"), ("0", "1"))


def diagonal(*entries: str) -> Rows:
    return [[e if i == j else "0" for j in range(len(entries))] for i, e in enumerate(entries)]


def transposed(rows: Rows) -> Rows:
    return [list(column) for column in zip(*rows, strict=True)]


def zeros(rows: int, columns: int) -> Rows:
    return [["0"] * columns] * rows


def assert_matrix(system: EquationSystem, name: MatrixName, expected: Rows) -> None:
    """The matrix has the values of the expected one at random exact points."""
    found = system.matrices[name]
    assert [len(row) for row in found] == [len(row) for row in expected], f"{name} has another shape"
    generator = random.Random(name)
    for _ in range(3):
        point = {
            symbol: Fraction(generator.randint(1, 10**6), generator.randint(1, 10**6)) for symbol in system.parameters
        }
        for names in system.where:
            point[names] = evaluate_exact(system.where[names], point)
        for i, (row, wanted) in enumerate(zip(found, expected, strict=True)):
            for j, (entry, text) in enumerate(zip(row, wanted, strict=True)):
                here, there = evaluate_exact(entry, point), evaluate_exact(parse(text), point)
                assert here == there, f"{name}[{i}][{j}] is {entry}, not {text}"


def assert_system(
    system: EquationSystem,
    *,
    states: Sequence[str],
    inputs: Sequence[str],
    outputs: Sequence[str],
    L: Rows,
    A: Rows,
    B: Rows,
    C: Rows | None = None,
    D: Rows | None = None,
) -> None:
    assert (system.states, system.inputs, system.outputs) == (tuple(states), tuple(inputs), tuple(outputs))
    assert_matrix(system, "L", L)
    assert_matrix(system, "A", A)
    assert_matrix(system, "B", B)
    assert_matrix(system, "C", C or transposed(B))
    assert_matrix(system, "D", D or zeros(len(outputs), len(inputs)))
    assert system.linear
    for name in ("N", "B_1", "D_1", "f", "f_y"):
        assert system.is_zero(name)


def test_a_spring_beside_a_damper_passes_the_damping_straight_to_the_output() -> None:
    assert_system(
        tg.derive("spring_damper"),
        states=["F"],
        inputs=["v"],
        outputs=["F_t"],
        L=[["1/K"]],
        A=[["0"]],
        B=[["1"]],
        C=[["1"]],
        D=[["b"]],
    )


def test_the_dc_motor_has_the_equations_of_the_corking_machine_paper() -> None:
    assert_system(
        tg.derive("dc_motor"),
        states=["I", "omega"],
        inputs=["V", "tau"],
        outputs=["I", "omega"],
        L=diagonal("L", "J"),
        A=[["R", "K"], ["-K", "b"]],
        B=IDENTITY_OF_TWO,
    )


def test_the_dc_motor_has_the_values_of_its_parameter_set() -> None:
    values = tg.derive("dc_motor").values()
    assert values == {"L": 0.002, "R": 0.8, "K": 0.06, "J": 1e-4, "b": 2e-4}


def test_the_motor_with_pump_has_the_equations_of_the_lecture() -> None:
    assert_system(
        tg.derive("dc_motor_pump"),
        states=["I_a", "omega_m", "P_0"],
        inputs=["V_a", "Q_0"],
        outputs=["I_a", "P_0"],
        L=diagonal("L_a", "J_m", "C_0"),
        A=[["R_a", "K_m", "0"], ["-K_m", "b_m", "K_p"], ["0", "-K_p", "alpha_p"]],
        B=[["1", "0"], ["0", "0"], ["0", "1"]],
    )


def test_the_motor_with_pump_has_no_names_under_where() -> None:
    assert not tg.derive("dc_motor_pump").where


def test_a_series_circuit_exchanges_energy_between_inductor_and_capacitor() -> None:
    assert_system(
        tg.derive("rlc"),
        states=["I", "V_C"],
        inputs=["V"],
        outputs=["I"],
        L=diagonal("L", "C"),
        A=[["R", "1"], ["-1", "0"]],
        B=[["1"], ["0"]],
    )


def test_the_shaft_damping_of_the_drive_acts_on_the_difference_of_speeds() -> None:
    assert_system(
        tg.derive("two_mass_drive"),
        states=["omega_m", "tau_s", "omega_l"],
        inputs=["tau_m", "tau_l"],
        outputs=["omega_m", "omega_l"],
        L=diagonal("J_m", "1/K_s", "J_l"),
        A=[["b_m + d_s", "1", "-d_s"], ["-1", "0", "1"], ["-d_s", "-1", "b_l + d_s"]],
        B=[["1", "0"], ["0", "0"], ["0", "1"]],
    )


def test_the_road_drives_the_quarter_car_through_the_tyre_alone() -> None:
    assert_system(
        tg.derive("quarter_car"),
        states=["F_t", "v_u", "F_s", "v_s"],
        inputs=["v_r"],
        outputs=["F_t"],
        L=diagonal("1/K_t", "m_u", "1/K_s", "m_s"),
        A=[["0", "1", "0", "0"], ["-1", "b_s", "1", "-b_s"], ["0", "-1", "0", "1"], ["0", "-b_s", "-1", "b_s"]],
        B=[["1"], ["0"], ["0"], ["0"]],
    )


def test_the_piston_area_couples_pressure_and_velocity() -> None:
    assert_system(
        tg.derive("hydraulic_cylinder"),
        states=["Q_l", "P_c", "v_p"],
        inputs=["P_s", "F_l"],
        outputs=["Q_l", "v_p"],
        L=diagonal("L_l", "C_c", "m_p"),
        A=[["R_l", "1", "0"], ["-1", "G_c", "A_p"], ["0", "-A_p", "b_p"]],
        B=[["1", "0"], ["0", "0"], ["0", "1"]],
    )


def test_the_transformer_shows_the_source_resistance_to_the_tank_with_the_square_of_its_ratio() -> None:
    assert_system(
        tg.derive("transformer_tank"),
        states=["V_C", "I_L"],
        inputs=["V"],
        outputs=["I_V"],
        L=diagonal("C", "L"),
        A=[["n^2/R_s + 1/R", "1"], ["-1", "0"]],
        B=[["n/R_s"], ["0"]],
        C=[["-n/R_s", "0"]],
        D=[["1/R_s"]],
    )


def test_the_cauer_filter_has_five_states_and_an_energy_matrix_that_is_not_diagonal() -> None:
    assert_system(
        tg.derive("cauer_low_pass"),
        states=["V_C1", "I_L1", "V_C3", "I_L2", "V_C5"],
        inputs=["V"],
        outputs=["I_V"],
        L=[
            ["C1 + C2", "0", "-C2", "0", "0"],
            ["0", "L1", "0", "0", "0"],
            ["-C2", "0", "C2 + C3 + C4", "0", "-C4"],
            ["0", "0", "0", "L2", "0"],
            ["0", "0", "-C4", "0", "C4 + C5"],
        ],
        A=[
            ["1/R1", "1", "0", "0", "0"],
            ["-1", "0", "1", "0", "0"],
            ["0", "-1", "0", "1", "0"],
            ["0", "0", "-1", "0", "1"],
            ["0", "0", "0", "-1", "1/R2"],
        ],
        B=[["1/R1"], ["0"], ["0"], ["0"], ["0"]],
        C=[["-1/R1", "0", "0", "0", "0"]],
        D=[["1/R1"]],
    )


def test_the_dependent_capacitors_of_the_cauer_filter_hold_differences_of_the_others() -> None:
    system = tg.derive("cauer_low_pass")
    assert {name: str(e) for name, e in system.dependent.items()} == {"V_C2": "V_C1 - V_C3", "V_C4": "V_C3 - V_C5"}
    assert tg.check("cauer_low_pass").dependent == {"C2": ("C1", "C3"), "C4": ("C3", "C5")}


def test_the_cauer_filter_has_the_capacitances_of_the_modelica_library() -> None:
    values = tg.derive("cauer_low_pass").values()
    assert values["C2"] == pytest.approx(1 / (1.704992**2 * 1.304), rel=1e-14)
    assert values["C4"] == pytest.approx(1 / (1.179945**2 * 0.8586), rel=1e-14)


PAGE_18 = """\
system: POG_Modeler manual, page 18
network:
  V:  {voltage source: [a, gnd]}
  Ra: {resistor: [a, c]}
  Cb: {capacitor: [c, gnd]}
  Rc: {resistor: [c, d]}
  Ld: {inductor: [d, gnd]}
  RL: {resistor: [d, gnd]}
"""


@pytest.fixture
def page_18() -> EquationSystem:
    from tellegen.notations.reading import read_model

    return tg.derive(read_model(PAGE_18))


def test_the_circuit_of_the_manual_has_the_matrices_printed_there(page_18: EquationSystem) -> None:
    assert_system(
        page_18,
        states=["V_Cb", "I_Ld"],
        inputs=["V"],
        outputs=["I_V"],
        L=diagonal("Cb", "Ld"),
        A=[["1/(RL + Rc) + 1/Ra", "RL/(RL + Rc)"], ["-RL/(RL + Rc)", "RL*Rc/(RL + Rc)"]],
        B=[["1/Ra"], ["0"]],
        C=[["-1/Ra", "0"]],
        D=[["1/Ra"]],
    )


def test_the_sign_of_the_manual_is_the_other_one(page_18: EquationSystem) -> None:
    A = page_18.to_json("+")["A"]
    assert isinstance(A, list)
    values = {"RL": Fraction(3), "Rc": Fraction(5), "Ra": Fraction(7)}
    printed = [["-1/(RL + Rc) - 1/Ra", "-RL/(RL + Rc)"], ["RL/(RL + Rc)", "-RL*Rc/(RL + Rc)"]]
    for row, wanted in zip(A, printed, strict=True):
        for entry, text in zip(row, wanted, strict=True):
            assert evaluate_exact(parse(entry), values) == evaluate_exact(parse(text), values)


def _sources(model: Model) -> list[Element]:
    return [element for element in model.elements if element.kind.role == "source"]


@pytest.mark.parametrize("name", small_now(example.name for example in tg.examples()))
def test_every_example_reads_without_a_warning_and_has_an_experiment(name: str) -> None:
    model = tg.load(name)
    assert not [finding for finding in model.findings if finding.severity != "notice"]
    assert tg.check(model).ok
    assert model.about
    assert model.experiment.until is not None
    driven = {name for name, e in zip(model.inputs, _sources(model), strict=True) if e.signal is not None}
    assert set(model.experiment.inputs) | driven == set(model.inputs)


@pytest.mark.parametrize("name", small_now(example.name for example in tg.examples()))
def test_every_parameter_of_an_example_has_a_value_and_is_used(name: str) -> None:
    model, system = tg.load(name), tg.derive(name)
    moving = {
        name for name in model.parameters if name in system.where
    }  # follow a displacement, so they have no fixed value
    assert set(system.values()) | moving == set(model.parameters)
    used: set[str] = set()
    expressions: list[Expression] = [*system.entries(), *system.where.values()]
    expressions += [p.expression for p in model.parameters.values() if p.expression is not None]
    expressions += [argument for signal in model.experiment.inputs.values() for argument in signal.arguments]
    expressions += [e for element in model.elements if element.switching for e in element.switching.settings.values()]
    expressions += model.experiment.initial.values()
    if model.mechanism is not None:  # where the ground is decides what figures show, not how bodies move
        expressions += [length for point in model.mechanism.bodies["ground"].points.values() for length in point]
    for expression in expressions:
        used |= expression.free_symbols
    assert set(model.parameters) <= used


# A product with a heat flow is no power, and the flux of the solenoid is a state whose power variable is no linear function of it.
WITHOUT_PRODUCTS = {"two_masses_heat", "motor_heating", "solenoid"}


@pytest.mark.parametrize("name", [e.name for e in tg.examples() if e.name not in WITHOUT_PRODUCTS])
def test_an_example_loses_what_the_matrices_say(name: str) -> None:
    """Power supplied minus power dissipated reaches storages and heights: y u - P_d = x^T (-A x + B u - f) + V', D_1 = 0."""
    system = tg.derive(name)
    generator = random.Random(name)
    variables = (*system.parameters, *system.states, *system.inputs, *system.displacements, *system.where)
    point = {symbol: generator.uniform(0.5, 2.0) for symbol in variables}
    for symbol, meaning in system.where.items():
        with contextlib.suppress(ValueError, KeyError):  # roots of negative numbers, and signals: any value will do
            point[symbol] = meaning.evaluate(point)
    x, u = [point[s] for s in system.states], [point[s] for s in system.inputs]
    m = {key: [[e.evaluate(point) for e in row] for row in system.matrices[key]] for key in ("A", "B", "C", "D")}

    def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
        return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]

    f = [e.evaluate(point) for e in system.vectors["f"]] or [0.0] * len(x)
    rates = [b - a - c for a, b, c in zip(times(m["A"], x), times(m["B"], u), f, strict=True)]
    outputs = [c + d for c, d in zip(times(m["C"], x), times(m["D"], u), strict=True)]
    stored = sum(a * b for a, b in zip(x, rates, strict=True))
    supplied = sum(a * b for a, b in zip(outputs, u, strict=True))
    lifted = sum(
        system.potential_energy.derivative(q).evaluate(point) * rate.evaluate(point)
        for q, rate in system.displacements.items()
    )
    assert supplied - stored - lifted == pytest.approx(system.dissipated_power.evaluate(point), rel=1e-9)
