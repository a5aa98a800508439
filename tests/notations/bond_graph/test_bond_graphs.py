"""Bond graphs as model files: the systems that come along written anew, both readings of every domain, signs, names and details."""

from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest

import tellegen
from support.evaluated import Evaluated
from support.networks import agree
from tellegen.equations.system import EquationSystem
from tellegen.expressions import evaluate_exact
from tellegen.model.bond_graph import BondGraph, BondItem, PowerBond
from tellegen.model.model import Element, Model
from tellegen.notations.netlist.loading import read_netlist
from tellegen.notations.reading import read_model

SYSTEMS = Path(str(files("tellegen"))) / "systems"
MOTOR_PARAMETERS = """
system: DC motor driving a hydraulic pump
parameters: {L_a: 2 mH, R_a: 0.5 ohm, K_m: 0.15 N*m/A, J_m: 1e-3 kg*m^2, b_m: 2e-3 N*m*s, K_p: 1e-6 m^3/rad,
  C_0: 2e-12 m^3/Pa, alpha_p: 2e-11 m^3/(Pa*s)}
"""
MOTOR_AS_BOND_GRAPH = (
    MOTOR_PARAMETERS
    + """
bond graph:
  - Se:V_a -> 1:i (I_a)
  - i -> I:L_a
  - i -> R:R_a
  - i -> GY:K_m -> 1:w (omega_m)
  - w -> I:J_m
  - w -> R:b_m
  - w -> TF:K_p -> 0:p (P_0)
  - p -> C:C_0
  - p -> R:alpha_p
  - Sf:Q_0 -> p
"""
)
MOTOR_AS_LADDER = (
    MOTOR_PARAMETERS
    + """
pog:
  - section: [V_a, I_a]
  - series: [I:L_a, R:R_a]
  - connect: K_m
  - section: [omega_m, tau_m]
  - parallel: [J:J_m, b:b_m]
  - connect: K_p
  - parallel: [C:C_0, G:alpha_p]
  - section: [P_0, Q_0]
"""
)
MOTOR_AS_NETLIST = """
eV, 1, a, En, V_a
eL, 1, 2, Kn, L_a=2e-3, Fn, I_a
eR, 2, 3, Kn, R_a=0.5
CB, [3; 4], [a; b], Kn, F2=K_m*F1, Kn0, 0.15
rJ, 4, b, Kn, J_m=1e-3, En, omega_m
rB, 4, b, Kn, b_m=2e-3
CB, [4; 6], [b; d], Kn, F2=K_p*E1, Kn0, 1e-6
iC, 6, d, Kn, C_0=2e-12, En, P_0
iG, 6, d, Kn, alpha_p=2e-11
iQ, 6, d, Fn, Q_0
"""


def element(model: Model, name: str) -> Element:
    return next(e for e in model.elements if e.name == name)


def derived(text: str) -> EquationSystem:
    found = tellegen.derive(read_model(text))
    assert isinstance(found, EquationSystem)
    return found


# -- one system, four notations ------------------------------------------------------------------------------------------------


def lecture_record() -> dict[str, object]:
    """The record of the network, without the variables that it names between its elements."""
    record = tellegen.derive("dc_motor_pump").to_json()
    signals = record.pop("signals")
    assert isinstance(signals, list | tuple | dict)
    assert set(signals) == {"V_r", "E_m", "C_m", "C_p", "Q_p", "Q_u"}
    return record


def test_a_network_a_bond_graph_and_a_ladder_of_one_system_give_one_record() -> None:
    record = lecture_record()
    assert tellegen.derive(read_model(MOTOR_AS_BOND_GRAPH)).to_json() == record
    assert tellegen.derive(read_model(MOTOR_AS_LADDER)).to_json() == {**record, "signals": {"tau_m": "I_a*K_m"}}


def test_a_netlist_of_the_same_system_gives_the_same_record() -> None:
    assert tellegen.derive(read_netlist(MOTOR_AS_NETLIST)).to_json() == lecture_record()


