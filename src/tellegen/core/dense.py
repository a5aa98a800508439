"""Small dense matrices of numbers, as lists of rows.

The same steps serve floats, complex numbers, decimals of 120 digits and fractions; NumPy is for the layers after the equations, and
knows neither of the latter.
"""

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

N = TypeVar("N", float, complex, Decimal, Fraction)
Real = TypeVar("Real", float, Decimal, Fraction)
Matrix = list[list[N]]


def transpose(a: Matrix[N]) -> Matrix[N]:
    """The transpose of a matrix."""
    return [list(row) for row in zip(*a, strict=True)]


def product(a: Matrix[Real], b: Matrix[Real]) -> Matrix[Real]:
    """The product of two matrices."""
    columns, zero = list(zip(*b, strict=True)), a[0][0] - a[0][0]
    return [[sum((x * y for x, y in zip(row, c, strict=True) if x and y), zero) for c in columns] for row in a]


def solve_with_pivots(a: Sequence[Sequence[N]], right: Sequence[Sequence[N]]) -> tuple[Matrix[N], list[N]]:
    """a^-1 right and the pivots (Gauss and Jordan); raises ArithmeticError where a is singular."""
    n = len(a)
    rows = [list(a[k]) + list(right[k]) for k in range(n)]
    for k in range(n):
        # The largest pivot: units differ by many powers of ten from row to row.
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        if not rows[best][k]:
            raise ArithmeticError("a matrix is singular")
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(n):
            if i != k and rows[i][k]:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [x - factor * y if y else x for x, y in zip(rows[i], rows[k], strict=True)]
    return [[x / rows[k][k] for x in rows[k][n:]] for k in range(n)], [rows[k][k] for k in range(n)]


def solve(a: Sequence[Sequence[N]], right: Sequence[Sequence[N]]) -> Matrix[N]:
    """a^-1 right; raises ArithmeticError where a is singular."""
    return solve_with_pivots(a, right)[0]


def identity(like: Matrix[Real]) -> Matrix[Real]:
    """The identity of the size and the numbers of a matrix."""
    zero = like[0][0] - like[0][0]
    return [[zero + int(i == k) for k in range(len(like))] for i in range(len(like))]


def cholesky(X: Matrix[Real], root: Callable[[Real], Real]) -> Matrix[Real]:
    """The upper triangular R with R^T R = X; raises ArithmeticError where X is not positive."""
    n, zero = len(X), X[0][0] - X[0][0]
    R = [[zero] * n for _ in range(n)]
    for i in range(n):
        square = X[i][i] - sum((R[k][i] * R[k][i] for k in range(i)), zero)
        if square <= 0:
            raise ArithmeticError("an energy matrix is not positive within rounding")
        R[i][i] = root(square)
        for j in range(i + 1, n):
            R[i][j] = (X[i][j] - sum((R[k][i] * R[k][j] for k in range(i)), zero)) / R[i][i]
    return R


def triangular_inverse(R: Matrix[Real]) -> Matrix[Real]:
    """The inverse of an upper triangular matrix."""
    n, zero = len(R), R[0][0] - R[0][0]
    found = [[zero] * n for _ in range(n)]
    for j in range(n):
        found[j][j] = 1 / R[j][j]
        for i in range(j - 1, -1, -1):
            found[i][j] = -sum((R[i][k] * found[k][j] for k in range(i + 1, j + 1)), zero) / R[i][i]
    return found
