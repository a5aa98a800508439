"""What is said when modes send each other back, when none can be, and when a run is stopped; controls that are sampled."""

import math
import threading

import numpy as np
import pytest

from tellegen.causality import assign_causality
from tellegen.compiler.compiling import compile_model
from tellegen.core.errors import SimulationError
from tellegen.experiments.simulating import simulate
from tellegen.graph import drive, lower
from tellegen.notations.reading import read_model
from tellegen.results.run import Run
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import Watch

RELAY = """
system: relay
network:
  I: {current source: [a]}
  S: {switch: [a], control: V_C - 1 V, R_on: 0.5 ohm}
  C: {capacitor: [a], C: 1 F}
experiment: {until: 10 s, inputs: {I: 1 A}}
"""
DEAD_END = """
system: dead end
network:
  I: {current source: [a]}
  S: {switch: [a, b], closed: [0 s, 1 s]}
  R: {resistor: [b], R: 1 ohm}
  C: {capacitor: [b], C: 1 F}
experiment: {until: 10 s, inputs: {I: 1 A}}
"""
SAMPLED = """
system: sampled
signals:
  held: {sample: V_C, every: 10 ms}
network:
  V: {voltage source: [a]}
  S: {switch: [a, b], control: 1 V - held}
  R: {resistor: [b, c], R: 1 ohm}
  C: {capacitor: [c], C: 0.1 F, voltage: V_C}
  R_l: {resistor: [c], R: 10 ohm}
experiment: {until: 0.5 s, inputs: {V: 2 V}}
"""


def stopped(text: str) -> Run:
    return simulate(read_model(text), on_failure="return")


def test_modes_that_send_each_other_back_end_the_run_with_the_name_of_the_element() -> None:
    found = stopped(RELAY)
    assert found.status == "failed"
    assert found.finding is not None
    assert (found.finding.code, found.finding.where) == ("S131", "S")
    assert found.finding.what.startswith("at t = 1 s 'S' changed its mode 100 times in")
    assert found.trajectory.t[-1] == pytest.approx(1.0, abs=0.011)
    assert found["V_C"].values[-1] == pytest.approx(1.0, rel=0.011)


def test_a_switch_that_stops_a_current_source_is_refused_when_it_opens() -> None:
    found = stopped(DEAD_END)
    assert found.finding is not None
    assert found.finding.code == "S130"
    assert "coming from 'S (closed)'; 'S' cannot be 'open': 'I' decides its current" in found.finding.what
    assert found.trajectory.t[-1] == pytest.approx(1.0)


def test_a_failing_run_raises_unless_asked_not_to() -> None:
    with pytest.raises(SimulationError, match="S130"):
        simulate(read_model(DEAD_END))


@pytest.mark.parametrize("solver", ["runge-kutta", "cvode"])
def test_a_sampled_control_switches_at_its_instants_only(solver: str) -> None:
    found = simulate(read_model(SAMPLED), solver=solver)
    times = np.array([event.t for event in found.trajectory.events])
    assert len(times) > 5
    assert np.allclose(times / 0.01, np.round(times / 0.01), atol=1e-9)


def test_a_delayed_control_remembers_what_was_in_other_modes() -> None:
    text = SAMPLED.replace("held: {sample: V_C, every: 10 ms}", "held: {delay: V_C, by: 50 ms}")
    found = simulate(read_model(text), rtol=1e-8)
    # It charges towards 20/11 V with 1/11 s, is seen to pass 1 V 50 ms later, and discharges with 1 s.
    level, tau = 20 / 11, 1 / 11
    opens = -tau * math.log(1 - 1 / level) + 0.05
    closes = opens + math.log(level * (1 - math.exp(-opens / tau))) + 0.05
    assert [event.t for event in found.trajectory.events[:3]] == pytest.approx([0.0, opens, closes], abs=1e-6)


def test_what_is_held_is_known_at_every_row() -> None:
    found = simulate(read_model(SAMPLED), samples=1000)
    voltage, held = found["V_C"].values, found["held"].values
    assert held[0] == 0.0
    for row in (19, 20, 39, 500, 519):  # every 0.5 ms a row, every 10 ms a sample
        assert held[row] == pytest.approx(voltage[row // 20 * 20], abs=1e-9)


def test_a_control_that_rests_at_zero_still_closes_its_switch() -> None:
    text = (
        RELAY.replace("V_C - 1 V", "'max(V_C - 1 V, 0 V)'")
        .replace("[a], control", "[a, b], control")
        .replace("  C:", "  R: {resistor: [b], R: 0.5 ohm}\n  C:")
    )
    found = simulate(read_model(text), until=1.5, on_failure="return")
    first = found.trajectory.events[0]
    assert first.what == "open to closed"
    assert first.t == pytest.approx(1.0, rel=1e-9)


def test_a_solver_that_keeps_its_step_is_refused() -> None:
    with pytest.raises(SimulationError, match="'midpoint' keeps its step and looks for no events") as caught:
        simulate("stick_slip", solver="midpoint", step=1e-3)
    assert caught.value.code == "S115"


def test_a_run_can_be_cancelled_between_modes() -> None:
    model = read_model(SAMPLED)
    graph = drive(lower(model), model.experiment.inputs)
    cancel = threading.Event()
    cancel.set()
    compiled = compile_model(assign_causality(graph))
    integrate_graph(
        graph, Problem(compiled, 0.01)
    )  # all is compiled now: a compiler that is stopped ends the run before it begins
    found = integrate_graph(graph, Problem(compiled, 0.5, max_step=1e-6), Watch(cancel=cancel))
    assert found.status == "cancelled"
    assert found.finding is not None
    assert found.finding.code == "S125"
    assert found.t[-1] < 0.5


def test_initial_values_may_be_given_to_storages_that_depend_on_others_in_the_first_mode() -> None:
    text = """
system: joined
network:
  C_1: {capacitor: [a], C: 1 F}
  S:   {switch: [a, b], start: closed}
  C_2: {capacitor: [b], C: 1 F}
experiment: {until: 1 s, initial: {V_C_2: 4 V}}
"""
    both = simulate(read_model(text), initial={"V_C_1": 0.0})
    assert both["V_C_1"].values[-1] == pytest.approx(2.0)
    assert both.trajectory.books is not None
    assert both.trajectory.books.impulsive == pytest.approx(4.0)


def test_rows_belong_to_the_model_of_their_segment() -> None:
    found = simulate("bouncing_ball").trajectory
    sizes = [segment.model.size for segment in found.segments]
    assert sizes == [2, 1]
    assert np.isnan(found.y[-1, 1])
    assert not np.isnan(found.y[: found.segments[1].start]).any()
