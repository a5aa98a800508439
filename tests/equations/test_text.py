"""Equations on a terminal."""

import random

import pytest

import tellegen as tg
from tellegen.equations.printing.text import descriptor_to_text, equations_to_text, parameters_to_text, transfer_to_text
from tellegen.equations.system import EquationSystem
from tellegen.notations.reading import read_model

MOTOR_AND_PUMP = """\
DC motor driving a hydraulic pump

  L x' = -A x + B u,   y = C x

  ⎡ L_a   0    0  ⎤ ⎡   I_a'   ⎤    ⎡ R_a   K_m      0    ⎤ ⎡   I_a   ⎤   ⎡ 1  0 ⎤
  ⎢  0   J_m   0  ⎥ ⎢ omega_m' ⎥ = -⎢ -K_m  b_m     K_p   ⎥ ⎢ omega_m ⎥ + ⎢ 0  0 ⎥ ⎡ V_a ⎤
  ⎣  0    0   C_0 ⎦ ⎣   P_0'   ⎦    ⎣  0    -K_p  alpha_p ⎦ ⎣   P_0   ⎦   ⎣ 0  1 ⎦ ⎣ Q_0 ⎦

                        ⎡   I_a   ⎤
  ⎡ I_a ⎤ = ⎡ 1  0  0 ⎤ ⎢ omega_m ⎥
  ⎣ P_0 ⎦   ⎣ 0  0  1 ⎦ ⎣   P_0   ⎦

states (x)   I_a, omega_m, P_0
inputs (u)   V_a, Q_0
outputs (y)  I_a, P_0

E = C_0*P_0^2/2 + I_a^2*L_a/2 + J_m*omega_m^2/2
P_d = I_a^2*R_a + P_0^2*alpha_p + b_m*omega_m^2

variables
  V_r = I_a*R_a + K_m*omega_m
  Q_u = P_0*alpha_p - Q_0
  E_m = K_m*omega_m
  C_m = I_a*K_m
  C_p = K_p*P_0
  Q_p = K_p*omega_m

parameters
  L_a      0.002
  R_a      0.5
  K_m      0.15
  J_m      0.001
  b_m      0.002
  K_p      1e-06
  C_0      2e-12
  alpha_p  2e-11
"""


def ladder(cells: int) -> EquationSystem:
    text = f"""\
system: ladder
network:
  V: {{voltage source: ["n[0]", gnd]}}
  cells:
    repeat: {{k: 1..{cells}}}
    network:
      R[k]: {{resistor: ["n[k-1]", "n[k]"], R: 1 ohm}}
      C[k]: {{capacitor: ["n[k]", gnd], C: 1 F}}
"""
    return tg.derive(read_model(text))


@pytest.fixture
def pump() -> EquationSystem:
    return tg.derive("dc_motor_pump")


def test_the_motor_with_pump_reads_like_the_lecture(pump: EquationSystem) -> None:
    assert str(pump) == MOTOR_AND_PUMP


def test_the_other_sign_shows_in_the_form_and_in_the_matrix(pump: EquationSystem) -> None:
    text = pump.to_text("+")
    assert "L x' = A x + B u" in text
    assert "-R_a  -K_m" in text
    # E' = y^T u + P_d then, so that what dissipates counts negative.
    assert "P_d = -I_a^2*R_a - P_0^2*alpha_p - b_m*omega_m^2" in text


def test_a_terminal_without_unicode_gets_plain_brackets(pump: EquationSystem) -> None:
    text = equations_to_text(pump, unicode=False)
    assert text.isascii()
    assert "[ L_a   0    0  ]" in text


def test_an_equation_too_wide_for_the_line_shows_each_matrix_by_itself(pump: EquationSystem) -> None:
    text = equations_to_text(pump, width=70)
    assert "  L = ⎢  0   J_m   0  ⎥    A = ⎢ -K_m  b_m     K_p   ⎥" in text
    assert max(map(len, text.splitlines())) <= 70


def test_a_matrix_too_wide_for_the_line_is_written_row_by_row(pump: EquationSystem) -> None:
    text = equations_to_text(pump, width=28)
    assert "  L_a*I_a' = -R_a*I_a - K_m*omega_m" in text
    assert "⎡ R_a" not in text


def test_more_than_a_dozen_states_are_written_row_by_row() -> None:
    text = str(ladder(13))
    assert "C[2]*V_C[2]' = V_C[1]/R[2] - (1/R[2] + 1/R[3])*V_C[2] + V_C[3]/R[3]" in text
    assert "I_V = -V_C[1]/R[1] + V/R[1]" in text
    assert "⎡" not in text


