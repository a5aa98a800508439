"""Chaotic motions double their errors again and again: such a run keeps its tolerance to the end, or says that it does not."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

PROMISED = 20.0

DUFFING = """
system: Two wells
network:
  F: {force source: [frame, a]}
  m: {mass: [a], m: 1 kg, velocity: v}
  d: {damper: [a, frame], b: 0.3 N*s/m}
  k: {spring: [a, frame], law: "F = -1 N/m*x + 1 N/m^3*x^3"}
SIGNALS
experiment: {initial: {x_k: 1 m}, inputs: {F: "A*cos(1.2 rad/s*t)"}}
parameters: {A: 0.5 N}
"""
SAMPLED = "signals:\n  held: {sample: v, every: 0.5 s}"

LORENZ = """
system: Convection
signals:
  x: {integral: "10*(y - x)/(1 s)", initial: 1}
  y: {integral: "(x*(28 - z) - y)/(1 s)", initial: 1}
  z: {integral: "(x*y - 8/3*z)/(1 s)", initial: START}
network:
  V: {voltage source: [a, gnd], signal: "x*1 V"}
  R: {resistor: [a, gnd], R: 1 ohm}
"""


def largest_error(model: tg.Model, until: float, rtol: float, solver: str = "auto") -> tuple[Run, float]:
    """The run, and how far it is anywhere from the finest one that there is, in tolerances of each variable."""
    # Where that one is wrong too, the two differ: errors double, whatever they were at first.
    times = np.linspace(0.0, until, 501)
    run = tg.simulate(model, until, rtol=rtol, times=times, solver=solver)
    exact = tg.simulate(model, until, rtol=1e-13, times=times, on_failure="return")
    y, wanted = run.trajectory.y, exact.trajectory.y
    size = 1e-3 * rtol + rtol * np.max(np.abs(wanted), axis=0)
    return run, float(np.max(np.abs(y - wanted) / size))


@pytest.mark.parametrize("until", [60.0, 150.0, 300.0, 500.0])
@pytest.mark.parametrize("amplitude", [0.27, 0.5])
def test_a_driven_oscillator_with_two_wells(until: float, amplitude: float) -> None:
    model = read_model(DUFFING.replace("SIGNALS", "").replace("A: 0.5", f"A: {amplitude}"))
    run, error = largest_error(model, until, 1e-6)
    assert error <= PROMISED or (run.finding is not None and run.finding.code == "S127")


@pytest.mark.parametrize("until", [100.0, 400.0])
def test_the_same_beside_a_sampler_is_compared_as_a_whole(until: float) -> None:
    run, error = largest_error(read_model(DUFFING.replace("SIGNALS", SAMPLED)), until, 1e-6)
    assert error <= PROMISED or (run.finding is not None and run.finding.code == "S127")


@pytest.mark.parametrize("start", ["0", "20", "25.5"])
@pytest.mark.parametrize(("until", "solver"), [(15.0, "auto"), (60.0, "auto"), (40.0, "cvode")])
def test_convection_rolls(start: str, until: float, solver: str) -> None:
    run, error = largest_error(read_model(LORENZ.replace("START", start)), until, 1e-6, solver)
    assert error <= PROMISED or (run.finding is not None and run.finding.code == "S127")


def test_a_regular_motion_of_many_turns_is_not_doubted() -> None:
    model = read_model(DUFFING.replace("SIGNALS", "").replace("A: 0.5", "A: 0.05"))
    run, error = largest_error(model, 500.0, 1e-6)
    assert error <= PROMISED
    assert run.finding is None
