"""What each part means physically: the registry of element kinds, as data."""

from tellegen.elements.kinds import (
    ACTS_ON,
    COUPLING_OF,
    KINDS,
    START,
    Behaviour,
    CouplingType,
    ElementKind,
    Quantity,
    Role,
    Setting,
    connection,
    kind_names,
    kinds_of,
    multiport_kind,
    register,
    schedule_key,
)

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
    "kinds_of",
    "multiport_kind",
    "register",
    "schedule_key",
]
