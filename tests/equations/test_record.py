"""The JSON record of equations: the names that other programs rely on, and formulas that they can evaluate."""

import json
from typing import Any

import pytest

import tellegen as tg
from tellegen.core.names import identifier
from tellegen.equations.printing.record import descriptor_to_record, equations_to_record, transfer_to_record
from tellegen.equations.system import EquationSystem
from tellegen.expressions import PYTHON_NAMESPACE, number, symbol
from tellegen.notations.reading import read_model

ALWAYS = ["sign", "states", "inputs", "outputs", "parameters", "displacements", "L", "A", "B", "C", "D"]

SOURCE_MEETS_STORAGE = """\
system: source meets storage
network:
  V:  {voltage source: [a, gnd]}
  C1: {capacitor: [a, b], C: 2 F}
  C2: {capacitor: [b, gnd], C: 3 F}
  R:  {resistor: [b, gnd]}
"""
DIODE = """\
system: diode with series resistance
parameters: {I_s: 1e-9 A, V_t: 25 mV, r: 3 ohm, k: 2 ohm/A^2}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 100 ohm}
  C: {capacitor: [b, gnd], C: 1 uF}
  D: {resistor: [b, c], law: i = I_s*(exp(v/V_t) - 1)}
  S: {resistor: [c, gnd], law: v = r*i + k*i^3}
"""
LADDER = """\
system: ladder
network:
  V: {voltage source: ["n[0]", gnd]}
  cells:
    repeat: {k: 1..3}
    network:
      R[k]: {resistor: ["n[k-1]", "n[k]"], R: 1 ohm}
      C[k]: {capacitor: ["n[k]", gnd], C: 1 F}
"""
LAMP = "system: lamp\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 6 ohm}}\n"


def derive(text: str) -> EquationSystem:
    return tg.derive(read_model(text))


def test_the_record_of_a_plain_model_has_exactly_the_keys_of_the_contract() -> None:
    assert list(tg.derive("dc_motor").to_json()) == ALWAYS
    assert list(tg.derive("dc_motor_pump").to_json()) == [*ALWAYS, "signals"]


def test_the_record_of_the_motor_with_pump_is_the_lecture_in_python_syntax() -> None:
    record = tg.derive("dc_motor_pump").to_json()
    assert record["sign"] == "-"
    assert record["states"] == ["I_a", "omega_m", "P_0"]
    assert record["inputs"] == ["V_a", "Q_0"]
    assert record["outputs"] == ["I_a", "P_0"]
    assert record["L"] == [["L_a", "0", "0"], ["0", "J_m", "0"], ["0", "0", "C_0"]]
    assert record["A"] == [["R_a", "K_m", "0"], ["-K_m", "b_m", "K_p"], ["0", "-K_p", "alpha_p"]]
    assert record["B"] == [["1", "0"], ["0", "0"], ["0", "1"]]
    assert record["C"] == [["1", "0", "0"], ["0", "0", "1"]]
    assert record["D"] == [["0", "0"], ["0", "0"]]


def test_the_other_sign_negates_the_power_matrix_and_nothing_else() -> None:
    system = tg.derive("dc_motor_pump")
    minus, plus = system.to_json("-"), system.to_json("+")
    assert plus["sign"] == "+"
    assert plus["A"] == [["-R_a", "-K_m", "0"], ["K_m", "-b_m", "-K_p"], ["0", "K_p", "-alpha_p"]]
    assert {key: plus[key] for key in ALWAYS if key not in {"sign", "A"}} == {
        key: minus[key] for key in ALWAYS if key not in {"sign", "A"}
    }


def test_a_parameter_without_a_value_is_null() -> None:
    record = derive(SOURCE_MEETS_STORAGE).to_json()
    assert record["parameters"] == {"C1": 2.0, "C2": 3.0, "R": None}


def test_a_parameter_given_by_a_formula_has_its_value() -> None:
    parameters: Any = tg.derive("cauer_low_pass").to_json()["parameters"]
    assert parameters["C2"] == pytest.approx(1 / (1.704992**2 * 1.304), rel=1e-14)


def test_derivatives_of_inputs_appear_where_a_source_meets_a_storage() -> None:
    record = derive(SOURCE_MEETS_STORAGE).to_json()
    assert record["B_1"] == [["C1"]]
    assert "D_1" in record
    assert record["dependent"] == {"V_C1": "V - V_C2"}
    assert "f" not in record
    assert "N" not in record


def test_a_nonlinear_loop_brings_its_unknown_and_its_residual() -> None:
    record: Any = derive(DIODE).to_json()
    assert len(record["algebraic"]["w"]) == len(record["algebraic"]["residual"]) == 1
    assert len(record["f"]) == 1
    assert "f_y" not in record


def test_a_static_model_has_no_states_and_its_direct_gain() -> None:
    record = derive(LAMP).to_json()
    assert (record["states"], record["L"], record["A"], record["B"]) == ([], [], [], [])
    assert record["C"] == [[]]
    assert record["D"] == [["1/R"]]


