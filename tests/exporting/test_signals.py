"""Signals that remember, maps and noise in every tool that takes them: each tool itself runs them beside our own runs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from conftest import SLOW
from exporting.firmware.boards import shares_off
from exporting.firmware.boards import written as step_in_c
from exporting.fmu.units import ROWS, exported, worst
from exporting.modelica.judged import compared
from exporting.octave import OctaveRuns, text
from exporting.python.agreement import DIGITS, differences
from tellegen.core.errors import ExportError
from tellegen.expressions.matlab import matlab_name

pytestmark = pytest.mark.usefixtures("quick_units")

RELAY = """
system: A heated tank whose thermostat follows the hour
parameters: {C: 2 mF, R: 500 ohm, P: 30 mA, low: 4 V}
network:
  heat: {current source: [gnd, a], signal: P*on}
  C: {capacitor: [a, gnd], voltage: v}
  R: {resistor: [a, gnd]}
signals:
  on: {relay: low + 1 V*sin(3 rad/s*t) - v, hysteresis: 0.6 V}
experiment: {until: 8 s}
"""
COUNTED = """
system: A mass at rest is pushed, and its swings are counted
parameters: {m: 1 kg, k: 40 N/m, d: 0.2 N*s/m}
displacements: {x: v}
network:
  F: {force source: [frame, a], signal: push}
  m: {mass: [a], velocity: v}
  k: {spring: [a, frame], force: F_k}
  d: {damper: [a, frame]}
signals:
  n: {count: x > 1 mm, reset: "t > 3 s and t < 3.5 s"}
  late: {timer: v > 0}
  peak: {hold: x, when: v < 0}
  push: step(2 N, 0.2 s) - 0.1 N*n + 0.5 N/s*late - 3 N/m*peak
experiment: {until: 6 s}
"""
MACHINE = """
system: A lift with states
parameters: {m: 2 kg, b: 3 N*s/m, top: 1 m}
displacements: {x: v}
network:
  F: {force source: [frame, a], signal: drive}
  m: {mass: [a], velocity: v}
  b: {damper: [a, frame]}
signals:
  drive:
    states:
      wait: {value: 0 N}
      up: {when: t > 0.3 s, from: wait, value: 4 N}
      rest: {when: x > top, from: up, value: 0 N}
      down: {when: v < 0.05 m/s, from: rest, after: 0.4 s, value: -3 N}
      bottom: {when: x < 0.1 m, from: down, value: -2*b*v}
experiment: {until: 6 s}
"""
CONVERTER = """
system: A converter whose switch a relay commands
parameters: {L: 1 mH, C: 100 uF, R: 5 ohm}
network:
  V: {voltage source: [p, gnd]}
  S: {switch: [p, x], control: on - 0.5}
  D: {diode: [gnd, x]}
  L: {inductor: [x, o], current: i}
  C: {capacitor: [o, gnd], voltage: v}
  R: {resistor: [o, gnd]}
signals:
  on: {relay: 9 V - v - 0.2 ohm*i, hysteresis: 1 V, initial: 1}
  n: {count: on > 0.5}
experiment: {until: 6 ms, inputs: {V: 24 V}}
"""
MAP = """
system: A motor with a map of its loss
parameters: {J: 0.1 kg*m^2, b: 0.05 N*m*s}
network:
  T: {torque source: [frame, a], signal: tau - loss}
  J: {inertia: [a], speed: omega}
  b: {friction: [a, frame]}
signals:
  tau: 2 N*m*sin(2 rad/s*t) + 1.5 N*m
  loss:
    map:
      rows: [0, 10 rad/s, 20 rad/s, 40 rad/s]
      columns: [-1 N*m, 1 N*m, 3 N*m]
      values: [[0, 0.1 N*m, 0.3 N*m], [0.1 N*m, 0.2 N*m, 0.5 N*m], [0.3 N*m, 0.3 N*m, 0.9 N*m], [0.5 N*m, 0.8 N*m, 1.4 N*m]]
    at: [omega, tau]
experiment: {until: 4 s}
"""
NOISE = """
system: A filter with noise at its input
parameters: {R: 1 kohm, C: 2 uF}
network:
  V: {voltage source: [a, gnd], signal: 1 V + n}
  R: {resistor: [a, b]}
  C: {capacitor: [b, gnd], voltage: v}
signals:
  n: {noise: 0.2 V, every: 0.7 ms, seed: 7}
experiment: {until: 20 ms}
"""
PULSES = """
system: A coil at a pulse width modulator
parameters: {R: 1 ohm, L: 2 mH}
network:
  V: {voltage source: [a, gnd], signal: u}
  R: {resistor: [a, b]}
  L: {inductor: [b, gnd], current: i}
signals:
  u: {pwm: "0.5 + 0.3*sin(200 rad/s*t) - 0.02 A^-1*i", every: 1 ms, height: 12 V}
