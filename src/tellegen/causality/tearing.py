"""Rings of the junction structure whose moduli move: which variables are taken as known while the paths are followed.

Where displacements change moduli, a pivot must vanish nowhere but in true singular positions. So the interconnection is not
eliminated by least fill: velocities are followed from what decides them outwards, forces from the ends inwards, and only what
does not move is divided by. In a closed chain both come to a stop. Then the speed of the first storage in order that follows others
is taken as known, or the force of the last ideal port; what closes the chain gives the equation for it.
"""

from tellegen.causality.causal_graph import CausalGraph
from tellegen.graph import PowerGraph, ResistiveLaw
from tellegen.graph.interconnection import column


def moving_names(graph: PowerGraph) -> frozenset[str]:
    """Displacements and parameters that depend on them, where a modulus reads one; else nothing."""
    names = frozenset(graph.displacements) | frozenset(graph.moving)
    return names if any(coupling.free_symbols & names for coupling in graph.couplings) else frozenset()


def tearing_order(causal: CausalGraph) -> list[int]:
    """Columns that may be taken as known: outputs of storages that follow, in order, then what ideal ports are told, last first."""
    ports = causal.graph.ports
    follow = [column(k, causal.follows(k)) for k in causal.derivative]
    ideal = [k for k, port in enumerate(ports) if isinstance(port.law, ResistiveLaw) and port.law.ideal]
    return [*follow, *(column(k, causal.follows(k)) for k in reversed(ideal))]
