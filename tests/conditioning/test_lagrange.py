"""The Lagrange form: matrices by congruence, coordinates and quasi-speeds, Karnopp's procedure, and where there is none."""

import numpy as np
import pytest

import tellegen as tg
from conditioning.models import GEARS, INDUCTOR_CUT_SET, SLED, SPRINGS, model_of
from tellegen.conditioning import lagrange_form
from tellegen.expressions import is_zero, parse
from tellegen.expressions.elimination import with_definitions

KEYS = {"q", "qd", "tau", "parameters", "M", "C", "R", "G", "W"}


def test_the_crank_has_the_matrices_of_the_paper() -> None:
    form = tg.derive("crank_rod", form="lagrange")
    assert (form.q, form.nu, form.tau) == (("theta",), ("omega",), ("tau", "F"))
    wanted = {"M": "J_m + m_p*H^2", "C": "m_p*H*H_theta*omega", "R": "b_m + b_p*H^2"}
    for name, text in wanted.items():
        assert is_zero(form.matrices[name][0][0] - parse(text))
    assert [str(e) for e in form.matrices["W"][0]] == ["1", "-H"]
    assert set(form.where) == {"H", "H_theta"}
    record = form.to_json()
    assert set(record) == KEYS | {"where", "K", "J", "torques", "forces"}
    assert (record["K"], record["torques"]) == ([["1"]], ["tau"])
    assert (record["J"], record["forces"]) == ([["-H"]], ["F"])


def test_springs_count_from_where_they_are_unloaded() -> None:
    form = lagrange_form(model_of(GEARS))
    assert form.q == ("theta_J_1",)
    assert [str(e) for e in form.G] == ["K*n^2*theta_J_1"]
    assert is_zero(form.matrices["M"][0][0] - parse("J_1 + J_2*n^2 + J_3*m^2*n^2"))


def test_springs_in_series_are_one_spring() -> None:
    form = lagrange_form(model_of(SPRINGS))
    assert is_zero(form.G[0] - parse("x_m/(1/K_1 + 1/K_2)"))


def test_a_spring_beside_a_displacement_has_its_own_elongation() -> None:
    """Nobody says where the displacement is when the spring is unloaded."""
    text = SPRINGS.replace("network:", "displacements: {x: v}\nnetwork:")
    form = lagrange_form(model_of(text))
    assert form.q == ("x", "x_K_2")
    record = form.to_json()
    assert record["nu"] == ["v"]
    assert record["kinematics"] == {"x": "v", "x_K_2": "v"}


def test_quasi_speeds_have_kinematics() -> None:
    form = lagrange_form(model_of(SLED))
    record = form.to_json()
    assert record["q"] == ["phi", "x", "y"]
    assert record["qd"] == ["phi_dot", "x_dot", "y_dot"]
    assert record["nu"] == ["v", "omega"]
    assert record["kinematics"] == {"phi": "omega", "x": "v*cos(phi)", "y": "v*sin(phi)"}


@pytest.mark.parametrize("name", ["crank_rod", "sled"])
def test_the_rate_of_M_is_C_and_its_transpose(name: str) -> None:
    form = lagrange_form(model_of(SLED) if name == "sled" else tg.load(name))
    written = form.with_entries(lambda e: with_definitions(e, form.where))
    for i, row in enumerate(written.matrices["M"]):
        for j, entry in enumerate(row):
            rate = sum((entry.derivative(q) * e for q, e in form.kinematics.items()), start=parse("0"))
            assert is_zero(rate - written.matrices["C"][i][j] - written.matrices["C"][j][i])


def test_charges_are_the_coordinates_of_circuits() -> None:
    form = lagrange_form(model_of(INDUCTOR_CUT_SET))
    assert form.q == ("q_L_1", "q_L_2")
    assert is_zero(form.matrices["M"][0][1] + parse("L_3"))


def test_gyrators_are_skew_in_C() -> None:
    form = tg.derive("dc_motor", form="lagrange")
    assert [[str(e) for e in row] for row in form.matrices["C"]] == [["0", "K"], ["-K", "0"]]


