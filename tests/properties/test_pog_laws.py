"""Laws of POG schemes: their equations are those of their entries, they keep power, and every translation keeps them."""

from fractions import Fraction

from hypothesis import assume, given

from schemes.comparing import assert_equals_matrix, assert_same, causal_of
from support import exact
from support.evaluated import CONFLICTS, Evaluated
from support.pog_texts import Pog, pogs
from support.strategies import laplace_points
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.expressions import evaluate_exact
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.schemes import bond_graph, bond_graph_text, check_signs, elementary_loops, ladder_text, path_gains, pog
from tellegen.schemes.algebra.checks import wrong_gains
from tellegen.schemes.names import plain_name

FORBIDDEN = (*CONFLICTS, "K103", "D113", "G101", "G104", "G107")
"""Sources that fight, elements between a node and itself, lanes that lead nowhere."""


def legal(scheme: Pog) -> CausalGraph:
    """The causal graph of a scheme; those that physics forbids are passed over."""
    try:
        causal = causal_of(scheme.text)
        derive_equations(causal)
    except TellegenError as error:
        assume(error.code not in FORBIDDEN)
        raise
    assume(all(finding.code != "K106" for finding in causal.findings))
    assume(not causal.graph.has_loose_end())
    return causal


def evaluated(causal: CausalGraph, scheme: Pog) -> Evaluated:
    """The equations with numbers: those of the scheme, and those that a reader made parameters of."""
    system = derive_equations(causal)
    made = {
        name: evaluate_exact(e, {}) for name, e in system.parameters.items() if e is not None and not e.free_symbols
    }
    try:
        return Evaluated(system, made | scheme.values)
    except ZeroDivisionError:
        # The scheme has no values, so that its elimination may divide by a difference which these very numbers make zero.
        assume(False)
        raise


def assert_transfer_matrix(scheme: Pog, s: Fraction) -> None:
    causal = legal(scheme)
    model, expected = evaluated(causal, scheme), scheme.equations.transfer_matrix(s)
    found = model.transfer_matrix(s)
    assume(expected is not None and found is not None)
    assert found is not None
    assert expected is not None
    order = [list(scheme.equations.sources).index(name) for name in model.system.inputs]
    assert found == [[expected[i][j] for j in order] for i in order]


@given(pogs(lanes=1), laplace_points)
def test_a_scalar_ladder_has_the_transfer_matrix_of_its_entries(scheme: Pog, s: Fraction) -> None:
    assert_transfer_matrix(scheme, s)


@given(pogs(), laplace_points)
def test_a_vector_ladder_has_the_transfer_matrix_of_its_entries(scheme: Pog, s: Fraction) -> None:
    assert_transfer_matrix(scheme, s)


@given(pogs())
def test_energy_and_power_matrices_are_positive(scheme: Pog) -> None:
    model = evaluated(legal(scheme), scheme)
    assert exact.transposed(model.L, model.n) == model.L
    assert exact.is_positive_semidefinite(model.L)
    assume(not model.has_input_rates)
    upper = [[*a, *(-e for e in b)] for a, b in zip(model.A, model.B, strict=True)]
    whole = [*upper, *([*c, *d] for c, d in zip(model.C, model.D, strict=True))]
    power = [[(e + whole[j][i]) / 2 for j, e in enumerate(row)] for i, row in enumerate(whole)]
    assert exact.is_positive_semidefinite(power)


@given(pogs())
def test_schemes_hold_the_equations_of_their_model(scheme: Pog) -> None:
    causal = legal(scheme)
    raised, system = pog(causal), derive_equations(causal)
    assume(all(dependence.on for dependence in causal.dependent))
    A, B = path_gains(raised)
    assert_equals_matrix(system, "A", A)
    assert_equals_matrix(system, "B", B)
    assert not wrong_gains(raised)
    check = check_signs(raised)
    meshed = raised.vectorial or any(block.terms for block in raised.blocks.values())
    assert check.test == ("skew" if meshed else "section by section")
    assert check.consistent, check.problems
    if not meshed:
        assert all(loop.odd for loop in elementary_loops(raised))
    if raised.vector is not None:
        assert_equals_matrix(system, "L", raised.vector.L)
        assert_equals_matrix(system, "B_1", raised.vector.B_1)


@given(pogs())
def test_schemes_come_back_from_their_text(scheme: Pog) -> None:
    causal = legal(scheme)
    assume(all(dependence.on for dependence in causal.dependent))
    try:
        again = ladder_text(pog(causal))
    except TellegenError as error:
        assume(error.code != "G204")
        raise
    assert_same(causal, causal_of(again), by_name=True)


@given(pogs(), laplace_points)
def test_a_scheme_written_as_a_network_has_the_same_transfer_matrix(scheme: Pog, s: Fraction) -> None:
    causal = legal(scheme)
    try:
        described = read_model(to_yaml(read_model(scheme.text)))
    except TellegenError as error:
        assume(error.code not in ("D113", "D114"))  # a network has no mass between two moving nodes, and no wires
        raise
    again = evaluated(assign_causality(lower(described)), scheme)
    before, after = evaluated(causal, scheme).transfer_matrix(s), again.transfer_matrix(s)
    assume(before is not None and after is not None)
    assert before == after


def assert_bond_graph_keeps_the_transfer_matrix(scheme: Pog, s: Fraction, *, vectors: bool) -> None:
    causal = legal(scheme)
    assume(vectors or not causal.graph.fields)  # scalar bonds have no place for a matrix
    try:
        lines = bond_graph_text(bond_graph(causal, vectors=vectors))
    except TellegenError as error:
        assume(error.code not in ("G202", "G203"))  # a wire in place of a branch, or no strokes
        raise
    model, again = evaluated(causal, scheme), evaluated(causal_of(lines), scheme)
    before, after = model.transfer_matrix(s), again.transfer_matrix(s)
    assume(before is not None and after is not None)
    assert before is not None
    assert after is not None
    names = [plain_name(name) for name in again.system.inputs]
    order = [names.index(plain_name(name)) for name in model.system.inputs]
    assert before == [[after[i][j] for j in order] for i in order]


@given(pogs(), laplace_points)
def test_a_scheme_written_with_scalar_bonds_has_the_same_transfer_matrix(scheme: Pog, s: Fraction) -> None:
    assert_bond_graph_keeps_the_transfer_matrix(scheme, s, vectors=False)


@given(pogs(), laplace_points)
def test_a_scheme_written_with_vector_bonds_has_the_same_transfer_matrix(scheme: Pog, s: Fraction) -> None:
    assert_bond_graph_keeps_the_transfer_matrix(scheme, s, vectors=True)
