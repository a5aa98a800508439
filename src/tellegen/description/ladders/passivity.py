"""Whether a matrix of stable transfer functions is passive: its Hermitian part is nowhere negative on the imaginary axis.

A Hermitian matrix is positive semidefinite exactly when the sums of its principal minors are not negative. Times a power of
|D(j omega)|^2, each sum is a polynomial in omega^2 with rational coefficients, found from its exact values at a few frequencies; so
the question is decided exactly, as it is for one function.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from tellegen.description.ladders.polynomials import (
    Polynomial,
    add,
    multiply,
    polynomial,
    positive_roots,
    squarefree_factors,
)
from tellegen.description.ladders.positive_real import NotPositiveRealError, negative_point

Gaussian = tuple[Fraction, Fraction]
"""A complex number with rational parts."""

Functions = Sequence[Sequence[Polynomial]]


def check_hermitian_part(numerators: Functions, denominator: Polynomial) -> None:
    """Raises: NotPositiveRealError naming a frequency at which the matrix gives more power than it takes."""
    size, order = len(numerators), len(denominator) - 1

    def sums(omega: Fraction) -> list[Fraction]:
        return minor_sums(_hermitian(numerators, denominator, omega))

    points = [Fraction(k) for k in range(size * order + 1)]
    found = [sums(omega) for omega in points]
    for k in range(size):
        places = [(omega**2, values[k]) for omega, values in zip(points[: (k + 1) * order + 1], found, strict=False)]
        point = negative_point(_through(places))
        if point is not None:
            omega = _frequency(point, lambda w, k=k: sums(w)[k] < 0)  # type: ignore[misc]
            raise NotPositiveRealError(_complaint(sums(omega), denominator, omega))


def minor_sums(H: Sequence[Sequence[Gaussian]]) -> list[Fraction]:
    """The sums of the principal minors of a Hermitian matrix, of order one to its size (Newton's identities)."""
    power = H
    traces: list[Fraction] = []
    for k in range(len(H)):
        power = power if k == 0 else _product(power, H)
        traces.append(sum((power[i][i][0] for i in range(len(H))), Fraction(0)))
    found = [Fraction(1)]
    for k in range(1, len(H) + 1):
        terms = (found[k - i] * traces[i - 1] * (-1) ** (i - 1) for i in range(1, k + 1))
        found.append(sum(terms, Fraction(0)) / k)
    return found[1:]


def _hermitian(N: Functions, D: Polynomial, omega: Fraction) -> list[list[Gaussian]]:
    """(G + G^H) |D|^2 at j omega."""
    bottom = _at(D, omega)
    scaled = [[_times(_at(n, omega), (bottom[0], -bottom[1])) for n in row] for row in N]
    return [
        [(scaled[i][j][0] + scaled[j][i][0], scaled[i][j][1] - scaled[j][i][1]) for j in range(len(N))]
        for i in range(len(N))
    ]


def _at(p: Polynomial, omega: Fraction) -> Gaussian:
    """The value of a polynomial at j omega."""
    real, imaginary = Fraction(0), Fraction(0)
    for c in reversed(p):
        real, imaginary = c - imaginary * omega, real * omega
    return real, imaginary


def _times(a: Gaussian, b: Gaussian) -> Gaussian:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _product(a: Sequence[Sequence[Gaussian]], b: Sequence[Sequence[Gaussian]]) -> list[list[Gaussian]]:
    n = range(len(a))
    return [[_sum([_times(a[i][k], b[k][j]) for k in n]) for j in n] for i in n]


def _sum(terms: Sequence[Gaussian]) -> Gaussian:
    return sum((t[0] for t in terms), Fraction(0)), sum((t[1] for t in terms), Fraction(0))


def _through(places: Sequence[tuple[Fraction, Fraction]]) -> Polynomial:
    """The polynomial through points (Newton's divided differences)."""
    xs = [x for x, _ in places]
    slopes = [y for _, y in places]
    for k in range(1, len(xs)):
        for i in range(len(xs) - 1, k - 1, -1):
            slopes[i] = (slopes[i] - slopes[i - 1]) / (xs[i] - xs[i - k])
    found: Polynomial = ()
    for x, slope in zip(reversed(xs), reversed(slopes), strict=True):
        found = add(multiply(found, (-x, Fraction(1))), polynomial([slope]))
    return found


def _frequency(square: Fraction, negative: Callable[[Fraction], bool]) -> Fraction:
    """A rational frequency, as round as may be, near the root of `square`, where the sum is negative too."""
    digits = 4
    while True:
        omega = Fraction(math.isqrt(int(square * 100**digits)), 10**digits)
        if negative(omega):
            return omega
        digits += 4


def _complaint(sums: Sequence[Fraction], denominator: Polynomial, omega: Fraction) -> str:
    size = float(sum(x * x for x in _at(denominator, omega)))
    # det(mu + H) = mu^m + e_1 mu^(m-1) + ... + e_m has the root mu = -lambda for each eigenvalue lambda of H.
    whole = polynomial([*reversed(sums), Fraction(1)])
    roots = [mu for factor, _ in squarefree_factors(whole) for mu in positive_roots(factor)]
    assert roots, "a negative sum of principal minors belongs to a negative eigenvalue"
    value = -float(max(roots)) / 2 / size
    return f"the Hermitian part has the eigenvalue {value:.4g} at omega = {float(omega):.6g} rad/s"


def check_semidefinite(matrix: Sequence[Sequence[Fraction]], where: str) -> None:
    """Raises: NotPositiveRealError for a real matrix that is not symmetric or has a negative eigenvalue; all exact."""
    n = range(len(matrix))
    if any(matrix[i][j] != matrix[j][i] for i in n for j in n):
        raise NotPositiveRealError(f"its residue {where} is not symmetric")
    if any(s < 0 for s in minor_sums([[(x, Fraction(0)) for x in row] for row in matrix])):
        raise NotPositiveRealError(f"its residue {where} is not positive semidefinite")
