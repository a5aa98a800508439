"""Which power variable each port would like to decide, in the order in which wishes are granted.

Sources, then demands, then laws that cannot be inverted, then storages, then the other resistive elements. Among equals: the
user's preference, then storages that moduli read (as states their rates are known, so that others can follow them through such a
modulus), then grounded before floating, then the name, so the order of lines in a file cannot change the result.
"""

from typing import NamedTuple

from tellegen.core.domains import Side, other_side
from tellegen.expressions import Expression
from tellegen.graph import Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw


class Demand(NamedTuple):
    """A wish of a port; `must` when physics or the user leaves no choice."""

    port: int
    wants: Side
    must: bool


def demands(graph: PowerGraph) -> list[Demand]:
    """The wishes of all ports, the most important first."""
    reference = [node.reference for node in graph.nodes]
    read = frozenset().union(*(coupling.free_symbols for coupling in graph.couplings))
    keyed = []
    for k, port in enumerate(graph.ports):
        rank, wants, must = _rank(port, graph)
        floating = not (reference[port.plus] or reference[port.minus])
        unread = port.variable(wants) not in read
        keyed.append((rank, unread, floating, port.element, Demand(k, wants, must)))
    keyed.sort(key=lambda item: item[:4])
    return [item[4] for item in keyed]


def _rank(port: Port, graph: PowerGraph) -> tuple[int, Side, bool]:
    law = port.law
    if isinstance(law, SourceLaw):
        return 0, law.side, True
    if port.forced and port.prefer is not None:
        return 1, port.prefer, True
    if isinstance(law, ResistiveLaw):
        return _resistive_rank(port, law, graph)
    return _storage_rank(port, law)


def _storage_rank(port: Port, law: StorageLaw) -> tuple[int, Side, bool]:
    if law.keeps_energy_variable:
        return 3, law.side, True
    if port.prefer is None:
        return 5, law.side, False
    # Asked to follow, a storage is served last: it follows where others can take its place, and stays a state where not.
    return (4 if port.prefer == law.side else 6), law.side, False


def _resistive_rank(port: Port, law: ResistiveLaw, graph: PowerGraph) -> tuple[int, Side, bool]:
    if not law.invertible or (not law.coupled and vanishes(law.coefficient, graph)):
        return 2, law.side, True
    if port.prefer is not None:
        return 7, port.prefer, False
    return (8 if not law.linear else 9), law.side, False


def vanishes(coefficient: Expression | None, graph: PowerGraph) -> bool:
    """Whether a coefficient is zero with the given values: such a law cannot be inverted."""
    if coefficient is None:
        return False
    value = coefficient
    if value.free_symbols:
        name = next(iter(value.free_symbols))
        given = graph.parameters.get(name)
        if given is None or len(value.free_symbols) > 1 or given.free_symbols:
            return False
        value = value.substitute({name: given})
    return not value.free_symbols and value.residues() == (0, 0)


def opposite(demand: Demand) -> Side:
    """What a port decides when its wish is not granted."""
    return other_side(demand.wants)
