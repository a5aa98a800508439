"""From a causal graph to its program."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph
from tellegen.compiler import rules
from tellegen.compiler.loops import Loops
from tellegen.compiler.observing import Observation
from tellegen.compiler.program import Program
from tellegen.compiler.resistive import resistive_rows
from tellegen.compiler.scheduling import Item, Scheduler
from tellegen.compiler.signals import add_signals
from tellegen.compiler.steps import DIVIDED, NEGATIVE, RATE_BALANCE, SCALED, Instance, instance_of, variable
from tellegen.compiler.storages import Storages
from tellegen.compiler.variables import Variables
from tellegen.compiler.wiring import wire
from tellegen.core.names import listing
from tellegen.expressions import ONE, ZERO, Expression, total
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import column
from tellegen.graph.laws import ARGUMENT, argument
from tellegen.graph.signals import TIME


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
        self.wiring = wire(causal)
        self.states: list[int] = []
        self.inputs: list[int] = []
        self.time = self.variables.named(TIME)
        self.one = self.variables.new("1")
        self.columns = self._columns()
        self.displacements = [self.variables.moving(name) for name in self.graph.displacements]
        self.scheduler = Scheduler(self.wiring, self.columns, self.variables)
        self.rate_items: dict[int, int] = {}
        self._templates: dict[tuple[Expression, tuple[str, ...]], Instance] = {}
        self.formulas = {name: e for name, e in self.graph.parameters.items() if e is not None and e.free_symbols}
        self.signals = add_signals(self.graph, self.variables)
        self._name_ports()
        self.field_rows = {
            k: list(zip(coupled.ports, row, strict=True))
            for coupled in self.graph.fields
            if coupled.energy is None and not coupled.by_laws  # else the laws of the ports say it all
            for k, row in zip(coupled.ports, coupled.matrix, strict=True)
        }
        self.loops = Loops(self)
        self.storages = Storages(self)

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

    def filled(self, expression: Expression, slots: Mapping[str, int], where: Port | None = None) -> Instance:
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

    def instance(self, expression: Expression, where: Port | None = None) -> Instance:
        """The template of a formula over names of the model."""
        for name in expression.free_symbols:
            if self.variables.number(name) is None and name not in self.graph.parameters and name not in self.formulas:
                raise rules.UNKNOWN_NAME.error(
                    f"'{name}' has no value while the model runs",
                    where=where.element if where is not None else self.graph.name,
                    fix="use parameters, states, displacements, signals or power variables",
                    place=where.place if where is not None else None,
                )
        return instance_of(expression, self.variables.number)

    def moves(self, expression: Expression) -> bool:
        """Whether an expression holds variables."""
        return bool(self.variables.numbers(expression.free_symbols))

    def compute(self, target: int, expression: Expression, where: Port | None = None) -> None:
        """An item given by a formula."""
        self.scheduler.add(Item(target, self.instance(expression, where)))

    # -- the whole -------------------------------------------------------------------------------------------------------------

    def program(self, cut: bool = False) -> Program:
        """Order everything, then write residuals and observables."""
        scheduler = self.scheduler
        rate_of = self.variables.rate_of
        leaves = (*self.states, *self.inputs, *self.displacements, *self.signals.states, *self.signals.memory)
        scheduler.give(self.time, *leaves, *(rate_of[k] for k in leaves if k in rate_of))
        scheduler.add(Item(self.one, Instance(ONE, (), ())))
        self._add_definitions()
        for k, port in enumerate(self.graph.ports):
            self._add_port(k, port)
        self._add_resistive_fields()
        self.signals.add_items(self)
        self._add_displacements()
        for k, output in self.outputs.items():
            scheduler.add(Item(output, Instance(NEGATIVE, (self.told(k),), ())))
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
            yield self.residual(k, Instance(RATE_BALANCE, (self.variables.rate_of[k], rates[k]), ()))

    def residual(self, k: int, how: Instance) -> int:
        """The variable of F that belongs to variable k of y."""
        residual = self.variables.new(f"residual of {self.variables.names[k]}")
        self.scheduler.add(Item(residual, how))
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
            self.scheduler.add(Item(self.decided(k), self.filled(law.output, {ARGUMENT: state}, port)))

    def _add_resistive(self, k: int, port: Port, law: ResistiveLaw) -> None:
        told, decided = self.told(k), self.decided(k)
        forward = self.causal.decides[k] == law.side
        constant = law.coefficient is not None and not self.moves(law.coefficient)
        if law.coefficient is ZERO and forward:  # a switch: whatever it is told, it decides zero
            self.scheduler.add(Item(decided, Instance(ZERO, (), ())))
            self.scheduler.zeros.add(decided)
        elif constant and law.coefficient is not None:
            self.refuse_unknown(law.coefficient, port)
            template = SCALED if forward else DIVIDED
            self.scheduler.add(Item(decided, Instance(template, (told,), (law.coefficient,)), told))
        elif forward:
            how = self.filled(law.value_at(argument()), {ARGUMENT: told}, port)
            self.scheduler.add(Item(decided, how, told))
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
