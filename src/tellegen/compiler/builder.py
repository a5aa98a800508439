"""From a causal graph to its program: variables are numbered, ports, resistive fields and signals become items."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, final

from tellegen.causality import CausalGraph
from tellegen.compiler import rules
from tellegen.compiler.algebraic_loops import AlgebraicLoops
from tellegen.compiler.observation import Observation
from tellegen.compiler.program import Program
from tellegen.compiler.scheduling import ScheduledItem, Scheduler, solve_interconnection
from tellegen.compiler.steps import (
    DIVIDED,
    NEGATIVE,
    RATE_BALANCE,
    SCALED,
    Lookup,
    TemplateInstance,
    Variables,
    template_instance_of,
    variable,
)
from tellegen.compiler.storage_equations import StorageEquations
from tellegen.core.domains import other_side
from tellegen.core.names import TIME, listing
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries
from tellegen.graph import Field, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import column
from tellegen.graph.power_graph import ARGUMENT, argument
from tellegen.graph.signals import Break, Delayed, External, Integral, Sampled, SignalLaw, Table, Value


def resistive_rows(
    causal: CausalGraph, coupled: Field, formulas: MutableMapping[str, Expression]
) -> dict[int, Mapping[int, Expression]]:
    """For each port of a field the gains from what ports are told to what it decides; long gains get names in `formulas`.

    The field gives the variables of its laws by the others; ports used backwards turn the matrix round.
    """
    graph = causal.graph
    taken = {name for port in graph.ports for name in (port.across, port.through, port.state)}
    field = NamedEntries(graph.parameters, (*taken, *graph.moving, *formulas), prefix=f"r_{coupled.ports[0]}")
    rows: list[dict[int, Entry]] = []
    for k, row in zip(coupled.ports, coupled.matrix, strict=True):
        entries = {column(k, graph.ports[k].law.side): field.entry(ONE)}
        for j, e in zip(coupled.ports, row, strict=True):
            if e is not ZERO:
                entries[column(j, other_side(graph.ports[j].law.side))] = field.entry(-e)
        rows.append(entries)
    elimination: Elimination[Entry] = Elimination(rows, field)
    decided = {column(k, causal.decides[k]): k for k in coupled.ports}
    elimination.eliminate_all(decided)
    found = elimination.express(decided)
    formulas.update(field.where)
    return {k: {c // 2: e.expression for c, e in found[c_k].items()} for c_k, k in decided.items()}


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
class ProgramSignals:
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
                builder.scheduler.add(ScheduledItem(k, Lookup("table", len(self.tables) - 1, k, [argument])))
            case External():
                self.externals.append(law)
                arguments = [self._argument(e, law.name, builder) for e in law.arguments]
                builder.scheduler.add(ScheduledItem(k, Lookup("external", len(self.externals) - 1, k, arguments)))

    def _add_delayed(self, law: Delayed, k: int, builder: AbstractBuilder) -> None:
        source = builder.variables.new(f"before the delay of {law.name}")
        builder.compute(source, law.expression)
        self.delays.append((law, source))
        then = self._argument(symbol(TIME) - law.by, law.name, builder)
        initial = self._argument(law.initial, law.name, builder)
        builder.scheduler.add(ScheduledItem(k, Lookup("past", len(self.delays) - 1, k, [then, initial])))

    def _argument(self, expression: Expression, name: str, builder: AbstractBuilder) -> int:
        argument = builder.variables.new(f"argument of {name}")
        builder.compute(argument, expression)
        return argument


def add_signals(graph: PowerGraph, variables: Variables) -> ProgramSignals:
    """Number the signals of a graph."""
    signals = ProgramSignals(graph.signals)
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


def build_program(causal: CausalGraph, *, cut: bool = False) -> Program:
    """The program of a causal graph. With `cut`, sums that others read are unknowns, so that every equation is short.

    Raises: CompilerError when a formula reads a name that has no value, or a storage follows an input without a rate.
    """
    return Builder(causal).program(cut)


@final
class Builder:
    """Numbers the variables of a model, makes its items, and lets the scheduler order them."""

    def __init__(self, causal: CausalGraph) -> None:
        self.causal = causal
        self.graph = causal.graph
        self.variables = Variables()
        self.wiring = solve_interconnection(causal)
        self.states: list[int] = []
        self.inputs: list[int] = []
        self.time = self.variables.named(TIME)
        self.one = self.variables.new("1")
        self.columns = self._columns()
        self.displacements = [self.variables.moving(name) for name in self.graph.displacements]
        self.scheduler = Scheduler(self.wiring, self.columns, self.variables)
        self.rate_items: dict[int, int] = {}
        self._templates: dict[tuple[Expression, tuple[str, ...]], TemplateInstance] = {}
        self.formulas = {name: e for name, e in self.graph.parameters.items() if e is not None and e.free_symbols}
        self.signals = add_signals(self.graph, self.variables)
        self._name_ports()
        self.field_rows = {
            k: list(zip(coupled.ports, row, strict=True))
            for coupled in self.graph.fields
            if coupled.energy is None and not coupled.by_laws  # else the laws of the ports say it all
            for k, row in zip(coupled.ports, coupled.matrix, strict=True)
        }
        self.loops = AlgebraicLoops(self)
        self.storages = StorageEquations(self)

    # -- variables -------------------------------------------------------------------------------------------------------------

    def _columns(self) -> list[int]:
        """The variable of each column; what a storage decides is its state, what a source decides its input."""
        new, ports = self.variables.new, self.graph.ports
        columns: list[int] = []
        for k, port in enumerate(ports):
            for side in ("across", "through"):
                decided = self.causal.decides[k] == side
                law = port.law
                if decided and isinstance(law, StorageLaw) and law.side == side and not law.keeps_energy_variable:
                    columns.append(self.variables.moving(port.state))
                    self.states.append(columns[-1])
                elif decided and isinstance(law, SourceLaw) and law.signal is None:
                    columns.append(new(law.input))
                    self.inputs.append(columns[-1])
                else:
                    columns.append(new(port.across if side == "across" else port.through))
                    if decided and isinstance(law, StorageLaw) and law.side == side:
                        self.states.append(self.variables.moving(port.state))
        nodes = [node.name for node in self.graph.nodes if not node.reference]
        columns += [new(f"potential of {name}") for name in nodes]
        columns += [new("through a coupling") for _ in range(self.wiring.columns - len(columns))]
        return columns

    def _name_ports(self) -> None:
        """Names of power variables; that of the conjugate of a source counts as its output, supplied power being positive."""
        for k, port in enumerate(self.graph.ports):
            self.variables.also(port.across, self.columns[2 * k])
            self.variables.also(port.through, self.columns[2 * k + 1])
        self.outputs: dict[int, int] = {}
        for k in self.causal.sources:
            port = self.graph.ports[k]
            name = port.variable(self.causal.follows(k))
            self.outputs[k] = self.variables.named(name)

    def told(self, k: int) -> int:
        """The variable that port k is told."""
        return self.columns[column(k, self.causal.follows(k))]

    def decided(self, k: int) -> int:
        """The variable that port k decides."""
        return self.columns[column(k, self.causal.decides[k])]

    def output(self, k: int) -> int:
        """The variable of the output of a storage, whoever decides it."""
        return self.columns[column(k, self.graph.ports[k].law.side)]

    def filled(self, expression: Expression, slots: Mapping[str, int], where: Port | None = None) -> TemplateInstance:
        """The template of a formula over names of the model and of `slots`, which stand for the variables given there.

        Elements with one law differ in their slots only, so each law is taken apart once.
        """
        order = tuple(slots)
        known = self._templates.get((expression, order))
        if known is None:
            own = {name: variable(-1 - k) for k, name in enumerate(order)}
            known = self._templates[expression, order] = self.instance(expression.substitute(own), where)
        numbers = tuple(slots.values())
        return replace(known, arguments=tuple([k if k >= 0 else numbers[-1 - k] for k in known.arguments]))

    def instance(self, expression: Expression, where: Port | None = None) -> TemplateInstance:
        """The template of a formula over names of the model."""
        for name in expression.free_symbols:
            if self.variables.number(name) is None and name not in self.graph.parameters and name not in self.formulas:
                raise rules.UNKNOWN_NAME.error(
                    f"'{name}' has no value while the model runs",
                    where=where.element if where is not None else self.graph.name,
                    fix="use parameters, states, displacements, signals or power variables",
                    place=where.place if where is not None else None,
                )
        return template_instance_of(expression, self.variables.number)

    def moves(self, expression: Expression) -> bool:
        """Whether an expression holds variables."""
        return bool(self.variables.numbers(expression.free_symbols))

    def compute(self, target: int, expression: Expression, where: Port | None = None) -> None:
        """An item given by a formula."""
        self.scheduler.add(ScheduledItem(target, self.instance(expression, where)))

    # -- the whole -------------------------------------------------------------------------------------------------------------

    def program(self, cut: bool = False) -> Program:
        """Order everything, then write residuals and observables."""
        scheduler = self.scheduler
        rate_of = self.variables.rate_of
        leaves = (*self.states, *self.inputs, *self.displacements, *self.signals.states, *self.signals.memory)
        scheduler.give(self.time, *leaves, *(rate_of[k] for k in leaves if k in rate_of))
        scheduler.add(ScheduledItem(self.one, TemplateInstance(ONE, (), ())))
        self._add_definitions()
        for k, port in enumerate(self.graph.ports):
            self._add_port(k, port)
        self._add_resistive_fields()
        self.signals.add_items(self)
        self._add_displacements()
        for k, output in self.outputs.items():
            scheduler.add(ScheduledItem(output, TemplateInstance(NEGATIVE, (self.told(k),), ())))
        dependent = self.causal.derivative
        if cut:
            self.loops.cut(dependent)
        scheduler.want(self.told(k) for k in dependent)
        self._settle(dependent)
        residuals = [*self.storages.residuals(), *self._rate_residuals(), *self.loops.residuals()]
        scheduler.settle()
        return Observation(self, residuals).program()

    def _rate_residuals(self) -> Iterator[int]:
        rates = {**self.rate_items, **self.signals.rates}
        for k in (*self.displacements, *self.signals.states):
            yield self.residual(k, TemplateInstance(RATE_BALANCE, (self.variables.rate_of[k], rates[k]), ()))

    def residual(self, k: int, how: TemplateInstance) -> int:
        """The variable of F that belongs to variable k of y."""
        residual = self.variables.new(f"residual of {self.variables.names[k]}")
        self.scheduler.add(ScheduledItem(residual, how))
        return residual

    def _settle(self, dependent: list[int]) -> None:
        """Alternate between what can be computed, dependent storages, and unknowns, until nothing waits."""
        pending = list(dependent)
        while True:
            self.scheduler.settle()
            if self.scheduler.waiting and self.loops.tear():
                continue
            if not pending and not self.scheduler.waiting:
                return
            if not pending or any(self.told(k) not in self.scheduler.known for k in pending):
                waiting = [self.variables.names[k] for k in self.scheduler.waiting]
                names = listing([*waiting, *(self.graph.ports[k].element for k in pending)])
                raise rules.INDETERMINATE.error(f"nothing decides {names}", where=self.graph.name)
            # After the loops, so that what they ask of the interconnection is computed before rates come into it.
            self.storages.follow(pending)
            pending = []

    def _add_definitions(self) -> None:
        """Names that elimination gave, and parameters that move: formulas where they hold variables, else parameters."""
        given = {**self.graph.moving, **self.wiring.where}
        for name, expression in given.items():
            if self._moves(name, given):
                self.variables.named(name)
            else:
                self.formulas[name] = expression
        for name, expression in given.items():
            if (k := self.variables.number(name)) is not None:
                self.compute(k, expression)

    def _moves(self, name: str, given: Mapping[str, Expression]) -> bool:
        stack, seen = [name], set()
        while stack:
            for inner in given[stack.pop()].free_symbols:
                if self.variables.number(inner) is not None:
                    return True
                if inner in given and inner not in seen:
                    seen.add(inner)
                    stack.append(inner)
        return False

    def _add_displacements(self) -> None:
        for k, rate in zip(self.displacements, self.graph.displacements.values(), strict=True):
            self.rate_items[k] = self.variables.new(f"rate of {self.variables.names[k]}")
            self.compute(self.rate_items[k], rate)

    # -- ports -----------------------------------------------------------------------------------------------------------------

    def _add_port(self, k: int, port: Port) -> None:
        law = port.law
        if isinstance(law, SourceLaw):
            if law.signal is not None:
                self.compute(self.decided(k), law.signal, port)
        elif isinstance(law, ResistiveLaw):
            if k not in self.field_rows:
                self._add_resistive(k, port, law)
        elif law.output is not None and self.causal.decides[k] == law.side:
            state = self.variables.number(port.state)
            assert state is not None, "the energy variable of a storage is a state"
            self.scheduler.add(ScheduledItem(self.decided(k), self.filled(law.output, {ARGUMENT: state}, port)))

    def _add_resistive(self, k: int, port: Port, law: ResistiveLaw) -> None:
        told, decided = self.told(k), self.decided(k)
        forward = self.causal.decides[k] == law.side
        constant = law.coefficient is not None and not self.moves(law.coefficient)
        if law.coefficient is ZERO and forward:  # a switch: whatever it is told, it decides zero
            self.scheduler.add(ScheduledItem(decided, TemplateInstance(ZERO, (), ())))
            self.scheduler.zeros.add(decided)
        elif constant and law.coefficient is not None:
            self.refuse_unknown(law.coefficient, port)
            template = SCALED if forward else DIVIDED
            self.scheduler.add(ScheduledItem(decided, TemplateInstance(template, (told,), (law.coefficient,)), told))
        elif forward:
            how = self.filled(law.value_at(argument()), {ARGUMENT: told}, port)
            self.scheduler.add(ScheduledItem(decided, how, told))
        elif law.coefficient is not None:
            self.compute(decided, variable(told) / law.coefficient, port)
        else:  # a nonlinear law used backwards: its argument is an unknown from the start
            self.loops.add(decided, self.filled(law.value_at(argument()), {ARGUMENT: decided}, port), told)

    def state_told_to(self, k: int) -> str:
        """The name of the state that is the output of source k, or an empty text."""
        return self._state_of_residue.get(self.scheduler.told_residue(column(k, self.causal.follows(k))), "")

    @cached_property
    def _state_of_residue(self) -> dict[int, str]:
        found = {}
        for j, state in zip(self.causal.integral, self.states, strict=True):
            law = self.graph.ports[j].law
            if isinstance(law, StorageLaw) and not law.keeps_energy_variable:
                found[self.scheduler.decided_residue(column(j, self.causal.decides[j]))] = self.variables.names[state]
        return found

    def refuse_unknown(self, expression: Expression, port: Port) -> None:
        """Raises: CompilerError when a formula of parameters holds a name that is none."""
        if not expression.free_symbols <= self.graph.parameters.keys():
            self.instance(expression, port)

    def _add_resistive_fields(self) -> None:
        for coupled in self.graph.fields:
            if isinstance(self.graph.ports[coupled.ports[0]].law, ResistiveLaw) and not coupled.by_laws:
                for k, row in resistive_rows(self.causal, coupled, self.formulas).items():
                    terms = [gain * variable(self.told(j)) for j, gain in row.items()]
                    self.compute(self.decided(k), total(terms), self.graph.ports[k])
