"""Run files integrate the same model as we do: Octave runs them, one process for all, and every signal agrees."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from exporting.octave import ROWS, Case, OctaveRuns, example, text
from support.amount import SLOW, every
from tellegen import examples
from tellegen.experiments.simulating import simulate
from tellegen.expressions.matlab import matlab_name
from tellegen.results import Run

TOLERANCE = 1e-6
ABSOLUTE = 1e-9
"""What a residual of rounding errors may differ: the gap of a closed loop, a force that is zero."""

TABLES = """
system: Tables
parameters: {R: 2 ohm, C: 0.1 F}
network:
  V: {voltage source: [a, gnd], signal: low + high + curved}
  R: {resistor: [a, b]}
  C: {capacitor: [b, gnd], voltage: V_C}
signals:
  low:    {table: [[0, 0], [0.2, 1], [0.7, -1]]}
  high:   {table: [[0, 1], [0.5, 3]], interpolation: previous}
  curved: {table: [[0, 0], [1, 4], [3, 5], [4, 5]], at: 2*t + V_C, interpolation: cubic}
experiment: {until: 1 s}
"""

SAMPLED_LATE = """
system: Samples of several kinds
parameters: {L: 0.1 H, R: 1 ohm}
network:
  V: {voltage source: [a, gnd], signal: slow*1 ohm - 0.5 ohm*fast}
  R: {resistor: [a, b]}
  L: {inductor: [b, gnd], current: I}
signals:
  slow: {sample: 1 A - I, every: 0.07 s, offset: 0.033 s, initial: 2 A}
  fast: {sample: slow + I, every: 0.02 s}
experiment: {until: 0.24 s}  # an instant at which one of them is sampled
"""

UNKNOWN = """
system: Algebraic unknown
parameters: {C: 0.5 F, R: 2 ohm}
network:
  V: {voltage source: [a, gnd]}
  N: {resistor: [a, b], law: "V = 1 ohm*I + 0.2 ohm/A^2*I^3"}
  R: {resistor: [b, gnd]}
  M: {resistor: [b, c], law: "V = 1 ohm*I + 0.1 ohm/A^2*I^3"}
  C: {capacitor: [c, gnd], voltage: V_C}
experiment: {until: 2 s, inputs: {V: 3 V}}
"""

STEEP = """
system: Steep laws in a loop
network:
  V:   {voltage source: [a, gnd], signal: V_0}
  R:   {resistor: [a, b], R: 1 kohm}
  N:   {resistor: [b, c], law: "i = 6 mA*tanh(1e4*v/(1 V))", voltage: v_N, current: i_N}
  D:   {resistor: [c, gnd], law: "i = 1e-12 A*(exp(v/(25.85 mV)) - 1)", voltage: v_D, current: i_D}
  R_3: {resistor: [c, gnd], R: 1 kohm}
  R_2: {resistor: [b, d], R: 1 kohm}
  C:   {capacitor: [d, gnd], C: 1 uF, voltage: v_C}
signals: {V_0: 100 V*sin(1000*t/(1 s))}
experiment: {until: 10 ms}
"""

FOLLOWING_A_SOURCE = """
system: Capacitor beside a source
parameters: {C: 1 mF, R: 10 ohm, L: 0.1 H}
network:
  V: {voltage source: [a, gnd]}
  C: {capacitor: [a, gnd]}
  R: {resistor: [a, b]}
  L: {inductor: [b, gnd], current: I_L}
experiment: {until: 0.1 s, inputs: {V: "sine(5, 50 Hz)"}}
"""

SOURCE_READ = """
system: Signal of the current of a source
parameters: {C: 1 mF, R: 10 ohm, L: 0.1 H}
network:
  V: {voltage source: [a, gnd], current: I_V}
  C: {capacitor: [a, gnd]}
  R: {resistor: [a, b]}
  L: {inductor: [b, gnd], current: I_L}
signals: {twice: 2 * I_V}
experiment: {until: 0.1 s, inputs: {V: "sine(5, 50 Hz)"}}
"""

CHOICES = """
system: Orifice both ways
parameters: {C: 1 F, k: 2 A, U: 1 V}
network:
  I: {current source: [gnd, a]}
  C: {capacitor: [a, gnd], voltage: V_C}
  N: {resistor: [a, gnd], law: "I = if(V > 0 V, k*(sqrt(1 + V/U) - 1), k*(1 - sqrt(1 - V/U)))"}
experiment: {until: 3 s, inputs: {I: "sine(9, 0.5 Hz)"}}
"""

AWKWARD_NAMES = """
system: "quote ' percent % and a {brace}"
parameters: {end: 2 ohm, tg_x: 0.1 F, norm: 3}
network:
  zeros: {voltage source: [a, gnd]}
  end:   {resistor: [a, b], R: end}
  tg_x:  {capacitor: [b, gnd], C: tg_x, voltage: tg_now}