DC_MOTOR = """
  - Se:V -> 1:i (I)
  - i -> I:L
  - i -> R:R
  - i -> GY:motor -> 1:w (omega)
  - w -> I:J
  - w -> R:b
  - Se:tau -> w
elements: {motor: {K: K}}
"""
RLC = """
  - Se:V -> 1:i (I)
  - i -> R:R
  - i -> I:L
  - i -> C:C (V_C)
"""
SPRING_DAMPER = """
  - Sf:v -> 1:end -> C:K (F)
  - end -> R:b
elements: {v: {force: F_t}}
"""
TWO_MASS_DRIVE = """
  - Se:tau_m -> 1:motor (omega_m) -> I:J_m
  - motor -> R:b_m
  - motor -> 0:shaft -> 1:twist -> C:K_s (tau_s)
  - twist -> R:d_s
  - shaft -> 1:load (omega_l) -> I:J_l
  - load -> R:b_l
  - Se:tau_l -> load
"""
QUARTER_CAR = """
  - Sf:v_r -> 0:tyre (F_t) -> C:K_t
  - tyre -> 1:wheel (v_u) -> I:m_u
  - wheel -> 0:strut -> 1:suspension -> C:K_s (F_s)
  - suspension -> R:b_s
  - strut -> 1:body (v_s) -> I:m_s
"""
HYDRAULIC_CYLINDER = """
  - Se:P_s -> 1:line (Q_l) -> R:R_l
  - line -> I:L_l
  - line -> 0:chamber (P_c) -> C:C_c
  - chamber -> R:G_c
  - chamber -> TF:cylinder -> 1:rod (v_p) -> I:m_p
  - rod -> R:b_p
  - Se:F_l -> rod
elements: {cylinder: {K: 1/A_p}}
"""
TRANSFORMER_TANK = """
  - Se:V -> 1:p -> R:R_s
  - p -> TF:transformer -> 0:s (V_C)
  - s -> C:C
  - s -> I:L (I_L)
  - s -> R:R
elements: {transformer: {K: n}}
"""
CAUER_LOW_PASS = """
  - Se:V -> 1:i -> R:R1
  - i -> 0:n1 (electrical) -> C:C1
  - n1 -> 1:i1 -> 0:k1
  - k1 -> I:L1
  - k1 -> C:C2
  - i1 -> 0:n2 -> C:C3
  - n2 -> 1:i2 -> 0:k2
  - k2 -> I:L2
  - k2 -> C:C4
  - i2 -> 0:n3 -> C:C5
  - n3 -> R:R2
"""
AS_BOND_GRAPHS = {
    "dc_motor": DC_MOTOR,
    "rlc": RLC,
    "spring_damper": SPRING_DAMPER,
    "two_mass_drive": TWO_MASS_DRIVE,
    "quarter_car": QUARTER_CAR,
    "hydraulic_cylinder": HYDRAULIC_CYLINDER,
    "transformer_tank": TRANSFORMER_TANK,
    "cauer_low_pass": CAUER_LOW_PASS,
}


def as_bond_graph(name: str) -> Model:
    """The system that comes along, its network replaced."""
    before, _, rest = (SYSTEMS / f"{name}.yaml").read_text().partition("network:\n")
    experiment = rest[rest.index("experiment:") :]
    return read_model(before + "bond graph:" + AS_BOND_GRAPHS[name] + experiment)


def exact_values(model: Model) -> dict[str, Fraction]:
    values: dict[str, Fraction] = {}
    while len(values) < len(model.parameters):
        for name, parameter in model.parameters.items():
            assert parameter.expression is not None
            if name not in values and parameter.expression.free_symbols <= set(values):
                values[name] = evaluate_exact(parameter.expression, values)
    return values


@pytest.mark.parametrize("name", AS_BOND_GRAPHS)
def test_a_system_written_as_a_bond_graph_has_the_states_and_the_transfer_matrix_of_its_network(name: str) -> None:
    one, two = tellegen.load(name), as_bond_graph(name)
    network, graph = tellegen.derive(one), tellegen.derive(two)
    assert isinstance(network, EquationSystem)
    assert isinstance(graph, EquationSystem)
    assert (graph.states, graph.inputs, graph.outputs) == (network.states, network.inputs, network.outputs)
    first, second = Evaluated(network, exact_values(one)), Evaluated(graph, exact_values(two))
    for s in (Fraction(3, 7), Fraction(41), Fraction(-5, 11), Fraction(1234, 5)):
        assert second.transfer_matrix(s) == first.transfer_matrix(s) is not None


