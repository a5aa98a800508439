"""`design`: margins, poles and gains are what was asked for, seen by our own analysis, by python-control and in runs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.cli.main import run

QUADRATIC = """
system: Fan
parameters: {L: 2 mH, R: 0.8 ohm, K: 0.06 N*m/A, J: 1e-4 kg*m^2}
network:
  V:     {voltage source: [a, gnd]}  # the supply
  L:     {inductor: [a, c], current: I}
  R:     {resistor: [c, e]}
  motor: {dc machine: [e, gnd, shaft, frame], K: K}
  J:     {inertia: [shaft], angular velocity: omega}
  drag:  {friction: [shaft, frame], law: tau = 1e-6 N*m*s^2*omega*abs(omega)}
experiment: {until: 0.5 s, inputs: {V: 12 V}}
"""
TWO_RCS = """
system: Two circuits
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, b], R: 1 ohm}
  C:   {capacitor: [b, gnd], C: 1 F}
  C_2: {capacitor: [d, gnd], C: 2 F, voltage: v_2}
  J:   {current source: [gnd, d]}
experiment: {until: 1 s, inputs: {V: 1 V}}
"""


@pytest.mark.parametrize(
    ("kind", "crossover", "margin"),
    [("pi", 60.0, 60.0), ("lead", 1000.0, 45.0), ("pid", 1000.0, 60.0), ("pi", 20.0, 75.0)],
)
def test_the_margins_are_those_asked_for_as_python_control_finds_them(
    kind: Any, crossover: float, margin: float
) -> None:
    control = pytest.importorskip("control")
    found = tg.design(
        "dc_motor",
        kind,
        inputs=["V"],
        measure=["omega"],
        reference="150 rad/s",
        crossover=crossover,
        phase_margin=margin,
    )
    gains = {"K_i": 0.0, "K_d": 0.0, "filter": 1.0, **found.gains}
    T = gains["filter"]
    numerator = [gains["K_p"] * T + gains["K_d"], gains["K_p"] + gains["K_i"] * T, gains["K_i"]]
    # Without an integral there is no pole at zero to cancel.
    controller = control.tf(numerator, [T, 1, 0]) if gains["K_i"] else control.tf(numerator[:2], [T, 1])
    loop = tg.analyse("dc_motor").to_control()["omega", "V"] * control.ss(controller)
    _, phase, _, at = control.margin(loop)
    assert (phase, at) == (pytest.approx(margin, abs=1e-6), pytest.approx(crossover, rel=1e-6))
    # The file says the same, its formulas read and linearised again.
    closed_loop = tg.analyse(found.model).closed_loop
    assert closed_loop is not None
    assert closed_loop.poles is not None
    assert [p.value for p in closed_loop.poles] == pytest.approx([p.value for p in found.poles], rel=1e-6)
    closed = control.feedback(loop).poles()
    assert all(np.abs(closed - pole.value).min() < 1e-6 * abs(pole.value) for pole in found.poles)


@settings(max_examples=8, deadline=None)
@given(
    J=st.floats(1e-5, 1e-2), R=st.floats(0.1, 5.0), crossover=st.floats(1.0, 300.0), margin=st.floats(30.0, 80.0),
    kind=st.sampled_from(["pi", "lead", "pid"]),
)  # fmt: skip
def test_a_loop_has_its_crossover_and_margin_or_is_refused(
    J: float, R: float, crossover: float, margin: float, kind: Any
) -> None:
    values = {"J": J, "R": R}
    asked: dict[str, Any] = {"inputs": ["V"], "measure": ["omega"], "reference": "0", "parameters": values}
    try:
        found = tg.design("dc_motor", kind, crossover=crossover, phase_margin=margin, **asked)
    except tg.SimulationError as refused:
        if refused.finding.code != "S462":
            raise
        return
    response = tg.analyse("dc_motor", parameters=values).bode(np.array([crossover])).response[0, 1, 0]
    s = 1j * crossover
    g = {"K_i": 0.0, "K_d": 0.0, "filter": 0.0, **found.gains}
    loop = (g["K_p"] + g["K_i"] / s + g["K_d"] * s / (g["filter"] * s + 1)) * response
    assert abs(loop) == pytest.approx(1.0, rel=1e-9)
    assert np.degrees(np.angle(-loop)) == pytest.approx(margin, abs=1e-6)
    assert all(pole.value.real < 0 for pole in found.poles)
    assert found.margins is not None
    assert found.margins.phase == pytest.approx(margin, abs=1e-6)


def test_a_quadratic_regulator_has_the_gains_of_the_riccati_equation_and_the_least_cost() -> None:
    found = tg.design("two_mass_drive", "lqr", inputs=["tau_m"], sizes={"omega_l": "5 rad/s", "tau_m": 2.0})
    model = tg.analyse("two_mass_drive").to_scipy()
    A, B, Q, R = model.A, model.B[:, :1], np.diag([0, 0, 1 / 25]), np.array([[1 / 4]])
    P = scipy.linalg.solve_continuous_are(A, B, Q, R)
    K = np.linalg.solve(R, B.T @ P)
    assert list(found.gains.values()) == pytest.approx(K[0], rel=1e-9)
    start = np.array([1.0, 0.5, -2.0])

    def cost(gains: Any) -> float:
        weights = Q + gains.T @ R @ gains
        return float(start @ scipy.linalg.solve_continuous_lyapunov((A - B @ gains).T, -weights) @ start)

    best = cost(np.array([list(found.gains.values())]))
    assert best == pytest.approx(float(start @ P @ start), rel=1e-9)
    for k in range(3):
        for factor in (0.9, 1.1):
            other = K.copy()
            other[0, k] *= factor
            assert cost(other) > best
    poles = [p.value for p in tg.analyse(found.model).poles]
    assert poles == pytest.approx([p.value for p in found.poles], rel=1e-6)


def test_poles_are_placed_about_the_point_and_a_run_goes_to_the_reference(tmp_path: Path) -> None:
    file = tmp_path / "fan.yaml"
    file.write_text(QUADRATIC)
    found = tg.design(
        file, "poles", inputs=["V"], measure=["omega"], reference="192 rad/s", poles=["-200+100j", "-200-100j"]
    )
    assert "# the supply" in found.text
    poles = tg.analyse(found.model).poles
    assert [p.value for p in poles] == pytest.approx([-200 + 100j], rel=1e-3)
    run_ = tg.simulate(found.model, rtol=1e-9)
    assert float(run_.values("omega")[-1]) == pytest.approx(192, rel=1e-5)


@pytest.mark.parametrize("how", [{"poles": [-800, -900]}, {"sizes": {"V": 0.1, "I": 3.0, "omega": "0.5 rad/s"}}])
def test_the_error_of_an_observer_dies_with_its_poles(how: dict[str, Any]) -> None:
    found = tg.design("dc_motor", "observer", inputs=["V", "tau"], measure=["omega"], **how)
    run_ = tg.simulate(found.model, initial={"I": 5.0, "omega": 30.0}, until=0.02, rtol=1e-10)
    model = tg.analyse("dc_motor").to_scipy()
    G = np.array([found.gains[f"{x} by omega"] for x in ("I", "omega")]).reshape(2, 1)
    A = model.A - G @ np.array([[0.0, 1.0]])
    assert all(np.abs(np.linalg.eigvals(A) - p.value).min() < 1e-7 * abs(p.value) for p in found.poles)
    errors = np.array([run_.values(x) - run_.values(f"{x}_estimate") for x in ("I", "omega")])
    expected = np.array([scipy.linalg.expm(A * t) @ errors[:, 0] for t in run_.t]).T
    assert np.abs(errors - expected).max() < 1e-6
    assert np.abs(errors[:, 0]).max() == 30.0


def test_a_filter_is_that_of_the_dual_riccati_equation() -> None:
    found = tg.design("dc_motor", "observer", inputs=["V"], measure=["omega"], sizes={"tau": 0.1, "omega": 0.5})
    model = tg.analyse("dc_motor").to_scipy()
    E, C = model.B[:, 1:2], np.array([[0.0, 1.0]])
    P = scipy.linalg.solve_continuous_are(model.A.T, C.T, E @ E.T * 0.01, np.array([[0.25]]))
    assert list(found.gains.values()) == pytest.approx((P @ C.T / 0.25)[:, 0], rel=1e-8)


def test_a_signal_keeps_its_name_and_its_limits() -> None:
    found = tg.design(
        "dc_motor_speed_control", "pi", inputs=["V_c"], measure=["omega_m"], reference="omega_ref", crossover="8 Hz"
    )
    assert found.model.signals["V_c"].settings.keys() >= {"limits", "K_p", "K_i"}
    assert found.margins is not None
    assert found.margins.crossovers == pytest.approx((16 * np.pi,))
    closed_loop = tg.analyse(found.model).closed_loop
    assert closed_loop is not None
    assert closed_loop.poles is not None
    assert [p.value for p in closed_loop.poles] == pytest.approx([p.value for p in found.poles], rel=1e-6)


@pytest.mark.parametrize(
    ("kind", "asked", "code", "told"),
    [
        ("pi", {"crossover": 2000.0}, "S462", "a pi turns by -90 to 0"),
        ("pi", {}, "S461", "needs a crossover"),
        ("pi", {"crossover": "3 V"}, "S303", "crossover"),
        ("pi", {"crossover": -3.0}, "S461", "-3 rad/s"),
        ("pi", {"crossover": 30.0, "phase_margin": 200.0}, "S461", "between 0 and 180"),
        ("pi", {"crossover": 30.0, "inputs": ["W"]}, "S461", "'W' is no input"),
        ("pi", {"crossover": 30.0, "measure": []}, "S461", "needs an output"),
        ("bang", {}, "S461", "no kind of controller"),
        ("lqr", {"sizes": {"omega": 1.0}}, "S461", "the size of V"),
        ("lqr", {"sizes": {"V": 1.0, "omega": -1.0}}, "S461", "positive"),
        ("lqr", {"sizes": {"V": 1.0, "omega": "1 A"}}, "S303", "omega"),
        ("poles", {"poles": [-1.0]}, "S461", "1 poles for 2 states"),
        ("poles", {"poles": ["fast", "slow"]}, "S461", "cannot be read"),
        ("poles", {"poles": ["-1+2j", "-3"]}, "S461", "cannot be placed"),
        ("observer", {}, "S461", "from its poles or from the sizes"),
        ("observer", {"sizes": {"tau": 1.0}}, "S461", "noise of omega"),
    ],
)
def test_what_cannot_be_designed_is_told(kind: Any, asked: dict[str, Any], code: str, told: str) -> None:
    with pytest.raises(tg.SimulationError) as refused:
        tg.design("dc_motor", kind, **{"inputs": ["V"], "measure": ["omega"], "reference": "1 rad/s", **asked})
    assert refused.value.finding.code == code
    assert told in str(refused.value)


def test_a_mode_out_of_reach_is_named(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO_RCS)
    with pytest.raises(tg.SimulationError, match=r"the mode 0 1/s \('v_2'\) is not moved by 'V'"):
        tg.design(file, "lqr", inputs=["V"], sizes={"V": 1.0, "v_2": 1.0})
    with pytest.raises(tg.SimulationError, match=r"the mode -1 1/s \('V_C'\) is not seen in 'v_2'"):
        tg.design(file, "observer", inputs=["V"], measure=["v_2"], poles=[-2, -3])


def test_the_command_writes_the_file_with_a_comment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "controlled.yaml"
    asked = ["design", "dc_motor", "pi", "--for", "V", "--measure", "omega", "--reference", "150 rad/s"]
    assert run([*asked, "--crossover", "60 rad/s", "-o", str(target)]) == 0
    assert "phase margin 60 degrees" in capsys.readouterr().out
    text = target.read_text()
    assert "# From V to omega: gain one at 60 rad/s, phase margin 60 degrees." in text
    assert "# armature inductance" in text
    assert tg.simulate(target).values("omega")[-1] == pytest.approx(150, rel=0.01)
    assert run([*asked, "--crossover", "60 rad/s", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gains"].keys() == {"K_p", "K_i"}


def test_what_a_model_uses_goes_with_its_controller_into_another_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Parts of parts and tables; another file in the way stays, and then nothing is written."""
    for name, text in {
        "parts/bearing.yaml": "system: B\nports: {w: w}\nnetwork: {b: {friction: [w], b: 0.01 N*m*s}}\n",
        "parts/load.yaml": "system: L\nports: {w: w}\nparts: {b: {use: bearing.yaml, ports: {w: w}}}\n"
        "network: {J: {inertia: [w], J: 0.01 kg*m^2}}\n",
        "drag.csv": "t,v\n0,0\n1,0.1\n",
        "drive.yaml": "system: Drive\nsignals: {drag: {table: {file: drag.csv, time: t, column: v}}}\nparts:\n"
        "  motor: {use: dc_motor, ports: {electrical: a, shaft: w}}\n  load: {use: parts/load.yaml, ports: {w: w}}\n"
        "network: {V: {voltage source: [a]}, T: {torque source: [w], signal: -drag*1 N*m}}\nexperiment: {until: 1 s}\n",
    }.items():
        (tmp_path / "from" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "from" / name).write_text(text, encoding="utf-8")
    asked = ["pi", "--for", "V", "--measure", "motor.omega", "--reference", "10 rad/s", "--crossover", "20 rad/s", "-o"]
    first, second = tmp_path / "to" / "first.yaml", tmp_path / "to" / "second.yaml"
    first.parent.mkdir()
    assert run(["design", str(tmp_path / "from" / "drive.yaml"), *asked, str(first)]) == 0
    assert tg.simulate(first).values("motor.omega")[-1] == pytest.approx(10, rel=0.01)
    (first.parent / "drag.csv").write_text("t,v\n0,0\n1,7\n", encoding="utf-8")
    assert run(["design", str(tmp_path / "from" / "drive.yaml"), *asked, str(second)]) == 1
    assert "drag.csv' is there already" in capsys.readouterr().err
    assert not second.exists()
