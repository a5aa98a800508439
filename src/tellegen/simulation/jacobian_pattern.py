"""Where the Jacobian of a model has entries, as far as solvers need it.

A compiled model knows the pattern of its implicit form F(t, y, yp). Where dependent storages couple the rates, the rates solved for
depend on more variables than each equation does: f = M^-1 g has entries where M and g have none.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.pattern import Pattern, colouring, dense_pattern

Integers = NDArray[np.int32]

SMALL: Final = 100
"""Up to this size a Jacobian with coupled rates is taken as full."""

PROBED: Final = 3000
"""Up to this size that of a linear model is found column by column."""


def solver_pattern(model: NumericModel) -> tuple[Pattern, Integers]:
    """A pattern that holds both dF/dy + c dF/dyp and df/dy, and the colours of its columns."""
    if not model.explicit or not rates_are_coupled(model) or is_too_wide(model):
        return model.pattern, model.colours
    pattern = dense_pattern(model.size) if model.size <= SMALL else _probed(model)
    return pattern, colouring(pattern)


def is_too_wide(model: NumericModel) -> bool:
    """Whether the Jacobian of coupled rates would be too costly: the implicit form is then the better one."""
    return model.size > (PROBED if model.linear else SMALL) and rates_are_coupled(model)


def rates_are_coupled(model: NumericModel) -> bool:
    """Whether an equation of F has more than one rate, at one of two points."""
    if "tangent" not in model.addresses:
        return False
    context, random = model.new_context(), np.random.default_rng(2)
    start, rest = model.start(), np.zeros(model.size)
    for _ in range(2):
        y = start + random.standard_normal(model.size) * (1.0 + np.abs(start))
        for colour in range(int(model.colours.max(initial=-1)) + 1):
            mine = model.colours == colour
            try:
                moved = model.tangent(0.0, y, rest, None, np.where(mine, 1.0, 0.0), context=context)
            except FloatingPointError:
                return True
            if np.any(moved[~mine]):
                return True
    return False


def _probed(model: NumericModel) -> Pattern:
    """The pattern of a linear model with that of df/dy added, one tangent for each column."""
    context, y, unit = model.new_context(), model.start(), np.zeros(model.size)
    indptr, indices = [0], []
    for k in range(model.size):
        unit[k] = 1.0
        found = np.flatnonzero(model.rhs_tangent(0.0, y, unit, context=context))
        unit[k] = 0.0
        known = model.pattern.indices[model.pattern.indptr[k] : model.pattern.indptr[k + 1]]
        rows = np.union1d(found, known)
        indices.append(rows)
        indptr.append(indptr[-1] + len(rows))
    return Pattern(np.array(indptr, dtype=np.int32), np.concatenate(indices).astype(np.int32))
