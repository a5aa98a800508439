"""Resistive laws solved into the interconnection: what storages and sources are told, by states and inputs alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.nonlinear import Nonlinear, Row
from tellegen.equations.structure import CausalStructure
from tellegen.expressions import ONE, ZERO, Expression, total
from tellegen.expressions.elimination import solve
from tellegen.expressions.entries import Entry, NamedEntries
from tellegen.graph import ResistiveLaw, StorageLaw


@final
@dataclass(frozen=True)
class Told:
    """What ports are told once resistive laws are solved.

    `linear[k]` holds the part of port k linear in states and inputs, `curved[k]` its gains from ports with nonlinear laws, whose
    decided variables are in `decided`. Nonlinear loops leave `unknowns` with `residuals`. `resistive[k]` is what a linear resistive
    port decides.
    """

    linear: Mapping[int, Row]
    curved: Mapping[int, Row]
    decided: Mapping[int, Expression]
    unknowns: tuple[str, ...]
    residuals: tuple[Expression, ...]
    dissipated: Expression
    resistive: Mapping[int, Row]

    def rest(self, port: int, sign: int) -> Expression:
        """What port k is told beyond its linear part, times a sign."""
        found = total(gain.expression * self.decided[k] for k, gain in self.curved[port].items())
        return found if sign > 0 else -found


def solve_resistive(structure: CausalStructure, field: NamedEntries) -> Told:
    """Solve the linear resistive laws together, then order the nonlinear ones; what cannot be ordered becomes an unknown."""
    causal = structure.causal
    linear, curved = _split(causal)
    laws = _LinearLaws(structure, linear, field)
    arguments = laws.solve()
    decided = laws.decided(arguments)
    one, following = field.entry(ONE), set(causal.derivative)
    ends = [*causal.integral, *causal.sources]
    asked = [*ends, *(k for k in curved if isinstance(causal.graph.ports[k].law, ResistiveLaw))]
    rows = {}
    for k in asked:
        gains = {j: gain for j, gain in structure.gains[k].items() if j not in following}
        rows[k] = _combined(gains, decided, field, one)
    nonlinear = Nonlinear(causal, curved, rows)
    nonlinear.solve()
    powers = laws.powers(arguments, nonlinear.sum_of)
    return Told(
        linear={k: {j: e for j, e in rows[k].items() if j not in curved} for k in ends},
        curved={k: {j: e for j, e in rows[k].items() if j in curved} for k in ends},
        decided=nonlinear.decided,
        unknowns=tuple(nonlinear.unknowns),
        residuals=tuple(nonlinear.residuals()),
        dissipated=total([*powers, *nonlinear.powers()]),
        resistive=decided,
    )


def _split(causal: CausalGraph) -> tuple[list[int], set[int]]:
    """Ports with linear resistive laws, and ports whose decided variable is a nonlinear function."""
    linear, curved = [], set()
    for k, port in enumerate(causal.graph.ports):
        if isinstance(port.law, ResistiveLaw):
            if port.law.linear:
                linear.append(k)
            else:
                curved.add(k)
        elif isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable:
            curved.add(k)
    return linear, curved


class _LinearLaws:
    """Linear resistive laws h = M g, with M diagonal but for fields.

    The unknown is the argument g, so that the equations are polynomials in the coefficients. A law used as written is told g and
    decides h; a law used backwards is told h and decides g.
    """

    def __init__(self, structure: CausalStructure, ports: list[int], field: NamedEntries) -> None:
        self.structure = structure
        self.causal = structure.causal
        self.ports = ports
        self.field = field
        self.one = field.entry(ONE)
        self.laws = {k: {k: field.entry(self._coefficient(k))} for k in ports}
        for coupled in self.causal.graph.fields:
            for k, row in zip(coupled.ports, coupled.matrix, strict=True):
                if k in self.laws:
                    self.laws[k] = {j: field.entry(e) for j, e in zip(coupled.ports, row, strict=True) if e is not ZERO}

    def _coefficient(self, k: int) -> Expression:
        law = self.causal.graph.ports[k].law
        assert isinstance(law, ResistiveLaw)
        assert law.coefficient is not None, "a linear law has a coefficient"
        return law.coefficient

    def _direct(self, k: int) -> bool:
        return self.causal.decides[k] == self.causal.graph.ports[k].law.side

    def _decides(self, k: int) -> Row:
        """What a port decides, by arguments."""
        return self.laws[k] if self._direct(k) else {k: self.one}

    def _is_told(self, k: int) -> Row:
        """What a port is told, by arguments."""
        return {k: self.one} if self._direct(k) else self.laws[k]

    def solve(self) -> dict[int, Row]:
        """The arguments by states, inputs and nonlinear ports."""
        count = len(self.causal.graph.ports)
        matrix: list[Row] = []
        right: list[Row] = []
        for k in self.ports:
            row, known = dict(self._is_told(k)), {}
            for j, gain in self.structure.gains[k].items():
                if j not in self.laws:
                    known[count + j] = gain
                    continue
                for i, share in self._decides(j).items():
                    row[i] = self.field.minus_product(row.get(i), gain, share)
            matrix.append({j: e for j, e in row.items() if not self.field.is_zero(e)})
            right.append(known)
        found, left = solve(matrix, right, self.ports, self.field)
        if left:
            raise self._singular(left)
        return {k: {c - count: e for c, e in found[k].items()} for k in self.ports}

    def decided(self, arguments: Mapping[int, Row]) -> dict[int, Row]:
        """What each port decides, once the arguments are known."""
        return {k: _combined(self._decides(k), arguments, self.field, self.one) for k in self.ports}

    def powers(self, arguments: Mapping[int, Row], written: Callable[[Row], Expression]) -> Iterable[Expression]:
        """The power that each port takes: argument times value, as h^2/c where that saves fractions."""
        for k in self.ports:
            if self.causal.graph.domain_of(k).heat_books:
                continue  # heat that passes is lost already
            coupled = [j for j in self.laws[k] if j != k]
            if self._direct(k) or coupled:
                value = total(share.expression * written(arguments[j]) for j, share in self.laws[k].items())
                yield value * written(arguments[k])
            else:
                c = self.laws[k][k]
                told = {j: e._replace(expression=c.expression * e.expression) for j, e in arguments[k].items()}
                yield written(told) ** 2 / c.expression

    def _singular(self, left: list[int]) -> TellegenError:
        names = [self.causal.graph.ports[k].element for k in left]
        fields = [field.element for field in self.causal.graph.fields if not set(left).isdisjoint(field.ports)]
        fix = "check the sign of their parameters"
        if fields:  # its laws are asked for what they give, and the matrix has no inverse there
            fix = f"check the matrix of {listing(fields)}; a field that only passes power on is a connection, and is written as one"
        return rules.SINGULAR_RESISTORS.error(
            f"the resistive elements around {listing(names)} have no unique solution",
            where=names[0],
            fix=fix,
            place=self.causal.graph.ports[left[0]].place,
            members=names,
        )


def _combined(shares: Mapping[int, Entry], rows: Mapping[int, Row], field: NamedEntries, one: Entry) -> Row:
    """The sum of shares times rows; a port without a row stands for itself."""
    found: Row = {}
    for j, share in shares.items():
        minus = field.minus_product(None, share, one)
        for known, entry_of_row in rows[j].items() if j in rows else ((j, one),):
            found[known] = field.minus_product(found.get(known), minus, entry_of_row)
    return {j: e for j, e in found.items() if not field.is_zero(e)}
