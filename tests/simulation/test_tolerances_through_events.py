"""Tolerances hold through thousands of events, changes of mode, samples and delays, as they do where nothing happens.

Errors are counted in tolerances beside the largest value of a variable.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

Array = NDArray[np.float64]
MOST = 20.0


def made(text: str, rtol: float, solver: str = "auto") -> Run:
    return simulate(read_model(text), rtol=rtol, solver=solver, samples=500, progress=False)


def error(found: Array, wanted: Array, rtol: float) -> float:
    return float(np.max(np.abs(found - wanted)) / (rtol * np.max(np.abs(wanted))))


def charging(periods: int, valve: str) -> str:
    """A capacitor behind a valve that lets current through one way only, with a leak."""
    return (
        f"system: Charging\nparameters: {{C: 1 F, R: 1 ohm}}\nnetwork:\n  V: {{voltage source: [p, gnd]}}\n{valve}"
        "  C: {capacitor: [a, gnd], voltage: v}\n  leak: {resistor: [a, gnd], R: 50*R}\n"
        f'experiment: {{until: {periods} s, inputs: {{V: "sine(10 V, 1 Hz)"}}}}\n'
    )


LAW = '  R: {resistor: [p, a], law: "i = max(v_R, 0)/R", voltage: v_R}\n'
DIODE = "  R: {resistor: [p, q]}\n  D: {diode: [q, a]}\n"


@pytest.mark.parametrize(("solver", "rtol"), [("auto", 1e-4), ("auto", 1e-9), ("cvode", 1e-6), ("cvode", 1e-9)])
def test_a_law_that_bends_equals_a_diode(solver: str, rtol: float) -> None:
    """The bend is located: a step across it would mislead what is made of it, however small its error looks."""
    wanted = made(charging(100, DIODE), 1e-11)
    run = made(charging(100, LAW), rtol, solver)
    assert error(run.values("v"), wanted.values("v"), rtol) <= MOST


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_a_body_between_a_spring_and_a_stop_keeps_its_phase(solver: str, rtol: float) -> None:
    """Without losses: 0.3 m + 0.7 m cos(t) down to the stop, and the same way back."""
    text = (
        "system: Stop\nparameters: {m: 1 kg, K: 1 N/m}\ndisplacements: {h: v}\nnetwork:\n"
        "  K: {spring: [a, frame], force: F_K}\n  m: {mass: [a], velocity: v}\n"
        "  s: {hard stop: [frame, a], gap: h, restitution: 1}\n"
        "experiment: {until: 300 s, initial: {h: 1 m, F_K: 0.7 N}}\n"
    )
    run = made(text, rtol, solver)
    down = float(np.arccos(-3.0 / 7.0))
    passed = np.mod(run.t, 2.0 * down)
    wanted = 0.3 + 0.7 * np.cos(np.minimum(passed, 2.0 * down - passed))
    assert error(run.values("h"), wanted, rtol) <= MOST


def test_stick_slip_keeps_its_phase() -> None:
    text = (
        "system: Belt\nparameters: {m: 1 kg, K: 100 N/m}\nnetwork:\n  belt: {velocity source: [belt, frame]}\n"
        "  friction: {dry friction: [belt, mass], F_c: 5 N, F_s: 8 N}\n  m: {mass: [mass], velocity: v}\n"
        "  K: {spring: [mass, frame], force: F_K}\nexperiment: {until: 100 s, inputs: {belt: 0.1 m/s}}\n"
    )
    wanted = made(text, 1e-12)
    run = made(text, 1e-6, "cvode")
    assert error(run.values("F_K"), wanted.values("F_K"), 1e-6) <= MOST
    assert run.trajectory.reason.startswith("asked for; tolerance tightened ")
    assert run.trajectory.reason.endswith(" times, because errors add up over 203 events")


SWING = """
system: Swing
parameters: {{m: 1 kg, K: 1 N/m}}
network:
  F: {{force source: [frame, a], signal: f}}
  m: {{mass: [a], velocity: v}}
  K: {{spring: [a, frame], force: F_K}}
signals:
  one: step(1 N, 0 s)
  f: {block}
experiment: {{until: 600 s}}
"""


@pytest.mark.parametrize(
    ("block", "since"),
    [("{delay: one, by: 0.5 s}", 0.5), ("{sample: one, every: 0.5 s}", 0.0)],
    ids=["delay", "sample"],
)
def test_a_swing_beside_memory_keeps_its_phase(block: str, since: float) -> None:
    run = made(SWING.format(block=block), 1e-6, "cvode")
    wanted = np.where(run.t < since, 0.0, 1.0 - np.cos(run.t - since))
    assert error(run.values("F_K"), wanted, 1e-6) <= MOST


LATE_LOOP = """
system: Loop
parameters: {J: 0.01 kg*m^2, b: 0.1 N*m*s}
network:
  M: {torque source: [frame, s], signal: u}
  J: {inertia: [s], angular velocity: w}
  b: {friction: [s, frame]}
