"""Values given to a run are judged like those of the file, and shapes whose times go backwards are refused."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

import tellegen as tg
from support.field_networks import FieldNetwork, field_networks
from tellegen.core.errors import TellegenError
from tellegen.experiments.setup import with_parameters
from tellegen.graph import lower
from tellegen.notations.reading import read_model

COILS = """
system: Coils
parameters: {L_1: 1 H, L_2: 1 H, M: 0.5 H, R: 1 ohm, e: 0.5, gap: 0.1}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  coils: {inductor field: [b, gnd, b, gnd], matrix: [[L_1, M], [M, L_2]]}
"""
CALLS: dict[str, Callable[..., object]] = {
    "simulate": lambda model, values: tg.simulate(model, until=0.1, parameters=values),
    "analyse": lambda model, values: tg.analyse(model, parameters=values),
}


@pytest.mark.parametrize("call", CALLS)
def test_coils_closer_than_they_can_be_are_refused_wherever_they_are_given(call: str) -> None:
    model = read_model(COILS)
    with pytest.raises(TellegenError) as found:
        CALLS[call](model, {"M": 2.0})
    with pytest.raises(TellegenError) as in_file:
        read_model(COILS.replace("M: 0.5 H", "M: 2 H"))
    assert found.value.code == in_file.value.code == "D471"


@settings(max_examples=30)
@given(field_networks())
def test_a_value_is_refused_by_a_call_exactly_where_the_file_is(network: FieldNetwork) -> None:
    model = read_model(network.text)
    for block in network.blocks:
        if block.is_source or len(block.kinds) == 1:
            continue
        name = block.matrix[0][-1]
        values = {name: 3.0 * network.values[name] + 2.0}
        codes = []
        for attempt in (
            lambda v=values: read_model(FieldNetwork(network.blocks, network.couplings, {**network.values, **v}).text),
            lambda v=values: with_parameters(lower(model), model, v),
        ):
            try:
                attempt()
                codes.append("")
            except TellegenError as error:
                codes.append(error.code if error.code.startswith("D") else "")
        assert codes[0] == codes[1]


def run(course: Any) -> Any:
    text = "system: S\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    text += "  C: {capacitor: [a, b], C: 1 F}\n  R_2: {resistor: [b, gnd], R: 1 ohm}\n"
    return tg.simulate(read_model(text), until=1.0, times=[0.0, 0.1, 0.25, 0.5, 0.75, 1.0], inputs={"V": course})


@pytest.mark.parametrize(
    "course",
    [
        "ramp(1 V/s, 0.5 s, 0.2 s)",
        "quintic(0, 1, 0.5 s, 0.2 s)",
        "quintic(0, 1, 0.5 s, 0.5 s)",
        "trapezoid(1, 0 s, -0.1 s, 0.2 s)",
        "trapezoid(1, 0 s, 0.1 s, 0.2 s, 0.1 s, 0 s)",
        "pulse(1, 0, 0.2, 0)",
        "chirp(1, 1, 2, -1)",
    ],
)
def test_shapes_whose_times_go_backwards_are_refused(course: str) -> None:
    with pytest.raises(TellegenError) as found:
        run(course)
    assert found.value.code == "D522"


def test_shapes_built_in_python_are_refused_alike() -> None:
    with pytest.raises(TellegenError):
        tg.ramp(1.0, 0.5, 0.2)
    with pytest.raises(TellegenError):
        tg.quintic(0.0, 1.0, 0.5, 0.2)


def test_a_trapezoid_without_rise_jumps_and_a_chirp_over_no_time_keeps_its_last_frequency() -> None:
    assert run("trapezoid(2, 0.2 s, 0 s, 0.4 s)")["V"].values == pytest.approx([0, 0, 2, 2, 0, 0], abs=1e-12)
    turned = [math.sin(2 * math.pi * 2 * t) for t in (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)]
    assert run("chirp(1, 1 Hz, 2 Hz, 0 s)")["V"].values == pytest.approx(turned, abs=1e-9)
