"""The experiment in a file: how long, with which inputs, from where, and what to show."""

import re
from collections.abc import Mapping
from functools import cached_property, partialmethod
from typing import Final, get_args

from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, listing, named_after
from tellegen.core.units import Dimension, parse_unit
from tellegen.expressions import FUNCTIONS, Expression, Number
from tellegen.model.dimensions import dimension_in_words
from tellegen.model.model import (
    Element,
    Experiment,
    Start,
    ambient_temperatures,
    input_name,
    known_variables,
    state_variables,
)
from tellegen.model.signals import Signal
from tellegen.notations import rules
from tellegen.notations.context import PendingCheck, ReadingContext
from tellegen.notations.grammar import EXPERIMENT
from tellegen.notations.parameters import finite_value
from tellegen.notations.quantities import read_quantity
from tellegen.notations.signals import rules as signals_rules
from tellegen.notations.signals.blocks import expand_signal
from tellegen.notations.signals.formulas import (
    SECOND,
    SHAPES,
    FormulaScope,
    parse_formula,
    place_arguments,
    refuse_angular,
)
from tellegen.notations.yaml.document import Node, Scalar

STARTS: Final[tuple[Start, ...]] = get_args(Start)
_CALL = re.compile(r"([A-Za-z]\w*)\s*\((.*)\)", re.DOTALL)


def read_experiment(context: ReadingContext, node: Node) -> Experiment:
    """The experiment; all its parts are optional."""
    mapping = context.record(node, EXPERIMENT, "the experiment")
    reader = _ExperimentReader(context)
    parts: dict[str, object] = {}
    for key, value in mapping.items():
        if key.text in EXPERIMENT.names:
            with context.collecting():
                parts[key.text] = getattr(reader, "read_" + key.text)(value)
    return Experiment(**parts)  # type: ignore[arg-type]  # each reader gives what its field takes


