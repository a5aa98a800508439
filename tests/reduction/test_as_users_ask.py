"""Reductions as users ask for them: blocks of fields, weights that stay, starts off the constraint, outputs and their names."""

from math import inf
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.errors import ReductionError
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.reduction import Reduction

COILS = read_model(
    """
system: coils
parameters: {L_1: 3 mH, L_2: 2 mH, L_3: 4 mH, M: 1 mH}
network:
  V:     {voltage source: [a, gnd]}
  R:     {resistor: [a, b], R: 1 ohm}
  coils: {inductor field: [b, gnd, c, gnd, d, gnd], current: [I_1, I_2, I_3], matrix: [[L_1, M, 0], [M, L_2, 0], [0, 0, L_3]]}
  R_2:   {resistor: [c, gnd], R: 2 ohm}
  R_3:   {resistor: [d, gnd], R: 3 ohm}
"""
)
CART = """
system: two carts
network:
  F: {force source: [frame, a]}
  m: {mass: [a], m: 2 kg, velocity: v, initial: 3 m/s}
  b: {damper: [a, frame], b: 1 N*s/m}
  K: {spring: [a, c], K: 1000 N/m, initial: 5 N}
  M: {mass: [c], m: 1 kg}
experiment: {until: 1 s, inputs: {F: step(10 N)}}
"""


def codes(found: Reduction) -> list[str]:
    return [finding.code for finding in found.findings]


@pytest.mark.parametrize(
    ("limits", "states"),
    [
        ({"coils[1:2,1:2]": 0}, ("I_3",)),
        ({"coils[1,1]": 0, "coils[1,2]": 0}, ("I_2", "I_3")),
        ({"coils[3,3]": 0}, ("I_1", "I_2")),
        ({"coils[1:2, 3]": 0}, ("I_1", "I_2", "I_3")),
        ({"coils": 0}, ()),
    ],
)
def test_blocks_of_a_field_vanish(limits: dict[str, float], states: tuple[str, ...]) -> None:
    assert tg.reduce(COILS, limits).equations.states == states


@pytest.mark.parametrize("name", ["coils[4,1]", "coils[2:1,1]", "coils[0,1]", "coils[1]x"])
def test_blocks_that_are_not_there(name: str) -> None:
    with pytest.raises(ReductionError, match=r"is no entry and no block of the field 'coils'") as error:
        tg.reduce(COILS, {name: 0})
    assert "'coils' has 3 rows and columns" in str(error.value)


def test_a_storage_that_would_only_share_energy_is_refused() -> None:
    with pytest.raises(ReductionError, match="still share energy with others of 'coils'"):
        tg.reduce(COILS, {"coils[1,1]": 0})


@pytest.mark.parametrize("weight", ["F_g: m*g", "F_g: w"])
def test_a_mass_at_zero_keeps_its_weight_and_the_tool_says_so(weight: str) -> None:
    hanging = read_model(
        f"""
system: hanging mass
parameters: {{m: 2 kg, g: 9.81 m/s^2, w: m*g, K: 100 N/m, b: 1 N*s/m}}
network:
  m:   {{mass: [a], m: m}}
  K:   {{spring: [a, frame], K: K}}
  b:   {{damper: [a, frame], b: b}}
  F_g: {{force source: [frame, a]}}
experiment: {{until: 2 s, inputs: {{{weight}}}}}
"""
    )
    found = tg.reduce(hanging, {"m": 0})
    assert [f.what for f in found.findings if f.code == "T202"] == ["'m' keeps its value in the input 'F_g'"]
    assert tg.simulate(found)["F_K"].values[-1] == pytest.approx(2 * 9.81, rel=1e-4)


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"m": 0}, "'v' starts at 3, but the constraint of the limit says 5; 9 J of 9.0125 J are lost"),
        ({"K": inf}, "'v_M' starts at 0, but the constraint of the limit says 2; 3.0125 J of 9.0125 J are lost"),
        ({"M": 0}, "'F_K' starts at 5, but the constraint of the limit says 0; 0.0125 J of 9.0125 J are lost"),
    ],
)
def test_a_start_off_the_constraint_is_told(limits: dict[str, float], said: str) -> None:
    found = tg.reduce(read_model(CART), limits)
    assert said in [finding.what for finding in found.findings if finding.code == "T203"]


