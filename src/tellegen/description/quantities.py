"""Texts with units as expressions in SI: `4.7 mH`, `pi*d^2/4`, `1 ohm/k`."""

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from tellegen.core.errors import Place, TellegenError
from tellegen.core.units import OFFSET_UNIT, Dimension, Unit, is_unit, parse_unit
from tellegen.description import rules
from tellegen.description.dimensions import mark, without_marks
from tellegen.expressions import Add, Expression, Macro, Mul, Number, Rational, number, parse, postorder
from tellegen.expressions.rules import DIVISION, OUT_OF_RANGE
from tellegen.expressions.tokens import shortened

_WORD = r"[A-Za-z%°µμΩΩ]+(?:\^-?[0-9]+)?"
_PLAIN = re.compile(
    r"\s*([+-]?)(?=[.]?[0-9])([0-9]{0,60})(?:[.]([0-9]{0,60}))?(?:[eE]([+-]?[0-9]{1,2}))?"
    rf"(?:[ \t]+({_WORD}(?:[*/](?:{_WORD}|\({_WORD}(?:[*/]{_WORD})*\)))*))?\s*"
)
_LETTERS = re.compile(r"[^\W\d_]+|[%°]")
_MOST_KEPT = 20_000
NO_INDICES: Mapping[str, int] = {}
NO_MACROS: Mapping[str, Macro] = {}

Where = Callable[[], Place | None]
"""A place that is found only when somebody asks: most texts are right."""


class Reading(NamedTuple):
    """A text as an expression in SI units.

    `marked` still carries the units as marks for the dimension check; it is None for a plain `number unit`, whose `dimension` is
    known at once (None for a bare number) and whose `unit` is as the user wrote it.
    """

    expression: Expression
    marked: Expression | None = None
    dimension: Dimension | None = None
    unit: str = ""


_KEPT: dict[str, Reading] = {}
"""Plain texts read before; a file of 200 000 resistors has a handful of different ones."""


def read_quantity(text: str, where: Where, indices: Mapping[str, int] = NO_INDICES) -> Reading:
    """The reading of a text; `where` gives its place if something is wrong, `indices` are the counters of a repeated structure.

    Raises: DescriptionError for what is neither an expression nor a unit, and for numbers that are not finite.
    """
    kept = read_plain(text)
    return _general(text, where(), indices) if kept is None else kept


def read_plain(text: str) -> Reading | None:
    """The reading of a number with or without a unit; None for all other texts."""
    kept = _KEPT.get(text)
    if kept is None:
        kept = _plain(text)
        if kept is not None and len(_KEPT) < _MOST_KEPT:
            _KEPT[text] = kept
    return kept


def _plain(text: str) -> Reading | None:
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
        return Reading(number(value))
    return Reading(number(value + unit.offset if unit.offset else value), None, unit.dimension, unit.text)


@lru_cache(maxsize=4096)
def _unit(words: str) -> Unit | None:
    """The unit, or None where a word in it is none or it is too large: the parser then finds what is wrong and where."""
    if not all(map(is_unit, _LETTERS.findall(words))):
        return None
    try:
        return parse_unit(words)
    except TellegenError:
        return None


def not_finite(what: str, place: Place | None, text: str) -> TellegenError:
    """The error for nan, inf and numbers beyond the range of a computer."""
    spot = place._replace(text=text) if place else None
    return rules.NOT_FINITE.error(what, fix="give a finite number; limits are taken by reduction", place=spot)


def _general(text: str, place: Place | None, indices: Mapping[str, int]) -> Reading:
    stripped = text.strip().lstrip("+-.").lower()
    if stripped in ("nan", "inf", "infinity"):
        raise not_finite(f"'{text.strip()}' is not a finite number", place, text.strip())
    marked = parse_marked(text, place, indices)
    return Reading(without_marks(marked), marked)


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
            raise OFFSET_UNIT.error(
                f"'{words}' stands inside an expression", fix=fix, place=spot and spot._replace(text=words)
            )
        return number(found.factor) * mark(found.dimension)

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
        in_si = without_marks(marked)
    except ZeroDivisionError:
        rule, what = DIVISION, "division by zero in SI units"
    except OverflowError as problem:
        rule, what = OUT_OF_RANGE, f"{problem} in SI units is out of range"
    else:
        if all(map(_fits, _numbers_in(in_si))):
            return
        words = shortened(text.strip())
        raise not_finite(f"'{words}' holds a number beyond the range of a computer", place, words)
    raise rule.error(f"'{shortened(text)}': {what}", fix="check the units and the parentheses", place=place)


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
