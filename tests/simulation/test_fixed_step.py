"""Methods that keep their step: order two, and an energy that drifts at the level of rounding only."""

import numpy as np
import pytest

from simulation.hand_written import decay, explicit_model, implicit_diode, oscillator, pendulum, switched_decay
from tellegen.core.errors import SimulationError
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

ROUNDING = np.finfo(float).eps


def test_midpoint_keeps_a_quadratic_energy() -> None:
    steps = 100_000
    run = integrate(Problem(oscillator(), 0.1 * steps, y0={"v": 1.0}, solver="midpoint", step=0.1, times=51))
    energy = 0.5 * np.sum(run.y**2, axis=1)
    assert run.steps == steps
    # errors of rounding add up like a random walk: some square roots of the number of steps
    assert np.max(np.abs(energy / 0.5 - 1.0)) < 10 * ROUNDING * np.sqrt(steps)


def test_discrete_gradient_keeps_any_energy() -> None:
    steps = 20_000
    run = integrate(Problem(pendulum(), 0.1 * steps, y0={"omega": 1.9}, solver="discrete-gradient", step=0.1, times=51))
    energy = 0.5 * run.of("omega") ** 2 + 1 - np.cos(run.of("theta"))
    assert run.steps == steps
    assert np.max(np.abs(energy / energy[0] - 1.0)) < 1000 * ROUNDING


def test_midpoint_alone_does_not_keep_that_energy() -> None:
    run = integrate(Problem(pendulum(), 200.0, y0={"omega": 1.9}, solver="midpoint", step=0.1, times=201))
    energy = 0.5 * run.of("omega") ** 2 + 1 - np.cos(run.of("theta"))
    assert np.max(np.abs(energy / energy[0] - 1.0)) > 1e-6


@pytest.mark.parametrize("solver", ["midpoint", "discrete-gradient"])
def test_observed_order_is_two(solver: str) -> None:
    fine = integrate(
        Problem(pendulum(), 4.0, y0={"omega": 1.5}, rtol=1e-12, atol=1e-12, solver="runge-kutta", times=2)
    ).y[-1]
    steps = np.array([0.1, 0.05, 0.025, 0.0125])
    errors = []
    for step in steps:
        run = integrate(Problem(pendulum(), 4.0, y0={"omega": 1.5}, solver=solver, step=float(step), times=2))
        errors.append(float(np.max(np.abs(run.y[-1] - fine))))
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("solver", ["midpoint", "discrete-gradient"])
def test_books_close_to_rounding_with_losses_and_sources(solver: str) -> None:
    run = integrate(Problem(switched_decay(), 2.0, y0={"x": 4.0}, solver=solver, step=0.01))
    assert run.status == "finished"
    assert run.books is not None
    assert run.books.supplied > 0.0
    assert abs(run.books.residual) < 1e-12


def test_discrete_gradient_keeps_the_books_of_a_hard_spring() -> None:
    # x' = -F(q), q' = x with F = q + q^3 and a damper: stored energy of fourth degree
    model = explicit_model(
        "d[0] = -y[1] - y[1] * y[1] * y[1] - 0.1 * y[0]; d[1] = y[0];",
        "e[0] = -v[1] - 3 * y[1] * y[1] * v[1] - 0.1 * v[0]; e[1] = v[0];",
        ["x"],
        balance="power[1] = 0.1 * y[0] * y[0]; power[4] = 0.5 * y[0] * y[0] + 0.5 * y[1] * y[1] + 0.25 * pow(y[1], 4);",
        displacements=("q",),
    )
    run = integrate(Problem(model, 20.0, y0={"q": 2.0}, solver="discrete-gradient", step=0.02))
    assert run.books is not None
    assert abs(run.books.residual) < 1e-11
    fine = integrate(Problem(model, 20.0, y0={"q": 2.0}, rtol=1e-10, atol=1e-10, solver="cvode"))
    assert np.max(np.abs(run.y - fine.y)) < 5e-2


def test_rows_between_steps_are_interpolated() -> None:
    run = integrate(Problem(decay(1.0), 1.0, y0={"x": 1.0}, solver="midpoint", step=0.05, times=201))
    assert np.max(np.abs(run.y[:, 0] - np.exp(-run.t))) < 2e-4


def test_implicit_models_are_advanced_too() -> None:
    fine = integrate(Problem(implicit_diode(), 2.0, rtol=1e-10, atol=1e-10)).y[-1]
    run = integrate(Problem(implicit_diode(), 2.0, solver="midpoint", step=1e-3))
    assert run.status == "finished"
    assert run.y[-1] == pytest.approx(fine, rel=1e-5)


def test_a_step_is_needed() -> None:
    with pytest.raises(SimulationError, match="keeps its step, and none is given") as raised:
        integrate(Problem(oscillator(), 1.0, solver="midpoint"))
    assert raised.value.code == "S122"
    assert "0.001 s" in raised.value.finding.fix
