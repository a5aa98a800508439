"""Matrices of stable transfer functions in state space: the minimal realisation, and its passive form by the positive-real lemma.

The coefficients of G in powers of 1/s fill a Hankel matrix whose rank is the number of states; any independent columns and rows of
it, as many as its rank, give A, B and C. Exact numbers make the rank a fact and not a guess.

With G = C (s - A)^-1 B + D there is an energy matrix P with

    [[-A^T P - P A, C^T - P B], [C - B^T P, D + D^T]] = [c, d]^T [c, d] >= 0

(Anderson 1967). P solves a Riccati equation, whose solution spans the stable subspace of a Hamiltonian matrix and is read off its
matrix sign (Roberts 1980). Where D + D^T is singular, or G is lossless at some frequency, the equation is on the edge of having no
solution; so a resistance of 1e-32 of the size of G is added, and the numbers carry 120 digits, of which the edge takes at most
half. Pure Python: `decimal` multiplies such numbers nearly as fast as Python multiplies floats, and no matrix here is large.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import final

from tellegen.synthesis.polynomials import Polynomial

ExactRows = list[list[Fraction]]


@final
@dataclass(frozen=True)
class MinimalStateSpace:
    """x' = A x + B u, y = C x + D u, with nothing in x that u does not move or y does not show."""

    A: ExactRows
    B: ExactRows
    C: ExactRows
    D: ExactRows


