"""The table of both readings: across / through of POGs and effort / flow of bond graphs, in every domain and for every coupling.

Series, parallel and sources as in figure 1 of the corking machine paper, transformers and gyrators as in figures 5 and 6. A mass is
D_e and I, a spring D_f and C; parallel is a 0-junction where the across variable is the effort, a 1-junction where it is the flow.
"""

import pytest

from schemes.comparing import assert_same
from support.networks import Network, agree, causality, equations, network
from tellegen.causality import assign_causality
from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.elements import KINDS, ElementKind, kinds_of
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.schemes import BondGraphScheme, bond_graph, bond_graph_text, ladder_text, pog

POWER_DOMAINS = [name for name in DOMAINS if {k.side for k in kinds_of(name, "storage")} == {"across", "through"}]
COUPLINGS = {kind.name: kind for kind in KINDS.values() if kind.role == "coupling" and not kind.heat}


def kind(domain: str, role: str, side: str) -> str:
    """A kind of element that gives a power variable, and does not divide by its parameter."""
    found = [k for k in kinds_of(domain, role) if k.side == side and not k.inverse]  # type: ignore[arg-type]
    return found[0].name


def raised(described: Network) -> BondGraphScheme:
    return bond_graph(causality(described))


def through_source(domain: Domain) -> tuple[str, str, str, str]:
    return ("u", kind(domain.name, "source", "through"), domain.reference, "a")


def test_all_domains_have_both_storages() -> None:
    assert {"electrical", "translational", "rotational", "hydraulic"} <= set(POWER_DOMAINS)


@pytest.mark.parametrize("name", POWER_DOMAINS)
def test_elements_side_by_side_share_the_across_variable(name: str) -> None:
    domain = DOMAINS[name]
    ground = domain.reference
    scheme = raised(
        network(
            through_source(domain),
            ("x", kind(name, "storage", "across"), "a", ground),
            ("r", kind(name, "resistive", "through"), "a", ground),
        )
    )
    (junction,) = scheme.junctions.values()
    assert junction.letters == ("0" if domain.effort == "across" else "1")
    assert not junction.series


@pytest.mark.parametrize("name", POWER_DOMAINS)
def test_elements_one_after_the_other_share_the_through_variable(name: str) -> None:
    domain = DOMAINS[name]
    scheme = raised(
        network(
            ("u", kind(name, "source", "across"), "a", domain.reference),
            ("x", kind(name, "storage", "through"), "a", "b"),
            ("r", kind(name, "resistive", "across"), "b", domain.reference),
        )
    )
    (junction,) = scheme.junctions.values()
    assert junction.letters == ("1" if domain.effort == "across" else "0")
    assert junction.series


@pytest.mark.parametrize("name", POWER_DOMAINS)
@pytest.mark.parametrize("side", ["across", "through"])
def test_storages_and_sources_have_the_letters_of_what_they_give(name: str, side: str) -> None:
    domain = DOMAINS[name]
    ground, gives_effort = domain.reference, domain.effort == side
    nodes = ("a", ground) if side == "across" else (ground, "a")
    scheme = raised(
        network(
            ("u", kind(name, "source", side), *nodes),
            ("r", kind(name, "resistive", "across"), "a", "b"),
            ("x", kind(name, "storage", side), "b", ground),
        )
    )
    assert scheme.kind_of("u") == ("Se" if gives_effort else "Sf")
    assert scheme.kind_of("x") == ("C" if gives_effort else "I")


def swaps(kind: ElementKind) -> int:
    """How many sides of a coupling are mechanical, where the two readings swap."""
    return sum(DOMAINS[domain].effort == "through" for domain in kind.domains)


@pytest.mark.parametrize("name", COUPLINGS)
def test_a_transducer_with_one_mechanical_side_is_a_transformer_in_one_reading_and_a_gyrator_in_the_other(
    name: str,
) -> None:
    kind_ = COUPLINGS[name]
    one, two = (DOMAINS[domain] for domain in kind_.domains)
    described = network(
        ("u", kind(one.name, "source", "across"), "a", one.reference),
        ("x", kind(one.name, "storage", "through"), "a", "b"),
        ("k", name, "b", one.reference, "c", two.reference),
        ("y", kind(two.name, "storage", "across"), "c", two.reference),
        ("r", kind(two.name, "resistive", "through"), "c", two.reference),
    )
    (two_port,) = raised(described).two_ports.values()
    like = kind_.coupling == "transformer"
    assert two_port.kind == ("TF" if like == (swaps(kind_) != 1) else "GY")


