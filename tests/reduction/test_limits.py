"""Limits of small networks that no paper lists, each against what an engineer writes down by hand; and limits that do not exist."""

from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

import tellegen as tg
from support.networks import agree
from tellegen.expressions import is_zero, parse
from tellegen.expressions.elimination import with_definitions
from tellegen.notations.reading import read_model
from tellegen.reduction.limits import Target


def model(text: str, folder: Path) -> tg.Model:
    path = folder / "model.yaml"
    path.write_text(f"system: test\n{text}", encoding="utf-8")
    return read_model(path)


Build = Callable[[str], tg.Model]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    return lambda text: model(text, tmp_path)


GEARED = """network:
  tau: {torque source: [frame, a]}
  J_1: {inertia: [a], J: 1 kg*m^2, angular velocity: omega_1}
  g: {gear: [a, frame, b, frame], n: 3}
  K: {torsion spring: [b, c], K: 1e6 N*m/rad, torque: T}
  J_2: {inertia: [c], J: 2 kg*m^2, angular velocity: omega_2}
  b: {friction: [c, frame], b: 1 N*m*s}
"""
BESIDE = """network:
  F: {force source: [frame, a]}
  m_1: {mass: [a], m: 1 kg, velocity: v_1}
  K_1: {spring: [a, b], K: 1 N/m, force: F_1}
  K_2: {spring: [a, b], K: 1 N/m, force: F_2}
  m_2: {mass: [b], m: 1 kg, velocity: v_2}
"""
BETWEEN_DAMPERS = """network:
  v: {velocity source: [a, frame]}
  b_1: {damper: [a, m], b: 1 N*s/m}
  m: {mass: [m], m: 1 kg, velocity: v_m}
  b_2: {damper: [m, c], b: 1 N*s/m}
  M: {mass: [c], m: 1 kg, velocity: v_M}
"""
FILTER = """network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b], L: 1 mH, current: I}
  R: {resistor: [b, c], R: 2 ohm}
  C: {capacitor: [c, gnd], C: 1 uF, voltage: U}
"""
TWO_COILS = """parameters: {L_1: 2 H, L_2: 8 H, M: 3 H}
network:
  V: {voltage source: [a, gnd]}
  R_1: {resistor: [a, b], R: 1 ohm}
  coils: {inductor field: [b, gnd, c, gnd], current: [I_1, I_2], matrix: [[L_1, M], [M, L_2]]}
  R_2: {resistor: [c, gnd], R: 5 ohm}
"""


def test_rigid_shaft_joins_two_inertias_through_a_gear(build: Build) -> None:
    found = tg.reduce(build(GEARED), {"K": inf})
    assert found.equations.states == ("omega_1",)
    ratio = found.transformation[2][0]
    assert is_zero(ratio - parse("1/g"))
    assert agree(found.equations.matrices["L"], [["J_1 + J_2/g^2"]])
    assert agree(found.equations.matrices["A"], [["b/g^2"]])


def test_kept_state_is_the_one_asked_for(build: Build) -> None:
    found = tg.reduce(build(GEARED), {"K": inf}, keep=["omega_2"])
    assert found.equations.states == ("omega_2",)
    assert agree(found.equations.matrices["L"], [["g^2*J_1 + J_2"]])
    assert tg.derive(found).states == ("omega_2",), "the choice stays in the model"


def test_mass_between_two_dampers_leaves_them_in_series(build: Build) -> None:
    found = tg.reduce(build(BETWEEN_DAMPERS), {"m": 0})
    assert found.equations.states == ("v_M",)
    assert agree(found.equations.matrices["A"], [["b_1*b_2/(b_1 + b_2)"]])
    assert agree([[found.recovered["v_m"]]], [["(b_1*v + b_2*v_M)/(b_1 + b_2)"]])
    assert agree(found.transformation, [["b_2/(b_1 + b_2)"], ["1"]])
    assert agree(found.input_transformation, [["b_1/(b_1 + b_2)"], ["0"]])


def test_shorted_capacitor_is_idle(build: Build) -> None:
    text = FILTER + "  L_p: {inductor: [c, gnd], L: 1 mH, current: I_p}\n"
    found = tg.reduce(build(text), {"L_p": 0})
    assert found.equations.states == ("I",)
    assert agree([[found.recovered["U"]], [found.recovered["I_p"]]], [["0"], ["I"]])
    assert [f.code for f in found.findings] == ["T204"]
    assert "C" in found.findings[0].members


def test_open_capacitor_opens_the_inductor_in_series(build: Build) -> None:
    found = tg.reduce(build(FILTER), {"C": 0})
    assert found.equations.states == ()
    assert agree(found.equations.matrices["D"], [["0"]])
    assert agree([[found.recovered["I"]], [found.recovered["U"]]], [["0"], ["V"]])


