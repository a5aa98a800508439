"""From a causal graph to its program: variables are numbered, ports, resistive fields and signals become items.

In loops without a state a few items become unknowns, and each unknown brings a residual.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from functools import cached_property
from typing import final

from tellegen.causality import CausalGraph
from tellegen.compiler import rules, steps
from tellegen.compiler.observation import Observation
from tellegen.compiler.program import Program, ProgramSignals
from tellegen.compiler.scheduling import ScheduledItem, Scheduler, solve_interconnection
from tellegen.compiler.storages import StorageEquations
from tellegen.core.domains import other_side
from tellegen.core.names import TIME, listing
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.expressions.elimination import Elimination, Entry, NamedEntries
from tellegen.graph import Field, Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.interconnection import column
from tellegen.graph.power_graph import ARGUMENT, argument
from tellegen.graph.signals import (
    Delayed,
    External,
    Integral,
    Sampled,
    SignalLaw,
    Table,
    Value,
    breaks_of,
    breaks_of_table,
    courses_of,
    crossings_of,
)


def resistive_rows(
    causal: CausalGraph, coupled: Field, formulas: MutableMapping[str, Expression]
) -> dict[int, Mapping[int, Expression]]:
    """For each column that a field gives the gains from the others; long gains get names in `formulas`.

    The field gives the variables of its laws by the others; ports used backwards turn the matrix round. Where the matrix has no
    such inverse, the field gives what some ports are told instead, by what they decide.
    """
    graph = causal.graph
    taken = {name for port in graph.ports for name in (port.across, port.through, port.state)}
    field = NamedEntries(
        graph.parameters, (*taken, *graph.position_dependent, *formulas), prefix=f"r_{coupled.ports[0]}"
    )
    rows: list[dict[int, Entry]] = []
    for k, row in zip(coupled.ports, coupled.matrix, strict=True):
        # One equation of the field: its output less what the matrix gives from the conjugates is zero.
        entries = {column(k, graph.ports[k].law.side): field.entry(ONE)}
        for j, e in zip(coupled.ports, row, strict=True):
            if e is not ZERO:
                entries[column(j, other_side(graph.ports[j].law.side))] = field.entry(-e)
        rows.append(entries)
    elimination: Elimination[Entry] = Elimination(rows, field)
    # Solved for what ports decide: where causality turns some ports round, this inverts their part of the matrix.
    if elimination.eliminate_all(column(k, causal.decides[k]) for k in coupled.ports):
        # Rows are left that join what ports are told, as those of a transformer do.
        elimination.eliminate_all(column(k, causal.follows(k)) for k in coupled.ports)
    found = elimination.express(elimination.pivots)
    formulas.update(field.where)
    return {c: {other: e.expression for other, e in row.items()} for c, row in found.items()}


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
        self.variables = steps.Variables()
        self.wiring = solve_interconnection(causal)
        self.states: list[int] = []
        self.inputs: list[int] = []
        # A parameter may have the letter of time in a model that reads no time.
        self.time = self.variables.new(TIME) if TIME in self.graph.parameters else self.variables.named(TIME)
        self.one = self.variables.new("1")
        self.columns = self._columns()
        self.displacements = [self.variables.state(name) for name in self.graph.displacements]
        self.scheduler = Scheduler(self.wiring, self.columns, self.variables)
        self.rate_items: dict[int, int] = {}
        self._templates: dict[tuple[Expression, tuple[str, ...]], steps.TemplateInstance] = {}
        self.formulas = {name: e for name, e in self.graph.parameters.items() if e is not None and e.free_symbols}
        self.signals = self._number_signals()
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
                # The output is the state itself: one variable less, and no equation between the two.
                if decided and isinstance(law, StorageLaw) and law.side == side and not law.keeps_energy_variable:
                    columns.append(self.variables.state(port.state))
                    self.states.append(columns[-1])
                elif decided and isinstance(law, SourceLaw) and law.signal is None:
                    columns.append(new(law.input))
                    self.inputs.append(columns[-1])
                else:
                    columns.append(new(port.across if side == "across" else port.through))
                    # The law gives the output of the energy variable: that is the state, and the output a variable
                    # beside it.
                    if decided and isinstance(law, StorageLaw) and law.side == side:
                        self.states.append(self.variables.state(port.state))
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

    def input_of(self, k: int) -> int:
        """The variable that port k is told."""
        return self.columns[column(k, self.causal.follows(k))]

    def decided(self, k: int) -> int:
        """The variable that port k decides."""
        return self.columns[column(k, self.causal.decides[k])]

    def output(self, k: int) -> int:
        """The variable of the output of a storage, whoever decides it."""
        return self.columns[column(k, self.graph.ports[k].law.side)]

    def filled(
        self, expression: Expression, slots: Mapping[str, int], where: Port | None = None
    ) -> steps.TemplateInstance:
        """The template of a formula over names of the model and of `slots`, which stand for the variables given there.

        Elements with one law differ in their slots only, so each law is taken apart once.
        """
        order = tuple(slots)
        # Taking a formula apart is the dearest thing here, and a thousand elements share one law.
        known = self._templates.get((expression, order))
        if known is None:
            # Negative numbers stand for the slots: no variable of the model has one.
            own = {name: steps.variable(-1 - k) for k, name in enumerate(order)}
            known = self._templates[expression, order] = self.instance(expression.substitute(own), where)
        numbers = tuple(slots.values())
        return replace(known, arguments=tuple([k if k >= 0 else numbers[-1 - k] for k in known.arguments]))

    def instance(self, expression: Expression, where: Port | None = None) -> steps.TemplateInstance:
        """The template of a formula over names of the model."""
        for name in expression.free_symbols:
            # Refused here, where the element is known: in the C text it would be a name without a meaning.
            if self.variables.number(name) is None and name not in self.graph.parameters and name not in self.formulas:
                raise rules.UNKNOWN_NAME.error(
                    f"'{name}' has no value while the model runs",
                    where=where.element if where is not None else self.graph.name,
                    fix="use parameters, states, displacements, signals or power variables",
                    place=where.place if where is not None else None,
                )
        return steps.template_instance_of(expression, self.variables.number)

    def moves(self, expression: Expression) -> bool:
        """Whether an expression holds variables."""
        return bool(self.variables.numbers(expression.free_symbols))

    def compute(self, target: int, expression: Expression, where: Port | None = None) -> None:
        """An item given by a formula."""
        self.scheduler.add(ScheduledItem(target, self.instance(expression, where)))

    # -- signals ---------------------------------------------------------------------------------------------------------------

    def _number_signals(self) -> ProgramSignals:
        """Numbers for all of them before any formula is taken apart: one may read another that stands later."""
        signals = ProgramSignals()
        for law in self.graph.signals:
            if isinstance(law, Integral):
                k = self.variables.state(law.name)
                signals.states.append(k)
            else:
                k = self.variables.named(law.name)
                if isinstance(law, Sampled):
                    signals.memory.append(k)
            signals.numbers[law.name] = k
        return signals

    def _note_breaks(self, expression: Expression) -> Expression:
        """Keep where an expression jumps or bends with time, signals of time alone written out in it, and give it so written."""
        # A comparison of a signal that is itself a formula of time jumps at times known beforehand too.
        whole, parameters = expression.substitute(self.signals.of_time), self.graph.parameters
        self.signals.breaks.extend(known for known in breaks_of(whole, parameters) if known not in self.signals.breaks)
        self.signals.crossings |= dict.fromkeys(crossings_of(whole, parameters))
        self.signals.courses |= dict.fromkeys(courses_of(whole, parameters))
        return whole

    def _add_signal(self, law: SignalLaw) -> None:
        """Add what a signal computes to the scheduler."""
        signals, new, k = self.signals, self.variables.new, self.signals.numbers[law.name]
        match law:
            case Value():
                self.compute(k, law.expression)
                signals.breaks.extend(law.breaks)
                whole = self._note_breaks(law.expression)
                if whole.free_symbols <= {TIME, *self.graph.parameters}:
                    signals.of_time[law.name] = whole
            case Integral():
                # An integral is a state like those of storages: its rate is a residual of its own.
                signals.rates[k] = new(f"rate of {law.name}")
                self.compute(signals.rates[k], law.rate)
                self._note_breaks(law.rate)
            case Sampled():
                # Two variables: what is held now, and what will be held after the next instant.
                after = new(f"next {law.name}")
                self.compute(after, law.expression)
                signals.samples.append((law, after))
                if law.is_latch:
                    self._note_breaks(law.expression)
            case Delayed():
                # What goes in is observed at every step and kept; what comes out is read from there at t less the delay.
                source = new(f"before the delay of {law.name}")
                self.compute(source, law.expression)
                signals.delays.append((law, source))
                self._look_up(k, "past", len(signals.delays) - 1, law.name, [symbol(TIME) - law.by, law.initial])
            case Table():
                signals.tables.append(law)
                breaks, crossings = breaks_of_table(law, self._note_breaks(law.argument), self.graph.parameters)
                signals.breaks.extend(breaks)
                signals.crossings |= dict.fromkeys(crossings)
                self._look_up(k, "table", len(signals.tables) - 1, law.name, [law.argument])
            case External():
                signals.externals.append(law)
                signals.breaks.extend(law.breaks)
                self._look_up(k, "external", len(signals.externals) - 1, law.name, law.arguments)

    def _look_up(self, k: int, kind: steps.LookupKind, number: int, name: str, arguments: Iterable[Expression]) -> None:
        read = []
        for expression in arguments:
            read.append(self.variables.new(f"argument of {name}"))
            self.compute(read[-1], expression)
        self.scheduler.add(ScheduledItem(k, steps.Lookup(kind, number, k, read)))

    # -- the whole -------------------------------------------------------------------------------------------------------------

    def program(self, cut: bool = False) -> Program:
        """Order everything, then write residuals and observables."""
        scheduler = self.scheduler
        rate_of = self.variables.rate_of
        leaves = (*self.states, *self.inputs, *self.displacements, *self.signals.states, *self.signals.memory)
        scheduler.give(self.time, *leaves, *(rate_of[k] for k in leaves if k in rate_of))
        # The rate of time; and what gives a constant a place among the variables.
        scheduler.add(ScheduledItem(self.one, steps.TemplateInstance(ONE, (), ())))
        self._add_definitions()
        for k, port in enumerate(self.graph.ports):
            self._add_port(k, port)
        self._add_resistive_fields()
        for law in self.graph.signals:
            self._add_signal(law)
        self._add_displacements()
        for k, output in self.outputs.items():
            scheduler.add(ScheduledItem(output, steps.TemplateInstance(steps.NEGATIVE, (self.input_of(k),), ())))
        dependent = self.causal.derivative
        if cut:
            self.loops.cut(dependent)
        scheduler.want(self.input_of(k) for k in dependent)
        # Now everything has a place in the order but what closes the equations.
        self._settle(dependent)
        residuals = [*self.storages.residuals(), *self._rate_residuals(), *self.loops.residuals()]
        scheduler.settle()
        return Observation(self, residuals).program()

    def _rate_residuals(self) -> Iterator[int]:
        rates = {**self.rate_items, **self.signals.rates}
        for k in (*self.displacements, *self.signals.states):
            yield self.residual(
                k, steps.TemplateInstance(steps.RATE_BALANCE, (self.variables.rate_of[k], rates[k]), ())
            )

    def residual(self, k: int, how: steps.TemplateInstance) -> int:
        """The variable of F that belongs to variable k of y."""
        residual = self.variables.new(f"residual of {self.variables.names[k]}")
        self.scheduler.add(ScheduledItem(residual, how))
        return residual

    def _settle(self, dependent: list[int]) -> None:
        """Alternate between what can be computed, dependent storages, and unknowns, until nothing waits."""
        pending = list(dependent)
        while True:
            self.scheduler.settle()
            # What still waits when nothing is ready waits for itself: a loop.
            if self.scheduler.waiting and self.loops.tear():
                continue
            if not pending and not self.scheduler.waiting:
                return
            if not pending or any(self.input_of(k) not in self.scheduler.known for k in pending):
                waiting = [self.variables.names[k] for k in self.scheduler.waiting]
                names = listing([*waiting, *(self.graph.ports[k].element for k in pending)])
                raise rules.INDETERMINATE.error(f"nothing decides {names}", where=self.graph.name)
            # After the loops, so that what they ask of the interconnection is computed before rates come into it.
            self.storages.follow(pending)
            pending = []

    def _add_definitions(self) -> None:
        """Names that elimination gave, and parameters that move: formulas where they hold variables, else parameters."""
        given = {**self.graph.position_dependent, **self.wiring.where}
        for name, expression in given.items():
            # Decided for all names before any formula is taken apart: one may read another that stands later.
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
                self.signals.driven[self.decided(k)] = self._note_breaks(law.signal)
        elif isinstance(law, ResistiveLaw):
            if k not in self.field_rows:
                self._add_resistive(k, port, law)
        elif law.output is not None and self.causal.decides[k] == law.side:
            state = self.variables.number(port.state)
            assert state is not None, "the energy variable of a storage is a state"
            self.scheduler.add(ScheduledItem(self.decided(k), self.filled(law.output, {ARGUMENT: state}, port)))

    def _add_resistive(self, k: int, port: Port, law: ResistiveLaw) -> None:
        told, decided = self.input_of(k), self.decided(k)
        # The law gives its side from the other one; where causality asks for the reverse it is used backwards.
        forward = self.causal.decides[k] == law.side
        # A constant coefficient is a product or a quotient: templates that nearly all resistors of a model share.
        constant = law.coefficient is not None and not self.moves(law.coefficient)
        if law.coefficient is ZERO and forward:  # a switch: whatever it is told, it decides zero
            self.scheduler.add(ScheduledItem(decided, steps.TemplateInstance(ZERO, (), ())))
            # Who follows an open switch follows nothing: residues of its column are zero from the start.
            self.scheduler.zeros.add(decided)
        elif constant and law.coefficient is not None:
            self.refuse_unknown(law.coefficient, port)
            template = steps.SCALED if forward else steps.DIVIDED
            self.scheduler.add(
                ScheduledItem(decided, steps.TemplateInstance(template, (told,), (law.coefficient,)), told)
            )
        elif forward:
            how = self.filled(law.value_at(argument()), {ARGUMENT: told}, port)
            self.scheduler.add(ScheduledItem(decided, how, told))
        elif law.coefficient is not None:
            self.compute(decided, steps.variable(told) / law.coefficient, port)
        else:  # a nonlinear law used backwards: its argument is an unknown from the start
            self.loops.add(decided, self.filled(law.value_at(argument()), {ARGUMENT: decided}, port), told)

    def state_at_source(self, k: int) -> str:
        """The name of the state that is the output of source k, or an empty text."""
        return self._state_of_residue.get(self.scheduler.residue_of_input(column(k, self.causal.follows(k))), "")

    @cached_property
    def _state_of_residue(self) -> dict[int, str]:
        found = {}
        for j, state in zip(self.causal.integral, self.states, strict=True):
            law = self.graph.ports[j].law
            if isinstance(law, StorageLaw) and not law.keeps_energy_variable:
                # Two variables that are equal have equal residues: so the output of a source is known by the name of a
                # state.
                found[self.scheduler.decided_residue(column(j, self.causal.decides[j]))] = self.variables.names[state]
        return found

    def refuse_unknown(self, expression: Expression, port: Port) -> None:
        """Raises: CompilerError when a formula of parameters holds a name that is none."""
        if not expression.free_symbols <= self.graph.parameters.keys():
            self.instance(expression, port)

    def _add_resistive_fields(self) -> None:
        for coupled in self.graph.fields:
            if isinstance(self.graph.ports[coupled.ports[0]].law, ResistiveLaw) and not coupled.by_laws:
                rows = resistive_rows(self.causal, coupled, self.formulas)
                # What the field leaves open is an unknown; it is right where another port is told what the field says.
                free = [k for k in coupled.ports if column(k, self.causal.decides[k]) not in rows]
                for c, row in rows.items():
                    how = total([gain * steps.variable(self.columns[other]) for other, gain in row.items()])
                    port = self.graph.ports[c // 2]
                    if c == column(c // 2, self.causal.decides[c // 2]):
                        self.compute(self.columns[c], how, port)
                    else:
                        self.loops.add(self.decided(free.pop()), self.instance(how, port), self.columns[c])


Edges = Mapping[int, set[int]]


def tearing_set(edges: Edges, preferred: Container[int] = ()) -> list[int]:
    """A small set of nodes without which the graph has no loop: greedy, by the product of the degrees (as for feedback sets).

    `edges[a]` are the nodes that read a; among equals preferred ones are chosen.
    """
    after = {a: set(bs) for a, bs in edges.items()}
    before: dict[int, set[int]] = {a: set() for a in after}
    for a, bs in after.items():
        for b in bs:
            before[b].add(a)
    # Whoever reads itself is on a loop of one: no other node can cut that.
    chosen = [a for a in after if a in after[a]]
    for a in chosen:
        _remove(a, after, before)
    while True:
        _strip(after, before)
        if not after:
            return chosen
        # Ties go to the lower number, so that the order of the model decides, and not that of a set.
        best = max(after, key=lambda a: (len(after[a]) * len(before[a]), a in preferred, -a))
        chosen.append(best)
        _remove(best, after, before)


def _strip(after: dict[int, set[int]], before: dict[int, set[int]]) -> None:
    """Remove nodes that lie on no loop because nothing comes before or after them."""
    stack = [a for a in after if not after[a] or not before[a]]
    while stack:
        a = stack.pop()
        if a in after:
            near = after[a] | before[a]
            _remove(a, after, before)
            stack.extend(b for b in near if b in after and (not after[b] or not before[b]))


def _remove(a: int, after: dict[int, set[int]], before: dict[int, set[int]]) -> None:
    for b in after.pop(a):
        if b != a:
            before[b].discard(a)
    for b in before.pop(a):
        if b != a:
            after[b].discard(a)


MOST_SEARCHED = 3_000_000
"""Up to so many entries (laws times variables) the loops between laws are looked at one by one, for the fewest unknowns."""


@final
class AlgebraicLoops:
    """The unknowns of a program, in order, each with the item that decides it."""

    def __init__(self, builder: "Builder") -> None:
        self.builder = builder
        self.unknowns: list[int] = []
        self._items: list[ScheduledItem] = []
        self._cut: list[int] = []

    def add(self, unknown: int, law: steps.TemplateInstance, told: int) -> None:
        """An unknown at which a law gives what the interconnection tells."""
        self._add(ScheduledItem(unknown, law, told))

    def cut(self, dependent: Iterable[int]) -> None:
        """Make unknowns of all sums that other sums read, so that every residual is short.

        What storages that follow others depend on stays as it is, because its rate is needed.
        """
        builder = self.builder
        terms = builder.wiring.terms
        kept = set(builder.scheduler.reached(column(k, builder.causal.follows(k)) for k in dependent))
        read = {d for row in terms.values() for d, _ in row}
        self._cut = [c for c in builder.wiring.order if c in read and len(terms[c]) > 1 and c not in kept]
        for c in self._cut:
            self._unknown(builder.columns[c])

    def tear(self) -> bool:
        """Make unknowns of a few waiting items, so that the others can be computed; whether there was a loop."""
        waiting = dict(self.builder.scheduler.waiting)
        laws = [k for k, item in waiting.items() if item.argument is not None]
        # Looking at every pair of laws costs a sweep over the interconnection for each.
        large = len(laws) * len(self.builder.columns) > MOST_SEARCHED
        # Of a curved law the argument is the unknown: a steep one would else be told a small difference of large numbers.
        curved = {k for k in laws if getattr(waiting[k].how, "template", None) not in (steps.SCALED, steps.DIVIDED)}
        chosen = self._one_side(laws) if large else tearing_set(self._edges(waiting), curved)
        for target in chosen:
            self._tear(waiting[target])
        return bool(chosen)

    def residuals(self) -> Iterator[int]:
        """The variables of F that belong to the unknowns."""
        yield from self._sum_residuals()
        for item in self._items:
            yield self._residual(item)

    # -- tearing ---------------------------------------------------------------------------------------------------------------

    def _add(self, item: ScheduledItem) -> None:
        self._items.append(item)
        self._unknown(item.target)
        self.builder.scheduler.want(() if item.argument is None else (item.argument,))

    def _unknown(self, k: int) -> None:
        variables = self.builder.variables
        variables.rate_of[k] = variables.new(f"{variables.names[k]}'")
        self.unknowns.append(k)
        self.builder.scheduler.give(k, variables.rate_of[k])

    def _tear(self, item: ScheduledItem) -> None:
        """The unknown is the argument of a law, because a law may be flat where its argument still moves."""
        scheduler, variables = self.builder.scheduler, self.builder.variables
        # It comes back below, told by the unknown.
        scheduler.drop(item)
        if item.argument is None or not isinstance(item.how, steps.TemplateInstance):
            self._add(item)
        elif item.how.template is steps.DIVIDED:  # used backwards, it decides its argument w: c*w is what it is told
            self._add(
                ScheduledItem(
                    item.target, replace(item.how, template=steps.SCALED, arguments=(item.target,)), item.argument
                )
            )
        else:
            told = item.argument
            # Named as what is told: who reads the message of a solver knows that name.
            argument = variables.new(variables.names[told])
            self._add(ScheduledItem(argument, steps.TemplateInstance(steps.slot(0), (argument,), ()), told))
            arguments = tuple(argument if k == told else k for k in item.how.arguments)
            scheduler.add(ScheduledItem(item.target, replace(item.how, arguments=arguments)))

    def _one_side(self, laws: list[int]) -> list[int]:
        """For large loops of resistive elements: all that decide the same side, the fewer ones.

        Gains between ports are skew, so in a network loops run to and fro between ports that decide across variables and ports that
        decide through variables: either set cuts all of them.
        """
        across = set(self.builder.columns[0 : 2 * len(self.builder.graph.ports) : 2])
        sides = [[k for k in laws if k in across], [k for k in laws if k not in across]]
        # One of them may be empty where laws wait for gains and not for each other.
        sides.sort(key=len)
        return sides[0] or sides[1]

    # -- who reads whom --------------------------------------------------------------------------------------------------------

    def _edges(self, waiting: Mapping[int, ScheduledItem]) -> dict[int, set[int]]:
        """Which waiting items read which, directly or through the interconnection."""
        builder = self.builder
        edges: dict[int, set[int]] = {target: set() for target in waiting}
        readers: dict[int, list[int]] = {}
        for target, item in waiting.items():
            for k in item.needs:
                readers.setdefault(k, []).append(target)
        told = {builder.columns[c]: c for c in builder.wiring.order}
        wanted = [(told[k], targets) for k, targets in readers.items() if k in told]
        decided = set(builder.columns)
        for target in waiting:
            edges[target].update(readers.get(target, ()))
            if target in decided:
                residues = builder.scheduler.dependence((target,))
                for c, targets in wanted:
                    if residues[c]:
                        edges[target].update(targets)
        for target, read in self._readers_by_gains(waiting, wanted):
            edges[target].update(read)
        return edges

    def _readers_by_gains(
        self, waiting: Mapping[int, ScheduledItem], wanted: Iterable[tuple[int, list[int]]]
    ) -> Iterator[tuple[int, list[int]]]:
        """Items that a gain of the interconnection waits for: whatever is told through it reads them."""
        scheduler, terms = self.builder.scheduler, self.builder.wiring.terms
        blocked = {
            c: found
            for c, row in terms.items()
            if (found := [k for _, gain in row for k in scheduler.variables_in_gain(gain) if k in waiting])
        }
        for c, targets in wanted if blocked else ():
            for d in scheduler.reached((c,)):
                yield from ((k, targets) for k in blocked.get(d, ()))

    # -- residuals -------------------------------------------------------------------------------------------------------------

    def _sum_residuals(self) -> Iterator[int]:
        """What the interconnection says of the sums that were cut, less the unknowns."""
        builder = self.builder
        sums = {builder.variables.new(f"sum of {builder.variables.names[builder.columns[c]]}"): c for c in self._cut}
        builder.scheduler.add_sums(sums)
        for value, c in sums.items():
            k = builder.columns[c]
            yield builder.residual(k, steps.TemplateInstance(steps.RATE_BALANCE, (value, k), ()))

    def _residual(self, item: ScheduledItem) -> int:
        """What the item gives, less what the interconnection tells; or less the unknown itself, where the item gives it."""
        builder, k, how = self.builder, item.target, item.how
        # c w less what is told, as one residual of two terms: linear, and no variable between.
        if isinstance(how, steps.TemplateInstance) and item.argument is not None and how.template is steps.SCALED:
            return builder.residual(k, steps.TemplateInstance(steps.BALANCE, (k, item.argument), how.coefficients))
        value = builder.variables.new(f"law of {builder.variables.names[k]}")
        builder.scheduler.add(
            ScheduledItem(value, how if isinstance(how, steps.TemplateInstance) else replace(how, target=value))
        )
        told = k if item.argument is None else item.argument
        return builder.residual(k, steps.TemplateInstance(steps.RATE_BALANCE, (value, told), ()))
