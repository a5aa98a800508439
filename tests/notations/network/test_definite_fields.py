"""A matrix that stores less than nothing in some direction is found out, with such a direction; others pass."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tellegen.notations.network.fields import _negative_direction


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["gram", "any", "hollow"]))
def test_definiteness_is_that_of_the_eigenvalues(n: int, seed: int, kind: str) -> None:
    generator = np.random.default_rng(seed)
    a = generator.standard_normal((n, n))
    s = a @ a.T if kind == "gram" else a + a.T
    if kind == "hollow":
        s[np.diag_indices(n)] = 0.0
    units = np.diag(10.0 ** generator.integers(-5, 6, n))
    s = units @ s @ units
    found = _negative_direction(s.tolist())
    # Units do not count, but for entries on the diagonal that vanish.
    scale = np.sqrt(np.abs(np.diag(s)))
    scale = np.where(scale > 1e-12 * scale.max(), scale, scale.max() or 1.0)
    least = float(np.linalg.eigvalsh(s / np.outer(scale, scale))[0])
    if found is not None:
        assert np.array(found) @ s @ np.array(found) < 0.0
    else:
        assert least > -1e-4
