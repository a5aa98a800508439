"""Inverses of models: the inputs with which outputs follow a course, what they say, and what is refused."""

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model

MOTOR = "quintic(0, 100, from=0, to=0.5)"


def test_the_voltage_of_a_motor_is_that_of_its_equations() -> None:
    """V = R i + L i' + K omega with i = (J omega' + b omega)/K, by hand."""
    found = tg.invert("dc_motor", prescribe={"omega": "3*sin(t/(1 s))"}, for_=["V"], inputs={"tau": 0}, until=2)
    p = found.run.parameters
    t = found.t
    w, w1, w2 = 3 * np.sin(t), 3 * np.cos(t), -3 * np.sin(t)
    i, i1 = (p["J"] * w1 + p["b"] * w) / p["K"], (p["J"] * w2 + p["b"] * w1) / p["K"]
    voltage = p["R"] * i + p["L"] * i1 + p["K"] * w
    assert found.values("V") == pytest.approx(voltage, abs=1e-6 * np.abs(voltage).max())
    assert found.equations.degrees == {"omega": 2}
    size = found.sizes["V"]
    assert size.peak == pytest.approx(np.abs(voltage).max())
    assert size.rms == pytest.approx(np.sqrt(np.trapezoid(voltage**2, t) / 2))
    assert size.conjugate == "I"
    assert size.power_peak == pytest.approx(np.abs(voltage * i).max(), rel=1e-5)
    # At t = 0 the course has a rate, which takes a current at once.
    assert found.moved["I"] == pytest.approx((0.0, i[0]), rel=1e-6)


def test_names_alone_give_equations_that_print_themselves() -> None:
    made = tg.invert("dc_motor", prescribe=["I"], for_=["V"])
    assert str(made).splitlines() == [
        "DC motor: V so that I follows a course",
        "",
        "relative degree of I  1, with the course I_d, I_d_rate",
        "states left to themselves  1 of 2",
        "",
        "  V = I*R + I_d_rate*L + K*omega",
    ]
    assert made.to_json()["inputs"] == {"V": "I*R + I_d_rate*L + K*omega"}
    assert r"\begin{align*}" in made.to_latex()


@pytest.mark.slow
def test_several_inputs_and_outputs_and_the_same_through_oil() -> None:
    courses = {"omega_m": MOTOR, "P_0": "quintic(0, 1e5, from=0, to=0.5)"}
    found = tg.invert("dc_motor_pump", prescribe=courses, for_=["V_a", "Q_0"], until=0.6)
    assert found.equations.degrees == {"omega_m": 2, "P_0": 1}
    assert found.values("P_0")[-1] == pytest.approx(1e5)
    assert found.values("omega_m")[-1] == pytest.approx(100)
    assert found.run.energy.residual < 1e-6


NON_MINIMUM = """
system: right half plane
network:
  I: {current source: [gnd, n]}
  C: {capacitor: [n, gnd], C: 1 F, voltage: x}
  R: {resistor: [n, gnd], R: 1 ohm}
signals:
  z: {integral: (x - z)/(1 s), initial: 0 V}
  y: x - 4*z
experiment: {until: 0.5 s}
"""


def test_a_zero_in_the_right_half_plane_is_an_unstable_pole_and_is_said() -> None:
    found = tg.invert(read_model(NON_MINIMUM), prescribe={"y": "sin(t/(1 s))"}, for_=["I"])
    # With y = x - 4 z given, z' = x - z = y + 3 z.
    assert [pole.value for pole in found.poles] == pytest.approx([3.0])
    (finding,) = found.findings
    assert (finding.code, finding.severity) == ("S456", "warning")
    assert "poles at 3 " in finding.what