def test_names_are_identifiers_everywhere_in_the_record() -> None:
    record: Any = derive(LADDER).to_json()
    assert record["states"] == ["V_C_1", "V_C_2", "V_C_3"]
    assert set(record["parameters"]) == {"R_1", "R_2", "R_3", "C_1", "C_2", "C_3"}
    assert record["L"][1][1] == "C_2"
    assert "[" not in "".join(entry for row in record["A"] for entry in row)


def test_a_word_reserved_in_python_gets_a_trailing_underscore() -> None:
    text = LAMP.replace("R: {resistor: [a], R: 6 ohm}", "R: {resistor: [a], R: lambda_ + for}").replace(
        "network", "parameters: {lambda_: 1 ohm, for: 2 ohm}\nnetwork"
    )
    record: Any = derive(text).to_json()
    assert set(record["parameters"]) == {"lambda_", "for_"}
    assert "for_" in record["D"][0][0]


def test_two_names_with_one_identifier_stay_two_names() -> None:
    text = (
        "system: alike\nnetwork: {V: {voltage source: [a]}, R_1: {resistor: [a, b], R: 1 ohm},"
        ' "R[1]": {resistor: [b, c], R: 2 ohm}, C: {capacitor: [c], C: 1 F}}'
    )
    record = derive(text).to_json()
    assert record["parameters"] == {"R_1": 1.0, "R_1_": 2.0, "C": 1.0}
    assert record["A"] == [["1/(R_1 + R_1_)"]]


@pytest.mark.parametrize("text", [SOURCE_MEETS_STORAGE, DIODE, LADDER, LAMP])
def test_every_formula_of_a_record_can_be_evaluated_over_the_names_listed(text: str) -> None:
    system = derive(text)
    record: Any = json.loads(json.dumps(system.to_json()))
    names = [*record["states"], *record["inputs"], *record["parameters"], *record.get("algebraic", {"w": []})["w"]]
    values: dict[str, Any] = {name: 0.1 + 0.07 * k for k, name in enumerate(names)}
    space = {**PYTHON_NAMESPACE, **values}
    for name, formula in record.get("where", {}).items():
        space[name] = eval(formula, space)
    original = {name: values[identifier(name)] for name in (*system.states, *system.inputs, *system.parameters)}
    original |= {name: values[identifier(name)] for name in system.algebraic.unknowns}
    for key in ("L", "A", "B", "C", "D"):
        for row, entries in zip(record[key], system.matrices[key], strict=True):
            for formula, entry in zip(row, entries, strict=True):
                assert eval(formula, space) == pytest.approx(entry.evaluate(original), rel=1e-12)
    for formula, residual in zip(
        record.get("algebraic", {"residual": []})["residual"], system.algebraic.residuals, strict=True
    ):
        assert eval(formula, space) == pytest.approx(residual.evaluate(original), rel=1e-12)


def test_names_under_where_come_in_order_and_only_those_that_are_needed() -> None:
    from dataclasses import replace

    system = tg.derive("rlc")
    where = {"c_2": symbol("R") + number(1), "c_3": symbol("R"), "c_1": symbol("c_2") * symbol("L")}
    system = replace(system, where=where, matrices={**system.matrices, "D": ((symbol("c_1"),),)})
    record: Any = equations_to_record(system)
    assert list(record["where"].items()) == [("c_2", "R + 1"), ("c_1", "L*c_2")]


def test_the_same_model_gives_the_same_text_twice() -> None:
    first, second = (json.dumps(tg.derive("cauer_low_pass").to_json()) for _ in range(2))
    assert first == second


def test_numbers_are_written_as_numbers_when_parameters_are_replaced() -> None:
    system = tg.derive("dc_motor", numeric=True, eliminate=True)
    assert isinstance(system, EquationSystem)
    record = equations_to_record(system, numeric=True)
    assert record["L"] == [[0.002, 0.0], [0.0, 1e-4]]
    assert record["A"] == [[0.8, 0.06], [-0.06, 2e-4]]


def test_the_descriptor_record_lists_nonzero_entries_by_row_and_column() -> None:
    form = tg.derive("rlc", form="dae")
    record: Any = descriptor_to_record(form)
    n = len(record["w"])
    assert {"I", "V_C"} <= set(record["w"])
    for key, columns in (("E", n), ("F", n), ("G", 1)):
        assert all(0 <= i < n and 0 <= j < columns and isinstance(e, str) for i, j, e in record[key])
    assert sorted(e for _, _, e in record["E"]) == ["C", "L"]
    assert "h" not in record


def test_the_transfer_record_is_over_its_variable() -> None:
    record: Any = transfer_to_record(tg.derive("rlc", form="tf"))
    assert record["variable"] == "s"
    space = {"R": 20.0, "L": 0.01, "C": 1e-5, "s": 3.0}
    expected = 1e-5 * 3 / (0.01 * 1e-5 * 9 + 20 * 1e-5 * 3 + 1)
    assert eval(record["G"][0][0], space) == pytest.approx(expected, rel=1e-12)
