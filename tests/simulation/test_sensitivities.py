"""Sensitivities against closed forms and differences of runs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from simulation.hand_written import decay, explicit_model, falling, rc_ladder, van_der_pol
from tellegen.compiler.numeric_model import EventFunction, NumericModel, Observable, SampleGroup
from tellegen.core.errors import SimulationError
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.sensitivities import integrate_sensitivities, observable_slopes

Array = NDArray[np.float64]


def implicit_resistor() -> NumericModel:
    """A capacitor discharged through w = v / R, kept as an unknown."""
    return NumericModel.from_c(
        """
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  r[0] = yp[0] + y[1];
  r[1] = y[0] - c->parameters[0] * y[1];
  return 0;
}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *v, const double *w, const double *dp,
               double *e) {
  static const double none[2];
  if (!v) v = none;
  if (!w) w = none;
  e[0] = w[0] + v[1];
  e[1] = v[0] - c->parameters[0] * v[1] - (dp ? dp[0] * y[1] : 0);
  return 0;
}
int tg_rhs_unused(void) { return 0; }
""",
        states=["v"],
        unknowns=["w"],
        parameters={"R": 2.0},
    )


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_of_a_decay(solver: str) -> None:
    problem = Problem(decay(2.0), 1.0, y0={"x": 3.0}, rtol=1e-9, atol=1e-12, solver=solver)
    run, part = integrate_sensitivities(problem, ["k"])
    assert part.slopes.shape == (1001, 1, 1)
    assert run.y[:, 0] == pytest.approx(3 * np.exp(-2 * run.t), rel=1e-7)
    assert part.slopes[:, 0, 0] == pytest.approx(-3 * run.t * np.exp(-2 * run.t), rel=1e-6, abs=1e-9)


def test_of_the_start() -> None:
    problem = Problem(decay(2.0), 1.0, y0={"x": 3.0}, rtol=1e-9)
    run, part = integrate_sensitivities(problem, ["k"], start_slopes=np.array([[1.0]]))
    assert part.slopes[:, 0, 0] == pytest.approx((1 - 3 * run.t) * np.exp(-2 * run.t), abs=1e-7)


@pytest.mark.parametrize(("eps", "solver"), [(1.0, "runge-kutta"), (1e-3, "cvode")])
def test_against_differences_of_runs(eps: float, solver: str) -> None:
    problem = Problem(van_der_pol(eps), 0.5, y0={"x": 2.0}, rtol=1e-9, atol=1e-9, solver=solver, times=11)
    _, part = integrate_sensitivities(problem, ["eps"])
    nudge = 1e-4 * eps
    up, down = (
        integrate(replace(problem, parameters={"eps": eps + s * nudge}, rtol=1e-12, atol=1e-12)).y for s in (1, -1)
    )
    wanted = (up - down) / (2 * nudge)
    assert part.slopes[:, :, 0] == pytest.approx(wanted, rel=1e-4, abs=1e-4 * float(np.max(np.abs(wanted))))


def test_of_an_implicit_model() -> None:
    run, part = integrate_sensitivities(Problem(implicit_resistor(), 1.0, y0={"v": 1.0}, rtol=1e-9, atol=1e-11), ["R"])
    assert run.solver == "ida"
    v, slope = np.exp(-run.t / 2), run.t / 4 * np.exp(-run.t / 2)
    assert part.slopes[:, 0, 0] == pytest.approx(slope, abs=1e-6)
    assert part.slopes[:, 1, 0] == pytest.approx(slope / 2 - v / 4, abs=1e-6)


def test_a_large_model_shares_its_factors() -> None:
    model = rc_ladder(60)
    run, part = integrate_sensitivities(Problem(model, 0.1, y0=np.ones(60), solver="cvode"), [])
    assert part.slopes.shape[2] == 0
    assert run.status == "finished"


def test_of_observables() -> None:
    model = explicit_model(
        "d[0] = -p[0] * y[0];",
        "e[0] = -p[0] * v[0] - dp[0] * y[0];",
        ["x"],
        parameters={"k": 2.0},
        observables=[Observable("power.R", "power", "R")],
        more="""int tg_observe(tg_context *c, double t, const double *y, const double *yp, double *out) {
          out[0] = c->parameters[0] * y[0] * y[0] + 0 * yp[0]; return 0; }""",
    )
    problem = Problem(model, 1.0, y0={"x": 3.0}, rtol=1e-10, atol=1e-12, times=11)
    run, part = integrate_sensitivities(problem, ["k"])
    slopes = observable_slopes(part, ["k"])[1]
    assert slopes[:, 0, 0] == pytest.approx(9 * np.exp(-4 * run.t) * (1 - 4 * run.t), rel=1e-6, abs=1e-8)


def test_a_parameter_that_does_not_exist_is_named() -> None:
    with pytest.raises(SimulationError, match="there is no parameter 'K'") as raised:
        integrate_sensitivities(Problem(decay(), 1.0), ["K"])
    assert raised.value.finding.fix == "did you mean 'k'?"


def by_differences(problem: Problem, name: str) -> Array:
    """d(variables)/d(parameter) from runs with the parameter moved a little either way."""
    value = problem.model.parameter_values[problem.model.parameters.index(name)]
    nudge = 1e-5 * value
    fine = replace(problem, rtol=1e-12, atol=1e-13)
    up, down = (integrate(replace(fine, parameters={name: value + s * nudge})).y for s in (1, -1))
    return np.asarray((up - down) / (2 * nudge))


def sampled_loop() -> NumericModel:
    """x' = m1 - a x; m1 = -k x every 0.1 s, m2 (read by m1) = m2 + b x every 0.2 s: two groups that meet at every other instant."""
    return explicit_model(
        "d[0] = c->memory[0] - p[1] * y[0];",
        "e[0] = -p[1] * v[0] - dp[1] * y[0];",
        ["x"],
        parameters={"k": 3.0, "a": 0.5, "b": 0.7},
        memory=("m1", "m2"),
        initial_memory=np.zeros(2),
        sample_groups=(SampleGroup(0.1, 0.0, (0,)), SampleGroup(0.2, 0.0, (1,))),
        more="""int tg_sample(tg_context *c, double t, const double *y, const double *yp, int g, double *m) {
          if (g == 0) m[0] = -c->parameters[0] * y[0] * (1 + 0.1 * y[0]) - c->memory[1];
          else m[1] = c->memory[1] + c->parameters[2] * y[0];
          return 0; }""",
    )


