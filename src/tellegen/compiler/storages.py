"""Storages: what those that depend on others decide, and the equations of those that have a state.

Both take rates along the motion: the derivative by time of variables of a program, as further steps. Differentiating a template
differentiates every member of its group; sparse rows with constant gains hold for rates as they are.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, final

from tellegen.compiler import rules
from tellegen.compiler.scheduling import ScheduledItem
from tellegen.compiler.steps import (
    BALANCE,
    RATE_BALANCE,
    SCALED,
    LawGroup,
    LinearRows,
    Lookup,
    Slots,
    Step,
    TemplateInstance,
    Variables,
    derived_template,
    slot,
    variable,
)
from tellegen.core.names import listing
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.graph import Port, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, argument

if TYPE_CHECKING:
    from tellegen.compiler.builder import Builder


@final
@dataclass(frozen=True)
class LeafRates:
    """The rates of variables given from outside: `of` a leaf gives its rate, None for a constant.

    `refuse` is called with a variable that has no rate where one is needed.
    """

    of: Callable[[int], int | None]
    refuse: Callable[[int], Exception]
    time: int
    one: int


@final
class TimeDerivatives:
    """Appends to `steps` what the rates of variables need; each is computed once."""

    def __init__(self, steps: list[Step], variables: Variables, leaves: LeafRates) -> None:
        self.steps = steps
        self.variables = variables
        self.leaves = leaves
        self.found: dict[int, int | None] = {leaves.time: leaves.one}
        self._defined: dict[int, tuple[int, int]] = {}
        self._seen = 0

    def of(self, targets: Iterable[int]) -> dict[int, int | None]:
        """The variables that hold the rates of `targets`; None where the rate is zero."""
        asked = list(targets)
        self._index()
        reached = self._reached(asked)
        # Neighbours of one step with the same moving arguments share a template, so that groups stay groups.
        last: tuple[int, tuple[int, ...]] | None = None
        group: LawGroup | None = None
        rows = LinearRows()
        for s, r, k in sorted((*self._defined[k], k) for k in reached if k in self._defined):
            step = self.steps[s]
            if isinstance(step, LinearRows):
                # Gains of sums do not move, so the rate of a sum is the sum of the rates.
                terms = [(rate, gain) for v, gain in step.entries(r) if (rate := self._rate(v)) is not None]
                if terms:
                    rows.add(self._new(k), terms)
                else:
                    self.found[k] = None
                continue
            if rows.targets:
                self.steps.append(rows)
                rows = LinearRows()
            if isinstance(step, Lookup):
                self._reading(step, k)
                continue
            moving = tuple(j for j, column in enumerate(step.arguments) if self._rate(column[r]) is not None)
            if not moving:
                self.found[k] = None
                continue
            slots = derived_template(step.template, len(step.arguments), moving)
            if group is None or last != (s, moving):
                group = LawGroup(slots.template, [], [[] for _ in slots.arguments], [[] for _ in slots.coefficients])
                self.steps.append(group)
                last = (s, moving)
            self._fill(group, step, r, slots, moving)
            group.targets.append(self._new(k))
        if rows.targets:
            self.steps.append(rows)
        return {k: self._rate(k) for k in asked}

    def _fill(self, group: LawGroup, step: LawGroup, r: int, slots: Slots, moving: tuple[int, ...]) -> None:
        count = len(step.arguments)
        for column, old in zip(group.arguments, slots.arguments, strict=True):
            if old < count:
                column.append(step.arguments[old][r])
            else:
                rate = self._rate(step.arguments[moving[old - count]][r])
                assert rate is not None, "only arguments with a rate have a slot for it"
                column.append(rate)
        for formulas, old in zip(group.coefficients, slots.coefficients, strict=True):
            formulas.append(step.coefficients[old][r])

    def _reading(self, step: Lookup, k: int) -> None:
        # Nobody knows the rate of a function of the host, or of what is read from the past.
        if step.kind != "table":
            raise self.leaves.refuse(k)
        rate = self._rate(step.arguments[0])
        if rate is None:
            self.found[k] = None
            return
        slope = self.variables.new(f"slope of {self.variables.names[k]}")
        self.steps.append(Lookup("slope", step.number, slope, step.arguments))
        self.steps.append(LawGroup(slot(0) * slot(1), [self._new(k)], [[slope], [rate]], []))

    def _new(self, k: int) -> int:
        rate = self.found[k] = self.variables.new(f"{self.variables.names[k]}'")
        return rate

    def _rate(self, k: int) -> int | None:
        if k not in self.found:
            self.found[k] = self.leaves.of(k)
        return self.found[k]

    def _index(self) -> None:
        """Where each variable is computed, for the steps not looked at yet."""
        # Steps are only ever appended, rates among them: each is looked at once.
        for s in range(self._seen, len(self.steps)):
            self._defined.update((k, (s, r)) for r, k in enumerate(self.steps[s].targets))
        self._seen = len(self.steps)

    def _reached(self, targets: Iterable[int]) -> set[int]:
        reached: set[int] = set()
        stack = list(targets)
        while stack:
            k = stack.pop()
            if k in reached or k in self.found:
                continue
            reached.add(k)
            if k in self._defined:
                s, r = self._defined[k]
                stack.extend(self.steps[s].reads(r))
        return reached


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
        # All contents first, then all rates: each rate may need that of another.
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
            # Those with a plain equation need no rate of anything else.
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
        slots = {ARGUMENT: content.at, RATE: rate, TOLD: self.builder.input_of(k)}
        balance = content.factor * symbol(RATE) - symbol(TOLD)
        return self.builder.filled(balance, slots, self.builder.graph.ports[k])

    def _plain(self, k: int, state: int) -> TemplateInstance | None:
        """The equation of a storage whose energy variable is its state, or a constant times its state."""
        builder = self.builder
        port, arguments = builder.graph.ports[k], (builder.variables.rate_of[state], builder.input_of(k))
        law = _law(port)
        if law.keeps_energy_variable:
            return TemplateInstance(RATE_BALANCE, arguments, ())
        # A field couples outputs, and an inertia that moves has a rate of its own: both need the rate of the content.
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
        # x = g(q), so the rate of q is that of x over g'(q).
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
            # Displacements and integrals of signals: their rates are formulas, exact where yp is only what a solver
            # makes of it.
            for known in (builder.rate_items, builder.signals.rates):
                if k in known and known[k] in builder.scheduler.known:
                    return known[k]
            if k in builder.variables.rate_of and k not in builder.loops.unknowns:
                return builder.variables.rate_of[k]
            # Inputs that no signal drives and what is sampled stand still between events.
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
