"""Laws of bond graphs with vector bonds, matrix moduli and fields, against their definitions component by component."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schemes.comparing import legal_causality
from support import exact
from support.bond_graphs import Graph, graphs
from support.evaluated import CONFLICTS, Evaluated
from support.networks import Network
from support.strategies import laplace_points, networks
from support.vector_graphs import VectorDefinition, VectorGraph, vector_graphs
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.schemes import bond_graph, bond_graph_text
from tellegen.schemes.translation import NOTATIONS, Notation, translation

IDLE = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])

REFUSED = ("E101", "E103", "K102", "K103")
"""An independent storage asked to follow, resistive laws that cannot be used as asked, demands that contradict each other."""


def legal(text: str) -> CausalGraph:
    """The causal graph of a file; contradictions are passed over."""
    try:
        return assign_causality(lower(read_model(text)))
    except TellegenError as error:
        assume(error.code not in (*CONFLICTS, "D408"))
        raise


def evaluated(causal: CausalGraph) -> Evaluated:
    """The equations with numbers. Fields that only pass power on may leave storages dependent on each other, which is refused."""
    try:
        system = derive_equations(causal)
    except TellegenError as error:
        assume(error.code != "E103")
        raise
    return Evaluated(system, {name: Fraction(str(e)) for name, e in system.parameters.items() if e is not None})


@IDLE
@given(vector_graphs(), laplace_points)
def test_the_transfer_matrix_is_that_of_the_definition(graph: VectorGraph, s: Fraction) -> None:
    found = evaluated(legal(graph.text)).transfer_matrix(s)
    assert found == VectorDefinition(graph).transfer_matrix(s)


@IDLE
@given(vector_graphs(wishes=True), laplace_points)
def test_a_wish_for_causality_is_refused_or_changes_no_transfer_matrix(graph: VectorGraph, s: Fraction) -> None:
    try:
        model = evaluated(legal(graph.text))
    except TellegenError as error:
        assume(error.code not in REFUSED)
        raise
    found, expected = model.transfer_matrix(s), VectorDefinition(graph).transfer_matrix(s)
    assume(found is not None and expected is not None)
    assert found == expected


@IDLE
@given(vector_graphs())
def test_no_other_choice_has_more_ports_in_integral_causality(graph: VectorGraph) -> None:
    causal = legal(graph.text)
    assume(all(finding.code != "K106" for finding in causal.findings))
    assert len(causal.integral) == VectorDefinition(graph).most_integral()


@IDLE
@given(vector_graphs(), st.integers(0, 2**16))
def test_power_supplied_is_stored_or_dissipated(graph: VectorGraph, seed: int) -> None:
    model, chance = evaluated(legal(graph.text)), random.Random(seed)
    x, u, u_rate = ([Fraction(chance.randint(-9, 9), 2) for _ in range(n)] for n in (model.n, model.m, model.m))
    energy = model.system.stored_energy
    assert energy is not None
    assert exact.is_positive_semidefinite(model.L)
    moving = zip((*model.system.states, *model.system.inputs), (*model.rate(x, u, u_rate), *u_rate), strict=True)
    stored = sum((model.at(energy.derivative(name), x, u) * rate for name, rate in moving), Fraction(0))
    assert exact.dot(model.output(x, u, u_rate), u) == stored + model.dissipated(x, u)


def plain(names: Sequence[str]) -> list[str]:
    """Names as a raised bond graph writes them."""
    return [name.replace("[", "_").replace("]", "") for name in names]


def assert_same_transfer_matrix(one: Evaluated, two: Evaluated, s: Fraction) -> None:
    expected, found = one.transfer_matrix(s), two.transfer_matrix(s)
    order = [plain(two.system.inputs).index(name) for name in plain(one.system.inputs)]
    assert (expected is None) == (found is None)
    if expected is not None and found is not None:
        assert [[found[i][j] for j in order] for i in order] == expected


def raised_text(causal: CausalGraph) -> str:
    """The lines of a raised bond graph; loops of gyrators that admit no strokes are passed over."""
    try:
        return bond_graph_text(bond_graph(causal, vectors=True))
    except TellegenError as error:
        assume(error.code != "G203")
        raise


@IDLE
@given(vector_graphs(), laplace_points)
def test_every_translation_has_the_same_transfer_matrix(graph: VectorGraph, s: Fraction) -> None:
    causal = legal(graph.text)
    for text in (to_yaml(read_model(graph.text)), raised_text(causal)):
        assert_same_transfer_matrix(evaluated(causal), evaluated(legal(text)), s)


@IDLE
@given(graphs(), laplace_points)
def test_every_translation_of_a_scalar_bond_graph_has_its_transfer_matrix(graph: Graph, s: Fraction) -> None:
    causal = legal(graph.text)
    assume(all(finding.code != "K106" for finding in causal.findings))
    for text in (to_yaml(read_model(graph.text)), raised_text(causal)):
        assert_same_transfer_matrix(evaluated(causal), evaluated(legal(text)), s)


@IDLE
@given(networks(), st.lists(st.sampled_from(NOTATIONS), min_size=2, max_size=3), laplace_points)
def test_what_is_written_of_a_network_is_read_again_with_its_transfer_matrix(
    network: Network, notations: list[Notation], s: Fraction
) -> None:
    model = replace(network, valued=True).model()
    try:
        read_model(to_yaml(model))
    except TellegenError as error:
        assume(
            all(finding.code != "D121" for finding in error.findings)
        )  # one parameter for elements of two dimensions
    causal = legal_causality(replace(network, valued=True))
    for notation in notations:
        try:
            text = translation(model, notation)
        except TellegenError as error:
            assume(error.code != "G204")  # what is no ladder is refused, with its reason
            raise
        model = read_model(text)
    assert_same_transfer_matrix(evaluated(causal), evaluated(legal(text)), s)
