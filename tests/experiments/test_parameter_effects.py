"""`sensitivities` against formulas and differences of runs."""

from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.notations.reading import read_model
from tellegen.results.records import column

Array = NDArray[np.float64]

RC = (
    "system: RC\nparameters: {R: 2 ohm, C: 0.5 F, V_0: 3 V, R_b: 2*R}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
    "  R: {resistor: [a, b], R: R_b}\n  C: {capacitor: [b, gnd], voltage: V_C}\n"
)
SYSTEMS = files("tellegen.systems")
TAU = 2.0
"""R_b*C, in s."""


def test_of_a_parameter_behind_another() -> None:
    """v = V (1 - exp(-t/(2 R C))): the resistance of the element follows from R."""
    slopes = tg.sensitivities(read_model(RC), ["R", "C"], 4.0, inputs={"V": 1.0}, rtol=1e-9)
    t = slopes["t"].values
    by_tau = -t / TAU**2 * np.exp(-t / TAU)
    assert slopes["V_C"].dims == ("t", "parameter")
    assert slopes["V_C"].sel(parameter="R").values == pytest.approx(by_tau, abs=1e-7)
    assert slopes["V_C"].sel(parameter="C").values == pytest.approx(4.0 * by_tau, abs=1e-7)


def test_of_a_parameter_in_an_input() -> None:
    slopes = tg.sensitivities(read_model(RC), ["V_0"], 4.0, inputs={"V": "2*V_0"}, rtol=1e-9)
    t = slopes["t"].values
    assert slopes["V_C"].values[:, 0] == pytest.approx(2 * (1 - np.exp(-t / TAU)), abs=1e-7)


def test_of_a_parameter_in_an_initial_value() -> None:
    slopes = tg.sensitivities(read_model(RC), ["V_0"], 4.0, inputs={"V": 0.0}, initial={"V_C": "2*V_0"}, rtol=1e-9)
    t = slopes["t"].values
    assert slopes["V_C"].values[:, 0] == pytest.approx(2 * np.exp(-t / TAU), abs=1e-7)


def test_of_a_nonlinear_model_against_differences() -> None:
    slopes = tg.sensitivities("pmsm", ["J"], rtol=1e-9)["omega"].values[:, 0]
    value = tg.lower(tg.load("pmsm")).parameters["J"]
    assert value is not None
    base = value.evaluate({})
    up, down = (
        tg.simulate("pmsm", parameters={"J": base * (1 + s)}, rtol=1e-11, samples=1000).values("omega")
        for s in (1e-4, -1e-4)
    )
    wanted = (up - down) / (2e-4 * base)
    assert slopes == pytest.approx(wanted, abs=1e-4 * float(np.abs(wanted).max()))


def test_a_name_that_is_no_parameter() -> None:
    with pytest.raises(SimulationError, match="'R_x' is not a parameter of 'RC'"):
        tg.sensitivities(read_model(RC), ["R_x"], 1.0, inputs={"V": 1.0})


def test_a_parameter_that_follows_from_others() -> None:
    with pytest.raises(SimulationError, match="'R_b' follows from 'R'"):
        tg.sensitivities(read_model(RC), ["R_b"], 1.0, inputs={"V": 1.0})
    slopes = tg.sensitivities(read_model(RC), ["R_b"], 4.0, inputs={"V": 1.0}, values={"R_b": 4.0}, rtol=1e-9)
    t = slopes["t"].values
    assert slopes["V_C"].values[:, 0] == pytest.approx(-0.5 * t / TAU**2 * np.exp(-t / TAU), abs=1e-7)


def by_differences(model: tg.Model, name: str, times: Array, shown: Sequence[str]) -> Array:
    """d(variables)/d(parameter) from two fine runs, by row and variable."""
    value = tg.lower(model).parameters[name]
    assert value is not None
    base = value.evaluate({})
    step = 1e-5 * base
    up, down = (
        tg.simulate(model, float(times[-1]), parameters={name: base + by}, rtol=1e-11, times=times)
        for by in (step, -step)
    )
    return np.column_stack([(up.values(v) - down.values(v)) / (2.0 * step) for v in shown])


