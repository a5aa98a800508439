"""Formulas of signals: expressions of variables, displacements, signals, parameters, shapes and the time `t`, read and written."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, is_unit, unit_advice
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.tokens import AFTER_NUMBER, NUMBER, unit_end
from tellegen.model import dimensions
from tellegen.model.model import Model, known_variables
from tellegen.model.signals import Points, SignalDefinition, SignalSetting
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import ReadingContext, split_at_commas
from tellegen.notations.quantities import NO_INDICES, parse_marked, read_plain
from tellegen.notations.signals import rules
from tellegen.notations.signals.blocks import BLOCKS, FORMULA, PERIOD
from tellegen.notations.signals.shapes import SECOND, angular_frequency, shape_macros
from tellegen.notations.yaml.document import Scalar

_WORD = re.compile(r"[A-Za-z]+")
_QUANTITY = re.compile(rf"({NUMBER}){AFTER_NUMBER.pattern}")

NOT_UNITS = frozenset({TIME})
"""In `2 V*t` the `t` is the time and not the unit."""


def parse_formula(
    context: ReadingContext, node: Scalar, subject: str, indices: Mapping[str, int] = NO_INDICES
) -> Expression:
    """The expression of a formula, units standing as marks; names are checked later, when all are known."""
    text = context.formula(node, subject)
    refuse_angular(context, text, subject)
    _refuse_doubtful(context, text, subject)
    names = _no_units(context.signal_names)
    plain = read_plain(text.text)
    if plain is not None and names.isdisjoint(_WORD.findall(plain.unit)[1:]):
        return plain.expression if plain.dimension is None else plain.expression * dimensions.unit_mark(plain.dimension)
    return parse_marked(text.text, context.text_place(text), indices, shape_macros(), names)


# The names of a model serve every formula of it: made anew for each, reading would take a time that grows with their square.


@lru_cache(maxsize=4)
def _no_units(names: frozenset[str]) -> frozenset[str]:
    return NOT_UNITS | names


@lru_cache(maxsize=4)
def _doubtful(names: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(is_unit, names))


def refuse_angular(context: ReadingContext, node: Scalar, subject: str) -> None:
    """Raises: DescriptionError for a frequency given as an angular velocity, which would be read as so many hertz."""
    found = angular_frequency(node.text)
    if found is not None:
        word = "frequency" if found.argument.name == "frequency" else f"'{found.argument.name}'"
        what = f"the {word} of {subject} is given as an angular velocity: '{found.text.strip()}'"
        raise context.error(notations_rules.RADIANS_PER_SECOND, node, what, fix="give it in Hz; divide rad/s by 2*pi")


def _refuse_doubtful(context: ReadingContext, node: Scalar, subject: str) -> None:
    """Raises: DescriptionError (D521) for a word joined to a unit, as in `2 V/s`, that is a unit and names a signal too."""
    doubtful = _doubtful(context.signal_names)
    if not doubtful:
        return

    def joins(word: str) -> bool:
        return word not in NOT_UNITS and is_unit(word)

    for found in _QUANTITY.finditer(node.text):
        if not (found[2] and is_unit(found[3])):
            continue
        begin, unit = found.span(3)
        # How far the unit goes without the names in doubt, and how far with them: `V` and `V/s`.
        end = unit_end(node.text, unit, lambda word: word not in doubtful and joins(word))
        whole = unit_end(node.text, unit, joins)
        if end < whole:
            word = _WORD.findall(node.text[end:whole])[0]
            quantity = f"{found[1]} {node.text[begin:end]}"
            what = f"in '{node.text[begin:whole]}' of {subject}, '{word}' may be the unit or the signal of that name"
            fix = f"rename the signal; or, for the signal, write ({quantity}){node.text[end : end + 1]}{word}"
            place = context.text_place(node, begin)._replace(text=node.text[begin:whole])
            raise rules.SIGNAL_OR_UNIT.error(what, fix=fix, place=place)


@final
class FormulaScope:
    """What formulas of signals may read, with units; made once the elements are known."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.variables = {
            name: dimension
            for name, dimension in known_variables(context.elements.values()).items()
            if not name.startswith("energy.")
        }

    def changing(self, name: str) -> bool:
        """Whether a name stands for something that changes over time."""
        context = self.context
        if name in context.parameters:
            return False
        return name == TIME or name in context.signals or name in context.displacements or name in self.variables

    def knows(self, name: str) -> bool:
        """Whether formulas may read the name."""
        return self.changing(name) or name in self.context.parameters or self.context.is_broken(name)

    def measure(self, name: str) -> dimensions.Measure:
        """What is known about the unit of a name."""
        context = self.context
        parameter = context.parameters.get(name)
        if parameter is not None:
            return dimensions.UNKNOWN if parameter.dimension is None else parameter.dimension
        if name in context.signals:
            return context.signal_measures.get(name, dimensions.UNKNOWN)
        return SECOND if name == TIME else self.variables.get(name, dimensions.UNKNOWN)

    def measured(self, marked: Expression, subject: str, node: Scalar) -> dimensions.Measure:
        """What is known about the unit of a formula; unknown names and unlike units are collected as errors."""
        unknown = [name for name in dimensions.user_names(marked) if not self.knows(name)]
        for name in unknown:
            if not self.context.may_be_hidden(name):
                self.context.collect(self.unknown(name, subject, node))
        if unknown:
            return dimensions.UNKNOWN
        if marked is ZERO and (plain := read_plain(node.text)) is not None and plain.dimension is not None:
            return plain.dimension  # a product with zero keeps no mark of its unit
        course = self._of_course(marked)
        if course is not None:
            return course
        try:
            return dimensions.measure_of(marked, self.measure, dimensions.is_plain_factor)
        except dimensions.DimensionError as problem:
            self.context.collect(unlike_units_error(self.context, problem, subject, node))
            return dimensions.UNKNOWN

    def _of_course(self, marked: Expression) -> dimensions.Measure | None:
        """The unit of a formula of shapes alone, in which factors are numbers: in formulas of variables they may be gains."""
        if set(dimensions.user_names(marked)) != {TIME}:
            return None
        try:
            measure = dimensions.measure_of(marked, self.measure)
        except dimensions.DimensionError:
            return None
        return None if isinstance(measure, dimensions.NoDimension) or measure == DIMENSIONLESS else measure

    def unknown(self, name: str, subject: str, node: Scalar) -> TellegenError:
        """The error for a name that nothing has."""
        context = self.context
        known = [*context.signals, *self.variables, *context.displacements, *context.parameters, TIME]
        shown = [n for n in known if "." not in n]
        fix = did_you_mean(name, known[:2000]) or unit_advice(name) or f"some that are known: {listing(shown, 12)}"
        what = f"{subject} uses '{name}', which is no signal, variable or parameter"
        at = max(node.text.find(name), 0)
        place = context.text_place(node, at)._replace(text=name)
        return rules.UNKNOWN_IN_SIGNAL.error(what, fix=fix, place=place)

    def checked(self, marked: Expression, wanted: Dimension | None, subject: str, node: Scalar) -> Expression:
        """The formula in SI units, its names known and its unit as wanted; errors are collected."""
        measure = self.measured(marked, subject, node)
        if wanted is not None and not isinstance(measure, dimensions.NoDimension) and measure != wanted:
            what = f"{subject} is in {dimensions.dimension_in_words(measure)}, not in {dimensions.dimension_in_words(wanted)}"
            fix = f"give it in {dimensions.dimension_in_words(wanted)}; a gain may carry the unit"
            self.context.collect(self.context.error(rules.SIGNAL_UNITS, node, what, fix=fix))
        return dimensions.without_marks(marked)


