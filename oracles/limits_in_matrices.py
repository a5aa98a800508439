"""The limit of matrices of numbers: the same constraints and the same congruent transformation, by orthogonal factors.

For sweeps and for large models: no symbols, so the cost is that of a few factorisations. States are coordinates of orthonormal
bases, not variables of the model; `T` and `T_u` give the variables back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from tellegen.core.names import listing
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.reduction import rules

Array = npt.NDArray[np.float64]

RANK_TOLERANCE = 1e-10
"""Singular values below this share of the largest count as zero."""


@final
@dataclass(frozen=True)
class ReducedArrays:
    """`L z' = -A z + B u + B_1 u'`, `y = C z + D u + D_1 u'` with x = T z + T_u u."""

    L: Array
    A: Array
    B: Array
    C: Array
    D: Array
    B_1: Array
    D_1: Array
    T: Array
    T_u: Array


def reduce_arrays(L: Array, A: Array, B: Array, C: Array, D: Array) -> ReducedArrays:
    """Reduce a passive system of constant matrices whose L is singular.

    Raises: ReductionError (T107) when the constraints leave no solution for some input.
    """
    light, heavy = _null_space(L)
    # States without inertia that dissipation determines, and those that only constraints among the others answer.
    A_00 = light.T @ A @ light
    free, solved = _null_space(A_00)
    solved, free = light @ solved, light @ free
    inner = solved.T @ A @ solved
    mu = -np.linalg.solve(inner, solved.T @ A @ heavy) if inner.size else np.zeros((0, heavy.shape[1]))
    mu_u = np.linalg.solve(inner, solved.T @ B) if inner.size else np.zeros((0, B.shape[1]))
    tied, driven = free.T @ A @ (heavy + solved @ mu), free.T @ (B - A @ solved @ mu_u)
    kept = _null_space(tied)[0] if tied.size else np.eye(heavy.shape[1])
    particular = np.linalg.lstsq(tied, driven, rcond=None)[0] if tied.size else np.zeros((heavy.shape[1], B.shape[1]))
    if tied.size and np.abs(tied @ particular - driven).max(initial=0.0) > RANK_TOLERANCE * (
        1 + np.abs(driven).max(initial=0.0)
    ):
        raise rules.UNSOLVABLE.error("the limit leaves a constraint on inputs alone", fix="keep one of the storages")
    T = (heavy + solved @ mu) @ kept
    T_u = (heavy + solved @ mu) @ particular + solved @ mu_u
    return _congruent(L, A, B, C, D, T, T_u)


def _congruent(L: Array, A: Array, B: Array, C: Array, D: Array, T: Array, T_u: Array) -> ReducedArrays:
    small, rates = T.T @ L @ T, -T.T @ L @ T_u
    power, inputs = T.T @ A @ T, T.T @ (B - A @ T_u)
    outputs = C @ T + T_u.T @ A @ T
    direct = D + C @ T_u + T_u.T @ (A @ T_u - B)
    direct_rate = T_u.T @ L @ T_u
    seen = T_u.T @ L @ T
    Z = np.linalg.solve(small, seen.T).T if small.size else seen
    return ReducedArrays(
        small, power, inputs, outputs - Z @ power, direct + Z @ inputs, rates, direct_rate + Z @ rates, T, T_u
    )


def _null_space(matrix: Array) -> tuple[Array, Array]:
    """Orthonormal bases of the null space of a matrix and of its complement."""
    if not matrix.size:
        return np.zeros((len(matrix), 0)), np.zeros((len(matrix), 0))
    _, s, V = np.linalg.svd(matrix)
    rank = int((s > RANK_TOLERANCE * s.max(initial=0.0)).sum()) if s.max(initial=0.0) > 0 else 0
    return V[rank:].T, V[:rank].T


def limit_arrays(system: EquationSystem, limits: Mapping[str, float]) -> dict[str, Array]:
    """The matrices of a linear system as numbers, with parameters at their limits (infinity included).

    Raises: ReductionError (T105) when an entry has no value there.
    """
    values = {**system.values(), **limits}
    found: dict[str, Array] = {}
    names: tuple[MatrixName, ...] = ("L", "A", "B", "C", "D")
    for name in names:
        try:
            rows = [[e.evaluate(values) for e in row] for row in system.matrices[name]]
        except (ArithmeticError, ValueError, KeyError) as reason:
            raise rules.NO_LIMIT.error(
                f"an entry of {name} has no value at {listing(f'{n}={v}' for n, v in limits.items())}",
                fix="use symbols",
            ) from reason
        width = len(system.inputs) if name in ("B", "D") else len(system.states)
        found[name] = np.array(rows, dtype=np.float64).reshape(len(rows), width)
    return found
