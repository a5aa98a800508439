"""Curved laws: rates against Newton's method on the whole tableau, whatever the notation the model went through."""

import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tellegen as tg
from fuzz.attacks.curved import CurvedNetwork, curved_networks
from fuzz.attacks.translations import written
from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import compile_model
from tellegen.core.errors import TellegenError
from tellegen.equations.steps import Explanation
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.schemes.translation import NOTATIONS, Notation

ILLEGAL = {"D114", "K101", "K102", "K103", "K104", "K105", "K107", "E101"}
"""A mass between moving nodes, sources or couplings that contradict each other, laws that would have to be read backwards."""


@given(curved_networks(), st.integers(0, 2**16))
def test_rates_of_curved_networks_are_those_of_the_tableau(network: CurvedNetwork, number: int) -> None:
    causal = legal(network.text)
    assert_rates(network, causal, number)


@given(curved_networks(), st.sampled_from(NOTATIONS), st.integers(0, 2**16))
def test_rates_of_curved_networks_survive_a_translation(
    network: CurvedNetwork, notation: Notation, number: int
) -> None:
    legal(network.text)
    assert_rates(network, legal(written(read_model(network.text), notation)), number)


def legal(text: str) -> CausalGraph:
    try:
        causal = assign_causality(lower(read_model(text)))
    except TellegenError as error:
        assume(error.code not in ILLEGAL)
        raise
    assume(all(finding.code not in ("K106", "K206") for finding in causal.findings))
    assume(not causal.derivative)
    return causal


def assert_rates(network: CurvedNetwork, causal: CausalGraph, number: int) -> None:
    chance = random.Random(number)
    model = compile_model(causal, backend="python")
    states = {name: chance.uniform(-1, 1) for name in sorted(model.states)}
    inputs = {name: chance.uniform(-1, 1) for name in sorted(model.inputs)}
    # A storage has the name that is free: another element may be called as its state would be.
    called = {port.element: port.state for port in causal.graph.ports if port.state in states}
    known = network.rates({element: states[name] for element, name in called.items()}, inputs)
    assume(known is not None)
    assert known is not None
    wanted = {called[element]: rate for element, rate in known.items()}
    y = np.array([states[name] for name in model.states])
    found = dict(zip(model.states, model.rhs(0.0, y, model.new_context(inputs=inputs)), strict=True))
    size = max(map(abs, wanted.values()), default=0.0)
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7 * (1 + size))


@given(curved_networks())
def test_derivations_of_curved_networks_are_told_step_by_step(network: CurvedNetwork) -> None:
    """The text is made whole: paths that do not add up to an entry of the equations end it."""
    legal(network.text)
    found = tg.derive(read_model(network.text), steps=True)
    assert isinstance(found, Explanation)
    assert found.to_text()
    assert found.to_latex()
