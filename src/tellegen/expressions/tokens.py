"""The words of a formula one after the other, what is said about one that does not fit, and where a unit behind a number ends."""

import re
from collections.abc import Callable
from typing import Final, NoReturn

from tellegen.core.errors import Place, Rule
from tellegen.core.names import NAME
from tellegen.expressions.nodes import Expression
from tellegen.expressions.rules import DIVISION, OUT_OF_RANGE, SYNTAX, TOO_LARGE

_UNIT_WORD = r"[A-Za-zµμΩ°%][A-Za-z0-9_µμΩ°]*"

AFTER_NUMBER = re.compile(rf"([ \t]*)({_UNIT_WORD})")
"""The gap behind a number, and the word that may be a unit."""
_WORD = re.compile(_UNIT_WORD)
_POWER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?|\(-?[0-9]+(?:/[0-9]+)?\)")
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
        # `2 m^x` is a power of a number times a name.
        power = _POWER.match(text, end + (1 if text[end] == "^" else 2))
        return None if power is None else power.end()
    if (raised := _RAISED.match(text, end)) is not None:
        return raised.end()
    if text[end] not in _JOINED:
        return None
    if text.startswith("(", end + 1):
        return _group_end(text, end + 2, is_unit)
    word = _WORD.match(text, end + 1)
    # The first word that is no unit belongs to the formula again: 2 V/R.
    if word is None or text[word.end() : word.end() + 1] in _GOES_ON or not is_unit(word[0]):
        return None
    return word.end()


def _group_end(text: str, start: int, is_unit: UnitWords) -> int | None:
    """The end of a parenthesis that holds only units, or None."""
    close = text.find(")", start)
    inner = text[start:close] if close > 0 else ""
    # One level of parentheses is what units have; more is a formula.
    if not inner or "(" in inner:
        return None
    words = [re.sub(r"\^-?[0-9]+(?:\.[0-9]+)?\Z", "", factor) for factor in re.split(r"[*/]", inner)]
    return close + 1 if all(_WORD.fullmatch(word) and is_unit(word) for word in words) else None


DEEPEST: Final = 100
KEYWORDS: Final = frozenset(("and", "or", "not", "if"))

NUMBER: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_INDEX = r"(?:\[(?:0|[1-9][0-9]*)(?:,(?:0|[1-9][0-9]*))*\])?"
PATH: Final = rf"{NAME.pattern}{_INDEX}(?:\.{NAME.pattern}{_INDEX})*"

_TOKEN = re.compile(
    rf"[ \t\r\n]*(?:(?P<number>{NUMBER})|(?P<name>{PATH})"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^(),<>\[\]])|(?P<end>\Z)|(?P<bad>.))",
    re.DOTALL,
)


class AbstractTokens:
    """A text read from left to right; the token ahead is `kind`, `word` from `start` to `end`."""

    def __init__(self, text: str, place: Place | None) -> None:
        self.text = text
        self.place = place
        self.depth = 0
        self.kind = self.word = ""
        self.start = self.end = 0

    # Errors

    def fail(self, rule: Rule, offset: int, what: str, fix: str = "") -> NoReturn:
        """Raise what a rule says about the text at an offset."""
        place = self.place
        if place is not None:
            # The column is that in the file, so that an editor marks the word itself.
            place = Place(place.file, place.line, place.column + offset, place.text or self.text[:120])
        where = f"column {offset + 1} of '{_excerpt(self.text, offset)}'"
        raise rule.error(f"{where}: {what}", fix=fix, place=place)

    def expected(self, what: str) -> NoReturn:
        """Raise that something else stands here than was expected."""
        found = "the end of the formula" if self.kind == "end" else f"'{self.word}'"
        self.fail(SYNTAX, self.start, f"found {found}, expected {what}", self._advice())

    def _advice(self) -> str:
        """What to write instead of the token ahead, where its neighbours tell."""
        before, after = self.text[: self.start].rstrip(), self.text[self.start :]
        # Half of Europe writes 1,5.
        if self.word == "," and before[-1:].isdigit() and after[1:2].isdigit():
            return "write a point before decimals: 1.5"
        # `10 000` and `500 1/s` are how tables print numbers.
        if self.kind == "number" and len(before) < self.start and before[-1:].isdigit():
            reciprocal = re.match(r"1 ?/ ?([A-Za-z]+)", after)
            return f"write {reciprocal[1]}^-1" if reciprocal else "write the digits of a number without spaces"
        return _hint(self.kind, self.word)

    def build(self, offset: int, make: Callable[..., Expression], *args: object) -> Expression:
        """Apply a constructor, and say at which column it found the numbers impossible."""
        try:
            return make(*args)
        except ZeroDivisionError:
            self.fail(DIVISION, offset, "division by zero")
        except OverflowError as error:
            self.fail(OUT_OF_RANGE, offset, f"{error} is out of range", "use smaller numbers or a smaller exponent")

    # Tokens

    def advance(self) -> None:
        """Read the next token."""
        match = _TOKEN.match(self.text, self.end)
        assert match is not None, "the last alternative takes any character"
        assert match.lastgroup is not None, "each alternative is named"
        # The name of the alternative that matched is the kind of the token.
        self.kind = match.lastgroup
        self.word = match[self.kind]
        self.start, self.end = match.span(self.kind)
        if self.kind == "name" and self.word in KEYWORDS:
            self.kind = "keyword"
        elif self.kind == "bad":
            self._bad_character()

    def _bad_character(self) -> NoReturn:
        before = self.text[self.start - 1 : self.start]
        if self.word == "_" and (before.isalnum() or before in ("_", ".")):
            self.fail(
                SYNTAX, self.start, "found '_', expected a name without two underscores in a row", _hint("bad", "_")
            )
        self.expected("a number, a name, an operator or a parenthesis")

    def take(self, word: str, purpose: str) -> None:
        """Read past a sign that must stand here."""
        if self.word != word or self.kind != "sign":
            self.expected(f"'{word}' {purpose}")
        self.advance()

    def enter(self) -> None:
        """Go one level deeper; a depth has an end."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail(
                TOO_LARGE,
                self.start,
                f"nested more than {DEEPEST} deep",
                "give parts of the formula names of their own",
            )


_HINTS = {
    "=": "write == to compare",
    "&": "write and",
    "|": "write or",
    "!": "write not, or != to compare",
    "%": "a unit such as % stands directly after a number, with a space between",
    '"': "a formula holds no text in quotes",
    "'": "a formula holds no text in quotes",
    "[": "a list is no formula; an index stands directly after a name",
    "_": "a name is a letter, then letters, digits and single underscores",
    ".": "a path is written motor.R, without spaces",
    "−": "write the minus sign -",
    "–": "write the minus sign -",
    "π": "write pi",
    "²": "write ^2",
    "³": "write ^3",
    "×": "write *",
    "·": "write *",
}


def _hint(kind: str, word: str) -> str:
    if kind == "name":
        return f"write *{word} for a product"
    return _HINTS.get(word, "")


def clipped(text: str) -> str:
    """The text, or its beginning where it is long."""
    return text if len(text) <= 40 else text[:37] + "..."


def _excerpt(text: str, offset: int) -> str:
    """The text around an offset; the whole of it where it is short."""
    if len(text) <= 60:
        return text
    first, last = max(0, offset - 25), min(len(text), offset + 25)
    return ("..." if first else "") + text[first:last] + ("..." if last < len(text) else "")
