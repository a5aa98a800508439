from collections import Counter

import pytest
from hypothesis import given

from schemes.comparing import assert_same, causal_of, legal_causality
from support.amount import small_now
from support.examples import causal_example
from support.networks import Network, causality, element, law, model, network
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import GraphError
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem
from tellegen.expressions import is_zero, parse
from tellegen.graph import lower
from tellegen.graph.signal_lowering import named_variables
from tellegen.model.model import Model
from tellegen.notations.loading import load
from tellegen.notations.reading import read_model
from tellegen.schemes import BondGraphScheme, bond_graph, bond_graph_text, simplification_table
from tellegen.schemes.bond_graph_writing import to_details, to_lines
from tellegen.workflow.deriving import derive
from tellegen.workflow.files import examples

NAMES = [example.name for example in examples()]


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


def assert_vector_strokes_are_consistent(scheme: BondGraphScheme) -> None:
    """Every component of every junction is decided by one bond, whether that is drawn alone or in a vector bond."""
    for name in scheme.junctions:
        size, decided = scheme.size_of(name), Counter[int]()
        for bond in scheme.bonds_of(name):
            if bond.receives(name) == scheme.junctions[name].shares:
                port = bond.tail_port if bond.tail == name else bond.head_port
                decided.update([port] if port else range(1, size + 1))
        assert decided == Counter(range(1, size + 1)), f"{name} is decided by {decided}"


def test_motor_and_pump_reads_as_in_the_textbook() -> None:
    scheme = bond_graph(causal_example("dc_motor_pump"))
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
    assert to_details(scheme) == {
        "alpha_p": {"G": "alpha_p"},
        "motor": {"K": "K_m", "across_1": "E_m", "through_2": "C_m"},
        "pump": {"K": "K_p", "through_1": "C_p", "through_2": "Q_p"},
    }
    assert [bond.number for bond in scheme.bonds] == list(range(1, 13))


def test_strokes_of_the_motor() -> None:
    scheme = bond_graph(causal_example("dc_motor"))
    lines = str(scheme).splitlines()
    assert lines[1].split() == ["2", "1:I", "->|", "I:L", "(V_L,", "I)"]
    assert scheme.one_ports["L"].causality == "integral"
    assert scheme.one_ports["R"].causality == ""


def test_dependent_storages_are_marked() -> None:
    scheme = bond_graph(causal_example("cauer_low_pass"))
    marks = {name: item.causality for name, item in scheme.one_ports.items() if item.causality}
    assert {name for name, mark in marks.items() if mark == "derivative"} == {"C2", "C4"}


@pytest.mark.parametrize("name", small_now(NAMES))
def test_strokes_of_the_examples_are_consistent(name: str) -> None:
    assert_strokes_are_consistent(bond_graph(causal_example(name)))
    assert_vector_strokes_are_consistent(bond_graph(causal_example(name), vectors=True))


def record(model: Model) -> dict[str, object]:
    """The record of a model; ideal sensors of a mechanism are detectors in its bond graph, so what is measured may differ."""
    system = derive(model)
    assert isinstance(system, EquationSystem)
    return {key: value for key, value in system.to_json().items() if key != "measured"}


@pytest.mark.parametrize("name", [n for n in NAMES if n != "trolley_folder"])  # its named entries come in another order
def test_examples_come_back_from_their_lines_with_the_same_record(name: str) -> None:
    described = load(name)
    causal = assign_causality(lower(described))
    again = read_model(bond_graph_text(bond_graph(causal, vectors=True), model=described))
    assert record(again) == record(described)
    assert lower(again).switching == lower(described).switching
    assert again.experiment.inputs == described.experiment.inputs


@pytest.mark.parametrize(
    "name", [n for n in NAMES if not (causal_example(n).graph.switching or causal_example(n).graph.signals)]
)
def test_examples_come_back_from_lines_without_their_model(name: str) -> None:
    causal = causal_example(name)
    assert_same(causal, causal_of(bond_graph_text(bond_graph(causal, vectors=True))))


@pytest.mark.parametrize("name", [n for n in NAMES if not causal_example(n).graph.fields])
def test_examples_come_back_from_scalar_bonds(name: str) -> None:
    described = load(name)
    causal = assign_causality(lower(described))
    assert_same(causal, causal_of(bond_graph_text(bond_graph(causal), model=described)))


@pytest.mark.parametrize("name", [n for n in NAMES if causal_example(n).graph.fields])
def test_a_field_needs_vector_bonds_in_a_file(name: str) -> None:
    with pytest.raises(GraphError, match="scalar bonds have no place for its matrix") as caught:
        to_lines(bond_graph(causal_example(name)))
    assert "vectors=True" in caught.value.findings[0].fix


