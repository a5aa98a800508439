"""Which variables of y and yp each residual of a large program depends on.

In factored form a sum may hold terms that cancel, such as the through variables that enter and leave part of a network. Rows are
therefore kept as combinations with exact residues: what cancels is not there, and the pattern stays as sparse as the physics.
"""

from collections.abc import Iterable, Sequence
from math import inf

from tellegen.compiler.program import Program
from tellegen.compiler.steps import Reading, Rows
from tellegen.expressions import MINUS_ONE, ONE, PRIME, Expression

FEWEST_ENTRIES, FEWEST_WITH_UNKNOWNS, ENTRIES_EACH = 1_000_000, 30_000, 12
"""A pattern is dense when variables depend on more entries than the first, and than the last for each of them; where there are
unknowns anyway, a few more cost little."""

_NOTHING: frozenset[int] = frozenset()


class DensePatternError(Exception):
    """The residuals of a large program depend on too much."""


def supports(program: Program, leaves: Iterable[Sequence[int]], *, dense: bool = False) -> list[list[int]]:
    """For each residual the places in the lists of leaves that it depends on, in order.

    Raises: DensePatternError when there are more of them than a sparse solver, or the memory, can do with, but where `dense`.
    """
    fewest = FEWEST_WITH_UNKNOWNS if program.unknowns else FEWEST_ENTRIES
    found = _Supports(leaves, inf if dense else max(fewest, ENTRIES_EACH * len(program.names)))
    for step in program.core:
        if isinstance(step, Rows):
            found.rows(step)
        elif isinstance(step, Reading):
            found.set(step.target, step.arguments)
        else:
            for r, target in enumerate(step.targets):
                found.set(target, [column[r] for column in step.arguments])
    return [sorted(found.of(k)) for k in program.residuals]


class _Supports:
    def __init__(self, leaves: Iterable[Sequence[int]], most: float) -> None:
        self.left = most
        self.shared: dict[frozenset[int], frozenset[int]] = {}
        self.atoms = {k: frozenset((i,)) for numbers in leaves for i, k in enumerate(numbers)}
        self.combinations: dict[int, dict[int, int]] = {}
        self.residues: dict[Expression, int] = {ONE: 1, MINUS_ONE: -1}

    def of(self, k: int) -> frozenset[int]:
        """What a variable depends on."""
        combination = self.combinations.get(k)
        if combination is None:
            return self.atoms.get(k, _NOTHING)
        return _NOTHING.union(*[self.atoms.get(atom, _NOTHING) for atom in combination])

    def set(self, target: int, arguments: Sequence[int]) -> None:
        """A variable given by a formula."""
        found = self.of(arguments[0]) if len(arguments) == 1 else _NOTHING.union(*map(self.of, arguments))
        self.atoms[target] = self.shared.setdefault(found, found)
        self._count(len(found))

    def _count(self, entries: int) -> None:
        self.left -= entries
        if self.left < 0:
            raise DensePatternError

    def rows(self, rows: Rows) -> None:
        """Variables given by sums."""
        for r, target in enumerate(rows.targets):
            total: dict[int, int] = {}
            for source, gain in rows.entries(r):
                factor = self._residue(gain)
                inner = self.combinations.get(source)
                if inner is None:
                    total[source] = total.get(source, 0) + factor
                    continue
                for atom, value in inner.items():
                    total[atom] = (total.get(atom, 0) + factor * value) % PRIME
            self.combinations[target] = {atom: value for atom, value in total.items() if value % PRIME}
            self._count(len(total))

    def _residue(self, gain: Expression) -> int:
        found = self.residues.get(gain)
        if found is None:
            values = gain.residues()
            found = self.residues[gain] = 1 if values is None else values[0]
        return found