def test_infinite_inductance_freezes_its_current_at_the_start(build: Build) -> None:
    text = FILTER.replace("current: I}", "current: I, initial: 3 A}")
    found = tg.reduce(build(text), {"L": inf})
    assert found.equations.states == ("U",)
    assert found.equations.inputs == ("V", "I")
    assert str(found.model.experiment.inputs["I"].arguments[0]) == "3"
    assert agree(found.input_transformation, [["0", "1"], ["0", "0"]])


def test_massless_end_of_a_spring_takes_the_spring_with_it(build: Build) -> None:
    text = """network:
  F: {force source: [frame, a]}
  m_1: {mass: [a], m: 1 kg, velocity: v_1}
  K: {spring: [a, b], K: 1 N/m, force: F_K}
  m_2: {mass: [b], m: 1 kg, velocity: v_2}
"""
    found = tg.reduce(build(text), {"m_2": 0})
    assert found.equations.states == ("v_1",)
    assert agree([[found.recovered["F_K"]]], [["0"]])
    assert agree([[found.recovered["v_2"]]], [["v_1"]])


def test_rigid_triangle_of_masses_moves_as_one(build: Build) -> None:
    springs = [
        f"  K_{k}: {{spring: [{a}, {b}], K: 1 N/m}}\n" for k, a, b in ((1, "a", "b"), (2, "b", "c"), (3, "c", "a"))
    ]
    masses = [f"  m_{n}: {{mass: [{n}], m: 1 kg, velocity: v_{n}}}\n" for n in "abc"]
    mesh = build("network:\n  F: {force source: [frame, a]}\n" + "".join([*masses, *springs]))
    found = tg.reduce(mesh, {"K_1": inf, "K_2": inf})
    assert found.equations.states == ("v_a",)
    assert agree(found.equations.matrices["L"], [["m_a + m_b + m_c"]])
    assert agree([[found.recovered["F_K_3"]]], [["0"]])


def test_one_of_two_parallel_springs_leaves_the_other_idle(build: Build) -> None:
    found = tg.reduce(build(BESIDE), {"K_1": inf})
    assert found.equations.states == ("v_1",)
    assert "F_2" in found.recovered


def test_two_parallel_springs_depend_on_their_ratio(build: Build) -> None:
    with pytest.raises(tg.ReductionError, match=r"ratio K_\d/K_\d") as caught:
        tg.reduce(build(BESIDE), {"K_1": inf, "K_2": inf})
    assert caught.value.code == "T106"
    assert "'F_1', 'F_2'" in caught.value.what


def test_force_beside_a_rigid_gear_is_indeterminate(build: Build) -> None:
    text = """network:
  tau: {torque source: [frame, a]}
  J_1: {inertia: [a], J: 1 kg*m^2}
  g: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = (1)*across_1}
  K: {torsion spring: [a, b], K: 1 N*m/rad, torque: T}
  J_2: {inertia: [b], J: 1 kg*m^2}
"""
    found = tg.reduce(build(text), {"K": inf})
    assert found.indeterminate == ("T",)
    assert "T201" in [f.code for f in found.findings]
    assert agree(found.equations.matrices["L"], [["J_1 + J_2"]])


def test_resistances_are_shorted_and_opened(build: Build) -> None:
    text = FILTER + "  G: {resistor: [c, gnd], R: 1 kohm}\n"
    shorted = tg.reduce(build(text), {"R": 0})
    assert agree(shorted.equations.matrices["A"], [["0", "1"], ["-1", "1/G"]])
    opened = tg.reduce(build(text), {"G": inf})
    assert agree(opened.equations.matrices["A"], [["R", "1"], ["-1", "0"]])
    locked = tg.reduce(build(text), {"R": inf})
    assert locked.equations.states == ("U",)
    assert agree([[locked.recovered["I"]]], [["0"]])


def test_modulus_zero_decouples() -> None:
    found = tg.reduce("dc_motor_pump", {"K_p": 0})
    assert found.equations.states == ("I_a", "omega_m", "P_0")
    assert agree(found.equations.matrices["A"], [["R_a", "K_m", "0"], ["-K_m", "b_m", "0"], ["0", "0", "alpha_p"]])


def test_ideal_coils_lose_one_state(build: Build) -> None:
    found = tg.reduce(build(TWO_COILS), {"M": "sqrt(L_1*L_2)"})
    assert len(found.equations.states) == 1
    assert set(found.recovered) == {"I_1", "I_2"}
    assert len(tg.reduce(build(TWO_COILS), {"M": 4}).equations.states) == 1, "the values make it singular too"


def test_entry_of_a_field_may_vanish(build: Build) -> None:
    loose = tg.reduce(tg.reduce(build(TWO_COILS), {"coils[1,2]": 0}), {"L_2": 0})
    assert loose.equations.states == ("I_1",)
    assert agree(loose.equations.matrices["L"], [["L_1"]])


