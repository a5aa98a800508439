"""A positive-real function as storages, one resistor and a lossless connection.

The real part on the imaginary axis is |W|^2/2 with a stable spectral factor W, and the energy matrix X of the stable part solves
the Lyapunov equation A^T X + X A = -c^T c, where c belongs to W (positive-real lemma: Anderson 1967). In coordinates with X = 1

    z' = J z + g u - c^T i,   y = g^T z + d i,   e = c z + d u,   i = e/2,

with J skew: n unit storages and one resistor of 2. The modes on the axis join with their own J and g, and no c. Floating-point
numbers; the test before it is exact.
"""

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tellegen.description.ladders.polynomials import complex_roots, squarefree_factors
from tellegen.description.ladders.positive_real import PositiveReal

Rows = list[list[float]]


@final
@dataclass(frozen=True)
class Realisation:
    """y = (g^T z + d i) + rate*u' with z' = J z + g u - c^T i, i = (c z + d u)/2. `g` and `d` have an entry for each port."""

    J: tuple[tuple[float, ...], ...]
    g: tuple[tuple[float, ...], ...]
    c: tuple[tuple[float, ...], ...]
    d: tuple[tuple[float, ...], ...]
    rate: float
    skew: tuple[tuple[float, ...], ...] = ()
    rates: tuple[tuple[float, ...], ...] = ()

    # One row of c and d for each resistor; row k of g belongs to storage k. `skew` joins the ports of a matrix without loss.
    # A row r of `rates` is a storage that follows the ports: it adds r^T (r u)'.

    @property
    def skewed(self) -> bool:
        """Whether a port answers another without loss."""
        return any(self.is_turned(k) for k in range(len(self.skew)))

    def is_turned(self, port: int) -> bool:
        """Whether a port answers an earlier one without loss."""
        return bool(self.skew) and any(self.skew[port][:port])

    def at(self, s: complex) -> list[list[complex]]:
        """The function at a point."""
        n, ports = len(self.g), max(len(row) for row in (*self.g[:1], *self.d[:1], self.skew, *self.rates[:1], (1,)))
        lost = list(zip(self.c, self.d, strict=True))
        A = [[s * (i == j) - self.J[i][j] + sum(c[i] * c[j] for c in self.c) / 2 for j in range(n)] for i in range(n)]
        B = [[self.g[i][k] - sum(c[i] * d[k] for c, d in lost) / 2 for k in range(ports)] for i in range(n)]
        C = [[self.g[i][k] + sum(c[i] * d[k] for c, d in lost) / 2 for i in range(n)] for k in range(ports)]
        found = []
        for column in range(ports):
            z = _eliminated(A, [row[column] for row in B])
            direct = [sum(d[k] * d[column] for d in self.d) / 2 for k in range(ports)]
            turned = [self.skew[k][column] if self.skew else 0.0 for k in range(ports)]
            rates = [s * (self.rate * (k == column) + sum(r[k] * r[column] for r in self.rates)) for k in range(ports)]
            through = [sum(x * y for x, y in zip(C[k], z, strict=True)) for k in range(ports)]
            found.append([sum(terms) for terms in zip(through, direct, turned, rates, strict=True)])
        return [list(row) for row in zip(*found, strict=True)]


def realise(parts: PositiveReal) -> Realisation:
    """The realisation of a scalar function."""
    J, g, c, d = _stable(parts)
    n = len(g)
    if parts.at_zero:
        g.append(math.sqrt(parts.at_zero))
        J.append([])
    for omega, k in parts.modes:
        at = len(g)
        g += [math.sqrt(2 * k), 0.0]
        J += [[0.0] * at + [0.0, omega], [0.0] * at + [-omega]]
    size = len(g)
    square = tuple((*row, *[0.0] * (size - len(row))) for row in J)
    resistors = ((*c, *[0.0] * (size - n)),) if d or any(c) else ()
    return Realisation(
        square, tuple((x,) for x in g), resistors, ((d,),) if resistors else (), float(parts.at_infinity)
    )


def _stable(parts: PositiveReal) -> tuple[Rows, list[float], list[float], float]:
    """J, g, c, d of the stable part. Time is scaled so that the poles lie about the unit circle."""
    D, n = parts.denominator, len(parts.denominator) - 1
    if not parts.numerator:
        return [], [], [], 0.0
    scale = abs(float(D[0] / D[-1])) ** (1 / n) if n else 1.0
    monic = [float(c / D[-1]) * scale ** (k - n) for k, c in enumerate(D)]
    top = [float(c / D[-1]) * scale ** (k - n) for k, c in enumerate(parts.numerator)]
    top += [0.0] * (n + 1 - len(top))
    factor = _spectral_factor(parts, scale)
    direct, d = top[n], factor[n]
    output = [top[k] - direct * monic[k] for k in range(n)]
    shadow = [factor[k] - d * monic[k] for k in range(n)]
    if not n:
        return [], [], [], d
    A = [[1.0 if j == i + 1 else 0.0 for j in range(n)] for i in range(n - 1)] + [[-x for x in monic[:n]]]
    root = _cholesky(_lyapunov(A, shadow))
    inverse = _inverse(root)
    c = [sum(shadow[i] * inverse[i][j] for i in range(n)) for j in range(n)]
    given = [sum(output[i] * inverse[i][j] for i in range(n)) for j in range(n)]
    turned = _product(_product(root, A), inverse)
    J = [[(turned[i][j] + c[i] * c[j] / 2) for j in range(n)] for i in range(n)]
    skew = [[scale * (J[i][j] - J[j][i]) / 2 for j in range(n)] for i in range(n)]
    g = [math.sqrt(scale) * (given[k] - d * c[k] / 2) for k in range(n)]
    return skew, g, [math.sqrt(scale) * x for x in c], d


