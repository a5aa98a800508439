import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemes.comparing import assert_equals_matrix, assert_same, causal_of, legal_causality, written_out
from support.amount import small_now
from support.examples import causal_example
from support.networks import Network, Part, agree, causality, element, law, model, network
from support.strategies import networks
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import GraphError, TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.expressions import is_zero, parse
from tellegen.graph import ResistiveLaw, SourceLaw, lower
from tellegen.graph.power_graph import argument
from tellegen.notations.loading import load
from tellegen.schemes import (
    PogScheme,
    SchemeBlock,
    Summation,
    change_sign,
    check_signs,
    elementary_loops,
    ladder_text,
    path_gains,
    pog,
    section_parity,
)
from tellegen.schemes.pog_writing import LadderFormat
from tellegen.workflow.files import examples

NAMES = [example.name for example in examples()]
V_R, E_M, Q_P, C_P, Q_U = "V_r", "E_m", "Q_p", "C_p", "Q_u"


@pytest.fixture
def motor_pump() -> PogScheme:
    return pog(causal_example("dc_motor_pump"))


def directions(scheme: PogScheme) -> dict[tuple[str, str], str]:
    return {(s.across, s.through): s.direction for s in scheme.sections.values()}


# -- the motor and pump of the lecture -----------------------------------------------------------------------------------------


def test_ladder_of_the_lecture(motor_pump: PogScheme) -> None:
    assert motor_pump.chained
    assert not motor_pump.vectorial
    (ladder,) = motor_pump.ladders
    assert [(column.kind, column.name) for column in ladder.columns] == [
        ("series", "L_a"),
        ("series", "R_a"),
        ("connection", "motor"),
        ("parallel", "J_m"),
        ("parallel", "b_m"),
        ("connection", "pump"),
        ("parallel", "C_0"),
        ("parallel", "alpha_p"),
    ]


def test_sections_of_the_lecture(motor_pump: PogScheme) -> None:
    assert list(directions(motor_pump).items()) == [
        (("V_a", "I_a"), "right"),
        ((V_R, "I_a"), "right"),
        ((E_M, "I_a"), "right"),
        (("omega_m", "C_m"), "right"),
        (("omega_m", "tau_J_m_b_m"), "right"),
        (("omega_m", C_P), "right"),
        (("P_0", Q_P), "right"),
        (("P_0", Q_U), "right"),
        (("P_0", "Q_0"), "left"),
    ]
    upper = [section.variable(section.upper) for section in motor_pump.sections.values()]
    assert upper == ["V_a", V_R, E_M, "omega_m", "omega_m", "omega_m", Q_P, Q_U, "Q_0"]


def test_blocks_and_sums_of_the_lecture(motor_pump: PogScheme) -> None:
    inductor = motor_pump.blocks["L_a"]
    assert (inductor.input, inductor.output, inductor.integrator, inductor.energy) == ("V_L_a", "I_a", True, "phi_L_a")
    assert inductor.gain is not None
    assert motor_pump.blocks["alpha_p"].integrator is False
    assert motor_pump.summations["V_L_a"] == Summation("V_L_a", (("V_a", 1), (V_R, -1)))
    assert motor_pump.summations[V_R] == Summation(V_R, (("V_R_a", 1), (E_M, 1)))
    assert motor_pump.summations[Q_U] == Summation(Q_U, (("Q_alpha_p", 1), ("Q_0", -1)))
    assert agree([[motor_pump.blocks["motor"].gain, motor_pump.blocks["motor_transposed"].gain]], [["K_m", "K_m"]])  # type: ignore[list-item]


def test_five_loops_have_one_minus_sign_each(motor_pump: PogScheme) -> None:
    loops = elementary_loops(motor_pump)
    assert [loop.minus_signs for loop in loops] == [1] * 5
    assert {frozenset(loop.blocks) for loop in loops} == {
        frozenset(("L_a", "R_a")),
        frozenset(("L_a", "motor", "J_m", "motor_transposed")),
        frozenset(("J_m", "b_m")),
        frozenset(("J_m", "pump", "C_0", "pump_transposed")),
        frozenset(("C_0", "alpha_p")),
    }


