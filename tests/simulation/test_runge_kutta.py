"""The explicit solver: its coefficients, its order, its interpolant and its events."""

import numpy as np
import pytest
from scipy.linalg import expm

from simulation.hand_written import decay, explicit_model, falling, oscillator, pendulum, switched_decay, van_der_pol
from solver_headers import NATIVE, tableau_header
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.coefficients import DORMAND_PRINCE_8, Row
from tellegen.simulation.solvers.library import solver
from tellegen.simulation.solvers.stretch import RunRows, SolverSettings, StatePoint, StretchEnd, prepare, run_stretch


def total(row: Row, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    return float(sum(weight * values[j] for j, weight in row.items()))


def test_stages_stand_where_their_coefficients_say() -> None:
    tableau = DORMAND_PRINCE_8
    for c, row in zip(tableau.c + tableau.dense_c, tableau.a + tableau.dense_a, strict=True):
        assert sum(row.values()) == pytest.approx(c, abs=1e-14)


@pytest.mark.parametrize("degree", range(8))
def test_weights_integrate_polynomials_of_the_order(degree: int) -> None:
    c = np.array(DORMAND_PRINCE_8.c)
    assert total(DORMAND_PRINCE_8.b, c**degree) == pytest.approx(1.0 / (degree + 1), abs=1e-14)


@pytest.mark.parametrize("degree", range(5))
def test_error_estimates_vanish_below_their_order(degree: int) -> None:
    c = np.array(DORMAND_PRINCE_8.c)
    assert total(DORMAND_PRINCE_8.error, c**degree) == pytest.approx(0.0, abs=1e-14)


def error_with_steps(h: float, until: float = 8.0) -> float:
    """Of the oscillator, with loose tolerances and the step held by `max_step`."""
    problem = Problem(oscillator(), until, y0={"v": 1.0}, rtol=0.9, atol=1e6, max_step=h, solver="runge-kutta", times=2)
    run = integrate(problem)
    return float(np.hypot(run.y[-1, 0] - np.cos(until), run.y[-1, 1] - np.sin(until)))


def test_observed_order_is_eight() -> None:
    steps = np.array([1.0, 0.8, 0.64, 0.5])
    errors = [error_with_steps(h) for h in steps]
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert order == pytest.approx(8.0, abs=0.2)


def test_rows_between_steps_are_as_good_as_steps() -> None:
    times = np.linspace(0.0, 20.0, 3001)
    run = integrate(Problem(oscillator(), 20.0, y0={"v": 1.0}, rtol=1e-9, atol=1e-9, solver="runge-kutta", times=times))
    assert run.steps < 100
    assert np.max(np.abs(run.y[:, 0] - np.cos(times))) < 20e-9
    assert np.max(np.abs(run.yp[:, 0] + np.sin(times))) < 20e-9


def test_achieved_error_stays_below_twenty_tolerances() -> None:
    for tolerance in (1e-5, 1e-7, 1e-9):
        model = van_der_pol(1.0)
        fine = integrate(Problem(model, 5.0, y0={"x": 2.0}, rtol=1e-13, atol=1e-13, solver="runge-kutta"))
        run = integrate(Problem(model, 5.0, y0={"x": 2.0}, rtol=tolerance, atol=tolerance, solver="runge-kutta"))
        assert np.max(np.abs(run.y - fine.y) / (tolerance * (1 + np.abs(fine.y)))) < 20


def crank() -> NumericModel:
    """A crank that drives a piston from rest: its inertia changes fast, and one estimate of the error passes through zero often."""
    rates = """
  const double s = sin(y[0]), k = cos(y[0]), u = 0.05 * s - 0.01, g = 1 / sqrt(0.04 - u * u), a = 0.05 * k;
  const double H = -0.05 * s - a * u * g, slope = -a + 0.05 * s * u * g - a * a * g * (1 + u * u * g * g);
  d[0] = y[1];
  d[1] = (2 - (0.01 + 0.5 * H * H + 0.3 * H * slope * y[1]) * y[1]) / (1e-3 + 0.3 * H * H);"""
    return explicit_model(rates, "(void)v; e[0] = e[1] = 0;", ["theta", "omega"])


def crank_rows(rtol: float) -> tuple[StretchEnd, RunRows]:
    """One attempt, whatever errors add up to."""
    model, rows = crank(), RunRows.at(np.linspace(0.0, 3.0, 61), 2)
    start, settings = StatePoint(0.0, np.zeros(2), np.zeros(2)), SolverSettings(rtol, np.full(2, 1e-3 * rtol))
    return run_stretch(
        solver("tg_runge_kutta"), prepare(model), model.new_context(), settings, rows, start, until=3.0
    ), rows


def test_an_estimate_that_passes_through_zero_lets_no_step_pass_that_is_too_long() -> None:
    wanted = crank_rows(1e-13)[1].y
    for rtol in 10.0 ** -np.arange(4.0, 8.0, 0.25):
        end, rows = crank_rows(float(rtol))
        off = np.max(np.abs(rows.y - wanted) / (rtol * (1e-3 + np.max(np.abs(wanted), axis=0))))
        assert off <= 20.0, "without a second run"
        assert end.effort.rejected < 0.15 * end.effort.steps


def test_books_use_the_weights_of_the_method() -> None:
    run = integrate(Problem(decay(), 3.0, y0={"x": 2.0}, rtol=1e-10, solver="runge-kutta"))
    assert run.books is not None
    assert run.books.stored_start == 2.0
    assert run.books.dissipated == pytest.approx(2.0 * (1 - np.exp(-12.0)), rel=1e-9)
    assert abs(run.books.residual) < 1e-9


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_terminal_event_ends_the_stretch_where_it_happens(solver: str) -> None:
    run = integrate(Problem(falling(terminal=True), 10.0, y0={"h": 20.0}, rtol=1e-9, solver=solver))
    wanted = np.sqrt(2 * 20.0 / 9.81)
    assert len(run.events) == 1
    assert run.events[0].t == pytest.approx(wanted, rel=1e-8)
    assert run.events[0].element == "floor"
    assert run.t[-1] <= wanted


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_other_events_are_noted_and_the_run_goes_on(solver: str) -> None:
    problem = Problem(falling(terminal=False), 10.0, y0={"h": 20.0, "v": 25.0}, rtol=1e-9, solver=solver)
    run = integrate(problem)
    assert run.status == "finished"
    assert [round(e.t, 6) for e in run.events] == [round((25.0 + np.sqrt(625.0 + 2 * 9.81 * 20.0)) / 9.81, 6)]


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_an_event_of_the_other_direction_is_not_one(solver: str) -> None:
    run = integrate(Problem(falling(terminal=True, direction=1), 5.0, y0={"h": 20.0}, solver=solver))
    assert not run.events
    assert run.status == "finished"


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "exponential"])
def test_breaks_are_met_exactly(solver: str) -> None:
    run = integrate(
        Problem(switched_decay(), 2.0, rtol=1e-10, atol=1e-12, solver=solver, times=np.array([0.5, 0.7, 2.0]))
    )
    jump = 1 - np.exp(-0.7)
    assert run.y[:, 0] == pytest.approx([1 - np.exp(-0.5), jump, 3 + (jump - 3) * np.exp(-1.3)], rel=1e-8)
    assert run.yp[1, 0] == pytest.approx(3.0 - jump, rel=1e-8), "a row at a break has the rate after it"
    assert run.books is not None
    assert abs(run.books.residual) < 1e-8