def test_what_follows_after_the_limit_does_not_start_by_itself() -> None:
    """Two carts that move as one keep their momentum, (2 * 3 + 1 * 1)/3; both starts are told to be off the constraint."""
    text = CART.replace("M: {mass: [c], m: 1 kg}", "M: {mass: [c], m: 1 kg, initial: 1 m/s}")
    found = tg.reduce(read_model(text), {"K": inf})
    assert "T203" in codes(found)
    run = tg.simulate(read_model(to_yaml(found.model)))
    assert [float(run[name][0]) for name in ("v_M", "v")] == pytest.approx([7 / 3, 7 / 3])


def test_a_start_on_the_constraint_is_not() -> None:
    text = CART.replace("M: {mass: [c], m: 1 kg}", "M: {mass: [c], m: 1 kg, initial: 3 m/s}")
    force = "'F_K' starts at 5, but the constraint of the limit says 2.33333; 0.0125 J of 13.5125 J are lost"
    assert [f.what for f in tg.reduce(read_model(text), {"K": inf}).findings if f.code == "T203"] == [force]
    assert "T203" not in codes(tg.reduce(read_model(text.replace("5 N}", "2.3333333333333335 N}")), {"K": inf}))
    text = CART.replace("initial: 3 m/s", "initial: 5 m/s")
    assert "T203" not in codes(tg.reduce(read_model(text), {"m": 0}))


def test_a_storage_with_which_nothing_exchanges_power_stays_at_rest() -> None:
    """A hot mass without capacity takes the temperature of the other one at once, which then stays as it is."""
    found = tg.reduce("two_masses_heat", {"C_1": 0})
    assert found.equations.states == ("T_2",)
    assert str(found.recovered["T_1"]) == "T_2"
    assert found.equations.is_zero("A")
    assert [f.what for f in found.findings if f.code == "T203"] == [
        "'T_1' starts at 373.15, but the constraint of the limit says 273.15; 5597.25 J of 9694.5 J are lost"
    ]
    assert float(tg.simulate(read_model(to_yaml(found.model)))["T_2"][-1]) == pytest.approx(273.15, rel=1e-6)


def test_a_shorted_coil_keeps_its_current() -> None:
    coil = "{system: coil, network: {L: {inductor: [a, gnd], L: 2 H, initial: 3 A}, R: {resistor: [a, gnd], R: 1 ohm}}}"
    found = tg.reduce(read_model(coil), {"R": 0})
    assert found.equations.states == ("I_L",)
    assert float(tg.simulate(found, until=1)["I_L"][-1]) == pytest.approx(3, rel=1e-6)


def test_a_model_of_which_nothing_is_left_is_refused() -> None:
    coil = "{system: coil, network: {L: {inductor: [a, gnd], L: 2 H}, R: {resistor: [a, gnd], R: 1 ohm}}}"
    with pytest.raises(ReductionError, match="nothing moves any more: nothing is left") as error:
        tg.reduce(read_model(coil), {"L": 0})
    assert error.value.code == "T107"


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("corking_shaft", {"K_se": inf, "K_sr": inf}),
        ("corking_shaft", {"m_a": 0, "J_a": 0}),
        ("dc_motor_pump", {"C_0": 0}),
        ("dc_motor_pump", {"L_a": 0}),
    ],
)
def test_outputs_keep_the_names_that_they_had(name: str, limits: dict[str, float]) -> None:
    found = tg.reduce(name, limits)
    assert found.equations.outputs == found.full.outputs
    assert tg.derive(read_model(to_yaml(found.model))).outputs == found.full.outputs


