"""What a program shows beside its equations: power variables, energies, outputs, signals, books and events."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeGuard, final

import numpy as np

from tellegen.causality.causal_graph import names_of_outputs
from tellegen.compiler.numeric_model import EventFunction, Observable
from tellegen.compiler.program import BookVariables, Program, ProgramSignals
from tellegen.compiler.scheduling import ScheduledItem
from tellegen.compiler.steps import LawGroup, Lookup, Step, TemplateInstance, coefficient, slot, split_steps, variable
from tellegen.core.domains import DOMAINS
from tellegen.core.names import TIME
from tellegen.core.ordering import in_order
from tellegen.core.union_find import strong_components
from tellegen.equations.storages import energy_of_law
from tellegen.expressions import HALF, ZERO, Call, Expression, Relation, call, number, postorder, substitute_all, total
from tellegen.expressions.antiderivatives import integrated_terms
from tellegen.graph import Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ACROSS, ARGUMENT, THROUGH, ElasticPart, argument, heat_taken
from tellegen.model.mockup_units import UnitSignal

if TYPE_CHECKING:
    from tellegen.compiler.builder import Builder


_PANELS = (0.0, 0.125, 0.25, 0.5, 1.0)
"""Shorter towards rest, where laws that saturate bend most."""

_NODES = 12


def storage_content(law: StorageLaw) -> Expression:
    """What a storage keeps in terms of ARGUMENT, the state: the energy itself where heat is counted."""
    at = argument()
    found = law.content_at(at)
    if found is not None:
        return found
    assert law.slope is not None, "a storage law has an inertia, a content, a slope or an output"
    return _integral(law.slope, at)


@cache
def storage_energy(law: StorageLaw) -> Expression:
    """The stored energy in terms of ARGUMENT: of the state, or of the output of a dependent storage; zero at rest."""
    at = argument()
    found = energy_of_law(law, at) if law.slope is None or law.energy is not None else None
    if found is not None:
        return found
    if law.output is not None:
        return _integral(law.output, at)
    if law.slope is not None:
        return _integral(argument() * law.slope, at)
    assert law.content is not None, "a storage law has an inertia, a content, a slope or an output"
    return at * law.content.substitute({ARGUMENT: at}) - _integral(law.content, at)


def _integral(integrand: Expression, upto: Expression) -> Expression:
    """The integral over ARGUMENT from zero; what has no formula is smooth for most laws, so that Gauss serves it."""
    done, integrand = integrated_terms(integrand, ARGUMENT)
    if integrand is ZERO:
        return done.substitute({ARGUMENT: upto})
    terms: list[Expression] = []
    # By Gauss, as a formula: the energy of any law can be evaluated without a quadrature while the model runs.
    places, weights = np.polynomial.legendre.leggauss(_NODES)
    for a, b in pairwise(_PANELS):
        for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
            # A share of the way, for the end of the integral is a variable. Exact fractions print alike on every
            # machine.
            share = number(Fraction((a + b + (b - a) * place) / 2))
            terms.append(number(Fraction(weight * (b - a) / 2)) * integrand.substitute({ARGUMENT: share * upto}))
    return done.substitute({ARGUMENT: upto}) + upto * total(terms)


MOST_MEMBERS = 64
"""Groups with more members than this are not watched one by one: events cost a function each."""


BENDING = ("abs", "max", "min")
"""Functions that have corners and no jumps."""


def discontinuities(steps: Sequence[Step], time: int) -> Iterator[tuple[int, Expression, bool]]:
    """Which variable jumps or bends, at the zeros of what, and whether it may jump; conditions on time alone have known times."""
    for step in steps:
        if isinstance(step, LawGroup) and len(step.targets) <= MOST_MEMBERS:
            nodes = postorder(step.template)
            asked = [(e, not (isinstance(n, Call) and n.name in BENDING)) for n in nodes for e in kinks(n)]
            for r in range(len(step.targets)) if asked else ():
                filled = substitute_all(tuple(e for e, _ in asked), step.slots(r))
                yield from (
                    (step.targets[r], e, jumps) for e, (_, jumps) in zip(filled, asked, strict=True) if _moves(e, time)
                )


def kinks(node: Expression) -> Iterator[Expression]:
    """What is zero where this node of a formula jumps or bends."""
    if isinstance(node, Call) and node.name in ("sign", "abs"):
        yield node.arguments[0]
    elif isinstance(node, Call) and node.name in ("max", "min"):
        # The largest changes where two of them are equal; most pairs are not the largest then, which costs a step and
        # no error.
        for one, other in combinations(node.arguments, 2):
            yield one - other
    # Equality holds at single points, which no step meets.
    elif isinstance(node, Relation) and node.operator not in ("==", "!="):
        yield node.left - node.right


def _moves(e: Expression, time: int) -> bool:
    return any(name.startswith("%") and name != f"%{time}" for name in e.free_symbols)


def _in_order(formulas: Mapping[str, Expression]) -> dict[str, Expression]:
    """Formulas by name, each after those that it reads."""
    read = {name: formulas.keys() & e.free_symbols for name, e in formulas.items()}
    found = {name: formulas[name] for name in in_order(read)}
    assert len(found) == len(formulas), "no parameter is defined by itself"
    return found


POWER = slot(0) * slot(1)
SUPPLIED = -slot(0) * slot(1)
KINETIC = HALF * coefficient(0) * slot(0) ** 2


@final
class Observation:
    """Adds to a finished order what is only looked at, and closes the program."""

    def __init__(self, builder: "Builder", residuals: list[int]) -> None:
        self.builder = builder
        self.graph = builder.graph
        self.residuals = residuals
        self.observables: list[tuple[Observable, int]] = []
        self.books = BookVariables([], [], [], [])
        self.events: list[tuple[EventFunction, int]] = []
        self.contents: list[tuple[int, int, int]] = []
        self._modulated: list[tuple[str, int, int]] = []
        self._states_of_field = {
            k: frozenset(self.graph.ports[j].state for j in coupled.ports)
            for coupled in self.graph.fields
            if coupled.energy is not None
            for k in coupled.ports
        }
        self._members = {k: coupled.ports for coupled in self.graph.fields for k in coupled.ports}
        self._first_in_field = {k: ports[0] for k, ports in self._members.items()}

    def program(self) -> Program:
        """The program with everything that can be observed."""
        builder = self.builder
        # Every power variable is shown, also those that no equation asks for.
        builder.scheduler.want(builder.columns[c] for c in range(2 * len(self.graph.ports)))
        builder.scheduler.settle()
        for k, port in enumerate(self.graph.ports):
            self._show(k, port)
        self._show_outputs()
        self._show_signals()
        self._add_transitions()
        builder.scheduler.settle()
        self._follow_contents()
        self._modulation()
        builder.scheduler.settle()
        # Last, for it reads the steps: a law that only something observed needs may jump without anybody minding.
        self._add_restarts()
        builder.scheduler.settle()
        assert not builder.scheduler.waiting, "everything observed follows from what is known"
        return self._closed()

    def _closed(self) -> Program:
        builder, graph = self.builder, self.graph
        signals, variables = builder.signals, builder.variables
        y = [*builder.states, *builder.displacements, *signals.states, *builder.loops.unknowns]
        assert len(y) == len(self.residuals), "one residual for each variable"
        # F runs at every stage of every step, the rest once for a row: hence two lists.
        core, observing, _ = split_steps(builder.scheduler.steps, self.residuals)
        # Told here, while the steps are at hand: code that is kept on disk has none.
        signals.returning = _returning_delays(signals, [*core, *observing])
        signals.unfelt = _unfelt(signals, core, frozenset((TIME, *graph.parameters)))
        return Program(
            name=graph.name,
            names=variables.names,
            time=builder.time,
            states=builder.states,
            displacements=builder.displacements,
            unknowns=builder.loops.unknowns,
            rates=[variables.rate_of[k] for k in y],
            inputs=builder.inputs,
            core=core,
            observing=observing,
            residuals=self.residuals,
            observables=self.observables,
            books=self.books,
            events=self.events,
            contents=self.contents,
            signals=signals,
            parameters=tuple(graph.parameters),
            formulas=_in_order(builder.formulas),
        )

    # -- ports -----------------------------------------------------------------------------------------------------------------

    def _show(self, k: int, port: Port) -> None:
        domain = self.graph.domain_of(k)
        across, through = self.builder.columns[2 * k], self.builder.columns[2 * k + 1]
        shown = {"across": across, "through": through}
        is_source = isinstance(port.law, SourceLaw)
        if is_source:
            # What a source answers counts out of it, as its power does.
            shown[self.builder.causal.follows(k)] = self.builder.outputs[k]
        self._add(Observable(port.across, "across", port.element, domain.name, domain.across.unit), shown["across"])
        self._add(Observable(port.through, "through", port.element, domain.name, domain.through.unit), shown["through"])
        power = self.builder.variables.new(f"power.{port.element}")
        self._compute(power, self._power(port, is_source, across, through))
        self._add(Observable(f"power.{port.element}", "power", port.element, domain.name, "W"), power)
        if port.transferred:
            return  # what a dissipator takes, a thermal source brings: neither lost nor supplied
        if is_source:  # one that is part of a field does the work that moves its matrix
            (self.books.modulation if port.part_of else self.books.supplied).append(power)
        elif isinstance(port.law, ResistiveLaw) and port.law.potential is not None:
            self._keep(port, self.builder.instance(port.law.potential, port))
        elif isinstance(port.law, ResistiveLaw) and self._follows_motion(port.law.elastic):
            self._keep_part(k, port, port.law.elastic, power)
        elif isinstance(port.law, ResistiveLaw):
            self._dissipates(k, power) if not domain.heat_books else self._leaves(port, power)
        elif isinstance(port.law, StorageLaw):
            self._store(k, port, port.law, power)

    def _power(self, port: Port, is_source: bool, across: int, through: int) -> TemplateInstance:
        """The power that a source gives, or that another element takes; a heat flow is one by itself."""
        if not DOMAINS[port.domain].heat_books:
            return TemplateInstance(SUPPLIED if is_source else POWER, (across, through), ())
        taken = number(heat_taken(port, self.graph.nodes))
        return self.builder.instance((-taken if is_source else taken) * variable(through), port)

    def _leaves(self, port: Port, power: int) -> None:
        """Heat that goes to the reference is lost; heat that comes from there is supplied."""
        if heat_taken(port, self.graph.nodes):
            lost = self._value(f"heat out of {port.element}", call("max", variable(power), ZERO), port)
            brought = self._value(f"heat into {port.element}", call("max", -variable(power), ZERO), port)
            self.books.resistive.append([lost])
            self.books.supplied.append(brought)

    def _dissipates(self, k: int, power: int) -> None:
        """Ports of one field dissipate together: one of them alone may give what another takes."""
        if self._first_in_field.get(k, k) == k:
            self.books.resistive.append([power])
        else:
            self.books.resistive[-1].append(power)

    def _store(self, k: int, port: Port, law: StorageLaw, power: int) -> None:
        builder = self.builder
        at = builder.output(k)
        if law.keeps_energy_variable:
            state = builder.variables.number(port.state)
            assert state is not None, "the energy variable of a storage has a name"
            at = state
        if DOMAINS[port.domain].heat_books:
            how = builder.filled(storage_content(law), {ARGUMENT: at}, port)
        elif k in builder.field_rows:
            terms = [entry * variable(builder.output(j)) for j, entry in builder.field_rows[k]]
            how = builder.instance(HALF * variable(at) * total(terms), port)
        # The energy of a constant inertia is a template that all plain storages share.
        elif law.inertia is not None and not builder.variables.numbers(law.inertia.free_symbols):
            how = TemplateInstance(KINETIC, (at,), (law.inertia,))
        else:
            how = builder.filled(storage_energy(law), {ARGUMENT: at}, port)
        energy = self._keep(port, how)
        # The energy of a field stands at its first port: where one port has parameters that move, all take part.
        if any(self._is_modulated(j) for j in self._members.get(k, (k,))):
            self._modulated.append((port.element, energy, power))

    def _follows_motion(self, part: ElasticPart | None) -> TypeGuard[ElasticPart]:
        """Whether an energy is one of displacements, states and time, which all have rates."""
        builder = self.builder
        known = {*builder.states, *builder.displacements, builder.time}
        return part is not None and known.issuperset(builder.variables.numbers(part.energy.free_symbols))

    def _keep_part(self, k: int, port: Port, part: ElasticPart, power: int) -> None:
        """Count what a law loses; what it takes beyond that is kept, and where a deformation is driven, that is modulation."""
        energy = self._keep(port, self.builder.instance(part.energy, port))
        if part.energy is ZERO:
            self._dissipates(k, power)
            return
        speed = variable(self.builder.columns[2 * k])
        lost = self._value(f"lost in {port.element}", part.lost.substitute({ACROSS: speed}), port)
        elastic = self._value(f"kept in {port.element}", variable(power) - variable(lost), port)
        self.books.resistive.append([lost])
        self._modulated.append((port.element, energy, elastic))

    def _keep(self, port: Port, how: TemplateInstance) -> int:
        """Show the energy that a port keeps, and count it."""
        energy = self.builder.variables.new(f"energy.{port.element}")
        self._compute(energy, how)
        self._add(Observable(f"energy.{port.element}", "energy", port.element, port.domain, "J"), energy)
        self.books.stored.append(energy)
        return energy

    def _is_modulated(self, k: int) -> bool:
        law = self.graph.ports[k].law
        if not isinstance(law, StorageLaw):
            return False
        formulas = [e for e in (law.inertia, law.content, law.slope, law.output) if e is not None]
        formulas += [e for _, e in self.builder.field_rows.get(k, ())]
        own, number = self._states_of_field.get(k, frozenset()), self.builder.variables.number
        return any(number(name) is not None for e in formulas for name in e.free_symbols - own)

    def _modulation(self) -> None:
        """The work that moves the parameters of storages: what their energy gains beyond the power of their ports."""
        builder = self.builder
        rates = builder.storages.rates_of([energy for _, energy, _ in self._modulated])
        for (element, _, power), rate in zip(self._modulated, rates, strict=True):
            work = builder.variables.new(f"modulation.{element}")
            # What the energy gains beyond what came through the port, the motion of its parameters has brought.
            gained = [] if rate is None else [variable(rate)]
            self._compute(work, builder.instance(total([*gained, -variable(power)])))
            self.books.modulation.append(work)

    # -- outputs and signals ---------------------------------------------------------------------------------------------------

    def _show_outputs(self) -> None:
        """The conjugate of each source, by the name of the state, or of the dependent storage beside it, where it is one."""
        names = names_of_outputs(self.builder.causal, self.builder.state_at_source)
        for k, output in self.builder.outputs.items():
            port, domain = self.graph.ports[k], self.graph.domain_of(k)
            side = self.builder.causal.follows(k)
            self._add(Observable(names[k], "output", port.element, domain.name, domain.power(side).unit), output)

    def _show_signals(self) -> None:
        signals = self.builder.signals
        for name, k in signals.numbers.items():
            self._add(Observable(name, "signal"), k)
        for law, k in signals.delays:
            self._add(Observable(f"{law.name} before its delay", "signal"), k)
        for external in signals.externals:
            asked = external.function
            # What a unit tells of its events: the run stops there, and the unit decides how it goes on.
            if isinstance(asked, UnitSignal) and asked.question == "indicator":
                event = EventFunction(external.name, asked.use.unit.name, 0, "transition")
                self.events.append((event, signals.numbers[external.name]))

    # -- events ----------------------------------------------------------------------------------------------------------------

    def _add_transitions(self) -> None:
        """The guards of the modes that switching ports are in."""
        for k, law in self.graph.switching.items():
            port = self.graph.ports[k]
            mode = self.graph.mode_of(k)
            own = {ACROSS: variable(self.builder.columns[2 * k]), THROUGH: variable(self.builder.columns[2 * k + 1])}
            for transition in law.transitions.get(mode, ()):
                name = f"{port.element}: {mode} to {transition.to}"
                guard = self._value(name, transition.guard.substitute(own), port)
                self.events.append((EventFunction(name, port.element, 1, "transition", transition.to), guard))

    def _add_restarts(self) -> None:
        """Places where a formula jumps or bends that F needs now, or will after a delay: signs, comparisons, corners."""
        # What jumps before a delay jumps in F later.
        delayed = [k for _, k in self.builder.signals.delays]
        # What a latch would hold decides when it changes.
        latched = [k for law, k in self.builder.signals.samples if law.is_latch]
        core, _, _ = split_steps(self.builder.scheduler.steps, [*self.residuals, *delayed, *latched])
        found: dict[Expression, int] = {}
        jumping: set[Expression] = set()
        for k, expression, jumps in discontinuities(core, self.builder.time):
            # Many elements may read one condition: it is one event.
            found.setdefault(expression, k)
            jumping |= {expression} if jumps else set()
        for expression, k in found.items():
            where = self.builder.variables.names[k].removeprefix("rate of ")
            name = f"{where} jumps or bends"
            event = EventFunction(name, where, 0, "restart" if expression in jumping else "bend")
            self.events.append((event, self._value(name, expression, None)))

    def _follow_contents(self) -> None:
        """What storages with bent laws keep: a step that flies over a steep part of one is found by it."""
        builder = self.builder
        for k, state in zip(builder.causal.integral, builder.states, strict=True):
            port, at = self.graph.ports[k], {ARGUMENT: variable(builder.output(k))}
            law = port.law
            if not isinstance(law, StorageLaw) or law.content is None or k in builder.field_rows:
                continue
            slope = law.content.derivative(ARGUMENT)
            # Where displacements move the law too, its content grows by more than its slope tells.
            if ARGUMENT in slope.free_symbols and not builder.moves(law.content):
                kept = self._value(f"content of {port.element}", law.content.substitute(at), port)
                self.contents.append((state, kept, self._value(f"slope of {port.element}", slope.substitute(at), port)))

    # -- items -----------------------------------------------------------------------------------------------------------------

    def _value(self, name: str, expression: Expression, port: Port | None) -> int:
        k = self.builder.variables.new(name)
        self._compute(k, self.builder.instance(expression, port))
        return k

    def _compute(self, k: int, how: TemplateInstance) -> None:
        self.builder.scheduler.add(ScheduledItem(k, how))

    def _add(self, observable: Observable, k: int) -> None:
        self.observables.append((observable, k))


def _returning_delays(signals: ProgramSignals, steps: Sequence[Step]) -> list[str]:
    names = [law.name for law, _ in signals.delays]
    reads: dict[str, list[str]] = {}
    for law, k in signals.delays:
        needed, _, _ = split_steps(steps, [k])
        reads[law.name] = [names[x.number] for x in needed if isinstance(x, Lookup) and x.kind == "past"]
    loops = (members for members in strong_components(reads) if len(members) > 1 or members[0] in reads[members[0]])
    return sorted(name for members in loops for name in members)


def _unfelt(signals: ProgramSignals, core: Sequence[Step], known: frozenset[str]) -> list[Expression]:
    read = {target for step in core for target in step.targets}
    return [e for k, e in signals.driven.items() if k not in read and TIME in e.free_symbols <= known]
