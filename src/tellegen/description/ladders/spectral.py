"""A stable passive matrix of transfer functions as unit storages and resistors, by the positive-real lemma.

With G = C (s - A)^-1 B + D there is an energy matrix P with

    [[-A^T P - P A, C^T - P B], [C - B^T P, D + D^T]] = [c, d]^T [c, d] >= 0

(Anderson 1967). P solves a Riccati equation, whose solution spans the stable subspace of a Hamiltonian matrix and is read off its
matrix sign (Roberts 1980). Where D + D^T is singular, or G is lossless at some frequency, the equation is on the edge of having no
solution; so a resistance of 1e-32 of the size of G is added, and the numbers carry 120 digits, of which the edge takes at most
half. Pure Python: `decimal` multiplies such numbers nearly as fast as Python multiplies floats, and no matrix here is large.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from tellegen.description.ladders.minimal import StateSpace

Rows = list[list[Decimal]]

DIGITS = 120
ADDED = Decimal("1e-32")
_SETTLED = Decimal("1e-40")
_NOTHING = Decimal("1e-24")
_MOST_STEPS = 700
_DROPPED = 1e-12
"""Entries smaller than this, relative to the largest, are what the added resistance left."""


def passive_form(
    space: StateSpace,
) -> tuple[list[list[float]], list[list[float]], list[list[float]], list[list[float]]]:
    """J, g, c, d of z' = J z + g u - c^T i, y = g^T z + d^T i + (skew part of D) u, i = (c z + d u)/2, with energy z^T z/2.

    Raises: ArithmeticError where the digits do not suffice.
    """
    with localcontext() as context:
        context.prec = DIGITS
        return _passive_form(space)


def _passive_form(
    space: StateSpace,
) -> tuple[list[list[float]], list[list[float]], list[list[float]], list[list[float]]]:
    A, B, C, D = (_decimals(m) for m in (space.A, space.B, space.C, space.D))
    n, ports = len(A), len(D)
    size = max((abs(x) for m in (B, C) for row in m for x in row), default=Decimal(0)) ** 2
    size = max(size, *(abs(x) for row in D for x in row))
    R = [[D[i][j] + D[j][i] + (2 * ADDED * size if i == j else 0) for j in range(ports)] for i in range(ports)]
    d = cholesky(R)
    if not n:
        return [], [], *_resistors([[] for _ in d], d)
    P = _energy(A, B, C, inverse(R))
    root = cholesky(P)
    back = inverse(root)
    A, B, C = product(product(root, A), back), product(root, B), product(C, back)
    given = [[C[i][j] - B[j][i] for j in range(n)] for i in range(ports)]
    c = product(inverse(transposed(d)), given)
    J = [[float((A[i][j] - A[j][i]) / 2) for j in range(n)] for i in range(n)]
    g = [[float((B[i][k] + C[k][i]) / 2) for k in range(ports)] for i in range(n)]
    return _clean(J), _clean(g), *_resistors(c, d)


def _resistors(c: Rows, d: Rows) -> tuple[list[list[float]], list[list[float]]]:
    """As few rows of c and d as give the same losses, without those that only the added resistance made."""
    n = len(c[0]) if c else 0
    K = [[*one, *two] for one, two in zip(c, d, strict=True)]
    rest = product(transposed(K), K)
    size = range(len(rest))
    least = max(rest[i][i] for i in size) * _NOTHING
    rows: list[list[float]] = []
    while rest[k := max(size, key=lambda i: rest[i][i])][k] > least:
        pivot = rest[k][k].sqrt()
        row = [x / pivot for x in rest[k]]
        rest = [[rest[i][j] - row[i] * row[j] for j in size] for i in size]
        rows.append([float(x) for x in row])
    rows = _clean(rows)
    return [row[:n] for row in rows], [row[n:] for row in rows]


def _clean(rows: list[list[float]]) -> list[list[float]]:
    largest = max((abs(x) for row in rows for x in row), default=0.0)
    return [[x if abs(x) > _DROPPED * largest else 0.0 for x in row] for row in rows]


def _energy(A: Rows, B: Rows, C: Rows, R: Rows) -> Rows:
    """The least P with A^T P + P A + (C^T - P B) R (C - B^T P) = 0; `R` is the inverse of D + D^T."""
    n = len(A)
    BR = product(B, R)
    drift = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(A, product(BR, C), strict=True)]
    upper, lower = product(BR, transposed(B)), product(transposed(C), product(R, C))
    H = [[*drift[i], *upper[i]] for i in range(n)]
    H += [[*(-x for x in lower[i]), *(-drift[j][i] for j in range(n))] for i in range(n)]
    S = _sign(H)
    # (S + 1) [1; P] = 0 on the stable subspace: twice as many equations as unknowns, solved together.
    left = [[S[i][n + j] + (1 if i == n + j else 0) for j in range(n)] for i in range(2 * n)]
    right = [[-S[i][j] - (1 if i == j else 0) for j in range(n)] for i in range(2 * n)]
    normal = product(transposed(left), left)
    P = product(inverse(normal), product(transposed(left), right))
    return [[(P[i][j] + P[j][i]) / 2 for j in range(n)] for i in range(n)]


def _sign(H: Rows) -> Rows:
    """The sign of a matrix without eigenvalues on the imaginary axis, by Newton's method, scaled by its determinant."""
    size = len(H)
    for _ in range(_MOST_STEPS):
        turned, determinant = _inverse_and_determinant(H)
        scale = Decimal(10) ** -round(
            determinant.adjusted() / size
        )  # a power of ten rounds nothing, and is near enough
        new = [
            [(x * scale + y / scale) / 2 for x, y in zip(row, other, strict=True)]
            for row, other in zip(H, turned, strict=True)
        ]
        moved = max(abs(x - y) for row, other in zip(new, H, strict=True) for x, y in zip(row, other, strict=True))
        largest = max(abs(x) for row in new for x in row)
        H = new
        if moved <= _SETTLED * largest:
            return H
    raise ArithmeticError("the sign of the Hamiltonian matrix was not found")


