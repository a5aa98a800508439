"""What else of a model changes with a limit: experiment, rates, signals and parameters that nothing uses any more."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from tellegen.core.domains import Side, other_side
from tellegen.description.model import Element, Model
from tellegen.description.signals.values import Signal
from tellegen.expressions import Expression, to_text
from tellegen.graph import Port
from tellegen.reduction import rules

Values = Mapping[str, Expression]


def without_variables(model: Model, gone: Iterable[str], frozen: Values) -> Model:
    """The model whose experiment neither starts nor shows variables that are gone, and drives frozen ones at their values."""
    removed = {*gone, *frozen}
    experiment = model.experiment
    constants = {name: Signal("constant", (value,), to_text(value), value) for name, value in frozen.items()}
    return replace(
        model,
        experiment=replace(
            experiment,
            inputs={**experiment.inputs, **constants},
            initial={name: e for name, e in experiment.initial.items() if name not in removed},
            outputs=tuple(name for name in experiment.outputs if name not in removed or name in frozen),
        ),
    )


def with_followed(model: Model, static: Values, lost: Iterable[str]) -> Model:
    """The model whose displacements and signals read what stands for the variables that are gone.

    Raises: ReductionError (T109) when one of them reads a variable of `lost`, which follows from rates only.
    """
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
    inputs = {n: _course(course, static) for n, course in model.experiment.inputs.items()}
    experiment = replace(model.experiment, inputs=inputs)
    return replace(model, displacements=rates, signals=signals, elements=tuple(elements), experiment=experiment)


def _course(course: Signal, static: Values) -> Signal:
    """What an input does, with the formulas of variables that are gone in its formula and in its text, which keeps its units."""
    read = static.keys() & course.expression.free_symbols if course.expression is not None else set()
    if course.expression is None or not read:
        return course
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
    formulas = [p.expression for p in model.parameters.values() if p.expression is not None]
    for element in model.elements:
        formulas += [e for e in (element.value, element.initial, element.signal) if e is not None]
        formulas += [element.law.expression] if element.law is not None else []
        if element.switching is not None:
            formulas += [*element.switching.settings.values(), *element.switching.schedule]
        formulas += [e for row in element.multiport.K for e in row] if element.multiport is not None else []
    formulas += [e for f in model.fields for row in f.matrix for e in row]
    formulas += [f.energy for f in model.fields if f.energy is not None]
    formulas += [*model.displacements.values(), *model.experiment.initial.values()]
    formulas += [e for signal in model.experiment.inputs.values() for e in signal.arguments]
    formulas += [e for signal in model.experiment.inputs.values() if (e := signal.expression) is not None]
    for definition in model.signals.values():
        for value in definition.settings.values():
            parts = value if isinstance(value, tuple) else (value,)
            formulas += [e for e in parts if isinstance(e, Expression)]
    return {name for e in formulas for name in e.free_symbols}


def initial_value(model: Model, element: Element, state: str) -> Expression | None:
    """The value of a state at the start, where the model gives one."""
    if state in model.experiment.initial:
        return model.experiment.initial[state]
    return element.initial


def without_starts(model: Model, dependent: Iterable[Port]) -> Model:
    """The model in which storages that follow others do not start by themselves."""
    ports = list(dependent)
    elements, states = {p.element for p in ports}, {p.state for p in ports}
    if states.isdisjoint(model.experiment.initial) and not any(
        e.name in elements and e.initial is not None for e in model.elements
    ):
        return model
    initial = {name: e for name, e in model.experiment.initial.items() if name not in states}
    return replace(
        model,
        elements=tuple(replace(e, initial=None) if e.name in elements else e for e in model.elements),
        experiment=replace(model.experiment, initial=initial),
    )


def keeping_names(model: Model, before: Iterable[Port], after: Iterable[Port]) -> Model:
    """The model whose variables have the names that they had, also where a name has become free for another one."""
    sides: tuple[Side, Side] = ("across", "through")
    old = {p.element: p for p in before}
    changed: dict[str, dict[str, str]] = {
        p.element: {side: old[p.element].variable(side) for side in sides}
        for p in after
        if p.element in old and any(p.variable(side) != old[p.element].variable(side) for side in sides)
    }
    elements = (
        replace(e, variables={**e.variables, **changed[e.name]}) if e.name in changed else e for e in model.elements
    )
    return replace(model, elements=tuple(elements)) if changed else model


def naming_outputs(model: Model, outputs: Mapping[str, str], taken: Collection[str]) -> Model:
    """The model in which what answers a source has the name that it had (`outputs`, by source), where no other variable has it."""
    free = {source: name for source, name in outputs.items() if name not in taken}

    def named(element: Element) -> Element:
        if element.kind.role != "source" or element.name not in free:
            return element
        return replace(element, variables={**element.variables, other_side(element.kind.side): free[element.name]})

    return replace(model, elements=tuple(map(named, model.elements))) if free else model


def preferring(model: Model, elements: Iterable[str]) -> Model:
    """The model in which these storages, and no others, are asked to be states."""
    chosen = set(elements)

    def side(element: Element) -> Side | None:
        if element.forced or element.kind.role != "storage":
            return element.prefer
        # What an earlier limit asked for would compete with what this one leaves.
        return element.kind.side if element.name in chosen else None

    return replace(model, elements=tuple(replace(e, prefer=side(e)) for e in model.elements))
