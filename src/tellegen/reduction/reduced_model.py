"""The reduced model: the network that is left, with everything that read what is gone reading what stands for it."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.equations.derivation import derive_equations
from tellegen.equations.start import (
    followers,
    initial_names,
    is_same,
    model_start,
    values_of_parameters,
    without_initial_values,
)
from tellegen.equations.system import EquationSystem
from tellegen.expressions import ZERO, Expression, number, to_text
from tellegen.expressions.elimination import LONGEST, leaf_count, with_definitions
from tellegen.graph import Port, SourceLaw, lower
from tellegen.graph.heat import POWER
from tellegen.model.laws import Law
from tellegen.model.model import Element, Model, Switching
from tellegen.model.signals import Signal
from tellegen.reduction import rules
from tellegen.reduction.limited import ModelAtLimits
from tellegen.reduction.limits import Limit, formulas_of, without_index
from tellegen.reduction.rigid_connections import Rewired, rewired
from tellegen.reduction.transformation import ChosenStates, LimitSources, LimitTransformation

Values = Mapping[str, Expression]


def without_variables(model: Model, gone: Iterable[str], frozen: Values, without_start: Collection[str] = ()) -> Model:
    """The model whose experiment neither starts nor shows variables that are gone, and drives frozen ones at their values.

    Names of `without_start` are those of no storage any more: they are not started either.
    """
    removed = {*gone, *frozen}
    experiment = model.experiment
    # A frozen storage is a source now, so the experiment has to say what it gives: the value that it started with.
    constants = {name: Signal("constant", (value,), to_text(value), value) for name, value in frozen.items()}
    return replace(
        model,
        experiment=replace(
            experiment,
            inputs={**experiment.inputs, **constants},
            initial={name: e for name, e in experiment.initial.items() if name not in {*removed, *without_start}},
            outputs=tuple(name for name in experiment.outputs if name not in removed or name in frozen),
        ),
    )


def with_variables_replaced(model: Model, static: Values, lost: Iterable[str]) -> Model:
    """The model whose displacements and signals read what stands for the variables that are gone.

    Raises: ReductionError (T109) when one of them reads a variable of `lost`, which follows from rates only.
    """
    # Variables of constraints follow from rates; a signal or a displacement may not differentiate.
    missing = set(lost)

    def followed(expression: Expression, reader: str) -> Expression:
        needed = missing & expression.free_symbols
        if needed:
            name = min(needed)
            raise rules.RATE_IS_LOST.error(
                f"{reader} reads '{name}', which the limit turns into the variable of a constraint",
                where=reader,
                fix=f"keep the storage of '{name}', or let {reader} read another variable",
                members=[name],
            )
        # Untouched expressions stay the same objects, so that comparisons by identity still hold.
        return expression.substitute(static) if static.keys() & expression.free_symbols else expression

    def setting(value: object, reader: str) -> object:
        if isinstance(value, Expression):
            return followed(value, reader)
        if isinstance(value, tuple) and value and all(isinstance(e, Expression) for e in value):
            return tuple(followed(e, reader) for e in value)
        return value

    signals = {
        name: replace(d, settings={k: setting(v, f"the signal '{name}'") for k, v in d.settings.items()})  # type: ignore[misc]
        for name, d in model.signals.items()
    }
    elements = [
        e if e.signal is None else replace(e, signal=followed(e.signal, f"the source '{e.name}'"))
        for e in model.elements
    ]
    rates = {n: followed(rate, f"the displacement '{n}'") for n, rate in model.displacements.items()}
    inputs = {n: _with_removed_written_out(course, static) for n, course in model.experiment.inputs.items()}
    experiment = replace(model.experiment, inputs=inputs)
    return replace(model, displacements=rates, signals=signals, elements=tuple(elements), experiment=experiment)


def _with_removed_written_out(course: Signal, static: Values) -> Signal:
    """What an input does, with the formulas of variables that are gone in its formula and in its text, which keeps its units."""
    read = static.keys() & course.expression.free_symbols if course.expression is not None else set()
    if course.expression is None or not read:
        return course
    # The text is changed as well as the formula: it keeps the units that the user wrote.
    text = course.text
    for name in read:
        formula = f"({to_text(static[name])})"
        text = formula.join(re.split(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text))
    arguments = tuple(e.substitute(static) for e in course.arguments)
    return replace(course, expression=course.expression.substitute(static), text=text, arguments=arguments)


def without_parameters(model: Model, candidates: Iterable[str]) -> Model:
    """The model without those parameters that nothing reads any more."""
    used = _used_names(model)
    unused = {name for name in candidates if name not in used}
    return replace(model, parameters={n: p for n, p in model.parameters.items() if n not in unused})


def _used_names(model: Model) -> set[str]:
    experiment = model.experiment
    formulas = [*_formulas(model), *model.displacements.values(), *experiment.initial.values()]
    formulas += [p.expression for p in model.parameters.values() if p.expression is not None]
    for element in model.elements:
        formulas += [e for e in (element.initial, element.signal) if e is not None]
        formulas += element.switching.schedule if element.switching is not None else ()
    for signal in experiment.inputs.values():
        formulas += [*signal.arguments, *(() if signal.expression is None else (signal.expression,))]
    for definition in model.signals.values():
        for value in definition.settings.values():
            parts = value if isinstance(value, tuple) else (value,)
            formulas += [e for e in parts if isinstance(e, Expression)]
    return {name for e in formulas for name in e.free_symbols}


def with_variable_names(model: Model, before: Iterable[Port], after: Iterable[Port]) -> Model:
    """The model whose variables have the names that they had, also where a name has become free for another one."""
    sides: tuple[Side, Side] = ("across", "through")
    old = {p.element: p for p in before}
    # A name that has become free would be taken by another variable of the same symbol, and runs could not be compared
    # any more.
    changed: dict[str, dict[str, str]] = {
        p.element: {side: old[p.element].variable(side) for side in sides}
        for p in after
        if p.element in old and any(p.variable(side) != old[p.element].variable(side) for side in sides)
    }
    elements = (
        replace(e, variables={**e.variables, **changed[e.name]}) if e.name in changed else e for e in model.elements
    )
    return replace(model, elements=tuple(elements)) if changed else model


def with_output_names(model: Model, outputs: Mapping[str, str], taken: Collection[str]) -> Model:
    """The model in which what answers a source has the name that it had (`outputs`, by source), where no other variable has it."""
    # Only names that nobody else uses: an old name for another variable would mislead.
    free = {source: name for source, name in outputs.items() if name not in taken}

    def named(element: Element) -> Element:
        if element.kind.role != "source" or element.name not in free:
            return element
        return replace(element, variables={**element.variables, other_side(element.kind.side): free[element.name]})

    return replace(model, elements=tuple(map(named, model.elements))) if free else model


def with_preferred_states(model: Model, elements: Iterable[str]) -> Model:
    """The model in which these storages, and no others, are asked to be states."""
    chosen = set(elements)

    def side(element: Element) -> Side | None:
        # A causality that the user forced is his word, and stays.
        if element.forced or element.kind.role != "storage":
            return element.prefer
        # What an earlier limit asked for would compete with what this one leaves.
        return element.kind.side if element.name in chosen else None

    return replace(model, elements=tuple(replace(e, prefer=side(e)) for e in model.elements))


def names_in_laws(model: Model) -> set[str]:
    """All names that laws, values, moduli and fields of a model read."""
    return {name for e in _formulas(model) for name in e.free_symbols}


def with_laws_replaced(model: Model, static: Values) -> Model:
    """The model whose laws, moduli and fields read what stands for the variables that are gone.

    Raises: ReductionError (T140) where a law has a letter for its argument that is a variable of what it would read.
    """
    if names_in_laws(model).isdisjoint(static):
        return model
    fields = tuple(
        replace(
            f,
            matrix=tuple(tuple(_followed(e, static) for e in row) for row in f.matrix),
            energy=None if f.energy is None else _followed(f.energy, static),
        )
        for f in model.fields
    )
    return replace(model, elements=tuple(_element(e, static) for e in model.elements), fields=fields)


def _followed(e: Expression, static: Values) -> Expression:
    return e if static.keys().isdisjoint(e.free_symbols) else e.substitute(static)


def _element(element: Element, static: Values) -> Element:
    found = element
    if element.value is not None:
        found = replace(found, value=_followed(element.value, static))
    if element.multiport is not None:
        K = tuple(tuple(_followed(e, static) for e in row) for row in element.multiport.K)
        found = replace(found, multiport=replace(element.multiport, K=K))
    if element.law is not None:
        found = replace(found, law=_law(element, element.law, static))
    if element.switching is not None:
        found = replace(found, switching=_switching(element.switching, static))
    return found


def _law(element: Element, law: Law, static: Values) -> Law:
    read = static.keys() & law.expression.free_symbols
    if not read:
        return law
    for name in sorted(read):
        # The letter of the law would capture the variable that the formula means.
        if law.variable in static[name].free_symbols:
            formula = to_text(static[name])
            raise rules.LETTER_IN_USE.error(
                f"the law of '{element.name}' reads '{name}', now {formula}, but '{law.variable}' is its own letter",
                where=element.name,
                fix=f"give the variable '{law.variable}' another name",
                place=element.place,
                members=[element.name, name],
            )
    new = law.expression.substitute(static)
    return replace(law, expression=new, text=to_text(new))


def _switching(switching: Switching, static: Values) -> Switching:
    changed = {key: e.substitute(static) for key, e in switching.settings.items() if static.keys() & e.free_symbols}
    if not changed:
        return switching
    texts = {**switching.texts, **{key: to_text(e) for key, e in changed.items() if key in switching.texts}}
    return replace(switching, settings={**switching.settings, **changed}, texts=texts)


def _formulas(model: Model) -> Iterator[Expression]:
    for element in model.elements:
        yield from formulas_of(element)
        if element.switching is not None:
            yield from element.switching.settings.values()
    for field in model.fields:
        for row in field.matrix:
            yield from row
        if field.energy is not None:
            yield field.energy


Found = TypeVar("Found")


@final
@dataclass(frozen=True)
class LimitStage:
    """The full model with its causality and limits, its laws at the limit, and the states chosen among what is left."""

    model: Model
    limits: tuple[Limit, ...]
    causal: CausalGraph
    limited: ModelAtLimits
    sources: LimitSources
    choice: ChosenStates

    @property
    def full_states(self) -> list[str]:
        """The states of the full model."""
        return [self.causal.graph.ports[k].state for k in self.causal.integral]

    @property
    def states(self) -> list[str]:
        """The states of the reduced model."""
        causal = self.choice.causal
        return [s for k in causal.integral if (s := causal.graph.ports[k].state) not in self.idle]

    @property
    def removed(self) -> list[str]:
        """What the elements at their limit are told by the others."""
        graph, causal = self.choice.causal.graph, self.choice.causal
        return [without_index(graph.ports[k].variable(causal.follows(k))) for k in self.sources.zero]

    def row_name(self, state: str) -> str:
        """The name under which a state of the full model is found in the limit: elements of broken-up fields lose their index."""
        ports = self.choice.causal.graph.ports
        names = {n for p in ports for n in (p.across, p.through, p.state)}
        return state if state in names else without_index(state)

    @cached_property
    def rewired(self) -> Rewired:
        """The network that is left."""
        return self.rewired_with(())

    def rewired_with(self, carriers: Iterable[str]) -> Rewired:
        """The network in which some elements at their limit stay, with value zero, because others read what they carry."""
        # A constraint that holds already is taken out: to impose it again would close a rigid loop.
        # Idle constraints carry nothing, so for the network they are open.
        loose: dict[str, Side] = dict.fromkeys(self.sources.indeterminate, "through")
        return rewired(self.sources.model, {**self.limited.vanishing, **loose}, carriers)

    @cached_property
    def start(self) -> Mapping[str, float]:
        """Where the full model starts."""
        return model_start(self.model)

    def initial_value(self, element: Element, state: str) -> Expression:
        """Where a state starts: the formula that the model gives, or the number that follows."""
        given = self.model.experiment.initial.get(state, element.initial) or ZERO
        value = self.start.get(state)
        values = values_of_parameters(self.model)
        if value is None or not given.free_symbols <= values.keys() or is_same(given.evaluate(values), value):
            return given
        return number(value)

    @cached_property
    def apart(self) -> set[str]:
        """The elements that keep what they have outside the reduced model: frozen ones, and idle ones that hold something."""
        idle = {name for name, zero in self.rewired.idle.items() if zero is None}
        return idle | {self.sources.graph.ports[k].element for k in self.sources.frozen}

    @cached_property
    def idle(self) -> dict[str, Expression]:
        """The states of idle elements, with the constant that they stay at."""
        elements = {e.name: e for e in self.model.elements}
        found: dict[str, Expression] = {}
        for port in self.choice.causal.graph.ports:
            if port.element in self.rewired.idle and port.state:
                zero = self.rewired.idle[port.element] is not None
                found[port.state] = ZERO if zero else self.initial_value(elements[port.element], port.state)
        return found


def solvable(limits: Iterable[Limit], step: Callable[[], Found]) -> Found:
    """Run a step; what physics forbids after the limit is reported as a limit that does not exist."""
    try:
        return step()
    except TellegenError as reason:
        # Errors about limits say all there is to say; others are about a graph that the user never saw.
        if reason.code.startswith("T"):
            raise
        asked = list(limits)
        names = listing(limit.name for limit in asked)
        raise rules.UNSOLVABLE.error(
            f"with {listing(map(str, asked))} the model has no solution: {reason.what}",
            where=reason.finding.where,
            why=reason.finding.why,
            fix=f"keep {names}, or first: {reason.finding.fix}" if reason.finding.fix else f"keep {names}",
            members=reason.finding.members,
        ) from reason


def reduced_model(stage: LimitStage, found: LimitTransformation) -> tuple[Model, EquationSystem]:
    """The reduced model and its equations.

    Raises: ReductionError where nothing is left, where the model has no solution, or where something reads what is gone.
    """
    # A limit can leave nothing to move: that is said as such, not as an empty model.
    if not stage.rewired.model.elements:
        raise _standstill(stage)
    return _ReducedModel(stage, found).derived()


def _standstill(stage: LimitStage) -> TellegenError:
    """Nothing carries power any more, and no storage holds anything."""
    still = ", ".join(f"{name} = {value}" for name, value in stage.idle.items()) or "nothing is left"
    names = listing(limit.name for limit in stage.limits)
    return rules.UNSOLVABLE.error(
        f"with {listing(map(str, stage.limits))} nothing moves any more: {still}",
        where=stage.model.name,
        why="what is left has nothing to exchange power with, and holds nothing",
        fix=f"keep {names}, or add a source or another element beside what is left",
    )


@final
class _ReducedModel:
    def __init__(self, stage: LimitStage, found: LimitTransformation) -> None:
        self.stage = stage
        self.found = found
        # Known only when T is known, so the network is made a second time where something has to stay.
        carriers = self._carriers()
        self.rewired: Rewired = stage.rewired_with(carriers) if carriers else stage.rewired

    def derived(self) -> tuple[Model, EquationSystem]:
        """The model with the states chosen, asked for where causality would take others; and its equations."""
        model = self._model()
        return solvable(self.stage.limits, lambda: self._with_states(model))

    # -- who reads what is gone ------------------------------------------------------------------------------------------------

    def _carriers(self) -> list[str]:
        """The elements at their limit that stay, because nothing else tells what others read of them.

        Laws may read what only rates tell (the normal force behind a friction), and displacements what is no formula of states and
        inputs (the speed of a massless body under that friction), or too long a one for a file.
        """
        causal, model = self.stage.choice.causal, self.stage.rewired.model
        ports = {causal.graph.ports[k].variable(causal.follows(k)): k for k in self.stage.sources.zero}
        # A friction that reads the normal force of a constraint: only an element in that place can tell it.
        read = names_in_laws(model) & {*self.found.rates}
        rates = {name for rate in model.displacements.values() for name in rate.free_symbols}
        read |= {name for name in rates & self.found.static.keys() if not self._is_formula(self.found.static[name])}
        return [causal.graph.ports[ports[name]].element for name in sorted(read) if name in ports]

    def _is_formula(self, e: Expression) -> bool:
        """Whether an expression reads nothing but states, inputs, displacements and parameters, on a few lines."""
        model, found = self.stage.model, self.found
        moving = self.stage.causal.graph.position_dependent
        known = {*found.states, *found.inputs, *model.displacements, *model.parameters, *moving, *self.stage.idle}
        written = with_definitions(e, found.where)
        # Longer formulas would fill a file that nobody reads; an element of value zero says the same on one line.
        return leaf_count(written) <= 2 * LONGEST and written.free_symbols <= known

    def _gone(self) -> set[str]:
        """Names of variables that the reduced model does not have."""
        remaining = {e.name for e in self.rewired.model.elements}
        ports = [p for p in self.stage.causal.graph.ports if p.element not in remaining]
        return {n for p in ports for n in (p.across, p.through, p.state, POWER + p.element) if n}

    def _without_start(self) -> set[str]:
        """Names by which storages could start that are none any more."""
        stage = self.stage
        left = {e.name for e in self.rewired.model.elements} - stage.limited.vanishing.keys() - stage.apart
        names = initial_names(stage.causal.graph, stage.model)
        return {n for n, place in names.items() if place.port is not None and place.port.element not in left}

    def _followed(self) -> dict[str, Expression]:
        """What stands for variables that are gone, where no rates are needed for it."""
        stage, found = self.stage, self.found
        written = {n: with_definitions(e, found.where) for n, e in found.static.items() if n not in found.inputs}
        # Later entries win: a formula is better than the zero of a vanishing variable, an idle constant better than
        # both.
        return {n: e for n, e in {**self._zeros(), **written, **stage.idle}.items() if n in self._gone()}

    def _zeros(self) -> dict[str, Expression]:
        """What vanishes: a variable of each element at its limit, those of idle ones beside what these keep, the heat of both."""
        zeros: dict[str, Expression] = {}
        for p in self.stage.causal.graph.ports:
            side = self.stage.limited.vanishing.get(p.element)
            if side is not None:
                zeros |= {p.variable(side): ZERO, POWER + p.element: ZERO}
            elif p.element in self.stage.rewired.idle:
                zeros |= {p.across: ZERO, p.through: ZERO, POWER + p.element: ZERO}
        return zeros

    def _refuse_open(self, model: Model, followed: Mapping[str, Expression]) -> None:
        """A law cannot read what is gone where nothing stands for it: the force of a redundant constraint, say."""
        read = sorted(names_in_laws(model) & self._gone() - followed.keys())
        if read:
            raise rules.RATE_IS_LOST.error(
                f"a law reads '{read[0]}', which nothing determines after the limit",
                where=read[0],
                fix=f"keep the element of '{read[0]}', or let the law read another variable",
                members=read,
            )

    # -- the model -------------------------------------------------------------------------------------------------------------

    def _model(self) -> Model:
        followed = self._followed()
        # The order matters: replaced first, so that a variable that is gone is not read any more when it is removed.
        small = with_variables_replaced(self.rewired.model, followed, self.found.rates)
        self._refuse_open(small, followed)
        small = with_laws_replaced(small, followed)
        small = without_variables(small, self._gone(), self._frozen(), self._without_start())
        small = without_parameters(small, [limit.name for limit in self.stage.limits])
        return replace(small, about=self._about(), findings=(), source="")

    def _frozen(self) -> dict[str, Expression]:
        """Inputs of frozen storages, with the values that they started with."""
        stage = self.stage
        elements = {without_index(e.name): e for e in stage.model.elements}
        states = {without_index(p.element): p.state for p in stage.causal.graph.ports}
        found: dict[str, Expression] = {}
        for k in stage.sources.frozen:
            port = stage.sources.graph.ports[k]
            assert isinstance(port.law, SourceLaw), "a frozen storage is a source"
            name = without_index(port.element)
            found[port.law.input] = stage.initial_value(elements[name], states[name])
        return found

    def _about(self) -> str:
        said = ", ".join(map(str, self.stage.limits))
        return f"{self.stage.model.about} Reduced by {said}.".strip()

    # -- its equations ---------------------------------------------------------------------------------------------------------

    def _with_states(self, small: Model) -> tuple[Model, EquationSystem]:
        states = self.stage.states
        known = [p for p in self.stage.sources.graph.ports if p.element not in self.stage.limited.vanishing]
        small = with_variable_names(small, known, lower(small).ports)
        # Asked for only where causality would choose otherwise: a file without `causality` keys is easier to read.
        for attempt in (small, None):
            model = attempt if attempt is not None else with_preferred_states(small, self.stage.choice.states)
            causal = assign_causality(lower(model))
            if {causal.graph.ports[k].state for k in causal.integral} == set(states):
                # Without numbers nobody can say whether what followers start with agrees with the others.
                if any(p.expression is None for p in model.parameters.values()):
                    model = without_initial_values(model, followers(causal))
                return self._with_old_outputs(model, derive_equations(assign_causality(lower(model))))
        raise rules.CANNOT_KEEP.error(
            f"the reduced model has not the states {listing(states)}", where=self.stage.model.name, fix="keep others"
        )

    def _with_old_outputs(self, small: Model, system: EquationSystem) -> tuple[Model, EquationSystem]:
        """The reduced model with outputs named as in the full one: a speed that is no state any more is still that speed."""
        causal = self.stage.causal
        names = derive_equations(causal).outputs
        before = dict(zip((causal.graph.ports[k].element for k in causal.sources), names, strict=True))
        assert system.origin is not None, "equations of a model know it"
        graph = system.origin.graph
        sources = [graph.ports[k].element for k in system.origin.sources]
        after = dict(zip(sources, system.outputs, strict=True))
        states = {graph.ports[k].state for k in graph.storages()}
        # The reduced model may give an output another name where the old one belonged to a storage that is gone.
        lost = {e: n for e, n in before.items() if after.get(e, n) not in (n, *states)}
        taken = {n for p in graph.ports for n in (p.across, p.through, p.state)} | set(small.parameters)
        named = with_output_names(small, lost, {*taken, *small.displacements, *small.signals})
        if named is small:
            return small, system
        return named, derive_equations(assign_causality(lower(named)))
