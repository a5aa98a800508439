"""What each part means physically: the registry of element kinds, as data."""

# Kinds register themselves, in this order, which is that of messages, of the schema and of the reference.
# isort: off
from tellegen.elements import catalogue  # noqa: F401

# isort: on
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
    "register",
    "schedule_key",
]
