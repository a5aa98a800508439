"""From a described model to its graph: what is joined, and what is said of parts that cannot be."""

from collections.abc import Callable

import pytest

from support.networks import element, equations, law, model, network
from tellegen.core.errors import Finding, GraphError
from tellegen.expressions import ZERO, parse, symbol
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw, lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

V = ("V", "voltage source", "a", "gnd")
R = ("R", "resistor", "a", "gnd")


def findings(of: Model) -> tuple[Finding, ...]:
    with pytest.raises(GraphError) as caught:
        lower(of)
    return caught.value.findings


def refused(of: Model) -> Finding:
    (finding,) = findings(of)
    return finding


# -- what is joined ------------------------------------------------------------------------------------------------------------


def test_ports_stand_in_the_order_of_description_and_nodes_in_the_order_of_use() -> None:
    graph = lower(network(V, ("L", "inductor", "a", "b"), ("C", "capacitor", "b", "gnd")).model())
    assert [port.element for port in graph.ports] == ["V", "L", "C"]
    assert [(node.name, node.reference) for node in graph.nodes] == [("a", False), ("gnd", True), ("b", False)]
    assert [(port.plus, port.minus) for port in graph.ports] == [(0, 1), (0, 2), (2, 1)]
    assert [type(port.law) for port in graph.ports] == [SourceLaw, StorageLaw, StorageLaw]


def test_storages_and_resistors_and_sources_are_told_apart() -> None:
    graph = lower(network(V, R, ("C", "capacitor", "a", "gnd")).model())
    assert (list(graph.sources()), list(graph.resistive()), list(graph.storages())) == ([0], [1], [2])


def test_a_stiffness_stores_by_its_inverse() -> None:
    graph = lower(network(("F", "force source", "frame", "m"), ("K", "spring", "m", "frame")).model())
    stored = graph.ports[1].law
    assert isinstance(stored, StorageLaw)
    assert stored.inertia == parse("1/K")


def test_variables_are_named_after_their_element_and_states_after_the_output() -> None:
    graph = lower(network(V, ("L", "inductor", "a", "b"), ("C", "capacitor", "b", "gnd")).model())
    assert [(port.across, port.through, port.state) for port in graph.ports] == [
        ("V", "I_V", ""),
        ("V_L", "I_L", "I_L"),
        ("V_C", "I_C", "V_C"),
    ]


def test_a_chosen_name_replaces_the_default() -> None:
    graph = lower(
        model(element("V", "voltage source", "a", "gnd"), element("L", "inductor", "a", "gnd", through="I_a"))
    )
    assert graph.ports[1].state == "I_a"


def test_a_default_name_makes_way_for_a_parameter() -> None:
    of = model(
        element("V", "voltage source", "a", "gnd"),
        element("R", "resistor", "a", "b", value="V_C"),
        element("C", "capacitor", "b", "gnd"),
    )
    assert equations(of).states == ("V_C_",)


def test_rotation_and_translation_have_frames_of_their_own() -> None:
    graph = lower(
        network(
            ("T", "torque source", "frame", "s"),
            ("r", "rack", "s", "frame", "m", "frame"),
            ("m", "mass", "m", "frame"),
        ).model()
    )
    assert [(node.name, node.domain) for node in graph.nodes if node.reference] == [
        ("frame", "rotational"),
        ("frame", "translational"),
    ]


def test_a_nonlinear_law_is_kept_in_terms_of_its_argument() -> None:
    graph = lower(
        model(
            element("F", "force source", "frame", "m"),
            element("c", "damper", "m", "frame", law=law("resistive", "v", "b*v*abs(v)", "through")),
        )
    )
    kept = graph.ports[1].law
    assert isinstance(kept, ResistiveLaw)
    assert (kept.linear, kept.invertible) == (False, True)
    assert kept.value_at(symbol("w")) == parse("b*w*abs(w)")


@pytest.mark.parametrize(
    ("formula", "invertible"),
    [
        ("b*v", True),
        ("b*v*abs(v)", True),
        ("b*v^3", True),
        ("sign(v)", False),
        ("b*v + F_c*sign(v)", False),
        ("F_c*tanh(100*v)", False),
    ],
)
def test_a_law_that_jumps_or_saturates_cannot_be_asked_backwards(formula: str, invertible: bool) -> None:
    graph = lower(
        model(
            element("F", "force source", "frame", "m"),
            element("c", "damper", "m", "frame", law=law("resistive", "v", formula, "through")),
        )
    )
    kept = graph.ports[1].law
    assert isinstance(kept, ResistiveLaw)
    assert kept.invertible == invertible