signals:
  e: step(1 rad/s, 0.1 s) - late
  late: {delay: w, by: 20 ms}
  u: {pid: e, K_p: 1.5 N*m*s, K_i: 2 N*m, K_d: 0.002 N*m*s^2, filter: 10 ms, limits: [-0.15 N*m, 0.15 N*m]}
experiment: {until: 2 s}
"""


@pytest.mark.parametrize(("solver", "rtol"), [("runge-kutta", 1e-8), ("cvode", 1e-6), ("cvode", 1e-9)])
def test_a_late_loop_at_its_limits_keeps_its_tolerance(solver: str, rtol: float) -> None:
    """The controller swings from limit to limit: each corner comes back through the delay, and steps end there."""
    wanted = made(LATE_LOOP, 1e-11, "runge-kutta")
    run = made(LATE_LOOP, rtol, solver)
    assert run.finding is None
    assert error(run.values("w"), wanted.values("w"), rtol) <= MOST


LATE_SWITCH = """
system: Late
parameters: {m: 1 kg, K: 1 N/m, d: 0.3 s}
displacements: {x: v}
network:
  F: {force source: [frame, b], signal: late}
  m_b: {mass: [b], m: m, velocity: v_b}
  m: {mass: [a], velocity: v}
  K: {spring: [a, frame], force: F_K}
signals:
  side: "if(x > 0.5 m, 1 N, 0 N)"
  late: {delay: side, by: d}
experiment: {until: 12 s, initial: {v: 1 m/s}}
"""


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_a_jump_at_an_event_comes_back_as_a_jump(solver: str) -> None:
    """x = sin(t) lies above 0.5 m in a third of each turn: a force that is 0.3 s late adds up to as much momentum."""
    run = made(LATE_SWITCH, 1e-9, solver)
    since = np.mod(run.t - 0.3 - np.pi / 6.0, 2.0 * np.pi)
    turns = np.floor((run.t - 0.3 - np.pi / 6.0) / (2.0 * np.pi))
    wanted = np.where(turns < 0, 0.0, turns * 2.0 * np.pi / 3.0 + np.minimum(since, 2.0 * np.pi / 3.0))
    assert error(run.values("v_b"), wanted, 1e-9) <= MOST


BOUNCES = """
system: Echo
parameters: {m: 1 kg, d: 2 s}
displacements: {h: v}
network:
  weight: {force source: [a, frame]}
  m: {mass: [a], velocity: v}
  s: {hard stop: [frame, a], gap: h, restitution: 0.8}
  F: {force source: [frame, b], signal: late}
  m_b: {mass: [b], m: m, velocity: v_b}
signals:
  late: {delay: 1 N*s/m*v, by: d}
experiment: {until: 5 s, initial: {h: 1 m}, inputs: {weight: 9.81 N}}
"""


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_jump_at_an_impact_comes_back_though_other_impacts_come_first(solver: str) -> None:
    """The momentum of the second body is the way of the first one, two seconds before; there are five impacts in between."""
    run = made(BOUNCES, 1e-9, solver)
    late = run.t >= 2.0
    height = np.interp(run.t[late] - 2.0, run.t, run.values("h"))
    rows = np.isin(np.round(run.t[late] - 2.0, 9), np.round(run.t, 9))
    assert np.count_nonzero(rows) > 100
    assert np.max(np.abs(run.values("v_b")[late] - (height - 1.0))[rows]) <= MOST * 1e-9


def many_valves(count: int) -> str:
    """A line of cells, each with a capacitor behind a valve of its own."""
    cells = "".join(
        f"  r{k}: {{resistor: [n{k - 1}, n{k}], R: R/{count}}}\n  s{k}: {{capacitor: [n{k}, gnd], C: 0.2*C/{count}}}\n"
        f'  d{k}: {{resistor: [n{k}, m{k}], law: "i = max(v_d{k}, 0)/R", voltage: v_d{k}}}\n'
        f"  c{k}: {{capacitor: [m{k}, gnd], C: {0.5 + k / count}*C, voltage: u{k}}}\n  l{k}: {{resistor: [m{k}, gnd], R: 4*R}}\n"
        for k in range(1, count + 1)
    )
    return (
        "system: Valves\nparameters: {R: 1 ohm, C: 1 F}\nnetwork:\n  V: {voltage source: [n0, gnd]}\n"
        f'{cells}experiment: {{until: 10 s, inputs: {{V: "sine(10 V, 0.2 Hz)"}}}}\n'
    )


def test_many_equal_laws_keep_the_tolerance_though_their_corners_are_not_located() -> None:
    """Beyond 64 members a group has no events: steps that cross a corner are as short as their error asks."""
    wanted, run = made(many_valves(70), 1e-9), made(many_valves(70), 1e-6)
    assert not run.trajectory.model.events
    assert max(error(run.values(f"u{k}"), wanted.values(f"u{k}"), 1e-6) for k in range(1, 71)) <= MOST