experiment: {until: 1 s, inputs: {zeros: norm}}
"""

STATIC = """
system: Divider
parameters: {R: 2 ohm}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, gnd]}
signals: {twice: 2*V_R}
experiment: {until: 1 s, inputs: {V: "sine(1, 1 Hz)"}}
"""

SWITCHED_CAPACITORS = """
system: Capacitors joined twice
parameters: {C_1: 1 mF, C_2: 3 mF, R: 100 ohm}
network:
  C_1: {capacitor: [a, gnd], voltage: V_1}
  R_1: {resistor: [a, gnd], R: R}
  S:   {switch: [a, b], closed: [0.03 s, 0.06 s, 0.1 s]}
  C_2: {capacitor: [b, gnd], voltage: V_2}
experiment: {until: 0.15 s, initial: {V_1: 10 V}}
"""

RECTIFIER = """
system: Rectifier
parameters: {C: 1 mF, R: 50 ohm, L: 10 mH}
network:
  V:   {voltage source: [p, n]}
  D_1: {diode: [p, q]}
  D_2: {diode: [n, q]}
  D_3: {diode: [gnd, p]}
  D_4: {diode: [gnd, n]}
  L:   {inductor: [q, plus], current: I_L}
  C:   {capacitor: [plus, gnd], voltage: V_C}
  R:   {resistor: [plus, gnd]}
experiment: {until: 25 ms, inputs: {V: "sine(10, 50 Hz)"}}
"""

COLLISION = """
system: Two masses that meet
parameters: {m_1: 1 kg, m_2: 3 kg, K: 40 N/m}
displacements: {x_1: v_1, x_2: v_2}
network:
  m_1: {mass: [a], velocity: v_1}
  m_2: {mass: [b], velocity: v_2}
  K:   {spring: [b, frame]}
  hit: {hard stop: [a, b], gap: x_2 - x_1, restitution: 0.9}
  end: {hard stop: [frame, a], gap: x_1 + 0.3 m, K: 800 N/m, b: 2 N*s/m}
experiment: {until: 4 s, initial: {x_2: 0.5 m, v_1: 1 m/s}}
"""

SAMPLED_SWITCH = """
system: Hysteresis by samples
parameters: {C: 1 mF, R: 10 ohm}
network:
  V: {voltage source: [a, gnd]}
  S: {switch: [a, b], control: 3 V - held}
  R: {resistor: [b, c]}
  C: {capacitor: [c, gnd], voltage: V_C}
  G: {resistor: [c, gnd], R: 4*R}
signals:
  held: {sample: V_C, every: 3 ms}
experiment: {until: 39 ms, inputs: {V: 5 V}}  # an instant at which samples are taken
"""

DELAYS = """
system: Delayed feedback
parameters: {C: 1 mF, R: 10 ohm, w: 300 rad/s}
network:
  V: {voltage source: [a, gnd], signal: u}
  R: {resistor: [a, c]}
  C: {capacitor: [c, gnd], voltage: V_C}
signals:
  seen:  {sample: V_C, every: 7.1 ms}
  late:  {delay: 2*V_C + 1 V*sin(w*t), by: 4.3 ms, initial: 1 V}
  later: {delay: late + 1 V, by: 6.1 ms}
  u:     step(5 V, 2.2 ms) - later - seen
experiment: {until: 40 ms}
"""

STIFF_DELAY = """
system: Delay in a stiff circuit
parameters: {C_1: 1 uF, C_2: 1 mF, R: 1 ohm}
network:
  V:   {voltage source: [a, gnd], signal: u}
  R_1: {resistor: [a, b], R: R}
  C_1: {capacitor: [b, gnd], voltage: V_1}
  R_2: {resistor: [b, c], R: 100*R}
  C_2: {capacitor: [c, gnd], voltage: V_2}
signals:
  late: {delay: V_2, by: 30 ms}
  u:    3 V - 4*late
experiment: {until: 0.2 s}
"""

STIFF_ROWS = """
system: A stiff circuit beside a state with a constant rate
parameters: {C_1: 1 uF, C_2: 1 mF, R: 1 ohm, C_3: 2 mF, w: 30 rad/s}
network:
  V:   {voltage source: [a, gnd], signal: u}
  R_1: {resistor: [a, b], R: R*cos(pi/5)}
  C_1: {capacitor: [b, gnd], voltage: V_1}
  R_2: {resistor: [b, c], R: 100*R}
  C_2: {capacitor: [c, gnd], voltage: V_2}
  I:   {current source: [gnd, d]}
  C_3: {capacitor: [d, gnd], voltage: V_3}
signals:
  held: {sample: V_2 - 0.1*V_3, every: 30 ms}
  u:    3 V*sin(w*t)^2 - held
experiment: {until: 0.2 s, inputs: {I: 20 mA}}
"""

DELAYED_INPUT = """
system: A delayed sine without a state
parameters: {R: 10 ohm, omega: 400 rad/s}
network:
  V: {voltage source: [a, gnd], signal: u}
  R: {resistor: [a, gnd]}
signals:
  w: sin(omega*t)
  d: {delay: w, by: 1.3 ms}
  u: d*5 V + step(2 V, 10 ms)
