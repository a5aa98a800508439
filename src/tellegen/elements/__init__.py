"""What each part means physically: the registry of element kinds, as data."""

from tellegen.elements.kinds import (
    ACTS_ON,
    COUPLING_OF,
    KINDS,
    CouplingType,
    ElementKind,
    Quantity,
    Role,
    connection,
    kind_names,
    kind_of_netlist,
    kinds_of,
    register,
)

__all__ = [
    "ACTS_ON",
    "COUPLING_OF",
    "KINDS",
    "CouplingType",
    "ElementKind",
    "Quantity",
    "Role",
    "connection",
    "kind_names",
    "kind_of_netlist",
    "kinds_of",
    "register",
]
