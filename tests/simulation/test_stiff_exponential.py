"""The exponential of stiff linear models: few windows, whatever the time constants, against closed forms and other solvers."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

from simulation.hand_written import explicit_model, rc_ladder
from solver_headers import LANES, NATIVE, WIDE, chebyshev_weights, exponential_poles, poles_header
from tellegen.compiler.numeric_model import BreakTimes, NumericModel, pattern_of_rows
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

Array = NDArray[np.float64]
MOST = 20.0


def linear_model(matrix: Array, source: str = "", breaks: tuple[BreakTimes, ...] = ()) -> NumericModel:
    """y' = A y + source, the source added to the rates in C."""
    n = len(matrix)
    entries = ", ".join(f"{value!r}" for value in matrix.ravel().tolist())
    product = (
        "for (int i = 0; i < NN; i++) {{ {0}[i] = 0; for (int k = 0; k < NN; k++) {0}[i] += a[i * NN + k] * {1}[k]; }}"
    )
    pattern = pattern_of_rows([np.flatnonzero(row).tolist() for row in matrix], n)
    return explicit_model(
        product.format("d", "y") + source,
        product.format("e", "v"),
        [f"x{k}" for k in range(n)],
        head=f"#define NN {n}\nstatic const double a[] = {{{entries}}};",
        pattern=pattern,
        linear=True,
        breaks=breaks,
    )


def chain(n: int, rates: Array) -> Array:
    """Diffusion between n equal stores, with the given rates of exchange."""
    matrix = np.zeros((n, n))
    for k, rate in enumerate(rates):
        matrix[k, k] -= rate
        matrix[k + 1, k + 1] -= rate
        matrix[k, k + 1] += rate
        matrix[k + 1, k] += rate
    return matrix


def error(found: Array, wanted: Array, rtol: float) -> float:
    return float(np.max(np.abs(found - wanted) / (rtol + rtol * np.abs(wanted))))


def test_the_sum_over_poles_is_the_exponential_on_the_negative_axis() -> None:
    x, z, series = -np.concatenate([[0.0], np.logspace(-4, 8, 2000)]), exponential_poles(), chebyshev_weights()
    for t in np.linspace(1 / WIDE, 1.0, 23):
        found = np.polynomial.chebyshev.chebval((t - 1 / WIDE) / (1 - 1 / WIDE) * 2 - 1, series)
        value = ((found[:LANES] + 1j * found[LANES:]) / (x[:, None] - z)).sum(axis=1).real
        assert np.max(np.abs(value - np.exp(t * x))) < 1e-10


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("n", [10, 100, pytest.param(1000, marks=pytest.mark.slow)])
def test_ladders_under_a_sine(n: int, rtol: float) -> None:
    y0 = np.arange(1.0, n + 1)
    wanted = integrate(Problem(rc_ladder(n), 10.0, y0=y0, rtol=1e-11, atol=1e-11, solver="cvode", times=101)).y
    run = integrate(Problem(rc_ladder(n), 10.0, y0=y0, rtol=rtol, atol=rtol, times=101))
    assert run.solver == "exponential"
    assert run.reason.startswith("linear and stiff")
    assert run.steps < 100
    assert error(run.y, wanted, rtol) <= MOST
    assert run.books is not None
    assert abs(run.books.residual) < 1e-8


@pytest.mark.parametrize(
    ("source", "integral"),
    [
        ("d[0] += 3;", lambda t: 3 * t),
        ("d[0] += 2 - t;", lambda t: 2 * t - t * t / 2),
        ("d[0] += 1 + 2 * sin(40 * t + 0.3);", lambda t: t + (np.cos(0.3) - np.cos(40 * t + 0.3)) / 20),
        ("", lambda t: 0 * t),
    ],
    ids=["constant", "ramp", "sine", "nothing"],
)
def test_inputs_and_a_store_that_no_loss_empties(source: str, integral: "object") -> None:
    """The sum of all stores is the integral of the source: an eigenvalue of zero beside rates up to 1e6 per second."""
    assert callable(integral)
    matrix = chain(6, np.array([1.0, 1e2, 1e4, 1e5, 1e6]))
    run = integrate(Problem(linear_model(matrix, source), 5.0, y0={"x5": 1.0}, rtol=1e-8, atol=1e-8, times=51))
    assert run.solver == "exponential"
    assert run.y.sum(axis=1) == pytest.approx(1.0 + integral(run.t), abs=2e-7)
    cvode = Problem(linear_model(matrix, source), 5.0, y0={"x5": 1.0}, rtol=1e-11, atol=1e-11, times=51, solver="cvode")
    assert error(run.y, integrate(cvode).y, 1e-8) <= MOST


