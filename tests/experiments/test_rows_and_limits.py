"""Rows that show what happens between even times, settings that make no sense, and functions that fail on the way."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError


def test_rows_show_the_ripple_of_a_converter() -> None:
    """Even rows fall on the instants at which the current rests; the peak (V - V_C)*d*T/L stands at the switching instants."""
    run = tg.simulate("buck_converter", "2 ms", rtol=1e-8)
    late = run.t > 1.9e-3
    current, voltage = run.values("I_L")[late], run.values("V_C")[late]
    peak = (12 - voltage.mean()) * 0.4 * 10e-6 / 100e-6
    assert current.max() == pytest.approx(peak, rel=0.01)  # the voltage still falls a little
    assert current.min() == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("name", ["bouncing_ball", "clutch_drive", "stick_slip"])
def test_rows_beside_changes_rise_in_time_and_hold_the_even_ones(name: str) -> None:
    run, even = tg.simulate(name), tg.simulate(name, samples=1000)
    assert np.all(np.diff(run.t) > 0)
    assert len(even.t) == 1001
    assert np.isin(even.t, run.t).all()
    for state in even.state_names:
        same = np.isin(run.t, even.t)
        assert run.values(state)[same] == pytest.approx(even.values(state), nan_ok=True)


def test_the_speed_before_and_after_the_first_impact() -> None:
    run = tg.simulate("bouncing_ball", rtol=1e-9)
    impact = next(happening for happening in run.events if happening.what == "impact")
    after = int(np.searchsorted(run.t, impact.t))
    before, speed = run.values("v")[after - 1 : after + 1]
    assert run.t[after] == impact.t
    assert before == pytest.approx(-np.sqrt(2 * 9.81), rel=1e-6)
    assert speed == pytest.approx(-0.8 * before, rel=1e-6)


def test_a_tolerance_of_zero_is_refused() -> None:
    with pytest.raises(SimulationError, match="the relative tolerance is 0"):
        tg.simulate("rlc", rtol=0.0)


def test_half_a_sample_is_refused() -> None:
    with pytest.raises(SimulationError, match=r"samples is 2\.5"):
        tg.simulate("rlc", samples=2.5)  # type: ignore[arg-type]


def test_times_in_two_dimensions_are_refused() -> None:
    with pytest.raises(SimulationError, match="the output times have 2 dimensions"):
        tg.simulate("rlc", times=[[0.0, 1e-3]])


def test_a_tolerance_for_nothing_is_refused_with_modes_too() -> None:
    with pytest.raises(SimulationError, match="a tolerance is given for 'I_X'"):
        tg.simulate("buck_converter", "0.1 ms", atol={"I_X": 1e-9})
    assert tg.simulate("buck_converter", "0.1 ms", atol={"I_L": 1e-9}).status == "finished"


def _dies(t: float) -> float:
    return 1 / (1 if t < 5e-3 else 0)


def _is_no_number(t: float) -> float:
    return 1.0 if t < 5e-3 else float("nan")


@pytest.mark.parametrize("solver", ["auto", "runge-kutta", "cvode"])
@pytest.mark.parametrize(
    ("course", "why"), [(_dies, "ZeroDivisionError: division by zero"), (_is_no_number, "it is nan")]
)
def test_a_function_that_fails_on_the_way_ends_the_run_there(solver: str, course: object, why: str) -> None:
    run = tg.simulate("rlc", inputs={"V": course}, solver=solver, on_failure="return")
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.what == f"the Python function of the input V gives no number at t = 0.005 s: {why}"
    assert run.t[-1] == pytest.approx(5e-3, abs=2e-5)


def test_nothing_is_printed_when_steps_become_too_short(capfd: pytest.CaptureFixture[str]) -> None:
    tg.simulate("rlc", inputs={"V": _is_no_number}, solver="cvode", on_failure="return")
    assert capfd.readouterr() == ("", "")
