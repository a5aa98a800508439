"""Causality of any interconnection by exact elimination, and the order in which the wishes of ports are granted.

Sources, then demands, then laws that cannot be inverted, then storages, then the other resistive elements. Among equals: the
user's preference, then storages that moduli read (as states their rates are known, so that others can follow them through such a
modulus), then grounded before floating, then the name, so the order of lines in a file cannot change the result.

The variables that can be imposed together are the independent rows of a matrix, so greedy choice is optimal provided each step asks
whether an assignment with the choices so far exists. In the equations of a Dirac structure the variable of a port can be imposed
exactly when the column of its conjugate is independent of the conjugates of all variables imposed before. That is one sparse
elimination, done modulo a prime: with random values for the moduli, and with the given ones.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, final

from tellegen.core.domains import Side, other_side
from tellegen.expressions import Expression
from tellegen.expressions.elimination import Elimination, ResidueField
from tellegen.expressions.evaluation import is_rounding
from tellegen.graph import Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import Interconnection, column


class Demand(NamedTuple):
    """A wish of a port; `must` when physics or the user leaves no choice."""

    port: int
    wants: Side
    must: bool


def demands(graph: PowerGraph) -> list[Demand]:
    """The wishes of all ports, the most important first."""
    # A grounded element of two equal ones keeps its state: absolute quantities are read more easily than differences.
    reference = [node.reference for node in graph.nodes]
    # As a state, what a modulus reads has a known rate, so that storages may follow others through that modulus.
    read = frozenset().union(*(coupling.free_symbols for coupling in graph.couplings))
    keyed = []
    for k, port in enumerate(graph.ports):
        rank, wants, must = _rank(port, graph)
        floating = not (reference[port.plus] or reference[port.minus])
        unread = port.variable(wants) not in read
        keyed.append((rank, unread, floating, port.element, Demand(k, wants, must)))
    # The name of the element breaks ties, so that the order of lines in a file cannot change the equations.
    keyed.sort(key=lambda item: item[:4])
    return [item[4] for item in keyed]


def _rank(port: Port, graph: PowerGraph) -> tuple[int, Side, bool]:
    law = port.law
    # Sources and demands come first because they leave no choice: whoever cannot have what it must is told so, and
    # never takes it from them.
    if isinstance(law, SourceLaw):
        return 0, law.side, True
    if port.forced and port.prefer is not None:
        return 1, port.prefer, True
    if isinstance(law, ResistiveLaw):
        return _resistive_rank(port, law, graph)
    return _storage_rank(port, law)


def _storage_rank(port: Port, law: StorageLaw) -> tuple[int, Side, bool]:
    # Such a law gives the output of the energy variable; asked the other way it would have to be solved and
    # differentiated, so it must decide its output.
    if law.keeps_energy_variable:
        return 3, law.side, True
    if port.prefer is None:
        return 5, law.side, False
    # Asked to follow, a storage is served last: it follows where others can take its place, and stays a state where not.
    return (4 if port.prefer == law.side else 6), law.side, False


def _resistive_rank(port: Port, law: ResistiveLaw, graph: PowerGraph) -> tuple[int, Side, bool]:
    # A coefficient that is zero by its value, R = 0, cannot be divided by: its law may be asked in one direction only,
    # as if it could not be inverted.
    if not law.invertible or (not law.coupled and vanishes_by_value(law.coefficient, graph)):
        return 2, law.side, True
    if port.prefer is not None:
        return 7, port.prefer, False
    # Nonlinear laws before linear ones: asked as written they are formulas, asked backwards they leave an unknown to be
    # solved for at every step.
    return (8 if not law.linear else 9), law.side, False


def vanishes_by_value(coefficient: Expression | None, graph: PowerGraph) -> bool:
    """Whether a coefficient is zero with the given values: such a law cannot be inverted."""
    if coefficient is None:
        return False
    value = coefficient
    # One name with a number behind it is what people write (R: 0 ohm). Longer chains are left to the elimination with
    # given values, which sees them too.
    if value.free_symbols:
        name = next(iter(value.free_symbols))
        given = graph.parameters.get(name)
        if given is None or len(value.free_symbols) > 1 or given.free_symbols:
            return False
        value = value.substitute({name: given})
    # Residues at two random points decide a zero where no simplification could be trusted to see it (Schwartz and Zippel).
    return not value.free_symbols and value.residues() == (0, 0)


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
    # Modulo a prime of 61 bits the question is exact: no rounding calls a small pivot zero, and a value that is none
    # vanishes by accident once in 1e18. Fractions would grow, floats would guess.
    rows = interconnection.rows(cache(residue))  # many moduli are the same, and some of the given ones are zero
    elimination = Elimination(({c: e for c, e in row.items() if e} for row in rows), ResidueField())
    # What remains over the ports is the Dirac structure. An internal column without a pivot is a variable that no port determines.
    circulates = bool(elimination.eliminate_all(interconnection.internal))
    decides: list[Side] = ["across"] * len(graph.ports)
    for demand in order:
        side = demand.wants
        # Deciding one variable means that the conjugate is told by the others. Sets that can be decided together are
        # the bases of a delta-matroid (Bouchet 1987), for which this greedy choice is optimal: a wish that is granted
        # never costs a more important one.
        if not elimination.eliminate(column(demand.port, other_side(side))):
            # Refused, the port is told this variable instead; one of the two always has a pivot, or the interconnection
            # would not conserve power.
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
        # Given values may stand for one another, so one substitution is not enough.
        while any(name in given for name in expression.free_symbols):
            expression = expression.substitute(given)
        return 0 if is_rounding(expression) else generic_residue(expression)

    return residue