@pytest.mark.parametrize("name", [name for name in AS_BOND_GRAPHS if name != "hydraulic_cylinder"])
def test_a_system_written_as_a_bond_graph_has_the_record_of_its_network(name: str) -> None:
    """In a bond graph the cylinder is TF with e_a = m e_b, so m is one over the area: another parameter to write."""
    assert tellegen.derive(as_bond_graph(name)).to_json() == tellegen.derive(name).to_json()


def test_three_grounded_capacitors_with_a_delta_of_inductors_are_accepted() -> None:
    system = derived(
        """
system: delta
bond graph:
  - Sf:I_s -> 0:a (electrical)
  - a -> C:C_a
  - 0:b -> C:C_b
  - 0:c -> C:C_c
  - a -> 1:ab -> b
  - b -> 1:bc -> c
  - c -> 1:ca -> a
  - ab -> I:L_1
  - bc -> I:L_2
  - ca -> I:L_3
"""
    )
    assert system.states == ("V_C_a", "V_C_b", "V_C_c", "I_L_1", "I_L_2", "I_L_3")
    rows = [
        "0 0 0 1 0 -1",
        "0 0 0 -1 1 0",
        "0 0 0 0 -1 1",
        "-1 1 0 0 0 0",
        "0 -1 1 0 0 0",
        "1 0 -1 0 0 0",
    ]
    assert agree(system.matrices["A"], [row.split() for row in rows])


# -- both readings of every domain (figures 1, 5 and 6 of the corking machine paper) --------------------------------------------

EFFORT_IS_ACROSS = {"electrical": True, "translational": False, "rotational": False, "hydraulic": True}
STORAGE_OF_EFFORT = {
    "electrical": "capacitor",
    "translational": "compliance",
    "rotational": "torsion compliance",
    "hydraulic": "accumulator",
}
STORAGE_OF_FLOW = {
    "electrical": "inductor",
    "translational": "mass",
    "rotational": "inertia",
    "hydraulic": "fluid inertia",
}
SOURCES = {
    "electrical": ("voltage source", "current source"),
    "translational": ("force source", "velocity source"),
    "rotational": ("torque source", "speed source"),
    "hydraulic": ("pressure source", "flow source"),
}


@pytest.mark.parametrize("domain", EFFORT_IS_ACROSS)
def test_sources_and_storages_of_a_bond_graph_are_those_of_the_domain(domain: str) -> None:
    text = (
        f"system: x\nbond graph:\n  - Se:e -> 1:j ({domain}) -> C:c\n  - j -> I:i\n  - j -> 0:k -> Sf:f\n  - k -> R:r\n"
    )
    kinds = {e.name: e.kind.name for e in read_model(text).elements}
    assert kinds["c"] == STORAGE_OF_EFFORT[domain]
    assert kinds["i"] == STORAGE_OF_FLOW[domain]
    assert (kinds["e"], kinds["f"]) == SOURCES[domain]


@pytest.mark.parametrize("domain", EFFORT_IS_ACROSS)
def test_a_one_junction_shares_the_flow_and_adds_efforts(domain: str) -> None:
    """e = p i' + R i + q / c with the flow i shared: the same matrices in every domain."""
    text = f"system: x\nbond graph:\n  - Se:e -> 1:j ({domain})\n  - j -> I:p\n  - j -> R:r\n  - j -> C:c\n"
    system = derived(text)
    assert agree(system.matrices["L"], [["p", "0"], ["0", "c"]])
    assert agree(system.matrices["A"], [["r", "1"], ["-1", "0"]])
    assert agree(system.matrices["B"], [["1"], ["0"]])


