"""Consistent starts and equilibria."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from simulation.hand_written import explicit_model, implicit_diode
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import SimulationError
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.starting import find_equilibrium


def implicit(residual: str, tangent: str, states: list[str], unknowns: list[str]) -> NumericModel:
    """A model from the statements of its residual and of the tangent of it."""
    return NumericModel.from_c(
        f"""
#include <math.h>
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {{ {residual} return 0; }}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *v, const double *w, const double *dp,
               double *e) {{
  static const double none[8];
  if (!v) v = none;
  if (!w) w = none;
  {tangent} return 0; }}
""",
        states=states,
        unknowns=unknowns,
    )


def test_unknowns_and_rates_follow_from_the_states() -> None:
    run = integrate(Problem(implicit_diode(), 2.0, y0={"v": 3.0}, rtol=1e-9, atol=1e-12))
    v, w = run.y[0]
    assert (v, run.solver) == (3.0, "ida")
    assert v == pytest.approx(2.0 * w + 0.1 * np.log1p(w / 0.01), rel=1e-9)
    assert run.yp[0, 0] == pytest.approx(-w, rel=1e-12)
    v, w = run.y[-1]
    assert v == pytest.approx(2.0 * w + 0.1 * np.log1p(w / 0.01), rel=1e-6), "the law holds at the end too"
    assert run.books is not None
    assert abs(run.books.residual) < 1e-6


def test_the_reason_names_the_unknown() -> None:
    assert integrate(Problem(implicit_diode(), 1.0)).reason == "implicit model with an algebraic unknown"


def test_a_variable_that_no_equation_decides_is_named() -> None:
    model = implicit(
        "r[0] = yp[0] + y[1] + y[2]; r[1] = y[0] - y[1] - y[2]; r[2] = 2 * y[0] - 2 * y[1] - 2 * y[2];",
        "e[0] = w[0] + v[1] + v[2]; e[1] = v[0] - v[1] - v[2]; e[2] = 2 * v[0] - 2 * v[1] - 2 * v[2];",
        ["x"],
        ["w_1", "w_2"],
    )
    with pytest.raises(SimulationError, match="do not decide the value of 'w_2'") as raised:
        integrate(Problem(model, 1.0, y0={"x": 1.0}))
    assert raised.value.code == "S113"


def test_equations_without_a_solution_are_reported() -> None:
    model = implicit(
        "r[0] = yp[0] + y[1]; r[1] = y[1] * y[1] + y[0];",
        "e[0] = w[0] + v[1]; e[1] = 2 * y[1] * v[1] + v[0];",
        ["x"],
        ["w"],
    )
    with pytest.raises(
        SimulationError, match="no consistent start was found at t = 0 s; the equation of 'w'"
    ) as raised:
        integrate(Problem(model, 1.0, y0={"x": 1.0, "w": 0.3}))
    assert raised.value.code == "S118"
    assert "'w'" in raised.value.finding.fix


def test_equilibrium_of_a_nonlinear_model() -> None:
    model = explicit_model(
        "d[0] = 1 - y[0] - y[1]; d[1] = y[0] - y[1] * y[1] * y[1];",
        "e[0] = -v[0] - v[1]; e[1] = v[0] - 3 * y[1] * y[1] * v[1];",
        ["a", "b"],
    )
    found = find_equilibrium(Problem(model, 1.0))
    assert model.rhs(0.0, found.y) == pytest.approx(0.0, abs=1e-9)
    assert found.y[0] == pytest.approx(found.y[1] ** 3)


def test_equilibrium_where_newton_alone_is_led_astray() -> None:
    # the rate is flat far from the equilibrium at zero: Newton's step from 3 overshoots, implicit steps in time do not
    model = explicit_model("d[0] = -atan(4 * y[0]);", "e[0] = -4 / (1 + 16 * y[0] * y[0]) * v[0];", ["x"])
    assert find_equilibrium(Problem(model, 1.0, y0={"x": 30.0})).y[0] == pytest.approx(0.0, abs=1e-6)


def test_what_keeps_drifting_is_named() -> None:
    model = explicit_model("d[0] = -y[0]; d[1] = 2.5;", "e[0] = -v[0]; e[1] = 0;", ["x", "angle"])
    with pytest.raises(
        SimulationError, match=r"no equilibrium was found: 'angle' keeps drifting by 2\.5 per second"
    ) as raised:
        find_equilibrium(Problem(model, 1.0))
    assert raised.value.code == "S119"


def test_equilibrium_of_an_implicit_model() -> None:
    found = find_equilibrium(Problem(implicit_diode(), 1.0))
    assert found.y == pytest.approx([0.0, 0.0], abs=1e-6)


@settings(max_examples=6)
@given(st.integers(-9, 9), st.one_of(st.none(), st.integers(-9, 9)), st.sampled_from(("engaged", "open", "forward")))
def test_an_open_clutch_forces_no_speed_on_what_is_behind_it(first: int, second: int | None, mode: str) -> None:
    """What is left out is zero, whatever mode the description begins with; a gear forces its speed all the same, and it is said."""
    said = "" if second is None else f", initial: {second} rad/s"
    run = tg.simulate(
        read_model(f"""
system: clutch and gear
network:
  J_1: {{inertia: [a], J: 1 kg*m^2, initial: {first} rad/s}}
  clutch: {{clutch: [a, c], start: {mode}, tau_c: "ramp(4 N*m/(1 s), 0.5 s, 0.6 s)"}}
  J_2: {{inertia: [c], J: 3 kg*m^2{said}}}
  gear: {{gear: [c, frame, d, frame], gear ratio: 0.5}}
  J_3: {{inertia: [d], J: 1 kg*m^2}}
experiment: {{until: 0.1 s}}
"""),
        samples=1,
        progress=False,
    )
    wanted = [float(first), float(second or 0), 2.0 * (second or 0)]
    assert [float(run.values(f"omega_J_{k}")[0]) for k in (1, 2, 3)] == pytest.approx(wanted)
    told = [finding.what for finding in run.notices if finding.code == "S343"]
    left_out = "'omega_J_2' is given no initial value: it starts at zero"
    assert (left_out in told) == (first != 0 and second is None and mode == "engaged")
