"""Dependent storages in other forms: implicit equations, residual sinks, parasitic elements, fields, Lagrange, Hamilton."""

from tellegen.conditioning.forms import AS_USUAL, FORMS, Conditioned, FormName, Options, condition_model
from tellegen.conditioning.lagrange import LagrangeSystem, lagrange_form
from tellegen.conditioning.sizing import Stiffness

__all__ = [
    "AS_USUAL",
    "FORMS",
    "Conditioned",
    "FormName",
    "LagrangeSystem",
    "Options",
    "Stiffness",
    "condition_model",
    "lagrange_form",
]
