"""Limits of parameters: a model with storages, resistances or couplings at zero or infinity is again a model, with fewer states."""

from tellegen.reduction.account import PoleAccount
from tellegen.reduction.congruent import Transformed, congruent_transformation
from tellegen.reduction.limits import Limit, Limits, read_limits
from tellegen.reduction.reduction import Reduction, reduce_model
from tellegen.reduction.rigid_connections import Stiffened, stiffen_model
from tellegen.reduction.scheme_operations import exchange_ports, similarity, transform_scheme
from tellegen.reduction.steps import SchemePictures, scheme_pictures

__all__ = [
    "Limit",
    "Limits",
    "PoleAccount",
    "Reduction",
    "SchemePictures",
    "Stiffened",
    "Transformed",
    "congruent_transformation",
    "exchange_ports",
    "read_limits",
    "reduce_model",
    "scheme_pictures",
    "similarity",
    "stiffen_model",
    "transform_scheme",
]
