"""Variables of ports as formulas of states and inputs, without the rest of the equations."""

from collections.abc import Iterable

from tellegen.causality import CausalGraph
from tellegen.core.names import TIME
from tellegen.equations.port_variables import PortVariables
from tellegen.equations.resistive import solve_resistive
from tellegen.equations.structure import causal_structure
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.graph import StorageLaw


def port_readings(causal: CausalGraph, names: Iterable[str]) -> dict[str, Expression]:
    """What variables of ports are by states, inputs and algebraic unknowns; those that stand for themselves are left out.

    What a dependent storage takes follows from rates and keeps its name; one without inertia takes nothing.
    """
    graph = causal.graph
    variables = (name for p in graph.ports for name in (p.across, p.through, p.state))
    signals = (signal.name for signal in graph.signals)
    field = NamedEntries(graph.parameters, (*variables, *graph.moving, *graph.displacements, *signals, TIME))
    structure = causal_structure(causal, field)
    found = PortVariables(structure, solve_resistive(structure, field), rates=True).replacements(names)
    nothing: dict[str, Expression] = {}
    for k in causal.derivative:
        law = graph.ports[k].law
        if isinstance(law, StorageLaw) and law.inertia is ZERO:
            nothing[graph.ports[k].variable(causal.decides[k])] = ZERO
    return {name: substituted(e, field.where).substitute(nothing) for name, e in found.items()}
