"""On a vector junction all bonds are vector bonds, of its own size and with its own shared variable; nothing is lost by that."""

from collections import Counter

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from schemes.comparing import legal_causality
from support.examples import causal_example
from support.networks import Network
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import GraphError
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.schemes import BondGraphScheme, bond_graph
from tellegen.schemes.names import common_stem
from tellegen.schemes.vector_folding import LaneChoice
from tellegen.workflow.files import examples

LANES: tuple[LaneChoice, ...] = ("joined", "alike")
LANE_WORDS = {
    "resistor": "R_{k}: {{resistor: [{a}, {b}]}}",
    "inductor": "L_{k}: {{inductor: [{a}, {b}]}}",
    "capacitor": "C_{k}: {{capacitor: [{a}, gnd]}}",
    "conductor": "G_{k}: {{resistor: [{a}, gnd]}}",
}


def assert_flows_agree(scheme: BondGraphScheme) -> None:
    """Whatever is bonded to a junction shares its variable, with as many components."""
    for name, junction in scheme.junctions.items():
        for bond in scheme.bonds_of(name):
            assert bond.size == max(junction.size, 1), f"{bond} at {name}"
            assert bond.variable(junction.shares) == junction.variable


def assert_whole(scheme: BondGraphScheme, causal: CausalGraph) -> None:
    """Every scalar bond is in one bond of the figure, and every element in one item."""
    scalar = bond_graph(causal, vectors=True)
    parts = [part.port.element for item in scheme.one_ports.values() for part in (item.parts or (item,))]
    assert Counter(parts) == Counter(port.element for port in causal.graph.ports)
    assert sum(bond.size for bond in scheme.bonds) == sum(bond.size for bond in scalar.bonds)
    origins = [name for two_port in scheme.two_ports.values() for name in two_port.origins]
    assert {*origins} == {name for two_port in scalar.two_ports.values() for name in two_port.origins}


@pytest.mark.parametrize("lanes", LANES)
def test_junctions_of_the_examples_share_one_vector(lanes: LaneChoice) -> None:
    for example in examples():
        causal = causal_example(example.name)
        scheme = bond_graph(causal, vectors=True, lanes=lanes)
        assert_flows_agree(scheme)
        assert_whole(scheme, causal)


@given(networks())
def test_junctions_of_random_networks_share_one_vector(described: Network) -> None:
    causal = legal_causality(described)
    for lanes in LANES:
        scheme = bond_graph(causal, vectors=True, lanes=lanes)
        assert_flows_agree(scheme)
        assert_whole(scheme, causal)


@st.composite
def coupled_lanes(draw: st.DrawFn) -> tuple[str, bool]:
    """Lanes of like elements through coupled coils into one shaft, and whether one of them has what the others have not."""
    count, odd = draw(st.integers(2, 4)), draw(st.booleans())
    before, after = (draw(st.lists(st.sampled_from(sorted(LANE_WORDS)), max_size=2, unique=True)) for _ in range(2))
    lines: list[str] = []
    ends: list[str] = []
    for k in range(1, count + 1):
        here, names = f"a_{k}", Counter[str]()
        lines.append(f"  V_{k}: {{voltage source: [{here}, gnd]}}")
        for place, words in enumerate((before, ["coil"], after)):
            for word in words:
                if word == "coil":
                    ends += [here, f"c_{k}"]
                    here = f"c_{k}"
                    continue
                names[word] += 1
                following = f"{word}_{place}_{k}"
                said = LANE_WORDS[word].format(k=f"{k}" + "x" * names[word], a=here, b=following)
                lines.append(f"  {said}")
                here = here if "gnd" in said else following
        ends_at = here
        lines.append(f"  R_end{k}: {{resistor: [{ends_at}, m_{k}]}}")
    if odd:
        lines.append("  R_odd: {resistor: [c_1, gnd]}")
    matrix = [[f"{3 if i == j else -1} mH" for j in range(count)] for i in range(count)]
    lines.append(
        f"  coils: {{inductor field: [{', '.join(ends)}], matrix: [{', '.join('[' + ', '.join(r) + ']' for r in matrix)}]}}"
    )
    motor = ", ".join(f"m_{k}, gnd" for k in range(1, count + 1))
    factors = " + ".join(f"{k}*(1 N*m/A)*through_{k}" for k in range(1, count + 1))
    domains = ", ".join(["electrical"] * count)
    lines.append(
        f"  rotor: {{multiport: [{motor}, w, frame], domains: [{domains}, rotational], relation: through_{count + 1} = {factors}}}"
    )
    lines += ["  J: {inertia: [w]}", "  b: {friction: [w, frame]}"]
    return "system: lanes\nnetwork:\n" + "\n".join(lines) + "\n", odd


