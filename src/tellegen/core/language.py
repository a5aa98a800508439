"""Sentences in the language of a reader, from one table of words for each language.

A table is a file of `languages/`. All have the same keys and, under each, the same parts to be filled in, so that who adds a
language or a sentence sees what is missing.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Literal, final, get_args

from tellegen.core.names import did_you_mean, listing

Language = Literal["en", "it", "de", "fr"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
TABLES = Path(__file__).parents[1] / "languages"


@cache
def table(language: Language) -> Mapping[str, str]:
    """All sentences of a language, by key: `strokes.source`."""
    with (TABLES / f"{language}.toml").open("rb") as file:
        groups = tomllib.load(file)
    return {f"{group}.{key}": text for group, texts in groups.items() for key, text in texts.items()}


@final
class Phrases:
    """Says sentences in one language.

    >>> Phrases("it")("quantity.voltage")
    'la tensione'
    """

    def __init__(self, language: Language = "en") -> None:
        self.language: Language = language
        self._table = table(language)

    def __call__(self, key: str, **parts: object) -> str:
        """The sentence under a key, with its parts filled in."""
        return self._table[key].format_map(parts)

    def quantity(self, word: str) -> str:
        """A power or energy variable with its article: the voltage, la tensione, die Spannung."""
        return self("quantity." + word.replace(" ", "_"))

    def domain(self, name: str) -> str:
        """What a domain is called under its area: its name, unless engineers say more."""
        return self._table.get(f"domain.{name}", name)

    def names(self, names: Iterable[str]) -> str:
        """Names between backquotes, `a`, `b` and `c`."""
        marked = [f"`{name}`" for name in names]
        if len(marked) < 2:
            return "".join(marked)
        return self("list.and", before=", ".join(marked[:-1]), last=marked[-1])


ENGLISH = Phrases()


def unknown_language(word: object) -> str:
    """What to write where a word names no language."""
    return did_you_mean(str(word), LANGUAGES) or f"choose one of {listing(LANGUAGES)}"
