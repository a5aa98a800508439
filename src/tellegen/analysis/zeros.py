"""Zeros: the finite frequencies at which a model passes nothing from some input to any output."""

import numpy as np
import scipy.linalg

from tellegen.analysis.linear_model import Array, LinearModel, StateSpace, energy_coordinates
from tellegen.analysis.poles import Pole, conjugate_pairs

RANK = 1e-10
"""Singular values below this share of the largest count as zero."""

ROUNDING = 8 * float(np.finfo(float).eps)
"""A zero below this share of the speed of the model, for each state, lies in the origin."""


def zeros(model: LinearModel, output: str | None = None, input_: str | None = None) -> tuple[Pole, ...]:
    """The zeros of a channel, or where no channel is named the transmission zeros of the whole model; nearest to 0 first.

    They are the finite generalised eigenvalues of [[-A - s L, B + s B_1], [C, D + s D_1]]. Zeros at infinity are taken off by
    orthogonal transformations first (Emami-Naeini and Van Dooren, Automatica 18, 1982), because a plain solver finds them as
    large numbers that mean nothing. Zeros have the attributes of poles.

    Raises: EquationError when there is no such channel (E204), or the energy matrix is singular (E202).
    """
    if not model.inputs or not model.outputs:
        return ()
    one = output is not None or input_ is not None
    space = energy_coordinates(model if one else model.conjugate())
    if output is not None or input_ is not None:
        row, column = model.channel(output or model.outputs[0], input_ or model.inputs[0])
        space = channel(space, row, column)
    return conjugate_pairs(_zeros_with_derivatives(space) if space.D_1.any() else _zeros(space))


def channel(space: StateSpace, row: int, column: int) -> StateSpace:
    """The model from one input to one output."""
    rows, columns = slice(row, row + 1), slice(column, column + 1)
    return StateSpace(
        space.A,
        space.B[:, columns],
        space.C[rows],
        space.D[rows, columns],
        space.D_1[rows, columns],
        space.back,
        space.shift[:, columns],
    )


def _zeros(space: StateSpace) -> Array:
    speed = np.linalg.norm(space.A, 2) or 1.0 if space.A.size else 1.0
    B, C, D = space.B / speed, space.C, space.D
    # Inputs and outputs may be measured in any units: columns and rows of size one make ranks comparable.
    B, D = _columns_scaled(B, D)
    C, D = (part.T for part in _columns_scaled(C.T, D.T))
    A = space.A / speed
    A, B, C, D = _without_infinite(A, B, C, D)
    A, C, B, D = (part.T for part in _without_infinite(A.T, C.T, B.T, D.T))
    if not A.size or D.shape[0] != D.shape[1]:
        return np.zeros(0)
    inside = A - B @ np.linalg.solve(D, C) if D.size else A
    found = np.linalg.eigvals(inside)
    found[np.abs(found) <= ROUNDING * len(A) * max(1.0, float(np.linalg.norm(inside, 2)))] = 0.0
    return np.asarray(found * speed)


def _columns_scaled(B: Array, D: Array) -> tuple[Array, Array]:
    size = np.sqrt((B**2).sum(axis=0) + (D**2).sum(axis=0))
    size[size == 0] = 1.0
    return B / size, D / size


def _without_infinite(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """A system with the same finite zeros whose D has full row rank."""
    while True:
        U, sizes, _ = np.linalg.svd(D)
        rank = _rank(sizes)
        C, D = U.T @ C, U.T @ D
        free, C, D = C[rank:], C[:rank], D[:rank]
        if not free.size:
            return A, B, C, D
        _, sizes, V = np.linalg.svd(free)
        fixed = _rank(sizes)
        if fixed == 0:
            return A, B, C, D
        # States that these outputs hold at zero: what would move them must vanish too, and becomes an output.
        turn = np.vstack([V[fixed:], V[:fixed]]).T
        n = A.shape[0] - fixed
        A, B, C = turn.T @ A @ turn, turn.T @ B, C @ turn
        C, D = np.vstack([C[:, :n], A[n:, :n]]), np.vstack([D, B[n:]])
        A, B = A[:n, :n], B[:n]


def _rank(sizes: Array) -> int:
    return int((sizes > RANK).sum())


def _zeros_with_derivatives(space: StateSpace) -> Array:
    """Where D_1 is not zero the pencil is used as it is, and what lies far beyond all its entries is left out."""
    n, m = space.A.shape[0], space.D.shape[1]
    fixed = np.block([[space.A, space.B], [space.C, space.D]])
    moving = np.block([[np.eye(n), np.zeros((n, m))], [np.zeros((m, n)), -space.D_1]])
    above, below = scipy.linalg.eig(fixed, moving, right=False, homogeneous_eigvals=True)
    finite = np.abs(below) > RANK * np.abs(above)
    return np.asarray(above[finite] / below[finite])