# -- what is refused -----------------------------------------------------------------------------------------------------------


def loose_ends(*parts: tuple[str, ...]) -> list[Finding]:
    return [finding for finding in lower(network(*parts).model()).findings if finding.code == "G101"]


def test_a_dangling_node_is_named_with_its_only_element() -> None:
    (finding,) = loose_ends(V, ("R", "resistor", "a", "b"), ("R_2", "resistor", "a", "gnd"))
    assert (finding.severity, finding.where) == ("notice", "R")
    assert finding.what == "node 'b' joins only 'R': no current can pass"
    assert finding.fix == "join 'b' to another element or to 'gnd', or remove 'R'"


def test_a_node_that_is_misspelt_is_told_the_one_meant() -> None:
    slips = loose_ends(V, ("R", "resistor", "a", "out"), ("C", "capacitor", "uot", "gnd"))
    assert [finding.fix[:19] for finding in slips] == [
        "did you mean 'uot'?",
        "did you mean 'out'?",
    ]
    numbered = loose_ends(V, ("R", "resistor", "a", "node_1"), ("C", "capacitor", "node_2", "gnd"))
    assert not [finding for finding in numbered if "did you mean" in finding.fix]


def test_every_dangling_node_is_reported() -> None:
    found = loose_ends(V, R, ("R_1", "resistor", "a", "b"), ("R_2", "resistor", "a", "c"))
    assert [finding.what.split()[1] for finding in found] == ["'b'", "'c'"]


def test_a_reference_may_have_one_element_only() -> None:
    assert lower(
        network(("V", "voltage source", "a", "b"), ("R", "resistor", "a", "b"), ("C", "capacitor", "b", "gnd")).model()
    )


def test_a_node_between_two_domains_names_both_and_the_couplings_that_join_them() -> None:
    finding = refused(network(V, R, ("J", "inertia", "a", "frame")).model())
    assert (finding.code, finding.where) == ("G102", "J")
    assert finding.what == "node 'a' is electrical for 'V' and rotational for 'J' (inertia)"
    assert (
        finding.fix == "join the domains through a coupling ('dc machine'), or use an element of the electrical domain"
    )


def test_the_reference_of_another_domain_is_refused_with_the_right_one() -> None:
    finding = refused(network(V, ("R", "resistor", "a", "frame")).model())
    assert (finding.code, finding.fix) == ("G103", "write 'gnd'")
    assert finding.what == "'R' (resistor) is electrical, but 'frame' is the reference of another domain"


def test_parts_that_share_nothing_are_named() -> None:
    finding = refused(network(V, R, ("F", "force source", "frame", "m"), ("m", "mass", "m", "frame")).model())
    assert (finding.code, finding.members) == ("G104", ("F", "m"))
    assert finding.what == "'F', 'm' are not connected to 'V'"


def test_a_lonely_part_is_spoken_of_in_the_singular() -> None:
    finding = refused(network(V, R, ("m", "mass", "frame", "frame")).model())
    assert finding.what == "'m' is not connected to 'V'"


def test_a_part_without_reference_takes_one_with_a_notice() -> None:
    graph = lower(network(("V", "voltage source", "a", "b"), ("R", "resistor", "a", "b")).model())
    (finding,) = graph.findings
    assert (finding.code, finding.severity) == ("G105", "notice")
    assert finding.what == "the electrical part with 'V' has no reference: node 'b' was taken"
    assert [node.name for node in graph.nodes if node.reference] == ["b"]


def test_a_node_that_sounds_like_a_reference_beside_one_is_warned_of() -> None:
    graph = lower(
        network(
            ("F", "force source", "Ground", "a"), ("d", "damper", "a", "Ground"), ("m", "mass", "a", "frame")
        ).model()
    )
    (finding,) = graph.findings
    assert (finding.code, finding.severity, finding.where) == ("G110", "warning", "F")
    assert finding.what == "node 'Ground' is not the reference: 'frame' is"
    assert finding.fix == "write 'frame' instead of 'Ground', or give the node another name"


def test_a_node_called_ground_that_is_taken_as_reference_is_none_to_warn_of() -> None:
    graph = lower(network(("V", "voltage source", "a", "ground"), ("R", "resistor", "a", "ground")).model())
    assert [finding.code for finding in graph.findings] == ["G105"]


