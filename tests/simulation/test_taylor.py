"""The optional solver heyoka: what it refuses, and what it gives where the package is installed."""

import math
import re
import sys
import threading
from importlib.util import find_spec

import numpy as np
import pytest

import tellegen as tg
from simulation.hand_written import decay, implicit_diode
from tellegen.core.errors import ExportError, SimulationError
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.sensitivities import integrate_sensitivities
from tellegen.simulation.solvers.stretch import Watch
from tellegen.simulation.trajectory import Trajectory

installed = pytest.mark.skipif(find_spec("heyoka") is None, reason="the package heyoka is not installed")

CIRCUIT = """
system: circuit
parameters: {{V_0: 1 V, I_0: 1 A}}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, c], law: "i = I_0*({law})"}}
  C: {{capacitor: [c, gnd], C: 1 F, voltage: v, initial: 0.5 V}}
experiment: {{until: 2 s, inputs: {{V: "{drive}"}}}}
"""


def circuit(law: str = "x", drive: str = "1 V", solver: str = "heyoka") -> Trajectory:
    """A resistor charges a capacitor; x is the voltage of the resistor in volt, the law its current in ampere."""
    text = CIRCUIT.format(law=re.sub(r"\bx\b", "(v/V_0)", law), drive=drive)
    return tg.simulate(read_model(text), solver=solver, rtol=1e-12, atol=1e-14).trajectory


# -- what needs no package -----------------------------------------------------------------------------------------------------


def test_without_the_package_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "heyoka", None)
    with pytest.raises(ExportError) as error:
        tg.simulate("crank_rod", solver="heyoka")
    assert error.value.code == "X001"
    assert error.value.what == "the solver 'heyoka' needs the package 'heyoka'"
    assert error.value.finding.fix == "pip install 'tellegen[heyoka]'"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("stick_slip", "'heyoka' looks for no events, and this model changes its mode"),
        ("sampled_position_control", "'heyoka' cannot be used: the model has sampled signals"),
        ("dc_motor_speed_control", "'heyoka' cannot be used: 'max' has no Taylor series everywhere"),
        ("solenoid", "'heyoka' cannot be used: its rates hold equations that are solved by iteration"),
        ("quarter_car", "'heyoka' cannot be used: a condition compares more than time with a constant"),
    ],
)
def test_models_without_taylor_series_are_refused(model: str, why: str) -> None:
    with pytest.raises(SimulationError) as error:
        tg.simulate(model, solver="heyoka")
    assert (error.value.code, error.value.what) == ("S115", why)


def test_a_law_with_a_corner_is_refused_by_the_name_of_its_function() -> None:
    with pytest.raises(SimulationError, match="'abs' has no Taylor series everywhere"):
        circuit(law="x*abs(x)")


def test_models_without_formulas_are_refused() -> None:
    with pytest.raises(SimulationError, match="large or written in C"):
        integrate(Problem(decay(), 1.0, solver="heyoka"))
    with pytest.raises(SimulationError, match="needs explicit rates"):
        integrate(Problem(implicit_diode(), 1.0, solver="heyoka"))


# -- what needs it -------------------------------------------------------------------------------------------------------------


@installed
def test_the_crank_turns_as_known() -> None:
    run = tg.simulate("crank_rod", until="1 s", solver="heyoka").trajectory
    assert (run.solver, run.reason, run.status) == ("heyoka", "asked for", "finished")
    assert run.of("theta")[-1] == pytest.approx(53.4272962109, rel=1e-11)
    assert run.of("omega")[-1] == pytest.approx(80.4768484635, rel=1e-11)


@installed
@pytest.mark.parametrize("model", ["dc_motor_pump", "pmsm", "cauer_low_pass", "loudspeaker"])
def test_rows_rates_and_books_are_those_of_the_chosen_solver(model: str) -> None:
    # a step at the start, a coupled mass matrix, dependent storages, and a sine
    wanted = tg.simulate(model, rtol=1e-11, atol=1e-13).trajectory
    found = tg.simulate(model, solver="heyoka").trajectory
    assert found.t == pytest.approx(wanted.t)
    for ours, theirs in ((found.y, wanted.y), (found.yp, wanted.yp)):
        size = np.max(np.abs(theirs), axis=0)
        assert np.all(np.abs(ours - theirs) <= 1e-8 * size)
    assert found.books is not None
    assert wanted.books is not None
    assert abs(found.books.residual) < 1e-12
    assert found.books.supplied == pytest.approx(wanted.books.supplied, rel=1e-8)
    assert found.books.dissipated == pytest.approx(wanted.books.dissipated, rel=1e-8)


@installed
@pytest.mark.parametrize(
    "law",
    [
        "sin(x) + cos(x)*tan(x/4)",
        "asin(x/4) + acos(x/4) + atan(x)",
        "sinh(x) + cosh(x) - 1 + tanh(x)",
        "exp(x/2) - 1 + log(4 + x)",
        "sqrt(4 + x)^3 - 8 + (3 + x)^(-2)",
        "atan2(x, 2) + hypot(x, 1) - 1",
        "(2 + x)^(1 + x/4)",
        "x*max(abs(-3), 2)/pi",
    ],
)
def test_every_function_means_the_same(law: str) -> None:
    assert circuit(law).y == pytest.approx(circuit(law, solver="runge-kutta").y, rel=1e-9)


@installed
def test_formulas_change_at_the_step_of_an_input() -> None:
    run = circuit(drive="step(2 V, start=0.75 s)")
    t = run.t
    before = 0.5 * np.exp(-t)
    after = 2 + (0.5 * math.exp(-0.75) - 2) * np.exp(0.75 - t)
    assert run.y[:, 0] == pytest.approx(np.where(t < 0.75, before, after), rel=1e-12)


@installed
def test_a_solution_that_grows_without_bound_ends_with_its_rows() -> None:
    # v' = 1 + v^2 from 0.5: the tangent, to infinity at t = pi/2 - atan(0.5)
    with pytest.raises(SimulationError) as error:
        circuit(law="1 + (1 - x)^2")
    assert error.value.code == "S110"
    run = error.value.run.trajectory
    end = math.pi / 2 - math.atan(0.5)
    assert run.status == "failed"
    assert 0.99 * end < run.t[-1] < end
    assert run.y[:-5, 0] == pytest.approx(np.tan(run.t[:-5] + math.atan(0.5)), rel=1e-8)


@installed
def test_a_run_can_be_cancelled_and_cut_short() -> None:
    model = tg.simulate("crank_rod", until="1 ms").trajectory.model
    stop = threading.Event()
    stop.set()
    inputs = {"tau": 2.0, "F": 0.0}
    run = integrate(Problem(model, 1.0, inputs=inputs, solver="heyoka"), Watch(cancel=stop))
    assert run.status == "cancelled"
    run = integrate(Problem(model, 1.0, inputs=inputs, solver="heyoka", max_steps=3))
    assert run.finding is not None
    assert (run.finding.code, run.steps) == ("S111", 3)


@installed
def test_it_gives_no_sensitivities() -> None:
    model = tg.simulate("crank_rod", until="1 ms").trajectory.model
    problem = Problem(model, 1.0, inputs={"tau": 2.0, "F": 0.0}, solver="heyoka")
    with pytest.raises(SimulationError, match="'heyoka' gives no sensitivities"):
        integrate_sensitivities(problem, ["J_m"])
