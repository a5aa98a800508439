from dataclasses import replace

import pytest
from hypothesis import given

from schemes.comparing import assert_same, legal_causality
from support.amount import small_now
from support.networks import Network, causality, element, model
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.core.errors import GraphError
from tellegen.elements import connection
from tellegen.expressions import ONE
from tellegen.graph import lower
from tellegen.model.model import Element
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model
from tellegen.schemes import network_of
from tellegen.schemes.translation import translation
from tellegen.workflow.files import examples


@pytest.mark.parametrize("name", small_now(example.name for example in examples()))
def test_examples_come_back_as_networks(name: str) -> None:
    described = load(name)
    causal = assign_causality(lower(described))
    found = network_of(causal, model=described)
    again = replace(described, elements=found.elements, fields=found.fields)
    assert_same(causal, assign_causality(lower(again)), by_name=True)
    kinds = {e.name: e.kind.name for e in described.elements if e.kind.role != "coupling"}
    assert {e.name: e.kind.name for e in found.elements if e.kind.role != "coupling"} == kinds


@given(networks(grounded=True))
def test_random_networks_come_back(described: Network) -> None:
    causal = legal_causality(described)
    found = network_of(causal)
    assert_same(causal, assign_causality(lower(replace(described.model(), elements=found.elements))))


def rigid(*nodes: str) -> Element:
    """A bond between junctions as bond graphs leave it where a path would need a third end."""
    return Element("rigid", connection(("electrical", "electrical"), "transformer"), nodes, ONE)


def test_a_part_behind_a_bond_is_hung_between_the_nodes_of_the_other_side() -> None:
    """What stands on the reference and meets nothing else there may stand anywhere: C is beside R."""
    described = model(
        element("V", "voltage source", "a", "gnd"),
        element("R", "resistor", "a", "b"),
        rigid("a", "b", "c", "gnd"),
        element("C", "capacitor", "c", "gnd"),
        element("L", "inductor", "b", "gnd"),
    )
    found = network_of(causality(described))
    assert {e.name: e.nodes for e in found.elements}["C"] == ("a", "b")
    assert_same(causality(described), causality(replace(described, elements=found.elements)))


def test_a_bond_that_is_no_wire_stays_a_transformer_of_ratio_one() -> None:
    described = model(
        element("V", "voltage source", "a", "gnd"),
        element("R", "resistor", "a", "b"),
        element("R_2", "resistor", "b", "c"),
        rigid("a", "b", "c", "gnd"),
        element("C", "capacitor", "c", "gnd"),
        element("L", "inductor", "b", "gnd"),
    )
    found = network_of(causality(described))
    (kept,) = (e for e in found.elements if e.name == "rigid")
    assert (kept.kind.name, kept.value) == ("transformer", ONE)
    assert_same(causality(described), causality(replace(described, elements=found.elements)))


def test_a_mass_between_moving_points_stands_on_a_node_of_its_own() -> None:
    """A bond graph may ask for the inertia of a difference of speeds, a network has masses against the frame alone."""
    text = 'system: s\nbond graph: ["Sf:v (translational) -> 0:F", F -> 1:d, d -> I:m, d -> R:b, F -> R:b_2]\n'
    described = read_model(text)
    again = read_model(translation(described, "network"))
    assert_same(assign_causality(lower(described)), assign_causality(lower(again)))


def test_connections_of_modulus_one_between_grounded_nodes_are_wires() -> None:
    described = model(
        element("V", "voltage source", "a", "gnd"),
        rigid("a", "gnd", "b", "gnd"),
        element("R", "resistor", "b", "c"),
        element("C", "capacitor", "c", "gnd"),
    )
    causal = causality(described)
    found = network_of(causal)
    assert [e.name for e in found.elements] == ["V", "R", "C"]
    assert found.elements[1].nodes == ("a", "c")
    assert_same(causal, causality(replace(described, elements=found.elements)))


def test_what_junctions_short_is_refused_as_a_network() -> None:
    """A file may not say it: written, it would be refused when it is read."""
    lines = [
        "Se:V (electrical) -> 1:s",
        "s -> R:R",
        "s -> 0:a",
        "a -> 1:b",
        "b -> C:C",
        "b -> 0:c",
        "a -> c",
        "c -> I:L",
    ]
    described = read_model("system: x\nbond graph:\n" + "".join(f"  - {line}\n" for line in lines))
    with pytest.raises(GraphError) as refused:
        translation(described, "network")
    assert str(refused.value).startswith(
        "error G202: junctions short 'C': as a network both its ends would be at one node"
    )
    again = read_model(translation(described, "pog"))
    assert_same(assign_causality(lower(described)), assign_causality(lower(again)), by_name=True)
