"""Variables that only rates determine, such as the force in a rigid connection, recovered from the equations with sources."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.causality import CausalGraph
from tellegen.equations.assembly import derive_equations
from tellegen.equations.matrices import dot
from tellegen.expressions import Expression, symbol
from tellegen.reduction.naming import Glossary, without_index


@final
@dataclass(frozen=True)
class Recovered:
    """Variables by states, inputs and rates of inputs (`u_dot`, listed in `input_rates`), over the names of `where`."""

    variables: Mapping[str, Expression] = field(default_factory=dict)
    where: Mapping[str, Expression] = field(default_factory=dict)
    input_rates: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Constraints:
    """The graph in which elements at their limit are sources (`zero`, by port); states of `idle` stand at a constant."""

    causal: CausalGraph
    zero: frozenset[int]
    wanted: tuple[str, ...]
    idle: Mapping[str, Expression]

    def recovered(self, glossary: Glossary) -> Recovered:
        """The wanted variables; rates of states are replaced from the equations."""
        if not self.wanted:
            return Recovered({}, glossary.where)
        system = derive_equations(self.causal)
        sources = self.causal.sources
        columns = [j for j, k in enumerate(sources) if k not in self.zero]
        inputs = [system.inputs[j] for j in columns]
        x = [self.idle.get(n, symbol(n)) for n in system.states]
        u, u_dot = ([symbol(n) for n in inputs], [symbol(f"{n}_dot") for n in inputs])
        m, f_y = system.matrices, system.vectors["f_y"]
        found: dict[str, Expression] = {}
        for i, k in enumerate(sources):
            name = without_index(self.causal.graph.ports[k].variable(self.causal.follows(k)))
            if k in self.zero and name in self.wanted:
                y = dot(m["C"][i], x) + f_y[i]
                y += dot([m["D"][i][j] for j in columns], u) + dot([m["D_1"][i][j] for j in columns], u_dot)
                found[name] = glossary.written(-y, system.where)  # a source answers with the sign of what it supplies
        used = {n for e in (*found.values(), *glossary.where.values()) for n in e.free_symbols}
        return Recovered(found, glossary.where, {f"{n}_dot": n for n in inputs if f"{n}_dot" in used})
