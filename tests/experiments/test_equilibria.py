"""Steady states as results."""

import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.description import read_model


def test_of_a_motor_balances_its_powers() -> None:
    found = tg.equilibrium("dc_motor_pump")
    assert found["V_a"] == pytest.approx(24.0)
    assert sum(found.power.given.values()) == pytest.approx(sum(found.power.taken.values()), rel=1e-9)
    late = tg.simulate("dc_motor_pump", until=50.0, progress=False).final()
    assert found["omega_m"] == pytest.approx(late["omega_m"], rel=1e-6)
    assert "steady state, inputs as at t = 0.5 s" in str(found)
    assert found.to_json()["t"] == 0.5


def test_inputs_are_held_at_the_time_asked_for() -> None:
    model = read_model(
        "system: RC\nparameters: {R: 2 ohm, C: 1 F}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: v}\nexperiment: {until: 5 s, inputs: {V: 'ramp(2 V/s)'}}\n"
    )
    assert tg.equilibrium(model)["v"] == pytest.approx(10.0)
    assert tg.equilibrium(model, at="1.5 s")["v"] == pytest.approx(3.0)
    assert tg.equilibrium(model, inputs={"V": 7.0})["v"] == pytest.approx(7.0)


def test_a_clutch_that_was_open_at_the_start_is_engaged() -> None:
    found = tg.equilibrium("clutch_drive")
    assert [found["omega_m"], found["omega_l"]] == pytest.approx([500.0, 500.0])  # 10 N*m over 0.02 N*m*s


def test_a_sampled_controller_holds_what_it_takes() -> None:
    model = read_model(
        "system: Sampled\nparameters: {R: 2 ohm, C: 1 F}\nnetwork:\n  V: {voltage source: [a, gnd], signal: u}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: v}\n  leak: {resistor: [b, gnd], R: R}\n"
        "signals:\n  e: 3 V - v\n  u: {pid: e, K_p: 1, K_i: 1, every: 0.1 s}\n"
    )
    found = tg.equilibrium(model)
    assert [found["v"], found["u"]] == pytest.approx([3.0, 6.0], rel=1e-6)


def test_what_keeps_moving_is_named() -> None:
    model = read_model(
        "system: Free\nparameters: {m: 1 kg}\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], velocity: v}\n"
        "experiment: {until: 1 s, inputs: {F: 1 N}}\n"
    )
    with pytest.raises(SimulationError, match="no equilibrium was found: 'v' keeps drifting by 1 per second"):
        tg.equilibrium(model)


def test_a_ball_in_the_air_is_at_rest_in_no_mode() -> None:
    """In contact it would rest at any height: only a run tells that it falls."""
    with pytest.raises(SimulationError, match="no equilibrium was found"):
        tg.equilibrium("bouncing_ball")


def test_a_switch_that_never_rests_has_none() -> None:
    with pytest.raises(SimulationError, match="no mode keeps the steady state that it would have"):
        tg.equilibrium("buck_converter")