# -- matrices of decimals ------------------------------------------------------------------------------------------------------


def _decimals(rows: Sequence[Sequence[Fraction]]) -> Rows:
    return [[Decimal(x.numerator) / Decimal(x.denominator) for x in row] for row in rows]


def transposed(a: Rows) -> Rows:
    """The transpose of a matrix."""
    return [list(row) for row in zip(*a, strict=True)]


def product(a: Rows, b: Rows) -> Rows:
    """The product of two matrices."""
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, c, strict=True) if x and y), Decimal(0)) for c in columns] for row in a]


def inverse(a: Rows) -> Rows:
    """The inverse of a matrix; raises ArithmeticError where it has none."""
    return _inverse_and_determinant(a)[0]


def _inverse_and_determinant(a: Rows) -> tuple[Rows, Decimal]:
    n = len(a)
    work = [[*row, *(Decimal(int(i == k)) for k in range(n))] for i, row in enumerate(a)]
    determinant = Decimal(1)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(work[i][k]))
        if not work[pivot][k]:
            raise ArithmeticError("a matrix is singular")
        work[k], work[pivot] = work[pivot], work[k]
        determinant *= work[k][k]
        factor = 1 / work[k][k]
        work[k] = [x * factor for x in work[k]]
        for i in range(n):
            if i != k and work[i][k]:
                ratio = work[i][k]
                work[i] = [x - ratio * y if y else x for x, y in zip(work[i], work[k], strict=True)]
    return [row[n:] for row in work], determinant


def cholesky(X: Rows) -> Rows:
    """The upper triangular R with R^T R = X; raises ArithmeticError where X is not positive."""
    n = len(X)
    R = [[Decimal(0)] * n for _ in range(n)]
    for i in range(n):
        square = X[i][i] - sum((R[k][i] ** 2 for k in range(i)), Decimal(0))
        if square <= 0:
            raise ArithmeticError("an energy matrix is not positive within rounding")
        R[i][i] = square.sqrt()
        for j in range(i + 1, n):
            R[i][j] = (X[i][j] - sum((R[k][i] * R[k][j] for k in range(i)), Decimal(0))) / R[i][i]
    return R