def test_a_row_equation_says_the_same_as_the_matrices() -> None:
    system = ladder(14)
    lines = [line.strip() for line in str(system).splitlines() if "' = " in line][1:]  # the first is the general form
    assert len(lines) == 14
    generator = random.Random(14)
    values = {name: generator.uniform(1, 2) for name in (*system.parameters, *system.states, *system.inputs)}
    values |= {f"{name}'": generator.uniform(1, 2) for name in system.states}

    def evaluate(side: str) -> float:
        for name in sorted(values, key=len, reverse=True):
            side = side.replace(name, f"({values[name]!r})")
        return float(eval(side, {"__builtins__": {}}))

    m = system.matrices
    for k, line in enumerate(lines):
        left, right = line.split(" = ")
        assert evaluate(left) == pytest.approx(
            sum(m["L"][k][j].evaluate(values) * values[f"{s}'"] for j, s in enumerate(system.states))
        )
        drift = -sum(m["A"][k][j].evaluate(values) * values[s] for j, s in enumerate(system.states))
        drive = sum(m["B"][k][j].evaluate(values) * values[s] for j, s in enumerate(system.inputs))
        assert evaluate(right) == pytest.approx(drift + drive)


def test_a_static_model_shows_its_output_equation_alone() -> None:
    text = str(tg.derive(read_model("system: lamp\nnetwork: {V: {voltage source: [a]}, R: {resistor: [a], R: 6 ohm}}")))
    assert "  y = D u" in text
    assert "[I_V] = [1/R] [V]" in text
    assert "states" not in text
    assert "x'" not in text


def test_a_model_without_sources_has_no_output_equation() -> None:
    text = str(
        tg.derive(read_model("system: ring\nnetwork: {C: {capacitor: [a], C: 1 F}, R: {resistor: [a], R: 6 ohm}}"))
    )
    assert "  L x' = -A x\n" in text
    assert "y =" not in text


def test_dependent_storages_and_derivatives_of_inputs_are_told() -> None:
    model = read_model(
        "system: c\nnetwork: {V: {voltage source: [a]}, C1: {capacitor: [a, b]}, C2: {capacitor: [b]}, R: {resistor: [b]}}"
    )
    text = str(tg.derive(model))
    assert "L x' = -A x + B_1 u'" in text
    assert "dependent storages\n  V_C1 = V - V_C2" in text
    assert "  R   -\n" in text


def test_units_stand_behind_names_and_values(pump: EquationSystem) -> None:
    text = equations_to_text(pump, units={"I_a": "A", "L_a": "H"})
    assert "states (x)   I_a [A], omega_m, P_0" in text
    assert "  L_a      0.002  H\n" in text


def test_a_parameter_given_by_a_formula_shows_value_and_formula() -> None:
    system = tg.derive("cauer_low_pass")
    text = parameters_to_text(system.parameters, system.values())
    assert "  C2  0.263801777467    = 1/(L1*w2^2)" in text


def test_the_descriptor_form_has_one_equation_a_line() -> None:
    text = descriptor_to_text(tg.derive("rlc", form="dae"))
    assert "  E w' = F w + G u,   y = H w\n" in text
    assert "  L*I' = V_at_d - V_at_e\n" in text
    assert "unknowns (w)  " in text


def test_the_transfer_matrix_has_one_line_an_entry() -> None:
    text = transfer_to_text(tg.derive("rlc", form="tf"))
    assert "y(s) = G(s) u(s)" in text
    assert "  I/V = C*s/(" in text


def test_letters_of_the_form_step_aside_for_names_of_the_model() -> None:
    described = "system: letters\nparameters: {L: 1 mH, A: 2 ohm}\nnetwork:\n  B: {voltage source: [a, gnd]}\n"
    text = str(tg.derive(read_model(described + "  i: {inductor: [a, b], L: L}\n  R: {resistor: [b, gnd], R: A}\n")))
    assert text.splitlines()[2].split("   (")[0] == "  [L] x' = -[A] x + [B] u,   y = C x"
    other = str(
        tg.derive(read_model("system: others\nnetwork:\n  V: {voltage source: [a, gnd]}\n  l: {inductor: [a, gnd]}\n"))
    )
    assert other.splitlines()[2] == "  L x' = -A x + B u,   y = C x"
