"""Positive-real functions, and matrices of them, realised by storages, resistors and a lossless connection.

The real part on the imaginary axis is |W|^2/2 with a stable spectral factor W, and the energy matrix X of the stable part solves
the Lyapunov equation A^T X + X A = -c^T c, where c belongs to W (positive-real lemma: Anderson 1967). In coordinates with X = 1

    z' = J z + g u - c^T i,   y = g^T z + d i,   e = c z + d u,   i = e/2,

with J skew: n unit storages and one resistor of 2. The modes on the axis join with their own J and g, and no c. Floating-point
numbers; the test before it is exact.

G(s) = s R_inf + R_0/s + modes on the imaginary axis + a stable proper part. The first three have residues that are Hermitian and
positive semidefinite: sums of squares, each one storage or one lossless pair. So has the stable part where its poles are real and
simple with symmetric positive residues, and then its storages stand alone; any other passive stable part is realised by the
positive-real lemma, with storages that a lossless connection joins. Whether G is positive real is decided by exact numbers.

The coefficients of G in powers of 1/s fill a Hankel matrix whose rank is the number of states; any independent columns and rows of
it, as many as its rank, give A, B and C. Exact numbers make the rank a fact and not a guess.

With G = C (s - A)^-1 B + D there is an energy matrix P with

    [[-A^T P - P A, C^T - P B], [C - B^T P, D + D^T]] = [c, d]^T [c, d] >= 0

(Anderson 1967). P solves a Riccati equation, whose solution spans the stable subspace of a Hamiltonian matrix and is read off its
matrix sign (Roberts 1980). Where D + D^T is singular, or G is lossless at some frequency, the equation is on the edge of having no
solution; so a resistance of 1e-32 of the size of G is added, and the numbers carry 120 digits, of which the edge takes at most
half. Pure Python: `decimal` multiplies such numbers nearly as fast as Python multiplies floats, and no matrix here is large.
"""

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, reduce
from typing import final

from tellegen.core import dense
from tellegen.synthesis import algebra, positive_real
from tellegen.synthesis.algebra import Polynomial

Rows = list[list[float]]


@final
@dataclass(frozen=True)
class Realisation:
    """y = (g^T z + d i) + rate*u' with z' = J z + g u - c^T i, i = (c z + d u)/2. `g` and `d` have an entry for each port."""

    J: tuple[tuple[float, ...], ...]
    g: tuple[tuple[float, ...], ...]
    c: tuple[tuple[float, ...], ...]
    d: tuple[tuple[float, ...], ...]
    rate: float = 0.0
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
            z = [row[0] for row in dense.solve(A, [[row[column]] for row in B])]
            direct = [sum(d[k] * d[column] for d in self.d) / 2 for k in range(ports)]
            turned = [self.skew[k][column] if self.skew else 0.0 for k in range(ports)]
            rates = [s * (self.rate * (k == column) + sum(r[k] * r[column] for r in self.rates)) for k in range(ports)]
            through = [sum(x * y for x, y in zip(C[k], z, strict=True)) for k in range(ports)]
            found.append([sum(terms) for terms in zip(through, direct, turned, rates, strict=True)])
        return [list(row) for row in zip(*found, strict=True)]


def realise_function(parts: positive_real.PositiveReal) -> Realisation:
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
        J=square, g=tuple((x,) for x in g), c=resistors, d=((d,),) if resistors else (), rate=float(parts.at_infinity)
    )


