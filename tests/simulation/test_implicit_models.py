"""Models with algebraic unknowns: accuracy, breaks and events."""

import numpy as np
import pytest

from tellegen.compiler.numeric_model import BreakTimes, EventFunction, NumericModel
from tellegen.experiments.simulating import simulate
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

ROBERTSON = """
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  r[0] = yp[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
  r[1] = yp[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
  r[2] = y[0] + y[1] + y[2] - 1;
  return 0;
}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *v, const double *w, const double *dp,
               double *e) {
  static const double none[3];
  if (!v) v = none;
  if (!w) w = none;
  double x = 1e4 * (y[1] * v[2] + v[1] * y[2]);
  e[0] = w[0] + 0.04 * v[0] - x;
  e[1] = w[1] - 0.04 * v[0] + x + 6e7 * y[1] * v[1];
  e[2] = v[0] + v[1] + v[2];
  return 0;
}
"""

CHARGING = """
#define U (t < 0.7 ? 1.0 : 3.0)
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  r[0] = yp[0] - y[1];
  r[1] = U - y[0] - y[1];
  return 0;
}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *v, const double *w, const double *dp,
               double *e) {
  static const double none[2];
  if (!v) v = none;
  if (!w) w = none;
  e[0] = w[0] - v[1];
  e[1] = -v[0] - v[1];
  return 0;
}
int tg_balance(tg_context *c, double t, const double *y, const double *yp, double power[5]) {
  power[0] = U * y[1];
  power[1] = y[1] * y[1];
  power[2] = power[3] = 0;
  power[4] = 0.5 * y[0] * y[0];
  return 0;
}
int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g) {
  g[0] = y[1] - 1.0;
  return 0;
}
"""


def charging(kind: str = "restart") -> NumericModel:
    """A capacitor of 1 F charged through 1 ohm, the current an unknown; the source jumps from 1 V to 3 V at 0.7 s."""
    event = EventFunction("current", "R", -1, "transition" if kind == "transition" else "restart")
    return NumericModel.from_c(CHARGING, states=["v"], unknowns=["i"], breaks=(BreakTimes(0.7),), events=[event])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_robertson_as_a_descriptor_model(rtol: float) -> None:
    model = NumericModel.from_c(ROBERTSON, states=["a", "b"], unknowns=["c"])
    atol = max(1e-14, rtol * 1e-10)
    run = integrate(Problem(model, 1e11, y0={"a": 1.0}, rtol=rtol, atol=atol, times=2))
    # Bari test set, ROBER; the unknown keeps the sum of all three
    wanted = np.array([0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050])
    assert run.solver == "ida"
    assert np.max(np.abs(run.y[-1] - wanted) / (atol + rtol * wanted)) <= 20


def test_a_tolerance_finer_than_rounding_is_reported() -> None:
    model = NumericModel.from_c(ROBERTSON, states=["a", "b"], unknowns=["c"])
    run = integrate(Problem(model, 1e11, y0={"a": 1.0}, rtol=1e-6, atol=1e-17))
    assert run.status == "failed"
    assert run.finding is not None
    assert run.finding.code == "S110"


def test_unknowns_jump_at_a_break_and_states_do_not() -> None:
    times = np.array([0.0, 0.69999, 0.7, 2.0])
    run = integrate(Problem(charging(), 2.0, rtol=1e-9, atol=1e-11, times=times))
    before = 1 - np.exp(-0.7)
    assert run.of("v")[2] == pytest.approx(before, rel=1e-7)
    assert run.of("i")[1] == pytest.approx(1 - before, rel=1e-3)
    assert run.of("i")[2] == pytest.approx(3 - before, rel=1e-7)
    assert run.of("v")[3] == pytest.approx(3 + (before - 3) * np.exp(-1.3), rel=1e-7)
    assert run.books is not None
    assert abs(run.books.residual) < 1e-7


@pytest.mark.parametrize("kind", ["restart", "transition"])
def test_events_read_unknowns(kind: str) -> None:
    run = integrate(Problem(charging(kind), 3.0, rtol=1e-9, atol=1e-11))
    # the current falls from 3 - v(0.7) by e^-t and passes 1 A
    wanted = 0.7 + np.log(3 - (1 - np.exp(-0.7)))
    assert [e.t for e in run.events] == pytest.approx([wanted], rel=1e-7)
    assert run.t[-1] == (3.0 if kind == "restart" else pytest.approx(wanted, abs=4e-3))


def test_a_start_from_rest_at_a_fine_tolerance() -> None:
    """Nothing moves in the first instant, so that the library begins with a step that is far too long."""
    model = read_model(
        "system: pumped accumulator\nnetwork:\n  P: {pressure source: [a, tank]}\n"
        "  v: {check valve: [a, b], R_on: 1e8 Pa*s/m^3}\n  C: {accumulator: [b], C: 1e-10 m^3/Pa, pressure: P_C}\n"
        "  G: {leak: [b, tank], G: 1e-10 m^3/(Pa*s)}\n"
        'experiment: {until: 0.3 s, inputs: {P: "sine(1e5 Pa, 5 Hz)"}}\n'
    )
    found, exact = (simulate(model, rtol=1e-11, solver=s, samples=30).values("P_C") for s in ("ida", "runge-kutta"))
    assert np.max(np.abs(found - exact)) <= 20 * 1e-11 * np.max(np.abs(exact))