VALVE = """
system: valve and cylinder
parameters: {p_s: 100 bar, k_v: 2e-9 m^3/(s*Pa)}
network:
  P: {pressure source: [s, tank]}
  valve: {leak: [s, c], law: Q = k_v*o*P}
  C: {accumulator: [c, tank], C: 1e-12 m^3/Pa, pressure: p}
  piston: {cylinder: [c, tank, rod, frame], A: 1e-3 m^2}
  m: {mass: [rod], m: 50 kg, velocity: v}
  d: {damper: [rod], b: 2e3 N*s/m}
signals: {o: 0.1}
experiment: {until: 1 s, inputs: {P: p_s}}
"""


@pytest.mark.slow
def test_a_signal_can_be_asked_for_as_a_source_can() -> None:
    found = tg.invert(read_model(VALVE), prescribe={"v": "quintic(0, 0.2, from=0.1, to=0.8)"}, for_=["o"])
    assert found.equations.degrees == {"v": 2}
    o = found.values("o")
    assert o[0] == pytest.approx(0, abs=1e-9)
    # At rest the valve passes what the piston takes: k_v o (p_s - p) = A v with A p = b v.
    assert o[-1] == pytest.approx(1e-3 * 0.2 / (2e-9 * (1e7 - 2e3 * 0.2 / 1e-3)), rel=1e-5)


CURVED = """
system: lamp
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], law: i = 2 mA*sinh(v/(3 V))}
  C: {capacitor: [b, gnd], C: 100 uF, voltage: u}
  G: {resistor: [b, gnd], R: 1 kohm}
experiment: {until: 1 s}
"""


def test_an_input_that_does_not_act_in_proportion_is_solved_for() -> None:
    found = tg.invert(read_model(CURVED), prescribe={"u": "5*(1 - cos(4*t/(1 s)))"}, for_=["V"])
    assert not found.equations.formulas
    t = found.t
    u, rate = 5 * (1 - np.cos(4 * t)), 20 * np.sin(4 * t)
    expected = u + 3 * np.arcsinh((1e-4 * rate + u / 1e3) / 2e-3)
    assert found.values("V") == pytest.approx(expected, abs=1e-5)


def test_inverse_dynamics_of_a_mechanism_is_the_same() -> None:
    course = "pi/2 + quintic(0, 3, from=0 s, to=2 s)"
    torque = tg.inverse_dynamics("crank_rod", {"theta": course}, by=["tau"])
    found = tg.invert("crank_rod", prescribe={"theta": course}, for_=["tau"], until=2, samples=20)
    by_hand = torque.at(found.t)["tau"]
    assert found.values("tau") == pytest.approx(by_hand, abs=1e-5 * np.abs(by_hand).max())


def arm(seed: int) -> tuple[str, dict[str, str], dict[str, float]]:
    """Bodies on pins and slides with friction, a drive at each joint, courses that begin at rest, and where."""
    chance = Random(seed)
    bodies, joints, drives = list[str](), list[str](), list[str]()
    courses, start = dict[str, str](), dict[str, float]()
    for k in range(1, chance.randint(1, 3) + 1):
        before, on = ("frame", "ground") if k == 1 else (f"b{k - 1}", f"b{k - 1}.tip")
        slides, rough = k > 1 and chance.random() < 0.3, chance.random() < 0.5
        body = f"mass: {chance.randint(3, 20) / 10} kg, inertia: {chance.randint(3, 20) / 10} kg*m^2"
        centre = f"centre: [{chance.choice([0, 0.2, 0.4])} m, {0 if slides else chance.choice([0, 0.1])} m]"
        angle = "" if slides else f", angle: phi_{k}"
        bodies.append(f"    b{k}: {{{body}, {centre}, points: {{tip: [{chance.choice([0.5, 1])} m, 0 m]}}{angle}}}")
        if slides:
            friction = ", friction: 3 N*s/m" if rough else ""
            joints.append(f"    j{k}: {{prismatic: [{on}, b{k}], direction: 0.5 rad, distance: x_{k}{friction}}}")
            drives.append(f"  F_{k}: {{force source: [frame, j{k}]}}")
        else:
            joints.append(f"    j{k}: {{revolute: [{on}, b{k}]{', friction: 0.4 N*m*s' if rough else ''}}}")
            drives.append(f"  tau_{k}: {{torque source: [{before}, b{k}]}}")
        name = f"x_{k}" if slides else f"phi_{k}"
        start[name] = chance.randint(-10, 10) / 10
        courses[name] = f"{start[name]} + {chance.randint(2, 8) / 10}*(1 - cos({chance.randint(1, 3)}*t/(1 s)))"
    lines = ["system: arm", "mechanism:", "  gravity: 9.81 m/s^2", "  bodies:", *bodies, "  joints:", *joints]
    return "\n".join([*lines, "network:", *drives, "experiment: {until: 0.3 s}\n"]), courses, start


