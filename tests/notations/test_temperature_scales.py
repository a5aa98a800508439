"""A temperature on a scale with a zero of its own, wherever it can be written in the domain `heat`: right, or refused (D492)."""

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.notations.reading import read_model

BODY = """\
system: Body that cools
parameters: {S: 30 K, T_i: 40 K, G_b: 2 W/K, T_0: 20 degC, T_1: 50 degC, T_2: T_1 + 10 K}
signals: {shown: 1 K, more: 0}
network:
  C: {heat capacity: [b], C: 100 J/K, initial: T_i, temperature: T}
  G: {thermal conductor: [b, a], G: G_b}
  air: {temperature source: [a], signal: S}
  L: {thermal conductor: [b], G: 1 W/K}
experiment: {until: 10 s, units: {T: mK}}
"""
POINTS = ("T_1", "T_2", "2*T_1 - T_0", "T_0 - 5 K", "2*T_0", "max(T_0, T_1)")
DIFFERENCES = {"T_1 - T_0": 30.0, "T_2 - T_0": 40.0, "(T_1 - T_0)/2": 15.0}
PLACES = {
    "initial": ("initial: T_i", "initial: {}"),
    "signal": ("signal: S", "signal: '{}'"),
    "signal by name": ("shown: 1 K", "shown: '{}'"),
    "experiment initial": ("units:", "initial: {{T: '{}'}}, units:"),
    "input": ("units:", "inputs: {{air: '{}'}}, units:"),
}


def at(place: str, formula: str) -> str:
    """The body with a formula at a place where a temperature belongs."""
    old, new = PLACES[place]
    if place == "initial":
        new = "initial: '{}'"
    text = BODY.replace(old, new.format(formula))
    if place == "input":
        text = text.replace(", signal: S}", "}")
    return text.replace("signal: S}", "signal: shown}") if place == "signal by name" else text


def refused(text: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model(text)
    # Inside a formula no scale is read at all, and an initial value takes no shape.
    assert {finding.code for finding in caught.value.findings} <= {"D492", "D052", "D002"}


@pytest.mark.parametrize("place", PLACES)
def test_a_point_of_a_scale_is_refused_and_a_difference_is_right(place: str) -> None:
    for formula in (*POINTS, "20 degC", "20 °C", "68 degF", "step(20 degC)", "20 degC + 1 K"):
        refused(at(place, formula))
    for formula, kelvin in DIFFERENCES.items():
        runs = [tg.simulate(read_model(at(place, word))).final()["T"] for word in (formula, f"{kelvin} K")]
        assert runs[0] == pytest.approx(runs[1], rel=1e-9)


@pytest.mark.parametrize("formula", [*POINTS, *DIFFERENCES, "20 degC"])
def test_what_is_given_to_a_run_is_read_as_in_the_file(formula: str) -> None:
    free = read_model(BODY.replace(", signal: S}", "}").replace("units:", "inputs: {air: 30 K}, units:"))
    given: list[tuple[dict[str, str], dict[str, str]]] = [({"air": formula}, {}), ({}, {"T": formula})]
    for inputs, initial in given:
        if formula in DIFFERENCES:
            kelvin = f"{DIFFERENCES[formula]} K"
            same = tg.simulate(free, inputs=dict.fromkeys(inputs, kelvin), initial=dict.fromkeys(initial, kelvin))
            run = tg.simulate(free, inputs=inputs, initial=initial)
            assert run.final()["T"] == pytest.approx(same.final()["T"], rel=1e-9)
            continue
        with pytest.raises(DescriptionError) as caught:
            tg.simulate(free, inputs=inputs, initial=initial)
        assert caught.value.code == "D492"


@pytest.mark.parametrize("name", ["S", "T_i"])
def test_a_parameter_is_not_set_to_a_point_of_a_scale(name: str) -> None:
    model = read_model(BODY)
    with pytest.raises(DescriptionError) as caught:
        tg.simulate(model, parameters={name: "20 degC"})
    assert caught.value.code == "D492"
    with pytest.raises(DescriptionError) as caught:
        tg.sweep(model, {name: ["20 degC"]})
    assert caught.value.code == "D492"
    # One that the file gives on a scale, and reads as a difference, may stay there.
    moved = read_model(BODY.replace("signal: S}", "signal: T_1 - T_0}"))
    warmer, cooler = (tg.simulate(moved, parameters={"T_0": text}).final()["T"] for text in ("20 degC", "293.15 K"))
    assert warmer == pytest.approx(cooler, rel=1e-9)


@pytest.mark.parametrize(
    ("signal", "right"),
    [
        ("T_1 - T", False), ("T_0 + T", True), ("T_1 - T_0 - T", True), ("if(T > T_1, 1, 0)", False),
        ("if(T + T_0 > T_1, 1, 0)", True), ("max(T, T_1)", False), ("(T + T_0)^4 - T_0^4", True),
        ("{integral: T_1 - T}", False), ("{relay: T_1 - T, hysteresis: 1 K}", False),
        ("{relay: T_1 - T_0 - T, hysteresis: 1 K}", True),
    ],
)  # fmt: skip
def test_what_counts_from_the_ambient_is_not_compared_with_a_scale(signal: str, right: bool) -> None:
    text = BODY.replace("more: 0", f"more: {signal if signal[0] == '{' else repr(signal)}")
    if right:
        read_model(text)
    else:
        refused(text)


@pytest.mark.parametrize(
    "table", ["{table: [[0 s, 20 degC], [10 s, 30 degC]]}", "{table: {points: [[0 s, 20 degC], [10 s, 30 degC]]}}"]
)
def test_a_table_on_a_scale_is_no_difference(table: str) -> None:
    text = BODY.replace("shown: 1 K", f"shown: {table}")
    refused(text.replace("signal: S}", "signal: shown}"))
    read_model(text.replace("signal: S}", "signal: shown - T_0}"))


def test_a_signal_is_shown_on_a_scale_where_it_stands_there() -> None:
    shown = BODY.replace("units: {T: mK}", "units: {shown: degC}")
    refused(shown.replace("shown: 1 K", "shown: 2*T"))
    run = tg.simulate(read_model(shown.replace("shown: 1 K", "shown: T + T_0")))
    assert run.values("shown", "degC") == pytest.approx(run.values("T") + 20)
