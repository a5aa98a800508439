"""What each part means physically: the registry of element kinds, as data."""

from tellegen.elements import magnetic, thermal  # noqa: F401  their kinds register themselves
from tellegen.elements.kinds import (
    ACTS_ON,
    COUPLING_OF,
    KINDS,
    Behaviour,
    CouplingType,
    ElementKind,
    Quantity,
    Role,
    Setting,
    connection,
    kind_names,
    kind_of_netlist,
    kinds_of,
    register,
)
from tellegen.elements.switching import START, schedule_key

__all__ = [
    "ACTS_ON",
    "COUPLING_OF",
    "KINDS",
    "START",
    "Behaviour",
    "CouplingType",
    "ElementKind",
    "Quantity",
    "Role",
    "Setting",
    "connection",
    "kind_names",
    "kind_of_netlist",
    "kinds_of",
    "register",
    "schedule_key",
]