def test_parities_of_the_lecture(motor_pump: PogScheme) -> None:
    parities = list(section_parity(motor_pump).values())
    assert [p.right for p in parities] == ["even"] * 8 + [""]
    assert [p.left for p in parities] == [""] + ["odd"] * 7 + ["even"]
    assert [p.direction for p in parities] == [s.direction for s in motor_pump.sections.values()]
    assert check_signs(motor_pump).test == "section by section"
    assert check_signs(motor_pump).consistent


def test_path_gains_of_the_lecture(motor_pump: PogScheme) -> None:
    A, B = path_gains(motor_pump)
    assert agree(A, [["R_a", "K_m", "0"], ["-K_m", "b_m", "K_p"], ["0", "-K_p", "alpha_p"]])
    assert agree(B, [["1", "0"], ["0", "0"], ["0", "1"]])


@pytest.mark.parametrize(
    ("variables", "flipped"),
    [
        ((V_R, Q_U), {(V_R, "I_a"), ("P_0", Q_U)}),
        (
            (E_M, "omega_m", Q_P),
            {(E_M, "I_a"), ("omega_m", "C_m"), ("omega_m", "tau_J_m_b_m"), ("omega_m", C_P), ("P_0", Q_P)},
        ),
        ((C_P, "P_0"), {("omega_m", C_P), ("P_0", Q_P), ("P_0", Q_U), ("P_0", "Q_0")}),
    ],
    ids="abc",
)
def test_sign_changes_of_the_lecture(
    motor_pump: PogScheme, variables: tuple[str, ...], flipped: set[tuple[str, str]]
) -> None:
    changed = change_sign(motor_pump, variables).scheme
    before, after = directions(motor_pump), directions(changed)
    assert {key for key in before if before[key] != after[key]} == flipped
    assert all(loop.odd for loop in elementary_loops(changed))
    assert check_signs(changed).consistent
    assert all(block.sign == 1 for block in changed.blocks.values())
    assert change_sign(changed, variables).scheme == motor_pump


def test_a_wrong_sign_is_found(motor_pump: PogScheme) -> None:
    sums = dict(motor_pump.summations)
    sums["tau_J_m"] = Summation("tau_J_m", (("C_m", 1), ("tau_J_m_b_m", 1)))
    wrong = replace(motor_pump, summations=sums)
    assert not check_signs(wrong).consistent
    assert not all(loop.odd for loop in elementary_loops(wrong))


def test_signs_inside_a_connection_count(motor_pump: PogScheme) -> None:
    changed = change_sign(motor_pump, [E_M]).scheme
    assert changed.blocks["motor_transposed"].sign == -1
    assert all(loop.odd for loop in elementary_loops(changed))
    assert check_signs(changed).consistent
    motor = motor_pump.blocks["motor"]
    assert motor.gain is not None
    flipped: SchemeBlock = replace(motor, gain=-motor.gain, sign=-1)
    wrong = replace(motor_pump, blocks={**motor_pump.blocks, "motor": flipped})
    assert not check_signs(wrong).consistent


def test_an_unknown_variable_is_refused(motor_pump: PogScheme) -> None:
    with pytest.raises(GraphError, match="did you mean 'omega_m'"):
        change_sign(motor_pump, ["omega_n"])


def test_ladder_text_of_the_lecture(motor_pump: PogScheme) -> None:
    assert LadderFormat(motor_pump).write()[0] == [
        {"domain": "electrical"},
        {"section": ["V_a", "I_a"]},
        {"series": ["L:L_a"]},
        {"section": ["V_r", "none"]},
        {"series": ["R:R_a"]},
        {"connect": "motor"},
        {"domain": "rotational"},
        {"parallel": ["J:J_m", "b:b_m"]},
        {"connect": "pump"},
        {"domain": "hydraulic"},
        {"parallel": ["C:C_0"]},
        {"section": ["none", "Q_u"]},
        {"parallel": ["G:alpha_p"]},
        {"section": ["P_0", "Q_0"]},
    ]
    details = {
        "motor": {"K": "K_m", "across_1": "E_m", "through_2": "C_m"},
        "J_m": {"angular velocity": "omega_m"},
        "pump": {"K": "K_p", "through_1": "C_p", "through_2": "Q_p"},
    }
    assert LadderFormat(motor_pump).write()[1] == details


