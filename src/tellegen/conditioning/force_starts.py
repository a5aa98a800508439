"""What the forces of the rigid model tell parasitic elements: where they begin, so that no run begins with a jolt, and a size."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import final

from tellegen.conditioning.balance import Balance, Forces
from tellegen.core.errors import ConditioningError
from tellegen.core.names import TIME
from tellegen.expressions import Expression
from tellegen.expressions.entries import substituted

Carried = Callable[[], Mapping[str, float]]
"""Tells what the rigid model carries where it starts, by the names of the forces."""


def nothing_known() -> Mapping[str, float]:
    """Of no force."""
    return {}


@final
@dataclass(frozen=True)
class ForceStarts:
    """`states` are those of the parasitic elements, by the names of the forces that they carry."""

    balance: Balance
    states: Mapping[str, str] = field(default_factory=dict)

    def at(self, values: Mapping[str, float], carried: Carried = nothing_known) -> dict[str, float]:
        """What the states are where the rigid model starts; `carried` is asked where forces do not follow from numbers alone."""
        found: Mapping[str, float]
        try:
            found = self._solved(self.balance.forces(), {TIME: 0.0, **values})
        except (ConditioningError, ArithmeticError, KeyError):
            found = (
                carried()
            )  # an input in a constraint, a law in the way, a number that is missing, a position found later
        known = {state: found[name] for name, state in self.states.items() if name in found}
        return {state: value for state, value in known.items() if isfinite(value)}

    def inertia(self, force: str, values: Mapping[str, float]) -> float | None:
        """What a force moves along its constraint when all constraints are open: the reciprocal of its entry in E."""
        try:
            forces = self.balance.forces()
            i = forces.names.index(force)
            (entry,) = self._numbers([forces.matrix[i][i]], {TIME: 0.0, **values})
        except (ConditioningError, ArithmeticError, KeyError):
            return None
        return 1 / entry if entry > 0 else None

    def _solved(self, forces: Forces, values: Mapping[str, float]) -> dict[str, float]:
        known = {**values, **self._driven(values)}
        matrix = [self._numbers(row, known) for row in forces.matrix]
        found = _solution(matrix, self._numbers(forces.right, known))
        return dict(zip(forces.unknowns, found, strict=True))

    def _driven(self, values: Mapping[str, float]) -> dict[str, float]:
        """What sources give that a formula drives, such as weights."""
        drivers = self.balance.system.signals.drivers
        known = {n: e for n, e in drivers.items() if n not in self.balance.names}
        return dict(zip(known, self._numbers(list(known.values()), values), strict=True))

    def _numbers(self, row: Sequence[Expression], values: Mapping[str, float]) -> list[float]:
        return [substituted(e, self.balance.graph.moving).evaluate(values) for e in row]


def _solution(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The solution of a small linear system, by elimination with the largest pivots.

    Raises: ZeroDivisionError for a singular matrix.
    """
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    n = len(rows)
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for row in rows[k + 1 :]:
            factor = row[k] / rows[k][k]
            row[k:] = [a - factor * b for a, b in zip(row[k:], rows[k][k:], strict=True)]
    found = [0.0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))) / rows[k][k]
    return found