experiment: {until: 40 ms}
"""

DELAYED_SWITCH = """
system: A switch that reacts late
parameters: {C: 1 mF, R: 10 ohm}
network:
  V: {voltage source: [a, gnd]}
  S: {switch: [a, b], control: 3 V - late}
  R: {resistor: [b, c]}
  C: {capacitor: [c, gnd], voltage: V_C}
  G: {resistor: [c, gnd], R: 4*R}
signals:
  late: {delay: V_C, by: 2.3 ms}
experiment: {until: 60 ms, inputs: {V: 5 V}}
"""

PLAIN_TEXTS = {
    "tables": TABLES,
    "sampled_late": SAMPLED_LATE,
    "unknown": UNKNOWN,
    "steep": STEEP,
    "following_a_source": FOLLOWING_A_SOURCE,
    "source_read": SOURCE_READ,
    "choices": CHOICES,
    "awkward_names": AWKWARD_NAMES,
    "static": STATIC,
    "delays": DELAYS,
    "stiff_delay": STIFF_DELAY,
    "stiff_rows": STIFF_ROWS,
    "delayed_input": DELAYED_INPUT,
}
TEXTS_WITH_MODES = {
    "switched_capacitors": SWITCHED_CAPACITORS,
    "rectifier": RECTIFIER,
    "collision": COLLISION,
    "sampled_switch": SAMPLED_SWITCH,
    "delayed_switch": DELAYED_SWITCH,
}
TEXTS = PLAIN_TEXTS | TEXTS_WITH_MODES
WITH_MODES = [*TEXTS_WITH_MODES, "bouncing_ball", "buck_converter", "clutch_drive", "stick_slip"]
EXAMPLES = [e.name for e in examples()]


@pytest.fixture(scope="module")
def octave_runs(tmp_path_factory: pytest.TempPathFactory) -> OctaveRuns:
    cases: dict[str, Case] = {name: text(name, TEXTS[name]) for name in (TEXTS if SLOW else [*TEXTS][::2])}
    cases |= {name: example(name) for name in (EXAMPLES if SLOW else EXAMPLES[::4])}
    return OctaveRuns(cases, tmp_path_factory.mktemp("octave"))


@pytest.mark.parametrize("name", [*every(2, [*TEXTS]), *every(4, EXAMPLES)])
def test_octave_integrates_the_run_file_to_our_trajectory(
    name: str, octave_runs: OctaveRuns, system_tool: Callable[[str], str]
) -> None:
    ours = assert_agreement(octave_runs, system_tool("octave-cli"), name)
    if name in WITH_MODES:
        assert len(ours.events) >= 2, "a run through one mode shows little"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_octave_integrates_whole_experiments_to_our_trajectory(
    name: str, tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    assert_agreement(OctaveRuns({name: example(name, whole=True)}, tmp_path), system_tool("octave-cli"), name)


def assert_agreement(runs: OctaveRuns, octave: str, name: str) -> Run:
    """Compare every signal of a run of Octave with our own run, which it gives."""
    names, t, values = runs.result(octave, name)
    case = runs.cases[name]
    ours = simulate(case.model, until=case.until, times=t, rtol=1e-10)
    known = {matlab_name(signal): signal for signal in ours.names}
    assert len(t) == ROWS
    for column, written in enumerate(names):
        expected = np.asarray(ours.values(known[written]))
        allowed = TOLERANCE * np.abs(expected).max() + ABSOLUTE
        assert np.abs(values[:, column] - expected).max() <= allowed, f"{written} of {name}"
    return ours


def test_stiff_programs_compute_once_what_parameters_decide_and_take_states_in_columns() -> None:
    program = text("stiff_rows", STIFF_ROWS).files["stiff_rows_run.m"]
    once = program[program.index("function tg_p = tg_constants") :].partition("\nend\n")[0]
    blocks = program[program.index("function [tg_dx, tg_y") :].partition("\nend\n")[0]
    assert "cos(pi/5)" in once
    assert "cos" not in blocks
    assert "q_C_1 = tg_x(1, :);" in blocks
    assert "I + tg_o" in blocks  # a rate that stays is as many numbers as there are states
    assert "tg_dx = tg_blocks(tg_times, tg_states" in program
    delayed = text("stiff_delay", STIFF_DELAY).files["stiff_delay_run.m"]
    assert "for tg_i = 1:numel(tg_times)" in delayed  # what is remembered is asked for one by one


def test_a_delayed_signal_is_what_it_was(octave_runs: OctaveRuns, system_tool: Callable[[str], str]) -> None:
    names, t, values = octave_runs.result(system_tool("octave-cli"), "delayed_input")
    late = np.where(t < 1.3e-3, 0.0, np.sin(400 * (t - 1.3e-3)))
    np.testing.assert_allclose(values[:, names.index("d")], late, rtol=0, atol=1e-9)
    np.testing.assert_allclose(values[:, names.index("V")], 5 * late + np.where(t < 0.01, 0, 2), rtol=0, atol=1e-8)
