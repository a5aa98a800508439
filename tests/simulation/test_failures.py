"""Wrong problems are refused with a word, and a run that fails on the way keeps what it has."""

import threading
import time

import numpy as np
import pytest

from simulation.hand_written import decay, explicit_model, hires, implicit_diode, oscillator, pendulum, van_der_pol
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import SimulationError
from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import Watch


def explosion() -> NumericModel:
    """x' = x^2: infinite at t = 1 from x = 1."""
    return explicit_model("d[0] = y[0] * y[0];", "e[0] = 2 * y[0] * v[0];", ["x"])


def shrinking() -> NumericModel:
    """x' = -1 / sqrt(x): no law below zero, which is reached at t = 2/3 from x = 1."""
    return explicit_model(
        "d[0] = -1 / sqrt(y[0]);", "e[0] = 0.5 / (y[0] * sqrt(y[0])) * v[0];", ["x"], variables=("flow",)
    )


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"solver": "cvod"}, "S103", "there is no solver 'cvod'"),
        ({"rtol": 0.0}, "S104", "the relative tolerance is 0"),
        ({"rtol": float("nan")}, "S104", "the relative tolerance is nan"),
        ({"atol": 0.0}, "S104", "the absolute tolerance of 'x' is 0"),
        ({"atol": {"x": -1.0}}, "S104", "the absolute tolerance of 'x' is -1"),
        ({"atol": {"y": 1.0}}, "S116", "a tolerance is given for 'y', which is not a variable"),
        ({"max_step": 0.0}, "S104", "the largest step is 0"),
        ({"until": 0.0}, "S105", "the run ends at t = 0 s and starts at t = 0 s"),
        ({"until": float("inf")}, "S105", "the run ends at t = inf s"),
        ({"times": np.array([0.5, 0.2])}, "S106", "output time 0.2 s stands after 0.5 s"),
        ({"times": np.array([0.5, 1.2])}, "S106", "output times reach from 0.5 s to 1.2 s"),
        ({"y0": {"x": float("nan")}}, "S107", "the initial value of 'x' is nan"),
        ({"y0": {"X": 1.0}}, "S116", "an initial value is given for 'X'"),
        ({"y0": np.zeros(2)}, "S116", "2 initial values are given for 1 variables"),
        ({"parameters": {"k": float("nan")}}, "S107", "parameter 'k' is nan"),
        ({"solver": "exponential"}, "S115", "the model is not linear with constant coefficients"),
        ({"solver": "midpoint", "step": -1.0}, "S122", "the step is -1"),
        ({"step": 0.01}, "S128", "a step of 0.01 s is given, and the solver 'auto' chooses its own steps"),
        ({"solver": "cvode", "step": 0.01}, "S128", "the solver 'cvode' chooses its own steps"),
    ],
)
def test_a_problem_that_makes_no_sense_is_refused(change: dict[str, object], code: str, words: str) -> None:
    given: dict[str, object] = {"until": 1.0} | change
    with pytest.raises(SimulationError, match=words) as raised:
        integrate(Problem(decay(), **given))  # type: ignore[arg-type]
    assert raised.value.code == code
    assert raised.value.finding.fix


def test_the_nearest_solver_is_offered() -> None:
    with pytest.raises(SimulationError) as raised:
        integrate(Problem(decay(), 1.0, solver="runge kutta"))
    assert raised.value.finding.fix == "did you mean 'runge-kutta'?"


def test_an_input_without_a_value_is_named() -> None:
    model = explicit_model("d[0] = c->inputs[0];", "e[0] = 0;", ["x"], inputs=("V_a",))
    with pytest.raises(SimulationError, match="nothing says what 'V_a' does") as raised:
        integrate(Problem(model, 1.0))
    assert raised.value.code == "S121"
    assert integrate(Problem(model, 1.0, inputs={"V_a": 2.0})).y[-1, 0] == pytest.approx(2.0)


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "auto"])
def test_a_start_outside_the_domain_of_a_law(solver: str) -> None:
    with pytest.raises(SimulationError, match=r"at the start \(t = 0 s\) 'flow' is not a finite number") as raised:
        integrate(Problem(shrinking(), 1.0, y0={"x": -1.0}, solver=solver))
    assert raised.value.code == "S108"


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "auto"])
def test_a_law_without_a_value_on_the_way_is_named_with_its_time(solver: str) -> None:
    run = integrate(Problem(shrinking(), 1.0, y0={"x": 1.0}, solver=solver, times=101))
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code in {"S109", "S110", "S112"}
    assert "at t = 0.666" in run.finding.what
    assert run.t[-2] == pytest.approx(0.66)
    assert run.t[-1] == pytest.approx(2 / 3, abs=2e-5)  # and a row where it ends
    assert run.y[50, 0] == pytest.approx((1 - 1.5 * run.t[50]) ** (2 / 3), rel=1e-4)


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_solution_that_grows_without_bound_stops_there(solver: str) -> None:
    run = integrate(Problem(explosion(), 2.0, y0={"x": 1.0}, solver=solver, times=201))
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code in {"S109", "S110", "S112"}
    assert "'x'" in run.finding.what
    assert 0.98 < run.t[-1] <= 1.0 + 1e-6


def test_a_stiff_model_on_the_explicit_solver_says_so() -> None:
    run = integrate(Problem(van_der_pol(1e-6), 2.0, y0={"x": 2.0}, solver="runge-kutta"))
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code == "S114"
    assert "'cvode'" in run.finding.fix


