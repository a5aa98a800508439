"""Loops that close through couplings alone: solvable ones are listed, rigid ones found out."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tellegen.causality import rules
from tellegen.causality.exact import ExactCausality, demands, exact_causality, generic_residue, given_residue
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.core.union_find import UnionFind
from tellegen.expressions import ONE, ZERO, Add, symbol
from tellegen.expressions.elimination import Elimination, NamedEntries, with_definitions
from tellegen.graph import Coupling, PowerGraph, StorageLaw
from tellegen.graph.interconnection import Interconnection, column

MOST_COUPLINGS = 500
"""Loops inside the junction structure are looked for with symbols, which is not worth its time beyond this."""


def junction_loops(graph: PowerGraph, decides: Sequence[Side]) -> list[tuple[str, ...]]:
    """The couplings of each solvable loop inside the junction structure: those whose gain 1 - m_1 m_2 ... becomes a divisor.

    Every modulus gets a name of its own, so that couplings which share a parameter are told apart.
    """
    if len(graph.couplings) > MOST_COUPLINGS:
        return []
    graph, decides = _in_order_of_names(graph, decides)
    marked = [_marked(c, k) for k, c in enumerate(graph.couplings)]
    field = NamedEntries({})
    interconnection = Interconnection(replace(graph, couplings=tuple(marked)))
    elimination = Elimination(interconnection.rows(field.entry), field)
    elimination.eliminate_all(interconnection.internal)
    elimination.eliminate_all(column(k, other_side(side)) for k, side in enumerate(decides))
    loops = UnionFind(len(marked))
    closed = set()
    for c, row in elimination.pivots.items():
        pivot = with_definitions(elimination.rows[row][c].expression, field.where)
        if any(isinstance(part, Add) for part in (pivot, *pivot.args)):
            members = [k for k, coupling in enumerate(marked) if coupling.free_symbols & pivot.free_symbols]
            closed.update(members)
            for k in members[1:]:
                loops.join(members[0], k)
    groups: dict[int, list[str]] = {}
    for k in sorted(closed):
        groups.setdefault(loops.find(k), []).append(marked[k].element)
    return [tuple(names) for names in groups.values()]


def _marked(coupling: Coupling, k: int) -> Coupling:
    K = tuple(
        tuple(e if e is ZERO else symbol(f"@{k}[{i},{j}]") for j, e in enumerate(row))
        for i, row in enumerate(coupling.K)
    )
    return replace(coupling, K=K)


def _in_order_of_names(graph: PowerGraph, decides: Sequence[Side]) -> tuple[PowerGraph, list[Side]]:
    """The graph with everything sorted by name, so that the order of lines cannot change what is found in it."""
    order = sorted(range(len(graph.nodes)), key=lambda k: (graph.nodes[k].name, graph.nodes[k].domain))
    at = {k: i for i, k in enumerate(order)}
    ports = sorted(range(len(graph.ports)), key=lambda k: graph.ports[k].element)
    moved = [replace(p, plus=at[p.plus], minus=at[p.minus]) for p in (graph.ports[k] for k in ports)]
    couplings = sorted(graph.couplings, key=lambda c: c.element)
    turned = [
        replace(
            c,
            side_1=tuple(b._replace(plus=at[b.plus], minus=at[b.minus]) for b in c.side_1),
            side_2=tuple(b._replace(plus=at[b.plus], minus=at[b.minus]) for b in c.side_2),
        )
        for c in couplings
    ]
    nodes = tuple(graph.nodes[k] for k in order)
    return replace(graph, nodes=nodes, ports=tuple(moved), couplings=tuple(turned)), [decides[k] for k in ports]


def rigid_loop(graph: PowerGraph, generic: ExactCausality, given: ExactCausality) -> Finding | None:
    """The couplings that lock a storage, or leave open what circulates between them; None where there are none."""
    for causality, residue in ((generic, generic_residue), (given, given_residue(graph))):
        if causality.circulates:
            culprits = _needed(graph, lambda g, r=residue: exact_causality(g, demands(g), r).circulates)  # type: ignore[misc]
            return _open_loop(culprits)
    locked = _locked_by_ratios(graph, generic)
    if locked:
        culprits = _needed(graph, lambda g: bool(_locked_by_ratios(g, exact_causality(g, demands(g), generic_residue))))
        return _locked_loop(graph, locked, culprits)
    return None


def _locked_by_ratios(graph: PowerGraph, causality: ExactCausality) -> list[int]:
    """Storages that stand still, but would not if all ratios agreed; others are idle for want of a way back."""
    locked = _always_zero(graph, causality)
    if not locked:
        return []
    agreeing = [
        replace(c, K=tuple(tuple(e if e is ZERO else ONE for e in row) for row in c.K)) for c in graph.couplings
    ]
    with_one_ratio = replace(graph, couplings=tuple(agreeing))
    idle = _always_zero(with_one_ratio, exact_causality(with_one_ratio, demands(graph), generic_residue))
    return [k for k in locked if k not in idle]


def _always_zero(graph: PowerGraph, causality: ExactCausality) -> list[int]:
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
