"""How fast the fastest motion of a model is, which decides its solver: against eigenvalues known in closed form."""

import numpy as np
import pytest

from simulation.hand_written import explicit_model, lc_ladder
from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.solvers.choice import SMALL, FastestMotion, choose, fastest_motion
from tellegen.simulation.solvers.stretch import StatePoint


def speed_of(model: NumericModel) -> FastestMotion:
    return fastest_motion(model, model.new_context(), standing(model))


def standing(model: NumericModel) -> StatePoint:
    return StatePoint(0.0, np.zeros(model.size), np.zeros(model.size))


def damped(omega: float, share: float, units: float) -> NumericModel:
    """An oscillator of a given frequency and damping, its second variable in units so many times smaller."""
    a, b = f"{omega * units!r}", f"{omega / units!r}"
    return explicit_model(
        f"d[0] = -{2.0 * share * omega!r} * y[0] - {b} * y[1]; d[1] = {a} * y[0];",
        f"e[0] = -{2.0 * share * omega!r} * v[0] - {b} * v[1]; e[1] = {a} * v[0];",
        ["x", "y"],
        linear=True,
    )


@pytest.mark.parametrize("units", [1.0, 1e-5, 1e7])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_a_swinging_pair_is_neither_faster_nor_more_damped_than_it_is(share: float, units: float) -> None:
    speed = speed_of(damped(3162.0, share, units))
    assert speed.size == pytest.approx(3162.0, rel=1e-9)
    assert speed.decay == pytest.approx(max(0.0, 2.0 * share**2 - 1.0), abs=1e-9)


def test_a_heavily_damped_pair_decays_as_fast_as_its_faster_pole() -> None:
    speed = speed_of(damped(10.0, 2.0, 1e3))
    assert speed.size == pytest.approx(20.0 + np.sqrt(300.0), rel=1e-9)
    assert speed.decay == pytest.approx(1.0)


@pytest.mark.parametrize("sections", [SMALL // 2, SMALL])
def test_small_and_large_ladders_are_judged_alike(sections: int) -> None:
    model = lc_ladder(sections)
    assert speed_of(model).size == pytest.approx(2.0, rel=0.1)
    assert choose(model, "auto", model.new_context(), standing(model), 9.0).solver == "exponential"


def test_a_slope_without_a_value_leaves_the_choice_to_a_solver_that_adapts() -> None:
    model = explicit_model("d[0] = sqrt(y[0]);", "e[0] = v[0] / (2 * sqrt(y[0]));", ["x"])
    assert speed_of(model) == FastestMotion(np.inf, 0.0)
    assert choose(model, "auto", model.new_context(), standing(model), 1.0).solver == "cvode"
