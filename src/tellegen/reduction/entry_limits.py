"""The matrices of a system of equations at the limits of its parameters, entry by entry."""

from dataclasses import replace

from tellegen.core.names import listing
from tellegen.equations.matrices import Matrix
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.expressions.entries import substituted
from tellegen.reduction import rules
from tellegen.reduction.asymptotics import DependsOnRatioError, NoLimitError, limit_of
from tellegen.reduction.limits import Limit

INSTEAD = "take the limit of the model, not of its equations"


class EntryLimits:
    """Takes the limits of entries of systems that share their parameters and definitions with the first one."""

    def __init__(self, system: EquationSystem, limits: tuple[Limit, ...]) -> None:
        self.orders = {limit.name: limit.order for limit in limits if limit.order}
        self.targets = {limit.name: limit.to for limit in limits if limit.order == 0 and limit.to is not None}
        given = {n: e for n, e in system.parameters.items() if e is not None}
        self.names = {limit.name for limit in limits}
        self.reach = _reach({**given, **system.where}, self.names)
        self.definitions = {n: e for n, e in given.items() if n in self.reach and n not in self.names}

    def _written(self, system: EquationSystem, e: Expression) -> Expression:
        return substituted(substituted(substituted(e, system.where), self.definitions), self.targets)

    def of(self, system: EquationSystem, e: Expression) -> Expression | None:
        """The limit of an entry; None where it is infinite.

        Raises: ReductionError (T105, T106) where there is none.
        """
        if e.free_symbols.isdisjoint(self.reach):
            return e
        try:
            return limit_of(self._written(system, e), self.orders)
        except DependsOnRatioError as ratio:
            raise rules.RATIO_OF_LIMITS.error(
                f"an entry depends on the ratio {'/'.join(map(str, ratio.args[:2]))} of the limits",
                fix=f"keep one of {listing(map(str, ratio.args))}",
            ) from ratio
        except NoLimitError as reason:
            raise rules.NO_LIMIT.error(f"the limit of an entry was not found: {reason}", fix=INSTEAD) from reason

    def beside_energy(self, system: EquationSystem) -> EquationSystem:
        """The system with all matrices but L and A at the limit.

        Dependent storages stand in them too, where sources meet them or the motion changes them.
        """
        matrices = dict(system.matrices)
        for name in ("N", "B", "C", "D", "B_1", "D_1"):
            rows = [[self.of(system, e) for e in row] for row in matrices[name]]
            if any(e is None for row in rows for e in row):
                raise rules.NO_LIMIT.error(f"an entry of {name} has no limit", fix=INSTEAD)
            matrices[name] = tuple(tuple(e for e in row if e is not None) for row in rows)
        return replace(system, matrices=matrices)

    def energy(self, system: EquationSystem) -> tuple[Matrix, list[int]]:
        """L at the limit, and the states that freeze."""
        rows = [[self.of(system, e) for e in row] for row in system.matrices["L"]]
        frozen = [k for k, row in enumerate(rows) if row[k] is None]
        found = []
        for i, row in enumerate(rows):
            # What a state shares with a frozen one is finite, and the rate of that one is zero.
            if i not in frozen and any(e is None for j, e in enumerate(row) if j not in frozen):
                raise rules.NO_LIMIT.error(
                    f"the states joined with '{system.states[i]}' freeze only together",
                    where=system.states[i],
                    fix=INSTEAD,
                )
            found.append(tuple(ZERO if e is None else e for e in row))
        return tuple(found), frozen

    def growing(self, system: EquationSystem) -> Matrix:
        """The coefficients with which [L, -B_1] grows without bound, the sum over all parameters that make it grow."""
        L, B_1 = system.matrices["L"], system.matrices["B_1"]
        return tuple(
            tuple(self._coefficient(system, e) for e in (*a, *(-e for e in b))) for a, b in zip(L, B_1, strict=True)
        )

    def _coefficient(self, system: EquationSystem, e: Expression) -> Expression:
        if e.free_symbols.isdisjoint(self.reach):
            return ZERO
        whole = self._written(system, e)
        found: Expression = ZERO
        for name in sorted(whole.free_symbols & self.orders.keys()):
            small = symbol(name) if self.orders[name] > 0 else ONE / symbol(name)
            try:
                found = found + (limit_of(whole * small, {name: self.orders[name]}) or ZERO)
            except (DependsOnRatioError, NoLimitError):
                continue  # what does not grow like one parameter alone is judged entry by entry
        return found


def _reach(definitions: dict[str, Expression], names: set[str]) -> set[str]:
    """All names that lead to one of the names, directly or not."""
    reach, grown = set(names), True
    while grown:
        new = {n for n, e in definitions.items() if n not in reach and reach & e.free_symbols}
        reach |= new
        grown = bool(new)
    return reach