@pytest.mark.parametrize("domain", EFFORT_IS_ACROSS)
def test_a_zero_junction_shares_the_effort_and_adds_flows(domain: str) -> None:
    text = f"system: x\nbond graph:\n  - Sf:f -> 0:j ({domain})\n  - j -> C:c\n  - j -> R:r\n  - j -> I:p\n"
    system = derived(text)
    assert agree(system.matrices["L"], [["c", "0"], ["0", "p"]])
    assert agree(system.matrices["A"], [["1/r", "1"], ["-1", "0"]])
    assert agree(system.matrices["B"], [["1"], ["0"]])


@pytest.mark.parametrize(("domain", "across"), EFFORT_IS_ACROSS.items())
def test_elements_at_a_junction_lie_side_by_side_where_it_shares_the_across_variable(domain: str, across: bool) -> None:
    text = f"system: x\nbond graph:\n  - Sf:f -> 0:j ({domain})\n  - j -> C:c\n  - j -> R:r\n"
    nodes = [frozenset(e.nodes) for e in read_model(text).elements]
    assert len(set(nodes)) == (1 if across else 3)


@pytest.mark.parametrize("one", EFFORT_IS_ACROSS)
@pytest.mark.parametrize("two", EFFORT_IS_ACROSS)
def test_a_transformer_relates_efforts_and_flows_along_the_half_arrows(one: str, two: str) -> None:
    """e_a = m e_b, f_b = m f_a: the load c at b draws c e_b' = m f_a, so that p f_a' = u - m e_b."""
    system = derived(
        f"system: x\nbond graph:\n  - Se:u -> 1:a ({one}) -> I:p\n  - a -> TF:m -> 0:b ({two}) -> C:c\n  - b -> R:r\n"
    )
    assert agree(system.matrices["L"], [["p", "0"], ["0", "c"]])
    assert agree(system.matrices["A"], [["0", "m"], ["-m", "1/r"]])


@pytest.mark.parametrize("one", EFFORT_IS_ACROSS)
@pytest.mark.parametrize("two", EFFORT_IS_ACROSS)
def test_a_gyrator_relates_efforts_to_flows_along_the_half_arrows(one: str, two: str) -> None:
    """e_a = r f_b, e_b = r f_a."""
    system = derived(
        f"system: x\nbond graph:\n  - Se:u -> 1:a ({one}) -> I:p\n  - a -> GY:r -> 1:b ({two}) -> I:q\n  - b -> R:d\n"
    )
    assert agree(system.matrices["L"], [["p", "0"], ["0", "q"]])
    assert agree(system.matrices["A"], [["0", "r"], ["-r", "d"]])


def test_a_gear_has_the_ratio_of_torques_as_its_modulus() -> None:
    """tau_a = m tau_b, omega_b = m omega_a: seen from a, the inertia J_b at b counts m^2 times."""
    text = "system: x\nbond graph:\n  - Se:tau -> 1:a (rotational) -> I:J_a\n  - a -> TF:m -> 1:b (rotational)\n"
    text += "  - b -> I:J_b\n  - b -> R:b_b\n"
    system = derived(text)
    assert agree(system.matrices["L"], [["J_a + m^2*J_b"]])
    assert agree(system.matrices["A"], [["m^2*b_b"]])


# -- signs ---------------------------------------------------------------------------------------------------------------------


def test_a_source_that_a_half_arrow_points_at_takes_power() -> None:
    """The effort is that of its bond, and the output turns so that output times input is the power supplied."""
    towards = derived("system: x\nbond graph:\n  - Se:u -> 1:j (electrical) -> I:L\n  - j -> R:R\n")
    away = derived("system: x\nbond graph:\n  - 1:j (electrical) -> Se:u\n  - j -> I:L\n  - j -> R:R\n")
    assert agree(towards.matrices["B"], [["1"]])
    assert agree(away.matrices["B"], [["-1"]])
    assert agree(away.matrices["C"], [["-1"]])


def test_a_source_of_flow_that_a_half_arrow_points_at_draws_its_flow() -> None:
    system = derived("system: x\nbond graph:\n  - 0:j (hydraulic) -> Sf:Q\n  - j -> C:C\n  - j -> R:R\n")
    assert agree(system.matrices["B"], [["-1"]])
    assert agree(system.matrices["C"], [["-1"]])


