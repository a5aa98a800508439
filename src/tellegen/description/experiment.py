"""The experiment: how long, with which inputs, from where, and what to show."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.description import rules
from tellegen.description.context import Context, Pending
from tellegen.description.document import Node, Scalar
from tellegen.description.indexing import split_at_commas
from tellegen.description.model import Element, Experiment, Signal
from tellegen.description.quantities import read_quantity
from tellegen.description.values import finite_value
from tellegen.expressions import FUNCTIONS, Expression, Number

KEYS = {
    "until": "the duration of the run, such as 0.5 s",
    "inputs": "what each input does over time: a quantity, or a shape such as step(24 V)",
    "initial": "values of variables at the start",
    "outputs": "the variables to show",
    "rtol": "the relative tolerance",
    "atol": "the absolute tolerance",
}

SECOND = Dimension(s=1)


class Argument(NamedTuple):
    """An argument of a shape; its unit is that of the input to the power `of_input`, times seconds to the power `of_time`."""

    name: str
    of_input: int
    of_time: int


@final
class Shape(NamedTuple):
    """A shape of a signal over time: how many arguments it takes, and what they are."""

    least: int
    most: int
    summary: str
    arguments: tuple[Argument, ...]

    def usage(self, name: str) -> str:
        """`step(height, [start])`."""
        parts = [argument.name if i < self.least else f"[{argument.name}]" for i, argument in enumerate(self.arguments)]
        return f"{name}({', '.join(parts)})"


def _shape(summary: str, least: int, *arguments: Argument) -> Shape:
    return Shape(least, len(arguments), summary, arguments)


SHAPES: dict[str, Shape] = {
    "step": _shape("zero, then `height` from `start` on (0 s)", 1, Argument("height", 1, 0), Argument("start", 0, 1)),
    "ramp": _shape(
        "rises with `slope` from `start` on (0 s), and stays where it is from `end` on",
        1,
        Argument("slope", 1, -1),
        Argument("start", 0, 1),
        Argument("end", 0, 1),
    ),
    "sine": _shape(
        "offset + amplitude*sin(2*pi*frequency*t + phase)",
        2,
        Argument("amplitude", 1, 0),
        Argument("frequency", 0, -1),
        Argument("phase", 0, 0),
        Argument("offset", 1, 0),
    ),
    "pulse": _shape(
        "`height` from `start` on for the time `width`, then zero; again after each `period`",
        3,
        Argument("height", 1, 0),
        Argument("start", 0, 1),
        Argument("width", 0, 1),
        Argument("period", 0, 1),
    ),
}
"""The shapes that an input can have; a quantity alone is constant."""

_CALL = re.compile(r"([A-Za-z]\w*)\s*\((.*)\)", re.DOTALL)
_ANGULAR = re.compile(r"\b(rad|rpm|deg)\b")


def read_experiment(context: Context, node: Node) -> Experiment:
    """The experiment; all its parts are optional."""
    mapping = context.mapping(node, "the experiment")
    context.check_keys(mapping, KEYS, "the experiment")
    reader = _ExperimentReader(context)
    parts: dict[str, object] = {}
    for key, value in mapping.items():
        if key.text in KEYS:
            try:
                parts[key.text] = getattr(reader, "read_" + key.text)(value)
            except TellegenError as error:
                context.collect(error)
    return Experiment(**parts)  # type: ignore[arg-type]  # each reader gives what its field takes


class _ExperimentReader:
    def __init__(self, context: Context) -> None:
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
            self.context.check(Pending(reading.marked, wanted, subject, lambda: place, {}))
        elif wanted is not None and reading.dimension not in (None, wanted):
            assert reading.dimension is not None, "a bare number was let through"
            self.context.add_errors([self.context.wrong_dimension(subject, reading.dimension, wanted, place)])
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
            if self.context.is_rest(key, value):
                continue
            try:
                signals[key.text] = self.read_signal(key, value, sources)
            except TellegenError as error:
                self.context.collect(error)
        return signals

    def read_signal(self, key: Scalar, node: Node, sources: Mapping[str, Element]) -> Signal:
        source = sources.get(key.text)
        if source is None and key.text in self.context.broken:
            unit = None
        elif source is None:
            fix = did_you_mean(key.text, sources) or (
                f"the inputs are {listing(sources)}" if sources else "add a source"
            )
            raise self.context.error(rules.UNKNOWN_INPUT, key, f"'{key.text}' is not an input", fix=fix)
        else:
            unit = parse_unit(source.kind.domain.power(source.kind.side).unit).dimension
        text = self.context.formula(node, f"the signal of {key.text}")
        match = _CALL.fullmatch(text.text.strip())
        if match is None or not _closes_last(match.group(2)) or match.group(1) in FUNCTIONS:
            value = self.quantity(text, unit, f"the input {key.text}")
            return Signal("constant", (value,), text.text.strip())
        return self.read_shape(key, text, unit, match.group(1), match.group(2))

    def read_shape(self, key: Scalar, node: Scalar, unit: Dimension | None, name: str, inside: str) -> Signal:
        shape = SHAPES.get(name)
        if shape is None:
            fix = did_you_mean(name, SHAPES) or f"the shapes are {listing([s.usage(n) for n, s in SHAPES.items()])}"
            raise self.context.error(rules.UNKNOWN_SHAPE, node, f"'{name}' is not a shape of a signal", fix=fix)
        pieces = split_at_commas(inside)
        if not shape.least <= len(pieces) <= shape.most:
            counts = f"{shape.least}" if shape.least == shape.most else f"{shape.least} to {shape.most}"
            what = f"'{name}' has {len(pieces)} argument{'' if len(pieces) == 1 else 's'}, not {counts}"
            raise self.context.error(
                rules.WRONG_ARGUMENTS, node, what, fix=f"write {shape.usage(name)}: {shape.summary}"
            )
        start = node.text.index("(") + 1
        arguments = []
        for argument, (at, piece) in zip(shape.arguments, pieces, strict=False):
            if argument.name == "frequency" and _ANGULAR.search(piece):
                what = f"the frequency of {key.text} is given as an angular velocity: '{piece.strip()}'"
                raise self.context.error(
                    rules.RADIANS_PER_SECOND, node, what, fix="give it in Hz; divide rad/s by 2*pi"
                )
            wanted = None if unit is None else unit.power(argument.of_input).times(SECOND.power(argument.of_time))
            subject = f"the {argument.name} of the input {key.text}"
            arguments.append(self.quantity(node, wanted, subject, start + at, piece))
        return Signal(name, tuple(arguments), node.text.strip())

    # Variables

    def read_initial(self, node: Node) -> Mapping[str, Expression]:
        states = state_variables(self.context.elements.values())
        found: dict[str, Expression] = {}
        for key, value in self.context.mapping(node, "the initial values").items():
            try:
                if key.text not in states and key.text not in self.context.displacements:
                    raise self.unknown(key, states, "the output of a storage, so it has no initial value")
                text = self.context.scalar(value, f"the initial value of {key.text}")
                found[key.text] = self.quantity(text, states.get(key.text), f"the initial value of {key.text}")
            except TellegenError as error:
                self.context.collect(error)
        return found

    def read_outputs(self, node: Node) -> tuple[str, ...]:
        known = known_variables(self.context.elements.values())
        names = self.context.texts(node, "the outputs")
        for name in names:
            if name.text not in known and not self.context.broken:
                self.context.collect(self.unknown(name, known, "a variable"))
        return tuple(name.text for name in names)

    def unknown(self, name: Scalar, known: Mapping[str, Dimension], what: str) -> TellegenError:
        fix = did_you_mean(name.text, list(known)[:2000]) or f"some that are: {listing(list(known)[:8])}"
        return self.context.error(rules.UNKNOWN_VARIABLE, name, f"'{name.text}' is not {what}", fix=fix)

    # Tolerances

    def read_rtol(self, node: Node) -> float:
        return self.tolerance(node, "rtol")

    def read_atol(self, node: Node) -> float:
        return self.tolerance(node, "atol")

    def tolerance(self, node: Node, key: str) -> float:
        text = self.context.scalar(node, key)
        try:
            value = float(text.text)
        except ValueError:
            value = -1.0
        if not 0 < value < float("inf"):
            what = f"{key} is '{text.text}', not a positive number"
            raise self.context.error(rules.BAD_NUMBER, text, what, fix=f"write a number such as '{key}: 1e-6'")
        return value


def _closes_last(inside: str) -> bool:
    """Whether the first parenthesis of a call is closed by the last: not so in `f(1)*g(2)`."""
    depth = 0
    for letter in inside:
        depth += (letter == "(") - (letter == ")")
        if depth < 0:
            return False
    return True


# Names of variables


def input_name(source: Element) -> str:
    """The name of the input that a source follows."""
    return source.variables.get(source.kind.side, source.name)


def variable_name(element: Element, side: Side) -> str:
    """The name of a power variable of a one-port: the one chosen, else `<symbol>_<element>`; an input is named by its source."""
    if element.kind.role == "source" and side == element.kind.side:
        return input_name(element)
    return element.variables.get(side) or f"{element.kind.domain.power(side).symbol}_{element.name}"


def state_variables(elements: Iterable[Element]) -> dict[str, Dimension]:
    """What storages remember: their outputs and their contents."""
    found: dict[str, Dimension] = {}
    for element in elements:
        if element.kind.role == "storage":
            domain, side = element.kind.domain, element.kind.side
            found[variable_name(element, side)] = _dimension(domain.power(side).unit)
            stored = element.variables.get("energy") or f"{domain.energy(side).symbol}_{element.name}"
            found.setdefault(stored, _dimension(domain.energy(side).unit))
    return found


def known_variables(elements: Iterable[Element]) -> dict[str, Dimension]:
    """All variables of the elements, with their dimensions."""
    listed = list(elements)
    found = state_variables(listed)
    for element in listed:
        found |= _coupling_variables(element) if element.kind.role == "coupling" else _port_variables(element)
        found.setdefault(f"power.{element.name}", _dimension("W"))
        found.setdefault(f"energy.{element.name}", _dimension("J"))
    return found


def _port_variables(element: Element) -> dict[str, Dimension]:
    side = element.kind.side
    sides: tuple[Side, Side] = (side, other_side(side))
    return {variable_name(element, s): _dimension(element.kind.domain.power(s).unit) for s in sides}


def _coupling_variables(element: Element) -> dict[str, Dimension]:
    found: dict[str, Dimension] = {}
    for port, name in enumerate(element.kind.domains, start=1):
        for side in ("across", "through"):
            variable = DOMAINS[name].across if side == "across" else DOMAINS[name].through
            chosen = element.variables.get(f"{side}_{port}")
            names = (
                (chosen,)
                if chosen
                else (f"{variable.symbol}_{element.name}", f"{variable.symbol}_{element.name}_{port}")
            )
            found |= dict.fromkeys(names, _dimension(variable.unit))
    return found


def _dimension(unit: str) -> Dimension:
    return parse_unit(unit).dimension if unit else DIMENSIONLESS
