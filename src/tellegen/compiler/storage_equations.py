"""Storages: what those that depend on others decide, and the equations of those that have a state."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, final

from tellegen.compiler import rules
from tellegen.compiler.scheduling import ScheduledItem
from tellegen.compiler.steps import BALANCE, RATE_BALANCE, SCALED, TemplateInstance, variable
from tellegen.compiler.time_derivatives import LeafRates, TimeDerivatives
from tellegen.core.names import listing
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.graph import Port, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, argument

if TYPE_CHECKING:
    from tellegen.compiler.builder import Builder


RATE, TOLD = "@rate", "@told"
"""Stand for the rate of a storage and for what it is told; no user can write them."""


class _Content(NamedTuple):
    """The rate of an energy variable is `factor` times the rate of variable `of`; ARGUMENT in it stands for variable `at`."""

    of: int
    factor: Expression
    at: int


@final
class StorageEquations:
    """The rate of the energy variable of a storage is what its port takes, whether the storage has a state or follows others."""

    def __init__(self, builder: "Builder") -> None:
        self.builder = builder
        self.rates = TimeDerivatives(builder.scheduler.steps, builder.variables, self._leaves())

    def follow(self, dependent: list[int]) -> None:
        """What dependent storages decide: the rate of their content, which follows from the rate of their output."""
        builder = self.builder
        contents = [self._content(k) for k in dependent]
        found = self._rates(contents)
        for k, content, rate in zip(dependent, contents, found, strict=True):
            if rate is None:
                how = TemplateInstance(ZERO, (), ())
            elif builder.moves(content.factor) or ARGUMENT in content.factor.free_symbols:
                slots = {ARGUMENT: content.at, RATE: rate}
                how = builder.filled(content.factor * symbol(RATE), slots, builder.graph.ports[k])
            else:
                how = TemplateInstance(SCALED, (rate,), (content.factor,))
            builder.scheduler.add(ScheduledItem(builder.decided(k), how))
        builder.scheduler.settle()

    def residuals(self) -> list[int]:
        """The variables of F that belong to the states."""
        builder = self.builder
        found = {}
        moving = []
        for k, state in zip(builder.causal.integral, builder.states, strict=True):
            how = self._plain(k, state)
            if how is None:
                moving.append((k, state, self._content(k)))
            else:
                found[state] = builder.residual(state, how)
        rates = self._rates([content for _, _, content in moving])
        for (k, state, content), rate in zip(moving, rates, strict=True):
            assert rate is not None, "the content of a storage in integral causality moves with its state"
            how = self._taken(k, content, rate)
            found[state] = builder.residual(state, how)
        return [found[state] for state in builder.states]

    def _taken(self, k: int, content: _Content, rate: int) -> TemplateInstance:
        """The rate of the energy variable of a storage less what its port is told."""
        slots = {ARGUMENT: content.at, RATE: rate, TOLD: self.builder.told(k)}
        balance = content.factor * symbol(RATE) - symbol(TOLD)
        return self.builder.filled(balance, slots, self.builder.graph.ports[k])

    def _plain(self, k: int, state: int) -> TemplateInstance | None:
        """The equation of a storage whose energy variable is its state, or a constant times its state."""
        builder = self.builder
        port, arguments = builder.graph.ports[k], (builder.variables.rate_of[state], builder.told(k))
        law = _law(port)
        if law.keeps_energy_variable:
            return TemplateInstance(RATE_BALANCE, arguments, ())
        if law.inertia is None or k in builder.field_rows or builder.moves(law.inertia):
            return None
        builder.refuse_unknown(law.inertia, port)
        return TemplateInstance(BALANCE, arguments, (law.inertia,))

    # -- content ---------------------------------------------------------------------------------------------------------------

    def _content(self, k: int) -> _Content:
        """What the rate of the energy variable of a storage follows from."""
        builder = self.builder
        port, out = builder.graph.ports[k], builder.output(k)
        law = _law(port)
        if k in builder.field_rows:
            terms = [entry * variable(builder.output(j)) for j, entry in builder.field_rows[k]]
            return self._new(port, total(terms))
        if law.output is not None:
            return self._inverse(port, law.output, out)
        if law.inertia is not None and builder.moves(law.inertia):
            return self._new(port, law.inertia * variable(out))
        if law.content is not None and builder.moves(law.content):
            return self._new(port, law.content.substitute({ARGUMENT: variable(out)}))
        factor = _inertia(law)
        if law.inertia is not None:
            builder.refuse_unknown(factor, port)
        return _Content(out, factor, out)

    def _new(self, port: Port, expression: Expression) -> _Content:
        content = self.builder.variables.new(f"content of {port.element}")
        self.builder.compute(content, expression, port)
        return _Content(content, ONE, content)

    def _inverse(self, port: Port, law: Expression, out: int) -> _Content:
        """A dependent storage whose law gives its output: its energy variable is an unknown.

        Raises: CompilerError for a port of a field, whose output moves with the energy variables of the others.
        """
        states = {other.state for other in self.builder.graph.ports if other is not port and other.state}
        if others := sorted(states & law.free_symbols):
            raise rules.FIELD_FOLLOWS.error(
                f"'{port.element}' follows others, but its law reads {listing(others)}",
                where=port.element,
                fix="put a small inertia or compliance between the port and what decides it",
                place=port.place,
            )
        content = self.builder.variables.named(port.state)
        self.builder.loops.add(content, self.builder.filled(law, {ARGUMENT: content}, port), out)
        return _Content(out, 1 / law.derivative(ARGUMENT), content)

    # -- rates -----------------------------------------------------------------------------------------------------------------

    def _rates(self, contents: Iterable[_Content]) -> list[int | None]:
        numbers = [content.of for content in contents]
        self.builder.scheduler.settle()
        found = self.rates.of(numbers)
        self.builder.scheduler.give(*(rate for rate in found.values() if rate is not None))
        return [found[k] for k in numbers]

    def rates_of(self, numbers: list[int]) -> list[int | None]:
        """The variables of the rates of others; None for a rate of zero."""
        return self._rates([_Content(k, ONE, k) for k in numbers])

    def _leaves(self) -> LeafRates:
        builder = self.builder
        constant = {*builder.inputs, *builder.signals.memory}

        def rate(k: int) -> int | None:
            for known in (builder.rate_items, builder.signals.rates):
                if k in known and known[k] in builder.scheduler.known:
                    return known[k]
            if k in builder.variables.rate_of and k not in builder.loops.unknowns:
                return builder.variables.rate_of[k]
            if k in constant:
                return None
            raise self._no_rate(k)

        return LeafRates(rate, self._no_rate, builder.time, builder.one)

    def _no_rate(self, k: int) -> Exception:
        graph = self.builder.graph
        names = [graph.ports[j].element for j in self.builder.causal.derivative]
        return rules.NO_RATE.error(
            f"the rate of '{self.builder.variables.names[k]}' is needed by {listing(names)}, and it has none",
            where=graph.name,
            fix="put a resistance or an inertia between the source and the storage, or drive the source smoothly",
        )


@cache
def _inertia(law: StorageLaw) -> Expression:
    """The derivative of the energy variable by the output, in terms of ARGUMENT."""
    return law.inertia_at(argument())


def _law(port: Port) -> StorageLaw:
    assert isinstance(port.law, StorageLaw), f"'{port.element}' stores nothing"
    return port.law
