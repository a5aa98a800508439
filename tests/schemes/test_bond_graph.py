import pytest
from hypothesis import given

from schemes.comparing import assert_same, causal_of, legal_causality
from support.networks import Network, causality, element, law, model, network
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import GraphError
from tellegen.expressions import is_zero, parse
from tellegen.graph import lower
from tellegen.schemes import (
    BondGraphScheme,
    bond_graph,
    bond_graph_text,
    simplification_table,
    to_details,
    to_lines,
)
from tellegen.workflow import examples, load

NAMES = [example.name for example in examples()]


def example(name: str) -> CausalGraph:
    return assign_causality(lower(load(name)))


def assert_strokes_are_consistent(scheme: BondGraphScheme) -> None:
    for name, junction in scheme.junctions.items():
        deciding = [bond for bond in scheme.bonds_of(name) if bond.receives(name) == junction.shares]
        assert len(deciding) == 1, f"{name} is decided by {deciding}"
    for name, two_port in scheme.two_ports.items():
        one, two = scheme.bonds_of(name)
        efforts = sum(bond.receives(name) == DOMAINS[bond.domain].effort for bond in (one, two))
        assert efforts == 1 if two_port.kind == "TF" else efforts in (0, 2)
    for name, item in scheme.one_ports.items():
        (bond,) = scheme.bonds_of(name)
        assert bond.brings(name) == item.decides


def test_motor_and_pump_reads_as_in_the_textbook() -> None:
    scheme = bond_graph(example("dc_motor_pump"))
    assert to_lines(scheme) == [
        "Se:V_a -> 1:I_a (electrical)",
        "I_a -> I:L_a (I_a)",
        "I_a -> R:R_a",
        "1:shaft (rotational) -> I:J_m (omega_m)",
        "shaft -> R:b_m",
        "0:out (hydraulic) -> C:C_0 (P_0)",
        "out -> R:alpha_p",
        "Sf:Q_0 -> out",
        "I_a -> GY:motor -> shaft",
        "shaft -> TF:pump -> out",
    ]
    assert to_details(scheme) == {"alpha_p": {"G": "alpha_p"}, "motor": {"K": "K_m"}, "pump": {"K": "K_p"}}
    assert [bond.number for bond in scheme.bonds] == list(range(1, 13))


def test_strokes_of_the_motor() -> None:
    scheme = bond_graph(example("dc_motor"))
    lines = str(scheme).splitlines()
    assert lines[1].split() == ["2", "1:I", "->|", "I:L", "(V_L,", "I)"]
    assert scheme.one_ports["L"].causality == "integral"
    assert scheme.one_ports["R"].causality == ""


def test_dependent_storages_are_marked() -> None:
    scheme = bond_graph(example("cauer_low_pass"))
    marks = {name: item.causality for name, item in scheme.one_ports.items() if item.causality}
    assert {name for name, mark in marks.items() if mark == "derivative"} == {"C2", "C4"}


@pytest.mark.parametrize("name", NAMES)
def test_strokes_of_the_examples_are_consistent(name: str) -> None:
    assert_strokes_are_consistent(bond_graph(example(name)))


@pytest.mark.parametrize("name", NAMES)
def test_examples_come_back_from_their_lines(name: str) -> None:
    causal = example(name)
    scheme = bond_graph(causal)
    if causal.graph.fields:
        with pytest.raises(GraphError, match="field"):
            to_lines(scheme)
    else:
        assert_same(causal, causal_of(bond_graph_text(scheme)))


@pytest.mark.parametrize("name", [n for n in NAMES if not example(n).graph.fields])
def test_a_bond_graph_read_back_is_raised_to_the_same_bond_graph(name: str) -> None:
    scheme = bond_graph(example(name))
    again = bond_graph(causal_of(bond_graph_text(scheme)))
    for one, two in ((scheme.junctions, again.junctions), (scheme.two_ports, again.two_ports)):
        assert sorted(item.kind for item in one.values()) == sorted(item.kind for item in two.values())
    assert len(scheme.bonds) == len(again.bonds)


@given(networks())
def test_random_networks_come_back_from_their_lines(described: Network) -> None:
    causal = legal_causality(described)
    scheme = bond_graph(causal)
    assert_strokes_are_consistent(scheme)
    assert_same(causal, causal_of(bond_graph_text(scheme)))


