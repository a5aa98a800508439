"""Causality of any interconnection by exact elimination.

The variables that can be imposed together are the independent rows of a matrix, so greedy choice is optimal provided each step asks
whether an assignment with the choices so far exists. In the equations of a Dirac structure the variable of a port can be imposed
exactly when the column of its conjugate is independent of the conjugates of all variables imposed before. That is one sparse
elimination, done modulo a prime: with random values for the moduli, and with the given ones.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

from tellegen.causality.demands import Demand
from tellegen.core.domains import Side, other_side
from tellegen.expressions import Expression
from tellegen.expressions.elimination import Elimination, Residues
from tellegen.graph import PowerGraph
from tellegen.graph.interconnection import Interconnection, column


@final
@dataclass(frozen=True)
class ExactCausality:
    """What each port decides, whether something circulates undetermined between couplings, and the equations to ask further.

    What circulates is a through variable in couplings, or an across variable between them that no port notices.
    """

    decides: tuple[Side, ...]
    circulates: bool
    elimination: Elimination[int]

    def partners(self, port: int) -> list[int]:
        """The ports that decide the variable which `port` does not."""
        return self.partners_of([port])[port]

    def partners_of(self, ports: Iterable[int]) -> dict[int, list[int]]:
        """The deciding ports for several ports at once."""
        columns = {column(k, other_side(self.decides[k])): k for k in ports}
        found = self.elimination.express(columns)
        return {k: sorted(free // 2 for free in found.get(c, {})) for c, k in columns.items()}


def exact_causality(graph: PowerGraph, order: Sequence[Demand], residue: Callable[[Expression], int]) -> ExactCausality:
    """Grant the wishes in order; `residue` gives the value of a modulus modulo the prime."""
    interconnection = Interconnection(graph)
    elimination = Elimination(interconnection.rows(cache(residue)), Residues())  # many moduli are the same
    circulates = bool(elimination.eliminate_all(interconnection.internal))
    decides: list[Side] = ["across"] * len(graph.ports)
    for demand in order:
        side = demand.wants
        if not elimination.eliminate(column(demand.port, other_side(side))):
            elimination.eliminate(column(demand.port, side))
            side = other_side(side)
        decides[demand.port] = side
    return ExactCausality(tuple(decides), circulates, elimination)


def generic_residue(expression: Expression) -> int:
    """The value of a modulus with random values for its parameters."""
    residues = expression.residues()
    assert residues is not None, "a modulus has no pole at a random point"
    return residues[0]


def given_residue(graph: PowerGraph) -> Callable[[Expression], int]:
    """Values of moduli with the given parameters; what has no value keeps its random one."""
    given = {name: value for name, value in graph.parameters.items() if value is not None}

    def residue(expression: Expression) -> int:
        while any(name in given for name in expression.free_symbols):
            expression = expression.substitute(given)
        return generic_residue(expression)

    return residue
