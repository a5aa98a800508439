"""Tolerances hold through thousands of events, changes of mode, samples and delays, as they do where nothing happens.

Errors are counted in tolerances beside the largest value of a variable.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

from tellegen.description import read_model
from tellegen.experiments.simulating import simulate
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
