"""The causal interconnection with symbols: what each port is told, in terms of what all ports decide."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.causality.tearing import moving_names, tearing_order
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import Entry, NamedEntries
from tellegen.graph.interconnection import Interconnection, column


@final
@dataclass(frozen=True)
class CausalStructure:
    """For each port, the variable it is told = sum of gains * variables decided by ports. Skew: gains[i][j] = -gains[j][i]."""

    causal: CausalGraph
    gains: Mapping[int, Mapping[int, Entry]]

    def gain(self, told: int, decided: int) -> Entry | None:
        """The gain from what port `decided` decides to what port `told` is told; None for zero."""
        return self.gains[told].get(decided)


def causal_structure(causal: CausalGraph, field: NamedEntries) -> CausalStructure:
    """Solve the interconnection for the variables that ports are told."""
    interconnection = Interconnection(causal.graph)
    elimination = Elimination(interconnection.rows(field.entry), field)
    told = {column(k, causal.follows(k)): k for k in range(len(causal.graph.ports))}
    if moving_names(causal.graph):
        unknown, constant = (*interconnection.internal, *told), causal.graph.parameters.keys()
        elimination.tear(unknown, tearing_order(causal), lambda entry: entry.expression.free_symbols <= constant)
        left = [c for c in told if c not in elimination.pivots]
    else:
        elimination.eliminate_all(interconnection.internal)
        left = elimination.eliminate_all(told)
    assert not left, "causality has shown that every told variable is determined"
    found = elimination.express(told)
    gains = {k: {free // 2: gain for free, gain in found[c].items()} for c, k in told.items()}
    return CausalStructure(causal, gains)
