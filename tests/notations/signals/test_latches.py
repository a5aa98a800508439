"""Relays, counters, timers and machines with states: their instants keep the tolerance, alone, with switches and in other tools."""

import math
from pathlib import Path

import fmpy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import DescriptionError, ExportError, SimulationError
from tellegen.notations.reading import read_model

pytestmark = pytest.mark.usefixtures("quick_units")

HOUSE = """system: a room with a thermostat
network:
  P: {heat source: [ambient, room], signal: 2 kW*on}
  C: {heat capacity: [room], C: 100 kJ/K, initial: 17.5 K}
  G: {thermal conductor: [room, ambient], G: 60 W/K}
signals:
  on: {relay: 20 K - T_C, hysteresis: 1 K}
  n: {count: on > 0.5}
  late: {timer: on > 0.5}
  peak: {hold: t, when: on < 0.5}
experiment: {until: 2 h}
"""
SWITCHED = """system: a switch that a relay commands
network:
  V: {voltage source: [a], signal: 10 V}
  S: {switch: [a, b], control: on}
  R: {resistor: [b, c], R: 10 ohm}
  C: {capacitor: [c], C: 1 mF}
  G: {resistor: [c], R: 30 ohm}
signals:
  on: {relay: 5 V - V_C, hysteresis: 1 V}
  n: {count: on > 0.5}
experiment: {until: 200 ms}
"""
MACHINE = """system: a tank that a machine fills and empties
network:
  Q: {flow source: [tank, p], signal: q}
  C: {accumulator: [p], C: 1e-6 m^3/Pa}
signals:
  q: {states: {wait: {when: P_C < 0.2 Pa, from: empty, value: 0}, fill: {when: t > 0, from: wait, after: 2 s, value: 1e-6 m^3/s},
      empty: {when: P_C > 1 Pa, from: fill, value: -2e-6 m^3/s}}}
experiment: {until: 10 s}
"""


