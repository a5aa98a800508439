"""Without a C compiler runs are slow, not impossible: solvers in Python against closed forms and published numbers.

Models are compiled before the compiler is taken away, so that it is the solvers that are tested.
"""

import gc
import threading
import weakref

import numpy as np
import pytest

from simulation.hand_written import (
    decay,
    explicit_model,
    falling,
    implicit_diode,
    oscillator,
    pendulum,
    rc_ladder,
    robertson,
    sampled_integrator,
    switched_decay,
    van_der_pol,
)
from simulation.test_implicit_models import charging
from simulation.test_sampling_and_delays import delayed_feedback
from support.no_compiler import no_compiler
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import SimulationError
from tellegen.simulation.integration import integrate
from tellegen.simulation.plain.job_view import Array, JobView
from tellegen.simulation.plain.linear import Factors, Jacobian
from tellegen.simulation.problem import Problem
from tellegen.simulation.sensitivities import integrate_sensitivities
from tellegen.simulation.solvers.stretch import Watch
from tellegen.simulation.starting import find_equilibrium
from tellegen.simulation.trajectory import Trajectory


def run(model: NumericModel, until: float, **asked: object) -> Trajectory:
    with no_compiler():
        return integrate(Problem(model, until, **asked))  # type: ignore[arg-type]


def books_close(found: Trajectory, within: float) -> None:
    assert found.books is not None
    assert abs(found.books.residual) < within


def test_runs_say_that_they_run_in_python() -> None:
    found = run(pendulum(), 5.0, y0={"omega": 1.0}, rtol=1e-9, atol=1e-9)
    energy = 0.5 * found.of("omega") ** 2 + 1 - np.cos(found.of("theta"))
    assert found.solver == "runge-kutta"
    assert found.reason.endswith("in Python, without a C compiler")
    assert energy == pytest.approx(0.5, rel=1e-8)


def test_the_exponential_gives_way_and_says_so() -> None:
    found = run(oscillator(), 3.0, y0={"v": 1.0}, solver="exponential", rtol=1e-8)
    assert found.solver == "runge-kutta"
    assert found.reason.startswith("asked for, and 'exponential' is written in C alone")
    stiff = run(rc_ladder(40), 1.0, rtol=1e-5, times=2)
    assert stiff.solver == "cvode"
    assert stiff.status == "finished"


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_stiff_models_keep_the_tolerance_of_each_state(rtol: float) -> None:
    atol = rtol * 1e-10
    found = run(robertson(), 1e11, y0={"a": 1.0}, rtol=rtol, atol=atol, times=2)
    wanted = np.array([0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050])
    assert found.solver == "cvode"
    assert np.max(np.abs(found.y[-1] - wanted) / (atol + rtol * wanted)) <= 20


def test_an_explicit_run_that_turns_stiff_goes_on_with_an_implicit_solver() -> None:
    found = run(van_der_pol(1e-6), 0.5, y0={"x": 2.0}, rtol=1e-5, atol=1e-7)
    assert found.solver == "cvode"
    assert found.status == "finished"


def test_implicit_models_are_advanced() -> None:
    found = run(implicit_diode(), 5.0, rtol=1e-8, atol=1e-10)
    v, w = found.y[-1]
    assert found.solver == "ida"
    assert v == pytest.approx(2.0 * w + 0.1 * np.log1p(w / 0.01), rel=1e-8)
    books_close(found, 1e-6)


def test_implicit_models_meet_breaks_and_events() -> None:
    found = run(charging(), 2.0, rtol=1e-9, atol=1e-11, times=np.array([0.7, 2.0]))
    jump = 1 - np.exp(-0.7)
    assert found.of("v") == pytest.approx([jump, 3 + (jump - 3) * np.exp(-1.3)], rel=1e-7)
    assert found.of("i")[0] == pytest.approx(3 - jump, rel=1e-7), "a row at a break belongs to what comes after it"
    (event,) = found.events
    assert event.t == pytest.approx(0.7 + np.log((3 - jump) / 1.0), rel=1e-8)
    books_close(found, 1e-7)


@pytest.mark.parametrize("name", ["runge-kutta", "cvode", "ida"])
@pytest.mark.parametrize("terminal", [True, False])
def test_events_are_met_by_every_solver(name: str, terminal: bool) -> None:
    found = run(falling(terminal=terminal), 1.0, y0={"h": 1.0}, rtol=1e-9, atol=1e-11, solver=name)
    (event,) = found.events
    assert event.t == pytest.approx(np.sqrt(2.0 / 9.81), rel=1e-8)
    assert (found.t[-1] < 1.0) == terminal
    below = run(falling(terminal=terminal, direction=1), 1.0, y0={"h": 1.0}, solver=name)
    assert below.events == (), "the height falls through zero, and only rising counts"


def test_a_function_that_passes_zero_and_comes_back_in_one_step_is_seen() -> None:
    touching = explicit_model(
        "d[0] = 1;",
        "e[0] = 0;",
        ["x"],
        events=falling(terminal=False, direction=0).events,
        more="""int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g) {
          g[0] = (t - 0.5123) * (t - 0.5123) - 1e-6; return 0; }""",
    )
    found = run(touching, 1.0, solver="cvode")
    assert [event.t for event in found.events] == pytest.approx([0.5113, 0.5133], abs=1e-9)