def _stable(parts: positive_real.PositiveReal) -> tuple[Rows, list[float], list[float], float]:
    """J, g, c, d of the stable part. Time is scaled so that the poles lie about the unit circle."""
    D, n = parts.denominator, len(parts.denominator) - 1
    if not parts.numerator:
        return [], [], [], 0.0
    # By the geometric mean of the poles: Lyapunov equations of fast and slow poles would lose their digits.
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
    # In coordinates with X = 1 every storage is a unit one, and J comes out skew but for rounding.
    root = dense.cholesky(_lyapunov(A, shadow), math.sqrt)
    inverse = dense.triangular_inverse(root)
    c = [sum(shadow[i] * inverse[i][j] for i in range(n)) for j in range(n)]
    given = [sum(output[i] * inverse[i][j] for i in range(n)) for j in range(n)]
    turned = dense.product(dense.product(root, A), inverse)
    J = [[(turned[i][j] + c[i] * c[j] / 2) for j in range(n)] for i in range(n)]
    # The symmetric part is rounding alone, and would make or lose energy.
    skew = [[scale * (J[i][j] - J[j][i]) / 2 for j in range(n)] for i in range(n)]
    g = [math.sqrt(scale) * (given[k] - d * c[k] / 2) for k in range(n)]
    return skew, g, [math.sqrt(scale) * x for x in c], d


def _spectral_factor(parts: positive_real.PositiveReal, scale: float) -> list[float]:
    """The rising coefficients of M, without roots to the right: M(s) M(-s) = 2 Re G |D|^2, D monic, s in units of `scale`."""
    n = len(parts.denominator) - 1
    lead = float(parts.denominator[-1])
    found: list[complex] = [1.0]
    for whole, order in algebra.squarefree_factors(parts.even):
        for _ in range(0 if whole[0] else order):
            found = _times(found, [0.0, 1.0])
        for square in algebra.complex_roots(whole if whole[0] else whole[1:]):
            s = cmath.sqrt(-square)
            # Of each pair the root to the left: then 1/W is stable too (the minimum-phase factor).
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
    # Close poles make the equation nearly singular: exact residuals and one more step bring the digits back.
    found = [x for (x,) in dense.solve(rows, [[b] for b in right])]
    if not all(map(math.isfinite, found)):
        raise ArithmeticError("a coefficient is out of range")
    rest = [
        float(Fraction(b) - sum(Fraction(a) * Fraction(x) for a, x in zip(row, found, strict=True)))
        for row, b in zip(rows, right, strict=True)
    ]
    return [x + dx for x, (dx,) in zip(found, dense.solve(rows, [[b] for b in rest]), strict=True)]


ComplexRows = list[list[complex]]
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
            J=tuple(tuple(self.J.get((i, j), 0.0) for j in n) for i in n),
            g=tuple(map(tuple, self.g)),
            c=tuple(tuple(row.get(j, 0.0) for j in n) for row in self.c),
            d=tuple(map(tuple, self.d)),
            skew=tuple(map(tuple, skew)),
            rates=tuple(map(tuple, self.rates)),
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
    positive_real.check_semidefinite(split.at_infinity, "at infinity")
    for column in _squares([[complex(x) for x in row] for row in split.at_infinity], "at infinity"):
        parts.rates.append([x.real for x in column])
    _add_axis(parts, split)
    # The residues on the axis have been judged by then; without them the real part is finite everywhere.
    positive_real.check_hermitian_part(split.inside, split.stable)
    _add_stable(parts, split.inside, split.stable)
    constant = [[_at_infinity(n, split.stable) for n in row] for row in split.inside]
    size = range(len(numerators))
    return parts.realisation([[(constant[i][j] - constant[j][i]) / 2 for j in size] for i in size])


