"""What a reduction prints is over names that it tells: no name of its own leaks into a recovered variable or an equation."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.networks import Network
from support.strategies import networks
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME


@settings(max_examples=25)
@given(networks(), st.integers(0, 50), st.booleans())
def test_recovered_variables_and_equations_are_over_names_that_are_told(
    network: Network, which: int, to_zero: bool
) -> None:
    model = network.model()
    names = list(model.parameters)
    assume(names)
    try:
        found = tg.reduce(model, {names[which % len(names)]: 0 if to_zero else "inf"})
    except TellegenError:
        assume(False)
    small = found.equations
    variables = {*small.states, *small.inputs, *small.algebraic.unknowns, *small.displacements, *small.signals.names}
    known = variables | {*small.parameters, *small.where, *found.where, *found.full.states, TIME}
    # The rate of an input that meets a dependent storage.
    known |= {f"{name}_dot" for name in small.inputs}
    for name, formula in found.recovered.items():
        assert formula.free_symbols <= known, name
    assert {s for e in small.entries() for s in e.free_symbols} <= known | set(small.outputs)
