"""How the parts are connected once flattened: the PowerGraph that every notation lowers to."""

from tellegen.graph.laws import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.lowering import lower
from tellegen.graph.power_graph import Branch, Coupling, Field, Node, Port, PowerGraph

__all__ = [
    "Branch",
    "Coupling",
    "Field",
    "Node",
    "Port",
    "PowerGraph",
    "ResistiveLaw",
    "SourceLaw",
    "StorageLaw",
    "lower",
]
