"""Symmetric positive definite systems with symbols: L D L^T, every entry that is more than a few leaves long by a name.

Pivots stay on the diagonal, where they are positive in every configuration; an entry beside it may vanish along the motion.
Short entries keep generated code short: the derivative of a long formula by its n variables is n times as long.
"""

from collections.abc import Iterable, Sequence

from tellegen.equations.matrices import Matrix
from tellegen.expressions import ZERO, Expression, is_zero, symbol
from tellegen.expressions.elimination import Elimination, Residues
from tellegen.expressions.entries import leaves
from tellegen.expressions.residues import residues

LONGEST = 6
"""Entries with more leaves than this get a name."""

_NONE: frozenset[int] = frozenset()


class Named:
    """Names for long formulas, in order of definition."""

    def __init__(self, prefix: str, taken: Iterable[str]) -> None:
        self.prefix, self.taken = prefix, set(taken)
        self.where: dict[str, Expression] = {}

    def kept(self, expression: Expression) -> Expression:
        """The expression, or a name for it where it is long."""
        if leaves(expression) <= LONGEST:
            return ZERO if is_zero(expression) else expression
        k = len(self.where) + 1
        while f"{self.prefix}_{k}" in self.taken:
            k += 1
        name = f"{self.prefix}_{k}"
        self.taken.add(name)
        self.where[name] = expression
        return symbol(name)


def elimination_order(pattern: Sequence[Iterable[int]], late: Iterable[int] = ()) -> tuple[list[int], int]:
    """The order of pivots with the fewest neighbours first, and how many entries beside the diagonal the factors get.

    `pattern` tells for each row of a symmetric matrix in which columns something stands. Rows that are `late` have no pivot of
    their own: they come when all rows that they are coupled with at first are gone.
    """
    near = {i: set(columns) - {i} for i, columns in enumerate(pattern)}
    before = {i: set(near[i]) for i in late}
    order, entries = [], 0
    while near:
        ready = (i for i in near if not before.get(i, _NONE) & near.keys())
        pivot = min(ready, key=lambda i: (len(near[i]), i))
        joined = near.pop(pivot)
        for i in joined:
            near[i] |= joined
            near[i] -= {i, pivot}
        order.append(pivot)
        entries += len(joined)
    return order, entries


def solved_definite(
    matrix: Matrix, right: Sequence[Sequence[Expression]], names: Named, late: Iterable[int] = ()
) -> Matrix | None:
    """matrix^-1 right over `names`; None where the matrix is singular. Of the matrix, the part above the diagonal is read.

    Rows that are `late` have a zero on the diagonal, and get their pivot from the others.
    """
    if _is_singular(matrix):
        return None
    n, width = len(matrix), len(right[0]) if right else 0
    a: list[list[Expression]] = [[ZERO] * n for _ in matrix]
    for i, row in enumerate(matrix):
        for j in range(i, n):
            a[i][j] = a[j][i] = names.kept(row[j])
    b = [list(row) for row in right]
    order, _ = elimination_order([[j for j, e in enumerate(row) if e is not ZERO] for row in a], late)
    beside: list[list[int]] = []  # for each pivot, the later rows that it changes
    for k, pivot in enumerate(order):
        later = [other for other in order[k + 1 :] if a[other][pivot] is not ZERO]
        beside.append(later)
        for m, other in enumerate(later):
            factor = names.kept(a[other][pivot] / a[pivot][pivot])
            for j in later[m:]:
                a[other][j] = a[j][other] = _less(a[other][j], factor, a[pivot][j], names)
            for j in range(width):
                b[other][j] = _less(b[other][j], factor, b[pivot][j], names)
    found: list[list[Expression]] = [[ZERO] * width for _ in range(n)]
    for pivot, later in zip(reversed(order), reversed(beside), strict=True):
        for j in range(width):
            rest = b[pivot][j]
            for other in later:
                rest = _less(rest, a[pivot][other], found[other][j], names)
            found[pivot][j] = names.kept(rest / a[pivot][pivot])
    return tuple(map(tuple, found))


def _is_singular(matrix: Matrix) -> bool:
    """Whether rows of the matrix depend on each other, whatever the values."""
    rows = [{j: value for j, e in enumerate(row) if (value := (residues(e) or (1,))[0])} for row in matrix]
    return bool(Elimination(rows, Residues()).eliminate_all(range(len(matrix))))


def _less(entry: Expression, factor: Expression, other: Expression, names: Named) -> Expression:
    return entry if factor is ZERO or other is ZERO else names.kept(entry - factor * other)
