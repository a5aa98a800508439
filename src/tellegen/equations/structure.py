"""The causal interconnection with symbols: what each port is told by what all ports decide, and with the resistive laws solved
into it, by states and inputs alone.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import final

from tellegen.causality import CausalGraph
from tellegen.causality.causal_graph import position_dependent_names, tearing_order
from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.elimination import UNWELCOME, Elimination, Entry, NamedEntries, solve
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import Interconnection, column
from tellegen.graph.power_graph import ARGUMENT


@final
@dataclass(frozen=True)
class CausalStructure:
    """For each port, the variable it is told = sum of gains * variables decided by ports. Skew: gains[i][j] = -gains[j][i]."""

    causal: CausalGraph
    gains: Mapping[int, Mapping[int, Entry]]

    def gain(self, told: int, decided: int) -> Entry | None:
        """The gain from what port `decided` decides to what port `told` is told; None for zero."""
        return self.gains[told].get(decided)


def causal_structure(causal: CausalGraph, field: NamedEntries) -> CausalStructure:
    """Solve the interconnection for the variables that ports are told."""
    interconnection = Interconnection(causal.graph)
    # Over named entries now: causality has settled which columns are told, so that this elimination only says how.
    elimination = Elimination(interconnection.rows(field.entry), field)
    told = {column(k, causal.follows(k)): k for k in range(len(causal.graph.ports))}
    # With moduli that move a pivot of least fill may vanish on the way, at a lever in a right angle. So effects are
    # followed from their causes, and only constants are divided by (decision 012).
    if position_dependent_names(causal.graph):
        unknown, constant = (*interconnection.internal, *told), causal.graph.parameters.keys()

        def steady(entry: Entry) -> bool:
            """Whether an entry does not move, and is no zero by its value."""
            return entry.expression.free_symbols <= constant and field.cost(entry) < UNWELCOME

        elimination.tear(unknown, tearing_order(causal), steady)
        left = [c for c in told if c not in elimination.pivots]
    else:
        # Node potentials and currents inside couplings have no name in the equations.
        elimination.eliminate_all(interconnection.internal)
        left = elimination.eliminate_all(told)
    assert not left, "causality has shown that every told variable is determined"
    found = elimination.express(told)
    # Free columns are those that ports decide, two columns a port.
    gains = {k: {free // 2: gain for free, gain in found[c].items()} for c, k in told.items()}
    return CausalStructure(causal, gains)


Row = dict[int, Entry]
"""A told variable as a sum of entries times what ports decide."""


class NonlinearLaws:
    """Puts nonlinear laws into an order of evaluation; a law that needs itself is torn by an unknown."""

    def __init__(self, causal: CausalGraph, curved: set[int], rows: Mapping[int, Row]) -> None:
        self.causal = causal
        self.ports = causal.graph.ports
        self.rows = rows
        self.curved = sorted(curved)
        self.decided: dict[int, Expression] = {}
        self.unknowns: list[str] = []
        self.torn: list[int] = []
        self.together = self._fields()

    def solve(self) -> None:
        """Find the decided variables of all nonlinear ports."""
        # What is left is evaluated in the order in which arguments become known.
        waiting = [k for k in self.curved if not self._known_at_once(k)]
        while waiting:
            ready = [k for k in waiting if all(self._has_known_argument(j) for j in (k, *self.together.get(k, ())))]
            if ready:
                for k in ready:
                    self.decided[k] = self._value(k)
            else:
                ready = self._tear(waiting)
            waiting = [k for k in waiting if k not in ready]

    def _fields(self) -> dict[int, list[int]]:
        """The other ports of a field whose laws read what these are told."""
        fields = [field.ports for field in self.causal.graph.fields if field.by_laws]
        return {k: [j for j in ports if j != k] for ports in fields for k in ports}

    def _has_known_argument(self, k: int) -> bool:
        """Whether the argument of a law is known."""
        return k in self.torn or all(j in self.decided for j in self.rows[k] if j in self.curved)

    def _value(self, k: int) -> Expression:
        """What a law gives, once all that it reads is known."""
        together = [(self.ports[j], j) for j in self.together.get(k, ())]
        # Laws of a field read the arguments of each other by name; here they are written in.
        others = {port.variable(other_side(port.resistive.side)): self._argument(j) for port, j in together}
        found = self.ports[k].resistive.value_at(self._argument(k))
        return found.substitute(others) if others else found

    def residuals(self) -> list[Expression]:
        """One for each unknown."""
        return [self._residual(k) for k in self.torn]

    def powers(self) -> list[Expression]:
        """The power that each nonlinear resistive port takes and does not keep."""
        kept = set(self.causal.graph.weights())
        ports = [k for k in self.curved if isinstance(self.ports[k].law, ResistiveLaw) and k not in kept]
        ports = [k for k in ports if not DOMAINS[self.ports[k].domain].heat_books]
        return [self._value(k) * self._argument(k) for k in ports]

    def _known_at_once(self, k: int) -> bool:
        """A storage given by its output, or a law used backwards, whose argument is an unknown from the start."""
        port = self.ports[k]
        if isinstance(port.law, StorageLaw):
            assert port.law.output is not None
            self.decided[k] = port.law.output.substitute({ARGUMENT: symbol(port.state)})
            return True
        if self.causal.decides[k] == self.ports[k].resistive.side:
            return False
        # Asked backwards a nonlinear law has no formula: what it decides becomes an unknown, and the law its residual.
        name = port.variable(self.causal.decides[k])
        self.unknowns.append(name)
        self.torn.append(k)
        self.decided[k] = symbol(name)
        return True

    def _tear(self, waiting: list[int]) -> list[int]:
        """Make the argument of one law an unknown, the law that most others wait for; with it those of its field."""
        # The fewest unknowns: tearing the one that most others wait for frees most of them.
        wanted = {k: sum(k in self.rows[j] for j in waiting) for k in waiting}
        first = max(waiting, key=lambda j: (wanted[j], -j))
        # Laws of a field read each other, so no one of them can be evaluated while another waits.
        torn = [first, *(j for j in self.together.get(first, ()) if j in waiting)]
        for k in torn:
            self.unknowns.append(self.ports[k].variable(self.causal.follows(k)))
            self.torn.append(k)
        for k in torn:
            self.decided[k] = self._value(k)
        return torn

    def _residual(self, k: int) -> Expression:
        """Zero when the unknown agrees with what the network tells."""
        law, told = self.ports[k].resistive, self.sum_of(self.rows[k])
        name = self.unknowns[self.torn.index(k)]
        if self.causal.decides[k] == law.side:
            return symbol(name) - told
        return self._value(k) - told

    def _argument(self, k: int) -> Expression:
        """The argument of a nonlinear law: an unknown where it was torn or used backwards, else what the port is told."""
        # The unknown stands for it until Newton's method has found the value.
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


@final
@dataclass(frozen=True)
class ResistiveSolution:
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


def solve_resistive(structure: CausalStructure, field: NamedEntries) -> ResistiveSolution:
    """Solve the linear resistive laws together, then order the nonlinear ones; what cannot be ordered becomes an unknown."""
    causal = structure.causal
    linear, curved = _split(causal)
    laws = _LinearLaws(structure, linear, field)
    # Linear laws are solved together, whatever loops they form: their equations are one linear system.
    arguments = laws.solve()
    decided = laws.decided(arguments)
    # What dependent storages decide is the rate of their content; it enters later, by the congruent transformation.
    one, following = field.entry(ONE), set(causal.derivative)
    ends = [*causal.integral, *causal.sources]
    asked = [*ends, *(k for k in curved if isinstance(causal.graph.ports[k].law, ResistiveLaw))]
    rows = {}
    for k in asked:
        gains = {j: gain for j, gain in structure.gains[k].items() if j not in following}
        rows[k] = _combined(gains, decided, field, one)
    nonlinear = NonlinearLaws(causal, curved, rows)
    nonlinear.solve()
    powers = laws.powers(arguments, nonlinear.sum_of)
    return ResistiveSolution(
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
        # Its output is a nonlinear function of its state, like a law without an argument to be told.
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
        # A port of a field has a row of a matrix where others have one coefficient.
        for coupled in self.causal.graph.fields:
            for k, row in zip(coupled.ports, coupled.matrix, strict=True):
                if k in self.laws:
                    self.laws[k] = {j: field.entry(e) for j, e in zip(coupled.ports, row, strict=True) if e is not ZERO}

    def _coefficient(self, k: int) -> Expression:
        law = self.causal.graph.ports[k].resistive
        assert law.coefficient is not None, "a linear law has a coefficient"
        return law.coefficient

    def _direct(self, k: int) -> bool:
        return self.causal.decides[k] == self.causal.graph.ports[k].law.side

    def _decides(self, k: int) -> Row:
        """What a port decides, by arguments."""
        return self.laws[k] if self._direct(k) else {k: self.one}

    def _input(self, k: int) -> Row:
        """What a port is told, by arguments."""
        return {k: self.one} if self._direct(k) else self.laws[k]

    def solve(self) -> dict[int, Row]:
        """The arguments by states, inputs and nonlinear ports."""
        count = len(self.causal.graph.ports)
        matrix: list[Row] = []
        right: list[Row] = []
        for k in self.ports:
            row, known = dict(self._input(k)), {}
            for j, gain in self.structure.gains[k].items():
                # Decided by a state, an input or a nonlinear law: known, and moved to the right side.
                if j not in self.laws:
                    known[count + j] = gain
                    continue
                for i, share in self._decides(j).items():
                    row[i] = self.field.minus_product(row.get(i), gain, share)
            # A hidden zero would be a pivot that divides by nothing.
            matrix.append({j: e for j, e in row.items() if not self.field.is_zero(e)})
            right.append(known)
        # Arguments as unknowns keep the equations polynomial: no coefficient is divided by before it is a pivot.
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
                # h^2/c with h told: over resistances the argument is a fraction, and its square over c would be one in
                # another.
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