# -- meshes and trees ----------------------------------------------------------------------------------------------------------


def delta() -> Network:
    """Three grounded capacitors and a delta of inductors."""
    return network(
        ("C_1", "capacitor", "a", "gnd"),
        ("C_2", "capacitor", "b", "gnd"),
        ("C_3", "capacitor", "c", "gnd"),
        ("L_1", "inductor", "a", "b"),
        ("L_2", "inductor", "b", "c"),
        ("L_3", "inductor", "c", "a"),
        ("I", "current source", "gnd", "a"),
    )


def test_a_delta_is_vectorial_and_its_signs_are_accepted_by_the_skew_test() -> None:
    scheme = pog(causality(delta()))
    assert scheme.vectorial
    assert scheme.ladders == ()
    check = check_signs(scheme)
    assert (check.test, check.consistent) == ("skew", True)
    assert any(not loop.odd for loop in elementary_loops(scheme))  # round the mesh


def test_a_wrong_sign_in_a_mesh_is_found() -> None:
    scheme = pog(causality(delta()))
    first = scheme.summations["V_L_1"]
    wrong = Summation("V_L_1", tuple((name, 1) for name, _ in first.inputs))
    check = check_signs(replace(scheme, summations={**scheme.summations, "V_L_1": wrong}))
    assert check.problems == ("C_2 and L_1",)


def test_the_vector_block_holds_the_matrices_of_a_mesh() -> None:
    causal = causality(delta())
    scheme, system = pog(causal), derive_equations(causal)
    assert scheme.vector is not None
    assert scheme.vector.states == system.states
    assert_equals_matrix(system, "L", scheme.vector.L)
    assert_equals_matrix(system, "A", scheme.vector.A)
    assert_equals_matrix(system, "B", scheme.vector.B)


def test_changing_signs_in_a_mesh_keeps_the_vector_block_right() -> None:
    scheme = change_sign(pog(causality(delta())), ["V_C_1", "I_L_2"]).scheme
    assert scheme.vector is not None
    A, B = path_gains(scheme)
    assert (scheme.vector.A, scheme.vector.B) == (A, B)
    assert check_signs(scheme).consistent


def test_side_branches_start_at_branch_columns() -> None:
    scheme = pog(causal_example("two_mass_drive"))
    assert not scheme.chained
    assert not scheme.vectorial
    (ladder,) = scheme.ladders
    branches = [column for column in ladder.columns if column.branch is not None]
    assert [column.kind for column in branches] == ["branch"]
    assert branches[0].branch is not None
    assert [column.name for column in branches[0].branch.columns] == ["K_s", "d_s"]
    assert {"series branch": [{"parallel": ["K:K_s", "b:d_s"]}]} in LadderFormat(scheme).write()[0]


def test_algebraic_loops_are_solved_by_masons_rule() -> None:
    causal = causality(
        network(
            ("V", "voltage source", "a", "gnd"),
            ("R_1", "resistor", "a", "b"),
            ("R_2", "resistor", "b", "gnd"),
            ("R_3", "resistor", "b", "c"),
            ("C", "capacitor", "c", "gnd"),
        )
    )
    A, _ = path_gains(pog(causal))
    assert agree(A, [["1/(R_3 + R_1*R_2/(R_1 + R_2))"]])


