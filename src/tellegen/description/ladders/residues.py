"""A matrix of transfer functions with simple poles, real or on the imaginary axis, as storages, resistors and a connection.

G(s) = G_0 + sum of R_k/(s + p_k): where every residue is symmetric and positive semidefinite and so is the symmetric part of G_0,
each term is a sum of squares, and G is positive real. (The condition is sufficient, and necessary for poles on the axis.)
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from tellegen.description.ladders.polynomials import (
    Polynomial,
    divide,
    polynomial,
    positive_roots,
    squarefree_factors,
    value,
)
from tellegen.description.ladders.positive_real import NotPositiveRealError
from tellegen.description.ladders.realisation import Realisation

Rows = list[list[complex]]
_SMALL = 1e-10


class _Parts:
    """Collects storages and resistors."""

    def __init__(self, ports: int) -> None:
        self.ports = ports
        self.J: dict[tuple[int, int], float] = {}
        self.g: list[list[float]] = []
        self.c: list[dict[int, float]] = []
        self.d: list[list[float]] = []

    def add(self, column: Sequence[float], damping: float) -> int:
        """A storage driven by the ports, with z' = -damping*z + column*u."""
        self.g.append(list(column))
        if damping:
            self.c.append({len(self.g) - 1: math.sqrt(2 * damping)})
            self.d.append([0.0] * self.ports)
        return len(self.g) - 1

    def realisation(self, skew: Sequence[Sequence[float]]) -> Realisation:
        n = range(len(self.g))
        return Realisation(
            tuple(tuple(self.J.get((i, j), 0.0) for j in n) for i in n),
            tuple(map(tuple, self.g)),
            tuple(tuple(row.get(j, 0.0) for j in n) for row in self.c),
            tuple(map(tuple, self.d)),
            0.0,
            tuple(map(tuple, skew)),
        )


def realise_matrix(numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial) -> Realisation:
    """The realisation of a square matrix of transfer functions over one denominator.

    Raises: NotPositiveRealError where a pole or a residue is of another kind.
    """
    size = len(numerators)
    if not denominator:
        raise NotPositiveRealError("its denominator is zero")
    if any(len(entry) > len(denominator) for row in numerators for entry in row):
        raise NotPositiveRealError("it has a pole at infinity; put that storage into an element of its own")
    if any(order > 1 for _, order in squarefree_factors(denominator)):
        raise NotPositiveRealError("it has multiple poles")
    real, axis = _poles(denominator)
    parts = _Parts(size)
    slopes = [k * float(c) for k, c in enumerate(denominator)][1:]

    def residue(s: complex) -> Rows:
        return [[value([float(c) for c in n], s) / value(slopes, s) for n in row] for row in numerators]

    for p in real:
        for column in _squares(residue(-float(p)), f"at s = {-float(p):.6g}"):
            parts.add([x.real for x in column], float(p))
    for omega in axis:
        for column in _squares(residue(1j * omega), f"at omega = {omega:.6g} rad/s"):
            one = parts.add([math.sqrt(2) * x.real for x in column], 0.0)
            two = parts.add([math.sqrt(2) * x.imag for x in column], 0.0)
            parts.J[one, two], parts.J[two, one] = omega, -omega
    constant = [[_at_infinity(n, denominator) for n in row] for row in numerators]
    symmetric = [[(constant[i][j] + constant[j][i]) / 2 + 0j for j in range(size)] for i in range(size)]
    for column in _squares(symmetric, "at high frequencies"):
        parts.c.append({})
        parts.d.append([math.sqrt(2) * x.real for x in column])
    return parts.realisation([[(constant[i][j] - constant[j][i]) / 2 for j in range(size)] for i in range(size)])


def _at_infinity(numerator: Polynomial, denominator: Polynomial) -> float:
    return float(numerator[-1] / denominator[-1]) if len(numerator) == len(denominator) else 0.0


def _poles(D: Polynomial) -> tuple[list[Fraction], list[float]]:
    """The magnitudes of the poles on the negative real axis, zero included, and the frequencies of those on the imaginary one."""
    real = positive_roots(polynomial(c * (-1) ** k for k, c in enumerate(D)))
    rest = D
    if not D[0]:
        real.insert(0, Fraction(0))
        rest = D[1:]
    even, odd = polynomial(rest[0::2]), polynomial(rest[1::2])
    pairs = even
    while odd:
        pairs, odd = odd, divide(pairs, odd)[1]
    axis = [math.sqrt(w) for w in positive_roots(polynomial(c * (-1) ** k for k, c in enumerate(pairs)))]
    if len(real) + 2 * len(axis) < len(D) - 1:
        raise NotPositiveRealError("it has poles that lie neither on the negative real axis nor on the imaginary one")
    return real, axis


def _squares(R: Rows, where: str) -> list[list[complex]]:
    """Columns v with R = sum of v v^H.

    Raises: NotPositiveRealError where R is not Hermitian and positive semidefinite.
    """
    n, scale = len(R), max(abs(x) for row in R for x in row)
    if any(abs(R[i][j] - R[j][i].conjugate()) > _SMALL * scale for i in range(n) for j in range(n)):
        raise NotPositiveRealError(f"its residue {where} is not symmetric")
    rest = [list(row) for row in R]
    found: list[list[complex]] = []
    for _ in range(n):
        k = max(range(n), key=lambda i: rest[i][i].real)
        pivot = rest[k][k].real
        if pivot <= _SMALL * scale:
            break
        column = [rest[i][k] / math.sqrt(pivot) for i in range(n)]
        found.append(column)
        rest = [[rest[i][j] - column[i] * column[j].conjugate() for j in range(n)] for i in range(n)]
    if any(abs(x) > 1e-8 * scale for row in rest for x in row):
        raise NotPositiveRealError(f"its residue {where} is not positive semidefinite")
    return found