def _split(numerators: Functions, denominator: Polynomial) -> _Split:
    if not denominator:
        raise positive_real.NotPositiveRealError("its denominator is zero")
    entries = [n for row in numerators for n in row if n]
    # What all entries share is no pole of the matrix.
    g = reduce(algebra.common_factor, entries, denominator)
    D = algebra.divide(denominator, g)[0]
    whole = tuple(tuple(algebra.divide(n, g)[0] if n else n for n in row) for row in numerators)
    excess = max((len(n) - len(D) for row in whole for n in row), default=0)
    if excess > 1:
        raise positive_real.NotPositiveRealError(
            f"a numerator has {excess} degrees more than the denominator, and one is the most"
        )
    rate = tuple(tuple(n[-1] / D[-1] if len(n) > len(D) else Fraction(0) for n in row) for row in whole)
    proper = tuple(
        tuple(
            algebra.add(n, algebra.multiply((Fraction(0), k), D), -1) if k else n for n, k in zip(row, ks, strict=True)
        )
        for row, ks in zip(whole, rate, strict=True)
    )
    symmetric, stable = positive_real.split_poles(D)
    pairs = [
        [algebra.solve_bezout(stable, symmetric, n) if len(symmetric) > 1 else (algebra.polynomial(()), n) for n in row]
        for row in proper
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
        residue = [[algebra.exact_value(n, Fraction(0)) / rest[0] for n in row] for row in split.on_axis]
        positive_real.check_semidefinite(residue, "at s = 0")
        for column in _squares([[complex(x) for x in row] for row in residue], "at s = 0"):
            parts.add([x.real for x in column])
    slopes = [k * float(c) for k, c in enumerate(split.symmetric)][1:]
    for square in algebra.positive_roots(algebra.polynomial(c * (-1) ** k for k, c in enumerate(rest[0::2]))):
        omega = math.sqrt(square)
        at, slope = 1j * omega, algebra.value(slopes, 1j * omega)
        residues = [[algebra.value([float(c) for c in n], at) / slope for n in row] for row in split.on_axis]
        for vector in _squares(residues, f"at omega = {omega:.6g} rad/s"):
            parts.pair(vector, omega)


def _add_stable(parts: _Parts, numerators: Functions, denominator: Polynomial) -> None:
    """The stable part: as a sum of squares where it is one, else by the positive-real lemma."""
    # Storages and resistors of their own are what one would draw; the lemma joins all by one dense connection.
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
    slow = _minimal_realisation(
        [[_stretched(n, scale) for n in row] for row in numerators], _stretched(denominator, scale)
    )
    J, g, c, d = passive_form(slow)
    # Time by the scale and the root of it on either side: so g g^T and J both come out in the old time.
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
    return algebra.polynomial(c * scale**k for k, c in enumerate(p))


def _sum_of_squares(
    numerators: Functions, denominator: Polynomial
) -> tuple[list[tuple[float, list[float]]], list[list[float]]] | None:
    """Poles with their columns and the columns of the constant, for simple real poles with positive residues; None for others."""
    if any(order > 1 for _, order in algebra.squarefree_factors(denominator)):
        return None
    poles = algebra.positive_roots(algebra.polynomial(c * (-1) ** k for k, c in enumerate(denominator)))
    if len(poles) < len(denominator) - 1:
        return None
    slopes = [k * float(c) for k, c in enumerate(denominator)][1:]
    found: list[tuple[float, list[float]]] = []
    constant = [[_at_infinity(n, denominator) for n in row] for row in numerators]
    size = range(len(numerators))
    try:
        for pole in poles:
            at = complex(-float(pole))
            slope = algebra.value(slopes, at)
            residue = [[algebra.value([float(c) for c in n], at) / slope for n in row] for row in numerators]
            found += [(float(pole), [x.real for x in v]) for v in _squares(residue, "")]
        mean = [[(constant[i][j] + constant[j][i]) / 2 + 0j for j in size] for i in size]
        return found, [[x.real for x in v] for v in _squares(mean, "")]
    except positive_real.NotPositiveRealError:
        return None


def _at_infinity(numerator: Polynomial, denominator: Polynomial) -> float:
    return float(numerator[-1] / denominator[-1]) if len(numerator) == len(denominator) else 0.0


def _squares(R: ComplexRows, where: str) -> list[list[complex]]:
    """Columns v with R = sum of v v^H.

    Raises: NotPositiveRealError where R is not Hermitian and positive semidefinite.
    """
    n, scale = len(R), max(abs(x) for row in R for x in row)
    if not scale:
        return []
    if any(abs(R[i][j] - R[j][i].conjugate()) > _SMALL * scale for i in range(n) for j in range(n)):
        raise positive_real.NotPositiveRealError(f"its residue {where} is not Hermitian")
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
    # Looser than the pivots left out: beside small diagonals a positive matrix has no larger entries, but for rounding.
    if any(abs(x) > 1e-8 * scale for row in rest for x in row):
        raise positive_real.NotPositiveRealError(f"its residue {where} is not positive semidefinite")
    return found


# -- state space ----------------------------------------------------------------------------------------------------------------

ExactRows = list[list[Fraction]]


@final
@dataclass(frozen=True)
class MinimalStateSpace:
    """x' = A x + B u, y = C x + D u, with nothing in x that u does not move or y does not show."""

    A: ExactRows
    B: ExactRows
    C: ExactRows
    D: ExactRows


def _minimal_realisation(numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial) -> MinimalStateSpace:
    """The realisation of a square matrix of proper functions over one denominator."""
    ports, order = len(numerators), len(denominator) - 1
    series = [[_series(n, denominator, 2 * order + 1) for n in row] for row in numerators]

    def markov(k: int) -> ExactRows:
        return [[entry[k] for entry in row] for row in series]

    def hankel(shift: int) -> ExactRows:
        # The denominator ties each coefficient to those before it: more blocks than its degree bring no further rank.
        blocks = [markov(k) for k in range(2 * order + 1)]
        span = range(order * ports)
        return [[blocks[1 + i // ports + j // ports + shift][i % ports][j % ports] for j in span] for i in span]

    here, later = hankel(0), hankel(1)
    columns = _independent_columns(here)
    rows = _independent_columns(dense.transpose(here))
    corner = [[here[i][j] for j in columns] for i in rows]
    right = [[later[i][j] for j in columns] + here[i][:ports] for i in rows]
    n = len(columns)
    found = dense.solve(corner, right) if n else []
    return MinimalStateSpace(
        [row[:n] for row in found],
        [row[n:] for row in found],
        [[here[i][j] for j in columns] for i in range(ports)],
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


def _independent_columns(matrix: ExactRows) -> list[int]:
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


DecimalRows = list[list[Decimal]]

DIGITS = 120
ADDED = Decimal("1e-32")
_SETTLED = Decimal("1e-40")
_NOTHING = Decimal("1e-24")
_MOST_STEPS = 700
_DROPPED = 1e-12
"""Entries smaller than this, relative to the largest, are what the added resistance left."""


def passive_form(space: MinimalStateSpace) -> tuple[Rows, Rows, Rows, Rows]:
    """J, g, c, d of z' = J z + g u - c^T i, y = g^T z + d^T i + (skew part of D) u, i = (c z + d u)/2, with energy z^T z/2.

    Raises: ArithmeticError where the digits do not suffice.
    """
    with localcontext() as context:
        context.prec = DIGITS
        return _passive_form(space)


def _passive_form(space: MinimalStateSpace) -> tuple[Rows, Rows, Rows, Rows]:
    A, B, C, D = (
        [[Decimal(x.numerator) / Decimal(x.denominator) for x in row] for row in m]
        for m in (space.A, space.B, space.C, space.D)
    )
    n, ports = len(A), len(D)
    size = max((abs(x) for m in (B, C) for row in m for x in row), default=Decimal(0)) ** 2
    # The added resistance is measured by G itself, whatever units its coefficients are in.
    size = max(size, *(abs(x) for row in D for x in row))
    R = [[D[i][j] + D[j][i] + (2 * ADDED * size if i == j else 0) for j in range(ports)] for i in range(ports)]
    d = dense.cholesky(R, Decimal.sqrt)
    if not n:
        return [], [], *_resistors([[] for _ in d], d)
    P = _energy(A, B, C, dense.solve(R, dense.identity(R)))
    root = dense.cholesky(P, Decimal.sqrt)
    back = dense.triangular_inverse(root)
    A, B, C = dense.product(dense.product(root, A), back), dense.product(root, B), dense.product(C, back)
    given = [[C[i][j] - B[j][i] for j in range(n)] for i in range(ports)]
    c = dense.product(dense.transpose(dense.triangular_inverse(d)), given)
    J = [[float((A[i][j] - A[j][i]) / 2) for j in range(n)] for i in range(n)]
    g = [[float((B[i][k] + C[k][i]) / 2) for k in range(ports)] for i in range(n)]
    return _clean(J), _clean(g), *_resistors(c, d)


def _resistors(c: DecimalRows, d: DecimalRows) -> tuple[Rows, Rows]:
    """As few rows of c and d as give the same losses, without those that only the added resistance made."""
    n = len(c[0]) if c else 0
    K = [[*one, *two] for one, two in zip(c, d, strict=True)]
    rest = dense.product(dense.transpose(K), K)
    size = range(len(rest))
    least = max(rest[i][i] for i in size) * _NOTHING
    rows: Rows = []
    while rest[k := max(size, key=lambda i: rest[i][i])][k] > least:
        pivot = rest[k][k].sqrt()
        row = [x / pivot for x in rest[k]]
        rest = [[rest[i][j] - row[i] * row[j] for j in size] for i in size]
        rows.append([float(x) for x in row])
    rows = _clean(rows)
    return [row[:n] for row in rows], [row[n:] for row in rows]


def _clean(rows: Rows) -> Rows:
    largest = max((abs(x) for row in rows for x in row), default=0.0)
    return [[x if abs(x) > _DROPPED * largest else 0.0 for x in row] for row in rows]


def _energy(A: DecimalRows, B: DecimalRows, C: DecimalRows, R: DecimalRows) -> DecimalRows:
    """The least P with A^T P + P A + (C^T - P B) R (C - B^T P) = 0; `R` is the inverse of D + D^T."""
    n = len(A)
    BR = dense.product(B, R)
    drift = [[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(A, dense.product(BR, C), strict=True)]
    upper, lower = (
        dense.product(BR, dense.transpose(B)),
        dense.product(dense.transpose(C), dense.product(R, C)),
    )
    H = [[*drift[i], *upper[i]] for i in range(n)]
    H += [[*(-x for x in lower[i]), *(-drift[j][i] for j in range(n))] for i in range(n)]
    S = _sign(H)
    # (S + 1) [1; P] = 0 on the stable subspace: twice as many equations as unknowns, solved together.
    left = [[S[i][n + j] + (1 if i == n + j else 0) for j in range(n)] for i in range(2 * n)]
    right = [[-S[i][j] - (1 if i == j else 0) for j in range(n)] for i in range(2 * n)]
    # Squared equations cost half of the digits; there are enough.
    normal = dense.product(dense.transpose(left), left)
    P = dense.solve(normal, dense.product(dense.transpose(left), right))
    return [[(P[i][j] + P[j][i]) / 2 for j in range(n)] for i in range(n)]


def _sign(H: DecimalRows) -> DecimalRows:
    """The sign of a matrix without eigenvalues on the imaginary axis, by Newton's method, scaled by its determinant."""
    size = len(H)
    for _ in range(_MOST_STEPS):
        turned, pivots = dense.solve_with_pivots(H, dense.identity(H))
        # A power of ten rounds nothing, and is near enough.
        scale = Decimal(10) ** -round(math.prod(pivots, start=Decimal(1)).adjusted() / size)
        new = [
            [(x * scale + y / scale) / 2 for x, y in zip(row, other, strict=True)]
            for row, other in zip(H, turned, strict=True)
        ]
        moved = max(abs(x - y) for row, other in zip(new, H, strict=True) for x, y in zip(row, other, strict=True))
        largest = max(abs(x) for row in new for x in row)
        H = new
        # Newton doubles the digits at each step, so one that moves nothing is exact for our purpose.
        if moved <= _SETTLED * largest:
            return H
    raise ArithmeticError("the sign of the Hamiltonian matrix was not found")