@pytest.mark.parametrize("domain", EFFORT_IS_ACROSS)
def test_a_storage_with_its_half_arrow_turned_keeps_the_sign_of_its_bond(domain: str) -> None:
    """On a 1-junction e_u = -e_c + r f with f = -c e_c' and e_c the effort of the bond: c e_c' = -(u + e_c) / r."""
    system = derived(f"system: x\nbond graph:\n  - Se:u -> 1:j ({domain}) -> R:r\n  - C:c -> j\n")
    assert agree(system.matrices["A"], [["1/r"]])
    assert agree(system.matrices["B"], [["-1/r"]])
    assert agree(system.matrices["L"], [["c"]])
    system = derived(f"system: x\nbond graph:\n  - Sf:u -> 0:j ({domain}) -> R:r\n  - I:p -> j\n")
    assert agree(system.matrices["A"], [["r"]])
    assert agree(system.matrices["B"], [["-r"]])


def test_half_arrows_between_junctions_say_which_way_efforts_and_flows_add() -> None:
    """With a -> k and b -> k the flows of a and b both enter the 0-junction; turned, they pass through it."""
    text = "system: x\nbond graph:\n  - Se:u -> 1:a (electrical) -> I:L_a\n  - a -> 0:k -> C:C\n  - 1:b -> I:L_b\n  - b -> R:R\n"
    meeting, passing = derived(text + "  - b -> k\n"), derived(text + "  - k -> b\n")
    assert agree(meeting.matrices["A"], [["0", "1", "0"], ["-1", "0", "-1"], ["0", "1", "R"]])
    assert agree(passing.matrices["A"], [["0", "1", "0"], ["-1", "0", "1"], ["0", "-1", "R"]])


def test_a_junction_that_only_passes_power_on_changes_nothing() -> None:
    direct = derived("system: x\nbond graph:\n  - Sf:u -> 0:a (electrical) -> C:C\n  - a -> R:R\n")
    detour = "system: x\nbond graph:\n  - Sf:u -> 0:a (electrical) -> 1:x -> 0:y -> 1:z -> 0:b -> C:C\n  - b -> R:R\n"
    assert derived(detour).to_json() == direct.to_json()


def test_two_nodes_whose_half_arrows_meet_at_an_empty_junction_have_opposite_efforts() -> None:
    text = "system: x\nbond graph:\n  - Sf:u -> 0:a (electrical) -> R:R\n  - a -> 1:x\n  - 0:b -> x\n  - b -> C:C\n"
    system = derived(text + "  - b -> R:R_b\n")
    assert agree(system.matrices["A"], [["1/R + 1/R_b"]])
    assert agree(system.matrices["B"], [["-1"]])


def test_a_mass_between_two_speeds_is_accepted_because_the_bond_graph_says_so() -> None:
    system = derived("system: x\nbond graph:\n  - Sf:v -> 0:j (translational) -> I:m\n  - j -> R:b\n")
    assert agree(system.matrices["A"], [["b"]])
    assert agree(system.matrices["B"], [["b"]])


# -- names, domains, values ----------------------------------------------------------------------------------------------------


def test_the_name_at_a_junction_goes_to_the_storage_that_decides_what_it_shares() -> None:
    text = "system: x\nbond graph:\n  - Se:V -> 1:i (I_a, electrical)\n  - i -> C:C\n  - i -> R:R\n  - i -> I:L\n"
    assert derived(text).states == ("V_C", "I_a")


def test_the_name_at_a_junction_without_such_a_storage_goes_to_a_resistive_element() -> None:
    model = read_model("system: x\nbond graph:\n  - Se:V -> 1:i (I_a, electrical)\n  - i -> C:C\n  - i -> R:R\n")
    assert element(model, "R").variables == {"through": "I_a"}
    assert element(model, "C").variables == {}


def test_notes_may_stand_at_any_mention_of_an_item() -> None:
    text = "system: x\nbond graph:\n  - j (I_a) -> I:L\n  - Se:V -> 1:j (electrical)\n  - j -> R:R (V_R)\n"
    model = read_model(text)
    assert element(model, "L").variables == {"through": "I_a"}
    assert element(model, "R").variables == {"across": "V_R"}


