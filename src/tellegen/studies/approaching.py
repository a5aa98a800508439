"""Models on the way to a limit: the elements that it acts on, and nothing else, scaled by one further parameter."""

from dataclasses import replace

from tellegen.core.units import DIMENSIONLESS
from tellegen.description.model import Element, Model, Parameter
from tellegen.description.relations import MatrixField
from tellegen.expressions import ONE, Expression, symbol, to_text
from tellegen.reduction import Limit
from tellegen.reduction.places import Places, entry_name, find_places
from tellegen.studies import rules


def approaching(model: Model, limits: tuple[Limit, ...]) -> tuple[Model, str]:
    """The model with a parameter that is 1 for the model itself and 0 in the limit; and the name of the parameter.

    Where a parameter of a limit occurs elsewhere, it keeps its value there, as in the limit itself.

    Raises: ReductionError when a limit names nothing, or the law of an element has nothing to scale.
    """
    name = new_name(model)
    scaled = _Scaling(model, find_places(model, limits), name).model_with_scale()
    parameter = Parameter(name, ONE, DIMENSIONLESS)
    return replace(scaled, parameters={**model.parameters, name: parameter}, source=""), name


class _Scaling:
    def __init__(self, model: Model, places: Places, name: str) -> None:
        self.model, self.places = model, places
        self.scale = symbol(name)

    def model_with_scale(self) -> Model:
        """The model with every place scaled."""
        fields = [self._field(f) if f.name in self.places.acting else f for f in self.model.fields]
        diagonal = {m: f.matrix[k][k] for f in fields for k, m in enumerate(f.members)}
        elements = []
        for element in self.model.elements:
            if element.name in diagonal:
                own = element.value if element.value is None else diagonal[element.name]
                elements.append(replace(element, value=own))
            else:
                elements.append(self._element(element) if element.name in self.places.acting else element)
        return replace(self.model, elements=tuple(elements), fields=tuple(fields))

    def _element(self, element: Element) -> Element:
        if element.law is not None:
            expression = self._scaled(element.name, element.name, element.law.expression)
            return replace(
                element, law=replace(element.law, expression=expression, text=to_text(expression), table=None)
            )
        if element.multiport is not None:
            K = tuple(tuple(self._scaled(element.name, element.name, e) for e in row) for row in element.multiport.K)
            return replace(element, multiport=replace(element.multiport, K=K))
        assert element.value is not None, "a limit acts on elements with a value, a law or a matrix"
        return replace(element, value=self._scaled(element.name, element.name, element.value))

    def _field(self, field: MatrixField) -> MatrixField:
        if field.energy is not None:
            raise rules.NOT_ON_THE_WAY.error(
                f"'{field.name}' is given by its energy", where=field.name, fix="give it by a matrix"
            )
        matrix = tuple(
            tuple(self._scaled(field.name, entry_name(field.name, i, j), e) for j, e in enumerate(row))
            for i, row in enumerate(field.matrix)
        )
        return replace(field, matrix=matrix, stiffness=None)

    def _scaled(self, owner: str, place: str, expression: Expression) -> Expression:
        marked = self.places.value(place, expression)
        own = dict.fromkeys(self.places.marks.get(place, ONE).free_symbols, expression)
        acting = self.places.on(owner)
        changed = {name: self._on_the_way(limit, own.get(name, symbol(name))) for name, limit in acting.items()}
        return marked.substitute(changed)  # once: what is scaled occurs in its own scaled value

    def _on_the_way(self, limit: Limit, value: Expression) -> Expression:
        if limit.order == -1:
            return value / self.scale
        if limit.order == 1:
            return value * self.scale
        assert limit.to is not None, "what is not infinite has a value"
        return limit.to + (value - limit.to) * self.scale


def new_name(model: Model) -> str:
    """A name for a factor that nothing else in the model has."""
    taken = {*model.parameters, *(e.name for e in model.elements), *model.displacements, *model.signals}
    taken |= {name for e in model.elements for name in e.variables.values()}
    name = "epsilon"
    while name in taken:
        name += "_1"
    return name