def test_parameter_keeps_its_value_in_the_weight(build: Build) -> None:
    text = """parameters: {m: 2 kg, g: 9.81 m/s^2}
network:
  F: {force source: [x, frame]}
  m: {mass: [x], m: m, velocity: v}
  b: {damper: [x, frame], b: 5 N*s/m}
experiment: {inputs: {F: m*g}}
"""
    found = tg.reduce(build(text), {"m": 0})
    assert "m" in found.model.parameters
    assert [f.code for f in found.findings] == ["T202"]
    assert "the input 'F'" in found.findings[0].what


def test_reduced_model_is_a_model(build: Build, tmp_path: Path) -> None:
    found = tg.reduce(build(GEARED), {"K": inf})
    again = tg.reduce(found, {"J_1": 0})
    assert agree(again.equations.matrices["L"], [["J_2"]])
    text = tg.to_yaml(found.model)
    assert "K=inf" in text.splitlines()[1]
    saved = tg.derive(model(text.removeprefix("system: test\n"), tmp_path))
    assert saved.states == found.equations.states
    for name, rows in saved.matrices.items():
        other = found.equations.matrices[name]
        for a, b in zip(rows, other, strict=True):
            assert all(is_zero(x - y) for x, y in zip(a, b, strict=True))


def test_poles_that_go_are_told_from_those_that_stay() -> None:
    account = tg.reduce("crank_rod_elastic", {"K": inf}).account
    assert len(account.removed_poles) == 2
    assert len(account.kept_poles) == len(account.reduced_poles) == 1
    assert account.separation is not None
    assert account.separation > 1000


def test_start_away_from_the_constraint_is_told(build: Build) -> None:
    text = BETWEEN_DAMPERS + "experiment: {initial: {v_m: 4 m/s}}\n"
    found = tg.reduce(build(text), {"m": 0})
    assert [f.code for f in found.findings] == ["T203"]
    assert "starts at 4" in found.findings[0].what


def test_step_of_an_input_whose_rate_is_needed_is_told(build: Build) -> None:
    text = """network:
  v: {velocity source: [a, frame]}
  K: {spring: [a, b], K: 1 N/m}
  m: {mass: [b], m: 1 kg}
experiment: {inputs: {v: step(1 m/s)}}
"""
    found = tg.reduce(build(text), {"K": inf})
    assert agree(found.equations.matrices["D_1"], [["m"]])
    assert [f.code for f in found.findings] == ["T203"]
    assert found.input_rates == {"v_dot": "v"}
    assert agree([[found.recovered["F_K"]]], [["m*v_dot"]])


@pytest.mark.parametrize(
    ("limits", "code", "says"),
    [
        ({"J_q": 0}, "T101", "did you mean 'J_m'?"),
        ({"V_a": 0}, "T101", "V_a"),
        (["J_m"], "T102", "'J_m' is not a limit"),
        ([], "T102", "no limit is given"),
        ({"J_m": float("nan")}, "T102", "cannot tend to nan"),
        ({"J_m": -inf}, "T102", "cannot tend to -inf"),
        ({"J_m": "J_m*2"}, "T102", "which contains it"),
        ({"J_m": "2 +"}, "T102", "'J_m=2 +' is not a limit"),
        (["J_m=0", "J_m=inf"], "T103", "would tend to 0 and to inf"),
        ({"J_m": 2}, "T104", "'J_m=2' leaves 'J_m'"),
        ({"R_a": 2}, "T104", "'R_a=2' leaves 'R_a'"),
        ({"K_m": inf}, "T105", "a modulus of 'motor' would be infinite"),
    ],
)
def test_limits_that_do_not_exist_say_why(limits: dict[str, Target] | list[str], code: str, says: str) -> None:
    with pytest.raises(tg.ReductionError) as caught:
        tg.reduce("dc_motor_pump", limits)
    assert caught.value.code == code
    assert says in str(caught.value)


def test_two_sources_that_meet_are_named(build: Build) -> None:
    text = """network:
  V_1: {voltage source: [a, gnd]}
  L: {inductor: [a, b], L: 1 mH}
  V_2: {voltage source: [b, gnd]}
"""
    with pytest.raises(tg.ReductionError, match=r"'V_1', 'V_2' decide it") as caught:
        tg.reduce(build(text), {"L": 0})
    assert caught.value.code == "T107"
    assert "keep 'L'" in caught.value.finding.fix


def test_force_on_nothing_is_named(build: Build) -> None:
    text = "network:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 1 kg}\n"
    with pytest.raises(tg.ReductionError, match=r"force of 'm' would have to be zero, but 'F' decides it") as caught:
        tg.reduce(build(text), {"m": 0})
    assert caught.value.code == "T107"


