"""Signals as items of a program: values, integrals, sampled and delayed signals, tables, functions of the host."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, final

from tellegen.compiler.scheduling import Item, Scheduler
from tellegen.compiler.steps import Reading
from tellegen.compiler.variables import Variables
from tellegen.expressions import Expression, symbol
from tellegen.graph import PowerGraph
from tellegen.graph.signals import TIME, Break, Delayed, External, Integral, Sampled, SignalLaw, Table, Value


class AbstractBuilder(Protocol):
    """What signals need of whoever builds the program."""

    scheduler: Scheduler
    variables: Variables

    @property
    def compute(self) -> Callable[[int, Expression], None]:
        """Add an item given by a formula."""
        ...


@final
@dataclass
class Signals:
    """The variables of signals. `rates` gives the variable of the rate of each signal state."""

    laws: tuple[SignalLaw, ...]
    numbers: dict[str, int] = field(default_factory=dict)
    states: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    rates: dict[int, int] = field(default_factory=dict)
    samples: list[tuple[Sampled, int]] = field(default_factory=list)
    delays: list[tuple[Delayed, int]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    externals: list[External] = field(default_factory=list)
    breaks: list[Break] = field(default_factory=list)

    def add_items(self, builder: AbstractBuilder) -> None:
        """Add what each signal computes to the scheduler."""
        for law in self.laws:
            self._add(law, self.numbers[law.name], builder)

    def _add(self, law: SignalLaw, k: int, builder: AbstractBuilder) -> None:
        new = builder.variables.new
        match law:
            case Value():
                builder.compute(k, law.expression)
                self.breaks.extend(law.breaks)
            case Integral():
                self.rates[k] = new(f"rate of {law.name}")
                builder.compute(self.rates[k], law.rate)
            case Sampled():
                after = new(f"next {law.name}")
                builder.compute(after, law.expression)
                self.samples.append((law, after))
            case Delayed():
                self._add_delayed(law, k, builder)
            case Table():
                self.tables.append(law)
                argument = self._argument(law.argument, law.name, builder)
                builder.scheduler.add(Item(k, Reading("table", len(self.tables) - 1, k, [argument])))
            case External():
                self.externals.append(law)
                arguments = [self._argument(e, law.name, builder) for e in law.arguments]
                builder.scheduler.add(Item(k, Reading("external", len(self.externals) - 1, k, arguments)))

    def _add_delayed(self, law: Delayed, k: int, builder: AbstractBuilder) -> None:
        source = builder.variables.new(f"before the delay of {law.name}")
        builder.compute(source, law.expression)
        self.delays.append((law, source))
        then = self._argument(symbol(TIME) - law.by, law.name, builder)
        initial = self._argument(law.initial, law.name, builder)
        builder.scheduler.add(Item(k, Reading("past", len(self.delays) - 1, k, [then, initial])))

    def _argument(self, expression: Expression, name: str, builder: AbstractBuilder) -> int:
        argument = builder.variables.new(f"argument of {name}")
        builder.compute(argument, expression)
        return argument


def add_signals(graph: PowerGraph, variables: Variables) -> Signals:
    """Number the signals of a graph."""
    signals = Signals(graph.signals)
    for law in graph.signals:
        if isinstance(law, Integral):
            k = variables.moving(law.name)
            signals.states.append(k)
        else:
            k = variables.named(law.name)
            if isinstance(law, Sampled):
                signals.memory.append(k)
        signals.numbers[law.name] = k
    return signals
