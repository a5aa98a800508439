"""Symmetric positive definite systems with symbols: L D L^T, every entry that is more than a few leaves long by a name.

Pivots stay on the diagonal, where they are positive in every configuration; an entry beside it may vanish along the motion.
Short entries keep generated code short: the derivative of a long formula by its n variables is n times as long.
"""

from collections.abc import Iterable, Sequence

from tellegen.equations.matrices import Matrix
from tellegen.expressions import ZERO, Expression, is_zero, symbol
from tellegen.expressions.entries import leaves, substituted

LONGEST = 6
"""Entries with more leaves than this get a name."""


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


def solved_definite(matrix: Matrix, right: Sequence[Sequence[Expression]], names: Named) -> Matrix | None:
    """matrix^-1 right over `names`; None where the matrix is singular."""
    n, width = len(matrix), len(right[0]) if right else 0
    a = [list(map(names.kept, row)) for row in matrix]
    b = [list(row) for row in right]
    order = sorted(range(n), key=lambda i: (sum(e is not ZERO for e in a[i]), i))
    for k, pivot in enumerate(order):
        if is_zero(substituted(a[pivot][pivot], names.where)):
            return None
        for row in order[k + 1 :]:
            if a[row][pivot] is not ZERO:
                factor = names.kept(a[row][pivot] / a[pivot][pivot])
                for column in order[k + 1 :]:
                    a[row][column] = _less(a[row][column], factor, a[pivot][column], names)
                for column in range(width):
                    b[row][column] = _less(b[row][column], factor, b[pivot][column], names)
    found: list[list[Expression]] = [[ZERO] * width for _ in range(n)]
    for k in reversed(range(n)):
        pivot = order[k]
        for column in range(width):
            rest = b[pivot][column]
            for later in order[k + 1 :]:
                rest = _less(rest, a[pivot][later], found[later][column], names)
            found[pivot][column] = names.kept(rest / a[pivot][pivot])
    return tuple(map(tuple, found))


def _less(entry: Expression, factor: Expression, other: Expression, names: Named) -> Expression:
    return entry if factor is ZERO or other is ZERO else names.kept(entry - factor * other)
