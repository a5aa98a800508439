"""One part from its line: what it uses, what its ports are joined to, which of its parameters and signals the whole gives."""

from collections.abc import Iterator
from typing import final

from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.description import repetition_rules
from tellegen.description.context import Context, Pending
from tellegen.description.curves import read_curve
from tellegen.description.dimensions import si_unit, without_marks
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.indexing import Copy, integer_expression, name_at, read_name
from tellegen.description.model import Model, Parameter, Part
from tellegen.description.parts import rules
from tellegen.description.parts.instances import OF_ELEMENTS
from tellegen.description.parts.joining import Ends, PortsOfPart
from tellegen.description.parts.joints import Joints
from tellegen.description.parts.names import names_inside, read_names
from tellegen.description.parts.shelf import Shelf
from tellegen.description.quantities import Reading, read_quantity
from tellegen.description.signals.formulas import parse_formula
from tellegen.description.variables import input_name
from tellegen.expressions import RESERVED_WORDS, Expression, Number

KEYS = {
    "use": "a file beside the model, such as motor.yaml, or a part of the library by its name",
    "ports": "which nodes each port is joined to: a node, two nodes, or {source: name} for the place of a source",
    "signals": "what each signal input is given: a formula of signals, variables, parameters and time",
    "parameters": "values of parameters of the part; they may also stand beside the other keys",
    "names": "what is inside by other names than `part.name`: {inside: outside}, a list of names that stay, or `own` for all",
}