def relay(*, watched: bool = True) -> NumericModel:
    """x'' = -a sign(x) - c x: the rates jump at every crossing, and the crossings move with the parameters."""
    events = [EventFunction("crossing", "relay", 0, "restart")] if watched else []
    return explicit_model(
        "double s = y[1] > 0 ? 1 : -1; d[0] = -p[0] * s - p[1] * y[1]; d[1] = y[0];",
        "double s = y[1] > 0 ? 1 : -1; e[0] = -dp[0] * s - p[1] * v[1] - dp[1] * y[1]; e[1] = v[0];",
        ["v", "x"],
        parameters={"a": 1.0, "c": 0.4},
        events=events,
        more="int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g) { g[0] = y[1]; return 0; }",
    )


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode", "ida"])
@pytest.mark.parametrize("name", ["k", "a", "b"])
def test_across_sampling_instants(name: str, solver: str) -> None:
    problem = Problem(sampled_loop(), 2.05, y0={"x": 1.0}, rtol=1e-9, atol=1e-11, solver=solver, times=42)
    run, part = integrate_sensitivities(problem, [name])
    assert run.memory is not None
    wanted = by_differences(problem, name)
    assert part.slopes[:, :, 0] == pytest.approx(wanted, abs=2e-6 * float(np.max(np.abs(wanted))))


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
@pytest.mark.parametrize("name", ["a", "c"])
def test_across_jumps_of_the_rates(name: str, solver: str) -> None:
    problem = Problem(relay(), 12.0, y0={"x": 1.0}, rtol=1e-9, atol=1e-11, solver=solver, times=50)
    run, part = integrate_sensitivities(problem, ["a", "c"])
    assert len(run.events) > 4
    wanted = by_differences(problem, name)
    found = part.slopes[:, :, ["a", "c"].index(name)]
    assert found == pytest.approx(wanted, abs=1e-4 * float(np.max(np.abs(wanted))))


def test_one_model_of_several_modes_has_none() -> None:
    with pytest.raises(SimulationError, match="a model with modes has several models") as raised:
        integrate_sensitivities(Problem(falling(terminal=True), 1.0), [])
    assert raised.value.code == "S126"


def test_an_event_without_speed_has_no_derivative() -> None:
    """x = (t - 1)^3 passes zero, where its rate jumps, without speed: the instant moves infinitely fast with the start."""
    model = explicit_model(
        "d[0] = 3 * (t - 1) * (t - 1) + (y[0] > 0 ? p[0] : 0);",
        "e[0] = y[0] > 0 ? dp[0] : 0;",
        ["x"],
        parameters={"a": 1.0},
        events=[EventFunction("crossing", "valve", 1, "restart")],
        more="int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g) { g[0] = y[0]; return 0; }",
    )
    problem = Problem(model, 2.0, y0={"x": -1.0}, rtol=1e-9, atol=1e-12)
    with pytest.raises(SimulationError, match="'valve' only touches the limit of its mode") as raised:
        integrate_sensitivities(problem, ["a"], start_slopes=np.array([[1.0]]))
    assert raised.value.code == "S175"
