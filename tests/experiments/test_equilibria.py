"""Steady states as results."""

import math
import random

import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.model.model import Model
from tellegen.notations.reading import read_model


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


def body(*lines: str, force: float = 10.0) -> Model:
    """A mass on a spring, pushed by a force, with what else holds it."""
    return read_model(
        "system: Body\nparameters: {m: 1 kg, K: 100 N/m, b: 1 N*s/m}\ndisplacements: {x: v}\nnetwork:\n"
        "  F: {force source: [frame, a]}\n  m: {mass: [a], velocity: v}\n  K: {spring: [a, frame]}\n"
        + "".join(f"  {line}\n" for line in lines)
        + f"experiment: {{until: 1 s, inputs: {{F: {force} N}}}}\n"
    )


def test_a_position_is_where_the_motion_leads() -> None:
    """At rest no equation decides it: its spring does, which has moved as far."""
    found = tg.equilibrium(body("b: {damper: [a, frame]}"))
    assert [found["x"], found["F_K"], found["v"]] == pytest.approx([0.1, 10.0, 0.0])


def test_a_ball_lies_on_the_floor_in_the_end() -> None:
    """In contact it would rest at any height, so its motion decides."""
    found = tg.equilibrium("bouncing_ball")
    assert found.run.graph.mode == {"ground": "contact"}
    assert found["h"] == pytest.approx(0.0, abs=1e-9)


def test_a_rigid_stop_is_not_passed() -> None:
    """Without it the body would rest at 0.1 m."""
    found = tg.equilibrium(
        body("b: {damper: [a, frame]}", "s: {hard stop: [a, frame], gap: 0.05 m - x, restitution: 0.5}")
    )
    assert found.run.graph.mode == {"s": "contact"}
    assert [found["x"], found["F_K"]] == pytest.approx([0.05, 5.0], rel=1e-6)


@pytest.mark.parametrize(("force", "x"), [(1.0, 0.0), (10.0, 0.08)])
def test_friction_holds_a_body_where_it_comes_to_rest(force: float, x: float) -> None:
    """10 N, less 2 N of friction, swing it about 0.08 m to 0.16 m, then back about 0.12 m to 0.08 m, where 2 N do not move it."""
    found = tg.equilibrium(body("f: {dry friction: [a, frame], F_c: 2 N, F_s: 3 N}", force=force))
    assert found.run.graph.mode == {"f": "stick"}
    assert found["x"] == pytest.approx(x, rel=1e-6)


def test_a_quantised_loop_rests_between_two_steps() -> None:
    model = read_model(
        "system: Quantised\nparameters: {R: 2 ohm, C: 1 F}\nnetwork:\n  V: {voltage source: [a, gnd], signal: u}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: v}\n  leak: {resistor: [b, gnd], R: R}\n"
        "signals:\n  e: 3 V - v\n  q: {quantise: e, step: 0.25 V}\n  u: {sample: 4*q, every: 0.1 s}\nexperiment: {until: 10 s}\n"
    )
    found = tg.equilibrium(model)
    assert found["v"] == pytest.approx(found["u"] / 2.0, rel=1e-6)


def test_a_delayed_signal_was_always_what_it_is() -> None:
    model = read_model(
        "system: Delayed\nparameters: {R: 2 ohm, C: 1 F}\nnetwork:\n  V: {voltage source: [a, gnd], signal: u}\n"
        "  R: {resistor: [a, b]}\n  C: {capacitor: [b, gnd], voltage: v}\n"
        "signals:\n  d: {delay: v, by: 0.5 s}\n  u: 3 V - d\n"
    )
    found = tg.equilibrium(model)
    assert [found["v"], found["d"], found["u"]] == pytest.approx([1.5, 1.5, 1.5])


def test_a_run_may_begin_at_rest_in_a_mode_that_the_model_does_not_start_in() -> None:
    run = tg.simulate("bouncing_ball", start="steady", until=1.0, progress=False)
    assert run.values("h") == pytest.approx(0.0, abs=1e-9)
    assert not [event for event in run.events if event.what == "impact"]


def test_a_switch_that_never_rests_has_none() -> None:
    with pytest.raises(SimulationError, match="no mode keeps the steady state that it would have"):
        tg.equilibrium("buck_converter")


ARM = """system: arm
parameters: {K: 3 kN/m, h: 0.3 m, a: 0.3 m, b: 0 N*s/m}
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    ground: {points: {top: [0.2 m, h]}}
    arm: {mass: 5 kg, inertia: 0.3 kg*m^2, centre: [0.3 m, 0 m], points: {mount: [a, 0 m]}, angle: phi}
  joints:
    pivot: {revolute: [ground, arm], friction: 2 N*m*s}
    strut: {spring: [ground.top, arm.mount], K: K, b: b, length: 0.2 m, force: F}
experiment: {until: 1 s, initial: {phi: -0.6}}
"""


@pytest.mark.parametrize("seed", range(6))
def test_a_spring_between_points_that_turn_has_at_rest_the_force_of_its_length(seed: int) -> None:
    """An arm that hangs by an inclined spring: whatever the start, the rest is where moments balance, and on the spring's law."""
    chance = random.Random(seed)
    K, h, a = chance.uniform(3e3, 5e4), chance.uniform(0.2, 0.4), chance.uniform(0.25, 0.4)
    values = {"K": K, "h": h, "a": a, "b": chance.choice([0.0, 50.0])}
    rest = tg.equilibrium(read_model(ARM), parameters=values, initial={"phi": chance.uniform(-0.9, 0.1)})
    phi = rest["phi"]
    x, y = a * math.cos(phi) - 0.2, a * math.sin(phi) - h
    length = math.hypot(x, y)
    pull = K * (length - 0.2)
    moment = pull * a * (x * math.sin(phi) - y * math.cos(phi)) / length
    size = 5 * 9.81 * 0.3 + K * length  # the force goes through such sizes on its way to rest
    assert rest["F"] == pytest.approx(pull, abs=1e-7 * size)
    assert moment == pytest.approx(5 * 9.81 * 0.3 * math.cos(phi), abs=1e-7 * size)


def test_a_spring_behind_a_crank_remembers_where_it_began() -> None:
    """Its displacement is r (sin(theta) - sin(theta_0)), which no mean of two positions gives."""
    text = """system: crank
parameters: {r: 0.1 m, J: 0.01 kg*m^2, b: 0.05 N*m*s, K: 800 N/m}
displacements: {theta: omega}
bond graph:
  - Se:tau -> 1:w (omega, rotational)
  - w -> I:J
  - w -> R:b
  - w -> MTF:crank -> 1:v (translational) -> C:K
elements: {crank: {K: r*cos(theta)}}
experiment: {until: 1 s, inputs: {tau: 3 N*m}, initial: {theta: 0.1}}
"""
    rest = tg.equilibrium(read_model(text))
    theta = rest["theta"]
    moved = 0.1 * (math.sin(theta) - math.sin(0.1))
    assert 800 * moved * 0.1 * math.cos(theta) == pytest.approx(3, rel=1e-9)
