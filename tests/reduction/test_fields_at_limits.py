"""Reduced networks with fields: their transfer matrix is the limit of that of the whole, and what carries power stays."""

from collections.abc import Mapping
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.field_networks import FieldNetwork, field_networks
from support.transfers import descriptor_at
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model

POINTS = (0.9, 1.7)
REFUSED = ("T103", "T106", "T107")
"""Limits that contradict each other or a source, or that depend on a ratio."""


def limit_at(network: FieldNetwork, limits: Mapping[str, str], s: complex) -> np.ndarray | None:
    """The transfer matrix in the limit, extrapolated from values on the way; None where it does not converge."""

    def on_the_way(h: float) -> np.ndarray:
        return network.transfer(s, {name: h if to == "0" else 1 / h for name, to in limits.items()})

    try:
        far, near, nearest = (on_the_way(h) for h in (1e-4, 1e-5, 1e-6))
    except np.linalg.LinAlgError:
        return None
    one, two = (10 * near - far) / 9, (10 * nearest - near) / 9
    return two if np.allclose(one, two, rtol=1e-5, atol=1e-6) else None


@settings(max_examples=80)
@given(field_networks(), st.randoms(use_true_random=False), st.booleans())
def test_a_reduced_network_with_fields_is_the_limit_of_the_whole(
    network: FieldNetwork, chance: Random, inside: bool
) -> None:
    assume(network.is_regular())
    single = [b.matrix[0][0] for b in network.blocks if len(b.kinds) == 1 and not b.is_source]
    within = [b.matrix[i][i] for b in network.blocks if len(b.kinds) > 1 and not b.stores for i in range(len(b.kinds))]
    names = within if inside and within else single
    limits = {name: chance.choice(["0", "inf"]) for name in chance.sample(names, chance.randint(1, min(2, len(names))))}
    try:
        reduced = tg.reduce(read_model(network.text), limits).model
    except TellegenError as error:
        if error.code not in REFUSED:
            raise
        return
    expected = {s: limit_at(network, limits, s) for s in POINTS}
    assume(all(found is not None for found in expected.values()))
    form = tg.derive(reduced, form="dae", numeric=True)
    # A frozen storage is a source of what it keeps, and an input beside those of the network.
    kept = [form.inputs.index(block.name) for block in network.blocks if block.is_source]
    for s, found in expected.items():
        assert descriptor_at(form, s)[np.ix_(kept, kept)] == pytest.approx(found, rel=1e-4, abs=1e-5)


def test_a_resistive_port_that_a_limit_shorts_still_carries_current() -> None:
    text = """
system: Shorted port
parameters: {R_1: 2 ohm, R_2: 1 ohm, M: 0.5 ohm, L: 1 H}
network:
  I: {current source: [gnd, b]}
  L: {inductor: [a, b]}
  r: {resistor field: [b, gnd, a, b], matrix: [[R_1, M], [M, R_2]]}
"""
    reduced = tg.reduce(read_model(text), {"L": "0"}).model
    form = tg.derive(reduced, form="dae", numeric=True)
    # The second port is told the current that its row gives at no voltage: i_2 = -M/R_2 i_1.
    assert descriptor_at(form, 1.0) == pytest.approx(np.array([[2.0 - 0.5**2 / 1.0]]))


def test_the_port_of_a_law_that_a_limit_shorts_stays() -> None:
    text = """
system: Shorted law
parameters: {k: 0.5, R: 2 ohm, L: 1 H}
network:
  I: {current source: [gnd, b]}
  L: {inductor: [a, b]}
  r: {resistor field: [b, gnd, a, b], law: [V_1 = R*i_1 + k*i_2, V_2 = k*i_1 + R*i_2]}
"""
    reduced = tg.reduce(read_model(text), {"L": "0"}).model
    assert {"r[1]", "r[2]"} <= {e.name for e in reduced.elements}