class _ExperimentReader:
    def __init__(self, context: ReadingContext) -> None:
        self.context = context

    def read_until(self, node: Node) -> Expression:
        expression = self.quantity(self.context.scalar(node, "the duration"), SECOND, "the duration of the experiment")
        if isinstance(expression, Number) and expression.rational <= 0:
            what = f"the duration of the experiment is {expression} s"
            raise self.context.error(rules.BAD_NUMBER, node, what, fix="give a positive time, such as 0.5 s")
        return expression

    def quantity(
        self, node: Scalar, wanted: Dimension | None, subject: str, at: int = 0, text: str | None = None
    ) -> Expression:
        """An expression in SI; by now all parameters are known, so it is checked at once."""
        words = node.text if text is None else text
        place = self.context.text_place(node, at)._replace(text=words)
        if not words.strip():
            raise self.context.error(rules.WRONG_SHAPE, node, f"{subject} is empty", fix="write a number with its unit")
        reading = read_quantity(words, lambda: place)
        if reading.marked is not None:
            asked = PendingCheck(reading.marked, wanted, subject, lambda: place, {})
            self.context.check(asked)
            self.context.pending.append(asked)  # its value is judged with those of all formulas
        else:
            self.context.check_plain(reading, wanted, subject, place)
        if isinstance(reading.expression, Number):
            self.check_size(reading.expression, subject, node)
        return reading.expression

    def check_size(self, expression: Number, subject: str, node: Scalar) -> None:
        try:
            finite_value(expression, {})
        except ArithmeticError:
            what = f"{subject} is beyond the range of a number"
            raise self.context.error(rules.NOT_FINITE, node, what, fix="give a finite number") from None

    # Inputs

    def read_inputs(self, node: Node) -> Mapping[str, Signal]:
        sources = {input_name(e): e for e in self.context.elements.values() if e.kind.role == "source"}
        signals: dict[str, Signal] = {}
        for key, value in self.context.mapping(node, "the inputs").items():
            if not self.context.is_rest(key, value):
                with self.context.collecting():
                    signals[key.text] = self.read_signal(key, value, sources)
        return signals

    def read_signal(self, key: Scalar, node: Node, sources: Mapping[str, Element]) -> Signal:
        source = sources.get(key.text)
        if source is None and self.context.is_broken(key.text):
            unit = None
        elif source is None:
            fix = did_you_mean(key.text, sources) or (
                f"the inputs are {listing(sources)}" if sources else "add a source"
            )
            raise self.context.error(rules.UNKNOWN_INPUT, key, f"'{key.text}' is not an input", fix=fix)
        else:
            unit = parse_unit(source.kind.domain.power(source.kind.side).unit).dimension
        if source is not None and source.signal is not None:
            what = f"the input {key.text} has a signal on the line of {source.name} and another in the experiment"
            raise self.context.error(signals_rules.TWO_DRIVERS, key, what, fix="keep one of them", where=source.name)
        text = self.context.formula(node, f"the signal of {key.text}")
        if source is not None and source.kind.domain.heat_books and source.kind.side == "across":
            self.context.check_from_ambient(text, f"the input {key.text}")
        # A single call of a shape is taken apart here, so that a message can name the argument; all else is a formula.
        match = _CALL.fullmatch(text.text.strip())
        if match is None or not _closes_last(match.group(2)) or match.group(1) in FUNCTIONS:
            return self.read_formula(key, text, unit)
        return self.read_shape(key, text, unit, match.group(1), match.group(2))

    def read_formula(self, key: Scalar, text: Scalar, unit: Dimension | None) -> Signal:
        """A quantity, which stays constant, or a formula of shapes, signals and variables."""
        marked = parse_formula(self.context, text, f"the input {key.text}")
        # A constant input stays a quantity with its unit; one that changes is a signal like any other.
        if not marked.free_symbols or self.is_constant(marked):
            value = self.quantity(text, unit, f"the input {key.text}")
            return Signal("constant", (value,), text.text.strip(), value)
        expression = FormulaScope(self.context).checked(marked, unit, f"the input {key.text}", text)
        return Signal("formula", (), text.text.strip(), expression)

    def is_constant(self, marked: Expression) -> bool:
        """Whether a formula holds parameters alone; what nobody knows is reported as such."""
        changing = FormulaScope(self.context).changing
        return not any(name[0] != "@" and changing(name) for name in marked.free_symbols)

    def read_shape(self, key: Scalar, node: Scalar, unit: Dimension | None, name: str, inside: str) -> Signal:
        shape = SHAPES.get(name)
        if shape is None:
            fix = did_you_mean(name, SHAPES) or f"the shapes are {listing([s.usage(n) for n, s in SHAPES.items()])}"
            raise self.context.error(rules.UNKNOWN_SHAPE, node, f"'{name}' is not a shape of a signal", fix=fix)
        refuse_angular(self.context, node, key.text)
        placed = place_arguments(shape, inside)
        if isinstance(placed, str):
            fix = f"write {shape.usage(name)}: {shape.summary}"
            raise self.context.error(rules.WRONG_ARGUMENTS, node, f"'{name}' {placed}", fix=fix)
        start = node.text.index("(") + 1
        arguments: list[Expression | None] = []
        for argument, found in placed:
            # A slope is in the unit of the input for each second, a start in seconds: the table of shapes tells the
            # powers.
            wanted = None if unit is None else unit.power(argument.of_input).times(SECOND.power(argument.of_time))
            subject = f"the {argument.name} of the input {key.text}"
            arguments.append(
                None if found is None else self.quantity(node, wanted, subject, start + found[0], found[1])
            )
        given = tuple(e for e in arguments if e is not None)
        return Signal(name, given, node.text.strip(), shape.build(*arguments))

    # Variables

    def read_initial(self, node: Node) -> Mapping[str, Expression]:
        states = state_variables(self.context.elements.values())
        ambient = ambient_temperatures(self.context.elements.values())
        found: dict[str, Expression] = {}
        for key, value in self.context.mapping(node, "the initial values").items():
            with self.context.collecting():
                if (
                    key.text in self.context.positions
                ):  # the mechanism was put together by it, and has coordinates of its own
                    continue
                # Only storages and displacements remember: any other variable follows from these at the start, too.
                if key.text not in states and key.text not in self.context.displacements:
                    if self.context.may_be_hidden(key.text):
                        continue
                    # Angles and distances first: they are what people give a mechanism.
                    known = {**self.context.displacements, **states}
                    raise self.unknown(key, known, "the output of a storage, so it has no initial value")
                text = self.context.scalar(value, f"the initial value of {key.text}")
                if key.text in ambient:
                    self.context.check_from_ambient(text, f"the initial value of {key.text}")
                found[key.text] = self.quantity(text, states.get(key.text), f"the initial value of {key.text}")
        return found

    @cached_property
    def variables(self) -> Mapping[str, Dimension | None]:
        """What a run will know by name, inner signals too; the units of displacements and signals follow from their formulas."""
        context = self.context
        elements = context.elements.values()
        found: dict[str, Dimension | None] = {**known_variables(elements), TIME: SECOND}
        for definition in context.signals.values():
            if definition.name not in context.broken:
                found |= dict.fromkeys(part.name for part in expand_signal(definition, lambda wanted: wanted))
        driven = (input_name(e) for e in elements if e.kind.role == "source")
        commands = (named_after(e.kind.settings[0].key, e.name) for e in elements if e.kind.settings)
        inner = (*(f"{name}_course" for name in driven), *commands)
        return found | dict.fromkeys((*context.displacements, *context.signals, *inner))

    def read_outputs(self, node: Node) -> tuple[str, ...]:
        known = self.variables
        names = self.context.texts(node, "the outputs")
        for name in names:
            if name.text not in known and not self.context.may_be_hidden(name.text):
                self.context.collect(self.unknown(name, known, "a variable"))
        return tuple(name.text for name in names)

    def unknown(self, name: Scalar, known: Mapping[str, object], what: str) -> TellegenError:
        fix = did_you_mean(name.text, list(known)[:2000]) or f"some that are: {listing(list(known)[:8])}"
        return self.context.error(rules.UNKNOWN_VARIABLE, name, f"'{name.text}' is not {what}", fix=fix)

    def read_units(self, node: Node) -> Mapping[str, str]:
        """Units to show variables in; those of displacements and signals are checked when they are shown."""
        known = self.variables
        ambient = ambient_temperatures(self.context.elements.values())
        found: dict[str, str] = {}
        for key, value in self.context.mapping(node, "the units").items():
            with self.context.collecting():
                text = self.context.scalar(value, f"the unit of {key.text}")
                if key.text not in known and not self.context.may_be_hidden(key.text):
                    raise self.unknown(key, known, "a variable")
                self.check_shown(text, known.get(key.text), key.text, from_ambient=key.text in ambient)
                found[key.text] = text.text.strip()
        return found

    def check_shown(self, text: Scalar, wanted: Dimension | None, name: str, *, from_ambient: bool) -> None:
        """Refuse a unit that a variable cannot be shown in."""
        unit = parse_unit(text.text, self.context.text_place(text))
        if wanted is not None and unit.dimension != wanted:
            what = f"'{name}' is in {dimension_in_words(wanted)} and cannot be shown in {text.text}"
            fix = f"choose a unit of {dimension_in_words(wanted)}"
            raise self.context.error(rules.BAD_DISPLAY_UNIT, text, what, fix=fix)
        if unit.offset and from_ambient:
            what = f"'{name}' counts from the ambient, and {text.text} has a zero of its own"
            raise self.context.error(rules.SCALE_FROM_AMBIENT, text, what, fix="show it in K")

    def read_start(self, node: Node) -> Start:
        text = self.context.scalar(node, "the start")
        word = text.text.strip()
        if (found := next((start for start in STARTS if start == word), None)) is not None:
            return found
        fix = did_you_mean(word, STARTS) or "write 'initial', or 'steady' to begin in the steady state"
        raise self.context.error(rules.UNKNOWN_START, text, f"'{word}' is no start of a run", fix=fix)

    # Tolerances

    def tolerance(self, node: Node, key: str) -> float:
        text = self.context.scalar(node, key)
        try:
            value = float(text.text)
        except ValueError:
            # No number at all fails the same test as one out of range.
            value = -1.0
        if not 0 < value < float("inf"):
            what = f"{key} is '{text.text}', not a positive number"
            raise self.context.error(rules.BAD_NUMBER, text, what, fix=f"write a number such as '{key}: 1e-6'")
        return value

    read_rtol, read_atol = partialmethod(tolerance, key="rtol"), partialmethod(tolerance, key="atol")


def _closes_last(inside: str) -> bool:
    """Whether the first parenthesis of a call is closed by the last: not so in `f(1)*g(2)`."""
    depth = 0
    for letter in inside:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return True
