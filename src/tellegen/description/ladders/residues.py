"""A positive-real matrix of transfer functions as storages, resistors and a connection.

G(s) = s R_inf + R_0/s + modes on the imaginary axis + a stable proper part. The first three have residues that are Hermitian and
positive semidefinite: sums of squares, each one storage or one lossless pair. So has the stable part where its poles are real and
simple with symmetric positive residues, and then its storages stand alone; any other passive stable part is realised by the
positive-real lemma, with storages that a lossless connection joins. Whether G is positive real is decided by exact numbers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import final

from tellegen.description.ladders.minimal import minimal_realisation
from tellegen.description.ladders.passivity import check_hermitian_part, check_semidefinite
from tellegen.description.ladders.polynomials import (
    Polynomial,
    add,
    combine,
    common_factor,
    divide,
    exact_value,
    multiply,
    polynomial,
    positive_roots,
    squarefree_factors,
    value,
)
from tellegen.description.ladders.positive_real import NotPositiveRealError, split_poles
from tellegen.description.ladders.realisation import Realisation
from tellegen.description.ladders.spectral import passive_form

Rows = list[list[complex]]
Functions = tuple[tuple[Polynomial, ...], ...]
MOST_STATES = 24
"""The most states that the stable part of a matrix may have: ports times the degree of its denominator."""
_SMALL = 1e-10


class TooManyStatesError(Exception):
    """Says how many states a stable part would need."""


class _Parts:
    """Collects storages and resistors."""

    def __init__(self, ports: int) -> None:
        self.ports = ports
        self.J: dict[tuple[int, int], float] = {}
        self.g: list[list[float]] = []
        self.c: list[dict[int, float]] = []
        self.d: list[list[float]] = []
        self.rates: list[list[float]] = []

    def add(self, column: Sequence[float], damping: float = 0.0) -> int:
        """A storage driven by the ports, with z' = -damping*z + column*u."""
        self.g.append(list(column))
        if damping:
            self.c.append({len(self.g) - 1: math.sqrt(2 * damping)})
            self.d.append([0.0] * self.ports)
        return len(self.g) - 1

    def pair(self, column: Sequence[complex], omega: float) -> None:
        """Two storages that exchange their energy at a frequency."""
        one = self.add([math.sqrt(2) * x.real for x in column])
        two = self.add([math.sqrt(2) * x.imag for x in column])
        self.J[one, two], self.J[two, one] = omega, -omega

    def join(
        self,
        J: Sequence[Sequence[float]],
        g: Sequence[Sequence[float]],
        c: Sequence[Sequence[float]],
        d: Sequence[Sequence[float]],
    ) -> None:
        """Storages and resistors of a whole part."""
        first = len(self.g)
        self.g += [list(row) for row in g]
        self.J |= {(first + i, first + j): x for i, row in enumerate(J) for j, x in enumerate(row) if x}
        self.c += [{first + j: x for j, x in enumerate(row)} for row in c]
        self.d += [list(row) for row in d]

    def realisation(self, skew: Sequence[Sequence[float]]) -> Realisation:
        n = range(len(self.g))
        return Realisation(
            tuple(tuple(self.J.get((i, j), 0.0) for j in n) for i in n),
            tuple(map(tuple, self.g)),
            tuple(tuple(row.get(j, 0.0) for j in n) for row in self.c),
            tuple(map(tuple, self.d)),
            0.0,
            tuple(map(tuple, skew)),
            tuple(map(tuple, self.rates)),
        )


@final
@dataclass(frozen=True)
class _Split:
    """s at_infinity + on_axis/symmetric + inside/stable: the poles of `symmetric` lie on the axis, those of `stable` left of it."""

    at_infinity: tuple[tuple[Fraction, ...], ...]
    on_axis: Functions
    symmetric: Polynomial
    inside: Functions
    stable: Polynomial


def realise_matrix(numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial) -> Realisation:
    """The realisation of a square matrix of transfer functions over one denominator.

    Raises: NotPositiveRealError saying why it is not positive real, TooManyStatesError, and ArithmeticError where digits are lost.
    """
    return _realised(tuple(map(tuple, numerators)), denominator)


@lru_cache(maxsize=64)  # a model is read more often than it is changed
def _realised(numerators: Functions, denominator: Polynomial) -> Realisation:
    split = _split(numerators, denominator)
    parts = _Parts(len(numerators))
    check_semidefinite(split.at_infinity, "at infinity")
    for column in _squares([[complex(x) for x in row] for row in split.at_infinity], "at infinity"):
        parts.rates.append([x.real for x in column])
    _add_axis(parts, split)
    check_hermitian_part(split.inside, split.stable)
    _add_stable(parts, split.inside, split.stable)
    constant = _constant(split)
    size = range(len(numerators))
    return parts.realisation([[(constant[i][j] - constant[j][i]) / 2 for j in size] for i in size])