def test_a_nonlinear_law_follows_its_variables() -> None:
    described = model(
        element("V", "voltage source", "a", "gnd"),
        element("R", "resistor", "a", "b", law=law("resistive", "i", "R_1*i + R_2*i^2")),
        element("L", "inductor", "b", "gnd"),
    )
    scheme = pog(assign_causality(lower(described)))
    assert scheme.blocks["R"].gain is None
    turned = change_sign(scheme, ["I_L"]).scheme.blocks["R"].law
    assert isinstance(turned, ResistiveLaw)
    assert turned.expression is not None
    assert is_zero(turned.expression - parse("R_1*x - R_2*x^2").substitute({"x": argument()}))


def test_loops_are_listed_up_to_a_number() -> None:
    with pytest.raises(GraphError, match="more than 2"):
        elementary_loops(pog(causal_example("dc_motor_pump")), most=2)


# -- dependent storages, fields, and models without strokes ----------------------------------------------------------------------


def test_dependent_storages_are_one_vector_block_and_derivative_blocks_on_request() -> None:
    causal = causal_example("crank_rod")
    scheme, system = pog(causal), derive_equations(causal)
    assert scheme.vector is not None
    assert_equals_matrix(system, "L", scheme.vector.L)
    assert str(scheme) == "vectorial: L x' + N x = -A x + B u, x = [omega], u = [tau, F]"
    asked = pog(causal, derivative=True)
    assert asked.chained
    assert asked.blocks["m_p"].kind == "derivative"
    assert asked.blocks["J_m"].kind == "storage"


def test_a_ratio_that_moves_gives_n() -> None:
    causal = causal_example("crank_rod")
    scheme, system = pog(causal), derive_equations(causal)
    assert scheme.vector is not None
    point = system.values() | {"theta": 0.7, "omega": 3.0}
    for name, e in causal.graph.position_dependent.items():
        point[name] = e.evaluate(point)
    for name, e in system.where.items():
        point[name] = e.evaluate(point)
    assert scheme.vector.N[0][0].evaluate(point) == pytest.approx(system.matrices["N"][0][0].evaluate(point), rel=1e-12)


def test_any_scheme_can_be_asked_for_as_one_vector_block() -> None:
    scheme = pog(causal_example("dc_motor_pump"), vectorial=True)
    assert scheme.vector is not None
    assert agree(scheme.vector.A, [["R_a", "K_m", "0"], ["-K_m", "b_m", "K_p"], ["0", "-K_p", "alpha_p"]])


WHOLE = """\
system: motor as one vector block
parameters: {L_a: 2 mH, J_m: 1e-3 kg*m^2, R: 0.5 ohm, K: 0.15 N*m/A, b: 2e-3 N*m*s}
pog:
  - domain: [electrical, rotational]
  - section: [[V, omega], [I, tau]]
  - mixed: [[L:L_a, J:J_m], {power: losses, matrix: [[R, K], [-K, b]]}]
    ways: [series, parallel]
"""


def test_a_resistive_field_is_a_block_with_several_inputs() -> None:
    causal = causal_of(WHOLE)
    scheme = assert_scheme_is_right(causal)
    block = scheme.blocks["losses_1"]
    assert block.field == "losses"
    assert [name for name, _ in block.terms] == ["omega"]
    loops = elementary_loops(scheme)
    assert len(loops) == 3
    assert all(loop.odd for loop in loops)
    assert_same(causal, causal_of(ladder_text(scheme)), by_name=True)


def test_a_resistive_field_asked_backwards_is_solved_for() -> None:
    text = (
        "system: x\npog:\n  - domain: electrical\n  - section: [[V_1, V_2], [I_1, I_2]]\n"
        "  - series: [{R: field, matrix: [[3, 1], [1, 2]]}]\n  - parallel: [[C:C_1, C:C_2]]\n"
    )
    block = assert_scheme_is_right(causal_of(text)).blocks["field_1"]
    assert block.gain is not None
    assert agree([[block.gain, *(gain for _, gain in block.terms)]], [["2/5", "-1/5"]])


