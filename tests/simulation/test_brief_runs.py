"""Runs that are over in a moment need no thread of their own; all others can be stopped."""

from collections.abc import Callable
from concurrent.futures import Future

import pytest

from simulation.hand_written import lc_ladder, pendulum
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers import stretch
from tellegen.simulation.solvers.stretch import Watch, in_a_thread, prepare


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was run in a thread."""
    found: list[str] = []

    def counted(work: Callable[[], int]) -> Future[int]:
        found.append("run")
        return in_a_thread(work)

    monkeypatch.setattr(stretch, "in_a_thread", counted)
    return found


def test_a_brief_run_takes_no_thread(started: list[str]) -> None:
    run = integrate(Problem(lc_ladder(20), 40.0))
    assert (run.solver, run.status, started) == ("exponential", "finished", [])


def test_a_long_run_and_one_that_is_watched_take_one(started: list[str]) -> None:
    integrate(Problem(lc_ladder(20), 4e4, times=2))
    assert started == ["run"]
    integrate(Problem(lc_ladder(20), 40.0), Watch(progress=lambda _: None))
    assert started == ["run", "run"]


def test_all_runs_that_one_is_compared_with_take_the_same_thread(started: list[str]) -> None:
    run = integrate(Problem(pendulum(), 600.0, y0={"omega": 1.5}, rtol=1e-6, solver="runge-kutta"))
    assert "tolerance tightened" in run.reason, "there were several"
    assert started == ["run"]


def test_what_is_worked_out_for_a_model_serves_its_next_run() -> None:
    model = lc_ladder(20)
    first = integrate(Problem(model, 40.0))
    prepared, speed = prepare(model), model.plans["speed"]
    again = integrate(Problem(model, 40.0))
    assert prepare(model) is prepared
    assert model.plans["speed"] is speed
    assert (first.y == again.y).all()
    assert (first.solver, first.reason) == (again.solver, again.reason)
