"""A minimal realisation of a matrix of proper transfer functions, in exact rational numbers (Ho and Kalman 1966).

The coefficients of G in powers of 1/s fill a Hankel matrix whose rank is the number of states; any independent columns and rows of
it, as many as its rank, give A, B and C. Exact numbers make the rank a fact and not a guess.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from tellegen.description.ladders.polynomials import Polynomial

Rows = list[list[Fraction]]


@final
@dataclass(frozen=True)
class StateSpace:
    """x' = A x + B u, y = C x + D u, with nothing in x that u does not move or y does not show."""

    A: Rows
    B: Rows
    C: Rows
    D: Rows


def minimal_realisation(numerators: Sequence[Sequence[Polynomial]], denominator: Polynomial) -> StateSpace:
    """The realisation of a square matrix of proper functions over one denominator."""
    ports, order = len(numerators), len(denominator) - 1
    series = [[_series(n, denominator, 2 * order + 1) for n in row] for row in numerators]

    def markov(k: int) -> Rows:
        return [[entry[k] for entry in row] for row in series]

    def hankel(shift: int) -> Rows:
        blocks = [markov(k) for k in range(2 * order + 1)]
        span = range(order * ports)
        return [[blocks[1 + i // ports + j // ports + shift][i % ports][j % ports] for j in span] for i in span]

    here, later = hankel(0), hankel(1)
    columns = independent(here)
    rows = independent([list(line) for line in zip(*here, strict=True)])
    corner = [[here[i][j] for j in columns] for i in rows]
    right = [[later[i][j] for j in columns] + here[i][:ports] for i in rows]
    found = solve_exactly(corner, right)
    n = len(columns)
    return StateSpace(
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


def independent(matrix: Rows) -> list[int]:
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


def solve_exactly(matrix: Rows, right: Rows) -> Rows:
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
