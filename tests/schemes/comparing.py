"""Whether two sets of equations are the same, up to names or up to the order of states and inputs."""

from collections.abc import Sequence

from hypothesis import assume

from support.networks import Network, causality
from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.errors import TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import Expression, is_zero
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.schemes.names import plain_name

ROWS_ARE_STATES: dict[MatrixName, tuple[bool, bool]] = {
    "L": (True, True),
    "A": (True, True),
    "B": (True, False),
    "C": (False, True),
    "D": (False, False),
    "B_1": (True, False),
    "D_1": (False, False),
}


def causal_of(text: str) -> CausalGraph:
    """The causal graph of a model file."""
    return assign_causality(lower(read_model(text)))


def legal_causality(network: Network) -> CausalGraph:
    """The causal graph of a network; those without equations, with coincident moduli or with idle storages are passed over."""
    try:
        causal = causality(network)
        derive_equations(causal)
    except TellegenError:
        assume(False)
        raise
    assume(all(finding.code != "K106" for finding in causal.findings))
    assume(all(dependence.on for dependence in causal.dependent))
    return causal


def assert_same(one: CausalGraph, two: CausalGraph, *, by_name: bool = False) -> None:
    """Compare all matrices by their residues; what a reader made a parameter of counts as its value."""
    a, b = derive_equations(one), derive_equations(two)
    states, inputs = _order(a.states, b.states, by_name), _order(a.inputs, b.inputs, by_name)
    for name, (rows, columns) in ROWS_ARE_STATES.items():
        for i, i_2 in enumerate(states if rows else inputs):
            for j, j_2 in enumerate(states if columns else inputs):
                here = written_out(a, a.matrices[name][i][j])
                there = written_out(b, b.matrices[name][i_2][j_2]).substitute(_extra(a, b))
                assert is_zero(here - there), f"{name}[{i},{j}]: {here} and {there}"


def _order(one: Sequence[str], two: Sequence[str], by_name: bool) -> list[int]:
    assert len(one) == len(two), f"{one} and {two}"
    plain = [plain_name(name) for name in two]  # component k of a vector may have become a name of its own
    return [plain.index(plain_name(name)) for name in one] if by_name else list(range(len(one)))


def _extra(a: EquationSystem, b: EquationSystem) -> dict[str, Expression]:
    return {name: value for name, value in b.parameters.items() if name not in a.parameters and value is not None}


def written_out(system: EquationSystem, entry: Expression) -> Expression:
    """An entry without the names listed under "where"."""
    return with_definitions(entry, dict(system.where))


def assert_equals_matrix(system: EquationSystem, name: MatrixName, found: Sequence[Sequence[Expression]]) -> None:
    """Compare a matrix with that of the equations."""
    expected = system.matrices[name]
    assert len(found) == len(expected)
    for row, line in zip(found, expected, strict=True):
        for entry, other in zip(row, line, strict=True):
            difference = written_out(system, entry) - written_out(system, other)
            assert is_zero(difference), f"{name}: {entry} and {other}"
