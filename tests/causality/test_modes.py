"""Causality of elements with modes: what each mode makes of the storages around it, and modes that cannot be."""

import pytest

import tellegen as tg
from tellegen.causality import CausalGraph, assign_causality, impossible_modes
from tellegen.core.errors import CausalityError, GraphError
from tellegen.equations.derivation import derive_equations
from tellegen.expressions import ZERO
from tellegen.graph import PowerGraph, ResistiveLaw, lower, put_into_mode
from tellegen.notations.reading import read_model

TWO_TANKS = (
    "system: two\nnetwork:\n  C_1: {capacitor: [a], C: 1 F}\n  S: {switch: [a, b]}\n  C_2: {capacitor: [b], C: 2 F}\n"
)
SIDE_BY_SIDE = (
    "system: doubled\nnetwork:\n  V: {voltage source: [a]}\n  S_1: {switch: [a, b]}\n  S_2: {switch: [a, b]}\n"
    "  R: {resistor: [b], R: 1 ohm}\n"
)
IN_A_ROW = (
    "system: row\nnetwork:\n  V: {voltage source: [a]}\n  D_1: {diode: [a, b]}\n  D_2: {diode: [b, c]}\n"
    "  R: {resistor: [c], R: 1 ohm}\n"
)
BRIDGE = """
system: bridge
network:
  V:   {voltage source: [p, n]}
  D_1: {diode: [p, plus]}
  D_2: {diode: [n, plus]}
  D_3: {diode: [gnd, p]}
  D_4: {diode: [gnd, n]}
  C:   {capacitor: [plus], C: 1 mF}
  R:   {resistor: [plus], R: 100 ohm}
"""


def graph_of(text: str) -> PowerGraph:
    return lower(read_model(text))


def in_mode(text: str, **mode: str) -> CausalGraph:
    return assign_causality(put_into_mode(graph_of(text), mode))


def states(causal: CausalGraph) -> list[str]:
    return [causal.graph.ports[k].state for k in causal.integral]


def test_a_closed_switch_makes_two_capacitors_one() -> None:
    assert states(in_mode(TWO_TANKS)) == ["V_C_1", "V_C_2"]
    closed = in_mode(TWO_TANKS, S="closed")
    assert states(closed) == ["V_C_1"]
    assert derive_equations(closed).to_json()["L"] == [["C_1 + C_2"]]


def test_a_closed_switch_across_a_capacitor_holds_it_at_zero() -> None:
    text = "system: s\nnetwork:\n  I: {current source: [a]}\n  C: {capacitor: [a], C: 1 F}\n  S: {switch: [a]}\n"
    causal = in_mode(text, S="closed")
    assert states(causal) == []
    assert [f.what for f in causal.findings] == ["'C' is in derivative causality: V_C is always zero, held by 'S'"]
    assert derive_equations(causal).dependent == {"V_C": ZERO}


def test_a_closed_switch_across_a_voltage_source_is_refused_with_its_mode() -> None:
    text = "system: s\nnetwork:\n  V: {voltage source: [a]}\n  S: {switch: [a], start: closed}\n  R: {resistor: [a], R: 1 ohm}\n"
    with pytest.raises(CausalityError) as caught:
        in_mode(text)
    assert caught.value.code == "K107"
    assert caught.value.what == "'S' cannot be 'closed': 'V' decides its voltage"


@pytest.mark.parametrize(
    ("text", "mode", "idle"),
    [
        (SIDE_BY_SIDE, {"S_1": "closed", "S_2": "closed"}, "'S_2' repeats what others impose: it takes no current"),
        (IN_A_ROW, {}, "'D_2' repeats what others impose: it takes no voltage"),
    ],
)
def test_an_ideal_element_that_repeats_others_takes_no_share(text: str, mode: dict[str, str], idle: str) -> None:
    causal = in_mode(text, **mode)
    assert idle in [finding.what for finding in causal.findings]
    derive_equations(causal)


def test_an_idle_element_still_tells_its_mode() -> None:
    causal = in_mode(SIDE_BY_SIDE, S_1="closed", S_2="closed")
    assert causal.graph.mode == {"S_1": "closed", "S_2": "closed"}


def test_a_bridge_has_causality_in_all_modes_but_those_that_short_its_source() -> None:
    graph = graph_of(BRIDGE)
    shorted = [finding.what for finding in impossible_modes(graph)]
    assert shorted
    assert all("cannot be 'conducting'" in what and "'V'" in what for what in shorted)
    assign_causality(graph)  # all diodes block, and the source floats


def test_every_law_of_a_mode_is_resistive_and_takes_no_power_it_could_give() -> None:
    for name in ("buck_converter", "stick_slip", "bouncing_ball", "clutch_drive"):
        for law in lower(tg.load(name)).switching.values():
            assert all(isinstance(of_mode, ResistiveLaw) for of_mode in law.modes.values())
            assert set(law.transitions) == set(law.modes)
            assert {t.to for found in law.transitions.values() for t in found} <= set(law.modes)


def test_more_modes_than_can_be_tried_are_left_to_the_run() -> None:
    lines = "".join(f"  S_{k}: {{switch: [a]}}\n" for k in range(7))
    assert impossible_modes(graph_of(f"system: many\nnetwork:\n  V: {{voltage source: [a]}}\n{lines}")) == []


def test_a_mode_asked_for_that_is_not_there_is_refused() -> None:
    with pytest.raises(GraphError) as caught:
        in_mode(TWO_TANKS, S="shut")
    assert (caught.value.code, caught.value.what) == ("G108", "'S' has no mode 'shut'")
    with pytest.raises(GraphError) as caught:
        in_mode(TWO_TANKS, C_1="open")
    assert caught.value.what == "'C_1' has no modes"