@pytest.mark.parametrize("seed", [9, *(pytest.param(k, marks=pytest.mark.slow) for k in range(100, 140))])
def test_formulas_of_inputs_the_inverse_and_a_controller_on_its_course_give_the_same(seed: int) -> None:
    text, courses, start = arm(seed)
    model = read_model(text)
    inverse = tg.invert(model, prescribe=courses, until=0.3, samples=20)
    formulas = tg.inverse_dynamics(model, courses).at(inverse.t)
    tracked = tg.feedback_linearise(model, courses, K_p=100, K_d=20)
    run = tg.simulate(tracked, initial=start, samples=20, rtol=1e-9)
    for name, effort in formulas.items():
        room = 1e-8 * (1.0 + np.abs(effort).max())
        assert np.allclose(inverse.values(name), effort, rtol=0.0, atol=room)
        assert np.allclose(run.values(name), effort, rtol=0.0, atol=room)


MOTOR_PART = """
system: Motor
parameters: {R: 0.5 ohm, L: 2 mH, K: 0.15 N*m/A, J: 1e-3 kg*m^2}
ports: {in: [a, gnd], shaft: [s, frame]}
network:
  R: {resistor: [a, b]}
  L: {inductor: [b, c], current: i}
  m: {dc machine: [c, gnd, s, frame], K: K}
  J: {inertia: [s], angular velocity: w}
"""
TWO_MOTORS = """
system: two motors
parts:
  left: {use: motor.yaml, ports: {in: a, shaft: s}}
  right: {use: motor.yaml, ports: {in: c, shaft: r}, K: 0.2 N*m/A}
network:
  V_1: {voltage source: [a, gnd]}
  V_2: {voltage source: [c, gnd]}
  k: {torsion spring: [s, r], K: 3 N*m/rad}
  b: {friction: [s, r], b: 1e-3 N*m*s}
signals:
  diff: left.w - right.w
  speed: {across: [s]}
experiment: {until: 1 s}
"""
SPEED = "quintic(0, 10, from=0, to=0.6)"


@pytest.mark.parametrize(
    ("courses", "degrees"),
    [
        pytest.param({"left.w": SPEED, "right.w": SPEED}, [2, 2], marks=pytest.mark.slow),
        ({"diff": "0.1*sin(t/(1 s))", "speed": SPEED}, [2, 2]),
        pytest.param({"tau_k": "quintic(0, 1, from=0, to=0.6)", "speed": SPEED}, [3, 2], marks=pytest.mark.slow),
        ({"right.i": "0.3*sin(t/(1 s))", "speed": SPEED}, [1, 2]),
    ],
)
def test_parts_signals_and_sensors_are_outputs_like_others(
    courses: dict[str, str], degrees: list[int], tmp_path: Path
) -> None:
    (tmp_path / "motor.yaml").write_text(MOTOR_PART, encoding="utf-8")
    (tmp_path / "two.yaml").write_text(TWO_MOTORS, encoding="utf-8")
    found = tg.invert(tmp_path / "two.yaml", prescribe=courses, for_=["V_1", "V_2"], samples=2000)
    assert list(found.equations.degrees.values()) == degrees
    inputs = {name: tg.table(found.t.tolist(), found.values(name).tolist()) for name in ("V_1", "V_2")}
    names = found.run.state_names
    start = dict(zip(names, found.run.table(names)[0].tolist(), strict=True))
    fed = tg.simulate(tmp_path / "two.yaml", inputs=inputs, initial=start, times=found.t, rtol=1e-9)
    for name in courses:
        size = np.abs(found.values(name)).max()
        assert fed.values(name) == pytest.approx(found.values(name), abs=1e-4 * size)