def test_a_model_without_strokes_has_a_scheme_port_by_port() -> None:
    """Three gyrators in a ring leave no choice of strokes, but the variables can be solved for."""
    causal = causal_of(
        "system: x\nparameters: {r: 2, R: 1, L: 1, C: 3}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b]}\n"
        "  g_1: {connection: [b, gnd, c, gnd], domains: [electrical, electrical], relation: through_2 = r*across_1}\n"
        "  g_2: {connection: [c, gnd, d, gnd], domains: [electrical, electrical], relation: through_2 = r*across_1}\n"
        "  g_3: {connection: [d, gnd, b, gnd], domains: [electrical, electrical], relation: through_2 = r*across_1}\n"
        "  L: {inductor: [c, gnd]}\n  C: {capacitor: [d, gnd]}\n"
    )
    scheme = assert_scheme_is_right(causal)
    assert_same(causal, causal_of(ladder_text(scheme)), by_name=True)


def test_blocks_and_sections_tell_their_variables_and_units(motor_pump: PogScheme) -> None:
    inertia = motor_pump.blocks["J_m"]
    assert (inertia.input, inertia.input_unit) == ("tau_J_m", "N*m")
    assert (inertia.output, inertia.output_unit) == ("omega_m", "rad/s")
    assert (inertia.energy, inertia.energy_unit) == ("p_J_m", "N*m*s")
    motor = motor_pump.blocks["motor"]
    assert (motor.input_unit, motor.output_unit, motor.energy) == ("A", "N*m", "")
    first = next(iter(motor_pump.sections.values()))
    assert (first.unit("across"), first.unit("through")) == ("V", "A")


def test_an_element_between_a_node_and_itself_takes_part_in_nothing() -> None:
    described = model(
        element("V", "voltage source", "a", "gnd"),
        element("R", "resistor", "a", "gnd"),
        element("G", "conductance", "a", "a"),
    )
    scheme = pog(assign_causality(lower(described)))
    assert scheme.bond_graph is None
    assert scheme.vectorial
    assert check_signs(scheme).consistent


# -- all examples, and random models -------------------------------------------------------------------------------------------


def assert_scheme_is_right(causal: CausalGraph) -> PogScheme:
    scheme, system = pog(causal), derive_equations(causal)
    A, B = path_gains(scheme)
    assert_equals_matrix(system, "A", A)
    assert_equals_matrix(system, "B", B)
    check = check_signs(scheme)
    meshed = scheme.vectorial or any(block.terms for block in scheme.blocks.values())
    assert check.test == ("skew" if meshed else "section by section")
    assert check.consistent, check.problems
    if not meshed:
        assert all(loop.odd for loop in elementary_loops(scheme))
    return scheme


@pytest.mark.parametrize("name", small_now(NAMES))
def test_examples_are_raised(name: str) -> None:
    assert_scheme_is_right(causal_example(name))


def test_a_modulus_that_no_file_could_hold_has_names_for_its_parts() -> None:
    text = ladder_text(pog(causal_example("trolley_folder")), model=load("trolley_folder"))
    assert re.search(
        r"^  k_9: h\*cos\(rod_1.phi\)\*sin\(link_1.phi\) - h\*cos\(link_1.phi\)\*sin\(rod_1.phi\)", text, re.M
    )
    assert re.search(r"^  k_10: .*\bk_\d", text, re.M), "a part reads those before it"
    assert len(text) < 100_000


@pytest.mark.parametrize("name", small_now(NAMES))
def test_examples_come_back_from_their_ladder(name: str) -> None:
    causal = causal_example(name)
    again = causal_of(ladder_text(pog(causal), model=load(name)))
    assert_same(causal, again, by_name=True)
    for k, switching in causal.graph.switching.items():
        for mode in switching.modes:
            name = causal.graph.ports[k].element
            one, two = in_mode(causal, name, mode), in_mode(again, name, mode)
            assert (one is None) == (two is None)
            if one is not None and two is not None:
                assert_same(one, two, by_name=True)


@pytest.mark.parametrize("name", [name for name in NAMES if not causal_example(name).graph.switching])
def test_examples_come_back_from_a_ladder_without_their_model(name: str) -> None:
    causal = causal_example(name)
    assert_same(causal, causal_of(ladder_text(pog(causal))), by_name=True)


