"""In which order the unknowns of a linear system are eliminated, so that little fills in."""

import ctypes
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.pattern import Pattern
from tellegen.simulation.native_library import can_compile, native_library

Integers = NDArray[np.int32]

DENSE_SIZE: Final = 10
DENSE_SHARE: Final = 0.3
"""Full matrices are eliminated as such when they are small or at least this full."""

BAND_WIDTH: Final = 24
"""A mean band no wider than this is eliminated as a band: meshes of more than some hundred elements are wider."""


def elimination_order(pattern: Pattern) -> Integers | None:
    """The columns in the order of elimination, or None where the matrix is treated as full.

    Narrow networks (ladders, trees, chains) by reverse Cuthill-McKee; meshes by least degree.
    """
    size, entries = pattern.size, len(pattern.indices)
    if size <= DENSE_SIZE or entries >= DENSE_SHARE * size * size or not can_compile():
        return None
    order = np.zeros(size, dtype=np.int32)
    function = native_library("ordering").tg_order
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    width = function(size, pattern.indptr.ctypes.data, pattern.indices.ctypes.data, order.ctypes.data)
    if 0 <= width <= BAND_WIDTH * size:
        return order
    return _least_degree(pattern)


def _least_degree(pattern: Pattern) -> Integers:
    """Multiple minimum degree on A + A^T, as SuperLU does it; only the order of its columns is used."""
    from scipy.sparse import csc_array  # noqa: PLC0415
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    size = pattern.size
    columns = np.repeat(np.arange(size), np.diff(pattern.indptr))
    values = np.where(columns == pattern.indices, float(size), 1.0)
    matrix = csc_array((values, pattern.indices, pattern.indptr), shape=(size, size))
    matrix = matrix + float(size) * csc_array((np.ones(size), (np.arange(size), np.arange(size))), shape=(size, size))
    factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(factors.perm_c).astype(np.int32)
