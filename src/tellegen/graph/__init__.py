"""How the parts are connected once flattened: the PowerGraph that every notation lowers to."""

from tellegen.graph.lowering import lower, with_experiment
from tellegen.graph.power_graph import (
    Branch,
    Coupling,
    Field,
    Node,
    Port,
    PowerGraph,
    ResistiveLaw,
    SourceLaw,
    StorageLaw,
    SwitchingLaw,
    Transition,
)
from tellegen.graph.signal_lowering import algebraic_signals, drive
from tellegen.graph.switching import put_into_mode

__all__ = [
    "Branch", "Coupling", "Field", "Node", "Port", "PowerGraph", "ResistiveLaw", "SourceLaw", "StorageLaw",
    "SwitchingLaw", "Transition", "algebraic_signals", "drive", "lower", "put_into_mode",
    "with_experiment",
]  # fmt: skip