def in_mode(causal: CausalGraph, name: str, mode: str) -> CausalGraph | None:
    """The causal graph with one element in another mode; None where physics forbids it."""
    try:
        return assign_causality(causal.graph.in_mode({name: mode}))
    except TellegenError as error:
        if error.code != "K107":
            raise
        return None


@pytest.mark.parametrize("name", [name for name in NAMES if causal_example(name).graph.switching])
def test_modes_need_their_model_in_a_ladder(name: str) -> None:
    with pytest.raises(GraphError, match="has modes, and the scheme does not know their settings"):
        ladder_text(pog(causal_example(name)))


def test_elements_with_modes_stand_in_a_ladder() -> None:
    entries, details = LadderFormat(pog(causal_example("buck_converter")), load("buck_converter")).write()
    assert {"series": ["Sw:S"]} in entries
    assert {"branch": [{"series": ["-Sw:D"]}]} in entries
    assert details["D"] == {"kind": "diode"}
    assert details["S"]["kind"] == "switch"


@given(networks())
def test_random_networks_are_raised(described: Network) -> None:
    scheme = assert_scheme_is_right(legal_causality(described))
    if scheme.vector is not None:
        system = derive_equations(scheme.causal)
        assert_equals_matrix(system, "L", scheme.vector.L)
        assert_equals_matrix(system, "B_1", scheme.vector.B_1)


