"""Resistive fields: what each port decides, by what all of them are told."""

from collections.abc import Mapping, MutableMapping

from tellegen.causality import CausalGraph
from tellegen.core.domains import other_side
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import Entry, NamedEntries
from tellegen.graph import Field
from tellegen.graph.interconnection import column


def resistive_rows(
    causal: CausalGraph, coupled: Field, formulas: MutableMapping[str, Expression]
) -> dict[int, Mapping[int, Expression]]:
    """For each port of a field the gains from what ports are told to what it decides; long gains get names in `formulas`.

    The field gives the variables of its laws by the others; ports used backwards turn the matrix round.
    """
    graph = causal.graph
    taken = {name for port in graph.ports for name in (port.across, port.through, port.state)}
    field = NamedEntries(graph.parameters, (*taken, *graph.moving, *formulas), prefix=f"r_{coupled.ports[0]}")
    rows: list[dict[int, Entry]] = []
    for k, row in zip(coupled.ports, coupled.matrix, strict=True):
        entries = {column(k, graph.ports[k].law.side): field.entry(ONE)}
        for j, e in zip(coupled.ports, row, strict=True):
            if e is not ZERO:
                entries[column(j, other_side(graph.ports[j].law.side))] = field.entry(-e)
        rows.append(entries)
    elimination: Elimination[Entry] = Elimination(rows, field)
    decided = {column(k, causal.decides[k]): k for k in coupled.ports}
    elimination.eliminate_all(decided)
    found = elimination.express(decided)
    formulas.update(field.where)
    return {k: {c // 2: e.expression for c, e in found[c_k].items()} for c_k, k in decided.items()}