def _spectral_factor(parts: PositiveReal, scale: float) -> list[float]:
    """The rising coefficients of M, without roots to the right: M(s) M(-s) = 2 Re G |D|^2, D monic, s in units of `scale`."""
    n = len(parts.denominator) - 1
    lead = float(parts.denominator[-1])
    found: list[complex] = [1.0]
    for whole, order in squarefree_factors(parts.even):
        for _ in range(0 if whole[0] else order):
            found = _times(found, [0.0, 1.0])
        for square in complex_roots(whole if whole[0] else whole[1:]):
            s = cmath.sqrt(-square)
            s = -s if s.real > 0 or (s.real == 0 and s.imag < 0) else s
            on_axis = abs(square.imag) <= 1e-12 * abs(square) and square.real > 0
            if on_axis:  # a root of even order: half of its pairs +-j omega belong to M
                w2 = square.real / scale**2
                for _ in range(order // 2):
                    found = _times(found, [w2, 0.0, 1.0])
            else:
                for _ in range(order):
                    found = _times(found, [-s / scale, 1.0])
    gain = math.sqrt(2 * abs(float(parts.even[-1]))) / abs(lead)
    degree = len(parts.even) - 1
    gain *= scale ** (degree - n)
    return [gain * x.real for x in found] + [0.0] * (n + 1 - len(found))


def _times(a: Sequence[complex], b: Sequence[complex]) -> list[complex]:
    found: list[complex] = [0.0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            found[i + j] += x * y
    return found


# -- small dense matrices ------------------------------------------------------------------------------------------------------


def _lyapunov(A: Rows, c: Sequence[float]) -> Rows:
    """X with A^T X + X A = -c^T c."""
    n = len(A)
    places = [(i, j) for i in range(n) for j in range(i, n)]
    at = {place: k for k, place in enumerate(places)} | {(j, i): k for k, (i, j) in enumerate(places)}
    rows, right = [], []
    for i, j in places:
        row = [0.0] * len(places)
        for k in range(n):
            row[at[k, j]] += A[k][i]
            row[at[i, k]] += A[k][j]
        rows.append(row)
        right.append(-c[i] * c[j])
    x = _solve(rows, right)
    return [[x[at[i, j]] for j in range(n)] for i in range(n)]


def _solve(rows: Rows, right: Sequence[float]) -> list[float]:
    """Gaussian elimination with row exchanges, and one step of refinement with exact residuals.

    Raises: ArithmeticError where numbers leave their range on the way.
    """
    found = [x.real for x in _eliminated(rows, right)]
    if not all(map(math.isfinite, found)):
        raise ArithmeticError("a coefficient is out of range")
    rest = [
        float(Fraction(b) - sum(Fraction(a) * Fraction(x) for a, x in zip(row, found, strict=True)))
        for row, b in zip(rows, right, strict=True)
    ]
    return [x + dx.real for x, dx in zip(found, _eliminated(rows, rest), strict=True)]


def _eliminated(rows: Sequence[Sequence[complex]], right: Sequence[complex]) -> list[complex]:
    n = len(rows)
    work = [[*row, b] for row, b in zip(rows, right, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(work[i][k]))
        work[k], work[pivot] = work[pivot], work[k]
        for i in range(k + 1, n):
            ratio = work[i][k] / work[k][k]
            if ratio:
                work[i] = [a - ratio * b for a, b in zip(work[i], work[k], strict=True)]
    x: list[complex] = [0.0] * n
    for k in range(n - 1, -1, -1):
        x[k] = (work[k][n] - sum(work[k][j] * x[j] for j in range(k + 1, n))) / work[k][k]
    return x


def _cholesky(X: Rows) -> Rows:
    """The upper triangular R with R^T R = X."""
    n = len(X)
    R = [[0.0] * n for _ in range(n)]
    for i in range(n):
        square = X[i][i] - sum(R[k][i] ** 2 for k in range(i))
        if square <= 0:
            raise ArithmeticError("the energy matrix is not positive within rounding")
        R[i][i] = math.sqrt(square)
        for j in range(i + 1, n):
            R[i][j] = (X[i][j] - sum(R[k][i] * R[k][j] for k in range(i))) / R[i][i]
    return R


def _inverse(R: Rows) -> Rows:
    """The inverse of an upper triangular matrix."""
    n = len(R)
    found = [[0.0] * n for _ in range(n)]
    for j in range(n):
        found[j][j] = 1 / R[j][j]
        for i in range(j - 1, -1, -1):
            found[i][j] = -sum(R[i][k] * found[k][j] for k in range(i + 1, j + 1)) / R[i][i]
    return found


def _product(a: Rows, b: Rows) -> Rows:
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a]