def test_a_junction_may_share_its_name_with_a_parameter() -> None:
    text = "system: x\nparameters: {R: 3 ohm, j: 2 H}\nelements: {L: {L: j}}\n"
    text += "bond graph:\n  - Se:V -> 1:R_1 -> I:L\n  - R_1 -> R:R\n"
    named_alike = text.replace("R_1", "j")
    assert derived(named_alike).to_json() == derived(text).to_json()


def test_junctions_are_nodes_and_not_elements() -> None:
    model = read_model(MOTOR_AS_BOND_GRAPH)
    names = ["V_a", "L_a", "R_a", "K_m", "J_m", "b_m", "K_p", "C_0", "alpha_p", "Q_0"]
    assert [e.name for e in model.elements] == names
    assert {"w", "p"} <= {node for e in model.elements for node in e.nodes}


@pytest.mark.parametrize(
    ("unit", "kind"),
    [("N/m", "spring"), ("m/N", "compliance"), ("N*m/rad", "torsion spring"), ("Pa/m^3", "stiff chamber")],
)
def test_the_unit_of_a_parameter_tells_a_stiffness_from_a_compliance(unit: str, kind: str) -> None:
    text = f"system: x\nparameters: {{K: 3 {unit}}}\nbond graph:\n  - Sf:v -> 0:j -> C:K\n  - j -> R:b\n"
    assert element(read_model(text), "K").kind.name == kind


@pytest.mark.parametrize(
    ("unit", "kind"), [("ohm", "resistor"), ("S", "conductance"), ("N*s/m", "damper"), ("m/(N*s)", "mobility")]
)
def test_the_unit_of_a_parameter_tells_a_resistance_from_a_conductance(unit: str, kind: str) -> None:
    text = f"system: x\nparameters: {{k: 3 {unit}}}\nbond graph:\n  - Sf:v -> 0:j -> R:k\n  - j -> C:c\n"
    assert element(read_model(text), "k").kind.name == kind


def test_the_key_of_a_value_tells_the_kind_where_no_parameter_does() -> None:
    text = "system: x\nbond graph:\n  - Sf:v -> 0:j (translational) -> C:spring\n  - j -> R:b\nelements: {spring: {K: 3 N/m}}\n"
    assert element(read_model(text), "spring").kind.name == "spring"


@pytest.mark.parametrize("text", [MOTOR_AS_BOND_GRAPH, MOTOR_AS_LADDER], ids=["bond graph", "ladder"])
def test_the_network_behind_a_notation_can_be_written_and_read_again(text: str) -> None:
    model = read_model(text)
    assert tellegen.derive(read_model(tellegen.to_yaml(model))).to_json() == tellegen.derive(model).to_json()


def test_masses_of_the_network_behind_a_bond_graph_are_against_the_frame() -> None:
    """Also where one hangs on a 0-junction, or where three of them meet at one, so that the network can be read again."""
    text = (
        "system: x\nbond graph:\n  - Sf:v -> 0:j (translational) -> I:m_1\n  - j -> R:b\n"
        "  - I:m_2 -> j\n  - j -> 1:k -> I:m_3\n  - k -> R:b_3\n  - j -> I:m_4\n"
    )
    model = read_model(text)
    assert {e.nodes[1] for e in model.elements if e.kind.name == "mass"} == {"frame"}
    again = read_model(tellegen.to_yaml(model))
    assert tellegen.derive(again).to_json()["states"] == tellegen.derive(model).to_json()["states"]


def test_items_bonded_without_a_junction_share_both_variables() -> None:
    system = derived("system: x\nbond graph:\n  - Se:V (electrical) -> TF:n -> C:C (hydraulic)\n")
    assert system.states == ()
    assert agree(system.matrices["D_1"], [["C/n^2"]])


# -- elements and experiment ---------------------------------------------------------------------------------------------------


