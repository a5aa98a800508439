"""The interconnection in an order of evaluation: each variable that a port is told, and each internal one, by earlier ones.

Rows with one unknown are solved first, again and again, which costs linear time and makes no fill; rings inside the junction
structure, which never get that far, go through sparse elimination.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.causality.tearing import moving_names, tearing_order
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Expression
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import Entry, NamedEntries
from tellegen.graph.interconnection import Interconnection, column

Row = dict[int, Expression]
Terms = list[tuple[int, Expression]]
"""A sum of gains times columns."""


@final
@dataclass(frozen=True)
class Wiring:
    """`terms[c]` gives column c by columns that ports decide and by columns that stand earlier in `order`.

    `where` are the names that elimination gave to long gains, in order; `columns` is how many there are.
    """

    order: list[int]
    terms: Mapping[int, Terms]
    where: Mapping[str, Expression]
    columns: int


def wire(causal: CausalGraph) -> Wiring:
    """Solve the interconnection of a causal graph for what ports are told, in factored form."""
    interconnection = Interconnection(causal.graph)
    rows = list(interconnection.rows(_same))
    count = interconnection.internal.stop
    unknown = bytearray(count)
    for k in range(len(causal.graph.ports)):
        unknown[column(k, causal.follows(k))] = 1
    for c in interconnection.internal:
        unknown[c] = 1
    moving = moving_names(causal.graph)
    order, terms, left = _propagated(rows, unknown, moving)
    where: dict[str, Expression] = {}
    if left and moving:
        _tear(left, unknown, causal, order, terms, where)
        rest, found, left = _propagated(left, unknown, moving)
        order += rest
        terms |= found
    if left:
        _eliminate(left, unknown, causal, interconnection, order, terms, where)
    return Wiring(order, terms, where, count)


def _same(expression: Expression) -> Expression:
    return expression


def _propagated(
    rows: list[Row], unknown: bytearray, moving: frozenset[str]
) -> tuple[list[int], dict[int, Terms], list[Row]]:
    """Columns in the order in which some row has them as its only unknown, and the rows that never come that far.

    A row whose factor of the unknown moves is left: where the factor vanishes for a moment, another row may decide the same.
    """
    users: dict[int, list[int]] = {}
    missing = [0] * len(rows)
    for r, row in enumerate(rows):
        for c in row:
            if unknown[c]:
                missing[r] += 1
                users.setdefault(c, []).append(r)
    ready = deque(r for r, n in enumerate(missing) if n == 1)
    order: list[int] = []
    terms: dict[int, Terms] = {}
    while ready:
        row = rows[ready.popleft()]
        open_columns = [c for c in row if unknown[c]]
        if not open_columns:
            continue  # another row was quicker: this one is redundant
        c = open_columns[0]
        if moving and row[c].free_symbols & moving:
            continue
        order.append(c)
        terms[c] = _solved(row, c)
        unknown[c] = 0
        for r in users[c]:
            missing[r] -= 1
            if missing[r] == 1:
                ready.append(r)
    return order, terms, [row for row, n in zip(rows, missing, strict=True) if n > 0]


def _solved(row: Mapping[int, Expression], c: int) -> Terms:
    """The row solved for one of its columns."""
    value = row[c]
    if value is ONE:
        return [(d, MINUS_ONE if e is ONE else ONE if e is MINUS_ONE else -e) for d, e in row.items() if d != c]
    if value is MINUS_ONE:
        return [(d, e) for d, e in row.items() if d != c]
    return [(d, -e / value) for d, e in row.items() if d != c and e is not ZERO]


def _tear(
    rows: list[Row],
    unknown: bytearray,
    causal: CausalGraph,
    order: list[int],
    terms: dict[int, Terms],
    where: dict[str, Expression],
) -> None:
    """Solve rings for the few columns that open them; all others then follow along their paths, each by a short row."""
    field = _entries(causal)
    elimination: Elimination[Entry] = Elimination([{c: field.entry(e) for c, e in row.items()} for row in rows], field)
    left = [c for c, still in enumerate(unknown) if still]
    constant = causal.graph.parameters.keys()
    torn = elimination.tear(left, tearing_order(causal), lambda entry: entry.expression.free_symbols <= constant)
    for c in reversed(torn):
        row = elimination.rows[elimination.pivots[c]]
        terms[c] = _solved({d: e.expression for d, e in row.items()}, c)
        order.append(c)
        unknown[c] = 0
    where.update(field.where)


def _entries(causal: CausalGraph) -> NamedEntries:
    graph = causal.graph
    names = (name for p in graph.ports for name in (p.across, p.through, p.state))
    signals = (signal.name for signal in graph.signals)
    return NamedEntries(graph.parameters, (*names, *graph.moving, *graph.displacements, *signals), prefix="g")


def _eliminate(
    rows: list[dict[int, Expression]],
    unknown: bytearray,
    causal: CausalGraph,
    interconnection: Interconnection,
    order: list[int],
    terms: dict[int, Terms],
    where: dict[str, Expression],
) -> None:
    """Solve the rows left over for the columns left over; what they leave open stays zero, for no port can see it."""
    field = _entries(causal)
    elimination: Elimination[Entry] = Elimination([{c: field.entry(e) for c, e in row.items()} for row in rows], field)
    elimination.eliminate_all([c for c in interconnection.internal if unknown[c]])
    elimination.eliminate_all([c for c in range(interconnection.internal.start) if unknown[c]])
    pivots = elimination.pivots
    for c, r in reversed(pivots.items()):
        row = {d: e.expression for d, e in elimination.rows[r].items() if d in pivots or not unknown[d]}
        terms[c] = _solved(row, c)
        order.append(c)
    for c in range(len(unknown)):
        if unknown[c] and c not in pivots:
            terms[c] = []
            order.insert(0, c)
    where.update(field.where)
