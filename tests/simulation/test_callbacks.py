"""Models in Python under the solvers in C: what their functions raise comes out, and they can be stopped."""

import os
import signal
import threading

import numpy as np
import pytest

from tellegen.causality import assign_causality
from tellegen.compiler import interpreter
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.numeric_model import NumericModel
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import Watch
from tellegen.simulation.starting import find_equilibrium

SWINGING = """
system: mass on a spring with cubic friction
network:
  m: {mass: [a], m: 1, velocity: v}
  k: {spring: [a], K: 1}
  b: {damper: [a], law: "F = 0.1 N*(v/(1 m/s))^3"}
"""


def in_python() -> NumericModel:
    return compile_model(assign_causality(lower(read_model(SWINGING))), backend="python")


def test_runs_say_that_they_run_in_python() -> None:
    found = integrate(Problem(in_python(), 5.0, y0={"v": 1.0}, rtol=1e-9))
    assert found.reason.endswith("in Python, without a C compiler")
    assert found.books is not None
    assert abs(found.books.residual) < 1e-8


def breaking(monkeypatch: pytest.MonkeyPatch, error: BaseException, calls: int) -> None:
    """Let the functions of models in Python raise an error after so many calls."""
    known, count = interpreter._PythonRoutine._evaluate, [0]

    def evaluate(*given: object) -> int:
        count[0] += 1
        if count[0] > calls:
            raise error
        return known(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(interpreter._PythonRoutine, "_evaluate", evaluate)


@pytest.mark.parametrize("solver", ["auto", "runge-kutta", "cvode", "ida", "midpoint"])
def test_an_error_in_a_function_that_a_solver_calls_is_not_lost(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    problem = Problem(in_python(), 5.0, y0={"v": 1.0}, solver=solver, step=0.1 if solver == "midpoint" else None)
    breaking(monkeypatch, ZeroDivisionError("of ours"), 40)
    with pytest.raises(ZeroDivisionError, match="of ours"):
        integrate(problem)


def test_an_error_in_a_search_for_rest_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(in_python(), 5.0, y0={"v": 1.0})
    breaking(monkeypatch, ZeroDivisionError("of ours"), 3)
    with pytest.raises(ZeroDivisionError, match="of ours"):
        find_equilibrium(problem)


def test_a_run_is_cancelled_from_outside_and_keeps_what_is_done() -> None:
    stop = threading.Event()

    def look(t: float) -> None:
        if t > 0.0:
            stop.set()

    problem = Problem(in_python(), 1e6, y0={"v": 1.0}, rtol=1e-9, times=1001)
    found = integrate(problem, Watch(progress=look, cancel=stop))
    assert found.status == "cancelled"
    assert found.steps > 0.0


def test_the_interrupt_key_ends_a_run() -> None:
    problem = Problem(in_python(), 1e6, y0={"v": 1.0}, rtol=1e-9, times=1001)
    pressed = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    # A job in the background is started with the key ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    pressed.start()
    try:
        found = integrate(problem)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.status == "cancelled"
    assert np.isfinite(found.y).all()