def test_breaks_of_the_input_are_met() -> None:
    matrix = -np.diag([1.0, 1e3, 1e5])
    model = linear_model(
        matrix,
        "if (t >= 1) d[0] += 1; if (t >= 1.5) d[2] += 1e5 * (t - 1.5);",
        breaks=(BreakTimes(1.0), BreakTimes(1.5)),
    )
    run = integrate(Problem(model, 3.0, y0=np.ones(3), rtol=1e-7, atol=1e-9, times=31))
    assert run.solver == "exponential"
    after = np.maximum(run.t - 1.0, 0.0)
    assert run.y[:, 0] == pytest.approx(np.exp(-run.t) + 1 - np.exp(-after), abs=1e-7)
    late = np.maximum(run.t - 1.5, 0.0)
    assert run.y[5:, 2] == pytest.approx((late - (1 - np.exp(-1e5 * late)) / 1e5)[5:], abs=1e-8)


def test_slow_oscillations_beside_fast_decay() -> None:
    matrix = np.array([[-0.1, -3.0, 1.0], [3.0, -0.1, 0.0], [1.0, 0.0, -1e5]])
    run = integrate(Problem(linear_model(matrix), 10.0, y0=np.ones(3), rtol=1e-8, atol=1e-8, solver="exponential"))
    wanted = np.array([expm(t * matrix) @ np.ones(3) for t in run.t])
    assert error(run.y, wanted, 1e-8) <= MOST


def test_growth_is_not_mistaken_for_decay() -> None:
    """An active element makes a slow motion grow beside fast ones that die away."""
    matrix = np.array([[0.8, 1.0], [1.0, -1e5]])
    run = integrate(Problem(linear_model(matrix), 20.0, y0=np.ones(2), rtol=1e-7, atol=1e-7, times=41))
    wanted = np.array([expm(t * matrix) @ np.ones(2) for t in run.t])
    assert error(run.y, wanted, 1e-7) <= MOST


def test_what_has_died_away_keeps_its_digits() -> None:
    run = integrate(Problem(linear_model(-np.diag([1.0, 1e6])), 30.0, y0=np.ones(2), rtol=1e-6, atol=1e-9, times=31))
    assert run.solver == "exponential"
    assert run.y[:, 0] == pytest.approx(np.exp(-run.t), rel=1e-6, abs=1e-9)


def test_other_inputs_are_left_to_cvode() -> None:
    model = linear_model(-np.diag([1.0, 1e5]), "d[0] += exp(-t) * sin(3 * t);")
    run = integrate(Problem(model, 5.0, rtol=1e-6, atol=1e-8, times=11))
    assert run.solver == "cvode"
    assert run.status == "finished"
    assert run.y[:, 0] == pytest.approx(np.exp(-run.t) * (1 - np.cos(3 * run.t)) / 3, abs=2e-6)


def test_who_asks_for_it_is_told_why_it_cannot_go_on() -> None:
    model = linear_model(-np.diag([1.0, 1e7]), "d[0] += exp(-t) * sin(3 * t);")
    run = integrate(Problem(model, 5.0, solver="exponential"))
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code == "S115"
    assert "constants, ramps and single sines" in run.finding.what
    assert "'cvode'" in (run.finding.fix or "")


def test_who_asks_for_it_gets_the_other_one_where_that_is_no_great_work() -> None:
    model = linear_model(-np.diag([1.0, 1e3]), "d[0] += exp(-t) * sin(3 * t);")
    run = integrate(Problem(model, 5.0, solver="exponential", times=11))
    assert run.status == "finished"
    assert run.y[:, 0] == pytest.approx(np.exp(-run.t) * (1 - np.cos(3 * run.t)) / 3, abs=2e-6)


def test_many_rows_cost_no_windows() -> None:
    model = linear_model(chain(4, np.array([1.0, 1e3, 1e6])))
    few = integrate(Problem(model, 10.0, y0={"x3": 1.0}, times=11, books=False))
    many = integrate(Problem(model, 10.0, y0={"x3": 1.0}, times=10_001, books=False, solver="exponential"))
    assert few.solver == many.solver == "exponential"
    assert many.steps < few.steps + 10
    assert many.y[::1000] == pytest.approx(few.y, abs=1e-9)


def test_the_header_of_the_solver_holds_these_poles() -> None:
    """Least squares may differ in their last digits from machine to machine."""
    kept, made = (
        [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.split("= {", 1)[1])]
        for text in ((NATIVE / "poles.h").read_text(), poles_header())
    )
    assert kept == pytest.approx(made, rel=1e-6, abs=1e-9), "run tools/solver_headers.py"
