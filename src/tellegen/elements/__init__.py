"""What each part means physically: the registry of element kinds, as data."""

from tellegen.elements.kinds import (
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
