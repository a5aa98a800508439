"""`analyse` as a user calls it."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import EquationError, SimulationError
from tellegen.notations.reading import read_model


def test_the_split_of_power_in_steady_state_balances() -> None:
    split = tg.analyse("dc_motor_pump").power
    assert split is not None
    assert set(split.given) == {"V_a"}
    assert set(split.taken) == {"R_a", "alpha_p", "Q_0", "b_m"}
    assert sum(split.taken.values()) == pytest.approx(split.total, rel=1e-9)
    # I = 22.639 A through R_a = 0.5 ohm
    assert split.taken["R_a"] == pytest.approx(0.5 * 22.639175257731946**2, rel=1e-8)


def test_the_split_is_that_of_a_long_run() -> None:
    split = tg.analyse("dc_motor_pump").power
    assert split is not None
    run = tg.simulate("dc_motor_pump", 2, rtol=1e-10, samples=10)
    for element in ("R_a", "b_m", "alpha_p"):
        assert split.taken[element] == pytest.approx(float(run.power(element)[-1]), rel=1e-6)


def test_a_nonlinear_model_is_linearised_in_steady_state() -> None:
    found = tg.analyse("pmsm")
    assert found.model.states == ("I_1", "I_2", "I_3", "omega", "theta")
    assert found.model.point["omega"] == pytest.approx(0.0, abs=1e-6)
    assert found.model.point["I_2"] == pytest.approx(10 / 2.6, rel=1e-6)
    assert all(pole.value.real < 0 for pole in found.poles), "a rotor held by its magnet is stable"


def test_a_model_that_keeps_moving_wants_a_point() -> None:
    with pytest.raises(EquationError) as error:
        tg.analyse("crank_rod")
    assert error.value.code == "E201"
    assert error.value.finding.fix == "give the point at which the model is wanted, or other inputs"


def test_a_point_may_have_units() -> None:
    found = tg.analyse("crank_rod", at={"theta": "90 deg", "omega": 3})
    assert found.model.point["theta"] == pytest.approx(1.5707963267948966)
    assert found.power is None


def test_parameters_may_be_changed() -> None:
    (pole,) = tg.analyse("rlc", parameters={"R": "10 ohm"}).poles
    assert pole.value.real == pytest.approx(-500.0)


@pytest.mark.parametrize("given", [{"at": {"omga": 1}}, {"inputs": {"tu": 1}}])
def test_unknown_names_are_refused(given: dict[str, dict[str, float]]) -> None:
    with pytest.raises(SimulationError) as error:
        tg.analyse("crank_rod", **given)
    assert error.value.code == "S302"
    assert error.value.finding.fix.startswith("did you mean")


def test_controlled_sources_are_inputs_and_the_closed_loop_is_given_beside() -> None:
    found = tg.analyse("dc_motor_speed_control")
    loop = tg.derive("dc_motor_speed_control", closed=True, numeric=True)
    L, A = (np.array([[entry.evaluate({}) for entry in row] for row in loop.matrices[name]]) for name in ("L", "A"))
    expected = np.linalg.eigvals(-np.linalg.solve(L, A))
    assert found.closed_loop is not None
    assert found.closed_loop.driven == ("V_a",)
    assert found.closed_loop.poles is not None
    assert sum(2 if p.is_pair else 1 for p in found.closed_loop.poles) == len(loop.states)
    assert sum(p.value.real * (2 if p.is_pair else 1) for p in found.closed_loop.poles) == pytest.approx(
        expected.sum().real
    )
    assert "poles of the plant; controlled sources are inputs" in str(found)
    assert "poles of the closed loop; V_a controlled" in str(found)
    record = found.to_json()
    assert record["controlled_inputs"] == ["V_a"]
    assert record["closed_loop_poles"] != record["poles"]


def test_a_sampled_loop_has_no_poles_and_says_why() -> None:
    found = tg.analyse("sampled_position_control")
    assert found.closed_loop is not None
    assert found.closed_loop.poles is None
    assert f"no poles of the closed loop: {found.closed_loop.reason}" in str(found)
    assert found.closed_loop.reason
    assert found.to_json()["closed_loop_poles"] is None


def test_a_model_without_controllers_has_plain_poles() -> None:
    found = tg.analyse("dc_motor_pump")
    assert found.closed_loop is None
    assert "plant" not in str(found)
    assert "closed_loop_poles" not in found.to_json()


def test_a_source_that_follows_a_signal_through_the_experiment_closes_the_loop() -> None:
    """The same poles as where the line of the source names the signal; a constant instead opens the loop."""
    text = (
        "system: Loop\nparameters: {L: 2 mH, R: 0.8 ohm}\nnetwork:\n  V: {voltage source: [a, gnd]SIGNAL}\n"
        "  R: {resistor: [a, b]}\n  L: {inductor: [b, gnd], current: I}\n"
        "signals:\n  u: {pid: 2 A - I, K_p: 3 ohm, K_i: 500 ohm/s}\nexperiment: {until: 1 s, INPUTS}\n"
    )
    inside = read_model(text.replace("SIGNAL", ", signal: u").replace("INPUTS", "inputs: {}"))
    outside = read_model(text.replace("SIGNAL", "").replace("INPUTS", "inputs: {V: u}"))
    loops = [tg.analyse(model).closed_loop for model in (inside, outside)]
    assert loops[0] is not None
    assert loops[1] is not None
    assert loops[1].driven == ("V",)
    assert loops[0].poles is not None
    assert loops[1].poles is not None
    assert [p.value for p in loops[1].poles] == pytest.approx([p.value for p in loops[0].poles])
    assert tg.analyse(outside, inputs={"V": 1.0}).closed_loop is None


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"at": {"omega_m": "80 V"}}, "the value of omega_m is in V, not in 1/s (rad/s)"),
        ({"inputs": {"V_a": "3 m"}}, "the input V_a is in m, not in V"),
    ],
)
def test_values_of_another_dimension_are_refused(given: dict[str, dict[str, str]], what: str) -> None:
    with pytest.raises(SimulationError) as error:
        tg.analyse("dc_motor_pump", **given)
    assert (error.value.code, error.value.finding.what) == ("S303", what)


def test_a_point_may_be_given_in_any_unit_of_its_dimension() -> None:
    found = tg.analyse("crank_rod", at={"theta": "30 deg", "omega": "60 rpm"})
    same = tg.analyse("crank_rod", at={"theta": np.pi / 6, "omega": 2 * np.pi})
    assert np.allclose(found.model.A, same.model.A)


BY_A_SIGNAL = """
system: a damper that a signal sets
signals:
  rate: 2 N*s/m*abs(v)/(1 m/s)
