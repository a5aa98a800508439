"""Sampled signals and delayed ones, inside the compiled loop."""

import numpy as np
import pytest

from simulation.hand_written import explicit_model, sampled_integrator
from tellegen.compiler.numeric_model import NumericModel, Observable, SignalDelay
from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_sampled_controller_holds_its_value_between_samples(solver: str) -> None:
    # the first sample is taken at the start; x shrinks by a tenth of what it was in each period
    run = integrate(
        Problem(sampled_integrator(), 1.0, y0={"x": 2.0}, rtol=1e-10, solver=solver, times=np.arange(11) / 10)
    )
    assert run.y[:, 0] == pytest.approx([2.0 * 0.9**k for k in range(11)], rel=1e-9)
    assert run.memory is not None
    assert np.asarray(run.memory)[:, 0] == pytest.approx(-run.y[:, 0], rel=1e-9), (
        "a row at a sampling instant has the sample taken there"
    )


def delayed_feedback() -> NumericModel:
    """x' = -x(t - 1), x = 1 before the start: the first example of delay equations."""
    return explicit_model(
        "d[0] = -(c->past ? c->past(c->history, 0, t - 1) : 1.0);",
        "e[0] = 0;",
        ["x"],
        delays=(SignalDelay("late", 0, 1.0, 1.0),),
        observables=[Observable("x", "signal")],
        more="int tg_observe(tg_context *c, double t, const double *y, const double *yp, double *out) { out[0] = y[0]; return 0; }",
    )


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_delayed_signal_repeats_what_was(solver: str) -> None:
    run = integrate(Problem(delayed_feedback(), 3.0, y0={"x": 1.0}, rtol=1e-8, atol=1e-8, max_step=0.02, solver=solver))
    t = run.t
    # the method of steps: a polynomial on each interval of length one
    wanted = np.where(
        t <= 1, 1 - t, np.where(t <= 2, 1 - t + (t - 1) ** 2 / 2, 1 - t + (t - 1) ** 2 / 2 - (t - 2) ** 3 / 6)
    )
    assert np.max(np.abs(run.y[:, 0] - wanted)) < 1e-6


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_what_comes_back_keeps_the_tolerance(solver: str, rtol: float) -> None:
    """x' = -3 x - 2 x(t - 1), x = 1 before the start, by the method of steps."""
    model = explicit_model(
        "d[0] = -3 * y[0] - 2 * (c->past ? c->past(c->history, 0, t - 1) : 1.0);",
        "e[0] = -3 * v[0];",
        ["x"],
        delays=(SignalDelay("late", 0, 1.0, 1.0),),
        observables=[Observable("x", "signal")],
        more="int tg_observe(tg_context *c, double t, const double *y, const double *yp, double *out) { out[0] = y[0]; return 0; }",
    )
    run = integrate(Problem(model, 2.0, y0={"x": 1.0}, rtol=rtol, solver=solver, times=21))
    first = -2 / 3 + 5 / 3 * np.exp(-3 * run.t)
    s = run.t - 1.0
    second = 4 / 9 + (-2 / 3 + 5 / 3 * np.exp(-3) - 4 / 9 - 10 / 3 * s) * np.exp(-3 * s)
    assert np.max(np.abs(run.y[:, 0] - np.where(s <= 0.0, first, second))) <= 20 * rtol


SAMPLED_RAMP = """
system: A sampled ramp that comes late
parameters: {C: 1 F}
network:
  I: {current source: [gnd, a], signal: late*1 A}
  C: {capacitor: [a, gnd], voltage: V}
signals:
  seen: {sample: t/(1 s), every: 0.2 s}
  late: {delay: seen, by: 0.13 s}
experiment: {until: 3 s}
"""


def test_rows_show_what_was_sampled_last_however_many_breaks_there_are() -> None:
    run = simulate(read_model(SAMPLED_RAMP), times=np.array([0.1, 0.5, 1.5, 2.7, 2.95]), progress=False)
    np.testing.assert_allclose(run.values("seen"), [0.0, 0.4, 1.4, 2.6, 2.8], atol=1e-12)


def test_samples_that_come_back_through_a_delay_keep_the_tolerance() -> None:
    run = simulate(read_model(SAMPLED_RAMP), rtol=1e-8, times=np.array([0.0, 1.0, 2.0, 3.0]), progress=False)
    steps = np.arange(1, 16) * 0.2  # each sample adds 0.2 to what comes 0.13 s later
    wanted = [float(np.sum(0.2 * np.maximum(0.0, t - 0.13 - steps))) for t in run.t]
    np.testing.assert_allclose(run.values("V"), wanted, rtol=0, atol=2e-8)
