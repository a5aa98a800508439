"""Jacobians by coloured tangents, and their factors: full ones by LAPACK, large sparse ones by SuperLU."""

from typing import Any, Final, final

import numpy as np

from tellegen.simulation.plain.job_view import Array, JobView, StoppedError, integers
from tellegen.simulation.solvers import jobs

FULL: Final = 200
"""Systems up to this size are factored as full ones."""


@final
class Jacobian:
    """The entries of a Jacobian on the pattern of a job, which all blocks share."""

    def __init__(self, view: JobView) -> None:
        self._view = view
        n = view.block
        self.size = n
        self.columns = integers(view.job.columns, n + 1) if n else np.zeros(1, dtype=np.int32)
        self.rows = integers(view.job.rows, int(self.columns[-1]))
        colours = integers(view.job.colours, n)
        self._members = [colours == colour for colour in range(view.job.n_colours)]
        self.of = np.repeat(np.arange(n), np.diff(self.columns))
        """The column of each entry."""
        self._entries = [mine[self.of] for mine in self._members]

    def rates(self, t: float, y: Array) -> Array:
        """df/dy."""
        return self._swept(lambda mine: self._view.rhs_tangent(t, y, mine.astype(float)))

    def residual(self, t: float, y: Array, yp: Array, on_y: Array, on_yp: Array) -> Array:
        """dF/dy diag(on_y) + dF/dyp diag(on_yp)."""
        return self._swept(
            lambda mine: self._view.tangent(t, y, yp, np.where(mine, on_y, 0.0), np.where(mine, on_yp, 0.0))
        )

    def sizes(self, values: Array, z: Array) -> Array:
        """The sum of the absolute terms of each row at z."""
        terms: Array = np.abs(values) * np.abs(z)[self.of]
        return np.asarray(np.bincount(self.rows, terms, minlength=self.size), dtype=float)

    def _swept(self, tangent: Any) -> Array:
        self._view.job.jacobians += 1
        values = np.zeros(len(self.rows))
        for mine, entries in zip(self._members, self._entries, strict=True):
            values[entries] = tangent(mine)[self.rows[entries]]
        return values

    def factors(self, values: Array) -> "Factors":
        """Factors of a matrix on the pattern.

        Raises: StoppedError (singular), `detail` of the job being one more than the column that is not decided.
        """
        self._view.job.factorisations += 1
        return Factors(self, values, self._view)

    def full(self, values: Array) -> Array:
        """The matrix with its zeros."""
        matrix = np.zeros((self.size, self.size))
        matrix[self.rows, self.of] = values
        return matrix


@final
class Factors:
    """A matrix that is ready to be solved with, block by block."""

    def __init__(self, jacobian: Jacobian, values: Array, view: JobView) -> None:
        self._size = jacobian.size
        self._solve: Any = None
        if not self._size:
            return
        if not np.all(np.isfinite(values)):
            raise StoppedError(jobs.NOT_FINITE)
        if self._size <= FULL:
            self._solve = _full_solver(jacobian.full(values), view)
        else:
            self._solve = _sparse_solver(jacobian, values, view)

    def solve(self, right: Array) -> Array:
        """x of matrix x = right, for each block of `right`."""
        if not self._size:
            return right.copy()
        blocks = right.reshape(-1, self._size).T
        return np.ascontiguousarray(self._solve(blocks).T).ravel()


def _full_solver(matrix: Array, view: JobView) -> Any:
    from scipy.linalg.lapack import dgetrf, dgetrs  # noqa: PLC0415

    factored, swaps, info = dgetrf(matrix)
    if info > 0:
        view.job.detail = info
        raise StoppedError(jobs.SINGULAR)
    return lambda right: dgetrs(factored, swaps, right)[0]


def _sparse_solver(jacobian: Jacobian, values: Array, view: JobView) -> Any:
    from scipy.sparse import csc_array  # noqa: PLC0415
    from scipy.sparse.linalg import splu  # noqa: PLC0415

    shape = (jacobian.size, jacobian.size)
    matrix: Any = csc_array((values, jacobian.rows, jacobian.columns), shape=shape)
    try:
        return splu(matrix).solve
    except RuntimeError:  # singular: which column is not decided a full elimination tells
        return _full_solver(jacobian.full(values), view)