network:
  F: {force source: [frame, a]}
  m: {mass: [a], m: 1 kg, velocity: v}
  b: {damper: [a, frame], b: rate}
experiment: {until: 1 s, inputs: {F: 1 N}}
"""


def test_coefficients_that_read_signals_are_part_of_the_linear_model() -> None:
    """2 v |v| = 1 at rest, so v = 1/sqrt(2) and the pole is -4 v."""
    found = tg.analyse(read_model(BY_A_SIGNAL))
    assert found.model.point["v"] == pytest.approx(0.5**0.5)
    assert [pole.value for pole in found.poles] == pytest.approx([-4 * 0.5**0.5])
    assert [pole.value for pole in tg.analyse(read_model(BY_A_SIGNAL), at={"v": 1}).poles] == pytest.approx([-4])


def test_a_coefficient_that_reads_a_sample_is_told() -> None:
    sampled = BY_A_SIGNAL.replace("2 N*s/m*abs(v)/(1 m/s)", "{sample: 2 N*s/m*abs(v)/(1 m/s), every: 1 ms}")
    with pytest.raises(EquationError, match="E121: the model reads 'rate', which is no continuous function of states"):
        tg.analyse(read_model(sampled.replace("b: rate", "law: F = rate*v*abs(v)*1 s/m")))


def test_a_model_without_inputs_is_analysed_where_a_controlled_force_leaves_passivity_open() -> None:
    model = read_model("""
system: one mass pulls another
signals: {pull: w}
network:
  m: {mass: [a], m: 1 kg, velocity: v}
  b: {damper: [a, frame], law: "F = 1 N*s/m*(v + 10*pull)"}
  c: {damper: [a, b], b: 0.01 N*s/m}
  n: {mass: [b], m: 1 kg, velocity: w}
  d: {damper: [b, frame], law: "F = 1 N*s/m*v*(1 + (v/(1 m/s))^2)"}
""")
    found = tg.analyse(model, at={"w": 0.1})
    assert all(pole.value.real < 0 for pole in found.poles)
    assert found.passivity.passive is None
    assert found.passivity.smallest < 0


def test_an_analysis_of_a_model_with_modes_says_in_which_one_it_holds() -> None:
    found = tg.analyse("buck_converter")
    assert found.modes == {"S": "closed", "D": "blocking"}
    assert "in the mode\n  S  closed\n  D  blocking\n" in str(found)
    assert found.to_json()["modes"] == {"S": "closed", "D": "blocking"}
    assert "in the mode" not in str(tg.analyse("dc_motor"))
