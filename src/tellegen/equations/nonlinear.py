"""Nonlinear static laws in an order of evaluation."""

from collections.abc import Mapping

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS, other_side
from tellegen.expressions import Expression, symbol, total
from tellegen.expressions.entries import Entry
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.laws import ARGUMENT

Row = dict[int, Entry]
"""A told variable as a sum of entries times what ports decide."""


class Nonlinear:
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
        waiting = [k for k in self.curved if not self._known_at_once(k)]
        while waiting:
            ready = [k for k in waiting if all(self._is_told(j) for j in (k, *self.together.get(k, ())))]
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

    def _is_told(self, k: int) -> bool:
        """Whether the argument of a law is known."""
        return k in self.torn or all(j in self.decided for j in self.rows[k] if j in self.curved)

    def _value(self, k: int) -> Expression:
        """What a law gives, once all that it reads is known."""
        others = {self._argument_name(j): self._argument(j) for j in self.together.get(k, ())}
        found = self._law(k).value_at(self._argument(k))
        return found.substitute(others) if others else found

    def _argument_name(self, k: int) -> str:
        return self.ports[k].variable(other_side(self._law(k).side))

    def residuals(self) -> list[Expression]:
        """One for each unknown."""
        return [self._residual(k) for k in self.torn]

    def powers(self) -> list[Expression]:
        """The power that each nonlinear resistive port takes."""
        ports = [k for k in self.curved if isinstance(self.ports[k].law, ResistiveLaw)]
        ports = [k for k in ports if not DOMAINS[self.ports[k].domain].heat_books]
        return [self._value(k) * self._argument(k) for k in ports]

    def _known_at_once(self, k: int) -> bool:
        """A storage given by its output, or a law used backwards, whose argument is an unknown from the start."""
        port = self.ports[k]
        if isinstance(port.law, StorageLaw):
            assert port.law.output is not None
            self.decided[k] = port.law.output.substitute({ARGUMENT: symbol(port.state)})
            return True
        if self.causal.decides[k] == self._law(k).side:
            return False
        name = port.variable(self.causal.decides[k])
        self.unknowns.append(name)
        self.torn.append(k)
        self.decided[k] = symbol(name)
        return True

    def _tear(self, waiting: list[int]) -> list[int]:
        """Make the argument of one law an unknown, the law that most others wait for; with it those of its field."""
        wanted = {k: sum(k in self.rows[j] for j in waiting) for k in waiting}
        first = max(waiting, key=lambda j: (wanted[j], -j))
        torn = [first, *(j for j in self.together.get(first, ()) if j in waiting)]
        for k in torn:
            self.unknowns.append(self.ports[k].variable(self.causal.follows(k)))
            self.torn.append(k)
        for k in torn:
            self.decided[k] = self._value(k)
        return torn

    def _residual(self, k: int) -> Expression:
        """Zero when the unknown agrees with what the network tells."""
        law, told = self._law(k), self.sum_of(self.rows[k])
        name = self.unknowns[self.torn.index(k)]
        if self.causal.decides[k] == law.side:
            return symbol(name) - told
        return self._value(k) - told

    def _argument(self, k: int) -> Expression:
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