experiment: {until: 20.3 ms}
"""
SMOOTH = MAP.replace("at: [omega, tau]", "at: [omega, tau]\n    interpolation: cubic")
AVERAGED = PULSES.replace("height: 12 V", "height: 12 V, as: averaged")

REMEMBERING = {"relay": RELAY, "counted": COUNTED, "machine": MACHINE, "converter": CONVERTER}
OTHERS = {"map": MAP, "smooth": SMOOTH, "noise": NOISE, "pulses": PULSES, "averaged": AVERAGED}
MODELS = REMEMBERING | OTHERS
QUICK = ["counted"]
"""Of the units, which take a compiler a while."""


def file_of(name: str, folder: Path) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(MODELS[name], encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "version"),
    [pytest.param(n, v, marks=() if n in QUICK and v == "2" else pytest.mark.slow) for n in MODELS for v in "23"],
)
def test_units_take_them_at_the_same_instants(name: str, version: str, tmp_path: Path) -> None:
    path = file_of(name, tmp_path)
    unit = exported(path, tmp_path, version, sources="experiment")
    assert not SLOW or unit.problems() == []
    # Rows at even shares of the whole would meet the instants of samples.
    end = 0.9871 * float(unit.description.defaultExperiment.stopTime)
    run = tg.simulate(path, until=end, rtol=1e-10, samples=ROWS, progress=False)
    shown = [n for n in unit.names("local", "output") if n in run]
    off, where = worst(run, unit.run(float(run.t[-1]), output=shown), shown)
    # Slopes of a map jump at its grid: what is told a unit's tolerance from there is that much off.
    assert off < (1e-6 if name == "converter" or name in ("map", "smooth") else 1e-8), f"'{where}' is {off:.1e} off"
    result = unit.run(float(run.t[-1]), kind="ModelExchange", output=unit.states, relative_tolerance=1e-9)
    off, where = worst(run, result, unit.states)
    assert off < 3e-6, f"'{where}' is {off:.1e} off in model exchange"


@pytest.mark.parametrize("name", [n for n in OTHERS if n != "pulses"])
def test_a_step_in_c_takes_them(name: str, tmp_path: Path) -> None:
    assert worst_in_c(name, tmp_path, 1e-5 if name in ("noise", "averaged") else 1e-3) < 1e-6


@pytest.mark.parametrize("name", ["counted", pytest.param("machine", marks=pytest.mark.slow)])
def test_a_step_in_c_finds_instants_as_closely_as_it_is_short(name: str, tmp_path: Path) -> None:
    # It looks at conditions once a step, as a program on a board does: the order of what it finds is one.
    off = [worst_in_c(name, tmp_path, h) for h in (2e-3, 5e-4, 1.25e-4)]
    assert off[0] < 0.05
    assert off[2] < off[0] / 8


def worst_in_c(name: str, folder: Path, h: float) -> float:
    path = file_of(name, folder)
    until = tg.read(path).experiment.until
    assert until is not None
    steps, every = round(until.evaluate({}) / h), 50
    step = step_in_c(path, folder / f"{h:g}", sources="experiment", step=h)
    times = np.arange(0, steps + 1, every) * h
    run = tg.simulate(path, until=steps * h * (1 + 1e-9), rtol=1e-10, times=times, progress=False)
    return max(shares_off(run, step.on_host(steps + 1, every)).values())


@pytest.mark.parametrize("of", ["numpy", "casadi"])
@pytest.mark.parametrize("name", ["map", "smooth", "averaged"])
def test_functions_of_the_present_take_maps_and_means(name: str, of: str, tmp_path: Path) -> None:
    off = differences(str(file_of(name, tmp_path)), of)
    assert max(off.values()) < DIGITS, off


@pytest.mark.parametrize("name", ["noise", *(pytest.param(n, marks=pytest.mark.slow) for n in OTHERS if n != "noise")])
def test_rumoca_takes_them(name: str, tmp_path: Path) -> None:
    until = tg.read(file_of(name, tmp_path)).experiment.until
    assert until is not None
    off = compared(tmp_path / f"{name}.yaml", tmp_path, until.evaluate({}))
    assert off
    assert max(off.values()) < 1e-5, off


def test_octave_takes_them(system_tool: Callable[[str], str], tmp_path: Path) -> None:
    names = list(OTHERS) if SLOW else ["noise"]
    cases = {name: text(name, OTHERS[name]) for name in names}
    runs = OctaveRuns(cases, tmp_path)
    for name in names:
        shown, t, values = runs.result(system_tool("octave"), name)
        run = tg.simulate(file_of(name, tmp_path), times=t, rtol=1e-10, progress=False)
        ours = {matlab_name(n): run.values(n) for n in run.names}
        compared_names = [n for n in shown if n in ours]
        assert compared_names
        for k, n in enumerate(shown):
            if n in ours and name != "pulses":
                assert np.max(np.abs(values[:, k] - ours[n])) <= 1e-6 * np.max(np.abs(ours[n])), (name, n)


@pytest.mark.parametrize("name", REMEMBERING)
@pytest.mark.parametrize("tool", ["simulink", "slx", "modelica", "python"])
def test_tools_that_do_not_find_instants_refuse_what_remembers(name: str, tool: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as refused:
        tg.export_model(file_of(name, tmp_path), tool, tmp_path / tool)
    finding = refused.value.finding
    assert finding.code == ("X401" if name == "converter" and tool != "modelica" else "X402")
    assert "fmu" in finding.fix or "replace" in finding.fix
    assert not list(tmp_path.glob(f"{tool}/*"))
