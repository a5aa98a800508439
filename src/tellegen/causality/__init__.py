"""Who decides which power variable: the optimal causality of a PowerGraph."""

from tellegen.causality.assignment import assign_causality, assign_with_conflicts, impossible_modes
from tellegen.causality.causal_graph import CausalGraph, Dependence, PathKind, ZeroOrderPath

__all__ = [
    "CausalGraph", "Dependence", "PathKind", "ZeroOrderPath", "assign_causality", "assign_with_conflicts",
    "impossible_modes",
]  # fmt: skip