def test_values_initial_values_and_laws_come_from_the_elements_part() -> None:
    details = (
        "elements:\n  C_0: {initial: 2 bar, causality: force integral}\n  alpha_p: {law: 'Q = 3e-9*P*abs(P)'}\n"
        "  K_p: {K: 2e-6 m^3/rad}\n  J_m: {initial: 10 rad/s}\n"
    )
    model = read_model(MOTOR_AS_BOND_GRAPH + details)
    initial = element(model, "C_0").initial
    assert initial is not None
    assert evaluate_exact(initial, {}) == 200_000
    assert element(model, "C_0").forced
    assert element(model, "alpha_p").law is not None
    assert element(model, "J_m").initial is not None
    value = element(model, "K_p").value
    assert value is not None
    assert evaluate_exact(value, {}) == Fraction(2, 10**6)


def test_inputs_and_initial_values_of_the_experiment_use_the_names_of_the_bond_graph() -> None:
    experiment = (
        "experiment: {inputs: {V_a: step(24 V), Q_0: 0}, initial: {I_a: 1 A, P_0: 3 bar}, outputs: [omega_m]}\n"
    )
    model = read_model(MOTOR_AS_BOND_GRAPH + experiment)
    assert set(model.experiment.inputs) == {"V_a", "Q_0"}
    assert set(model.experiment.initial) == {"I_a", "P_0"}
    assert model.experiment.outputs == ("omega_m",)


def test_a_bond_graph_is_a_value_that_knows_the_bonds_of_its_items() -> None:
    bonds = (PowerBond("V", "j"), PowerBond("j", "R"))
    graph = BondGraph({"V": BondItem("V", "Se"), "j": BondItem("j", "1"), "R": BondItem("R", "R")}, bonds)
    assert list(graph.bonds_of("j")) == list(bonds)
    assert list(graph.bonds_of("R")) == [bonds[1]]
    assert not graph.bonds_of("nothing")
    assert graph == BondGraph(dict(graph.items), bonds)


@pytest.mark.parametrize("arrow", ["->", "→", "⇀", "⇁", "-7"])
def test_half_arrows_are_read_as_people_draw_them(arrow: str) -> None:
    text = (
        f"system: x\nparameters: {{R: 1 ohm, L: 1 H}}\nbond graph: ['Se:V {arrow} 1:i {arrow} I:L', 'i {arrow} R:R']\n"
    )
    one, two = (tellegen.derive(read_model(t)) for t in (text, text.replace(arrow, "->")))
    assert one.to_json() == two.to_json()


@pytest.mark.parametrize(("line", "name"), [("Se:V -> 1:1", "1:i"), ("1 -> R:R", "1:i"), ("Sf:V -> 0:12", "0:p")])
def test_a_number_as_a_name_is_told(line: str, name: str) -> None:
    with pytest.raises(tellegen.DescriptionError, match=rf"it is a number(?s:.)*write '{name}'"):
        read_model(f"system: x\nbond graph: ['{line}']\n")


@pytest.mark.parametrize(
    ("law", "side"), [("i = g*v^3", "through"), ("v = g*i^3", "across"), ("through = g*across^3", "through")]
)
def test_a_one_port_with_a_law_names_what_the_law_gives(law: str, side: str) -> None:
    """The same name behind `R` in a network, where a key says which variable it is, and after a translation there and back."""
    text = (
        "system: one\nparameters: {C: 1 F, g: 2, r: 1 ohm}\nbond graph:\n"
        "  - 0:a (u, electrical) -> C:C\n  - a -> 1:b\n  - b -> R:r\n"
        f'  - b -> R:N (z)\nelements: {{N: {{law: "{law}"}}}}\nexperiment: {{until: 1 s, initial: {{u: 1 V}}, outputs: [z]}}\n'
    )
    model = read_model(text)
    (element,) = (e for e in model.elements if e.name == "N")
    assert element.variables == {side: "z"}
    run = tellegen.simulate(model, progress=False)
    value = run.through("N") if side == "through" else run.across("N")
    assert run.values("z") == pytest.approx(value.values)
    for notation in ("bond", "network", "pog"):
        again = tellegen.simulate(read_model(tellegen.translate(model, notation)), progress=False)
        assert again.values("z") == pytest.approx(run.values("z"), rel=1e-6)