def test_each_side_of_a_coupling_needs_a_reference_of_its_own() -> None:
    graph = lower(network(V, ("n", "transformer", "a", "gnd", "b", "c"), ("R", "resistor", "b", "c")).model())
    assert [finding.code for finding in graph.findings] == ["G105"]
    assert [node.name for node in graph.nodes if node.reference] == ["gnd", "c"]


def test_a_variable_named_like_a_parameter_is_refused() -> None:
    finding = refused(
        model(
            element("V", "voltage source", "a", "gnd"),
            element("L", "inductor", "a", "b", through="R"),
            element("R", "resistor", "b", "gnd"),
        )
    )
    assert (finding.code, finding.where) == ("G106", "L")
    assert finding.what == "'L' names a variable 'R', which is the parameter 'R'"
    assert finding.fix == "give the variable another name, such as 'R_L'"


def test_a_source_named_like_a_parameter_is_told_where_its_value_stands() -> None:
    finding = refused(
        model(element("R", "voltage source", "a", "gnd"), element("R_1", "resistor", "a", "gnd", value="R"))
    )
    assert finding.what == "'R' names a variable 'R', which is the parameter 'R'"
    assert finding.fix == (
        "a source gives its name to its input: rename the parameter, and write 'signal: R_0' on the line of 'R', or take the "
        "parameter away and give its value under 'experiment: inputs:'"
    )


def test_a_variable_named_like_an_input_is_refused() -> None:
    finding = refused(
        model(element("V", "voltage source", "a", "gnd"), element("L", "inductor", "a", "gnd", through="V"))
    )
    assert finding.what == "'L' names a variable 'V', which is a variable of 'V'"


@pytest.mark.parametrize(
    "empty", [lambda: network().model(), lambda: network(("n", "gear", "a", "frame", "a", "frame")).model()]
)
def test_a_model_without_ports_is_refused(empty: Callable[[], Model]) -> None:
    finding = refused(empty())
    assert (finding.code, finding.what) == ("G107", "'test' has no element to connect")


def test_all_errors_are_reported_together() -> None:
    found = findings(network(V, ("R", "resistor", "a", "frame"), ("J", "inertia", "a", "frame")).model())
    assert {finding.code for finding in found} == {"G102", "G103"}


# -- both ends at one node -----------------------------------------------------------------------------------------------------

CHARGED = (V, ("R_1", "resistor", "a", "b"), ("C", "capacitor", "b", "gnd"))


@pytest.mark.parametrize("kind", ["resistor", "inductor"])
def test_an_element_with_both_ends_at_one_node_is_refused_or_has_no_effect(kind: str) -> None:
    plain = equations(network(*CHARGED).model())
    try:
        looped = equations(network(*CHARGED, ("X", kind, "b", "b")).model())
    except GraphError:
        return
    assert looped.matrices["A"][0][0] == plain.matrices["A"][0][0]
    assert all(e is ZERO for e in looped.matrices["A"][0][1:])


def test_an_element_with_both_ends_at_the_reference_has_no_effect() -> None:
    system = equations(network(*CHARGED, ("X", "resistor", "gnd", "gnd")).model())
    assert system.matrices["A"] == ((parse("1/R_1"),),)


@pytest.mark.parametrize(
    "link",
    [
        "F: {force source: [frame, m], signal: u}\nsignals: {u: 2 N/V*V_R}",
        "F: {force source: [frame, m], signal: u}\nsignals: {w: {across: [b]}, u: 2 N/V*w}",
        "F: {force source: [frame, m], signal: 3 N/W*power.R}",
        "F: {force source: [frame, m]}\n  d: {damper: [m], b: 2 N*s/(m*A)*I_R}",
        "F: {force source: [frame, m]}\n  k: {spring: [m]}\n  G: {conductance: [b], G: 1 S*(1 + x/(1 m))}\ndisplacements: {x: v}",
        "F: {force source: [frame, m]}\n  S: {switch: [b, gnd], control: x}\ndisplacements: {x: v}",
    ],
)
def test_what_reads_a_variable_of_another_part_belongs_to_it(link: str) -> None:
    head = "system: two\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [b], C: 1 F}\n"
    model = read_model(head + "  m: {mass: [m], m: 1 kg, velocity: v}\n  " + link + "\n")
    assert lower(model).name == "two"


def test_a_constant_that_both_read_joins_no_parts() -> None:
    text = "system: two\nparameters: {n: 2}\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a], R: n*(1 ohm)}\n"
    text += "  F: {force source: [frame, m]}\n  m: {mass: [m], m: n*(1 kg)}\n"
    with pytest.raises(GraphError, match="G104"):
        lower(read_model(text))
