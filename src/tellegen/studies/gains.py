"""The gains of a linear model over frequency, and how far two models are apart there."""

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Array = NDArray[np.float64]

POINTS = 200
"""Frequencies, evenly spaced in their logarithm, beside those of the poles."""


@final
@dataclass(frozen=True, eq=False)
class Gains:
    """Transfer matrices over frequencies, in coordinates in which L = 1."""

    frequencies: Array
    values: NDArray[np.complex128]

    @property
    def largest(self) -> float:
        """The largest gain from any input to any output."""
        return float(np.linalg.norm(self.values, 2, axis=(1, 2)).max(initial=0.0)) if self.values.size else 0.0

    def apart(self, other: "Gains") -> float:
        """The largest difference, as a share of the largest gain."""
        if not self.values.size or not self.largest:
            return 0.0
        return float(np.linalg.norm(self.values - other.values, 2, axis=(1, 2)).max()) / self.largest


def band_of(A: Array) -> Array:
    """Frequencies that show what a model does: a decade beyond its slowest and fastest poles, and at each of them."""
    poles = np.abs(np.linalg.eigvals(A))
    poles = poles[poles > 1e-12 * poles.max(initial=0.0)]
    if not len(poles):
        return np.ones(1)
    return np.unique(np.concatenate([np.geomspace(poles.min() / 10, poles.max() * 10, POINTS), poles]))


def gains_of(A: Array, B: Array, C: Array, D: Array, frequencies: Array) -> Gains:
    """C (i w + A)^-1 B + D at each frequency."""
    if not len(A):
        return Gains(frequencies, np.repeat(D[None].astype(complex), len(frequencies), axis=0))
    T, Q = scipy.linalg.schur(A.astype(complex), output="complex")
    inwards, outwards = Q.conj().T @ B, C @ Q
    one = np.eye(len(A))
    found = [outwards @ scipy.linalg.solve_triangular(1j * w * one + T, inwards) + D for w in frequencies]
    return Gains(frequencies, np.asarray(found))
