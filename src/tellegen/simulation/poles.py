"""Poles and weights for the exponential of stiff linear models: exp(t x) as a sum of 1/(x - z), for t from a third to one.

The poles lie on a parabola around the negative axis (Weideman and Trefethen, Parabolic and hyperbolic contours for computing the
Bromwich integral, Mathematics of Computation 76, 2007). Instead of the weights of their quadrature the best ones are taken: fitted
to the exponential on the negative axis and on a line beside it, with its first two slopes at zero, where constants and ramps of
an input live. That halves the number of poles for the same error.
"""

import ctypes
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

LANES: Final = 12
DEGREE: Final = 24
WIDE: Final = 3.0
OFF_AXIS: Final = 1.0
PLACE: Final = 7.5
SPACING: Final = 0.1833
"""Of the parabola for so many poles, found by search."""

ERROR: Final = 1e-10
"""A bound of what the sum misses of the exponential, rounding included."""


class Poles(ctypes.Structure):
    """The struct `tg_poles` of native/rational.c."""

    _fields_ = (
        ("error", ctypes.c_double),
        ("re", ctypes.c_double * LANES),
        ("im", ctypes.c_double * LANES),
        ("weights", (ctypes.c_double * (2 * LANES)) * DEGREE),
    )


def poles() -> Complexes:
    """The poles of the upper half plane; their mirror images belong to them."""
    return np.asarray(PLACE * (1.0 + 1j * SPACING * (np.arange(LANES) + 0.5)) ** 2)


def weights(times: Array) -> Array:
    """For each time the weights of Re 1/(x - z), then those of -Im 1/(x - z): real and imaginary parts of complex weights."""
    z = poles()
    axis = -np.concatenate([[0.0], np.logspace(-3, 6, 500)])
    beside = -np.concatenate([[0.0], np.logspace(-2, 2, 60)]) + 1j * OFF_AXIS
    here, above, below = 1 / (axis[:, None] - z), 1 / (beside[:, None] - z), 1 / (beside[:, None] - z.conj())
    off = np.hstack([(above + below) / 2, 1j * (above - below) / 2])
    slopes = np.vstack([-1 / z**2, -2 / z**3])
    fitted = np.vstack([np.hstack([here.real, -here.imag]), np.hstack([slopes.real, -slopes.imag]), off.real, off.imag])
    turned = np.exp(np.outer(beside, times))
    wanted = np.vstack([np.exp(np.outer(axis, times)), times, times**2, turned.real, turned.imag])
    size = np.linalg.norm(fitted, axis=0)
    found = np.linalg.lstsq(fitted / size, wanted, rcond=1e-15)[0]
    return np.asarray((found / size[:, None]).T)


def chebyshev_weights() -> Array:
    """The weights as Chebyshev series over the window."""
    nodes = np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
    values = weights(1 / WIDE + (1 - 1 / WIDE) * (nodes + 1) / 2)
    return np.asarray(np.polynomial.chebyshev.chebfit(nodes, values, DEGREE - 1), dtype=float)


@cache
def pole_table() -> Poles:
    """The table for the solver; it lives as long as the process."""
    z, made = poles(), Poles(ERROR)
    made.re[:], made.im[:] = z.real.tolist(), z.imag.tolist()
    for row, values in zip(made.weights, chebyshev_weights(), strict=True):
        # the sum in C takes real parts times real parts and imaginary times imaginary ones: Re(w / (x - z))
        row[:] = np.concatenate([values[:LANES], -values[LANES:]]).tolist()
    return made
