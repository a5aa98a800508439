"""Limits of parameters: a model with storages, resistances or couplings at zero or infinity is again a model, with fewer states."""

from tellegen.reduction.account import Account
from tellegen.reduction.limits import Limit, Limits, read_limits
from tellegen.reduction.pictures import SchemePictures, scheme_pictures
from tellegen.reduction.reducing import reduce_model
from tellegen.reduction.reduction import Reduction
from tellegen.reduction.scheme_operations import exchange_ports, similarity, transform_scheme
from tellegen.reduction.stiffening import Stiffened, stiffen_model
from tellegen.reduction.transforming import Transformed, congruent_transformation

__all__ = [
    "Account",
    "Limit",
    "Limits",
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