def says_more_than_names(name: str) -> bool:
    """Whether an example has modes, or signals beside the variables of its sections and connections."""
    graph = causal_example(name).graph
    return bool(graph.switching) or len(graph.signals) > len(named_variables(graph))


@pytest.mark.parametrize("name", [name for name in NAMES if says_more_than_names(name)])
def test_modes_and_signals_need_their_model_in_a_file(name: str) -> None:
    expected = "has modes, and the scheme does not know their settings|the sources follow signals such as"
    with pytest.raises(GraphError, match=expected) as caught:
        bond_graph_text(bond_graph(causal_example(name), vectors=True))
    assert "model=..." in caught.value.findings[0].fix


@pytest.mark.parametrize("name", small_now(NAMES))
def test_a_bond_graph_read_back_is_raised_to_the_same_bond_graph(name: str) -> None:
    described = load(name)
    scheme = bond_graph(assign_causality(lower(described)), vectors=True)
    again = bond_graph(causal_of(bond_graph_text(scheme, model=described)), vectors=True)
    assert len(scheme.junctions) == len(again.junctions)
    assert {n: scheme.kind_of(n) for n in scheme.two_ports} == {n: again.kind_of(n) for n in again.two_ports}
    assert sorted(bond.size for bond in scheme.bonds) == sorted(bond.size for bond in again.bonds)
    assert {scheme.kind_of(name) for name in scheme.one_ports} == {again.kind_of(name) for name in again.one_ports}


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
    scheme = bond_graph(causal_example("two_mass_drive"))
    lines = to_lines(scheme)
    assert "motor -> 0:tau_motor_load (rotational)" in lines
    assert "tau_motor_load -> omega_K_s" in lines
    assert sorted(bond.other("omega_K_s") for bond in scheme.bonds_of("omega_K_s")) == ["K_s", "d_s", "tau_motor_load"]


def test_any_number_of_elements_between_the_same_nodes_shares_one_junction() -> None:
    springs = [(f"k_{n}", "spring", *(("a", "b") if n % 2 else ("b", "a"))) for n in range(1, 6)]
    masses = [("m_1", "mass", "a", "frame"), ("m_2", "mass", "b", "frame")]
    described = network(("F", "force source", "frame", "a"), *masses, *springs)
    scheme = bond_graph(causality(described))
    assert len(scheme.bonds) == len({*scheme.junctions, *scheme.one_ports, *scheme.two_ports}) - 1, "a tree"


def test_a_mass_keeps_the_junction_of_its_velocity() -> None:
    scheme = bond_graph(causal_example("quarter_car"))
    (bond,) = scheme.bonds_of("m_s")
    assert scheme.junctions[bond.tail].letters == "1"


def test_a_reversed_storage_hangs_on_a_junction_that_turns_its_sign() -> None:
    causal = causality(network(("I", "current source", "gnd", "a"), ("C", "capacitor", "gnd", "a")))
    scheme = bond_graph(causal)
    assert [junction.letters for junction in scheme.junctions.values()] == ["0", "1"]
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
    scheme = bond_graph(causal_example("pmsm"))
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


# -- vector bonds --------------------------------------------------------------------------------------------------------------


def test_a_motor_with_coupled_coils_has_vector_bonds() -> None:
    scheme = bond_graph(causal_example("pmsm"), vectors=True)
    lines = to_lines(scheme)
    assert lines[0] == "Se:V_1 -> 1[3]:I[1] (electrical)"
    assert "I -> I:coils" in lines
    assert "I -> MGY:rotor -> shaft" in lines
    (bond,) = [bond for bond in scheme.bonds if bond.head == "coils"]
    assert (bond.size, bond.stroke) == (3, "head")
    assert (bond.size, bond.through) == (3, "[I_1, I_2, I_3]")
    assert to_details(scheme)["rotor"] == {"K": [["K_1", "K_2", "K_3"]]}