def test_loops_of_a_mechanism_decide_coordinates_that_are_no_states() -> None:
    """Two cranks lead a point through a loop; both torques together do the work that the books count."""
    courses = {"crank_l.phi": "2.2 + 0.1*sin(3*t/(1 s))", "crank_r.phi": "0.9 + 0.1*sin(3*t/(1 s))"}
    found = tg.invert("five_bar", prescribe=courses, for_=["tau_l", "tau_r"], until=0.4, samples=20)
    assert found.equations.remaining == 0
    by_hand = tg.inverse_dynamics("five_bar", courses, by=["tau_l", "tau_r"]).at(found.t)
    for name, torque in by_hand.items():
        assert found.values(name) == pytest.approx(torque, abs=1e-5 * np.abs(torque).max())


ORIFICES = """
system: orifices
network:
  P: {pressure source: [s, tank]}
  v: {leak: [s, c], law: Q = 2e-7 m^3/(s*Pa^0.5)*o*sign(P)*sqrt(abs(P))}
  C: {accumulator: [c, tank], C: 1e-12 m^3/Pa, pressure: p}
  cyl: {cylinder: [c, tank, rod, frame], A: 1e-3 m^2}
  m: {mass: [rod], m: 50 kg, velocity: v}
  d: {damper: [rod], b: 2e3 N*s/m}
  leak: {leak: [c, tank], law: Q = 1e-9 m^3/(s*Pa^0.5)*sign(P)*sqrt(abs(P))}
signals: {o: 0.1}
experiment: {until: 1 s, inputs: {P: 100 bar}, initial: {p: 5 bar}}
"""


@pytest.mark.slow
def test_a_run_begins_where_a_law_is_infinitely_steep() -> None:
    found = tg.invert(read_model(ORIFICES), prescribe={"v": "quintic(0, 0.3, from=0.1, to=0.8)"}, for_=["o"])
    assert found.moved["p"] == pytest.approx((5e5, 0), abs=1e-3)
    p = 2e3 * 0.3 / 1e-3
    taken = 1e-3 * 0.3 + 1e-9 * np.sqrt(p)
    assert found.values("o")[-1] == pytest.approx(taken / (2e-7 * np.sqrt(1e7 - p)), rel=1e-5)


@pytest.mark.slow
def test_a_controller_that_is_cut_away_counts_no_more() -> None:
    """The load of the example steps at 0.5 s, and with it the rate of the speed, whatever the voltage does."""
    course = {"omega_m": "quintic(0, 50, from=0, to=0.4)"}
    with pytest.raises(tg.SimulationError, match=r"at t = 0\.5 s: its rate jumps, whatever 'V_c' may do"):
        tg.invert("dc_motor_speed_control", prescribe=course, for_=["V_c"], until=1)
    found = tg.invert("dc_motor_speed_control", prescribe=course, for_=["V_c"], until=0.45)
    assert found.values("omega_m")[-1] == pytest.approx(50)


def test_an_input_that_does_not_act_where_the_run_begins_is_told() -> None:
    # The winding of phase 1 has no lever at the angle zero.
    with pytest.raises(tg.SimulationError, match="'V_1' cannot move it"):
        tg.invert("pmsm", prescribe={"omega": "quintic(0, 10, from=0, to=0.1)"}, for_=["V_1"], until=0.1)


