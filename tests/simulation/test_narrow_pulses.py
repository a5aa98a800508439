"""Pulses that are far narrower than a step, by formulas and by Python functions: every solver meets each of them."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.compiler.enclosures import awakenings, zeros_of
from tellegen.expressions import parse
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

UNTIL = 10.0
SOLVERS = ("exponential", "runge-kutta", "cvode", "ida", "auto")
LOW_PASS = """
system: Low pass
parameters: {tau: 1 s, at: 5 s, w: 1 ms}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: tau/(1 uF)}
  C: {capacitor: [b, gnd], C: 1 uF}
"""
PULSES: dict[str, Callable[[float], float]] = {
    "1e3*exp(-({x})^2)": lambda x: 1e3 * math.exp(-(x**2)),
    "1e3/(1 + ({x})^2)": lambda x: 1e3 / (1 + x**2),
    "1e3*(1 + tanh({x}))": lambda x: 1e3 * (1 + math.tanh(x)),
    "1e3*exp(-abs({x}))": lambda x: 1e3 * math.exp(-abs(x)),
    "if(({x})^2 < 1, 1e3, 0)": lambda x: 1e3 * (x * x < 1),
}


def exact(pulse: str, at: float, width: float, tau: float, times: np.ndarray) -> np.ndarray:
    """The answer of the low pass by quadrature, in pieces that resolve the pulse and what is remembered of it."""
    course = PULSES[pulse]
    spread = at + width * np.array(
        [-1e4, -1e3, -100, -20, -8, -5, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 5, 8, 20, 100, 1e3, 1e4]
    )
    ends = np.unique(np.clip(np.concatenate([spread, times, np.arange(0.0, UNTIL, tau)]), 0.0, UNTIL))
    nodes, weights = np.polynomial.legendre.leggauss(24)
    known, v = {0.0: 0.0}, 0.0
    for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        t = low + (high - low) * (nodes + 1) / 2
        u = np.array([course((s - at) / width) for s in t.tolist()])
        part = (high - low) / (2 * tau) * float(np.sum(weights * u * np.exp(-(high - t) / tau)))
        v = v * math.exp(-(high - low) / tau) + part
        known[high] = v
    return np.array([known[t] for t in times.tolist()])


def voltage(course: object, tau: float, solver: str, times: np.ndarray, **more: float) -> Run:
    given = {"tau": tau, **more}
    return tg.simulate(read_model(LOW_PASS), UNTIL, parameters=given, inputs={"V": course}, solver=solver, times=times)


@settings(max_examples=10)
@given(
    st.sampled_from(sorted(PULSES)),
    st.floats(0.5, 9.5),
    st.floats(-5.0, -1.0),
    st.floats(-2.0, 1.0),
    st.sampled_from(SOLVERS),
    st.integers(5, 300),
)
@example("1e3*exp(-({x})^2)", 5.0331, -4.0, 0.0, "cvode", 101)
@example("1e3*exp(-({x})^2)", 1.35299, -0.84, -2.19, "cvode", 295)
@example("1e3*(1 + tanh({x}))", 8.848, -4.22, -2.0, "exponential", 213)
@example("1e3/(1 + ({x})^2)", 3.0, -5.0, 0.0, "ida", 12)
def test_a_pulse_of_a_formula(pulse: str, at: float, width: float, tau: float, solver: str, rows: int) -> None:
    w, memory, times = 10.0**width, 10.0**tau, np.linspace(0.0, UNTIL, rows)
    course = f"1 V*({pulse.format(x='(t - at)/w')})"
    found = voltage(course, memory, solver, times, at=at, w=w).values("V_C")
    wanted = exact(pulse, at, w, memory, times)
    # The pulse itself is between rows: what it leaves at its end is what tolerances are shares of.
    size = max(float(np.max(np.abs(wanted))), 1e3 * min(1.0, w / memory))
    assert np.max(np.abs(found - wanted)) <= 20.0 * (1e-9 + 1e-6 * size)


def high_for_a_moment(t: float) -> float:
    return 1e3 if 5.0331 <= t < 5.0341 else 0.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_function_that_tells_its_breaks(solver: str) -> None:
    times = np.linspace(0.0, UNTIL, 12)
    run = voltage(tg.course(high_for_a_moment, breaks=[5.0331, 5.0341]), 1.0, solver, times)
    wanted = np.where(times < 5.034, 0.0, 1e3 * (np.exp(5.0341) - np.exp(5.0331)) * np.exp(-times))
    assert run.values("V_C") == pytest.approx(wanted, abs=2e-5)
    assert not [finding for finding in run.notices if finding.code == "S307"]


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=4)
@given(st.floats(0.1, 9.0), st.floats(2e-3, 0.5))
def test_a_function_that_does_not_is_looked_at_and_it_is_said(solver: str, at: float, width: float) -> None:
    times = np.linspace(0.0, UNTIL, 40)
    run = voltage(lambda t: 1e3 if at <= t < at + width else 0.0, 1.0, solver, times)
    end = np.clip(times, at, at + width)
    wanted = 1e3 * (np.exp(end - times) - np.exp(at - times)) * (times > at)
    assert run.values("V_C") == pytest.approx(wanted, abs=2e-5 * 1e3 * width)
    (notice,) = [finding for finding in run.notices if finding.code == "S307"]
    assert "looked at every 0.001 s" in notice.what


def test_switches_beyond_all_bounds_are_told() -> None:
    course = "if(sin(2*pi*1 MHz*t + t^2/(1 s^2)) > 0.9, 1 V, 0 V)"
    model = read_model(LOW_PASS)
    few = tg.simulate(model, 0.002, parameters={"tau": 1.0}, inputs={"V": course}, samples=10)
    assert not [finding for finding in few.notices if finding.code == "S308"]
    assert few.values("V_C")[-1] == pytest.approx(0.002 * math.acos(0.9) / math.pi, rel=0.01)


@given(st.floats(0.1, 0.9), st.floats(-6.0, -2.0))
def test_a_rest_ends_where_a_pulse_begins(at: float, width: float) -> None:
    w = 10.0**width
    stops = awakenings(parse(f"exp(-((t - {at!r})/{w!r})^2)"), "t", 0.0, 1.0)
    inside = stops[np.abs(stops - at) < 2.0 * w]
    assert len(inside) >= 5, "and on its way"
    assert len(stops) < 60
    assert len(awakenings(parse(f"sin({1 / at!r}*t)"), "t", 0.0, 100.0)) < 60


def test_as_many_zeros_as_there_are() -> None:
    found = zeros_of(parse("sin(t) - 0.999"), "t", 0.0, 2.0 * math.pi * 30_000)
    assert len(found.places) == 60_000
    part = zeros_of(parse("sin(t) - 0.999"), "t", 0.0, 2.0 * math.pi * 30_000, most=4096)
    assert part.reached < 2.0 * math.pi * 30_000
    assert part.places == pytest.approx(found.places[found.places <= part.reached])