def test_frozen_storages_that_a_limit_joins_contradict_each_other(build: Build) -> None:
    text = """network:
  I: {current source: [gnd, a]}
  C_1: {capacitor: [a, gnd], C: 1 F}
  L: {inductor: [a, b], L: 1 H}
  C_2: {capacitor: [b, gnd], C: 1 F}
"""
    with pytest.raises(tg.ReductionError) as caught:
        tg.reduce(build(text), {"C_1": inf, "C_2": inf, "L": 0})
    assert caught.value.code == "T103"


@pytest.mark.parametrize(
    ("keep", "says"),
    [
        ("omega_m", "its own storage is at the limit"),
        ("omega", "'omega' is not a state"),
        ("I_q", "did you mean 'I_a'?"),
    ],
)
def test_states_that_cannot_be_kept(keep: str, says: str) -> None:
    with pytest.raises(tg.ReductionError) as caught:
        tg.reduce("dc_motor_pump", {"J_m": 0}, keep=[keep])
    assert caught.value.code == "T108"
    assert says in str(caught.value)


def test_more_states_than_remain_cannot_be_kept(build: Build) -> None:
    with pytest.raises(tg.ReductionError, match="cannot be kept") as caught:
        tg.reduce(build(GEARED), {"K": inf}, keep=["omega_1", "omega_2"])
    assert caught.value.code == "T108"


def test_mutual_term_cannot_outgrow_its_storage(build: Build) -> None:
    for limits in ({"L_2": 0}, {"M": inf}):
        with pytest.raises(tg.ReductionError) as caught:
            tg.reduce(build(TWO_COILS), limits)
        assert caught.value.code == "T105"


def test_displacement_cannot_follow_the_velocity_of_a_constraint() -> None:
    text = """displacements: {theta: omega_m}
"""
    base = tg.to_yaml(tg.load("dc_motor_pump")).replace("network:", text + "network:")
    with pytest.raises(tg.ReductionError) as caught:
        tg.reduce(_saved(base), {"J_m": 0, "b_m": 0})
    assert caught.value.code == "T109"
    assert "displacement 'theta'" in caught.value.what
    followed = tg.reduce(_saved(base), {"J_m": 0}).equations
    assert is_zero(with_definitions(followed.displacements["theta"], followed.where) - parse("(K_m*I_a - K_p*P_0)/b_m"))


def _saved(text: str) -> tg.Model:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.yaml"
        path.write_text(text, encoding="utf-8")
        return read_model(path)


@pytest.mark.parametrize("limits", [{"a": 0.0}, {"b": inf}])
def test_length_of_a_loop_has_no_limit_of_its_own(limits: dict[str, Target]) -> None:
    """The moduli would be those of the limit, and the positions those of the length that the loop was closed with."""
    with pytest.raises(tg.ReductionError) as refused:
        tg.reduce(tg.load("five_bar"), limits)
    assert refused.value.code == "T105"
    assert f"'{next(iter(limits))}' also places the bodies of the loop 'tool'" in str(refused.value)


@pytest.mark.parametrize("limits", [{"L": 0.0}, {"d": inf}])
def test_root_of_a_negative_number_has_no_limit(limits: dict[str, Target]) -> None:
    """A rod shorter than its offset reaches no line: sqrt(L^2 - (R*sin(theta) - d)^2) is no length."""
    with pytest.raises(tg.ReductionError) as refused:
        tg.reduce(tg.load("crank_rod"), limits)
    assert refused.value.code == "T105"
    assert refused.value.what == "'sqrt(L^2 - (R*sin(theta) - d)^2)' in 'rod' has no limit"
    assert agree(tg.reduce(tg.load("crank_rod"), {"L": inf}).equations.matrices["B"], [["1", "R*sin(theta)"]])


@pytest.mark.parametrize(
    ("name", "parameter", "places"),
    [
        ("clutch_drive", "tau_max", "the settings of 'clutch'"),
        ("bouncing_ball", "g", "the input 'weight'"),
        ("dc_motor_speed_control", "K_p", "the signal 'V_c'"),
    ],
)
def test_limit_of_a_parameter_beside_the_laws_says_where_it_occurs(name: str, parameter: str, places: str) -> None:
    with pytest.raises(tg.ReductionError) as refused:
        tg.reduce(tg.load(name), {parameter: 0})
    assert refused.value.what == f"the parameter '{parameter}' occurs in the law of no element, only in {places}"


def test_target_of_a_limit_that_is_no_parameter_is_told() -> None:
    with pytest.raises(tg.ReductionError) as refused:
        tg.reduce(tg.load("pmsm"), ["M_0=L_a"])
    assert refused.value.code == "T102"
    assert refused.value.what == "'M_0=L_a' names 'L_a', which is no parameter"
    assert refused.value.findings[0].fix == "did you mean 'L_e'?"
