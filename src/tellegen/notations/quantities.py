"""Quantities as texts: `4.7 mH` read as an expression in SI, and expressions written with the units that make them readable."""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from tellegen.core.errors import Place, TellegenError
from tellegen.core.units import DIMENSIONLESS, OFFSET_UNIT, Dimension, Unit, is_unit, parse_unit
from tellegen.expressions import (
    Add,
    Call,
    Expression,
    Macro,
    Mul,
    Number,
    Rational,
    number,
    parse,
    postorder,
    rebuild,
    symbol,
    to_text,
    total,
)
from tellegen.expressions.rules import DIVISION, OUT_OF_RANGE
from tellegen.expressions.tokens import clipped
from tellegen.model import dimensions
from tellegen.model.model import Parameter
from tellegen.model.signals import SignalDefinition
from tellegen.notations import rules
from tellegen.notations.signals.blocks import FORMULA

# Both signs for micro and both for ohm that Unicode has: keyboards and other programs write either.
_WORD = r"[A-Za-z%°µμΩΩ]+(?:\^-?[0-9]+(?:\.[0-9]+)?)?"
# The numbers of digits are bounded, so that no text of a file takes long to become a number.
_PLAIN = re.compile(
    r"\s*([+-]?)(?=[.]?[0-9])([0-9]{0,60})(?:[.]([0-9]{0,60}))?(?:[eE]([+-]?[0-9]{1,2}))?"
    rf"(?:[ \t]+({_WORD}(?:[*/](?:{_WORD}|\({_WORD}(?:[*/]{_WORD})*\)))*))?\s*"
)
_LETTERS = re.compile(r"[^\W\d_]+|[%°]")
# Enough for the values that people write; a file with more different ones must not fill the memory.
_MOST_KEPT = 20_000
NO_INDICES: Mapping[str, int] = {}
NO_MACROS: Mapping[str, Macro] = {}

Where = Callable[[], Place | None]
"""A place that is found only when somebody asks: most texts are right."""


class QuantityReading(NamedTuple):
    """A text as an expression in SI units.

    `marked` still carries the units as marks for the dimension check; it is None for a plain `number unit`, whose `dimension` is
    known at once (None for a bare number) and whose `unit` is as the user wrote it.
    """

    expression: Expression
    marked: Expression | None = None
    dimension: Dimension | None = None
    unit: str = ""


_KEPT: dict[str, QuantityReading] = {}
"""Plain texts read before; a file of 200 000 resistors has a handful of different ones."""


def read_quantity(text: str, where: Where, indices: Mapping[str, int] = NO_INDICES) -> QuantityReading:
    """The reading of a text; `where` gives its place if something is wrong, `indices` are the counters of a repeated structure.

    Raises: DescriptionError for what is neither an expression nor a unit, and for numbers that are not finite.
    """
    if (kept := read_plain(text)) is not None:
        return kept
    # To the parser these words would be names of parameters.
    if text.strip().lstrip("+-.").lower() in ("nan", "inf", "infinity"):
        raise not_finite_error(f"'{text.strip()}' is not a finite number", where(), text.strip())
    marked = parse_marked(text, where(), indices)
    return QuantityReading(dimensions.without_marks(marked), marked)


def read_plain(text: str) -> QuantityReading | None:
    """The reading of a number with or without a unit; None for all other texts."""
    kept = _KEPT.get(text)
    if kept is None:
        kept = _plain(text)
        if kept is not None and len(_KEPT) < _MOST_KEPT:
            _KEPT[text] = kept
    return kept


def _plain(text: str) -> QuantityReading | None:
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    sign, before, after, exponent, words = match.groups()
    unit = None if words is None else _unit(words)
    if words is not None and unit is None:
        return None
    # Whole numbers all the way: arithmetic on fractions would take half of the time for reading an element.
    above, below = int(before + (after or "") or "0"), 1
    shift = int(exponent or 0) - len(after or "")
    if unit is not None:
        above, below = above * unit.factor.numerator, unit.factor.denominator
    if shift > 0:
        above *= 10**shift
    else:
        below *= 10**-shift
    value: int | Fraction = above if below == 1 else Fraction(-above if sign == "-" else above, below)
    if below == 1 and sign == "-":
        value = -above
    if unit is None:
        return QuantityReading(number(value))
    return QuantityReading(number(value + unit.offset if unit.offset else value), None, unit.dimension, unit.text)


