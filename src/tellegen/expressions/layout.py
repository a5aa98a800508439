"""What all printers share: numerators and denominators, decimals, and the order in which terms are read."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from tellegen.expressions.nodes import Expression, Mul, Number, Pow, Rational

MOST_DIGITS = 17
LARGEST_EXPONENT = 400
_LOOKED_AT = 80
_DIGITS = re.compile(r"([0-9]+)")

# How tightly a printed text holds together.
OR, AND, NOT, COMPARISON, SUM, PRODUCT, POWER, ATOM = range(8)

Factors = tuple[tuple[Expression, Rational], ...]


class Piece(NamedTuple):
    """A printed part: its text, how tightly it holds, and how many leaves it has (the shorter terms are read first)."""

    text: str
    holds: int
    size: int


class Term(NamedTuple):
    """A printed term of a sum without its sign."""

    piece: Piece
    negative: bool


def factors_of(term: Expression) -> Factors:
    """Bases and exponents of a term that is no number; its coefficient is left out."""
    if isinstance(term, Mul):
        return term.factors
    if isinstance(term, Pow) and isinstance(term.exponent, Number):
        return ((term.base, term.exponent.rational),)
    return ((term, 1),)


def natural(text: str) -> tuple[object, ...]:
    """The key by which names are read in order: R_2 before R_10."""
    head = _DIGITS.split(text[:_LOOKED_AT])  # enough to order what people read, and quick where nobody can
    return *[(1, int(part), "") if part.isdigit() else (0, 0, part) for part in head], (2, 0, text)


def in_reading_order(pieces: Iterable[Piece]) -> list[Piece]:
    """Factors in the order of papers: pi, then names, then functions, then sums."""
    return sorted(pieces, key=_reading_key)


def _reading_key(piece: Piece) -> tuple[object, ...]:
    is_function = piece.holds == ATOM and "(" in piece.text
    return piece.holds == SUM, piece.size > 0, is_function, natural(piece.text)


def terms_in_reading_order(terms: Iterable[Term]) -> list[Term]:
    """Terms in the order of papers: positive before negative, short before long, then by name."""
    return sorted(terms, key=lambda term: (term.negative, term.piece.size, natural(term.piece.text)))


def decimal_text(q: Rational) -> str | None:
    """A positive number as a decimal of at most 17 digits, or None where it has no such decimal."""
    shift = _decimals(q.denominator)
    if shift is None or shift > LARGEST_EXPONENT:
        return None
    digits = str(q.numerator * 10**shift // q.denominator)
    bare = digits.rstrip("0") or "0"
    if len(bare) > MOST_DIGITS:
        return None
    shift -= len(digits) - len(bare)
    return _placed(bare, shift)


def _placed(digits: str, shift: int) -> str | None:
    """Digits divided by 10^shift, in the shorter of the two usual ways; None where `parse` would find it out of range."""
    exponent = len(digits) - 1 - shift
    if abs(exponent) > LARGEST_EXPONENT:
        return None
    if -4 <= exponent < 0:
        return f"0.{'0' * (-exponent - 1)}{digits}"
    if 0 <= exponent < 7:
        padded = digits.ljust(exponent + 1, "0")
        before, after = padded[: exponent + 1], padded[exponent + 1 :]
        return f"{before}.{after}" if after else before
    mantissa = f"{digits[0]}.{digits[1:]}" if len(digits) > 1 else digits
    return f"{mantissa}e{exponent}"


def _decimals(denominator: int) -> int | None:
    """The number of decimals that a fraction of this denominator needs, or None when it never ends."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def written_number(q: Rational) -> tuple[str, str]:
    """A positive number as papers write it, 1/2, 0.15, 1e9: numerator and denominator, empty when there is none."""
    if q.denominator in (2, 4, 8):
        return str(q.numerator), str(q.denominator)
    text = decimal_text(q)
    if text is not None and (q.denominator > 1 or q.numerator >= 10**7):
        return text, ""
    return str(q.numerator), str(q.denominator) if q.denominator > 1 else ""
