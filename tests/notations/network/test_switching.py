"""Elements with modes as users write them, and what is said when they write them wrongly."""

from dataclasses import replace

import pytest

from tellegen.core.errors import TellegenError
from tellegen.expressions import parse, symbol
from tellegen.model.model import Element, Switching
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml


def chopper(line: str, more: str = "") -> str:
    return f"system: chopper\nnetwork:\n  V: {{voltage source: [a]}}\n  S: {line}\n  R: {{resistor: [b], R: 1 ohm}}\n{more}"


def stopped(line: str) -> str:
    return (
        "system: stopped\ndisplacements: {x: v_m}\nnetwork:\n  F: {force source: [m]}\n  m: {mass: [m], m: 1 kg}\n"
        f"  stop: {line}\n"
    )


def modes(text: str, name: str) -> Switching:
    found = next(element for element in read_model(text).elements if element.name == name)
    assert found.switching is not None
    return found.switching


def refused(text: str) -> tuple[str, str, str]:
    with pytest.raises(TellegenError) as caught:
        read_model(text)
    assert len(caught.value.findings) == 1, caught.value.findings
    return caught.value.code, caught.value.what, caught.value.finding.fix


def test_a_plain_setting_becomes_a_parameter_named_after_its_element() -> None:
    model = read_model(chopper("{diode: [a, b], V_f: 0.7 V, R_on: 10 mohm}"))
    assert model.parameters["V_f_S"].expression is parse("7/10")
    assert model.parameters["R_on_S"].unit == "mohm"
    assert modes(chopper("{diode: [a, b], V_f: 0.7 V}"), "S").settings == {"V_f": symbol("V_f_S")}


def test_a_needed_setting_without_value_stays_a_symbol() -> None:
    model = read_model(
        "system: s\nnetwork:\n  F: {force source: [m]}\n  m: {mass: [m], m: 1 kg}\n  d: {dry friction: [m]}\n"
    )
    assert model.parameters["F_c_d"].expression is None
    assert [finding.what for finding in model.findings] == ["the Coulomb force of d has no value: it stays a symbol"]


def test_a_setting_is_known_by_its_letter_and_by_its_word() -> None:
    by_word = modes(chopper("{diode: [a, b], forward voltage: 0.7 V}"), "S")
    assert by_word == modes(chopper("{diode: [a, b], V_f: 0.7 V}"), "S")


def test_a_schedule_lists_times() -> None:
    found = modes(chopper("{switch: [a, b], closed: [100 ms, 0.3 s]}"), "S")
    assert found.schedule == (parse("1/10"), parse("3/10"))


def test_a_control_may_be_a_shape_or_a_formula_of_variables() -> None:
    assert (
        "t"
        in modes(chopper("{switch: [a, b], control: 'pulse(1, 0 s, 1 ms, 2 ms)'}"), "S")
        .settings["control"]
        .free_symbols
    )
    assert modes(chopper("{switch: [a, b], control: 5 V - V_R}"), "S").settings["control"] is parse("5 - V_R")


def test_a_repeated_block_gives_each_copy_its_own_settings() -> None:
    text = (
        "system: many\nnetwork:\n  V: {voltage source: [n0]}\n  chain:\n    repeat: {i: 1..3}\n    network:\n"
        "      'D[i]': {diode: ['n[i-1]', 'n[i]'], V_f: i*0.1 V}\n      'R[i]': {resistor: ['n[i]', gnd], R: 1 ohm}\n"
    ).replace("[n0]", "['n[0]']")
    found = [e.switching for e in read_model(text).elements if e.switching is not None]
    assert [of.settings["V_f"] for of in found] == [parse("1/10"), parse("1/5"), parse("3/10")]


def test_python_calls_write_the_same_lines() -> None:
    net = Network("chopper")
    net.voltage_source("V", "a", "gnd")
    net.switch("S", "a", "b", closed=["0.1 s", "0.3 s"], R_on="1 mohm", start="open")
    net.resistor("R", "b", "gnd", R="1 ohm")
    assert modes(net.text(), "S") == modes(
        chopper("{switch: [a, b], closed: [0.1 s, 0.3 s], R_on: 1 mohm, start: open}"), "S"
    )


