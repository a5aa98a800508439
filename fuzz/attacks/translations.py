"""What a command writes is read again and says the same: random models after one translation or two answer as before."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tellegen as tg
from support.bond_graphs import Graph, Ladder, graphs, ladders
from support.evaluated import CONFLICTS, Evaluated
from support.field_networks import FieldNetwork, field_networks
from support.networks import Network
from support.strategies import networks
from support.transfers import transfer_at_with_rates
from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.equations.system import EquationSystem, with_values
from tellegen.graph import SourceLaw, lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.schemes.translation import NOTATIONS, Notation, translation

chains = st.lists(st.sampled_from(NOTATIONS), min_size=1, max_size=2)


@given(networks(), chains)
def test_networks_answer_alike_after_translations(network: Network, chain: list[Notation]) -> None:
    # A parameter that several elements share has one unit in a file, so each gets its own.
    own = network.with_parts(replace(part, parameter=part.name) for part in network.parts)
    assert_chain(own.model(), chain, own.values)


@given(field_networks(), chains)
def test_networks_with_fields_answer_alike_after_translations(network: FieldNetwork, chain: list[Notation]) -> None:
    assume(network.is_regular())
    before = read_model(network.text)
    after = translated(before, chain)
    again = numbers(after)
    # A ladder names the sources of its sections first, so that rows and columns may change places.
    place = np.ix_(*[[again.inputs.index(name) for name in before.inputs]] * 2)
    for s in (0.9, 1.7):
        known = network.transfer(s)
        size = abs(known).max()
        assert transfer_at_with_rates(again, s)[place] == pytest.approx(known, rel=1e-7, abs=1e-8 * size)


@given(graphs(), chains)
def test_bond_graphs_answer_alike_after_translations(graph: Graph, chain: list[Notation]) -> None:
    try:
        model = read_model(graph.text)
    except TellegenError as error:
        assume(error.code != "D408")  # a ring of junctions with nothing in it
        raise
    assert_chain(model, chain, graph.values)


@given(ladders(), chains)
def test_ladders_answer_alike_after_translations(ladder: Ladder, chain: list[Notation]) -> None:
    assert_chain(read_model(ladder.text), chain, ladder.values)


def assert_chain(model: Model, chain: list[Notation], values: dict[str, Fraction]) -> None:
    """At two points without rounding, and with as many states."""
    try:
        before = evaluated(model, values)
        after = evaluated(translated(model, chain), values)
    except TellegenError as error:
        assume(error.code not in (*CONFLICTS, "E101", "D408"))
        raise
    assert before.n == after.n
    names = list(before.system.inputs)
    assert sorted(names) == sorted(after.system.inputs)
    place = [list(after.system.inputs).index(name) for name in names]
    for s in (Fraction(3, 7), Fraction(11, 5)):
        one, two = before.transfer_matrix(s), after.transfer_matrix(s)
        assert (one is None) == (two is None)
        assert one is None or two is None or one == [[two[i][j] for j in place] for i in place]


def evaluated(model: Model, values: dict[str, Fraction]) -> Evaluated:
    system = tg.derive(model)
    assert isinstance(system, EquationSystem)
    assert system.origin is not None
    assume(all(finding.code not in ("K106", "K206") for finding in system.origin.findings))
    known = {name: value for name, value in system.parameters.items() if value is not None and name not in values}
    return Evaluated(system, {**values, **{n: Fraction(str(e.evaluate({}))) for n, e in known.items()}})


def translated(model: Model, chain: list[Notation]) -> Model:
    for notation in chain:
        model = read_model(written(model, notation))
        # What was read from a written file is written again without a change.
        again = to_yaml(read_model(to_yaml(model)))
        assert to_yaml(read_model(again)) == again
    return model


def written(model: Model, notation: Notation) -> str:
    """The text in a notation that has a place for everything in the model; no other model may be refused."""
    try:
        return translation(model, notation)
    except TellegenError as error:
        graph = lower(model)
        # A junction has two bonds, where a node may have one terminal; a ladder has a block.
        placeless = graph.has_loose_end() or all(isinstance(port.law, SourceLaw) for port in graph.ports)
        # Fields tie ports, and couplings make odd rings, that no two groups of lanes hold apart.
        # One block would hide what the dependent storages follow.
        placeless |= bool((graph.fields or graph.couplings) and assign_causality(graph).derivative)
        # A ladder has one word for a field, with one kind of causality for all of its ports.
        placeless |= any(
            len({(graph.ports[k].law.side, graph.ports[k].domain) for k in f.ports}) > 1 for f in graph.fields
        )
        # Junctions short an element without a wire, which nodes cannot.
        assume(error.code != "G202" and not (error.code == "G204" and placeless))
        raise


def numbers(model: Model) -> EquationSystem:
    found = tg.derive(model)
    assert isinstance(found, EquationSystem)
    assert found.origin is not None
    # A ratio of one that takes the place of a wire may be a coincidence, which symbols are told of and divide by.
    assume(all(finding.code not in ("K106", "K206") for finding in found.origin.findings))
    return with_values(found)