def test_an_input_that_reads_a_speed_goes_on_reading_it() -> None:
    """A feedback in the experiment reads what stands for the speed of a motor without inertia, in the file too."""
    text = """
system: drive
parameters: {L: 0.2 H, R: 1 ohm, K: 0.5 N*m/A, J: 1e-3 kg*m^2, b: 2e-3 N*m*s}
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, c], current: I}
  R: {resistor: [c, d]}
  motor: {dc machine: [d, gnd, shaft, frame], K: K}
  J: {inertia: [shaft], angular velocity: omega}
  b: {friction: [shaft, frame]}
experiment: {until: 0.1 s, inputs: {V: 12 V - 0.01 V*s*omega}}
"""
    small = tg.reduce(read_model(text), {"J": 0}).model
    assert small.experiment.inputs["V"].text == "12 V - 0.01 V*s*(I*K/b)"
    run = tg.simulate(small)
    again = tg.simulate(read_model(to_yaml(small)))
    assert float(run["I"][-1]) == pytest.approx(float(again["I"][-1]), rel=1e-9)
    steady = tg.simulate(small, until=60)["I"][-1]
    assert float(steady) == pytest.approx(12 / (1 + 0.5 * 0.5 / 2e-3 + 0.01 * 0.5 / 2e-3), rel=1e-4)


def test_one_limit_and_one_state_may_stand_alone() -> None:
    found = tg.reduce("two_mass_drive", "K_s=inf", keep="omega_l")
    assert found.equations.states == ("omega_l",)


def test_a_printed_reduction_tells_what_came_out() -> None:
    found = tg.reduce("dc_motor_pump", {"J_m": 0})
    assert repr(found) == "<Reduction of 'DC motor driving a hydraulic pump' by J_m=0: states I_a, P_0>"
    text = str(found)
    for line in (
        "limits         J_m=0",
        "states kept    I_a, P_0",
        "removed        omega_m",
        "x = T z   (x the full states, z those kept)",
        "  ⎢ omega_m ⎥ = ⎢ K_m/b_m  -K_p/b_m ⎥ ⎡ I_a ⎤",
        "  omega_m = I_a*K_m/b_m - K_p*P_0/b_m",
        "  removed  -191.48",
    ):
        assert line in text.splitlines()


def test_a_notebook_shows_the_equations_and_the_transformation() -> None:
    shown = tg.reduce("dc_motor_pump", {"J_m": 0})._repr_latex_()
    equations, transformation = shown.split("\n\n")
    assert all(part.startswith("$$\n") and part.endswith("\n$$") for part in (equations, transformation))
    assert all(rf"_{{\mathbf{{{letter}}}}}" in equations for letter in ("L", "A", "B"))
    assert r"\frac{K_{m}}{b_{m}}" in transformation
    assert r"}_{\mathbf{T}}" in transformation


def test_entropy_that_has_nowhere_to_go_is_told(tmp_path: Path) -> None:
    file = tmp_path / "wall.yaml"
    file.write_text(
        "system: wall\nnetwork:\n  C_1: {entropy capacity: [a], C: 15 J/K, initial: 373 K}\n"
        "  C_2: {entropy capacity: [b], C: 15 J/K, initial: 273 K}\n  G: {entropy conductor: [a, b], G: 5 W/K}\n"
    )
    with pytest.raises(tg.ReductionError, match="T105: the limit leaves 'G' alone in the thermal domain"):
        tg.reduce(file, {"C_1": 0})


def test_a_double_pole_at_rest_that_rounding_has_split_loses_one_to_its_displacement() -> None:
    """Five coordinates of a free base and arm: their poles at rest come in pairs of rounding, and the account keeps whole ones."""
    account = tg.reduce("mobile_manipulator", {"m_b": inf}).account
    poles = [*account.kept_poles, *account.removed_poles]
    assert len(poles) == 5
    assert all(pole.conjugate() in poles for pole in poles)
