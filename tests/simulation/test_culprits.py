"""A value that is not finite is traced to the element whose law has none."""

from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.experiments.setup import set_up
from tellegen.notations.reading import read_model
from tellegen.simulation.failures import finding_of
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.stretch import SolverSettings, StatePoint, StretchEnd
from tellegen.simulation.trajectory import Effort

BRAKED = """
system: Braked
parameters: {m: 1 kg, c: 1 N, v_0: 1 m/s, b_0: 0.1 N*s/m}
network:
  m: {mass: a, velocity: v}
  F: {force source: [frame, a]}
  b_0: {damper: [a, frame]}
  b: {damper: [a, frame], law: F = c*sqrt(v/v_0)}
experiment: {until: 1 s, inputs: {F: -5 N}, initial: {v: 1 m/s}}
"""
SOFTENING = """
system: Softening
parameters: {R: 1 ohm, a: 1 V, q_0: 1 C}
network:
  I: {current source: [gnd, n]}
  C: {capacitor: [n, gnd], law: v = a*sqrt(q/q_0), charge: q}
  R: {resistor: [n, gnd]}
experiment: {until: 10 s, inputs: {I: -1 A}, initial: {q: 1 C}}
"""


def file_of(text: str, folder: Path) -> Path:
    path = folder / "model.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_damper_whose_law_fails_is_named_on_the_way(tmp_path: Path) -> None:
    run = tg.simulate(file_of(BRAKED, tmp_path), solver="runge-kutta", on_failure="return")
    assert run.finding is not None
    assert run.finding.code == "S109"
    assert "'v' is not a finite number: the law of 'b' has no value there" in run.finding.what
    assert run.finding.members == ("v", "b")


def test_the_damper_whose_law_fails_is_named_at_the_start(tmp_path: Path) -> None:
    model = file_of(BRAKED.replace("v: 1 m/s}}", "v: -1 m/s}}"), tmp_path)
    with pytest.raises(SimulationError, match="the law of 'b' has no value there") as raised:
        tg.simulate(model)
    assert raised.value.code == "S108"
    assert "b" in raised.value.finding.members


def test_a_storage_is_named_by_its_energy(tmp_path: Path) -> None:
    run = tg.simulate(file_of(SOFTENING, tmp_path), solver="runge-kutta", on_failure="return")
    assert run.finding is not None
    assert run.finding.code == "S109"
    assert "the energy of 'C' has no value there" in run.finding.what


def test_the_element_is_named_where_steps_become_too_small() -> None:
    """A solver that approaches the point without meeting it knows the state only: what lies just ahead tells the element."""
    ready = set_up(read_model(BRAKED))
    numeric = ready.numeric
    context = numeric.new_context(None, ready.inputs)
    last = StatePoint(0.2, np.array([1e-16]), np.array([-5.0]))
    end = StretchEnd(jobs.TINY_STEP, last, Effort(10), np.zeros(4))
    finding = finding_of(end, numeric, context, SolverSettings(1e-6, np.array([1e-9])), "cvode")
    assert finding is not None
    assert finding.code == "S110"
    assert finding.what.endswith("; just ahead the law of 'b' has no value there")
    assert finding.members == ("v", "b")
    assert "'b'" in (finding.fix or "")


DRAINED = """
system: Drained
parameters: {C: 1 F, a: 1 V*A}
network:
  I: {current source: [gnd, n]}
  C: {capacitor: [n, gnd], voltage: v, initial: -1 V}
  R: {resistor: [n, gnd], law: LAW}
experiment: {until: 5 s, inputs: {I: 2 A}}
"""


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_law_with_a_pole_ahead_is_named(solver: str) -> None:
    """C v' = I - a/v drives v to zero, where the current has no bound."""
    model = read_model(DRAINED.replace("LAW", "i = a/v"))
    run = tg.simulate(model, solver=solver, on_failure="return", progress=False)
    assert run.finding is not None
    assert "just ahead the law of 'R' has a pole" in run.finding.what
    assert run.finding.members == ("v", "R")
    assert run.finding.fix == "keep the motion inside the domain of the law of 'R', or smooth it"
    assert abs(run.values("v")[-1]) < 1e-6, "the last row is where the run ended"


def test_a_motion_that_runs_away_has_no_pole() -> None:
    text = DRAINED.replace("LAW", "i = -(1 A)*(v/(1 V))^2").replace("-1 V", "1 V")
    run = tg.simulate(read_model(text), on_failure="return", progress=False)
    assert run.finding is not None
    assert run.finding.fix is not None
    assert "pole" not in run.finding.what
    assert "see whether 'v' grows without bound" in run.finding.fix


def test_an_element_whose_equations_lose_their_solution_is_named() -> None:
    """i = 1 + u^2 through 1 ohm takes a quarter of a volt more than there is from v = 0.75 V on: no current solves both."""
    model = read_model(
        "system: Lost\nparameters: {C: 1 F, R: 1 ohm}\nnetwork:\n  C: {capacitor: [a, gnd], voltage: v, initial: 1 V}\n"
        "  R: {resistor: [a, b]}\n  N: {resistor: [b, gnd], law: i = 1 A + 1 A*(u/(1 V))^2}\nexperiment: {until: 1 s}\n"
    )
    run = tg.simulate(model, on_failure="return", progress=False)
    assert run.finding is not None
    assert run.finding.code == "S132"
    assert "no value of 'V_N' of 'N'" in run.finding.what
    assert run.finding.members == ("V_N", "N")
    assert run.values("v")[-1] == pytest.approx(0.75, abs=1e-3)
