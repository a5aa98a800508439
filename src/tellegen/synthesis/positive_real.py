"""Whether a transfer function, or a matrix of them, is positive real: decided exactly, with the reason where it is not.

A function is positive real when it has no pole to the right of the imaginary axis, its poles on the axis are simple with positive
residues, and its real part is nowhere negative on the axis (Brune 1931). All three are asked of polynomials with rational
coefficients: common factors separate the poles on the axis, Routh's scheme finds those to its right, and Sturm's theorem the
frequencies at which the real part changes its sign. Only the frequencies in messages and in the lossless part are rounded.

A Hermitian matrix is positive semidefinite exactly when the sums of its principal minors are not negative. Times a power of
|D(j omega)|^2, each sum is a polynomial in omega^2 with rational coefficients, found from its exact values at a few frequencies; so
the question is decided exactly, as it is for one function.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tellegen.synthesis import algebra
from tellegen.synthesis.algebra import Polynomial


class NotPositiveRealError(Exception):
    """Says why a function is not positive real."""


@final
@dataclass(frozen=True)
class PositiveReal:
    """G(s) = at_infinity*s + at_zero/s + sum of 2 k s/(s^2 + omega^2) + numerator/denominator, the denominator stable.

    `modes` are the pairs (omega, k), and `even` is the real part of the stable part times |denominator|^2, in omega^2.
    """

    at_infinity: Fraction
    at_zero: Fraction
    modes: tuple[tuple[float, float], ...]
    numerator: Polynomial
    denominator: Polynomial
    even: Polynomial


def positive_real(numerator: Polynomial, denominator: Polynomial) -> PositiveReal:
    """The parts of a positive-real function.

    Raises: NotPositiveRealError saying why it is none.
    """
    if not denominator:
        raise NotPositiveRealError("its denominator is zero")
    if not numerator:
        return PositiveReal(Fraction(0), Fraction(0), (), (), (Fraction(1),), ())
    # A pole that a zero takes away is none, and must not be judged.
    g = algebra.common_factor(numerator, denominator)
    N, D = algebra.divide(numerator, g)[0], algebra.divide(denominator, g)[0]
    at_infinity, N = _pole_at_infinity(N, D)
    # Poles on the axis are lossless and judged by residues; the real part is asked of the stable rest alone.
    symmetric, stable = split_poles(D)
    on_axis, inside = algebra.solve_bezout(stable, symmetric, N) if len(symmetric) > 1 else ((), N)
    at_zero, modes = _on_axis(on_axis, symmetric)
    even = _real_part(inside, stable)
    _check_real_part(even, stable)
    return PositiveReal(at_infinity, at_zero, modes, inside, stable, even)


def _pole_at_infinity(N: Polynomial, D: Polynomial) -> tuple[Fraction, Polynomial]:
    excess = len(N) - len(D)
    # Infinity lies on the imaginary axis, so a pole there is simple too.
    if excess > 1:
        raise NotPositiveRealError(f"its numerator has {excess} degrees more than its denominator, and one is the most")
    if excess < 1:
        return Fraction(0), N
    k = N[-1] / D[-1]
    if k < 0:
        raise NotPositiveRealError(f"at high frequencies it is {float(k):.4g}*s, a negative storage")
    return k, algebra.add(N, algebra.multiply((Fraction(0), k), D), -1)


def split_poles(D: Polynomial) -> tuple[Polynomial, Polynomial]:
    """The factor of the poles on the axis, and that of those to the left of it."""
    at_zero = next(k for k, c in enumerate(D) if c)
    if at_zero > 1:
        raise NotPositiveRealError(f"it has a pole of order {at_zero} at s = 0")
    rest = D[at_zero:]
    even, odd = algebra.polynomial(rest[0::2]), algebra.polynomial(rest[1::2])
    # Even and odd part vanish together at s and at -s: at pairs on the axis, or at pairs left and right of it.
    pairs = algebra.common_factor(even, odd) if odd else algebra.polynomial(c / even[-1] for c in even)
    mirrored = algebra.polynomial(c * (-1) ** k for k, c in enumerate(pairs))  # in omega^2
    for factor, order in algebra.squarefree_factors(mirrored):
        roots = algebra.positive_roots(factor)
        # A root in omega^2 that is not positive is a pair off the axis, and one of the two lies to the right.
        if len(roots) < len(factor) - 1:
            raise NotPositiveRealError(_right_pole(D))
        if order > 1:
            omega = math.sqrt(roots[0])
            raise NotPositiveRealError(f"it has a pole of order {order} at omega = {omega:.6g} rad/s")
    # Back from s^2 to s: zeros between the coefficients.
    whole = algebra.polynomial(c for k, p in enumerate(pairs) for c in ((p,) if k == 0 else (Fraction(0), p)))
    stable = algebra.divide(rest, whole)[0]
    if not algebra.is_hurwitz(stable):
        raise NotPositiveRealError(_right_pole(D))
    return algebra.polynomial([Fraction(0)] * at_zero + list(whole)), stable


def _right_pole(D: Polynomial) -> str:
    roots = [s for factor, _ in algebra.squarefree_factors(D) for s in algebra.complex_roots(factor)]
    worst = max(roots, key=lambda s: s.real)
    text = f"{worst.real:.6g}" if abs(worst.imag) < 1e-9 * abs(worst) else f"{worst.real:.6g} + {abs(worst.imag):.6g}j"
    return f"it has a pole to the right of the imaginary axis, at s = {text}"


def _on_axis(A: Polynomial, symmetric: Polynomial) -> tuple[Fraction, tuple[tuple[float, float], ...]]:
    """The residues of A(s)/symmetric(s), which must be real and positive."""
    at_zero = Fraction(0)
    pairs = symmetric
    if symmetric and not symmetric[0]:
        pairs = symmetric[1:]
        at_zero = (A[0] if A else Fraction(0)) / pairs[0]
        if at_zero <= 0:
            raise NotPositiveRealError(f"its residue at s = 0 is {float(at_zero):.4g}, not positive")
        A = algebra.divide(
            algebra.add(A, algebra.polynomial(c * at_zero for c in pairs), -1), (Fraction(0), Fraction(1))
        )[0]
    modes = []
    for square in algebra.positive_roots(algebra.polynomial(c * (-1) ** k for k, c in enumerate(pairs[0::2]))):
        omega = math.sqrt(square)
        slope = algebra.value([k * float(c) for k, c in enumerate(pairs)][1:], 1j * omega)
        residue = algebra.value([float(c) for c in A], 1j * omega) / slope
        # A/symmetric is odd where all residues are real; then none of them is found to be real by rounding.
        if residue.real <= 0 or not _is_odd(A):
            text = f"{residue.real:.4g}" if _is_odd(A) else f"{residue.real:.4g} + {residue.imag:.4g}j"
            raise NotPositiveRealError(f"its residue at omega = {omega:.6g} rad/s is {text}, not real and positive")
        modes.append((omega, residue.real))
    return at_zero, tuple(modes)


def _is_odd(A: Polynomial) -> bool:
    return not any(A[0::2])


def _real_part(N: Polynomial, D: Polynomial) -> Polynomial:
    """Re N(j omega) D(-j omega), in omega^2."""

    def parts(p: Polynomial) -> tuple[Polynomial, Polynomial]:
        # The powers of j, with the imaginary ones in the odd part.
        signs = (1, 1, -1, -1)
        turned = [c * signs[k % 4] for k, c in enumerate(p)]
        return algebra.polynomial(turned[0::2]), algebra.polynomial(turned[1::2])

    (n_e, n_o), (d_e, d_o) = parts(N), parts(D)
    return algebra.add(
        algebra.multiply(n_e, d_e), algebra.multiply((Fraction(0), Fraction(1)), algebra.multiply(n_o, d_o))
    )


def _check_real_part(even: Polynomial, D: Polynomial) -> None:
    point = _negative_point(even)
    if point is not None:
        omega = math.sqrt(point)
        real = float(algebra.exact_value(even, point)) / abs(algebra.value([float(c) for c in D], 1j * omega)) ** 2
        raise NotPositiveRealError(f"its real part is {real:.4g} at omega = {omega:.6g} rad/s")


def _negative_point(even: Polynomial) -> Fraction | None:
    """A point not below zero at which a polynomial is negative; None where it is nowhere negative there.

    It changes its sign at roots of odd order only: between them one point each tells.
    """
    turns: list[Fraction] = []
    for factor, order in algebra.squarefree_factors(even):
        # Where a root is double the polynomial touches zero and turns back.
        if order % 2:
            turns += algebra.positive_roots(factor)
    turns.sort()
    ends = [Fraction(0), *turns]
    points = [(a + b) / 2 for a, b in zip(ends, turns, strict=False)] + [2 * ends[-1] + 1]
    return next((point for point in points if algebra.exact_value(even, point) < 0), None)


Gaussian = tuple[Fraction, Fraction]
"""A complex number with rational parts."""

Functions = Sequence[Sequence[Polynomial]]


def check_hermitian_part(numerators: Functions, denominator: Polynomial) -> None:
    """Raises: NotPositiveRealError naming a frequency at which the matrix gives more power than it takes."""
    size, order = len(numerators), len(denominator) - 1

    def sums(omega: Fraction) -> list[Fraction]:
        return _minor_sums(_hermitian(numerators, denominator, omega))

    # The sum of minors of order k + 1 has the degree (k + 1) times that of D in omega^2: so many points fix it.
    points = [Fraction(k) for k in range(size * order + 1)]
    found = [sums(omega) for omega in points]
    for k in range(size):
        places = [(omega**2, values[k]) for omega, values in zip(points[: (k + 1) * order + 1], found, strict=False)]
        point = _negative_point(_through(places))
        if point is not None:
            omega = _frequency(point, lambda w, k=k: sums(w)[k] < 0)  # type: ignore[misc]
            raise NotPositiveRealError(_complaint(sums(omega), denominator, omega))


def _minor_sums(H: Sequence[Sequence[Gaussian]]) -> list[Fraction]:
    """The sums of the principal minors of a Hermitian matrix, of order one to its size (Newton's identities)."""
    power = H
    traces: list[Fraction] = []
    for k in range(len(H)):
        power = power if k == 0 else _product(power, H)
        # The traces of powers are the power sums of the eigenvalues: no eigenvalue has to be found.
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
        found = algebra.add(algebra.multiply(found, (-x, Fraction(1))), algebra.polynomial([slope]))
    return found


def _frequency(square: Fraction, negative: Callable[[Fraction], bool]) -> Fraction:
    """A rational frequency, as round as may be, near the root of `square`, where the sum is negative too."""
    # As few digits as will do: the frequency stands in a message that somebody may check by hand.
    digits = 4
    while True:
        omega = Fraction(math.isqrt(int(square * 100**digits)), 10**digits)
        if negative(omega):
            return omega
        digits += 4


def _complaint(sums: Sequence[Fraction], denominator: Polynomial, omega: Fraction) -> str:
    size = float(sum(x * x for x in _at(denominator, omega)))
    # det(mu + H) = mu^m + e_1 mu^(m-1) + ... + e_m has the root mu = -lambda for each eigenvalue lambda of H.
    whole = algebra.polynomial([*reversed(sums), Fraction(1)])
    roots = [mu for factor, _ in algebra.squarefree_factors(whole) for mu in algebra.positive_roots(factor)]
    assert roots, "a negative sum of principal minors belongs to a negative eigenvalue"
    value = -float(max(roots)) / 2 / size
    return f"the Hermitian part has the eigenvalue {value:.4g} at omega = {float(omega):.6g} rad/s"


def check_semidefinite(matrix: Sequence[Sequence[Fraction]], where: str) -> None:
    """Raises: NotPositiveRealError for a real matrix that is not symmetric or has a negative eigenvalue; all exact."""
    n = range(len(matrix))
    if any(matrix[i][j] != matrix[j][i] for i in n for j in n):
        raise NotPositiveRealError(f"its residue {where} is not symmetric")
    if any(s < 0 for s in _minor_sums([[(x, Fraction(0)) for x in row] for row in matrix])):
        raise NotPositiveRealError(f"its residue {where} is not positive semidefinite")