@pytest.mark.parametrize("one", POWER_DOMAINS)
@pytest.mark.parametrize("two", POWER_DOMAINS)
@pytest.mark.parametrize("kind", ["TF", "GY"])
def test_a_two_port_of_a_bond_graph_is_raised_with_its_own_letters_and_modulus(one: str, two: str, kind: str) -> None:
    storage = "C:c" if kind == "TF" else "I:c"
    head = "0" if kind == "TF" else "1"
    text = (
        f"system: x\nbond graph:\n  - Se:u -> 1:a ({one}) -> I:p\n  - a -> {kind}:m -> {head}:b ({two}) -> {storage}\n"
        "  - b -> R:r\n"
    )
    (two_port,) = bond_graph(assign_causality(lower(read_model(text)))).two_ports.values()
    assert two_port.kind == kind
    assert str(two_port.modulus) == "m"


# -- connections with a matrix ---------------------------------------------------------------------------------------------------


def storing(domain: Domain, side: Side) -> str:
    """The letter of the storage of a bond graph that gives a power variable."""
    return "I" if domain.flow == side else "C"


def with_matrix(one: Domain, two: Domain, gives: Side) -> str:
    """Two lanes in series, K (3 x 2) from their through variables, and three lanes behind that take what K gives."""
    way, shared = ("series", "through") if gives == "across" else ("parallel", "across")
    first, second = storing(one, "through"), storing(two, other_side(gives))
    assert shared == other_side(gives)
    return f"""
system: x
parameters: {{p_1: 2, p_2: 3, q_1: 5, q_2: 7, q_3: 11, k_11: 1, k_12: 2, k_21: 3, k_22: 5, k_31: 7, k_32: 4}}
pog:
  - domain: {one.name}
  - section: {{across: [e_1, e_2], through: [f_1, f_2], given: [e_1, e_2]}}
  - series: [[{first}:p_1, {first}:p_2]]
  - connect: {{name: K, K: [[k_11, k_12], [k_21, k_22], [k_31, k_32]], gives: {gives}}}
  - domain: {two.name}
  - {way}: [[{second}:q_1, {second}:q_2, {second}:q_3]]
"""


@pytest.mark.parametrize("one", POWER_DOMAINS)
@pytest.mark.parametrize("two", POWER_DOMAINS)
@pytest.mark.parametrize("gives", ["across", "through"])
def test_a_matrix_of_a_connection_holds_in_both_readings(one: str, two: str, gives: Side) -> None:
    """K leads forward and K^T back, whatever the domains; like variables make a transformer, others a gyrator."""
    model = read_model(with_matrix(DOMAINS[one], DOMAINS[two], gives))
    system = equations(model)
    K = [["k_11", "k_12"], ["k_21", "k_22"], ["k_31", "k_32"]]
    assert agree([row[:2] for row in system.matrices["A"][2:]], [[f"-{e}" for e in row] for row in K])
    assert agree([row[2:] for row in system.matrices["A"][:2]], [list(row) for row in zip(*K, strict=True)])
    causal = assign_causality(lower(model))
    scheme = bond_graph(causal, vectors=True)
    like = (DOMAINS[one].flow == "through") == (DOMAINS[two].flow == gives)
    assert {item.kind for item in scheme.two_ports.values()} == {"TF" if like else "GY"}
    for text in (bond_graph_text(scheme, model=model), ladder_text(pog(causal), model=model)):
        assert_same(causal, assign_causality(lower(read_model(text))), by_name=True)


@pytest.mark.parametrize("name", ["thermal", "heat", "magnetic"])
def test_domains_with_one_storage_have_the_readings_of_the_electrical_one(name: str) -> None:
    """Temperature and magnetomotive force are across and efforts: what is side by side is a 0-junction, a capacity is C."""
    domain = DOMAINS[name]
    ground = domain.reference
    beside = (
        ("r", kind(name, "resistive", "through"))
        if kinds_of(name, "resistive")
        else ("y", kind(name, "storage", "across"))
    )
    scheme = raised(
        network(through_source(domain), ("x", kind(name, "storage", "across"), "a", ground), (*beside, "a", ground))
    )
    assert scheme.kind_of("x") == "C"
    assert scheme.kind_of("u") == "Sf"
    assert all(junction.letters == "0" and not junction.series for junction in scheme.junctions.values())
