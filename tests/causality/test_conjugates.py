"""What the answers of sources are called: no two alike, in equations and in runs."""

from pathlib import Path

import tellegen as tg

TWO_SOURCES = """
system: Two current sources at one node
network:
  I_1: {current source: [gnd, a]}
  I_2: {current source: [gnd, a]}
  C:   {capacitor: [a, gnd], C: 1 uF, voltage: V_C}
  R:   {resistor: [a, gnd], R: 1 kohm}
experiment: {until: 1 ms, inputs: {I_1: 1 mA, I_2: 1 mA}}
"""


def test_two_sources_at_one_storage_have_answers_of_their_own_name(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO_SOURCES)
    equations = tg.derive(tg.read(file))
    assert equations.outputs == ("V_C", "V_I_2")
    run = tg.simulate(tg.read(file))
    assert run.output_names == equations.outputs
    assert run["V_I_2"][-1] == run["V_C"][-1] > 0


def test_a_load_on_a_rigid_shaft_answers_with_the_speed_of_its_own_inertia() -> None:
    reduced = tg.reduce("two_mass_drive", {"K_s": float("inf")})
    assert tg.derive(reduced.model).outputs == ("omega_m", "omega_l")