@lru_cache(maxsize=4096)
def _unit(words: str) -> Unit | None:
    """The unit, or None where a word in it is none or it is too large: the parser then finds what is wrong and where."""
    if not all(map(is_unit, _LETTERS.findall(words))):
        return None
    try:
        return parse_unit(words)
    except TellegenError:
        return None


def not_finite_error(what: str, place: Place | None, text: str) -> TellegenError:
    """The error for nan, inf and numbers beyond the range of a computer."""
    spot = place._replace(text=text) if place else None
    return rules.NOT_FINITE.error(what, fix="give a finite number; limits are taken by reduction", place=spot)


def parse_marked(
    text: str,
    place: Place | None,
    indices: Mapping[str, int] = NO_INDICES,
    macros: Mapping[str, Macro] = NO_MACROS,
    names: frozenset[str] = frozenset(),
) -> Expression:
    """The expression of a text, with a mark for each unit; `macros` are functions beside the usual ones.

    Of a product such as `2 V*t`, the words in `names` are names and no units.
    """

    def unit(words: str, offset: int) -> Expression:
        spot = place and place._replace(column=place.column + offset)
        found = parse_unit(words, spot)
        if found.offset:
            fix = "use K inside an expression"
            what = f"'{words}' stands inside an expression"
            raise OFFSET_UNIT.error(what, fix=fix, place=spot and spot._replace(text=words))
        return number(found.factor) * dimensions.unit_mark(found.dimension)

    def is_joined(word: str) -> bool:
        return word not in names and is_unit(word)

    found = parse(text, place=place, unit=unit, is_unit=is_joined, indices=indices, macros=macros)
    _refuse_impossible(found, text, place)
    return found


def _refuse_impossible(marked: Expression, text: str, place: Place | None) -> None:
    """Units stay symbols while a formula is read, so that only in SI does `1/(1 V - 1)` divide by zero.

    Raises: DescriptionError (D004, D009, D124).
    """
    try:
        in_si = dimensions.without_marks(marked)
    except ZeroDivisionError:
        rule, what = DIVISION, "division by zero in SI units"
    except OverflowError as problem:
        rule, what = OUT_OF_RANGE, f"{problem} in SI units is out of range"
    else:
        if all(map(_fits, _numbers_in(in_si))):
            return
        words = clipped(text.strip())
        raise not_finite_error(f"'{words}' holds a number beyond the range of a computer", place, words)
    raise rule.error(f"'{clipped(text)}': {what}", fix="check the units and the parentheses", place=place)


def _numbers_in(expression: Expression) -> Iterator[Rational]:
    """The numbers and coefficients of a formula."""
    for node in postorder(expression):
        if isinstance(node, Number):
            yield node.rational
        elif isinstance(node, Mul):
            yield node.coefficient
        elif isinstance(node, Add):
            yield node.constant
            yield from (coefficient for _, coefficient in node.terms)


def _fits(q: Rational) -> bool:
    """Whether a number is one of floating point, and not zero there unless it is zero."""
    try:
        return float(q) != 0 or not q
    except OverflowError:
        return False


def decimal_text(value: int | Fraction) -> str | None:
    """The number as a decimal that is exactly it, or None where there is none of a reasonable length."""
    # A third or pi shows within forty digits that it does not end; no value in a unit needs as many.
    fraction = Fraction(value)
    try:
        exact = Context(prec=40, traps=[Inexact]).divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    except Inexact:
        return None
    digits = exact.normalize(Context(prec=40))
    exponent = digits.adjusted()
    if -4 <= exponent < 7:
        return f"{digits:f}"
    return f"{digits:e}".replace("e+", "e")


def number_text(value: int | Fraction, unit: str) -> str:
    """A number with a unit; `1 ohm/3` where no decimal is exact."""
    decimal = decimal_text(value)
    if decimal is not None:
        return f"{decimal} {unit}" if unit else decimal
    fraction = Fraction(value)
    if not unit:
        return f"{fraction.numerator}/{fraction.denominator}"
    return f"{fraction.numerator} {unit}/{fraction.denominator}"