@given(networks())
def test_simplifying_changes_no_equation(described: Network) -> None:
    causal = legal_causality(described)
    for scheme in (bond_graph(causal, simplified=False), bond_graph(causal, merge_two_ports=True)):
        assert_strokes_are_consistent(scheme)
        assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_elements_between_the_same_nodes_share_one_junction() -> None:
    scheme = bond_graph(example("two_mass_drive"))
    lines = to_lines(scheme)
    assert "motor -> 0:tau_motor_load (rotational)" in lines
    assert "tau_motor_load -> omega_K_s" in lines
    assert sorted(bond.other("omega_K_s") for bond in scheme.bonds_of("omega_K_s")) == ["K_s", "d_s", "tau_motor_load"]


def test_a_mass_keeps_the_junction_of_its_velocity() -> None:
    scheme = bond_graph(example("quarter_car"))
    (bond,) = scheme.bonds_of("m_s")
    assert scheme.junctions[bond.tail].kind == "1"


def test_a_reversed_storage_hangs_on_a_junction_that_turns_its_sign() -> None:
    causal = causality(network(("I", "current source", "gnd", "a"), ("C", "capacitor", "gnd", "a")))
    scheme = bond_graph(causal)
    assert [junction.kind for junction in scheme.junctions.values()] == ["0", "1"]
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_a_reversed_side_of_a_two_port_goes_into_its_modulus() -> None:
    causal = causality(
        network(
            ("V", "voltage source", "a", "gnd"),
            ("L", "inductor", "a", "b"),
            ("K", "dc machine", "b", "gnd", "frame", "s"),
            ("J", "inertia", "s", "frame"),
        )
    )
    scheme = bond_graph(causal)
    assert len(scheme.junctions) == 2
    assert is_zero(scheme.two_ports["K"].modulus + parse("K"))
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_a_reversed_resistor_is_turned() -> None:
    causal = causality(
        network(("I", "current source", "gnd", "a"), ("C", "capacitor", "a", "gnd"), ("R", "resistor", "gnd", "a"))
    )
    scheme = bond_graph(causal)
    assert scheme.one_ports["R"].turned
    assert len(scheme.junctions) == 1


def test_a_source_that_draws_gets_the_arrow() -> None:
    scheme = bond_graph(causality(network(("I", "current source", "a", "gnd"), ("C", "capacitor", "a", "gnd"))))
    assert to_lines(scheme) == ["0:a (electrical) -> Sf:I", "a -> C:C"]


def test_neighbouring_two_ports_can_be_merged() -> None:
    causal = causality(
        network(
            ("V", "voltage source", "a", "gnd"),
            ("n", "transformer", "a", "gnd", "b", "gnd"),
            ("r", "gyrator", "b", "gnd", "c", "gnd"),
            ("g", "gyrator", "c", "gnd", "d", "gnd"),
            ("R", "resistor", "d", "gnd"),
        )
    )
    assert len(bond_graph(causal).two_ports) == 3
    (merged,) = bond_graph(causal, merge_two_ports=True).two_ports.values()
    assert merged.kind == "TF"
    assert is_zero(merged.modulus - parse("n*r/g"))
    assert merged.origins == ("n", "r", "g")


def test_a_matrix_becomes_a_two_port_for_each_entry() -> None:
    scheme = bond_graph(example("pmsm"))
    assert [two_port.kind for two_port in scheme.two_ports.values()] == ["GY"] * 3
    assert {item.field for item in scheme.one_ports.values() if item.field} == {"coils"}


def test_nonlinear_laws_come_back() -> None:
    causal = assign_causality(
        lower(
            model(
                element("V", "voltage source", "a", "gnd"),
                element("R", "resistor", "a", "b", law=law("resistive", "i", "R_0*i + R_3*i^3")),
                element("C", "capacitor", "b", "c", law=law("content", "v", "C_0*v + C_3*v^3")),
                element("L", "inductor", "c", "gnd", law=law("output", "phi", "phi/L_0 + L_3*phi^3")),
            )
        )
    )
    again = causal_of(bond_graph_text(bond_graph(causal)))
    assert_same(causal, again)
    assert [port.law for port in again.graph.ports] == [port.law for port in causal.graph.ports]


def test_a_shorted_element_is_refused() -> None:
    described = model(
        element("V", "voltage source", "a", "gnd"),
        element("R", "resistor", "a", "gnd"),
        element("C", "capacitor", "a", "a"),
    )
    with pytest.raises(GraphError, match="both ends of 'C'"):
        bond_graph(assign_causality(lower(described)))


def test_the_table_of_rules_can_be_printed() -> None:
    lines = simplification_table().splitlines()
    assert lines[0].startswith("grounds: ")
    assert all(": " in line and "; " in line for line in lines)