def test_a_stop_is_built_by_calls_with_a_displacement_for_its_gap() -> None:
    net = Network("stopped")
    net.displacement("x", "v_m")
    net.force_source("F", "m")
    net.mass("m", "m", m="1 kg")
    net.hard_stop("stop", "m", "frame", gap="0.1 m - x", restitution=0.5)
    assert modes(net.text(), "stop") == modes(
        stopped("{hard stop: [m, frame], gap: 0.1 m - x, restitution: 0.5}"), "stop"
    )


@pytest.mark.parametrize(
    "text",
    [
        chopper("{switch: [a, b], control: 'pulse(1, 0 s, 1 ms, 2 ms)', R_on: 1 mohm, start: closed}"),
        chopper("{switch: [a, b], closed: [0.1 s, 0.3 s]}"),
        chopper("{diode: [a, b], V_f: 0.7 V}"),
        stopped("{hard stop: [m, frame], gap: 0.1 m - x, K: 1e6 N/m, b: 10 N*s/m}"),
        stopped("{dry friction: [m, frame], F_c: 5 N, F_s: 7 N, b: 0.1 N*s/m}"),
    ],
)
def test_writing_and_reading_again_is_the_identity(text: str) -> None:
    def bare(elements: tuple[Element, ...]) -> list[Element]:
        return [replace(element, place=None) for element in elements]

    model = read_model(text)
    assert bare(read_model(to_yaml(model)).elements) == bare(model.elements)


def test_a_mode_that_a_kind_does_not_have_is_refused_with_the_nearest() -> None:
    code, what, fix = refused(chopper("{switch: [a, b], start: close}"))
    assert (code, what) == ("D480", "'close' is not a mode of the switch S")
    assert fix == "did you mean 'closed'?"


def test_a_switch_has_one_command() -> None:
    code, what, _ = refused(chopper("{switch: [a, b], control: sin(t/1 s), closed: [1 s, 2 s]}"))
    assert (code, what) == ("D481", "the switch S has 'control' and 'closed'")


def test_times_that_fall_are_refused() -> None:
    assert refused(chopper("{switch: [a, b], closed: [2 s, 1 s]}"))[:2] == ("D482", "the times of S do not rise")


def test_a_stop_needs_a_gap_that_moves_and_a_law_of_contact() -> None:
    assert refused(stopped("{hard stop: [m, frame], gap: 0.1 m, K: 1 N/m}"))[0] == "D483"
    assert refused(stopped("{hard stop: [m, frame], gap: 0.1 m - x}"))[0] == "D484"
    assert refused(stopped("{hard stop: [m, frame], gap: 0.1 m - x, K: 1 N/m, restitution: 1}"))[0] == "D481"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("{dry friction: [m], F_c: 5 N, F_s: 3 N}", "stop breaks away at 3 and slides at 5"),
        ("{dry friction: [m], F_c: -5 N}", "the Coulomb force of stop is -5"),
        (
            "{hard stop: [m, frame], gap: 0.1 m - x, restitution: 1.2}",
            "the coefficient of restitution of stop is 1.2",
        ),
    ],
)
def test_sizes_that_physics_forbids_are_refused(line: str, what: str) -> None:
    assert refused(stopped(line))[:2] == ("D485", what)


def test_units_of_settings_are_checked() -> None:
    assert "forward voltage of S is in A, not in V" in refused(chopper("{diode: [a, b], V_f: 1 A}"))[1]
    assert "the gap of stop" in refused(stopped("{hard stop: [m, frame], gap: 0.1 s - t, K: 1 N/m}"))[1]


def test_a_name_in_a_control_that_nothing_has_is_refused() -> None:
    assert "the control of S uses 'V_Q'" in refused(chopper("{switch: [a, b], control: V_Q}"))[1]


def test_what_other_kinds_have_is_refused_in_words() -> None:
    assert refused(chopper("{switch: [a, b], law: v = 2*i}"))[1] == (
        "the switch S has no 'law': it has one law in each of its modes"
    )
    assert refused(chopper("{switch: [a, b], value: 2}"))[1] == "the switch S has no 'value'"
    assert refused(chopper("{switch: [a, b], initial: 2 V}"))[1] == (
        "the switch S has no initial value: it stores nothing"
    )
