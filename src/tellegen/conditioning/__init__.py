"""Dependent storages in other forms: implicit equations, residual sinks, parasitic elements, fields, Lagrange, Hamilton."""

from tellegen.conditioning.equations_of_motion import LagrangeSystem, lagrange_form
from tellegen.conditioning.forms import (
    DEFAULT_OPTIONS,
    FORMS,
    Conditioned,
    ConditioningOptions,
    FormName,
    condition_model,
)
from tellegen.conditioning.parasitic import Stiffness

__all__ = [
    "DEFAULT_OPTIONS",
    "FORMS",
    "Conditioned",
    "ConditioningOptions",
    "FormName",
    "LagrangeSystem",
    "Stiffness",
    "condition_model",
    "lagrange_form",
]
