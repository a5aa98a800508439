r"""How names are written where the author says it: `K_1` as K_\tau.

A symbol is a small language of its own: letters, Greek commands, accents, subscripts, superscripts and primes. Nothing else of
LaTeX is read, so that no figure, page or document gets a command that its reader did not ask for.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, final
from unicodedata import normalize

_NAMES = """
alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varepsilon vartheta varphi varrho
"""
_GREEK_LETTERS = dict(zip(_NAMES.split(), "αβγδϵζηθικλμνξπρστυϕχψωΓΔΘΛΞΠΣΥΦΨΩεϑφϱ", strict=True))
GREEK = frozenset(_GREEK_LETTERS)
"""The Greek letters that names and symbols may have, by their commands."""

_ACCENTS = {
    "dot": "\u0307",
    "ddot": "\u0308",
    "hat": "\u0302",
    "bar": "\u0304",
    "tilde": "\u0303",
    "vec": "\u20d7",
}
"""The marks over a letter, as Unicode puts them behind it."""
_FONTS = ("mathbf", "mathrm", "text")
WORDS = (*_ACCENTS, *_FONTS)
"""The commands that take something in braces."""

_TOKEN = re.compile(r"\\[A-Za-z]+|[A-Za-z]+|[0-9]+|[_^{},'+*-]|(?P<space>\s+)|(?P<other>.)", re.DOTALL)
_NUMBERED = re.compile(r"(.*?)(?:_(\d+))?", re.DOTALL)
MOST_LETTERS = 80
_DEEPEST = 4


class NoSymbolError(ValueError):
    """A text that is no symbol, with the reason."""


@final
class WrittenSymbol(NamedTuple):
    """A symbol in LaTeX, and as plain text."""

    latex: str
    plain: str


@lru_cache(maxsize=4096)
def read_symbol(text: str) -> WrittenSymbol:
    r"""The symbol that a text describes, such as `\dot{x}_{a}^{*}`.

    Raises: NoSymbolError with the reason.
    """
    if len(text) > MOST_LETTERS:
        raise NoSymbolError(f"it has more than {MOST_LETTERS} letters")
    reader = _Reader(text)
    found = reader.symbol(0)
    if reader.tokens:
        raise NoSymbolError(f"'{reader.tokens[0]}' is too much: a symbol is one letter or word with its marks")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        for match in _TOKEN.finditer(text.strip()):
            if match["other"]:
                raise NoSymbolError(f"'{match['other']}' stands in no symbol")
            if not match["space"]:
                self.tokens.append(match[0])

    def symbol(self, depth: int) -> WrittenSymbol:
        """A base with its subscript, superscript and primes, each at most once."""
        if depth > _DEEPEST:
            raise NoSymbolError("it is nested too deep")
        latex, plain = self._base(depth)
        below = above = ""
        below_text = above_text = ""
        while self.tokens and self.tokens[0] in ("_", "^", "'"):
            mark = self.tokens.pop(0)
            if mark == "'":
                above, above_text = rf"{above}\prime", above_text + "′"
                continue
            group = self._group(depth)
            if mark == "_" and not below:
                below, below_text = group
            elif mark == "^" and not above:
                # The transpose of a matrix is upright, and no quantity.
                above, above_text = (r"\mathrm{T}", "T") if group.latex == "T" else group
            else:
                raise NoSymbolError(f"it has two '{mark}' in a row: write them in one pair of braces")
        latex += (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
        plain += (f"_{below_text}" if below else "") + (_raised(above_text) if above else "")
        return WrittenSymbol(latex, plain)

    def _base(self, depth: int) -> WrittenSymbol:
        token = self._next("a letter")
        name = token.removeprefix("\\")
        if token.startswith("\\"):
            if name in GREEK:
                return WrittenSymbol(token, _GREEK_LETTERS[name])
            if name not in WORDS:
                raise NoSymbolError(f"'{token}' is none of its commands")
            return self._marked(name, depth)
        if not token.isalnum():
            raise NoSymbolError(f"a letter is missing before '{token}'")
        # Several letters in italics read as a product.
        return WrittenSymbol(token if len(token) == 1 or token.isdigit() else rf"\mathrm{{{token}}}", token)

    def _marked(self, word: str, depth: int) -> WrittenSymbol:
        self._take("{", f"'\\{word}' has something in braces")
        if word in _FONTS:
            letters = self._next("a word")
            if not letters.isalnum() and letters.removeprefix("\\") not in GREEK:
                raise NoSymbolError(f"'{letters}' is no word")
            inside = WrittenSymbol(letters, _GREEK_LETTERS.get(letters.removeprefix("\\"), letters))
        else:
            inside = self.symbol(depth + 1)
        self._take("}", "a brace is not closed")
        head, tail = inside.plain[:1], inside.plain[1:]
        marked = normalize("NFC", f"{head}{_ACCENTS.get(word, '')}{tail}")
        return WrittenSymbol(rf"\{word}{{{inside.latex}}}", marked)

    def _group(self, depth: int) -> WrittenSymbol:
        """What stands below or above: one thing, or several in braces with commas between them."""
        if not self.tokens or self.tokens[0] != "{":
            return self._item(depth, plain=True)
        self.tokens.pop(0)
        found = [self._item(depth)]
        while self.tokens and self.tokens[0] == ",":
            self.tokens.pop(0)
            found.append(self._item(depth))
        self._take("}", "a brace is not closed")
        return WrittenSymbol(",".join(f.latex for f in found), ",".join(f.plain for f in found))

    def _item(self, depth: int, *, plain: bool = False) -> WrittenSymbol:
        """One thing below or above; a plain one has no marks of its own."""
        if self.tokens and self.tokens[0] in ("*", "+", "-"):
            sign = self.tokens.pop(0)
            if sign == "-" and self.tokens and self.tokens[0] == "1":
                sign += self.tokens.pop(0)
            return WrittenSymbol(sign, sign)
        return self._base(depth + 1) if plain else self.symbol(depth + 1)

    def _next(self, wanted: str) -> str:
        if not self.tokens:
            raise NoSymbolError(f"{wanted} is missing at its end")
        return self.tokens.pop(0)

    def _take(self, token: str, why: str) -> None:
        if self._next(f"'{token}'") != token:
            raise NoSymbolError(why)


def _raised(text: str) -> str:
    return text if set(text) <= {"′", "*"} else f"^{text}"


# The symbols in force

NO_SYMBOLS: Mapping[str, str] = MappingProxyType({})
_IN_FORCE: ContextVar[Mapping[str, str]] = ContextVar("symbols", default=NO_SYMBOLS)


_CONSTANTS: ContextVar[frozenset[str] | None] = ContextVar("constants", default=None)


@contextmanager
def written_with(symbols: Mapping[str, str], constants: Iterable[str] | None = None) -> Iterator[None]:
    """Names are written by these symbols for as long as this lasts; without any, as they were before.

    `constants` are the names of parameters and gains, which stand before variables in a product; without them, as it was before.
    """
    before = _IN_FORCE.get(), _CONSTANTS.get()
    if symbols:
        _IN_FORCE.set(symbols)
    if constants is not None:
        _CONSTANTS.set(frozenset(constants))
    try:
        yield
    finally:
        _IN_FORCE.set(before[0])
        _CONSTANTS.set(before[1])


def varies(name: str) -> bool:
    """Whether a name is a variable where parameters are known."""
    constants = _CONSTANTS.get()
    return constants is not None and name not in constants


def symbol_latex(name: str) -> str:
    """The symbol of a name in LaTeX, empty where nobody gave one; V_K_m with a symbol of K_m has it as its subscript."""
    symbols = _IN_FORCE.get()
    if not symbols:
        return ""
    if (text := symbols.get(name)) is not None:
        return read_symbol(text).latex
    head, _, rest = name.partition("_")
    own, number = _NUMBERED.fullmatch(rest).groups()  # type: ignore[union-attr]  # it fits every text
    for element, place in ((rest, ""), (own, number)):
        if (text := symbols.get(element)) is not None:
            letter = rf"\{head}" if head in GREEK else head
            return f"{letter}_{{{','.join(filter(None, (read_symbol(text).latex, place)))}}}"
    return ""


def symbols_to_text(symbols: Mapping[str, str]) -> str:
    """The names and how they are written, a line each; nothing without symbols."""
    width = max(map(len, symbols), default=0)
    lines = [f"  {name:<{width}}  {read_symbol(text).plain}" for name, text in symbols.items()]
    return "\n".join(["symbols", *lines]) + "\n" if lines else ""
