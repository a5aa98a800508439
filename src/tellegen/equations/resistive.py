"""Resistive laws solved into the interconnection: what storages and sources are told, by states and inputs alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.equations.structure import CausalStructure
from tellegen.expressions import ONE, Expression, symbol, total
from tellegen.expressions.elimination import solve
from tellegen.expressions.entries import Entry, NamedEntries, entry
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw

Row = dict[int, Entry]
"""A told variable as a sum of entries times what ports decide."""


@final
@dataclass(frozen=True)
class Told:
    """What ports are told once resistive laws are solved.

    `linear[k]` holds the part of port k linear in states and inputs, `curved[k]` its gains from ports with nonlinear laws, whose
    decided variables are in `decided`. Nonlinear loops leave `unknowns` with `residuals`.
    """

    linear: Mapping[int, Row]
    curved: Mapping[int, Row]
    decided: Mapping[int, Expression]
    unknowns: tuple[str, ...]
    residuals: tuple[Expression, ...]
    dissipated: Expression

    def rest(self, port: int, sign: int) -> Expression:
        """What port k is told beyond its linear part, times a sign."""
        found = total(gain.expression * self.decided[k] for k, gain in self.curved[port].items())
        return found if sign > 0 else -found


def solve_resistive(structure: CausalStructure, field: NamedEntries) -> Told:
    """Solve the linear resistive laws together, then order the nonlinear ones; what cannot be ordered becomes an unknown."""
    causal = structure.causal
    linear, curved = _split(causal)
    arguments, currents = _solve_linear(structure, linear, field)
    asked = [
        *causal.integral,
        *causal.sources,
        *(k for k in curved if isinstance(causal.graph.ports[k].law, ResistiveLaw)),
    ]
    rows = {k: _told(structure, k, currents, field) for k in asked}
    nonlinear = _Nonlinear(causal, curved, rows)
    decided, unknowns, residuals = nonlinear.solve()
    split = {k: _by_kind(rows[k], curved) for k in [*causal.integral, *causal.sources]}
    return Told(
        {k: parts[0] for k, parts in split.items()},
        {k: parts[1] for k, parts in split.items()},
        decided,
        tuple(unknowns),
        tuple(residuals),
        _dissipated(causal, arguments, nonlinear),
    )


def _dissipated(causal: CausalGraph, arguments: Mapping[int, Row], nonlinear: "_Nonlinear") -> Expression:
    """The power that resistive elements take: argument times value, law by law."""
    powers = []
    for k in causal.resistive:
        law = causal.graph.ports[k].law
        assert isinstance(law, ResistiveLaw)
        argument = nonlinear.sum_of(arguments[k]) if k in arguments else nonlinear.argument_of(k)
        powers.append(law.value_at(argument) * argument)
    return total(powers)


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


def _solve_linear(
    structure: CausalStructure, linear: list[int], field: NamedEntries
) -> tuple[dict[int, Row], dict[int, Row]]:
    """The argument of each linear resistive law, and what its port decides, by states, inputs and nonlinear ports.

    The unknown is the argument g of the law h = c g, so that the equations are polynomials in the coefficients:
    g - S W g = S v where the law is used as written, c g - S W g = S v where it is used backwards.
    """
    causal = structure.causal
    count = len(causal.graph.ports)
    weight: dict[int, Entry] = {}
    diagonal: dict[int, Entry] = {}
    for k in linear:
        law = causal.graph.ports[k].law
        assert isinstance(law, ResistiveLaw)
        assert law.coefficient is not None
        coefficient, one = entry(law.coefficient), entry(ONE)
        direct = causal.decides[k] == law.side
        weight[k], diagonal[k] = (coefficient, one) if direct else (one, coefficient)
    matrix: list[Row] = []
    right: list[Row] = []
    for k in linear:
        row, known = {k: diagonal[k]}, {}
        for j, gain in structure.gains[k].items():
            if j in weight:
                row[j] = field.minus_product(row.get(j), gain, weight[j])
            else:
                known[count + j] = gain
        matrix.append({j: e for j, e in row.items() if not field.is_zero(e)})
        right.append(known)
    found, left = solve(matrix, right, linear, field)
    if left:
        names = [causal.graph.ports[k].element for k in left]
        raise rules.SINGULAR_RESISTORS.error(
            f"the resistive elements around {listing(names)} have no unique solution",
            where=names[0],
            fix="check the sign of their parameters",
            place=causal.graph.ports[left[0]].place,
            members=names,
        )
    one = entry(ONE)
    arguments = {k: {c - count: e for c, e in found[k].items()} for k in linear}
    return arguments, {k: {j: _times(field, weight[k], e, one) for j, e in row.items()} for k, row in arguments.items()}


def _times(field: NamedEntries, a: Entry, b: Entry, one: Entry) -> Entry:
    return field.minus_product(None, field.minus_product(None, a, one), b)


def _told(structure: CausalStructure, port: int, currents: Mapping[int, Row], field: NamedEntries) -> Row:
    """What a port is told, with linear resistive ports replaced."""
    row: Row = {}
    one = entry(ONE)
    for j, gain in structure.gains[port].items():
        minus = field.minus_product(None, gain, one)
        if j in currents:
            for known, share in currents[j].items():
                row[known] = field.minus_product(row.get(known), minus, share)
        elif j not in structure.causal.derivative:
            row[j] = field.minus_product(row.get(j), minus, one)
    return {j: e for j, e in row.items() if not field.is_zero(e)}


def _by_kind(row: Row, curved: set[int]) -> tuple[Row, Row]:
    return {k: e for k, e in row.items() if k not in curved}, {k: e for k, e in row.items() if k in curved}


class _Nonlinear:
    """Puts nonlinear laws into an order of evaluation; a law that needs itself is torn by an unknown."""

    def __init__(self, causal: CausalGraph, curved: set[int], rows: Mapping[int, Row]) -> None:
        self.causal = causal
        self.ports = causal.graph.ports
        self.rows = rows
        self.curved = sorted(curved)
        self.decided: dict[int, Expression] = {}
        self.unknowns: list[str] = []
        self.torn: list[int] = []

    def solve(self) -> tuple[dict[int, Expression], list[str], list[Expression]]:
        """The decided variables of nonlinear ports, the unknowns and their residuals."""
        waiting = [k for k in self.curved if not self._known_at_once(k)]
        while waiting:
            ready = [k for k in waiting if all(j in self.decided for j in self.rows[k] if j in self.curved)]
            if ready:
                for k in ready:
                    self.decided[k] = self._law(k).value_at(self.sum_of(self.rows[k]))
            else:
                ready = [self._tear(waiting)]
            waiting = [k for k in waiting if k not in ready]
        return self.decided, self.unknowns, [self._residual(k) for k in self.torn]

    def _known_at_once(self, k: int) -> bool:
        """A storage given by its output, or a law used backwards, whose argument is an unknown from the start."""
        port = self.ports[k]
        if isinstance(port.law, StorageLaw):
            assert port.law.output is not None
            self.decided[k] = port.law.output.substitute({"@": symbol(port.state)})
            return True
        if self.causal.decides[k] == self._law(k).side:
            return False
        name = port.variable(self.causal.decides[k])
        self.unknowns.append(name)
        self.torn.append(k)
        self.decided[k] = symbol(name)
        return True

    def _tear(self, waiting: list[int]) -> int:
        """Make the argument of one law an unknown: the law that most others wait for."""
        wanted = {k: sum(k in self.rows[j] for j in waiting) for k in waiting}
        k = max(waiting, key=lambda j: (wanted[j], -j))
        name = self.ports[k].variable(self.causal.follows(k))
        self.unknowns.append(name)
        self.torn.append(k)
        self.decided[k] = self._law(k).value_at(symbol(name))
        return k

    def _residual(self, k: int) -> Expression:
        """Zero when the unknown agrees with what the network tells."""
        law, told = self._law(k), self.sum_of(self.rows[k])
        name = self.unknowns[self.torn.index(k)]
        if self.causal.decides[k] == law.side:
            return symbol(name) - told
        return law.value_at(symbol(name)) - told

    def argument_of(self, k: int) -> Expression:
        """The argument of a nonlinear law: an unknown where it was torn or used backwards, else what the port is told."""
        if k in self.torn:
            return symbol(self.unknowns[self.torn.index(k)])
        return self.sum_of(self.rows[k])

    def sum_of(self, row: Row) -> Expression:
        """A told variable, with the decided variables of nonlinear ports replaced."""
        return total(
            gain.expression * (self.decided[j] if j in self.decided else self._variable(j)) for j, gain in row.items()
        )

    def _variable(self, j: int) -> Expression:
        port = self.ports[j]
        return symbol(port.law.input if isinstance(port.law, SourceLaw) else port.state)

    def _law(self, k: int) -> ResistiveLaw:
        law = self.ports[k].law
        assert isinstance(law, ResistiveLaw), "only resistive laws are put in order"
        return law