def heating_time(first: float, last: float, target: float) -> float:
    """From one temperature to another towards a target, with the time constant C/G."""
    return 1e5 / 60 * math.log((target - first) / (target - last))


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_a_thermostat_switches_where_a_calculation_by_hand_says(solver: str) -> None:
    run = tg.simulate(read_model(HOUSE), solver=solver, rtol=1e-9, samples=500, progress=False)
    up, down = heating_time(19.5, 20.5, 2000 / 60), heating_time(20.5, 19.5, 0.0)
    first = heating_time(17.5, 20.5, 2000 / 60)
    changes = run.t[1:][np.diff(run.values("on")) != 0]
    expected, t = [], first
    while t < 7200:
        expected.append(t)
        t += down if len(expected) % 2 else up
    assert len(expected) == len(changes)
    assert changes == pytest.approx(expected, abs=7200 / 500)
    assert run.values("n")[-1] == 1 + len(expected) // 2
    # What was held at the instants themselves is as exact as the run.
    assert run.values("peak")[-1] == pytest.approx(expected[2 * ((len(expected) - 1) // 2)], rel=1e-7)
    on = run.values("on") > 0.5
    begun = [0.0, *expected[1::2]]
    wanted = [t - max(b for b in begun if b <= t) for t in run.t[on]]
    assert run.values("late")[on] == pytest.approx(wanted, abs=1e-4)
    assert not run.values("late")[~on].any()


@settings(max_examples=5)
@given(st.floats(0.05, 3), st.floats(20, 400), st.floats(300, 5000), st.booleans())
def test_the_tolerance_holds_through_all_instants(width: float, G: float, P: float, stiff: bool) -> None:
    text = HOUSE.replace("1 K}", f"{width:.4f} K}}").replace("60 W/K", f"{G:.3f} W/K").replace("2 kW", f"{P:.2f} W")
    model = read_model(text)
    solver = "cvode" if stiff else "auto"
    fine = tg.simulate(model, until=3600, rtol=1e-9, samples=20, progress=False)
    run = tg.simulate(model, until=3600, rtol=1e-6, samples=20, progress=False, solver=solver)
    # A temperature of some 20 K, errors of switching times among it.
    assert np.max(np.abs(run.values("T_C") - fine.values("T_C"))) < 1e-3
    assert run.values("n")[-1] == fine.values("n")[-1]


PUSHED = """system: a body at rest is pushed
parameters: {m: 1 kg, k: 40 N/m}
displacements: {x: v}
network:
  F: {force source: [frame, a], signal: push}
  m: {mass: [a], velocity: v}
  k: {spring: [a, frame]}
signals:
  moving: {timer: v > 0}
  away: {timer: x > 0}
  push: step(2 N, 0.2 s)
experiment: {until: 0.4 s}
"""


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_a_condition_that_leaves_zero_becomes_true_at_once(solver: str) -> None:
    # The speed leaves zero by its rate, the place by the rate of its rate: neither passes zero.
    run = tg.simulate(read_model(PUSHED), solver=solver, rtol=1e-9, samples=40, progress=False)
    expected = pytest.approx(np.maximum(run.t - 0.2, 0), abs=1e-9)
    assert run.values("moving") == expected
    assert run.values("away") == expected


def test_a_relay_commands_a_switch() -> None:
    model = read_model(SWITCHED)
    fine = tg.simulate(model, rtol=1e-11, samples=50, progress=False)
    run = tg.simulate(model, samples=50, progress=False)
    assert run.values("V_C") == pytest.approx(fine.values("V_C"), abs=1e-5)
    # Charging through 10 ohm against 30 ohm, discharging through 30 ohm.
    up = 7.5e-3 * math.log((7.5 - 4.5) / (7.5 - 5.5))
    period = up + 30e-3 * math.log(5.5 / 4.5)
    first = 7.5e-3 * math.log(7.5 / (7.5 - 5.5))
    assert run.values("n")[-1] == 1 + math.floor((0.2 - first + up) / period)


def test_a_machine_with_states_takes_turns() -> None:
    run = tg.simulate(read_model(MACHINE), samples=1000, progress=False)
    state = {0.0: 0, 1e-6: 1, -2e-6: 2}
    at = [state[round(float(q), 9)] for q in run.values("q")]
    changes = [(float(t), new) for t, old, new in zip(run.t[1:], at, at[1:], strict=False) if old != new]
    # Two seconds of waiting, one of filling, 0.4 s of emptying.
    wanted = [(2.0, 1), (3.0, 2), (3.4, 0), (5.4, 1), (6.2, 2), (6.6, 0), (8.6, 1), (9.4, 2), (9.8, 0)]
    assert [new for _, new in changes] == [new for _, new in wanted]
    assert [t for t, _ in changes] == pytest.approx([t for t, _ in wanted], abs=0.011)


def test_a_model_is_written_and_read_again() -> None:
    for text in (HOUSE, SWITCHED, MACHINE):
        model = read_model(text)
        again = read_model(tg.to_yaml(model))
        assert {n: s.settings for n, s in again.signals.items()} == {n: s.settings for n, s in model.signals.items()}


def test_conditions_keep_the_units_that_their_author_wrote() -> None:
    lines = "{idle: {value: 0}, heat: {from: [idle], when: T_C < 18 K, after: 120 s, value: 0.5}}"
    model = read_model(HOUSE.replace("on: {relay: 20 K - T_C, hysteresis: 1 K}", f"on: {{states: {lines}}}"))
    assert lines in tg.to_yaml(model)


def test_python_calls_say_the_same() -> None:
    net = tg.Network("a tank that a machine fills and empties")
    net.add("flow source", "Q", "tank", "p", signal="q")
    net.add("accumulator", "C", "p", C="1e-6 m^3/Pa")
    net.signal(
        "q",
        states={
            "wait": {"when": "P_C < 0.2 Pa", "from": "empty", "value": 0},
            "fill": {"when": "t > 0", "from": "wait", "after": "2 s", "value": "1e-6 m^3/s"},
            "empty": {"when": "P_C > 1 Pa", "from": "fill", "value": "-2e-6 m^3/s"},
        },
    )
    assert net.model().signals["q"].settings == read_model(MACHINE).signals["q"].settings


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (HOUSE, "ModelExchange"),
        pytest.param(HOUSE, "CoSimulation", marks=pytest.mark.slow),
        pytest.param(SWITCHED, "ModelExchange", marks=pytest.mark.slow),
        pytest.param(SWITCHED, "CoSimulation", marks=pytest.mark.slow),
    ],
)
def test_units_of_other_tools_change_at_the_same_instants(text: str, kind: str, tmp_path: Path) -> None:
    model = read_model(text)
    tg.export_model(model, "fmu", tmp_path / "u", sources="experiment", variables=["n"])
    (path,) = (tmp_path / "u").glob("*.fmu")
    until = 7200.0 if text is HOUSE else 0.2
    found = fmpy.simulate_fmu(str(path), stop_time=until, output_interval=until / 20, fmi_type=kind)
    run = tg.simulate(model, samples=20, rtol=1e-9, progress=False)
    # At a communication point within an event's rounding either side counts.
    assert found["n"][-1] == run.values("n")[-1]
    if text is HOUSE:
        at = [np.searchsorted(found["time"], t - 1e-6) for t in run.t]
        assert found["T_C"][at] == pytest.approx(run.values("T_C"), abs=2e-3)


@pytest.mark.parametrize("tool", ["simulink", "modelica", "python"])
def test_tools_without_latches_refuse_them(tool: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as told:
        tg.export_model(read_model(HOUSE), tool, tmp_path / "x")
    assert told.value.code == "X402"
    assert "'on'" in told.value.what


def test_slopes_are_refused_where_instants_move() -> None:
    with pytest.raises(SimulationError) as told:
        tg.sensitivities(read_model(HOUSE), ["G"])
    assert told.value.code == "S126"


def test_states_that_follow_each_other_without_time_are_told() -> None:
    text = MACHINE.replace("P_C < 0.2 Pa", "t >= 0").replace("P_C > 1 Pa", "t >= 0").replace(", after: 2 s", "")
    with pytest.raises(SimulationError) as told:
        tg.simulate(read_model(text.replace("t > 0", "t >= 0")), progress=False)
    assert told.value.code == "S179"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("on: {relay: 20 K - T_C}", "D510"),
        ("on: {relay: 20 K - T_C, hysteresis: 1 V}", "D122"),
        ("on: {relay: 20 K - T_C, hysteresis: 1 K, hight: 2}", "D100"),
        ("on: {count: T_C >}", "D001"),
        ("on: {states: {a: {}}}", "D511"),
        ("on: {states: {a: {}, b: {}}}", "D510"),
        ("on: {states: {a: {}, b: {when: T_C > 1 K, from: c}}}", "D511"),
        ("on: {states: {a: {}, b: {when: T_C > 1 K, value: 2}}}", "D510"),
        ("on: {states: {a: {}, b: {when: T_C > 1 V}}}", "D122"),
    ],
)
def test_slips_are_told(line: str, code: str) -> None:
    text = HOUSE.replace("on: {relay: 20 K - T_C, hysteresis: 1 K}", line)
    with pytest.raises(DescriptionError) as told:
        read_model(text)
    assert told.value.code == code, told.value
