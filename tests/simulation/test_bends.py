"""Bends of formulas are located where the motion passes them, and left alone where tolerances alone move it to and fro."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from tellegen import simulate
from tellegen.notations.reading import read_model

QUADRATIC_LOSS = """
system: swing with a loss
parameters: {m: 1 kg, k: 100 N/m, c: 0.2 N*s^2/m^2}
network:
  m: {mass: [a], velocity: v, initial: 1 m/s}
  k: {spring: [a, frame]}
  d: {damper: [a, frame], law: "F = c*abs(v)*v"}
experiment: {until: 20 s}
"""
TWINS = """
system: two swings that move as one
parameters: {m: 0.3 kg, k: 100 N/m, mu: 0.2 N*s^2/m^2}
network:
  m_1: {mass: [a], m: m, velocity: v_1, initial: 1 m/s}
  k_1: {spring: [a, frame], K: k}
  c_1: {damper: [a, frame], law: "F = 0.1*v^3"}
  m_2: {mass: [c], m: 0.1 kg, velocity: v_2, initial: 1 m/s}
  k_2: {spring: [c, frame], K: k/3}
  c_2: {damper: [c, frame], law: "F = 0.1*v^3/3"}
  d:   {damper: [a, c], law: "F = mu*abs(v)*v"}
experiment: {until: 20 s}
"""
RIGID_CONTACT = """
system: block on a rigid contact
parameters: {M: 1 kg, m: 2 kg, b: 1 N*s/m, mu: 0.2, v_s: 1e-2 m/s, p: 1 kg}
network:
  F:  {force source: [frame, a]}
  M:  {mass: [a]}
  K:  {mobility: [a, c], law: v = 0, force: N}
  b:  {damper: [c, frame]}
  m:  {mass: [c]}
  Fx: {force source: [frame, x]}
  p:  {mass: [x], velocity: v_x}
  fr: {damper: [x, frame], law: F = mu*abs(N)*tanh(v/v_s)}
experiment: {until: 0.5 s, inputs: {F: "sine(0.5 N, 4 Hz)", Fx: 5 N}}
"""


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_every_bend_that_the_motion_passes_is_located(solver: str) -> None:
    run = simulate(read_model(QUADRATIC_LOSS), solver=solver)
    assert len(run.events) == 64
    at = [event.t for event in run.events]
    assert np.max(np.abs(np.interp(at, run.t, run["v"].values))) < 1e-3


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_a_bend_of_nothing_but_rounding_does_not_cut_steps(solver: str) -> None:
    """What both swings differ by is rounding, whose sign changes in every swing."""
    run = simulate(read_model(TWINS), solver=solver)
    assert float(abs(run["v_1"] - run["v_2"]).max()) < 1e-5
    assert len(run.events) < 10


def test_a_force_that_only_rates_tell_bends_once_in_a_swing() -> None:
    """The rates of the first step after a bend are not yet those that it began with, and may be on its other side."""
    run = simulate(read_model(RIGID_CONTACT))
    assert run.solver == "ida"
    assert len(run.events) == 3
    assert run.trajectory.steps < 1000


LAGS: dict[str, Callable[[float, float, float, float], float]] = {
    "max(min((u - x)/T, 40), -40)": lambda x, v, u, T: max(min((u - x) / T, 40.0), -40.0),
    "(max(min(9*(u - v), 0.4), -0.4) - x)/T": lambda x, v, u, T: (max(min(9.0 * (u - v), 0.4), -0.4) - x) / T,
    "(u - x)/T - max(x - 0.3, 0)*7/T": lambda x, v, u, T: (u - x) / T - max(x - 0.3, 0.0) * 7.0 / T,
    "(abs(u) - x)/T + min(x, 0.2)*5": lambda x, v, u, T: (abs(u) - x) / T + min(x, 0.2) * 5.0,
}
"""Rates of a lag that follows u and saturates; v is what a capacitor makes of it."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("solver", ["auto", "cvode"])
def test_a_stiff_lag_that_saturates_keeps_its_tolerance(seed: int, solver: str) -> None:
    draw = np.random.default_rng(seed)
    written, rate = list(LAGS.items())[seed % len(LAGS)]
    T, w, rtol = float(f"{10.0 ** draw.uniform(-6, -2):.3g}"), float(f"{draw.uniform(3, 40):.3g}"), 1e-6
    text = (
        "system: lag\nnetwork:\n  i: {current source: [gnd, m], signal: x*1 A}\n  C: {capacitor: [m, gnd], value: 0.2 F}\n"
        "  R: {resistor: [m, gnd], value: 1 ohm}\nsignals:\n"
        f"  u: 'sin({w}*t/(1 s))'\n  v: 'V_C/(1 V)'\n  x: {{integral: '({written.replace('T', str(T))})/(1 s)'}}\n"
    )
    times = np.linspace(0.0, 1.0, 81)
    run = simulate(read_model(text), until=1.0, times=times, rtol=rtol, solver=solver, progress=False)

    def rates(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        x, v = float(y[0]), float(y[1])
        return np.array([rate(x, v, math.sin(w * t), T), (x - v) / 0.2])

    wanted = solve_ivp(rates, (0.0, 1.0), np.zeros(2), "Radau", times, rtol=1e-9, atol=1e-12, max_step=2e-3).y
    for name, y in zip(("x", "V_C"), wanted, strict=True):
        assert np.max(np.abs(run.values(name) - y)) <= 20.0 * rtol * (1e-3 + np.max(np.abs(y)))
