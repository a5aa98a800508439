"""The transformation x = T z + T_u u: the states of the full model by the states and inputs of the reduced one.

A variable that the limit removes is told by the rest of the model: the velocity of a massless body by the dampers around it. What
only the rate of a dependent storage tells (the force in a rigid connection) drops out of the congruent transformation, so its row
may be chosen: zero, as far as the other rows allow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

from tellegen.equations.matrices import Matrix, dot
from tellegen.equations.resistive import Told, solve_resistive
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.expressions.elimination import Elimination
from tellegen.expressions.entries import Entry, NamedEntries
from tellegen.graph import SourceLaw
from tellegen.reduction.choice import Choice
from tellegen.reduction.naming import without_index
from tellegen.reduction.sources import Sources

Row = dict[int, Entry]


@final
@dataclass(frozen=True)
class Transformation:
    """Rows of T and T_u for the variables in `rows`. Entries are over parameters and the names of `where`.

    `static` are the variables that follow from states and inputs alone; those of `rates` need rates too.
    """

    rows: tuple[str, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    T: Matrix
    T_u: Matrix
    static: Mapping[str, Expression]
    rates: tuple[str, ...]
    where: Mapping[str, Expression]


def transformation(
    sources: Sources, choice: Choice, rows: Sequence[str], states: Sequence[str], idle: Mapping[str, Expression]
) -> Transformation:
    """The rows for variables of the full model (`rows`), by `states` of the reduced one; idle states stand at a constant."""
    return _Rows(sources, choice).transformation(rows, states, idle)


class _Rows:
    def __init__(self, sources: Sources, choice: Choice) -> None:
        self.causal = choice.causal
        self.ports = choice.causal.graph.ports
        self.structure = choice.structure
        self.field: NamedEntries = choice.field
        self.zero = set(sources.zero)
        self.choice = choice
        self.known = {*self.causal.integral, *(k for k in self.causal.sources if k not in self.zero)}
        self.following = set(self.causal.derivative)

    def transformation(
        self, rows: Sequence[str], states: Sequence[str], idle: Mapping[str, Expression]
    ) -> Transformation:
        static, free = self._static()
        known = {self._name(k): k for k in self.known}
        inputs = tuple(self._name(k) for k in self.causal.sources if k in self.known)
        written: dict[str, dict[str, Expression]] = {}
        for name in rows:
            if name in known:
                written[name] = {name: ONE}
            else:
                written[name] = {self._name(k): e.expression for k, e in static.get(name, {}).items()}
        T = tuple(tuple(written[name].get(z, ZERO) for z in states) for name in rows)
        T_u = tuple(tuple(written[name].get(u, ZERO) for u in inputs) for name in rows)
        expressions = {
            name: dot(written[name].values(), [idle.get(n, symbol(n)) for n in written[name]]) + self._curved(name)
            for name in rows
            if name not in free and (name in known or name in static)
        }
        return Transformation(
            tuple(rows),
            tuple(states),
            inputs,
            T,
            T_u,
            expressions,
            tuple(n for n in rows if n in free),
            self.field.where,
        )

    @cached_property
    def told(self) -> Told:
        """What ports are told once resistive laws are solved: asked only where rates do not settle a row."""
        return solve_resistive(self.structure, self.field)

    def _name(self, port: int) -> str:
        """The name of what a state or source decides."""
        found = self.ports[port]
        return found.law.input if isinstance(found.law, SourceLaw) else found.state

    def _static(self) -> tuple[dict[str, Row], set[str]]:
        """The rows of all variables that follow, with zero for what dependent storages alone tell; and the names of these."""
        rows: dict[str, Row] = {}
        for k in self.following:
            law = self.ports[k].law
            rows[without_index(self.ports[k].variable(law.side))] = self._of_known(self.structure.gains[k])
        by_rates: dict[int, Row] = {}
        for k in sorted(self.zero):
            shares = {j: e for j, e in self.structure.gains[k].items() if j in self.following}
            if shares:
                by_rates[k] = shares
            else:
                rows[self._told_name(k)] = self._of_known(self.told.linear[k])
        rows |= {self._told_name(k): row for k, row in self._gauged(by_rates).items()}
        return rows, {self._told_name(k) for k in by_rates}

    def _told_name(self, port: int) -> str:
        return without_index(self.ports[port].variable(self.causal.follows(port)))

    def _curved(self, name: str) -> Expression:
        """What nonlinear laws add to a variable of an element at its limit."""
        found = [k for k in self.zero if self._told_name(k) == name]
        return self.told.rest(found[0], 1) if found else ZERO

    def _of_known(self, row: Mapping[int, Entry]) -> Row:
        return {j: e for j, e in row.items() if j in self.known}

    def _gauged(self, by_rates: Mapping[int, Row]) -> dict[int, Row]:
        """Rows with the rates chosen so that as many as possible vanish; rate j has the column -1 - j."""
        pivots = self._settled({k: _shifted(row) for k, row in by_rates.items()})[1]
        if len(pivots) == len(by_rates):
            return {k: {} for k in by_rates}
        whole = {k: {**self._of_known(self.told.linear[k]), **_shifted(row)} for k, row in by_rates.items()}
        rows, pivots = self._settled(whole)
        return {k: {} if k in pivots else {c: e for c, e in rows[k].items() if c >= 0} for k in by_rates}

    def _settled(self, rows: Mapping[int, Row]) -> tuple[dict[int, Row], set[int]]:
        """Rows with the rates eliminated, and those that were used up for it."""
        elimination = Elimination(list(rows.values()), self.field)
        for c in sorted({c for row in rows.values() for c in row if c < 0}, reverse=True):
            elimination.eliminate(c)
        used = set(elimination.pivots.values())
        return dict(zip(rows, elimination.rows, strict=True)), {k for r, k in enumerate(rows) if r in used}


def _shifted(row: Mapping[int, Entry]) -> Row:
    return {-1 - j: e for j, e in row.items()}
