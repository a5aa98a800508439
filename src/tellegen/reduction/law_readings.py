"""Laws, moduli and fields that read variables of other elements, when such a variable is gone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tellegen.description.model import Element, Model, Switching
from tellegen.description.relations import Law
from tellegen.expressions import Expression, to_text
from tellegen.reduction import rules
from tellegen.reduction.places import formulas_of

Values = Mapping[str, Expression]


def names_in_laws(model: Model) -> set[str]:
    """All names that laws, values, moduli and fields of a model read."""
    return {name for e in _formulas(model) for name in e.free_symbols}


def laws_followed(model: Model, static: Values) -> Model:
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