def test_a_step_is_that_of_the_tableau() -> None:
    """Sums written out in C against the coefficients themselves, one step of a nonlinear model."""
    tableau, h, y = DORMAND_PRINCE_8, 0.5, np.array([1.0, 0.5])
    slopes: list[np.ndarray[tuple[int], np.dtype[np.float64]]] = []
    for row in tableau.a:
        omega, theta = y + h * sum((value * slopes[j] for j, value in row.items()), np.zeros(2))
        slopes.append(np.array([-np.sin(theta), omega]))
    wanted = y + h * sum((value * slopes[j] for j, value in tableau.b.items()), np.zeros(2))
    model, rows = pendulum(), RunRows.at(np.array([h]), 2)
    settings = SolverSettings(0.9, np.full(2, 1e6), first_step=h)
    end = run_stretch(
        solver("tg_runge_kutta"),
        prepare(model),
        model.new_context(),
        settings,
        rows,
        StatePoint(0.0, y, np.zeros(2)),
        until=h,
    )
    assert end.effort.steps == 1
    assert end.standing.y == pytest.approx(wanted, rel=1e-14)


def test_the_header_of_the_solver_is_that_of_the_tableau() -> None:
    assert (NATIVE / "dormand_prince.h").read_text() == tableau_header(DORMAND_PRINCE_8), "run tools/solver_headers.py"


def test_rows_stay_good_where_stability_limits_the_step() -> None:
    # A fast motion follows a slow one. Steps would grow to the edge of the region of stability, where the interpolant magnifies
    # what is left of the fast motion a hundred times.
    matrix = np.array([[-30.0, 30.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    model = explicit_model(
        "d[0] = 30 * (y[1] - y[0]); d[1] = -y[2]; d[2] = y[1];",
        "e[0] = 30 * (v[1] - v[0]); e[1] = -v[2]; e[2] = v[1];",
        ["x", "a", "b"],
    )
    start = np.array([-1.0, 0.5, 1.0])
    run = integrate(Problem(model, 6.0, y0=start, rtol=1e-8, atol=1e-8, times=601, solver="runge-kutta"))
    wanted = np.array([expm(matrix * t) @ start for t in run.t])
    assert run.steps < 100, "most of the time is slow"
    assert np.max(np.abs(run.y - wanted)) <= 20e-8
