"""The exponential of linear models, against closed forms and an independent exponential."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.sparse import csr_array
from scipy.sparse.linalg import expm_multiply

from simulation.hand_written import decay, explicit_model, lc_ladder, oscillator
from tellegen.compiler.numeric_model import NumericModel, pattern_of_rows
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem


def ladder_matrix(n: int, loss: float) -> "csr_array[np.float64]":
    matrix = np.zeros((2 * n, 2 * n))
    for k in range(n):
        matrix[k, n + k] = -1.0
        if k:
            matrix[k, n + k - 1] = 1.0
        matrix[n + k, k] = 1.0
        if k < n - 1:
            matrix[n + k, k + 1] = -1.0
        matrix[n + k, n + k] = -loss - (k == n - 1)
    return csr_array(matrix)


@pytest.mark.parametrize("loss", [0.0, 0.05])
@pytest.mark.parametrize("n", [3, 20, 200])
def test_ladders_with_a_step_input(n: int, loss: float) -> None:
    until = 2.0 * n
    run = integrate(Problem(lc_ladder(n, loss=loss), until, rtol=1e-10, solver="exponential", times=7))
    inside = np.zeros((2 * n + 1, 2 * n + 1))
    inside[: 2 * n, : 2 * n] = ladder_matrix(n, loss).toarray()
    inside[0, 2 * n] = 1.0
    start = np.zeros(2 * n + 1)
    start[-1] = 1.0
    for t, y in zip(run.t, run.y, strict=True):
        wanted = expm_multiply(csr_array(inside) * t, start, traceA=0.0)[: 2 * n]
        assert y == pytest.approx(wanted, abs=1e-11)
    assert run.books is not None
    assert abs(run.books.residual) < 1e-6


def test_rows_may_be_dense_or_none() -> None:
    model = lc_ladder(10)
    many = integrate(Problem(model, 30.0, solver="exponential", times=3001))
    few = integrate(Problem(model, 30.0, solver="exponential", times=np.array([30.0])))
    assert many.y[-1] == pytest.approx(few.y[-1], abs=1e-12)
    assert many.y[1500] == pytest.approx(integrate(Problem(model, 15.0, solver="exponential")).y[-1], abs=1e-12)


@pytest.mark.parametrize(
    ("source", "particular"),
    [
        ("sin(3 * t)", lambda t: (np.sin(3 * t) * 2 - 3 * np.cos(3 * t) + 3 * np.exp(-2 * t)) / 13),
        ("t * t * t", lambda t: t**3 / 2 - 3 * t**2 / 4 + 3 * t / 4 - 3 / 8 + 3 / 8 * np.exp(-2 * t)),
        ("2.5", lambda t: 1.25 * (1 - np.exp(-2 * t))),
    ],
    ids=["sine", "polynomial", "constant"],
)
def test_inputs_of_every_shape(source: str, particular: "object") -> None:
    assert callable(particular)
    model = explicit_model(f"d[0] = {source} - 2 * y[0];", "e[0] = -2 * v[0];", ["x"], linear=True)
    run = integrate(Problem(model, 6.0, rtol=1e-10, atol=1e-10, solver="exponential"))
    assert run.y[:, 0] == pytest.approx(particular(run.t), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("rows", [10, 1000, 20000])
@pytest.mark.parametrize("decay_rate", [1.0, 10.0, 100.0])
def test_sines_are_answered_to_the_last_digits_asked_however_long_the_steps(decay_rate: float, rows: int) -> None:
    # steps end at rows: long, short and very short ones beside the time constant
    a, w = decay_rate, 7.0
    model = explicit_model(f"d[0] = {a} * (sin({w} * t) - y[0]);", f"e[0] = -{a} * v[0];", ["x"], linear=True)
    run = integrate(Problem(model, 1.0, rtol=1e-12, atol=1e-13, solver="exponential", times=rows + 1))
    t, size = run.t, a / (a * a + w * w)
    wanted = size * (a * np.sin(w * t) - w * np.cos(w * t) + w * np.exp(-a * t))
    assert np.all(np.abs(run.y[:, 0] - wanted) <= 20 * (1e-13 + 1e-12 * np.abs(wanted)))


def test_a_short_pulse_in_a_long_run_is_seen() -> None:
    model = explicit_model("d[0] = exp(-1e4 * (t - 5.1) * (t - 5.1)) - y[0];", "e[0] = -v[0];", ["x"], linear=True)
    run = integrate(Problem(model, 10.0, rtol=1e-8, atol=1e-10, solver="exponential"))
    area = np.sqrt(np.pi / 1e4)
    assert run.y[-1, 0] == pytest.approx(area * np.exp(-(10.0 - 5.1) + 0.25e-4), rel=1e-6)


def test_units_of_very_different_size_do_not_matter() -> None:
    # 1 nH and 1 uF: raw entries 1e9 and 1e6, a frequency of 3e7 rad/s
    model = explicit_model(
        "d[0] = -1e9 * y[1]; d[1] = 1e6 * y[0] - 1e3 * y[1];",
        "e[0] = -1e9 * v[1]; e[1] = 1e6 * v[0] - 1e3 * v[1];",
        ["i", "u"],
        linear=True,
    )
    until = 1e-5
    run = integrate(Problem(model, until, y0={"u": 1.0}, rtol=1e-9, atol=1e-12, solver="exponential", times=11))
    wanted = expm(until * np.array([[0, -1e9], [1e6, -1e3]])) @ np.array([0.0, 1.0])
    assert run.y[-1] == pytest.approx(wanted, rel=1e-9, abs=1e-11)
    assert run.steps < 20


def test_a_model_without_motion_stays() -> None:
    model = explicit_model("d[0] = 0; d[1] = 3;", "e[0] = 0; e[1] = 0;", ["x", "z"], linear=True)
    run = integrate(Problem(model, 2.0, y0={"x": 7.0}, solver="exponential"))
    assert run.y[-1] == pytest.approx([7.0, 6.0], rel=1e-12)


def test_strong_decay_loses_no_digits() -> None:
    model = decay(50.0)
    fast = integrate(Problem(model, 1.0, y0={"x": 1.0}, rtol=1e-9, atol=1e-14, solver="runge-kutta"))
    assert fast.y[-1, 0] == pytest.approx(np.exp(-50.0), abs=1e-13)
    linear = explicit_model("d[0] = -50 * y[0];", "e[0] = -50 * v[0];", ["x"], linear=True)
    run = integrate(Problem(linear, 1.0, y0={"x": 1.0}, solver="exponential"))
    assert run.y[:, 0] == pytest.approx(np.exp(-50.0 * run.t), rel=1e-9)


def test_energy_of_a_lossless_model_is_kept() -> None:
    run = integrate(Problem(oscillator(), 1e4, y0={"v": 1.0}, solver="exponential"))
    energy = 0.5 * np.sum(run.y**2, axis=1)
    assert np.max(np.abs(energy - 0.5)) < 1e-11


def many_oscillators(balance: str, loss: float = 0.0) -> NumericModel:
    """Sixteen coils and capacitors of one second a radian, side by side; a source of 1 V drives the first pair."""
    first = f"d[0] = 1 - y[1] - {loss} * y[0]; d[1] = y[0];"
    others = "for (int k = 2; k < 32; k += 2) { d[k] = -y[k + 1]; d[k + 1] = y[k]; }"
    return explicit_model(
        f"{first} {others}",
        f"e[0] = -v[1] - {loss} * v[0]; e[1] = v[0]; {others.replace('d[', 'e[').replace('y[', 'v[')}",
        [f"x_{k}" for k in range(32)],
        balance=balance,
        pattern=pattern_of_rows([(k, k ^ 1) for k in range(32)], 32),
        linear=True,
    )


LINE = "power[0] = y[0]; power[4] = 0.5 * (y[0] * y[0] + y[1] * y[1]);"


def test_supplied_energy_of_a_constant_source_is_exact() -> None:
    run = integrate(Problem(many_oscillators(LINE), 30.0, rtol=1e-3, solver="exponential", times=4))
    assert run.books is not None
    assert run.books.supplied == pytest.approx(1.0 - np.cos(30.0), abs=1e-13)


def test_a_small_loss_beside_a_large_supply_is_not_taken_for_a_straight_line() -> None:
    run = integrate(
        Problem(many_oscillators(LINE + "power[1] = 1e-9 * y[0] * y[0];", 1e-9), 30.0, solver="exponential", times=4)
    )
    assert run.books is not None
    assert run.books.dissipated == pytest.approx(1e-9 * (15.0 - np.sin(60.0) / 4.0), rel=1e-6)


def test_a_source_that_no_state_feels_may_change_with_time() -> None:
    unseen = "power[0] += cos(t) * cos(t); power[1] = cos(t) * cos(t);"
    run = integrate(Problem(many_oscillators(LINE + unseen), 30.0, solver="exponential", times=4))
    assert run.books is not None
    assert run.books.dissipated == pytest.approx(15.0 + np.sin(60.0) / 4.0, rel=1e-6)
    assert run.books.supplied == pytest.approx(1.0 - np.cos(30.0) + 15.0 + np.sin(60.0) / 4.0, rel=1e-6)