@given(networks(), st.randoms(use_true_random=False))
def test_changing_signs_keeps_the_parity_of_loops(described: Network, chance: object) -> None:
    scheme = pog(legal_causality(described))
    signals = scheme.signals()
    changed = change_sign(scheme, chance.sample(signals, len(signals) // 3)).scheme  # type: ignore[attr-defined]
    assert check_signs(changed).consistent

    def parities(of: PogScheme) -> set[tuple[frozenset[str], bool]]:
        return {(frozenset(loop.signals), loop.odd) for loop in elementary_loops(of)}

    assert parities(changed) == parities(scheme)
    for section in scheme.sections.values():
        assert section.across in signals


@st.composite
def ladders(draw: st.DrawFn) -> str:
    """The text of a random ladder: stages of one domain, with blocks of either kind, joined by connections."""
    letters = {
        "electrical": ("C", "L", "R", "G"),
        "translational": ("M", "E", "d", "b"),
        "rotational": ("J", "K", "d", "b"),
        "hydraulic": ("C", "L", "R", "G"),
    }
    count = 0
    lines, parameters = [], []
    for stage in range(draw(st.integers(1, 3))):
        domain = draw(st.sampled_from(sorted(letters)))
        if stage:
            count += 1
            parameters.append(f"k{count}")
            lines.append(f"connect: k{count}")
        lines.append(f"domain: {domain}")
        if not stage:
            lines.append("section: [u_1, y_1]" if draw(st.booleans()) else "section: [y_1, u_1]")
        for _ in range(draw(st.integers(1, 3))):
            names = []
            for _ in range(draw(st.integers(1, 3))):
                count += 1
                parameters.append(f"p{count}")
                names.append(f'"{draw(st.sampled_from(letters[domain]))}:p{count}"')
            lines.append(f"{draw(st.sampled_from(('series', 'parallel')))}: [{', '.join(names)}]")
    if draw(st.booleans()):
        lines.append("section: [a_2, f_2]")
    values = "".join(f"  {name}:\n" for name in parameters)
    return f"system: ladder\nparameters:\n{values}pog:\n" + "".join(f"  - {line}\n" for line in lines)


@given(networks())
def test_random_networks_come_back_from_their_ladder(described: Network) -> None:
    causal = legal_causality(described)
    scheme = pog(causal)
    try:
        again = ladder_text(scheme)
    except GraphError as error:
        # A terminal that nothing meets, or no storage and no loss; a mesh in which a storage depends on others.
        sources_alone = all(isinstance(port.law, SourceLaw) for port in causal.graph.ports)
        knotted = scheme.vectorial and bool(causal.derivative)
        assume(error.code != "G204" or not (causal.graph.has_loose_end() or sources_alone or knotted))
        raise
    assert_same(causal, causal_of(again), by_name=True)


@pytest.mark.parametrize(
    "parts",
    [
        # Two levers hold both their sides still; a capacitor is open; an inertia and a capacitor stand still, one beside a source.
        "a: {spring: [x, frame], K: 1}, b: {spring: [y, frame], law: F = x + x^3}, f: {force source: [y, frame]}, "
        "l: {lever: [x, frame, y, frame], n: 2}, m: {lever: [x, frame, y, frame], n: 3}",
        "a: {spring: [x, frame], K: 1}, l: {lever: [x, frame, y, frame], n: 2}, m: {lever: [x, frame, y, frame], n: 3}, "
        "f: {force source: [y, frame]}",
        "V: {voltage source: [a]}, C: {capacitor: [a], C: 1}, q: {capacitor: [b], C: 2}, J: {inertia: [s], J: 1}, "
        "l: {dc machine: [b, gnd, s, frame], K: 2}, m: {dc machine: [b, gnd, s, frame], K: 3}, d: {inertia: [z], J: 1}, "
        "e: {friction: [z, frame], b: 1}",
        "V: {voltage source: [a]}, R: {resistor: [a], R: 1}, C: {capacitor: [b, gnd], C: 1}, D: {capacitor: [b, c], C: 1}, "
        "G: {gyrator: [c, d, e, gnd], r: 2}, L: {inductor: [e, gnd], L: 1}, M: {inductor: [c, d], L: 1}",
    ],
)
def test_what_is_told_nothing_has_a_place_in_a_ladder(parts: str) -> None:
    text = "system: Still\nnetwork:\n" + "".join(f"  {line}\n" for line in re.split(r", (?=\w+: \{)", parts))
    causal = causal_of(text)
    assert_same(causal, causal_of(ladder_text(pog(causal))), by_name=True)


@given(ladders())
def test_random_ladders_come_back(text: str) -> None:
    try:
        causal = causal_of(text)
        derive_equations(causal)
    except TellegenError:  # a source may meet its like, or a storage stand still
        assume(False)
    try:
        again = ladder_text(pog(causal))
    except GraphError as error:
        assume(error.code != "G204")
        raise
    assert_same(causal, causal_of(again), by_name=True)


def test_gains_are_written_without_names() -> None:
    causal = causal_example("cauer_low_pass")
    system = derive_equations(causal)
    A, _ = path_gains(pog(causal))
    assert all(
        is_zero(a - written_out(system, b))
        for row, line in zip(A, system.matrices["A"], strict=True)
        for a, b in zip(row, line, strict=True)
    )


def test_lanes_that_would_meet_again_behind_a_connection_are_not_begun_together() -> None:
    """The second lane of the right section is that of a source at the left: two lanes there would be two nodes instead of one."""
    causal = causal_of("""system: test
parameters: {p1: , p2: }
pog:
  - domain: [rotational]
  - section: [a1, t1]
  - parallel: [-J:p1]
  - connect: {name: k, K: [[1], [1]]}
  - domain: [rotational, electrical]
  - series: [{energy: field1, matrix: [[1, 0], [0, 1]]}]
  - parallel: [[-J:p2, none], {power: field2, matrix: [[1, 0], [0, 1]]}]
  - section: [[a2, a3], [t2, t3]]
""")
    assert_same(causal, causal_of(ladder_text(pog(causal))), by_name=True)


def test_sources_and_connections_alone_are_no_ladder() -> None:
    described = network(("v", "velocity source", "a", "frame"), ("C", "piston", "b", "tank", "a", "frame"), C=2)
    with pytest.raises(GraphError, match="nothing stores or loses energy") as refused:
        ladder_text(
            pog(causality(described.with_parts([*described.parts, Part("Q", "pressure source", ("b", "tank"))])))
        )
    assert refused.value.code == "G204"
