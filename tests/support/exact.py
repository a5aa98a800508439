"""Small linear algebra without rounding: rational numbers, and residues modulo a prime for yes-or-no questions."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

PRIME = 2**31 - 1
"""Another prime than that of the package."""

Rows = list[list[Fraction]]


def solve(rows: Sequence[Mapping[int, Fraction]], unknowns: int, right_sides: int) -> Rows | None:
    """Solve sparse equations: columns 0 .. unknowns-1 are sought, the next ones are right sides. None when singular."""
    waiting = [dict(row) for row in rows]
    done: list[tuple[int, dict[int, Fraction]]] = []
    for _ in range(unknowns):
        lengths = [(len(row), k) for k, row in enumerate(waiting) if any(c < unknowns for c in row)]
        if not lengths:
            return None
        row = waiting.pop(min(lengths)[1])
        column = min((c for c in row if c < unknowns), key=lambda c: (sum(c in other for other in waiting), c))
        pivot = row.pop(column)
        row = {c: e / pivot for c, e in row.items()}
        done.append((column, row))
        for other in waiting:
            factor = other.pop(column, None)
            if factor is not None:
                _subtract(other, factor, row)
    found: dict[int, list[Fraction]] = {}
    for column, row in reversed(done):
        value = [row.get(unknowns + j, Fraction(0)) for j in range(right_sides)]
        for c, e in row.items():
            if c < unknowns:
                value = [v - e * w for v, w in zip(value, found[c], strict=True)]
        found[column] = value
    return [found[c] for c in range(unknowns)]


def _subtract(row: dict[int, Fraction], factor: Fraction, other: Mapping[int, Fraction]) -> None:
    for c, e in other.items():
        value = row.get(c, Fraction(0)) - factor * e
        if value:
            row[c] = value
        else:
            row.pop(c, None)


def solve_dense(matrix: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]) -> Rows | None:
    """matrix^-1 right, or None when the matrix is singular."""
    n = len(matrix)
    width = len(right[0]) if n else 0
    rows = [{j: e for j, e in enumerate([*line, *known]) if e} for line, known in zip(matrix, right, strict=True)]
    return solve(rows, n, width)


def product(a: Sequence[Sequence[Fraction]], b: Sequence[Sequence[Fraction]], columns: int) -> Rows:
    """The product of matrices; `columns` says how wide b is even when it has no rows."""
    return [
        [sum((x * line[j] for x, line in zip(row, b, strict=True)), Fraction(0)) for j in range(columns)] for row in a
    ]


def transposed(matrix: Sequence[Sequence[Fraction]], columns: int) -> Rows:
    """The transpose; `columns` says how wide the matrix is even when it has no rows."""
    return [[row[j] for row in matrix] for j in range(columns)]


def plus(a: Sequence[Sequence[Fraction]], b: Sequence[Sequence[Fraction]], factor: Fraction | int = 1) -> Rows:
    """a + factor * b."""
    return [[x + factor * y for x, y in zip(p, q, strict=True)] for p, q in zip(a, b, strict=True)]


def times(matrix: Sequence[Sequence[Fraction]], vector: Sequence[Fraction]) -> list[Fraction]:
    """A matrix times a vector."""
    return [dot(row, vector) for row in matrix]


def dot(a: Iterable[Fraction], b: Iterable[Fraction]) -> Fraction:
    """The sum of products."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def is_positive_semidefinite(matrix: Sequence[Sequence[Fraction]]) -> bool:
    """Whether a symmetric matrix has no negative direction: L D L^T with the pivots of an outer product form."""
    left = [list(row) for row in matrix]
    while left:
        k = max(range(len(left)), key=lambda i: left[i][i])
        pivot = left[k][k]
        if pivot <= 0:  # the largest diagonal entry: all entries must vanish
            return not any(e for row in left for e in row)
        rest = [i for i in range(len(left)) if i != k]
        left = [[left[i][j] - left[i][k] * left[k][j] / pivot for j in rest] for i in rest]
    return True


def residue(value: Fraction | int) -> int:
    """A rational number modulo the prime."""
    q = Fraction(value)
    return q.numerator * pow(q.denominator, -1, PRIME) % PRIME


def null_space(rows: Iterable[Mapping[int, int]], columns: int) -> list[list[int]]:
    """A basis of the solutions of homogeneous equations, modulo the prime."""
    pivots: dict[int, list[int]] = {}
    for sparse in rows:
        row = [sparse.get(c, 0) % PRIME for c in range(columns)]
        for c, known in pivots.items():
            if row[c]:
                factor = row[c]
                row = [(a - factor * b) % PRIME for a, b in zip(row, known, strict=True)]
        lead = next((c for c in range(columns) if row[c]), None)
        if lead is None:
            continue
        inverse = pow(row[lead], -1, PRIME)
        row = [a * inverse % PRIME for a in row]
        for c, known in pivots.items():
            if known[lead]:
                factor = known[lead]
                pivots[c] = [(a - factor * b) % PRIME for a, b in zip(known, row, strict=True)]
        pivots[lead] = row
    free = [c for c in range(columns) if c not in pivots]
    basis = []
    for f in free:
        vector = [0] * columns
        vector[f] = 1
        for c, row in pivots.items():
            vector[c] = -row[f] % PRIME
        basis.append(vector)
    return basis


def rank(rows: Iterable[Sequence[int]]) -> int:
    """The rank of a matrix modulo the prime."""
    left = [list(row) for row in rows]
    found = 0
    while left:
        row = left.pop()
        lead = next((c for c, e in enumerate(row) if e % PRIME), None)
        if lead is None:
            continue
        found += 1
        inverse = pow(row[lead], -1, PRIME)
        left = [
            [(a - other[lead] * inverse * b) % PRIME for a, b in zip(other, row, strict=True)]
            if other[lead] % PRIME
            else other
            for other in left
        ]
    return found


def determinant(rows: Sequence[Mapping[int, int]]) -> int:
    """The determinant modulo the prime."""
    left = [[row.get(c, 0) % PRIME for c in range(len(rows))] for row in rows]
    value = 1
    while left:
        k = next((i for i, row in enumerate(left) if row[0]), None)
        if k is None:
            return 0
        row = left.pop(k)
        value = value * row[0] * (-1 if k % 2 else 1) % PRIME
        inverse = pow(row[0], -1, PRIME)
        left = [
            [(a - other[0] * inverse * b) % PRIME for a, b in zip(other[1:], row[1:], strict=True)]
            if other[0]
            else other[1:]
            for other in left
        ]
    return value


def degree(values: Sequence[int]) -> int:
    """The degree of a polynomial from its residues at 0, 1, 2, ...; -1 for the zero polynomial."""
    differences, last = list(values), -1
    for k in range(len(values)):
        if differences[0]:
            last = k
        differences = [(b - a) % PRIME for a, b in pairwise(differences)]
    return last
