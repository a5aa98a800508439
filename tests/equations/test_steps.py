"""The derivation step by step: what it says, and that the gains of its paths add up to the entries."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tellegen as tg
from support.amount import small_now
from support.evaluated import Evaluated, legal
from support.networks import Network, element, equations, law, model
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import DescriptionError, TellegenError
from tellegen.core.language import LANGUAGES, Language, Phrases
from tellegen.equations.derivation import derive_equations
from tellegen.equations.forms.linearisation import linearise_equations
from tellegen.equations.paths import MOST_COUPLED
from tellegen.equations.printing.explanation import AlgebraicLoop, ExplainedEntry, NamedFormula, Sentence
from tellegen.equations.printing.text import steps_to_text
from tellegen.equations.steps import Explanation, derivation_steps
from tellegen.equations.system import EquationSystem, with_values
from tellegen.expressions import ZERO, Expression, evaluate_exact, is_zero, parse, total
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import lower
from tellegen.notations.reading import read_model

EXAMPLES = [example.name for example in tg.examples()]

MOTOR_AND_PUMP = """\
DC motor driving a hydraulic pump, step by step

1. States, inputs and outputs

  The states are the output power variables of the storages in integral causality:
    x_1 = I_a, the current of L_a
    x_2 = omega_m, the angular velocity of J_m
    x_3 = P_0, the pressure of C_0
  The inputs are what the sources impose, the outputs what answers them, so that y^T u is the power
  supplied:
    u_1 = V_a, y_1 = I_a, at the source V_a
    u_2 = Q_0, y_2 = P_0, at the source Q_0

2. Energy matrix

  The constitutive relations link energy variables to outputs:
      phi_L_a = I_a*L_a
      p_J_m = J_m*omega_m
      V_C_0 = C_0*P_0
  Their coefficients, or slopes where a relation is not linear, are the entries of L:

        ⎡ L_a   0    0  ⎤
    L = ⎢  0   J_m   0  ⎥
        ⎣  0    0   C_0 ⎦

3. Matrices A and B

  A[i,j] is minus the gain of the paths from the state x_j to the input of the storage of x_i that
  cross no other integrator, and B[i,j] the gain of those from the input u_j.
    A[1,1] = R_a: I_a -> R_a -> I_a
    A[1,2] = K_m: omega_m -> motor -> I_a
    A[2,1] = -K_m: I_a -> motor -> omega_m
    A[2,2] = b_m: omega_m -> b_m -> omega_m
    A[2,3] = K_p: P_0 -> pump -> omega_m
    A[3,2] = -K_p: omega_m -> pump -> P_0
    A[3,3] = alpha_p: P_0 -> alpha_p -> P_0
    B[1,1] = 1: V_a -> I_a
    B[3,2] = 1: Q_0 -> P_0
  All other entries are zero.
  So the matrices are:

        ⎡ R_a   K_m      0    ⎤
    A = ⎢ -K_m  b_m     K_p   ⎥
        ⎣  0    -K_p  alpha_p ⎦

        ⎡ 1  0 ⎤
    B = ⎢ 0  0 ⎥
        ⎣ 0  1 ⎦

4. Matrices C and D

  C[i,j] and D[i,j] are the gains of the paths to the output y_i, from the state x_j and from the
  input u_j.
    C[1,1] = 1: I_a -> I_a
    C[2,3] = 1: P_0 -> P_0
  D is zero: no path leads from an input to an output without crossing an integrator.

5. Checks

    3 storages, 0 dependent: 3 states.
    L is symmetric.
    A is the sum of A_s, which dissipates, and A_w, which only redistributes:

          ⎡ R_a   0      0    ⎤
    A_s = ⎢  0   b_m     0    ⎥
          ⎣  0    0   alpha_p ⎦

          ⎡  0    K_m    0  ⎤
    A_w = ⎢ -K_m   0    K_p ⎥
          ⎣  0    -K_p   0  ⎦

    The resistive elements dissipate:
      P_d = I_a^2*R_a + P_0^2*alpha_p + b_m*omega_m^2
    C = B^T: each output answers its input along the same paths.