@given(coupled_lanes())
def test_lanes_with_coupled_coils_are_vectors_unless_one_is_odd(described: tuple[str, bool]) -> None:
    text, odd = described
    try:
        causal = assign_causality(lower(read_model(text)))
    except GraphError:
        reject()  # two storages that fight, say
    for lanes in LANES:
        scheme = bond_graph(causal, vectors=True, lanes=lanes)
        assert_flows_agree(scheme)
        assert_whole(scheme, causal)
        if odd and lanes == "joined":
            (rotor,) = (bond for bond in scheme.bonds_of("rotor")[:1])
            assert rotor.size == 1 or scheme.junctions[rotor.other("rotor")].size == rotor.size


def test_two_vectors_whose_components_have_one_stem_have_two_names() -> None:
    lanes = "".join(
        f"""
  V_{k}: {{voltage source: [a_{k}, gnd]}}
  L_{k}x: {{inductor: [a_{k}, b_{k}]}}
  C_{k}: {{capacitor: [b_{k}, gnd]}}
  L_{k}xx: {{inductor: [c_{k}, m_{k}]}}"""
        for k in (1, 2)
    )
    relation = "through_3 = 1*(1 N*m/A)*through_1 + 2*(1 N*m/A)*through_2"
    rotor = f"{{multiport: [m_1, gnd, m_2, gnd, w, frame], domains: [electrical, electrical, rotational], relation: {relation}}}"
    coils = "coils: {inductor field: [b_1, c_1, b_2, c_2], matrix: [[3 mH, -1 mH], [-1 mH, 3 mH]]}"
    causal = assign_causality(
        lower(read_model(f"system: stems\nnetwork:{lanes}\n  {coils}\n  rotor: {rotor}\n  J: {{inertia: [w]}}\n"))
    )
    scheme = bond_graph(causal, vectors=True, lanes="alike")
    assert_flows_agree(scheme)
    assert_whole(scheme, causal)


def test_the_motor_is_drawn_by_vectors() -> None:
    scheme = bond_graph(causal_example("pmsm"), vectors=True, lanes="joined")
    drawn = {(scheme.kind_of(name), len(item.parts)) for name, item in scheme.one_ports.items()}
    assert {("Se", 3), ("R", 3), ("I", 3)} <= drawn
    assert sorted(bond.size for bond in scheme.bonds_of("rotor")) == [1, 3]


def test_both_motors_of_the_corking_machine_are_one_vector_of_six_phases() -> None:
    scheme = bond_graph(causal_example("corking_machine"), vectors=True, lanes="alike")
    assert max(bond.size for bond in scheme.bonds) == 6
    (rotor,) = (item for item in scheme.two_ports.values() if item.kind == "GY")
    assert (len(rotor.matrix), len(rotor.matrix[0])) == (2, 6)
    assert [[str(e) for e in row] for row in rotor.matrix] == [
        ["K_e1", "K_e2", "K_e3", "0", "0", "0"],
        ["0", "0", "0", "K_r1", "K_r2", "K_r3"],
    ]


@pytest.mark.parametrize(
    ("names", "stem"),
    [
        (["I_1", "I_2"], "I"),
        (["vx_0", "vy_0"], "v_0"),
        (["F_m_2x", "F_m_2y"], "F_m_2"),
        (["V_e1", "V_e2"], "V_e"),
        (["screw.R_1", "screw.R_2"], "R"),
        (["V_screw_1", "V_spline_1"], "V"),
        (["a", "b"], ""),
    ],
)
def test_a_vector_is_called_by_what_its_components_have_in_common(names: list[str], stem: str) -> None:
    assert common_stem(names) == stem