class UnitTexts:
    """Expressions as texts whose units agree: `3*d` that was `3 N * d` becomes `3*(1 N)*d`."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        variables: Mapping[str, Dimension],
        signals: Mapping[str, SignalDefinition] = MappingProxyType({}),
    ) -> None:
        self.parameters, self.variables = parameters, variables
        self.formulas = {n: p.expression for n, p in parameters.items() if p.dimension is None}
        self.formulas |= {n: _own_formula(s) for n, s in signals.items() if s.dimension is None}
        self.used: list[str] = []
        self._measures: dict[str, dimensions.Measure] = {}

    def text(self, expression: Expression, wanted: Dimension | None, unit: str = "", *, keep: bool = False) -> str:
        """The text of an expression; `keep` means that its dimension must follow from the text alone."""
        if isinstance(expression, Number):
            return self._number(expression, wanted, unit)
        if wanted is not None:
            expression = self.annotated(expression, wanted, keep)
        elif self.measure(expression) is None:  # terms that do not agree: lengths that were numbers
            expression = self.mended(expression)
        return re.sub(r"\?([0-9]+)", lambda match: f"(1 {self.used[int(match[1])]})", to_text(expression))

    def _number(self, expression: Number, wanted: Dimension | None, unit: str) -> str:
        if wanted is None:
            return number_text(expression.rational, "")
        words = unit or dimensions.si_unit(wanted)
        try:
            found = parse_unit(words)
        except TellegenError:
            return number_text(expression.rational, "")
        shown = number_text((expression.rational - found.offset) / found.factor, words)
        # What no decimal is exactly in this unit may be one in SI: a metre in inches, say.
        if found.dimension == wanted and "/" not in shown.replace(words, ""):
            return shown
        return number_text(expression.rational, dimensions.si_unit(wanted))

    def measure(self, expression: Expression) -> dimensions.Measure | None:
        """The dimension as a reader would find it, or None where terms do not agree."""
        try:
            return dimensions.measure_of(expression, self._known)
        except dimensions.DimensionError:
            return None

    def _known(self, name: str) -> dimensions.Measure:
        if name.startswith("?"):
            return parse_unit(self.used[int(name[1:])]).dimension
        if name in self.formulas:
            return self._found(name)
        parameter = self.parameters.get(name)
        known = self.variables.get(name) if parameter is None else parameter.dimension
        return dimensions.UNKNOWN if known is None else known

    def _found(self, name: str) -> dimensions.Measure:
        """What a reader finds for a name whose unit nobody said: that of its formula as it is written."""
        if name not in self._measures:
            # Known before its formula is walked: a formula may read its own name, in a circle that is told elsewhere.
            self._measures[name] = dimensions.UNKNOWN  # of a name that its own formula reads
            formula = self.formulas[name]
            if formula is not None:
                self._measures[name] = self.measure(formula) or self.measure(self.mended(formula)) or dimensions.UNKNOWN
        return self._measures[name]

    def annotated(self, expression: Expression, wanted: Dimension, keep: bool) -> Expression:
        """The expression times units where a reader would otherwise find another dimension."""
        found = self.measure(expression)
        # A number alone takes the unit that its place asks for, but where the text must tell the unit by itself.
        if found == wanted or found is dimensions.UNKNOWN or (isinstance(found, dimensions.NoDimension) and not keep):
            return expression
        if isinstance(expression, Add):
            terms = [self.annotated(number(c) * term, wanted, False) for term, c in expression.terms]
            return total([*terms, number(expression.constant)])
        if found is None:
            expression = self.mended(expression)
            found = self.measure(expression)
        if found is None or found == wanted or found is dimensions.UNKNOWN:
            return expression
        return expression * self.unit(wanted if isinstance(found, dimensions.NoDimension) else wanted.over(found))

    def mended(self, expression: Expression) -> Expression:
        """The expression with numbers as arguments of functions, and with sums of like terms inside products."""
        new: dict[Expression, Expression] = {}
        for node in postorder(expression):
            args = [new[arg] for arg in node.args]
            if isinstance(node, Call) and dimensions.needs_number(node.name):
                args = [self.annotated(arg, DIMENSIONLESS, False) for arg in args]
            made = rebuild(node, tuple(args)) if args else node
            if isinstance(made, Add) and self.measure(made) is None:
                first = next(m for term, _ in made.terms if isinstance(m := self.measure(term), tuple))
                made = self.annotated(made, first, False)
            new[node] = made
        return new[expression]

    def unit(self, dimension: Dimension) -> Expression:
        """A symbol that stands for one of a unit until the text is written."""
        words = dimensions.si_unit(dimension)
        if "^(" in words:  # a third of a power has no decimal
            return number(1)
        self.used.append(words)
        return symbol(f"?{len(self.used) - 1}")


def _own_formula(definition: SignalDefinition) -> Expression | None:
    """The formula of a signal that is nothing else."""
    formula = definition.settings.get(FORMULA) if definition.block == FORMULA else None
    return formula if isinstance(formula, Expression) else None