def test_a_field_whose_ports_differ_in_causality_is_bonded_port_by_port() -> None:
    """The first capacitance follows the source, the second is a state."""
    text = (
        "system: x\nbond graph:\n  - Se:V -> 0[2]:v[1] (electrical)\n  - v -> C:c\n  - v[2] -> R:R\n"
        "elements: {c: {matrix: [[3, 1], [1, 2]]}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    strokes = {bond.head_port: bond.stroke for bond in scheme.bonds if bond.head == "c"}
    assert strokes == {1: "head", 2: "tail"}
    assert [part.causality for part in scheme.one_ports["c"].parts] == ["derivative", "integral"]
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_components_with_values_of_their_own_stay_one_item() -> None:
    text = (
        "system: x\nparameters: {R_a: 3 ohm}\nbond graph:\n  - Se[2]:V -> 1:i (electrical)\n  - i -> I:L\n  - i -> R:R\n"
        "elements: {R: {R: [2 ohm, R_a]}, L: {initial: [1 A, 0 A]}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    assert to_lines(scheme) == ["Se:V -> 1[2]:I_L (electrical)", "I_L -> I:L", "I_L -> R:R"]
    assert to_details(scheme) == {"L": {"initial": ["1", "0"]}, "R": {"R": ["R[1]", "R_a"]}}
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_components_with_different_laws_are_drawn_apart() -> None:
    text = (
        "system: x\nparameters: {k: 3 ohm}\nbond graph:\n  - Se[2]:V -> 1:i (electrical)\n  - i -> I:L\n  - i -> R:R\n"
        "elements: {R: {law: [v = k*i, v = k*i^3*1 A^-2]}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    assert {name for name in scheme.one_ports if name.startswith("R")} == {"R_1", "R_2"}
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_a_square_two_port_may_be_driven_from_both_sides() -> None:
    """Of a 2 x 2 transformer one bond in and one bond out run against the matrix, because its entry between them is not zero."""
    text = (
        "system: x\nbond graph:\n  - Sf:u -> 1:a (rotational)\n  - Se:w -> 1:b (rotational)\n  - a -> TF:n[1]\n  - b -> n[2]\n"
        "  - n[1] -> 1:c (rotational)\n  - n[2] -> 1:d (rotational)\n  - c -> I:J\n  - d -> R:r\n"
        "elements: {n: {K: [[2, 3], [5, 7]]}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    assert_vector_strokes_are_consistent(scheme)
    against = [bond for bond in scheme.bonds_of("n") if bond.receives("n") == "through" and bond.head == "n"]
    assert [bond.head_port for bond in against] == [2]
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_a_sign_between_equal_junctions_does_not_go_into_a_modulus() -> None:
    """Two inductors whose half arrows point at the junction, one of them coupled to another port of the transformer."""
    text = (
        "system: x\nbond graph:\n  - 0[2]:j (electrical) -> TF:t\n  - Sf[2]:u -> j\n  - C[2]:c -> j\n"
        "  - I[2]:p -> 1[2]:k (electrical)\n  - I:q -> k[1]\n  - t -> k\n"
        "elements: {t: {K: [[0, 1], [1, 1]]}, c: {matrix: [[3, 0], [0, 3]]}, p: {matrix: [[4, 1], [1, 4]]}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    assert scheme.two_ports["t"].matrix == causal.graph.couplings[0].K
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_a_port_of_a_resistive_field_is_not_turned() -> None:
    text = (
        "system: x\nbond graph:\n  - 1[2]:j (translational) -> I:m\n  - R:r -> j\n  - Se:u -> j[1]\n"
        "elements: {m: {matrix: [[3, 0], [0, 3]]}, r: {matrix: [[4, 1], [1, 4]]}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    assert not any(part.turned for part in scheme.one_ports["r"].parts)
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_a_coupling_that_mixes_efforts_and_flows_is_drawn_entry_by_entry() -> None:
    text = (
        "system: x\nnetwork:\n  V: {voltage source: [a]}\n  L: {inductor: [a, b]}\n  J: {inertia: [s]}\n  C: {capacitor: [c]}\n"
        "  k: {multiport: [b, gnd, c, gnd, s, frame], domains: [electrical, electrical, rotational],\n"
        "      relation: through_3 = k_1*through_1 + k_2*across_2}\n  R: {resistor: [c]}\n  r: {friction: [s]}\n"
        "parameters: {k_1: 0.1 N*m/A, k_2: 0.2 N*m/V}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal, vectors=True)
    assert sorted(two_port.kind for two_port in scheme.two_ports.values()) == ["GY", "TF"]
    assert_same(causal, causal_of(bond_graph_text(scheme)))


def test_moduli_that_move_are_shown_as_modulated() -> None:
    kinds = {
        name: bond_graph(causal_example("crank_rod")).kind_of(name)
        for name in bond_graph(causal_example("crank_rod")).two_ports
    }
    assert set(kinds.values()) == {"MTF"}
    assert bond_graph(causal_example("dc_motor_pump")).kind_of("motor") == "GY"


# -- causality in lines --------------------------------------------------------------------------------------------------------


def test_forced_and_preferred_causality_are_written_and_come_back() -> None:
    text = (
        "system: x\nbond graph:\n  - Sf:u -> 0:a (electrical)\n  - a -> C:C_1\n  - a -> C:C_2\n  - a -> R:R\n"
        "elements: {C_1: {causality: force derivative}, R: {causality: voltage}}\n"
    )
    causal = causal_of(text)
    scheme = bond_graph(causal)
    assert to_details(scheme)["C_1"] == {"causality": "force through"}
    assert to_details(scheme)["C_2"] == {"causality": "integral"}
    assert to_details(scheme)["R"] == {"causality": "across"}
    again = causal_of(bond_graph_text(scheme))
    assert again.decides == causal.decides
    assert [(p.prefer, p.forced) for p in again.graph.ports if p.element == "C_1"] == [("through", True)]


def test_a_law_that_cannot_be_inverted_fixes_its_stroke() -> None:
    """Coulomb friction gives the force by the velocity, so it takes the flow and gives the effort."""
    text = (
        "system: x\nbond graph:\n  - Sf:v -> 0:f (translational)\n  - f -> C:K\n  - f -> 1:a -> I:m\n  - a -> R:c\n"
        "elements: {c: {law: F = F_c*sign(v)}}\nparameters: {F_c: 3 N}\n"
    )
    scheme = bond_graph(causal_of(text))
    (bond,) = scheme.bonds_of("c")
    assert bond.stroke == "tail"
    assert_same(causal_of(text), causal_of(bond_graph_text(scheme)))


def test_a_scheme_without_modulus_one_transformers_and_grounds_is_what_an_engineer_draws() -> None:
    text = (
        "system: x\nnetwork:\n  tau: {torque source: [frame, a]}\n  J: {inertia: [a]}\n  n: {gear: [a, frame, b, frame], n: 1}\n"
        "  one: {connection: [b, frame, c, frame], domains: [rotational, rotational], relation: across_2 = across_1}\n"
        "  b: {friction: [c]}\n"
    )
    scheme = bond_graph(causal_of(text))
    assert list(scheme.two_ports) == ["n"]
    assert len(scheme.bonds) == 5


# -- fields --------------------------------------------------------------------------------------------------------------------

PIEZO = """\
system: piezo
parameters: {C_0: 1 nF, c_E: 1e-9 m/N, d: 1e-10 C/N}
pog:
  - domain: [electrical, translational]
  - section: [[V, v], [I, F]]
  - mixed: [{energy: stack, matrix: [[C_0, d], [d, c_E]]}]
    ways: [parallel, series]
"""
TURNED = """\
system: losses of both readings
parameters: {R: 2 ohm, G: 1 S, k: 0.5, L: 1 H, C: 1 F}
pog:
  - domain: electrical
  - section: [[V, V_2], [I, I_2]]
  - mixed: [[L:L, C:C], {power: losses, matrix: [[R, k], [-k, G]]}]
    ways: [series, parallel]
"""


def test_a_field_of_several_domains_names_variables_in_the_words_of_each() -> None:
    causal = causal_of(PIEZO)
    scheme = bond_graph(causal, vectors=True)
    assert to_details(scheme)["stack"] == {
        "voltage": ["V", "none"],
        "force": ["none", "F"],
        "matrix": [["C_0", "d"], ["d", "c_E"]],
    }
    again = causal_of(bond_graph_text(scheme))
    assert_same(causal, again, by_name=True)
    assert derive_equations(again).states == ("V", "F")


def test_a_matrix_that_gives_efforts_and_flows_says_the_kinds_of_its_ports() -> None:
    causal = causal_of(TURNED)
    scheme = bond_graph(causal, vectors=True)
    assert to_details(scheme)["losses"]["kinds"] == ["resistor", "conductance"]
    assert_same(causal, causal_of(bond_graph_text(scheme)), by_name=True)


def test_a_matrix_between_pressures_and_a_force_keeps_its_sign() -> None:
    """The half arrows run backwards there, which turns the sign of volume flows but not that of a velocity."""
    causal = causal_of(
        "system: x\npog:\n  - domain: hydraulic\n  - section: [[P_1, P_2], [Q_1, Q_2]]\n  - parallel: [[C:C_1, C:C_2]]\n"
        "  - connect: {name: pistons, K: [[3, 2]]}\n  - domain: translational\n  - parallel: [M:m]\n  - section: [v, F]\n"
    )
    scheme = bond_graph(causal, vectors=True)
    assert to_details(scheme)["pistons"] == {"K": [["-3"], ["-2"]]}
    assert_same(causal, causal_of(bond_graph_text(scheme)), by_name=True)