def test_numbers_take_the_place_of_parameters() -> None:
    form = tg.derive("dc_motor", form="lagrange", numeric=True)
    assert form.matrices["M"][0][0].evaluate({}) == pytest.approx(0.002)


def test_other_coordinates_can_be_chosen() -> None:
    form = lagrange_form(tg.load("crank_rod"), ["v_p"])
    assert form.nu == ("v_p",)
    assert is_zero(form.matrices["M"][0][0] - parse("m_p + J_m/H^2"))


def test_sympy_sees_the_matrices() -> None:
    form = tg.derive("dc_motor", form="lagrange")
    assert form.M.shape == form.C.shape == form.R.shape == form.W.shape == (2, 2)


def test_artificial_sources_decide_one_flow_after_the_other() -> None:
    steps = tg.derive("mobile_manipulator", form="lagrange", steps=True)
    titles = [section.title for section in steps.sections]
    assert titles[:7] == [
        "Sources get their causality",
        *(f"Artificial source {k}" for k in range(1, 6)),
        "Efforts at the artificial sources",
    ]
    text = str(steps)
    third, fourth = text.index("Artificial source 3"), text.index("Artificial source 4")
    assert third < text.index("Omega_1 =") < fourth < text.index("vx_1 =")
    assert "imposes omega_0, the rate of phi_0" in text


def test_text_latex_and_json_say_the_same() -> None:
    form = tg.derive("crank_rod", form="lagrange")
    assert "M q'' + C q' + R q' = K^T tau + J^T F" in form.to_text()
    assert form.to_text().startswith("Crank and connecting rod\n")
    assert r"\mathbf{M} &= \begin{bmatrix} J_{m} + H^{2} m_{p} \end{bmatrix}" in form.to_latex()


# -- where there is none -------------------------------------------------------------------------------------------------------

MASSLESS = """
system: node without mass
parameters: {m: 1 kg, K: 100 N/m, b: 2 N*s/m}
network:
  F: {force source: [frame, a]}
  m: {mass: [a]}
  b: {damper: [a, c]}
  K: {spring: [c, frame]}
"""


def test_the_coordinate_without_inertia_is_named() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C105: .*the displacement of 'K' is a coordinate without inertia"):
        lagrange_form(model_of(MASSLESS))


def test_a_source_that_moves_a_spring_is_named() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C105: .*'K_t' is moved by the source 'v_r', which has no inertia"):
        tg.derive("quarter_car", form="lagrange")


def test_a_model_without_inertia_has_none() -> None:
    with pytest.raises(
        tg.ConditioningError, match=r"C105: .*no state of 'Spring and damper' is the speed of an inertia"
    ):
        tg.derive("spring_damper", form="lagrange")


# -- motions -------------------------------------------------------------------------------------------------------------------


def test_the_torque_of_a_motion_produces_it() -> None:
    found = tg.inverse_dynamics("crank_rod", {"theta": "pi/2 + quintic(0, 3, from=0 s, to=2 s)"}, by=["tau"])
    run = tg.simulate("crank_rod", inputs=found.courses, rtol=1e-10, samples=40)
    moved = (run.values("theta") - np.pi / 2) / 3
    s = run.t / 2
    assert moved == pytest.approx(10 * s**3 - 15 * s**4 + 6 * s**5, abs=1e-8)
    assert run.values("tau") == pytest.approx(found.at(run.t)["tau"], abs=1e-9)


def test_other_inputs_do_what_the_experiment_says() -> None:
    text = tg.to_yaml(tg.load("crank_rod")).replace("F: 0 N", "F: 40 N")
    model = model_of(text)
    assert model.experiment.inputs["F"].text == "40 N"
    found = tg.inverse_dynamics(model, {"theta": "pi/2"}, by=["tau"])
    run = tg.simulate(model, inputs=found.courses, rtol=1e-10, samples=10)
    assert run.values("theta") == pytest.approx(np.pi / 2, abs=1e-9)


def test_a_controller_tracks_a_motion() -> None:
    tracked = tg.feedback_linearise("crank_rod", {"theta": "2*t/(1 s)"}, K_p=400, K_d=40, by=["tau"])
    run = tg.simulate(tracked, 1.0, initial={"theta": 0.1}, rtol=1e-10, samples=100)
    t = run.t
    # e'' + 40 e' + 400 e = 0 from e = -0.1, e' = 2: (-0.1 + (2 - 0.1*20) t) exp(-20 t)
    assert run.values("theta_e") == pytest.approx(-0.1 * np.exp(-20 * t), abs=1e-8)


