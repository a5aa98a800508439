"""Responses: numbers of runs as functions of arrays, and their slopes beside differences of fine runs."""

import pickle
from collections.abc import Sequence

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError

RTOL = 1e-6
PROMISED = 20.0


def differences(model: str, by: Sequence[str], of: Sequence[str], at: np.ndarray) -> np.ndarray:
    """Central differences of runs with a tolerance near rounding."""
    fine = tg.response(model, by=by, of=of, rtol=1e-12, threads=1)
    steps = 1e-5 * np.where(at == 0.0, 1.0, np.abs(at))
    sides = np.concatenate([at + np.diag(steps), at - np.diag(steps)])
    found = fine(sides)
    return np.asarray((found[: len(at)] - found[len(at) :]).T / (2.0 * steps))


@pytest.mark.parametrize(
    ("model", "by", "of"),
    [
        ("dc_motor_pump", ["R_a", "K_m", "Q_0"], ["I_a", "max(I_a)", "mean(P_0)", "rms(I_a)", "at(omega_m, 0.1 s)"]),
        ("crank_rod", ["b_m", "m_p", "omega"], ["omega", "theta", "integral(power.b_m)", "max(omega)"]),
        ("dc_motor_speed_control", ["K_p"], ["omega_m", "max(omega_m)"]),
        ("quarter_car", ["K_s", "b_s"], ["max(v_s)", "min(v_u)"]),
    ],
)
def test_slopes_agree_with_differences_of_fine_runs(model: str, by: list[str], of: list[str]) -> None:
    asked = tg.response(model, by=by, of=of, rtol=1e-8, threads=1)
    at = np.where(asked.base == 0.0, 0.5, asked.base)
    values, slopes = asked.slopes(at)
    expected = differences(model, by, of, at)
    # Differences of runs that keep 1e-12 over a step of 1e-5 know seven digits, and extremes are found to 1e-8 of themselves.
    sizes = np.abs(values)[:, None] / np.where(at == 0.0, 1.0, np.abs(at)) + np.abs(expected)
    assert (np.abs(slopes - expected) <= 2e-5 * sizes).all(), (slopes, expected)
    assert (np.abs(values - asked(at)) == 0.0).all()


def test_a_response_gives_a_row_for_each_point_and_counts_runs() -> None:
    asked = tg.response("dc_motor_pump", by=["R_a", "K_m"], of=["max(I_a)", "omega_m"])
    found = asked(np.array([[0.5, 0.15], [0.4, 0.15], [0.5, 0.15]]))
    assert found.shape == (3, 2)
    assert (found[0] == found[2]).all()
    assert asked.runs == 3
    assert asked([0.5, 0.15]).tolist() == found[0].tolist()
    assert asked.units == ("A", "rad/s")


def test_a_pickled_response_gives_the_same_bits() -> None:
    asked = tg.response("crank_rod", by=["b_m", "m_p"], of=["omega"], parameters={"J_m": 0.02})
    points = np.array([[0.02, 0.5], [0.03, 0.4]])
    found = asked(points)
    again = pickle.loads(pickle.dumps(asked))
    assert again(points).tobytes() == found.tobytes()


def test_runs_that_fail_give_numbers_that_are_none_and_slopes_say_why() -> None:
    asked = tg.response("dc_motor_pump", by=["J_m"], of=["omega_m"])
    found = asked([[1e-3], [-1e-3]])
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()
    with pytest.raises(TellegenError):
        asked.slopes([-1e-3])


def test_bad_responses_are_refused() -> None:
    for by, of in (([], ["omega_m"]), (["R_a"], []), (["R_x"], ["omega_m"]), (["R_a"], ["omega_x"])):
        with pytest.raises(TellegenError):
            tg.response("dc_motor_pump", by=by, of=of)
    asked = tg.response("dc_motor_pump", by=["R_a"], of=["omega_m"])
    with pytest.raises(TellegenError):
        asked([[1.0, 2.0]])
    with pytest.raises(TellegenError):
        asked([["a"]])
    assert asked(np.zeros((0, 1))).shape == (0, 1)