def test_breaks_samples_and_books_are_kept() -> None:
    found = run(switched_decay(), 2.0, rtol=1e-9, atol=1e-11, times=np.array([0.7, 2.0]))
    jump = 1 - np.exp(-0.7)
    assert found.y[:, 0] == pytest.approx([jump, 3 + (jump - 3) * np.exp(-1.3)], rel=1e-7)
    books_close(found, 1e-8)
    found = run(sampled_integrator(), 1.0, y0={"x": 2.0}, rtol=1e-9, times=np.arange(11) / 10)
    assert found.y[-1, 0] == pytest.approx(2.0 * 0.9**10, rel=1e-7)
    assert found.memory is not None
    assert np.asarray(found.memory)[:, 0] == pytest.approx(-found.y[:, 0], rel=1e-7), "rows know what was held"
    assert found.yp[:, 0] == pytest.approx(np.asarray(found.memory)[:, 0], rel=1e-7)


@pytest.mark.parametrize("name", ["runge-kutta", "cvode"])
def test_delayed_signals_repeat_what_was(name: str) -> None:
    found = run(delayed_feedback(), 3.0, y0={"x": 1.0}, rtol=1e-9, atol=1e-11, solver=name, times=np.arange(4.0))
    # the method of steps, by hand: 1 - t, then 1.5 - 2 t + t^2/2, ...
    assert found.y[:, 0] == pytest.approx([1.0, 0.0, -0.5, -1.0 / 6.0], abs=3e-8)


@pytest.mark.parametrize("name", ["midpoint", "discrete-gradient"])
def test_methods_that_keep_the_structure_keep_the_energy(name: str) -> None:
    model = oscillator() if name == "midpoint" else pendulum()
    start = {"v": 1.0} if name == "midpoint" else {"omega": 1.5}
    found = run(model, 10.0, y0=start, solver=name, step=0.05)
    books_close(found, 1e-13)
    assert found.steps == 200


def test_fixed_steps_take_implicit_models_too() -> None:
    fine = run(implicit_diode(), 2.0, rtol=1e-9, times=5)
    found = run(implicit_diode(), 2.0, solver="midpoint", step=1e-2, times=5)
    assert found.y == pytest.approx(fine.y, rel=1e-3)


def test_equilibria_are_found() -> None:
    linear, swinging = Problem(switched_decay(), 1.0), Problem(pendulum(), 10.0, y0={"theta": 0.5})
    with no_compiler():
        assert find_equilibrium(linear).y == pytest.approx([1.0])
        assert np.sin(find_equilibrium(swinging).y) == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_singular_start_names_the_variable() -> None:
    source = """
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  r[0] = yp[0] + y[0]; r[1] = y[0] - 1; return 0; }
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *v, const double *w, const double *dp,
               double *e) { e[0] = (w ? w[0] : 0) + (v ? v[0] : 0); e[1] = v ? v[0] : 0; return 0; }
"""
    model = NumericModel.from_c(source, states=["x"], unknowns=["w"])
    with no_compiler(), pytest.raises(SimulationError, match="do not decide the value of 'w'"):
        integrate(Problem(model, 1.0, y0={"x": 2.0}))


def test_sensitivities_are_integrated() -> None:
    model = explicit_model(
        "d[0] = -c->parameters[0] * y[0];",
        "e[0] = -c->parameters[0] * v[0] - (dp ? dp[0] : 0) * y[0];",
        ["x"],
        parameters={"k": 2.0},
    )
    with no_compiler():
        found = integrate_sensitivities(
            Problem(model, 1.0, y0={"x": 1.0}, rtol=1e-9, atol=1e-11, times=np.array([0.5, 1.0])), ["k"]
        )
    assert found.sensitivities is not None
    t = found.t
    assert found.sensitivities[:, 0, 0] == pytest.approx(-t * np.exp(-2 * t), rel=1e-7)


def test_failures_say_when_and_what_as_those_in_c_do() -> None:
    model = explicit_model("d[0] = y[0] * y[0];", "e[0] = 2 * y[0] * v[0];", ["x"])
    problem = Problem(model, 2.0, y0={"x": 1.0}, rtol=1e-6)
    compiled = integrate(problem)
    found = run(model, 2.0, y0={"x": 1.0}, rtol=1e-6)
    assert found.status == compiled.status == "failed"
    assert found.finding is not None
    assert compiled.finding is not None
    assert found.finding.code == compiled.finding.code
    assert found.t[-1] == pytest.approx(compiled.t[-1])


def test_runs_are_cancelled_from_outside_and_keep_what_is_done() -> None:
    stop = threading.Event()

    def look(t: float) -> None:
        if t > 0.0:
            stop.set()

    problem = Problem(oscillator(), 1e6, y0={"v": 1.0}, solver="cvode", rtol=1e-9, times=1001)
    with no_compiler():
        found = integrate(problem, Watch(progress=look, cancel=stop))
    assert found.status == "cancelled"
    assert found.steps > 0.0


def test_an_error_of_ours_in_a_function_that_sundials_calls_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_view: JobView, _t: float, _y: object, _yp: object) -> None:
        raise ZeroDivisionError("of ours")

    problem = Problem(decay(), 1.0, y0={"x": 1.0}, solver="ida")
    monkeypatch.setattr(JobView, "residual", wrong)
    with no_compiler(), pytest.raises(ZeroDivisionError, match="of ours"):
        integrate(problem)


def test_factors_are_given_back_by_the_thread_that_made_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """SuperLU frees its memory nowhere else, and leaves an error behind."""
    made = list[weakref.ref[Factors]]()
    factors = Jacobian.factors

    def noted(jacobian: Jacobian, values: Array) -> Factors:
        found = factors(jacobian, values)
        made.append(weakref.ref(found))
        return found

    monkeypatch.setattr(Jacobian, "factors", noted)
    gc.disable()  # it may come in any thread
    try:
        assert run(rc_ladder(40), 1.0, solver="cvode", times=2).status == "finished"
        assert made
        assert all(one() is None for one in made)
    finally:
        gc.enable()
