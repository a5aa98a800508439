"""Whole runs compared with each other: how fine a run is asked for, and what is done where that fails."""

from dataclasses import replace

import numpy as np
import pytest

from simulation.hand_written import oscillator
from tellegen.simulation import global_error
from tellegen.simulation.global_error import FINEST, whole_run_within_tolerance
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.trajectory import Effort, Trajectory

ROWS = np.linspace(0.0, 10.0, 11)


class Runs:
    """Runs that swing, each `times` as far off as its tolerance; those finer than `fails` fail. `stuck` ones take as many steps."""

    def __init__(self, solver: str, times: float, fails: float = 0.0, *, stuck: bool = False) -> None:
        self.asked: list[float] = []
        self._solver, self._times, self._fails, self._stuck = solver, times, fails, stuck
        self._made = integrate(Problem(oscillator(), 10.0, y0={"v": 1.0}, times=ROWS))

    def __call__(self, problem: Problem) -> Trajectory:
        self.asked.append(problem.rtol)
        off = self._times * problem.rtol
        effort = Effort(steps=1 if self._stuck else int(1000.0 * problem.rtol**-0.2))
        made = replace(
            self._made, y=self._made.y + off, solver=self._solver, reason="asked for", effort=effort, turns=50
        )
        return replace(made, status="failed") if problem.rtol < self._fails else made

    def kept(self, rtol: float) -> Trajectory:
        return whole_run_within_tolerance(
            Problem(oscillator(), 10.0, y0={"v": 1.0}, rtol=rtol, atol=rtol, times=ROWS), self
        )


def test_a_run_within_its_tolerance_is_left_alone() -> None:
    runs = Runs("runge-kutta", 1.0)
    made = runs.kept(1e-6)
    assert runs.asked == pytest.approx([1e-6, 1e-4])
    assert made.reason == "asked for"
    assert made.finding is None


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
def test_no_run_is_asked_to_be_finer_than_rounding(solver: str) -> None:
    runs = Runs(solver, 1e5)
    made = runs.kept(1e-11)
    assert min(runs.asked) == pytest.approx(FINEST[solver])
    assert runs.asked.count(min(runs.asked)) == 1, "and there is no second try"
    assert made.finding is not None
    assert made.finding.code == "S127"


def test_a_run_that_is_as_fine_as_can_be_is_not_repeated() -> None:
    runs = Runs("runge-kutta", 1e5)
    made = runs.kept(FINEST["runge-kutta"])
    assert runs.asked == pytest.approx([1e-14, 1e-12])
    assert made.finding is not None


def test_where_a_finer_run_fails_the_last_good_one_counts() -> None:
    runs = Runs("cvode", 1e3, fails=1e-8)
    made = runs.kept(1e-6)
    assert made.status == "finished"
    assert runs.asked[-1] == pytest.approx(1e-6), "made again, for rows of one run at a time are kept"
    assert made.finding is not None
    assert "not kept" in made.finding.what


@pytest.mark.parametrize(("rtol", "finer"), [(1e-6, 1e-6 / 30.0), (1e-13, 1e-14), (1e-14, None)])
def test_where_a_coarser_run_tells_nothing_a_finer_one_does_if_there_can_be_one(
    rtol: float, finer: float | None
) -> None:
    runs = Runs("runge-kutta", 1.0, stuck=True)
    runs.kept(rtol)
    assert runs.asked == pytest.approx([rtol, 100.0 * rtol, *([] if finer is None else [finer])])


def test_a_finer_run_after_a_rough_look_at_many_events_aims_low(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first part of a run tells the error at its end roughly, and a third run costs more than some more steps."""
    asked = []
    for many in (1000, -1):
        monkeypatch.setattr(global_error, "MANY_EVENTS", many)
        runs = Runs("runge-kutta", 20.0)
        assert "tolerance tightened" in runs.kept(1e-6).reason
        asked.append(runs.asked[-1])
    assert asked[1] < 0.1 * asked[0]
