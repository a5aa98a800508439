"""A part as it stands in the whole: its elements, parameters, displacements and signals under the name of the part."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.core.names import TIME
from tellegen.description.model import (
    NOTHING,
    Element,
    Law,
    MatrixField,
    Model,
    Multiport,
    Parameter,
    Part,
    SignalDefinition,
    SignalSetting,
    Switching,
)
from tellegen.description.signals.blocks import FORMULA
from tellegen.description.variables import input_name
from tellegen.expressions import Expression, Number, Symbol, symbol, to_text

OF_ELEMENTS = ("power", "energy")
"""`power.J` is the power of the element J, so in a part it becomes `power.left.J`."""


@final
@dataclass(slots=True)
class Instance:
    """What a part adds to the whole, by full name."""

    elements: dict[str, Element] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    displacements: dict[str, Expression] = field(default_factory=dict)
    signals: dict[str, SignalDefinition] = field(default_factory=dict)
    fields: list[MatrixField] = field(default_factory=list)
    vectors: dict[str, tuple[str, ...]] = field(default_factory=dict)


def instance_of(part: Part) -> Instance:
    """The elements of a part under their full names, at the nodes of the whole; the same for the same part."""
    model, names = part.model, Renaming(part.name, part.model, node_map(part))
    replaced = replaced_sources(part)
    letters = {member: set(f.letters) for f in model.fields if f.letters for member in f.members}
    found = Instance()
    for element in model.elements:
        if element.name not in replaced:
            made = names.element(element, letters.get(element.name, ()))
            given = part.signals.get(input_name(element)) if element.kind.role == "source" and part.signals else None
            found.elements[made.name] = made if given is None else replace(made, signal=given, signal_text="")
    for name, parameter in model.parameters.items():
        full = names.path(name)
        bound = part.bindings.get(name)
        found.parameters[full] = names.parameter(full, parameter) if bound is None else bound
    found.displacements = {names.path(name): names.expression(rate) for name, rate in model.displacements.items()}
    for name, definition in model.signals.items():
        course = part.signals.get(name)
        found.signals[names.path(name)] = (
            names.signal(definition) if course is None else names.driven(definition, course)
        )
    found.fields = [names.matrix_field(f) for f in model.fields]
    found.vectors = {
        names.path(name): tuple(map(names.path, members))
        for name, members in model.vectors.items()
        if replaced.isdisjoint(members)
    }
    return found


def replaced_sources(part: Part) -> set[str]:
    """The sources of a part whose place something else takes."""
    return {port.source for name, port in part.model.ports.items() if port.source and name in part.ports}


def node_map(part: Part) -> dict[str, str]:
    """Which node of the whole the nodes of joined ports are; references are the same everywhere."""
    found: dict[str, str] = {}
    for name, nodes in part.ports.items():
        found |= dict(zip(part.model.ports[name].nodes, nodes, strict=True))
    return found


@final
class Renaming:
    """Puts the name of a part before all names in it."""

    def __init__(self, prefix: str, model: Model, nodes: Mapping[str, str]) -> None:
        self.prefix = prefix
        self.model = model
        self.nodes = dict.fromkeys(REFERENCES) | dict(nodes)
        self._symbols: dict[str, Expression] = {}
        self._time: bool | None = None

    def path(self, name: str) -> str:
        """The full name; what is said of elements keeps its word before it."""
        kind, dot, element = name.partition(".")
        return f"{kind}.{self.prefix}.{element}" if dot and kind in OF_ELEMENTS else f"{self.prefix}.{name}"

    def node(self, name: str) -> str:
        """The node of the whole."""
        return self.nodes.get(name, f"{self.prefix}.{name}") or name

    def expression(self, expression: Expression, letters: Collection[str] = ()) -> Expression:
        """The expression with full names; letters stand for arguments of laws and stay."""
        if type(expression) is Number:
            return expression
        if type(expression) is Symbol and expression.name not in letters:
            return self._symbol(expression.name)
        return expression.substitute(
            {name: self._symbol(name) for name in expression.free_symbols if name not in letters}
        )

    def _symbol(self, name: str) -> Expression:
        found = self._symbols.get(name)
        if found is None:
            found = symbol(name if name == TIME and self._is_time() else self.path(name))
            self._symbols[name] = found
        return found

    def _is_time(self) -> bool:
        """Whether `t` is the time: where nothing depends on time, a part may have something else of that name."""
        if self._time is None:
            chosen = any(TIME in element.variables.values() for element in self.model.elements)
            self._time = not (chosen or TIME in self.model.parameters or TIME in self.model.displacements)
        return self._time

    def element(self, element: Element, letters: Collection[str]) -> Element:
        """The element under its full name."""
        law, course, modes = element.law, element.signal, element.switching
        return Element(
            f"{self.prefix}.{element.name}",
            element.kind,
            tuple([self.node(node) for node in element.nodes]),
            None if element.value is None else self.expression(element.value),
            None if law is None else self._law(law, letters),
            {side: self.path(name) for side, name in element.variables.items()} if element.variables else NOTHING,
            None if element.initial is None else self.expression(element.initial),
            element.prefer,
            element.forced,
            element.place,
            element.notes,
            None if element.multiport is None else self._multiport(element.multiport),
            None if course is None else self.expression(course),
            "",
            None if modes is None else self._switching(modes),
        )

    def _law(self, law: Law, letters: Collection[str]) -> Law:
        expression = self.expression(law.expression, {law.variable, *letters})
        if expression is law.expression:
            return law
        left = law.text.partition("=")[0].strip() + " = " if "=" in law.text else ""
        return Law(law.form, law.variable, expression, law.gives, left + to_text(expression))

    def _multiport(self, relation: Multiport) -> Multiport:
        return replace(relation, K=self._matrix(relation.K))

    def _matrix(self, matrix: tuple[tuple[Expression, ...], ...]) -> tuple[tuple[Expression, ...], ...]:
        return tuple(tuple(self.expression(entry) for entry in row) for row in matrix)

    def _switching(self, modes: Switching) -> Switching:
        settings = {key: self.expression(value) for key, value in modes.settings.items()}
        return Switching(settings, tuple(map(self.expression, modes.schedule)), modes.start)

    def parameter(self, name: str, parameter: Parameter) -> Parameter:
        """The parameter under its full name."""
        own = parameter.expression
        expression = None if own is None else self.expression(own)
        return Parameter(name, expression, parameter.dimension, parameter.unit, parameter.place)

    def matrix_field(self, found: MatrixField) -> MatrixField:
        """The field with the full names of its members."""
        energy = None if found.energy is None else self.expression(found.energy, found.letters)
        members = tuple(map(self.path, found.members))
        return MatrixField(
            self.path(found.name), members, self._matrix(found.matrix), found.place, energy, found.letters
        )

    def signal(self, definition: SignalDefinition) -> SignalDefinition:
        """The signal under its full name."""
        settings = {key: self._setting(value) for key, value in definition.settings.items()}
        name = self.path(definition.name)
        return SignalDefinition(name, definition.block, settings, definition.dimension, definition.place)

    def driven(self, definition: SignalDefinition, course: Expression) -> SignalDefinition:
        """A signal input that the whole gives a formula."""
        name = self.path(definition.name)
        return SignalDefinition(name, FORMULA, {FORMULA: course}, definition.dimension, definition.place)

    def _setting(self, value: SignalSetting) -> SignalSetting:
        if isinstance(value, Expression):
            return self.expression(value)
        if isinstance(value, tuple):
            return self._several(value)
        return value

    def _several(self, values: tuple[Expression, ...] | tuple[str, ...]) -> SignalSetting:
        """Formulas, or the nodes of a sensor."""
        made = [self.node(value) if isinstance(value, str) else self.expression(value) for value in values]
        return tuple(made)  # type: ignore[return-value]  # all of one kind, as they were