def minimal_realisation(numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial) -> MinimalStateSpace:
    """The realisation of a square matrix of proper functions over one denominator."""
    ports, order = len(numerators), len(denominator) - 1
    series = [[_series(n, denominator, 2 * order + 1) for n in row] for row in numerators]

    def markov(k: int) -> ExactRows:
        return [[entry[k] for entry in row] for row in series]

    def hankel(shift: int) -> ExactRows:
        blocks = [markov(k) for k in range(2 * order + 1)]
        span = range(order * ports)
        return [[blocks[1 + i // ports + j // ports + shift][i % ports][j % ports] for j in span] for i in span]

    here, later = hankel(0), hankel(1)
    columns = independent_columns(here)
    rows = independent_columns([list(line) for line in zip(*here, strict=True)])
    corner = [[here[i][j] for j in columns] for i in rows]
    right = [[later[i][j] for j in columns] + here[i][:ports] for i in rows]
    found = solve_exactly(corner, right)
    n = len(columns)
    return MinimalStateSpace(
        [row[:n] for row in found],
        [row[n:] for row in found],
        [[here[i][j] for j in columns] for i in range(ports)] if n else [[] for _ in range(ports)],
        markov(0),
    )


def _series(N: Polynomial, D: Polynomial, count: int) -> list[Fraction]:
    """The first coefficients of N/D in powers of 1/s, the constant first."""
    rest = [*([Fraction(0)] * (len(D) - len(N))), *reversed(N)]
    found = []
    bottom = list(reversed(D))
    for _ in range(count):
        c = rest[0] / bottom[0]
        found.append(c)
        rest = [*(a - c * b for a, b in zip(rest[1:], bottom[1:], strict=True)), Fraction(0)]
    return found


def independent_columns(matrix: ExactRows) -> list[int]:
    """The first columns of a matrix that are independent."""
    work = [list(row) for row in matrix]
    found: list[int] = []
    for j in range(len(work[0]) if work else 0):
        k = len(found)
        pivot = next((i for i in range(k, len(work)) if work[i][j]), None)
        if pivot is None:
            continue
        work[k], work[pivot] = work[pivot], work[k]
        for i in range(k + 1, len(work)):
            if ratio := work[i][j] / work[k][j]:
                work[i] = [a - ratio * b for a, b in zip(work[i], work[k], strict=True)]
        found.append(j)
    return found


def solve_exactly(matrix: ExactRows, right: ExactRows) -> ExactRows:
    """matrix^-1 right, for a regular matrix."""
    n = len(matrix)
    work = [[*row, *known] for row, known in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if work[i][k])
        work[k], work[pivot] = work[pivot], work[k]
        work[k] = [x / work[k][k] for x in work[k]]
        for i in range(n):
            if i != k and work[i][k]:
                ratio = work[i][k]
                work[i] = [a - ratio * b for a, b in zip(work[i], work[k], strict=True)]
    return [row[n:] for row in work]


DecimalRows = list[list[Decimal]]

DIGITS = 120
ADDED = Decimal("1e-32")
_SETTLED = Decimal("1e-40")
_NOTHING = Decimal("1e-24")
_MOST_STEPS = 700
_DROPPED = 1e-12
"""Entries smaller than this, relative to the largest, are what the added resistance left."""


def passive_form(
    space: MinimalStateSpace,
) -> tuple[list[list[float]], list[list[float]], list[list[float]], list[list[float]]]:
    """J, g, c, d of z' = J z + g u - c^T i, y = g^T z + d^T i + (skew part of D) u, i = (c z + d u)/2, with energy z^T z/2.

    Raises: ArithmeticError where the digits do not suffice.
    """
    with localcontext() as context:
        context.prec = DIGITS
        return _passive_form(space)


def _passive_form(
    space: MinimalStateSpace,
) -> tuple[list[list[float]], list[list[float]], list[list[float]], list[list[float]]]:
    A, B, C, D = (_decimals(m) for m in (space.A, space.B, space.C, space.D))
    n, ports = len(A), len(D)
    size = max((abs(x) for m in (B, C) for row in m for x in row), default=Decimal(0)) ** 2
    size = max(size, *(abs(x) for row in D for x in row))
    R = [[D[i][j] + D[j][i] + (2 * ADDED * size if i == j else 0) for j in range(ports)] for i in range(ports)]
    d = decimal_cholesky(R)
    if not n:
        return [], [], *_resistors([[] for _ in d], d)
    P = _energy(A, B, C, decimal_inverse(R))
    root = decimal_cholesky(P)
    back = decimal_inverse(root)
    A, B, C = decimal_product(decimal_product(root, A), back), decimal_product(root, B), decimal_product(C, back)
    given = [[C[i][j] - B[j][i] for j in range(n)] for i in range(ports)]
    c = decimal_product(decimal_inverse(decimal_transpose(d)), given)
    J = [[float((A[i][j] - A[j][i]) / 2) for j in range(n)] for i in range(n)]
    g = [[float((B[i][k] + C[k][i]) / 2) for k in range(ports)] for i in range(n)]
    return _clean(J), _clean(g), *_resistors(c, d)


def _resistors(c: DecimalRows, d: DecimalRows) -> tuple[list[list[float]], list[list[float]]]:
    """As few rows of c and d as give the same losses, without those that only the added resistance made."""
    n = len(c[0]) if c else 0
    K = [[*one, *two] for one, two in zip(c, d, strict=True)]
    rest = decimal_product(decimal_transpose(K), K)
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


def _energy(A: DecimalRows, B: DecimalRows, C: DecimalRows, R: DecimalRows) -> DecimalRows:
    """The least P with A^T P + P A + (C^T - P B) R (C - B^T P) = 0; `R` is the inverse of D + D^T."""
    n = len(A)
    BR = decimal_product(B, R)
    drift = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(A, decimal_product(BR, C), strict=True)]
    upper, lower = (
        decimal_product(BR, decimal_transpose(B)),
        decimal_product(decimal_transpose(C), decimal_product(R, C)),
    )
    H = [[*drift[i], *upper[i]] for i in range(n)]
    H += [[*(-x for x in lower[i]), *(-drift[j][i] for j in range(n))] for i in range(n)]
    S = _sign(H)
    # (S + 1) [1; P] = 0 on the stable subspace: twice as many equations as unknowns, solved together.
    left = [[S[i][n + j] + (1 if i == n + j else 0) for j in range(n)] for i in range(2 * n)]
    right = [[-S[i][j] - (1 if i == j else 0) for j in range(n)] for i in range(2 * n)]
    normal = decimal_product(decimal_transpose(left), left)
    P = decimal_product(decimal_inverse(normal), decimal_product(decimal_transpose(left), right))
    return [[(P[i][j] + P[j][i]) / 2 for j in range(n)] for i in range(n)]


def _sign(H: DecimalRows) -> DecimalRows:
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


def _decimals(rows: Sequence[Sequence[Fraction]]) -> DecimalRows:
    return [[Decimal(x.numerator) / Decimal(x.denominator) for x in row] for row in rows]


def decimal_transpose(a: DecimalRows) -> DecimalRows:
    """The transpose of a matrix."""
    return [list(row) for row in zip(*a, strict=True)]


def decimal_product(a: DecimalRows, b: DecimalRows) -> DecimalRows:
    """The product of two matrices."""
    columns = list(zip(*b, strict=True))
    return [[sum((x * y for x, y in zip(row, c, strict=True) if x and y), Decimal(0)) for c in columns] for row in a]


def decimal_inverse(a: DecimalRows) -> DecimalRows:
    """The inverse of a matrix; raises ArithmeticError where it has none."""
    return _inverse_and_determinant(a)[0]


def _inverse_and_determinant(a: DecimalRows) -> tuple[DecimalRows, Decimal]:
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


def decimal_cholesky(X: DecimalRows) -> DecimalRows:
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
