"""Parameters from their lines: values with units, formulas of each other, curves."""

from collections.abc import Mapping as TypingMapping
from dataclasses import replace

from tellegen.core.errors import Place, TellegenError
from tellegen.description.context import Context, Pending
from tellegen.description.curves import read_curve
from tellegen.description.dimensions import Open, si_unit
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.indexing import read_name
from tellegen.description.keys import form_of, make_form
from tellegen.description.lines import reserved
from tellegen.description.model import Parameter
from tellegen.description.quantities import Reading
from tellegen.description.values import definition_order
from tellegen.expressions import RESERVED_WORDS, Number, Symbol, number


class ParametersReader:
    """Reads `parameters:`; dimensions are settled when all of them, and those of parts, are known."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.readings: dict[str, Reading] = {}  # of parameters whose dimension is not known yet
        self.texts: dict[str, Scalar] = {}
        self.order: list[str] = []

    def add(self, readings: TypingMapping[str, tuple[Reading, Scalar]]) -> None:
        """Take over parameters of parts that are given by formulas."""
        for name, (reading, text) in readings.items():
            self.readings[name], self.texts[name] = reading, text

    def read(self, node: Node) -> None:
        """Parse every parameter."""
        for key, value in self.context.mapping(node, "'parameters'").items():
            if self.context.is_rest(key, value):
                continue
            try:
                self._read_parameter(key, value)
            except TellegenError as error:
                self.context.broken.add(key.text)
                self.context.collect(error)

    def _read_parameter(self, key: Scalar, node: Node) -> None:
        context = self.context
        name = read_name(context, key, (), "a parameter")
        assert isinstance(name, str), "without indices a name is a text"
        if name in RESERVED_WORDS:
            raise reserved(context, key, "a parameter")
        place = context.place(key)
        if isinstance(node, Mapping):
            context.parameters[name] = read_curve(context, name, key, node)
            return
        text = context.scalar(node, f"the value of {name}")
        if not text.text.strip():
            context.parameters[name] = Parameter(name, None, None, "", place)
            return
        self.texts[name] = text
        if name in context.given_counts:
            context.parameters[name] = Parameter(name, number(context.given_counts[name]), None, "", place)
            context.counts[name] = context.given_counts[name]
            return
        reading = context.quantity(text, f"the value of {name}")
        context.parameters[name] = Parameter(name, reading.expression, reading.dimension, reading.unit, place)
        if reading.marked is not None:
            self.readings[name] = reading
        elif (
            reading.dimension is None
            and isinstance(reading.expression, Number)
            and type(reading.expression.rational) is int
        ):
            context.counts[name] = reading.expression.rational

    def settle_early(self) -> None:
        """The dimensions of parameters given by formulas, for a notation in which units choose the kind of an element.

        What is wrong in a formula is said later, when all parameters are known.
        """
        parameters = self.context.parameters
        for name in definition_order(parameters)[0]:
            if name in self.readings and (dimension := self.context.dimension_of(self.readings[name])) is not None:
                parameters[name] = replace(parameters[name], dimension=dimension, unit=si_unit(dimension))

    def settle(self) -> None:
        """The dimensions of parameters, each after those it uses."""
        context = self.context
        self.order, cycles = definition_order(context.parameters)
        context.add_errors(cycles)
        for name in self.order:
            if name not in self.readings:
                continue
            reading = self.readings[name]
            assert reading.marked is not None, "plain readings need no second look"
            pending = Pending(reading.marked, None, f"the value of {name}", _At(context, self.texts[name]), {})
            measure = context.check(pending)
            if not isinstance(measure, Open):
                context.parameters[name] = replace(context.parameters[name], dimension=measure, unit=si_unit(measure))

    def check_own_names(self) -> None:
        """A parameter that an element takes by its own name has the unit of the element; one without value takes it over."""
        parameters = self.context.parameters
        for name, element in self.context.elements.items():
            if type(element.value) is not Symbol:
                continue
            used = parameters.get(element.value.name)
            if used is None or (used.dimension is not None and used.name != name):
                continue
            form = form_of(element.kind.name) or make_form(element.kind)
            if used.dimension is None:
                if used.expression is None:
                    unit = element.kind.quantity.unit if element.kind.quantity else ""
                    unit = unit or si_unit(form.dimension)
                    parameters[used.name] = replace(used, dimension=form.dimension, unit=unit)
            elif used.dimension != form.dimension and name in self.texts:
                word = element.kind.quantity.word if element.kind.quantity else "value"
                place = self.context.text_place(self.texts[name])
                finding = self.context.wrong_dimension(f"the {word} of {name}", used.dimension, form.dimension, place)
                self.context.add_errors([finding])

    def constant(self) -> frozenset[str]:
        """Parameters that depend on no displacement."""
        moving = set(self.context.displacements)
        for name in self.order:
            expression = self.context.parameters[name].expression if name in self.context.parameters else None
            if expression is not None and expression.free_symbols & moving:
                moving.add(name)
        return frozenset(self.context.parameters.keys() - moving)


class _At:
    """Where a text stands, found only when somebody asks."""

    def __init__(self, context: Context, node: Scalar) -> None:
        self.context = context
        self.node = node

    def __call__(self) -> Place:
        return self.context.text_place(self.node)
