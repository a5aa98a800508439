"""The energy of every storage as a formula: in closed form where there is one, else by Gauss-Legendre quadrature of its law."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import numpy as np

from tellegen.equations.storage import stored_energy
from tellegen.expressions import Expression, number, total
from tellegen.graph import StorageLaw
from tellegen.graph.laws import ARGUMENT, argument

_PANELS = (0.0, 0.125, 0.25, 0.5, 1.0)
"""Shorter towards rest, where laws that saturate bend most."""

_NODES = 12


def content_of(law: StorageLaw) -> Expression:
    """What a storage keeps in terms of ARGUMENT, the state: the energy itself where heat is counted."""
    at = argument()
    found = law.content_at(at)
    if found is not None:
        return found
    assert law.slope is not None, "a storage law has an inertia, a content, a slope or an output"
    return _integral(law.slope, at)


@cache
def energy_of(law: StorageLaw) -> Expression:
    """The stored energy in terms of ARGUMENT: of the state, or of the output of a dependent storage; zero at rest."""
    at = argument()
    found = stored_energy(law, at) if law.slope is None or law.energy is not None else None
    if found is not None:
        return found
    if law.output is not None:
        return _integral(law.output, at)
    if law.slope is not None:
        return _integral(argument() * law.slope, at)
    assert law.content is not None, "a storage law has an inertia, a content, a slope or an output"
    return at * law.content.substitute({ARGUMENT: at}) - _integral(law.content, at)


def _integral(integrand: Expression, upto: Expression) -> Expression:
    """The integral over ARGUMENT from zero."""
    terms = []
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    for a, b in pairwise(_PANELS):
        for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
            share = number(Fraction((a + b + (b - a) * place) / 2))
            terms.append(number(Fraction(weight * (b - a) / 2)) * integrand.substitute({ARGUMENT: share * upto}))
    return upto * total(terms)