WRONG: list[tuple[str, Mapping[str, Any], list[str], str, str]] = [
    ("dc_motor", {"omeg": 1}, ["V"], "E132", "did you mean 'omega'"),
    ("dc_motor", {"omega": 1}, ["W"], "S451", "'W' is no input of 'DC motor'"),
    ("dc_motor", {"omega": 1}, ["V", "tau"], "S451", "1 output ('omega') cannot be given courses by 2 inputs"),
    ("dc_motor", {"omega": "step(3, 0.5)"}, ["V"], "S452", "it jumps at t = 0.5 s"),
    (
        "dc_motor",
        {"omega": "ramp(3, 0.5)"},
        ["V"],
        "S452",
        "its course and its rate must be continuous: its rate jumps at t = 0.5 s",
    ),
    ("dc_motor", {"omega": tg.table([0, 0.3, 1], [0, 1, 1])}, ["V"], "S452", "its rate jumps at t = 0.3 s"),
    ("dc_motor", {"omega": np.sin}, ["V"], "S452", "a Python function"),
    ("dc_motor", {"omega": "J*omega"}, ["V"], "S452", "reads 'omega'"),
    ("clutch_drive", {"omega_m": 1}, ["tau"], "S453", "has modes"),
]


@pytest.mark.parametrize(("model", "prescribe", "for_", "code", "words"), WRONG)
def test_what_cannot_be_inverted_says_why(
    model: str, prescribe: Mapping[str, Any], for_: list[str], code: str, words: str
) -> None:
    with pytest.raises(tg.TellegenError, match=code) as caught:
        tg.invert(model, prescribe=prescribe, for_=for_, until=1)
    assert words in str(caught.value)


APART = """
system: two circuits
network:
  V: {voltage source: [a, gnd]}
  U: {voltage source: [a, e]}
  R: {resistor: [e, b], R: 1 ohm}
  C: {capacitor: [b, gnd], C: 1 F, voltage: u}
  W: {voltage source: [c, gnd]}
  S: {resistor: [c, d], R: 1 ohm}
  D: {capacitor: [d, gnd], C: 1 F, voltage: w}
  E: {capacitor: [c, gnd], C: 1 F}
experiment: {until: 1 s}
"""


@pytest.mark.parametrize(
    ("outputs", "inputs", "code", "words"),
    [
        (["w"], ["V"], "E140", "'V' does not act on 'w' in 'two circuits'"),
        (["u", "V_R"], ["V", "U"], "E141", "'V', 'U' do not act independently on 'u', 'V_R'"),
        (["I_E"], ["W"], "E142", "the rate of 'W' counts"),
    ],
)
def test_inputs_that_cannot_do_it_say_why(outputs: list[str], inputs: list[str], code: str, words: str) -> None:
    with pytest.raises(tg.EquationError, match=code) as caught:
        tg.invert(read_model(APART), prescribe=outputs, for_=inputs)
    assert words in str(caught.value)


@pytest.mark.parametrize("sections", [3, 5])
def test_an_inverse_of_many_derivatives_keeps_its_digits(sections: int) -> None:
    """A ladder whose far end follows a sine: ten derivatives, and the exact input by nodal analysis from the end."""
    text, gain, current, s = "", 1.0 + 0.0j, 0.1 + 0.0j, 200.0j
    for k in reversed(range(sections)):
        R, L, C = 1.0 + 0.3 * k, 1e-3 * (1 + k), 1e-4
        text += f"  R{k}: {{resistor: [n{k}, m{k}], value: {R} ohm}}\n  L{k}: {{inductor: [m{k}, n{k + 1}], value: {L} H}}\n"
        text += f"  C{k}: {{capacitor: [n{k + 1}, gnd], value: {C} F, voltage: v{k}}}\n"
        current += gain * s * C
        gain += current * (R + s * L)
    text += f"  V: {{voltage source: [n0, gnd]}}\n  Z: {{resistor: [n{sections}, gnd], value: 10 ohm}}\n"
    far = f"v{sections - 1}"
    found = tg.invert(
        read_model(f"system: ladder\nnetwork:\n{text}"),
        prescribe={far: "1 V*sin(200*t/(1 s))"},
        for_=["V"],
        until="30 ms",
        samples=100,
    )
    wanted = np.imag(gain * np.exp(s * found.t))
    assert np.max(np.abs(found.values("V") - wanted)) <= 20.0 * 1e-8 * abs(gain)
