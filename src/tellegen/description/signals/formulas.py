"""Formulas of signals: expressions of variables, displacements, signals, parameters, shapes and the time `t`."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.unit_table import unit_advice
from tellegen.core.units import DIMENSIONLESS, Dimension, is_unit
from tellegen.description import experiment_rules
from tellegen.description import rules as description_rules
from tellegen.description.context import Context
from tellegen.description.dimensions import (
    UNKNOWN,
    DimensionError,
    Measure,
    Open,
    in_words,
    is_plain_factor,
    mark,
    measure_of,
    names_in,
    without_marks,
)
from tellegen.description.document import Scalar
from tellegen.description.quantities import NO_INDICES, parse_marked, read_plain
from tellegen.description.shapes import SECOND, angular_frequency, shape_macros
from tellegen.description.signals import rules
from tellegen.description.variables import known_variables
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.tokens import NUMBER
from tellegen.expressions.unit_reading import AFTER_NUMBER, unit_end

_WORD = re.compile(r"[A-Za-z]+")
_QUANTITY = re.compile(rf"({NUMBER}){AFTER_NUMBER.pattern}")

NOT_UNITS = frozenset({TIME})
"""In `2 V*t` the `t` is the time and not the unit."""


def parse_formula(context: Context, node: Scalar, subject: str, indices: Mapping[str, int] = NO_INDICES) -> Expression:
    """The expression of a formula, units standing as marks; names are checked later, when all are known."""
    text = context.formula(node, subject)
    refuse_angular(context, text, subject)
    refuse_doubtful(context, text, subject)
    names = _no_units(context.signal_names)
    plain = read_plain(text.text)
    if plain is not None and names.isdisjoint(_WORD.findall(plain.unit)[1:]):
        return plain.expression if plain.dimension is None else plain.expression * mark(plain.dimension)
    return parse_marked(text.text, context.text_place(text), indices, shape_macros(), names)


# The names of a model serve every formula of it: made anew for each, reading would take a time that grows with their square.


@lru_cache(maxsize=4)
def _no_units(names: frozenset[str]) -> frozenset[str]:
    return NOT_UNITS | names


@lru_cache(maxsize=4)
def _doubtful(names: frozenset[str]) -> frozenset[str]:
    return frozenset(filter(is_unit, names))


def refuse_angular(context: Context, node: Scalar, subject: str) -> None:
    """Raises: DescriptionError for a frequency given as an angular velocity, which would be read as so many hertz."""
    found = angular_frequency(node.text)
    if found is not None:
        word = "frequency" if found.argument.name == "frequency" else f"'{found.argument.name}'"
        what = f"the {word} of {subject} is given as an angular velocity: '{found.text.strip()}'"
        raise context.error(experiment_rules.RADIANS_PER_SECOND, node, what, fix="give it in Hz; divide rad/s by 2*pi")


def refuse_doubtful(context: Context, node: Scalar, subject: str) -> None:
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
class Scope:
    """What formulas of signals may read, with units; made once the elements are known."""

    def __init__(self, context: Context) -> None:
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

    def measure(self, name: str) -> Measure:
        """What is known about the unit of a name."""
        context = self.context
        parameter = context.parameters.get(name)
        if parameter is not None:
            return UNKNOWN if parameter.dimension is None else parameter.dimension
        if name in context.signals:
            return context.signal_measures.get(name, UNKNOWN)
        return SECOND if name == TIME else self.variables.get(name, UNKNOWN)

    def measured(self, marked: Expression, subject: str, node: Scalar) -> Measure:
        """What is known about the unit of a formula; unknown names and unlike units are collected as errors."""
        unknown = [name for name in names_in(marked) if not self.knows(name)]
        for name in unknown:
            if not self.context.may_be_hidden(name):
                self.context.collect(self.unknown(name, subject, node))
        if unknown:
            return UNKNOWN
        if marked is ZERO and (plain := read_plain(node.text)) is not None and plain.dimension is not None:
            return plain.dimension  # a product with zero keeps no mark of its unit
        course = self._of_course(marked)
        if course is not None:
            return course
        try:
            return measure_of(marked, self.measure, is_plain_factor)
        except DimensionError as problem:
            self.context.collect(unlike(self.context, problem, subject, node))
            return UNKNOWN

    def _of_course(self, marked: Expression) -> Measure | None:
        """The unit of a formula of shapes alone, in which factors are numbers: in formulas of variables they may be gains."""
        if set(names_in(marked)) != {TIME}:
            return None
        try:
            measure = measure_of(marked, self.measure)
        except DimensionError:
            return None
        return None if isinstance(measure, Open) or measure == DIMENSIONLESS else measure

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
        if wanted is not None and not isinstance(measure, Open) and measure != wanted:
            what = f"{subject} is in {in_words(measure)}, not in {in_words(wanted)}"
            fix = f"give it in {in_words(wanted)}; a gain may carry the unit"
            self.context.collect(self.context.error(rules.SIGNAL_UNITS, node, what, fix=fix))
        return without_marks(marked)


def unlike(context: Context, problem: DimensionError, subject: str, node: Scalar) -> TellegenError:
    """The error for quantities that do not go together."""
    rule = description_rules.MIXED_SUM if problem.mixed else description_rules.FUNCTION_OF_UNIT
    return context.error(rule, node, f"{subject} {problem.what}", fix="check the units of its parts")