def test_the_automatic_choice_changes_over_when_a_stretch_turns_stiff() -> None:
    # not stiff at the start, a thousand times faster from t = 1 on
    model = explicit_model(
        "d[0] = y[1]; double k = 1 + 1e7 / (1 + exp(-100 * (t - 1))); d[1] = -k * (y[1] - cos(t));",
        "double k = 1 + 1e7 / (1 + exp(-100 * (t - 1))); e[0] = v[1]; e[1] = -k * v[1];",
        ["x", "z"],
    )
    run = integrate(Problem(model, 10.0, rtol=1e-6, atol=1e-8))
    assert run.status == "finished"
    assert run.solver == "cvode"
    assert run.reason.startswith("stiff from t = ")
    assert run.of("z")[-1] == pytest.approx(np.cos(10.0), abs=1e-5)


def test_too_many_steps_are_a_finding() -> None:
    run = integrate(Problem(oscillator(), 1e6, y0={"v": 1.0}, solver="runge-kutta", max_steps=1000))
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code == "S111"
    assert run.finding.what.startswith("1000 steps led only to t = ")


@pytest.mark.parametrize("law", ["", ', law: "I = 1 A*tanh(phi*1000/(1 Wb))"'])
def test_a_run_that_would_take_days_is_given_up_at_once(law: str) -> None:
    text = f"""
system: Far too fast
network:
  V: {{voltage source: [a, gnd]}}
  L: {{inductor: [a, b]{law or ", L: 1 mH"}}}
  C: {{capacitor: [b, gnd], C: 1e-24 F}}
experiment: {{until: 1 s, inputs: {{V: step(1 V)}}}}
"""
    run = simulate(read_model(text), on_failure="return")
    assert run.finding is not None
    assert run.finding.code == "S111"
    assert run.trajectory.steps <= 1 << 20
    assert f"choose the solver '{run.solver}' yourself" in run.finding.fix


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "exponential", "midpoint"])
def test_a_cancelled_run_keeps_its_rows(solver: str) -> None:
    model = oscillator()
    cancel, seen = threading.Event(), []

    def progress(t: float) -> None:
        seen.append(t)
        cancel.set()

    step = 0.01 if solver == "midpoint" else None
    problem = Problem(model, 1e8, y0={"v": 1.0}, solver=solver, step=step, rtol=1e-10, times=1_000_001, books=False)
    began = time.perf_counter()
    run = integrate(problem, Watch(progress, cancel))
    assert time.perf_counter() - began < 30.0, "without the cancelling it would take minutes"
    assert run.status == "cancelled"
    assert run.finding is not None
    assert run.finding.code == "S125"
    assert seen
    assert 0 < len(run.t) < 1_000_001
    assert np.all(np.isfinite(run.y))


def test_explicit_solvers_refuse_implicit_models() -> None:
    with pytest.raises(SimulationError, match="gives 'w' by implicit equations") as raised:
        integrate(Problem(implicit_diode(), 1.0, solver="cvode"))
    assert raised.value.code == "S115"


def test_many_rows_need_no_more_memory_than_their_own() -> None:
    import tracemalloc

    rows = 200_000
    tracemalloc.start()
    run = integrate(Problem(pendulum(), 100.0, y0={"omega": 1.0}, times=rows))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    own = run.t.nbytes + run.y.nbytes + run.yp.nbytes
    assert peak < 1.5 * own


def test_all_runs_say_what_solved_them_and_why() -> None:
    assert integrate(Problem(oscillator(), 1.0)).solver == "exponential"
    assert integrate(Problem(pendulum(), 1.0, y0={"omega": 1.0})).solver == "runge-kutta"
    stiff = integrate(Problem(van_der_pol(1e-6), 2.0, y0={"x": 2.0}))
    assert stiff.solver == "cvode"
    assert stiff.reason.startswith("stiff: its fastest time constant is ")
    mild = integrate(Problem(hires(), 321.8, y0=np.array([1, 0, 0, 0, 0, 0, 0, 0.0057])))
    assert mild.status == "finished"


def test_a_model_without_states_has_rows_and_books() -> None:
    model = explicit_model("", "", [], balance="power[0] = power[1] = sin(t) * sin(t);", linear=True)
    run = integrate(Problem(model, 2 * np.pi))
    assert run.y.shape == (1001, 0)
    assert run.books is not None
    assert run.books.supplied == pytest.approx(np.pi, rel=1e-9)


@pytest.mark.parametrize("solver", ["auto", "exponential", "runge-kutta", "cvode"])
def test_an_input_without_bound_ends_a_linear_run(solver: str) -> None:
    """1/(1 - t) into a capacitor: no step leads across, and what came before is kept."""
    text = (
        "system: Pole\nnetwork:\n  I: {current source: [gnd, a], signal: s}\n  C: {capacitor: [a, gnd], C: 1 F, voltage: v}\n"
        "signals: {s: 1 A/(1 - t/1 s)}\n"
    )
    run = simulate(read_model(text), 2, solver=solver, samples=100, progress=False, on_failure="return")
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code in ("S109", "S110")
    assert "t = 1 s" in run.finding.what
    assert "'v'" in run.finding.what
    early = run.t < 0.995
    assert np.count_nonzero(early) == 50
    assert run.values("v")[early] == pytest.approx(-np.log(1.0 - run.t[early]), abs=1e-4)