"""

PAGE_18 = """\
system: POG_Modeler manual, page 18
network:
  V:  {voltage source: [a, gnd]}
  Ra: {resistor: [a, c]}
  Cb: {capacitor: [c, gnd]}
  Rc: {resistor: [c, d]}
  Ld: {inductor: [d, gnd]}
  RL: {resistor: [d, gnd]}
"""


def entry(steps: Explanation, matrix: str, row: int, column: int = 0) -> ExplainedEntry:
    return next(e for e in steps.entries() if (e.matrix, e.row, e.column) == (matrix, row, column))


def loops(steps: Explanation) -> list[AlgebraicLoop]:
    return [item for section in steps.sections for item in section.items if isinstance(item, AlgebraicLoop)]


def routes(explained: ExplainedEntry) -> dict[str, str]:
    return {" -> ".join(path.stops): str(path.gain) for path in explained.paths}


def written(steps: Explanation, expression: Expression) -> Expression:
    deltas = {loop.name: loop.determinant for loop in loops(steps) if loop.rounds}
    relations = {i.name: i.value for s in steps.sections for i in s.items if isinstance(i, NamedFormula)}
    decided = {name: e for name, e in relations.items() if name not in {*steps.states, "P_d"}}
    return with_definitions(expression, {**steps.where, **deltas, **decided})


def assert_entries_are_sums_of_paths(steps: Explanation, system: EquationSystem) -> None:
    """Every entry that is not zero is explained, and its paths add up to it."""
    for name in ("A", "B", "C", "D"):
        filled = {
            (i, j): e for i, row in enumerate(system.matrices[name], 1) for j, e in enumerate(row, 1) if e is not ZERO
        }
        explained = {(e.row, e.column): e for e in steps.entries() if e.matrix == name}
        assert explained.keys() == filled.keys()
        for place, e in explained.items():
            assert e.value == filled[place]
    for e in steps.entries():
        assert is_zero(written(steps, e.value - total(path.gain for path in e.paths))), e.place


# -- what it says --------------------------------------------------------------------------------------------------------------


def test_the_motor_with_pump_is_derived_as_in_the_lecture() -> None:
    assert str(tg.derive("dc_motor_pump", steps=True)) == MOTOR_AND_PUMP


def test_the_sign_of_the_lecture_makes_the_entries_the_gains_themselves() -> None:
    steps = derivation_steps(tg.derive("dc_motor_pump"), sign="+")
    assert routes(entry(steps, "A", 2, 3)) == {"P_0 -> pump -> omega_m": "-K_p"}
    assert str(entry(steps, "A", 2, 3).value) == "-K_p"
    assert "A[i,j] is the gain" in str(steps)


def test_the_circuit_of_the_manual_has_one_loop_of_two_resistors() -> None:
    steps = tg.derive(read_model(PAGE_18), steps=True)
    (loop,) = loops(steps)
    assert loop.members == ("Rc", "RL")
    assert [(path.stops, str(path.gain)) for path in loop.rounds] == [(("Rc", "RL", "Rc"), "-RL/Rc")]
    assert is_zero(loop.determinant - parse("1 + RL/Rc"))
    assert routes(entry(steps, "A", 1, 1)) == {"V_Cb -> Ra -> V_Cb": "1/Ra", "V_Cb -> Rc -> V_Cb": "1/(Delta*Rc)"}
    assert routes(entry(steps, "A", 1, 2)) == {"I_Ld -> RL -> Rc -> V_Cb": "RL/(Delta*Rc)"}
    assert routes(entry(steps, "A", 2, 2)) == {"I_Ld -> RL -> I_Ld": "RL/Delta"}
    assert_entries_are_sums_of_paths(steps, tg.derive(read_model(PAGE_18)))


def test_three_resistors_in_a_loop_have_cofactors() -> None:
    text = (
        "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b]}\n  R_2: {resistor: [b, c]}\n"
        "  R_3: {resistor: [b, gnd]}\n  C: {capacitor: [c, gnd]}\n"
    )
    steps = tg.derive(read_model(text), steps=True)
    (loop,) = loops(steps)
    assert set(loop.members) == {"R_1", "R_2", "R_3"}
    paths = [path for e in steps.entries() for path in e.paths]
    assert any(str(path.cofactor) != "1" for path in paths)
    assert_entries_are_sums_of_paths(steps, tg.derive(read_model(text)))


def test_a_larger_loop_is_solved_by_elimination_and_names_its_members() -> None:
    text = (
        "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b]}\n  R_2: {resistor: [b, c]}\n"
        "  R_3: {resistor: [b, gnd]}\n  R_4: {resistor: [b, gnd]}\n  C: {capacitor: [c, gnd]}\n"
    )
    steps = tg.derive(read_model(text), steps=True)
    (path,) = entry(steps, "A", 1, 1).paths
    assert set(path.eliminated) == {"R_1", "R_2", "R_3", "R_4"}
    assert "solved by elimination" in str(steps)
    assert "V_C -> (R_1, R_2, R_3, R_4) -> V_C" in " ".join(str(steps).split())
    assert_entries_are_sums_of_paths(steps, tg.derive(read_model(text)))


def test_dependent_storages_are_told_with_what_they_depend_on_and_their_transformation() -> None:
    text = str(tg.derive("cauer_low_pass", steps=True))
    assert "V_C2 of C2 depends on C1, C3" in text
    assert "V_C2 = V_C1 - V_C3" in text
    assert "the energy matrix is L = T^T L_0 T" in text
    assert "⎢ 1  0  -1  0  0  ⎥" in text
    assert "7 storages, 2 dependent: 5 states." in text


def test_a_source_at_a_storage_shows_its_share_of_the_outputs() -> None:
    text = (
        "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C_1: {capacitor: [a, b]}\n  C_2: {capacitor: [b, gnd]}\n"
        "  R: {resistor: [b, gnd]}\n"
    )
    steps = tg.derive(read_model(text), steps=True)
    assert "T_u" in str(steps)
    assert "B_1" in str(steps)
    assert_entries_are_sums_of_paths(steps, tg.derive(read_model(text)))


def test_a_path_names_the_couplings_in_the_order_it_meets_them() -> None:
    text = (
        "system: s\nparameters: {k: 2 N*m/A, n: 3}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  L: {inductor: [a, b]}\n"
        "  gear: {gear: [m, frame, l, frame], n: n}\n  motor: {dc machine: [b, gnd, m, frame], K: k}\n  J: {inertia: [l]}\n"
    )
    steps = tg.derive(read_model(text), steps=True)
    assert [path.stops for path in entry(steps, "A", 1, 2).paths] == [("omega_J", "gear", "motor", "I_L")]
    assert [path.stops for path in entry(steps, "A", 2, 1).paths] == [("I_L", "motor", "gear", "omega_J")]


def test_a_modulus_without_a_symbol_names_its_coupling_too() -> None:
    text = (
        "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  t: {transformer: [a, gnd, b, gnd], n: 2}\n"
        "  L: {inductor: [b, gnd]}\n"
    )
    steps = tg.derive(read_model(text), steps=True)
    assert entry(steps, "B", 1, 1).paths[0].stops == ("V", "t", "I_L")


def test_laws_that_are_not_linear_are_collected_in_f() -> None:
    spring = element("s", "spring", "m", "frame", law=law("output", "x", "K*x + k*x^3", "through"))
    friction = element("c", "damper", "m", "frame", law=law("resistive", "v", "F_0*tanh(v/v_0)", "through"))
    parts = (element("F", "force source", "frame", "m"), element("m", "mass", "m", "frame"), spring, friction)
    steps = derivation_steps(equations(model(*parts)))
    assert routes(entry(steps, "f", 1)) == {"F_s -> v_m": "F_s", "F_c -> v_m": "F_c"}
    assert "x_2 = x_s, the displacement of s, whose law gives the force" in str(steps)
    assert_entries_are_sums_of_paths(steps, equations(model(*parts)))


def test_a_model_without_storages_has_only_direct_paths() -> None:
    text = "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd]}\n"
    steps = tg.derive(read_model(text), steps=True)
    assert routes(entry(steps, "D", 1, 1)) == {"V -> R -> I_V": "1/R"}
    assert "0 storages, 0 dependent: 0 states." in str(steps)


# -- sums of paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", small_now(EXAMPLES))
def test_the_paths_of_an_example_add_up_to_its_entries(name: str) -> None:
    system = tg.derive(name)
    assert_entries_are_sums_of_paths(derivation_steps(system), system)


@given(networks())
def test_the_paths_of_a_random_network_add_up_to_its_entries(network: Network) -> None:
    evaluated = legal(network)
    steps = derivation_steps(evaluated.system)
    for e in steps.entries():
        found = sum((value(steps, evaluated, path.gain) for path in e.paths), Fraction(0))
        assert found == value(steps, evaluated, e.value), e.place


@given(networks(resistive=True), st.sets(st.integers(0, 9)))
def test_curved_laws_in_any_place_are_explained(network: Network, curved: set[int]) -> None:
    """In loops, beside linear elements and alone: their paths add up, or the explanation ends in an error of its own."""
    model = network.model()
    lossy = [e for e in model.elements if e.kind.role == "resistive"]
    cubics = {side: law("resistive", "x", "2*x + 3*x^3", side) for side in ("across", "through")}
    bent = {e.name: replace(e, value=None, law=cubics[e.kind.side]) for k, e in enumerate(lossy) if k in curved}
    try:
        system = derive_equations(
            assign_causality(lower(replace(model, elements=tuple(bent.get(e.name, e) for e in model.elements))))
        )
    except TellegenError:
        assume(False)
        raise
    assert steps_to_text(derivation_steps(system))


def value(steps: Explanation, evaluated: Evaluated, expression: Expression) -> Fraction:
    return evaluate_exact(written(steps, expression), evaluated.values)


@given(networks())
def test_only_large_loops_and_rates_are_left_to_elimination(network: Network) -> None:
    """So nothing else can hide in what is not explained by paths."""
    evaluated = legal(network)
    steps = derivation_steps(evaluated.system)
    for e in steps.entries():
        for path in e.paths:
            if path.eliminated and not (e.matrix in {"C", "D"} and evaluated.has_input_rates):
                assert len(path.eliminated) > MOST_COUPLED


def test_numbers_and_linearisations_are_refused() -> None:
    system = tg.derive("dc_motor")
    for changed in (with_values(system), linearise_equations(system, {})):
        with pytest.raises(ValueError, match=r"paths|causal graph"):
            derivation_steps(changed)


def test_other_forms_have_no_steps() -> None:
    with pytest.raises(DescriptionError, match="step by step"):
        tg.derive("rlc", form="tf", steps=True)


# -- printouts -----------------------------------------------------------------------------------------------------------------


def test_the_record_lists_the_paths_of_each_entry() -> None:
    record = tg.derive(read_model(PAGE_18), steps=True).to_json()
    steps = record["steps"]
    assert isinstance(steps, list)
    assert steps[2]["loops"][0]["members"] == ["Rc", "RL"]
    first = steps[2]["entries"][0]
    assert (first["matrix"], first["row"], first["column"]) == ("A", 1, 1)
    assert first["paths"][1] == {
        "gain": "1/(Delta*Rc)",
        "forward": "1/Rc",
        "cofactor": "1",
        "delta": "Delta",
        "through": ["V_Cb", "Rc", "V_Cb"],
    }


def test_latex_sets_paths_beside_their_gains() -> None:
    text = tg.derive("dc_motor", steps=True).to_latex()
    assert "A_{1,2} &= K && \\omega \\to \\mathrm{motor} \\to I" in text
    assert text.count("\\begin{align*}") == text.count("\\end{align*}")
    assert text.count("\\begin{itemize}") == text.count("\\end{itemize}")
    assert "`" not in text
    assert text.count("$") % 2 == 0


def test_the_text_keeps_to_the_width_and_to_ascii() -> None:
    steps = tg.derive("dc_motor_pump", steps=True)
    text = steps_to_text(steps, width=70, unicode=False)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 70


def test_sentences_hold_no_marks_when_they_are_printed() -> None:
    steps = tg.derive("cauer_low_pass", steps=True)
    sentences = [item.plain for section in steps.sections for item in section.items if isinstance(item, Sentence)]
    assert sentences
    assert not any("`" in text or "$" in text for text in sentences)


# -- what a teacher would leave out, and what not ------------------------------------------------------------------------------


def test_open_and_closed_switches_make_no_paths_without_gain() -> None:
    steps = tg.derive("buck_converter", steps=True)
    text = str(steps)
    assert "hold in the mode S: closed, D: blocking." in text
    assert "Delta" not in text
    assert all(path.gain is not ZERO for entry in steps.entries() for path in entry.paths)
    assert "B[1,1] = 1: V -> I_L" in text


@pytest.mark.parametrize("name", small_now(example.name for example in tg.examples()))
def test_no_path_of_an_example_is_without_gain(name: str) -> None:
    steps = tg.derive(name, steps=True)
    assert all(path.gain is not ZERO for entry in steps.entries() for path in entry.paths)


def test_a_matrix_wider_than_the_page_is_not_listed_twice() -> None:
    text = str(tg.derive("corking_shaft", steps=True))
    assert text.count("A[5,5] = b_m + d_sr + cos(alpha)^2*d_se") == 1
    assert "A has the entries above" in text


def test_heat_is_told_apart_from_power() -> None:
    text = str(tg.derive("motor_heating", steps=True))
    assert "With T_w, T_h it is otherwise: temperature times heat flow is no power." in text
    assert "comes back through R_a_heat, b_m_heat" in text
    assert "controllers" not in text


def test_rates_of_inputs_come_with_their_formula() -> None:
    steps = tg.derive("stick_slip", steps=True)
    assert "D_1 = T_u^T L_0 (T_u + T L^-1 B_1)" in " ".join(str(steps).split())
    assert r"\mathbf{L}^{-1} \mathbf{B}_{1}" in steps.to_latex()
    assert "A is zero: the states neither lose power nor exchange it." in str(steps)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["dc_motor_pump", "planetary_gear", "crank_rod", "motor_heating", "cauer_low_pass"])
def test_a_derivation_is_told_in_every_language_with_the_same_formulas(name: str, language: Language) -> None:
    system = tg.derive(name)
    told, english = derivation_steps(system, language=language), derivation_steps(system)
    assert told.entries() == english.entries()
    assert [len(s.items) for s in told.sections] == [len(s.items) for s in english.sections]
    assert all("{" not in item.text for s in told.sections for item in s.items if isinstance(item, Sentence))
    if language != "en":
        texts = [
            {i.text for s in steps.sections for i in s.items if isinstance(i, Sentence)} for steps in (told, english)
        ]
        assert not {text for text in texts[0] & texts[1] if text.count(" ") > 6}


def test_every_power_and_energy_variable_has_its_word_in_every_language() -> None:
    for domain in DOMAINS.values():
        for variable in (domain.across, domain.through, domain.across_energy, domain.through_energy):
            assert all(Phrases(language).quantity(variable.word) for language in LANGUAGES)