@pytest.mark.parametrize(
    ("name", "parameter", "until", "shown"),
    [
        ("bouncing_ball", "g", 1.5, ["v", "h"]),  # impacts
        ("stick_slip", "m", 3.0, ["v", "F_K"]),  # a mass that is held and let go
        ("stick_slip", "F_s", 3.0, ["v", "F_K"]),
        ("clutch_drive", "J_m", 3.0, ["omega_m", "omega_l", "power.b_l"]),  # two inertias become one
        ("clutch_drive", "tau_max", 3.0, ["omega_m", "omega_l", "power.b_l"]),
        ("buck_converter", "L", 1e-4, ["I_L", "V_C"]),  # a diode that stops conducting
        ("buck_converter", "d", 1e-4, ["I_L", "V_C"]),  # a switch whose instants move
        ("buck_converter", "T", 1e-4, ["I_L", "V_C"]),
    ],
)
def test_through_changes_of_mode(name: str, parameter: str, until: float, shown: list[str]) -> None:
    model = tg.load(name)
    times = until * (np.arange(1, 41) / 40 - 0.0061)  # away from where switches are thrown
    slopes = tg.sensitivities(model, [parameter], float(times[-1]), outputs=shown, rtol=1e-9, times=times)
    found = np.column_stack([slopes[column(v)].values[:, 0] for v in shown])
    wanted = by_differences(model, parameter, times, shown)
    assert found == pytest.approx(wanted, abs=1e-5 * float(np.abs(wanted).max()))


def test_of_the_restitution_of_a_ball() -> None:
    """After the first impact at t_1 = sqrt(2 h/g) the ball rises with e g t_1: dv/de = g t_1 until the next one."""
    text = (SYSTEMS / "bouncing_ball.yaml").read_text(encoding="utf-8")
    model = read_model(text.replace("restitution: 0.8", "restitution: e_r").replace("{m:", "{e_r: 0.8, m:"))
    first = np.sqrt(2.0 / 9.81)
    slopes = tg.sensitivities(model, ["e_r"], 1.0, rtol=1e-9, times=[0.4, 0.5, 0.8])
    assert slopes["v"].values[:, 0] == pytest.approx([0.0, 9.81 * first, 9.81 * first], abs=1e-7)


def test_of_the_instant_of_a_step() -> None:
    """v = V_0 (1 - exp(-(t - t_s)/tau)): dv/dt_s = -V_0/tau exp(-(t - t_s)/tau) after the step."""
    text = RC.replace("V_0: 3 V", "V_0: 3 V, t_s: 0.7 s")
    slopes = tg.sensitivities(
        read_model(text),
        ["t_s"],
        4.0,
        inputs={"V": "step(V_0, t_s)"},
        outputs=["I_R"],
        rtol=1e-9,
        times=[0.5, 1.0, 3.0],
    )
    wanted = np.array([0.0, -3 / TAU * np.exp(-0.3 / TAU), -3 / TAU * np.exp(-2.3 / TAU)])
    assert slopes["V_C"].values[:, 0] == pytest.approx(wanted, abs=1e-7)
    assert slopes["I_R"].values[:, 0] == pytest.approx(-wanted / 4.0, abs=1e-6)


def test_of_what_a_sampled_controller_holds() -> None:
    text = RC.replace("[a, gnd]}", "[a, gnd], signal: u}").replace("V_0: 3 V", "V_0: 3 V, k: 0.5")
    model = read_model(text + "signals:\n  u: {sample: k*(V_0 - V_C), every: 0.25 s}\n")
    times = np.array([0.1, 0.6, 1.9, 2.0])
    slopes = tg.sensitivities(model, ["k"], 2.0, outputs=["u", "power.R"], rtol=1e-9, times=times)
    found = np.column_stack([slopes[v].values[:, 0] for v in ("V_C", "u", "power.R")])
    wanted = by_differences(model, "k", times, ["V_C", "u", "power.R"])
    assert found == pytest.approx(wanted, abs=1e-6)


def test_a_name_that_is_no_variable() -> None:
    with pytest.raises(SimulationError, match="'I_RR' is not a variable of 'RC'") as raised:
        tg.sensitivities(read_model(RC), ["R"], 1.0, inputs={"V": 1.0}, outputs=["I_RR"])
    assert raised.value.code == "S176"
    assert "I_R" in (raised.value.finding.fix or "")


