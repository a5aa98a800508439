"""Where a unit behind a number begins and ends: in `2 ohm*i` the `i` belongs to the formula, in `2 ohm*m` the `m` to the unit."""

import re
from collections.abc import Callable

_UNIT_WORD = r"[A-Za-zµμΩ°%][A-Za-z0-9_µμΩ°]*"

AFTER_NUMBER = re.compile(rf"([ \t]*)({_UNIT_WORD})")
"""The gap behind a number, and the word that may be a unit."""
_WORD = re.compile(_UNIT_WORD)
_WHOLE = re.compile(r"-?[0-9]+")
_RAISED = re.compile(r"[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_JOINED = frozenset("*/·")
_GOES_ON = ("[", ".")
"""What makes a name of a word: in `2 ohm*m[1].i` the `m` is no metre."""

UnitWords = Callable[[str], bool]
"""Whether a word is a unit."""


def unit_end(text: str, end: int, is_unit: UnitWords) -> int:
    """Where a unit that has been read up to `end` stops: at the first thing not joined to it, or not a unit."""
    while end < len(text):
        further = _factor_end(text, end, is_unit)
        if further is None:
            break
        end = further
    return end


def _factor_end(text: str, end: int, is_unit: UnitWords) -> int | None:
    """The end of the power or factor that goes on at `end`, or None."""
    if text[end] == "^" or text.startswith("**", end):
        power = _WHOLE.match(text, end + (1 if text[end] == "^" else 2))
        return None if power is None else power.end()
    if (raised := _RAISED.match(text, end)) is not None:
        return raised.end()
    if text[end] not in _JOINED:
        return None
    if text.startswith("(", end + 1):
        return _group_end(text, end + 2, is_unit)
    word = _WORD.match(text, end + 1)
    if word is None or text[word.end() : word.end() + 1] in _GOES_ON or not is_unit(word[0]):
        return None
    return word.end()


def _group_end(text: str, start: int, is_unit: UnitWords) -> int | None:
    """The end of a parenthesis that holds only units, or None."""
    close = text.find(")", start)
    inner = text[start:close] if close > 0 else ""
    if not inner or "(" in inner:
        return None
    words = [re.sub(r"\^-?[0-9]+\Z", "", factor) for factor in re.split(r"[*/]", inner)]
    return close + 1 if all(_WORD.fullmatch(word) and is_unit(word) for word in words) else None