def unlike_units_error(
    context: ReadingContext, problem: dimensions.DimensionError, subject: str, node: Scalar
) -> TellegenError:
    """The error for quantities that do not go together."""
    rule = notations_rules.MIXED_SUM if problem.mixed else notations_rules.FUNCTION_OF_UNIT
    return context.error(rule, node, f"{subject} {problem.what}", fix="check the units of its parts")


NestedText = str | list[str] | list[list[str]]
"""What stands behind a key: a text, a list of texts, the points of a table."""

Annotate = Callable[[Expression, Dimension | None], str]
"""Writes an expression with units where its dimension would otherwise be another."""


def signal_keys(
    definition: SignalDefinition, annotate: Annotate, names: frozenset[str]
) -> Iterator[tuple[str, NestedText]]:
    """The keys of a signal with their texts, the word of its block first; `names` are those of all signals."""
    for key in BLOCKS[definition.block].keys:
        found = definition.settings.get(key.name)
        if found is not None and not callable(found):
            wanted = definition.dimension if key.name == FORMULA else SECOND if key.holds == PERIOD else None
            written = definition.texts.get(key.name, "")
            yield key.name, _text(found, written, names, lambda e, unit=wanted: annotate(e, unit))  # type: ignore[misc]


def _text(found: SignalSetting, written: str, names: frozenset[str], text: Callable[[Expression], str]) -> NestedText:
    if isinstance(found, Points):
        return [[repr(point), repr(value)] for point, value in zip(found.points, found.values, strict=True)]
    if isinstance(found, Expression):
        return formula_text(found, written, names, text)
    if isinstance(found, tuple):
        # The text of a list is kept as a whole; its pieces hold as long as there are as many as formulas.
        pieces = [piece.strip() for _, piece in split_at_commas(written.strip("[]"))]
        texts = pieces if len(pieces) == len(found) else [""] * len(found)
        return [
            formula_text(part, one, names, text) if isinstance(part, Expression) else str(part)
            for part, one in zip(found, texts, strict=True)
        ]
    assert isinstance(found, str), "functions have no text"
    return found


def formula_text(expression: Expression, written: str, names: frozenset[str], text: Callable[[Expression], str]) -> str:
    """What the user wrote, if that still is the expression; else the expression as `text` writes it."""
    if written:
        try:
            marked = parse_marked(written, None, macros=shape_macros(), names=NOT_UNITS | names)
            if dimensions.without_marks(marked) is expression:
                return written
        except TellegenError:
            pass
    return text(expression)


def readable_dimensions(model: Model) -> Mapping[str, Dimension]:
    """The dimensions of what formulas of signals read, besides parameters."""
    if not model.signals and not any(element.signal is not None for element in model.elements):
        return {}
    found = known_variables(model.elements) | {TIME: SECOND}
    return found | {name: s.dimension for name, s in model.signals.items() if s.dimension is not None}