DELAYED = (
    RC.replace("[a, gnd]}", "[a, gnd], signal: u}").replace("V_0: 3 V", "V_0: 3 V, t_s: 1 s, tau: 0.5 s")
    + "signals:\n  d: {delay: V_C, by: tau}\n  u: step(V_0, t_s) - d\n"
)


@pytest.mark.parametrize("name", ["R", "t_s", "V_0", "tau"])
def test_through_a_delay(name: str) -> None:
    """What comes back changes with the parameter, too, and so does when it comes back."""
    model, times = read_model(DELAYED), np.linspace(0.07, 3.93, 30)
    shown = ["V_C", "d", "I_R", "power.R"]
    slopes = tg.sensitivities(model, [name], 3.93, rtol=1e-9, times=times, outputs=shown[1:])
    found = np.column_stack([slopes[variable].values[:, 0] for variable in shown])
    wanted = by_differences(model, name, times, shown)
    assert found == pytest.approx(wanted, abs=2e-6 * float(np.abs(wanted).max()))


RECTIFIED = DELAYED.replace("  R: {resistor: [a, b]", "  D: {diode: [a, d]}\n  R: {resistor: [d, b]")
LATCHED = """system: Latch
parameters: {R: 2 ohm, C: 0.3 F, tau: 0.37 s, w: 0.9 V}
network:
  V: {voltage source: [a, gnd]}
  S: {switch: [a, e], control: w - z/1 s, start: closed}
  R: {resistor: [e, b]}
  C: {capacitor: [b, gnd], voltage: v}
  L: {resistor: [b, gnd], R: 4 ohm}
signals:
  d: {delay: v, by: tau}
  z: {integral: d}
experiment: {until: 4 s, inputs: {V: 3 V}}
"""
BOUNCING = """system: Ball
parameters: {m: 0.1 kg, g: 9.81 m/s^2}
displacements: {h: v}
network:
  w: {force source: [a, frame]}
  m: {mass: [a], velocity: v}
  ground: {hard stop: [frame, a], gap: h, restitution: 0.8}
signals:
  d: {delay: v, by: 0.1 s}
  q: {integral: d}
experiment: {until: 4 s, inputs: {w: m*g}, initial: {h: 1 m}}
"""


@pytest.mark.parametrize(
    ("text", "name", "until", "shown"),
    [
        (RECTIFIED, "tau", 3.93, ["V_C", "d", "I_R"]),
        (LATCHED, "w", 3.93, ["v", "z", "d"]),
        (LATCHED, "tau", 3.93, ["v", "z", "d"]),
        (BOUNCING, "g", 1.47, ["v", "h", "q", "d"]),
    ],
)
def test_through_modes_and_delays(text: str, name: str, until: float, shown: list[str]) -> None:
    """What jumps where the mode changes jumps again where it comes back; a switch that a state commands moves with it."""
    model, times = read_model(text), np.linspace(0.03, until, 12)
    slopes = tg.sensitivities(model, [name], until, rtol=1e-9, times=times, outputs=shown)
    found = np.column_stack([slopes[variable].values[:, 0] for variable in shown])
    wanted = by_differences(model, name, times, shown)
    assert found == pytest.approx(wanted, abs=2e-6 * float(np.abs(wanted).max()))


def test_across_samples_of_a_model_of_hundreds_of_ports() -> None:
    """Its coefficients are computed from the parameters before the run, so that these cannot be moved in it."""
    n = 400
    sections = "".join(
        f"  R{k}: {{resistor: [n{k}, n{k + 1}], R: R}}\n  C{k}: {{capacitor: [n{k + 1}, gnd], C: C}}\n"
        for k in range(n)
    )
    model = read_model(
        f"system: Ladder\nparameters: {{R: 1 ohm, C: 1 F, k: 0.7, w: 2 V}}\nnetwork:\n"
        f"  V: {{voltage source: [n0, gnd], signal: u}}\n{sections}"
        "signals: {u: {sample: k*(w - V_C1) + w, every: 0.5 s}}\n"
    )
    times, shown = np.array([0.7, 1.9]), ["V_C0", "V_C1", "u"]
    for name in ("R", "k"):
        slopes = tg.sensitivities(model, [name], 2.0, rtol=1e-8, times=times, outputs=["u"])
        found = np.column_stack([slopes[variable].values[:, 0] for variable in shown])
        assert found == pytest.approx(by_differences(model, name, times, shown), abs=2e-6)
