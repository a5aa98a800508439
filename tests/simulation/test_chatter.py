"""Events that follow each other ever faster end a run; events that are many do not."""

import threading

import numpy as np
import pytest

from tellegen import load, simulate
from tellegen.core.errors import SimulationError
from tellegen.experiments.setup import set_up
from tellegen.notations.reading import read_model
from tellegen.simulation.failures import MANY_CHANGES, ChatterDetector
from tellegen.simulation.hybrid.integration import integrate_graph
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.stretch import Watch
from tellegen.simulation.trajectory import RunEvent

DRIVE = """
system: drive
parameters: {L: 2 mH, R: 0.8 ohm, K: 0.06 N*m/A, J: 1e-4 kg*m^2, b: 2e-4 N*m*s}
network:
  V:     {voltage source: [a, gnd], signal: u}
  L:     {inductor: [a, c], current: I}
  R:     {resistor: [c, e]}
  motor: {dc machine: [e, gnd, shaft, frame], K: K}
  J:     {inertia: [shaft], angular velocity: omega}
  b:     {friction: [shaft, frame]}
signals: {u: CONTROL}
experiment: {until: 0.3 s}
"""
RELAY = DRIVE.replace("CONTROL", '"if(100 rad/s - omega > 0, 12 V, -12 V)"')
SWITCHED = (
    DRIVE.replace(", signal: u", "")
    .replace("signals: {u: CONTROL}\n", "")
    .replace("voltage source: [a,", "voltage source: [s,")
    .replace(
        "  L: ",
        '  S: {switch: [s, a], control: "if(omega < 100 rad/s, 1, 0)"}\n  R_p: {resistor: [a, gnd], R: 10 ohm}\n  L: ',
    )
    .replace("0.3 s}", "0.3 s, inputs: {V: 12 V}}")
)


@pytest.mark.parametrize("solver", ["auto", "cvode", "ida"])
def test_a_relay_on_a_plant_of_second_order_is_named(solver: str) -> None:
    """Its events never come in no time: between the n-th and the next one there is a time in proportion to 1/n."""
    with pytest.raises(SimulationError) as raised:
        simulate(read_model(RELAY), solver=solver)
    finding = raised.value.finding
    assert finding.code == "S131"
    assert "'u' jumped to and fro" in finding.what
    assert "hysteresis" in finding.fix
    assert (run := raised.value.run) is not None
    assert run.values("omega")[-1] == pytest.approx(100, rel=1e-3)


def test_a_switch_that_follows_such_a_relay_is_named() -> None:
    with pytest.raises(SimulationError) as raised:
        simulate(read_model(SWITCHED))
    assert raised.value.finding.code == "S131"
    assert "'S' changed its mode" in raised.value.finding.what


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_books_close_over_events_that_come_fast(solver: str) -> None:
    """At an event it is a matter of rounding which formula holds: powers are taken beside it."""
    run = simulate(read_model(RELAY), until=0.054, solver=solver)
    assert len(run.events) > 250
    assert abs(run.energy.residual) < 1e-6


def test_a_modulator_may_switch_as_often_as_it_likes() -> None:
    carrier = '"if(sin(2*pi*1e5*t) > 0.2 + omega/1e9, 12 V, 0 V)"'
    run = simulate(read_model(DRIVE.replace("CONTROL", carrier)), until=0.1)
    assert run.status == "finished"
    assert len(run.events) >= 16_384


@pytest.mark.parametrize(
    "times",
    [
        np.arange(20_000) * 1e-5,
        np.concatenate([np.arange(10_000) * 1e-3, 10 + np.arange(50_000) * 1e-5]),
        np.sqrt(np.arange(20_000) * 1e-3),
    ],
    ids=["steady", "late", "sweep"],
)
def test_changes_that_are_only_many_are_no_chattering(times: list[float]) -> None:
    doublings = ChatterDetector(until=1e6)
    assert not any(doublings.note(RunEvent(t, "S", "open to closed")) for t in times)


def test_a_number_of_changes_that_doubles_in_equal_times_is() -> None:
    doublings = ChatterDetector(until=1e3)
    found = [doublings.note(RunEvent(t, "S", "open to closed")) for t in np.log(np.arange(1, MANY_CHANGES + 1))]
    assert found[-1] is not None
    assert not any(found[:-1])
    assert found[-1].members == ("S",)


def test_a_sweep_that_ends_in_time_is_none() -> None:
    """Changes of a logarithmic sweep double in equal times, too, but the run is over before there are too many."""
    doublings = ChatterDetector(until=20.0)
    assert not any(doublings.note(RunEvent(t, "S", "open to closed")) for t in np.log(np.arange(1, 20_000)))


def test_a_modulator_may_switch_fast_in_a_very_long_run() -> None:
    """A hundred changes come within a billionth of it, but the current moves with each of them."""
    ready = set_up(load("buck_converter"), until=1e6)
    problem = Problem(ready.numeric, ready.until, y0=dict(ready.start), inputs=dict(ready.inputs), times=2)
    stop = threading.Event()

    def reached(t: float) -> None:
        if t > 0.4e-3:
            stop.set()

    made = integrate_graph(ready.graph, problem, Watch(reached, cancel=stop))
    assert made.status == "cancelled"
    assert len(made.events) > 100
