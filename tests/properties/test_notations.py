"""Laws of bond graphs and POG ladders, against their definitions: efforts and flows bond by bond, two-ports in a chain."""

import random
from fractions import Fraction

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from support import exact
from support.bond_graphs import Definition, Freedom, Graph, Ladder, graphs, ladder_transfer_matrix, ladders
from support.evaluated import CONFLICTS, Evaluated
from support.strategies import laplace_points
from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower
from tellegen.notations.reading import read_model

seeds = st.integers(0, 2**16)


def evaluated(text: str, values: dict[str, Fraction]) -> Evaluated:
    return Evaluated(derive_equations(assign_causality(lower(read_model(text)))), values)


def legal(graph: Graph) -> Evaluated:
    """The equations of a bond graph; contradictions and coincidences of values are passed over, and tested below."""
    try:
        model = evaluated(graph.text, graph.values)
    except TellegenError as error:
        assume(error.code not in (*CONFLICTS, "D408"))
        raise
    assert model.system.origin is not None
    assume(all(finding.code != "K106" for finding in model.system.origin.findings))
    return model


def vector(chance: random.Random, count: int) -> list[Fraction]:
    return [Fraction(chance.randint(-9, 9), chance.randint(1, 4)) for _ in range(count)]


def power_matrix(model: Evaluated) -> exact.Rows:
    """The symmetric part of [[A, -B], [C, D]]."""
    upper = [[*a, *(-e for e in b)] for a, b in zip(model.A, model.B, strict=True)]
    lower_rows = [[*c, *d] for c, d in zip(model.C, model.D, strict=True)]
    whole = [*upper, *lower_rows]
    return [[(e + whole[j][i]) / 2 for j, e in enumerate(row)] for i, row in enumerate(whole)]


# -- bond graphs ---------------------------------------------------------------------------------------------------------------


@given(graphs(), laplace_points)
def test_the_transfer_matrix_of_a_bond_graph_is_that_of_its_definition(graph: Graph, s: Fraction) -> None:
    model, meaning = legal(graph), Definition(graph)
    solution = meaning.solve(s)
    found = model.transfer_matrix(s)
    assert (found is None) == (solution is None)
    assert solution is None or found == meaning.outputs(solution)


@given(graphs(islands=1, loops=False), laplace_points)
def test_the_transfer_matrix_of_a_tree_of_junctions_is_that_of_its_definition(graph: Graph, s: Fraction) -> None:
    model, meaning = legal(graph), Definition(graph)
    solution = meaning.solve(s)
    assert solution is None or model.transfer_matrix(s) == meaning.outputs(solution)


@given(graphs(), laplace_points)
def test_states_are_the_variables_of_bonds_with_the_sign_of_their_half_arrows(graph: Graph, s: Fraction) -> None:
    model, meaning = legal(graph), Definition(graph)
    solution = meaning.solve(s)
    states = exact.solve_dense(exact.plus(model.A, model.L, s), exact.plus(model.B, model.B_1, s))
    assume(solution is not None and states is not None)
    assert solution is not None
    assert states is not None
    for element, row in zip(model.integral, states, strict=True):
        assert row == meaning.stored(solution, element)


@given(graphs())
def test_no_other_choice_has_more_storages_of_a_bond_graph_in_integral_causality(graph: Graph) -> None:
    assert legal(graph).n == Freedom(graph).most_integral()


@settings(max_examples=2 * settings.default.max_examples if settings.default else 100)
@given(graphs())
def test_a_bond_graph_is_refused_exactly_when_its_definition_leaves_no_answer(graph: Graph) -> None:
    freedom = Freedom(graph)
    fighting = not freedom.can_decide(tuple(item for item in freedom.one_ports if item.is_source))
    try:
        model = evaluated(graph.text, graph.values)
    except TellegenError as error:
        codes = {finding.code for finding in error.findings}
        assert codes in ({"K101"}, {"K105"}, {"D408"})
        assert fighting if codes == {"K101"} else freedom.leaves_something_open
    else:
        assert model.n <= len(graph.of("C", "I"))
        assert not fighting
        assert not freedom.leaves_something_open


@given(graphs())
def test_the_energy_matrix_of_a_bond_graph_is_symmetric_and_positive(graph: Graph) -> None:
    L = legal(graph).L
    assert exact.transposed(L, len(L)) == L
    assert exact.is_positive_semidefinite(L)


@given(graphs())
def test_passive_bond_graphs_have_a_positive_semidefinite_power_matrix(graph: Graph) -> None:
    model = legal(graph)
    assume(not model.has_input_rates)
    assert exact.is_positive_semidefinite(power_matrix(model))


@given(graphs(), seeds)
def test_power_supplied_to_a_bond_graph_is_stored_or_dissipated(graph: Graph, seed: int) -> None:
    model, chance = legal(graph), random.Random(seed)
    x, u, u_rate = vector(chance, model.n), vector(chance, model.m), vector(chance, model.m)
    energy = model.system.stored_energy
    assert energy is not None
    moving = zip((*model.system.states, *model.system.inputs), (*model.rate(x, u, u_rate), *u_rate), strict=True)
    stored = sum((model.at(energy.derivative(name), x, u) * rate for name, rate in moving), Fraction(0))
    assert exact.dot(model.output(x, u, u_rate), u) == stored + model.dissipated(x, u)


@given(graphs(), laplace_points, seeds)
def test_the_order_of_lines_changes_no_transfer_matrix(graph: Graph, s: Fraction, seed: int) -> None:
    bonds = tuple(random.Random(seed).sample(graph.bonds, len(graph.bonds)))
    other = Graph(graph.items, bonds, graph.said)
    before, after = legal(graph).transfer_matrix(s), legal(other).transfer_matrix(s)
    names = [item.name for item in graph.sources]
    place = [[item.name for item in other.sources].index(name) for name in names]
    assert before is None or (after is not None and before == [[after[i][j] for j in place] for i in place])


# -- ladders -------------------------------------------------------------------------------------------------------------------


@given(ladders(), laplace_points)
def test_the_transfer_matrix_of_a_ladder_is_that_of_a_chain_of_two_ports(ladder: Ladder, s: Fraction) -> None:
    try:
        model = evaluated(ladder.text, ladder.values)
    except TellegenError as error:
        assume(error.code not in CONFLICTS)
        raise
    expected = ladder_transfer_matrix(ladder, s)
    assert model.transfer_matrix(s) == expected


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(ladders())
def test_ladders_keep_energy_and_power(ladder: Ladder) -> None:
    try:
        model = evaluated(ladder.text, ladder.values)
    except TellegenError as error:
        assume(error.code not in CONFLICTS)
        raise
    assert exact.is_positive_semidefinite(model.L)
    assume(not model.has_input_rates)
    assert exact.is_positive_semidefinite(power_matrix(model))
