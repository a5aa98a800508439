"""An experiment that begins at rest: the same start in runs, sweeps, slopes, functions and exports, whatever the model has."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.experiments.steady_state import set_up_at_start
from tellegen.graph.signals import Delayed, Sampled
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

RTOL = 1e-9


def _ladder(sections: list[str], experiment: str, signals: str = "") -> Model:
    """A source `V`, then sections from node n0 on, each to the next node."""
    lines = ["  V: {voltage source: [n0, gnd]}"]
    for k, kind in enumerate(sections):
        a, b = f"n{k}", f"n{k + 1}"
        lines.append(f"  R{k}: {{resistor: [{a}, {b}], R: {2 + k} ohm}}")
        if kind == "coil":
            lines += [f"  L{k}: {{inductor: [{b}, m{k}], L: 3 mH}}", f"  S{k}: {{resistor: [m{k}, gnd], R: 5 ohm}}"]
        elif kind == "diode":
            lines += [f"  C{k}: {{capacitor: [{b}, gnd], C: 2 uF}}"]
            lines += [f'  D{k}: {{conductance: [{b}, gnd], law: "i = (1e-3 A)*(exp(v/(1 V)) - 1)"}}']
        elif kind == "motor":
            lines += [f"  M{k}: {{dc machine: [{b}, gnd, w{k}, frame], K: 0.1 N*m/A}}"]
            lines += [f"  J{k}: {{inertia: [w{k}], J: 1e-4 kg*m^2}}", f"  b{k}: {{friction: [w{k}], b: 1e-3 N*m*s}}"]
        else:
            lines.append(f"  C{k}: {{capacitor: [{b}, gnd], C: {k + 1} uF}}")
    text = "system: Ladder\nparameters: {scale: 1}\n"
    return read_model(text + "network:\n" + "\n".join(lines) + f"\n{signals}experiment: {experiment}\n")


SECTIONS = st.lists(st.sampled_from(["capacitor", "coil", "diode", "motor"]), min_size=1, max_size=3)
COURSE = "{until: 2 ms, start: steady, rtol: 1e-9, inputs: {V: 'scale*(3 V) + step(1 V, start=1 ms)'}}"


@given(SECTIONS)
@settings(max_examples=6, deadline=None)
def test_a_file_begins_at_rest_everywhere(sections: list[str]) -> None:
    model = _ladder(sections, COURSE)
    run = tg.simulate(model, progress=False)
    asked = tg.simulate(model, start="steady", progress=False)
    first = {name: float(run.values(name)[0]) for name in run.state_names}
    assert first == {name: float(asked.values(name)[0]) for name in run.state_names}
    # Nothing moves before the step: what a solver adds is within the tolerance asked, with the usual factor of twenty.
    before = run.t < 0.9e-3
    for name, value in first.items():
        assert np.ptp(run.values(name)[before]) <= 20 * RTOL * (1.0 + abs(value)), name
    _same(first, set_up_at_start(model).start)
    functions = tg.functions(model)
    _same(first, dict(zip(functions.names.states, functions.start, strict=True)))
    # A storage that is read again begins where it was told to.
    again = tg.simulate(read_model(to_yaml(model)), progress=False)
    _same(first, {name: float(again.values(name)[0]) for name in first})
    study = tg.sweep(model, {"scale": [1.0, 1.5]}, keep=[f"at({next(iter(first))}, 0)"], check="none", progress=False)
    values = next(iter(study.dataset().data_vars.values())).values
    assert values[0] == pytest.approx(next(iter(first.values())), rel=1e-7, abs=1e-9)


def _same(first: Mapping[str, float], other: Mapping[str, float]) -> None:
    assert {name: other[name] for name in first} == pytest.approx(first, rel=1e-7, abs=1e-10)


def test_slopes_begin_with_how_the_rest_changes() -> None:
    model = _ladder(["capacitor", "diode", "motor"], COURSE)
    found = tg.sensitivities(model, ["scale"], rtol=1e-8)
    up, down = (tg.simulate(model, parameters={"scale": 1.0 + by}, rtol=1e-10, progress=False) for by in (1e-4, -1e-4))
    for name in up.state_names:
        expected = (up.values(name)[0] - down.values(name)[0]) / 2e-4
        assert float(found[name][0, 0]) == pytest.approx(expected, rel=1e-5, abs=1e-8), name
    of_response = tg.response(
        _ladder(["capacitor"], "{until: 1 ms, inputs: {V: 'scale*(3 V)'}}"), ["scale"], ["V_C0"], start="steady"
    )
    assert of_response.slopes([[1.0]])[1].ravel() == pytest.approx([3.0], rel=1e-6)


def test_slopes_of_a_start_in_a_mode_are_refused_and_an_influence_takes_differences() -> None:
    model = read_model(to_yaml(tg.load("clutch_drive")).replace("experiment:\n", "experiment:\n  start: steady\n"))
    with pytest.raises(SimulationError) as caught:
        tg.sensitivities(model, [next(iter(model.parameters))])
    assert caught.value.code == "S178"


def test_the_initial_values_are_taken_where_a_call_asks_for_them() -> None:
    model = _ladder(["capacitor"], COURSE)
    assert tg.simulate(model, start="initial", progress=False).values("V_C0")[0] == 0.0


def test_modes_begin_where_they_rest() -> None:
    model = read_model(to_yaml(tg.load("bouncing_ball")).replace("experiment:\n", "experiment:\n  start: steady\n"))
    assert model.experiment.start == "steady"
    assert tg.simulate(model, until=1.0, progress=False).values("h") == pytest.approx(0.0, abs=1e-9)
    assert abs(set_up_at_start(model).start["h"]) < 1e-9


@pytest.mark.parametrize(
    "signal", ["{sample: 3 V - V_C0/2, every: 0.1 ms}", "{delay: 3 V - V_C0/2, by: 0.2 ms}"], ids=["sampled", "delayed"]
)
def test_signals_hold_what_they_always_held(signal: str) -> None:
    model = _ladder(["capacitor"], "{until: 2 ms, start: steady, inputs: {V: held}}", f"signals:\n  held: {signal}\n")
    run = tg.simulate(model, progress=False)
    assert np.ptp(run.values("V_C0")) <= 1e-5
    ready = set_up_at_start(model)
    assert ready.start["V_C0"] == pytest.approx(2.0, rel=1e-6)
    # What other programs are given as the first value of the signal is what it holds at rest.
    law = next(law for law in ready.graph.signals if isinstance(law, Sampled | Delayed))
    assert law.initial.evaluate({}) == pytest.approx(2.0, rel=1e-6)


SWITCHED = """
system: Two loads of a source that moves
signals: {{v: {{across: [a, gnd]}}, u: "{course}"}}
network:
  V: {{voltage source: [a, gnd], signal: u}}
  R: {{resistor: [a, b], R: 1 kohm}}
  C: {{capacitor: [b, gnd], C: 100 nF}}
  S: {{switch: [b, c], control: v - 2.5 V}}
  L: {{resistor: [c, gnd], R: 1 kohm}}
experiment: {{until: 1 ms, start: steady}}
"""


@pytest.mark.parametrize("given", ["signal", "input"])
@pytest.mark.parametrize(
    ("course", "first", "mode"),
    [
        ("sine(2 V, 1 kHz)", 0.0, "open"),
        ("trapezoid(5 V, 0 s, 1 us, 0.2 ms, 1 us)", 0.0, "open"),
        ("sine(1 V, 1 kHz, offset=4 V)", 2.0, "closed"),
        ("step(4 V)", 2.0, "closed"),
        ("table(0 s, 4 V, 0.1 ms, 0 V)", 2.0, "closed"),
    ],
)
def test_modes_rest_under_a_source_that_begins_to_move(course: str, first: float, mode: str, given: str) -> None:
    by_signal = SWITCHED.format(course=course)
    by_input = by_signal.replace(", signal: u", "").replace(
        "start: steady", f'start: steady, inputs: {{V: "{course}"}}'
    )
    model = read_model(by_signal if given == "signal" else by_input)
    run = tg.simulate(model, progress=False)
    assert run.values("V_C")[0] == pytest.approx(first)
    ready = set_up_at_start(model)
    graph = ready.graph
    assert {graph.mode_of(k) for k in graph.switching} == {mode}
