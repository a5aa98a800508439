"""Loops that close through couplings alone: solvable ones are listed, rigid ones refused."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tellegen.causality import rules
from tellegen.causality.demands import demands
from tellegen.causality.exact import ExactCausality, exact_causality, generic_residue, given_residue
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import CausalityError, Finding
from tellegen.core.names import listing
from tellegen.expressions import Add
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import NamedEntries
from tellegen.graph import Coupling, PowerGraph, StorageLaw
from tellegen.graph.interconnection import Interconnection, column

MOST_COUPLINGS = 500
"""Loops inside the junction structure are looked for with symbols, which is not worth its time beyond this."""


def junction_loops(graph: PowerGraph, decides: Sequence[Side]) -> list[tuple[str, ...]]:
    """The couplings of each solvable loop inside the junction structure: those whose gain 1 - m_1 m_2 ... becomes a divisor."""
    if len(graph.couplings) > MOST_COUPLINGS:
        return []
    field = NamedEntries(graph.parameters)
    interconnection = Interconnection(graph)
    elimination = Elimination(interconnection.rows(field.entry), field)
    elimination.eliminate_all(interconnection.internal)
    elimination.eliminate_all(column(k, other_side(side)) for k, side in enumerate(decides))
    loops = []
    for c, row in elimination.pivots.items():
        pivot = elimination.rows[row][c].expression
        names = pivot.free_symbols
        if names & field.where.keys() or any(isinstance(part, Add) for part in (pivot, *pivot.args)):
            members = [coupling.element for coupling in graph.couplings if names & coupling.free_symbols]
            loops.append(tuple(members))
    return list(dict.fromkeys(loop for loop in loops if loop))


def refuse_rigid_loops(graph: PowerGraph, generic: ExactCausality, given: ExactCausality) -> None:
    """Raise when couplings lock a storage, or leave open what circulates between them.

    Raises: CausalityError naming the couplings of the loop.
    """
    for causality, residue in ((generic, generic_residue), (given, given_residue(graph))):
        if causality.circulates:
            culprits = _needed(graph, lambda g, r=residue: exact_causality(g, demands(g), r).circulates)  # type: ignore[misc]
            raise CausalityError(_open_loop(culprits))
    locked = _locked(graph, generic)
    if locked:
        culprits = _needed(graph, lambda g: bool(_locked(g, exact_causality(g, demands(g), generic_residue))))
        raise CausalityError(_locked_loop(graph, locked, culprits))


def _locked(graph: PowerGraph, causality: ExactCausality) -> list[int]:
    """Storages whose output is zero whatever everything else does."""
    dependent = []
    for k in graph.storages():
        law = graph.ports[k].law
        if isinstance(law, StorageLaw) and causality.decides[k] != law.side:
            dependent.append(k)
    return [k for k, on in causality.partners_of(dependent).items() if not on]


def _needed(graph: PowerGraph, goes_wrong: Callable[[PowerGraph], bool]) -> list[Coupling]:
    """The couplings without which nothing would go wrong: others are taken out one by one."""
    kept = list(graph.couplings)
    for coupling in graph.couplings[:MOST_COUPLINGS]:
        fewer = [c for c in kept if c is not coupling]
        if fewer and goes_wrong(replace(graph, couplings=tuple(fewer))):
            kept = fewer
    return kept


def _open_loop(culprits: Sequence[Coupling]) -> Finding:
    names = [c.element for c in culprits]
    return rules.UNIT_LOOP.finding(
        f"what circulates between {listing(names)} is not determined: their ratios agree",
        where=names[0],
        fix=f"remove one of {listing(names)}, or put an element into the loop that shares the load",
        place=culprits[0].place,
        members=names,
    )


def _locked_loop(graph: PowerGraph, locked: Sequence[int], culprits: Sequence[Coupling]) -> Finding:
    names = [c.element for c in culprits]
    stuck = [graph.ports[k].element for k in locked]
    return rules.UNIT_LOOP.finding(
        f"{listing(stuck)} {'is' if len(stuck) == 1 else 'are'} locked: the ratios of {listing(names)} do not agree",
        where=stuck[0],
        fix=f"remove one of {listing(names)}, or put an elastic element into the loop",
        place=culprits[0].place,
        members=[*stuck, *names],
    )