LIFT = {
    "phi_1": "quintic(-pi/2, 0, from=0 s, to=1 s)",
    "phi_2": "quintic(-pi/2, 1, from=0 s, to=1 s)",
    "phi_3": "quintic(-pi/2, 2, from=0 s, to=1 s)",
}


@pytest.mark.slow
def test_the_torques_of_a_motion_carry_the_weights() -> None:
    found = tg.inverse_dynamics("planar_robot", LIFT)
    assert [*found.courses] == ["tau_1", "tau_2", "tau_3"]
    run = tg.simulate("planar_robot", 1.0, inputs=found.courses, rtol=1e-10, samples=10)
    assert run.table([*LIFT])[-1] == pytest.approx([0, 1, 2], abs=1e-8)


@pytest.mark.slow
def test_a_controller_carries_the_weights() -> None:
    tracked = tg.feedback_linearise("planar_robot", LIFT, K_p=400, K_d=40)
    run = tg.simulate(tracked, 1.0, rtol=1e-10, samples=10)
    for name in LIFT:
        assert run.values(f"{name}_e") == pytest.approx(0, abs=1e-8)


def test_a_motion_leaves_no_coordinate_out() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C109: the motion says nothing about 'y_0'"):
        tg.inverse_dynamics("mobile_manipulator", {"x_0": 0})
    with pytest.raises(tg.ConditioningError, match=r"C109: 'thet' is no coordinate of"):
        tg.inverse_dynamics("crank_rod", {"theta": 0, "thet": 0})


def test_a_motion_has_a_second_derivative() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C109: the motion of 'theta' is a Python function"):
        tg.inverse_dynamics("crank_rod", {"theta": lambda t: t})
    for motion, word in (
        ("abs(t - 0.2 s)/(1 s)", "bends"),
        ("if(t < 0.2 s, 0, 1)", "jumps"),
        ("ramp(1 rad/s, 0.2 s)", "bends"),
    ):
        with pytest.raises(tg.ConditioningError, match=rf"C109: the motion of 'theta' {word} at t = 0\.2 s, which no"):
            tg.inverse_dynamics("crank_rod", {"theta": motion}, by=["tau"])
    with pytest.raises(tg.ConditioningError, match=r"C109: the motion of 'theta' reads 'omega'"):
        tg.inverse_dynamics("crank_rod", {"theta": "omega"}, by=["tau"])


def test_inputs_and_coordinates_are_as_many() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C108: .*2 inputs \('tau', 'F'\) act on 1 coordinates \('theta'\)"):
        tg.inverse_dynamics("crank_rod", {"theta": 0})
    with pytest.raises(tg.ConditioningError, match=r"C108: 'tauu' is no input(.|\n)*'tau'"):
        tg.inverse_dynamics("crank_rod", {"theta": 0}, by=["tauu"])


TWO_MASSES = """
system: two masses
parameters: {m_1: 1 kg, m_2: 2 kg, b: 1 N*s/m}
displacements: {x_1: v_1, x_2: v_2}
network:
  F:   {force source: [frame, a]}
  m_1: {mass: [a], velocity: v_1}
  b:   {damper: [a, c]}
  m_2: {mass: [c], velocity: v_2}
"""


def test_a_coordinate_on_which_no_input_acts_is_named() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C108: .*no input acts along 'x_2'"):
        tg.inverse_dynamics(model_of(TWO_MASSES), {"x_1": 0, "x_2": 0})


def test_two_inputs_in_one_direction_do_not_produce_two_motions() -> None:
    text = TWO_MASSES.replace("  b:", "  G:   {force source: [a, c]}\n  H:   {force source: [c, a]}\n  b:")
    with pytest.raises(tg.ConditioningError, match=r"C108: .*some of 'G', 'H' act in one direction"):
        tg.inverse_dynamics(model_of(text), {"x_1": 0, "x_2": 0}, by=["G", "H"])
