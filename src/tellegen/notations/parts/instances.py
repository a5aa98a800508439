"""A part as it stands in the whole: its elements, parameters, displacements and signals under the names that they have there."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.core.names import TIME
from tellegen.expressions import Expression, Number, Symbol, symbol, to_text
from tellegen.expressions.tokens import PATH
from tellegen.model.laws import Law, MatrixField
from tellegen.model.model import (
    NOTHING,
    Element,
    Model,
    Parameter,
    ParameterCurve,
    ParameterSlope,
    Part,
    Switching,
    input_name,
    known_variables,
    variable_name,
)
from tellegen.model.signals import SignalDefinition, SignalSetting
from tellegen.notations.signals.blocks import FORMULA

OWN = "own"
"""`names: own`: all that is inside keeps its name, for a part that is used once."""


def names_inside(model: Model, gone: Collection[str] = ()) -> dict[str, bool]:
    """All that can be named anew, and whether it is called after an element; `gone` are sources that something else replaces."""
    found: dict[str, bool] = {}
    for element in model.elements:
        if element.name not in gone:
            found |= dict.fromkeys(_default_variables(element).values(), True)
            found |= dict.fromkeys((element.name, *element.variables.values()), False)
    fields = (field.name for field in model.fields)
    others = (*model.parameters, *model.displacements, *model.signals, *fields, *model.vectors)
    return found | dict.fromkeys(others, False)


def written_names(part: Part) -> str | list[str] | dict[str, str]:
    """The names of a part as its line has them."""
    names = part.names
    if any(inside != outside for inside, outside in names.items()):
        return dict(names)
    gone = {port.source for name, port in part.model.ports.items() if name in part.ports}
    own = {name for name, follows in names_inside(part.model, gone).items() if not follows}
    return OWN if names.keys() == own else list(names)


def _default_variables(element: Element) -> dict[str, str]:
    """The power variables of a one-port that are called after it, by side."""
    if element.kind.role == "coupling":
        return {}
    input_side = element.kind.side if element.kind.role == "source" else ""
    return {
        side: variable_name(element, side)
        for side in ("across", "through")
        if side not in element.variables and side != input_side
    }


OF_ELEMENTS = ("power", "energy")
"""`power.J` is the power of the element J, so in a part it becomes `power.left.J`."""


@final
@dataclass(slots=True)
class PartInstance:
    """What a part adds to the whole, by full name."""

    elements: dict[str, Element] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    displacements: dict[str, Expression] = field(default_factory=dict)
    signals: dict[str, SignalDefinition] = field(default_factory=dict)
    fields: list[MatrixField] = field(default_factory=list)
    vectors: dict[str, tuple[str, ...]] = field(default_factory=dict)


def part_instance(part: Part) -> PartInstance:
    """The elements of a part under their full names, at the nodes of the whole; the same for the same part."""
    model, names = part.model, Renaming(part.name, part.model, node_map(part), part.names)
    replaced = replaced_sources(part)
    # Letters of a field stand for arguments of its laws and are no names of the part.
    letters = {member: set(f.letters) for f in model.fields if f.letters for member in f.members}
    found = PartInstance()
    for element in model.elements:
        if element.name not in replaced:
            made = names.element(element, letters.get(element.name, ()))
            given = part.signals.get(input_name(element)) if element.kind.role == "source" and part.signals else None
            text = part.texts.get(input_name(element), "")
            found.elements[made.name] = made if given is None else replace(made, signal=given, signal_text=text)
    for name, parameter in model.parameters.items():
        full = names.path(name)
        bound = part.bindings.get(name)
        found.parameters[full] = names.parameter(full, parameter) if bound is None else bound
    found.displacements = {names.path(name): names.expression(rate) for name, rate in model.displacements.items()}
    for name, definition in model.signals.items():
        course = part.signals.get(name)
        found.signals[names.path(name)] = (
            names.signal(definition) if course is None else names.driven(definition, course, part.texts.get(name, ""))
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
    """Puts the name of a part before all names in it, except for those that its line chooses."""

    def __init__(self, prefix: str, model: Model, nodes: Mapping[str, str], names: Mapping[str, str] = NOTHING) -> None:
        self.prefix, self.model = prefix, model
        # None stands for a name that stays: the ground of every part is the ground of the whole.
        self.nodes = dict.fromkeys(REFERENCES) | dict(nodes)
        self.chosen = names
        self._named_after = _named_after_elements(model.elements, names)
        self._symbols: dict[str, Expression] = {}
        self._time: bool | None = None

    def path(self, name: str) -> str:
        """The full name; what is said of elements keeps its word before it."""
        chosen = self.chosen.get(name) or self._named_after.get(name)
        if chosen is not None:
            return chosen
        kind, dot, element = name.partition(".")
        return f"{kind}.{self.prefix}.{element}" if dot and kind in OF_ELEMENTS else f"{self.prefix}.{name}"

    def node(self, name: str) -> str:
        """The node of the whole."""
        return self.nodes.get(name, f"{self.prefix}.{name}") or name

    def expression(self, expression: Expression, letters: Collection[str] = ()) -> Expression:
        """The expression with full names; letters stand for arguments of laws and stay."""
        # Most values are numbers or single names: for these no walk is made.
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
        multiport = element.multiport
        # Written out: `replace` would read all fields first, and there may be 200 000 elements.
        return Element(
            name=self.path(element.name),
            kind=element.kind,
            nodes=tuple([self.node(node) for node in element.nodes]),
            value=None if element.value is None else self.expression(element.value),
            law=None if law is None else self._law(law, letters),
            variables=self._variables(element),
            initial=None if element.initial is None else self.expression(element.initial),
            initial_content=element.initial_content,
            prefer=element.prefer,
            forced=element.forced,
            place=element.place,
            notes=element.notes,
            multiport=None if multiport is None else replace(multiport, K=self._matrix(multiport.K)),
            signal=None if course is None else self.expression(course),
            signal_text="" if course is None else self._text(element.signal_text, course.free_symbols),
            switching=None if modes is None else self._switching(modes),
        )

    def _variables(self, element: Element) -> Mapping[str, str]:
        """The names of its variables that were chosen, in its file or on the line of the part."""
        if not (element.variables or self.chosen):
            return NOTHING
        found = {side: self.path(name) for side, name in element.variables.items()}
        defaults = _default_variables(element) if self.chosen else {}
        return found | {side: self.chosen[name] for side, name in defaults.items() if name in self.chosen}

    def _law(self, law: Law, letters: Collection[str]) -> Law:
        expression = self.expression(law.expression, {law.variable, *letters})
        if expression is law.expression:
            return law
        # The text would name what is inside the part, so the right side is written anew.
        left = law.text.partition("=")[0].strip() + " = " if "=" in law.text else ""
        return Law(law.form, law.variable, expression, law.gives, left + to_text(expression))

    def _matrix(self, matrix: tuple[tuple[Expression, ...], ...]) -> tuple[tuple[Expression, ...], ...]:
        return tuple(tuple(self.expression(entry) for entry in row) for row in matrix)

    def _switching(self, modes: Switching) -> Switching:
        settings = {key: self.expression(value) for key, value in modes.settings.items()}
        return Switching(settings, tuple(map(self.expression, modes.schedule)), modes.start)

    def parameter(self, name: str, parameter: Parameter) -> Parameter:
        """The parameter under its full name."""
        own = parameter.expression
        expression = None if own is None else self.expression(own)
        return replace(parameter, name=name, expression=expression, curve=self._curve(parameter.curve))

    def _curve(self, curve: ParameterSlope | ParameterCurve | None) -> ParameterSlope | ParameterCurve | None:
        if isinstance(curve, ParameterSlope):
            return ParameterSlope(self.path(curve.of), self.path(curve.by))
        return None if curve is None else ParameterCurve(curve.table, self.expression(curve.at))

    def matrix_field(self, found: MatrixField) -> MatrixField:
        """The field with the full names of its members."""
        return replace(
            found,
            name=self.path(found.name),
            members=tuple(map(self.path, found.members)),
            matrix=self._matrix(found.matrix),
            energy=None if found.energy is None else self.expression(found.energy, found.letters),
            stiffness=None if found.stiffness is None else self._matrix(found.stiffness),
        )

    def signal(self, definition: SignalDefinition) -> SignalDefinition:
        """The signal under its full name."""
        settings = {key: self._setting(value) for key, value in definition.settings.items()}
        name = self.path(definition.name)
        dimension, unit = definition.dimension, definition.unit
        ends = definition.between
        between = None if ends is None else (self.path(ends[0]), self.path(ends[1]))
        read = frozenset[str]().union(*(formula.free_symbols for formula in definition.formulas()))
        texts = {key: self._text(text, read) for key, text in definition.texts.items()}
        return SignalDefinition(
            name, definition.block, settings, dimension, definition.place, texts, unit=unit, between=between
        )

    def _text(self, text: str, read: Collection[str]) -> str:
        """The text of a formula with full names for what it reads; who prints it looks whether it still is that formula."""
        return re.sub(PATH, lambda m: str(self._symbol(m[0])) if m[0] in read else m[0], text) if text else text

    def driven(self, definition: SignalDefinition, course: Expression, text: str) -> SignalDefinition:
        """A signal input that the whole gives a formula."""
        name = self.path(definition.name)
        texts = {FORMULA: text}
        return SignalDefinition(name, FORMULA, {FORMULA: course}, definition.dimension, definition.place, texts)

    def _setting(self, value: SignalSetting) -> SignalSetting:
        if isinstance(value, Expression):
            return self.expression(value)
        if not isinstance(value, tuple):
            return value
        # Formulas, or the nodes of a sensor.
        made = [self.node(part) if isinstance(part, str) else self.expression(part) for part in value]
        return tuple(made)  # type: ignore[return-value]  # all of one kind, as they were


def _named_after_elements(elements: Iterable[Element], names: Mapping[str, str]) -> dict[str, str]:
    """The variables that are called after elements with chosen names, such as the power of each, by their names inside."""
    found: dict[str, str] = {}
    for element in elements if names else ():
        if element.name in names:
            after = known_variables([replace(element, name=names[element.name])])
            found |= dict(zip(known_variables([element]), after, strict=True))
    return {inside: outside for inside, outside in found.items() if inside not in names}