def _split(numerators: Functions, denominator: Polynomial) -> _Split:
    if not denominator:
        raise NotPositiveRealError("its denominator is zero")
    entries = [n for row in numerators for n in row if n]
    g = reduce(common_factor, entries, denominator)
    D = divide(denominator, g)[0]
    whole = tuple(tuple(divide(n, g)[0] if n else n for n in row) for row in numerators)
    excess = max((len(n) - len(D) for row in whole for n in row), default=0)
    if excess > 1:
        raise NotPositiveRealError(f"a numerator has {excess} degrees more than the denominator, and one is the most")
    rate = tuple(tuple(n[-1] / D[-1] if len(n) > len(D) else Fraction(0) for n in row) for row in whole)
    proper = tuple(
        tuple(add(n, multiply((Fraction(0), k), D), -1) if k else n for n, k in zip(row, ks, strict=True))
        for row, ks in zip(whole, rate, strict=True)
    )
    symmetric, stable = split_poles(D)
    pairs = [
        [combine(stable, symmetric, n) if len(symmetric) > 1 else (polynomial(()), n) for n in row] for row in proper
    ]
    return _Split(
        rate,
        tuple(tuple(x for x, _ in row) for row in pairs),
        symmetric,
        tuple(tuple(y for _, y in row) for row in pairs),
        stable,
    )


def _add_axis(parts: _Parts, split: _Split) -> None:
    """The poles at zero and on the imaginary axis, whose residues are sums of squares."""
    rest = split.symmetric
    if not rest[0]:
        rest = rest[1:]
        residue = [[exact_value(n, Fraction(0)) / rest[0] for n in row] for row in split.on_axis]
        check_semidefinite(residue, "at s = 0")
        for column in _squares([[complex(x) for x in row] for row in residue], "at s = 0"):
            parts.add([x.real for x in column])
    slopes = [k * float(c) for k, c in enumerate(split.symmetric)][1:]
    for square in positive_roots(polynomial(c * (-1) ** k for k, c in enumerate(rest[0::2]))):
        omega = math.sqrt(square)
        at, slope = 1j * omega, value(slopes, 1j * omega)
        residues = [[value([float(c) for c in n], at) / slope for n in row] for row in split.on_axis]
        for vector in _squares(residues, f"at omega = {omega:.6g} rad/s"):
            parts.pair(vector, omega)


def _constant(split: _Split) -> list[list[float]]:
    return [[_at_infinity(n, split.stable) for n in row] for row in split.inside]


def _add_stable(parts: _Parts, numerators: Functions, denominator: Polynomial) -> None:
    """The stable part: as a sum of squares where it is one, else by the positive-real lemma."""
    apart = _sum_of_squares(numerators, denominator)
    if apart is not None:
        columns, constant = apart
        for pole, vector in columns:
            parts.add(vector, pole)
        for vector in constant:
            parts.c.append({})
            parts.d.append([math.sqrt(2) * x for x in vector])
        return
    order = len(denominator) - 1
    if order * len(numerators) > MOST_STATES:
        raise TooManyStatesError(f"{len(numerators)} ports and a stable denominator of degree {order}")
    scale = _scale(denominator)
    slow = minimal_realisation(
        [[_stretched(n, scale) for n in row] for row in numerators], _stretched(denominator, scale)
    )
    J, g, c, d = passive_form(slow)
    root = math.sqrt(scale)
    parts.join(
        [[float(scale) * x for x in row] for row in J],
        [[root * x for x in row] for row in g],
        [[root * x for x in row] for row in c],
        d,
    )


def _scale(D: Polynomial) -> Fraction:
    """A power of two about which the poles lie, so that numbers stay near one."""
    n = len(D) - 1
    return Fraction(2) ** round(math.log2(abs(float(D[0] / D[-1]))) / n) if n else Fraction(1)


def _stretched(p: Polynomial, scale: Fraction) -> Polynomial:
    """The polynomial of s times a scale."""
    return polynomial(c * scale**k for k, c in enumerate(p))


def _sum_of_squares(
    numerators: Functions, denominator: Polynomial
) -> tuple[list[tuple[float, list[float]]], list[list[float]]] | None:
    """Poles with their columns and the columns of the constant, for simple real poles with positive residues; None for others."""
    if any(order > 1 for _, order in squarefree_factors(denominator)):
        return None
    poles = positive_roots(polynomial(c * (-1) ** k for k, c in enumerate(denominator)))
    if len(poles) < len(denominator) - 1:
        return None
    slopes = [k * float(c) for k, c in enumerate(denominator)][1:]
    found: list[tuple[float, list[float]]] = []
    constant = [[_at_infinity(n, denominator) for n in row] for row in numerators]
    size = range(len(numerators))
    try:
        for pole in poles:
            at = complex(-float(pole))
            slope = value(slopes, at)
            residue = [[value([float(c) for c in n], at) / slope for n in row] for row in numerators]
            found += [(float(pole), [x.real for x in v]) for v in _squares(residue, "")]
        mean = [[(constant[i][j] + constant[j][i]) / 2 + 0j for j in size] for i in size]
        return found, [[x.real for x in v] for v in _squares(mean, "")]
    except NotPositiveRealError:
        return None


def _at_infinity(numerator: Polynomial, denominator: Polynomial) -> float:
    return float(numerator[-1] / denominator[-1]) if len(numerator) == len(denominator) else 0.0


def _squares(R: Rows, where: str) -> list[list[complex]]:
    """Columns v with R = sum of v v^H.

    Raises: NotPositiveRealError where R is not Hermitian and positive semidefinite.
    """
    n, scale = len(R), max(abs(x) for row in R for x in row)
    if not scale:
        return []
    if any(abs(R[i][j] - R[j][i].conjugate()) > _SMALL * scale for i in range(n) for j in range(n)):
        raise NotPositiveRealError(f"its residue {where} is not Hermitian")
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
