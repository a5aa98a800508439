"""The key `heat`: which source it makes, and what is refused."""

import pytest

from tellegen.core.errors import DescriptionError, Finding, GraphError
from tellegen.expressions import parse
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

HEAD = "system: T\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
MASS = "  C: {heat capacity: [w], C: 5 J/K}\n"


def error(text: str) -> Finding:
    with pytest.raises((DescriptionError, GraphError)) as caught:
        lower(read_model(text))
    (only,) = caught.value.findings
    return only


def test_the_heat_of_an_element_is_a_source_that_its_power_drives() -> None:
    model = read_model(HEAD + "  R: {resistor: [a, gnd], R: 2 ohm, heat: w}\n" + MASS)
    source = model.elements[-1]
    assert (source.name, source.kind.name, source.nodes) == ("R_heat", "heat flow source", ("ambient", "w"))
    graph = lower(model)
    assert {port.element for port in graph.ports if port.transferred} == {"R", "R_heat"}
    assert lower(read_model(to_yaml(model))).ports[-1].law == graph.ports[-1].law


def test_elements_that_are_repeated_heat_each_its_own_node() -> None:
    text = (
        'system: T\nparameters: {n: 3}\nnetwork:\n  I: {current source: ["a[0]"]}\n  cells:\n    repeat: {k: 1..n}\n'
        '    network:\n      R[k]: {resistor: ["a[k-1]", "a[k]"], R: 1 ohm, heat: "w[k]"}\n'
        '      C[k]: {heat capacity: ["w[k]"], C: 5 J/K}\n  end: {resistor: ["a[3]", gnd], R: 1 ohm}\n'
    )
    model = read_model(text)
    sources = [e for e in model.elements if e.kind.name == "heat flow source"]
    assert [(e.name, e.nodes[1]) for e in sources] == [(f"R_heat[{k}]", f"w[{k}]") for k in (1, 2, 3)]
    assert sum(port.transferred for port in lower(model).ports) == 6


def test_entropy_is_the_heat_divided_by_the_temperature() -> None:
    mass = "  C: {entropy capacity: [w], C: 5 J/K, initial: 300 K, temperature: T_w}\n"
    source = read_model(HEAD + "  R: {resistor: [a, gnd], R: 2 ohm, heat: w}\n" + mass).elements[-1]
    assert source.kind.name == "entropy flow source"
    assert source.signal is not None
    assert source.signal.substitute({"power.R": parse("p")}) is parse("p/T_w")


def test_wrong_heat_ports_are_refused_with_what_to_do() -> None:
    found = error(HEAD + "  R: {resistor: [a, gnd], R: 2 ohm, heat: v}\n" + MASS)
    assert found.code == "D700"
    assert found.what == "the heat of 'R' goes to 'v', which is no node of a thermal element"
    assert found.fix == "the thermal nodes are 'w'"
    found = error(
        HEAD + "  R: {resistor: [a, gnd], R: 2 ohm, heat: w}\n" + MASS + "  R_heat: {heat flow source: [w]}\n"
    )
    assert found.code == "D701"
    found = error(HEAD + "  L: {inductor: [a, gnd], L: 2 H, heat: w}\n" + MASS)
    assert "'heat' is not a key of the inductor L" in found.what


def test_values_of_thermal_and_magnetic_elements_have_their_units() -> None:
    found = error("system: T\nnetwork:\n  C: {heat capacity: [a], C: 5 J}\n  G: {thermal conductor: [a], G: 1 W/K}\n")
    assert "not in J/K" in found.what
    found = error("system: T\nnetwork:\n  P: {permeance: [a], P: 5 F}\n  F: {mmf source: [a]}\n")
    assert "not in H" in found.what


def test_a_heat_capacity_is_against_the_ambient() -> None:
    found = error("system: T\nnetwork:\n  C: {heat capacity: [a, b], C: 5 J/K}\n")
    assert found.why.startswith("a heat capacity stores heat against 'ambient'")
    found = error("system: T\nnetwork:\n  C: {heat capacity: [a], C: 5 J/K}\n  Q: {heat flow source: [gnd, a]}\n")
    assert found.fix == "write 'ambient'"