@final
class PartLine:
    """The line of one part, or of one copy of it."""

    def __init__(
        self, context: Context, joints: Joints, key: Scalar, node: Node, indices: tuple[str, ...] = (), copy: Copy = ()
    ) -> None:
        self.context = context
        self.joints = joints
        self.key = key
        self.indices = indices
        self.copy = copy
        self.counters = dict(zip(indices, copy, strict=True))
        self.name = self._name()
        self.node = self.context.mapping(node, f"the part {self.name}")
        self.texts: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.signal_courses: dict[str, Expression] = {}
        self.readings: dict[str, tuple[Reading, Scalar]] = {}  # bindings that decide the dimension of their parameter

    def read(self, shelf: Shelf) -> Part | None:
        """The part; None where the errors in its file were reported before."""
        context = self.context
        use = self.node.get("use")
        if use is None:
            what = f"the part {self.name} does not say what it uses"
            fix = "add 'use: motor.yaml' or the name of a library part"
            raise context.error(rules.NO_PART_LINE, self.key, what, fix=fix, where=self.name)
        text = context.scalar(use, f"the use of {self.name}")
        model = shelf.template(context, text, {})
        given = list(self._bindings())
        if model is not None and (counts := self._counts(model, given)):
            self._refuse_fixed(text, shelf, counts)
            model = shelf.template(context, text, counts)
        if model is None:
            context.broken.add(self.name)
            return None
        ports = PortsOfPart(self.joints, self.name, self.indices, self.copy).read(
            model, self.node.get("ports"), self.key
        )
        self.names = self._names(model, ports)
        bindings = {key.text: self._bind(model, key, value) for key, value in given}
        self._signals(model)
        place = context.place(self.key)
        return Part(self.name, text.text, model, ports, bindings, self.signal_courses, place, self.texts, self.names)

    def _name(self) -> str:
        context, key = self.context, self.key
        name = name_at(read_name(context, key, self.indices, "a part"), self.copy)
        if name in context.elements or name in self.joints.parts:
            what = f"'{name}' names {'an element' if name in context.elements else 'another part'} already"
            raise context.error(rules.NAME_CLASH, key, what, fix="rename one of them")
        if name in RESERVED_WORDS or name in OF_ELEMENTS or "." in name:
            dots, meaning = "its dots would lead into another part", "it has a meaning of its own in formulas"
            what = f"'{name}' cannot name a part: {dots if '.' in name else meaning}"
            raise context.error(rules.NAME_CLASH, key, what, fix="choose another name")
        return name

    def _names(self, model: Model, ports: Ends) -> dict[str, str]:
        gone = {port.source for name, port in model.ports.items() if port.source and name in ports}
        known = names_inside(model, gone)
        return read_names(self.context, (self.name, model.name), known, self.node.get("names"), self.indices, self.copy)

    # Parameters

    def _bindings(self) -> Iterator[tuple[Scalar, Node]]:
        """The parameters that the line sets, each once."""
        own = [(key, value) for key, value in self.node.items() if key.text not in KEYS]
        seen = {key.text for key, _ in own}
        yield from own
        listed = self.node.get("parameters")
        for key, value in self.context.mapping(listed, f"the parameters of {self.name}").items() if listed else ():
            if key.text in seen:
                what = f"'{key.text}' of the part {self.name} is set twice"
                raise self.context.error(rules.BOUND_TWICE, key, what, fix="keep one of the values", where=self.name)
            yield key, value

    def _refuse_fixed(self, use: Scalar, shelf: Shelf, counts: dict[str, int]) -> None:
        if use.text in shelf.given:
            what = f"'{next(iter(counts))}' of the part {self.name} decided how many elements the model has"
            fix = "use its file, or build the model with the other number"
            raise self.context.error(rules.UNKNOWN_BINDING, use, what, fix=fix, where=self.name)

    def _counts(self, model: Model, given: list[tuple[Scalar, Node]]) -> dict[str, int]:
        """The numbers that decide how many elements the part has."""
        found: dict[str, int] = {}
        for key, node in given:
            if key.text not in model.counts:
                continue
            subject = f"'{key.text}' of the part {self.name}"
            if "." in key.text:
                what = f"{subject} decides how many elements there are further inside"
                fix = f"set it in the file of {self.name}, by a parameter that you can set here"
                raise self.context.error(rules.UNKNOWN_BINDING, key, what, fix=fix, where=self.name)
            text = self.context.formula(node, subject)
            value = integer_expression(self.context, text, text.text, self.indices).substitute(self.counters)
            if not (isinstance(value, Number) and type(value.rational) is int and value.rational >= 0):
                what, fix = f"{subject} is {value}, and it counts elements", "give a whole number"
                raise self.context.error(repetition_rules.BAD_RANGE, text, what, fix=fix, where=self.name)
            found[key.text] = value.rational
        return found

    def _bind(self, model: Model, key: Scalar, node: Node) -> Parameter:
        context = self.context
        parameter = model.parameters.get(key.text)
        if parameter is None:
            known = [*KEYS, *model.parameters]
            fix = did_you_mean(key.text, known[:2000]) or f"its parameters are {listing(model.parameters, 20)}"
            what = f"'{key.text}' is no parameter of the part {self.name} ({model.name})"
            raise context.error(rules.UNKNOWN_BINDING, key, what, fix=fix, where=self.name)
        full, subject = self.names.get(key.text, f"{self.name}.{key.text}"), f"'{key.text}' of the part {self.name}"
        if isinstance(node, Mapping):
            return self._curve(full, subject, parameter, key, node)
        text = context.formula(node, subject)
        self.texts[key.text] = self._text(text)
        reading = read_quantity(text.text, lambda: context.text_place(text), self.counters)
        place = context.place(key)
        dimension = parameter.dimension
        if reading.marked is None:
            found = reading.dimension or dimension  # a bare number fits any unit
            if dimension is not None and found is not None and found != dimension:
                context.add_errors([context.wrong_dimension(subject, found, dimension, context.text_place(text))])
            return Parameter(full, reading.expression, found, reading.unit or parameter.unit, place)
        if dimension is None:
            self.readings[full] = (reading, text)
            return Parameter(full, reading.expression, None, "", place)
        context.pending.append(Pending(reading.marked, dimension, subject, lambda: context.text_place(text), {}))
        return Parameter(full, reading.expression, dimension, si_unit(dimension), place)

    def _curve(self, full: str, subject: str, parameter: Parameter, key: Scalar, node: Mapping) -> Parameter:
        """A parameter that the line gives by a table, or as a slope."""
        found = read_curve(self.context, full, key, node)
        wanted = parameter.dimension
        if wanted is not None and found.dimension is not None and found.dimension != wanted:
            place = self.context.place(node)
            self.context.add_errors([self.context.wrong_dimension(subject, found.dimension, wanted, place)])
        return found

    def _text(self, text: Scalar) -> str:
        """What the user wrote, if it means the same outside a `repeat`."""
        return "" if self.indices else text.text.strip()

    # Signals

    def _signals(self, model: Model) -> None:
        node = self.node.get("signals")
        for key, value in self.context.mapping(node, f"the signals of {self.name}").items() if node else ():
            inputs = model.signal_ports.inputs
            if key.text not in inputs:
                fix = did_you_mean(key.text, inputs)
                if not fix:
                    offer = f"offer it in its file: 'signal ports: {{inputs: [{key.text}]}}'"
                    fix = f"its inputs are {listing(inputs, 12)}" if inputs else offer
                what = f"the part {self.name} ({model.name}) has no signal input '{key.text}'"
                raise self.context.error(rules.UNKNOWN_PORT, key, what, fix=fix, where=self.name)
            subject = f"the signal '{key.text}' of the part {self.name}"
            text = self.context.formula(value, subject)
            marked = parse_formula(self.context, text, subject, self.counters)
            self.context.formulas.append((marked, _dimension(model, key.text), subject, text))
            self.texts[key.text] = self._text(text)
            self.signal_courses[key.text] = without_marks(marked)


def _dimension(model: Model, name: str) -> Dimension | None:
    """The unit of a signal input."""
    if name in model.signals:
        return model.signals[name].dimension
    source = next(e for e in model.elements if e.kind.role == "source" and input_name(e) == name)
    return parse_unit(source.kind.domain.power(source.kind.side).unit).dimension
