"""Which words are units: the definitions with their prefixes, and the nearest word to one that is none."""

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from tellegen.core.dimensions import Dimension
from tellegen.core.names import nearest
from tellegen.core.unit_definitions import ANGLES, HINTS, PLAIN, PREFIXABLE, PREFIXABLE_FACTORS, PREFIXES, SCALES
from tellegen.core.unit_grammar import Measure, read_measure


@lru_cache(maxsize=4096)
def is_unit(word: str) -> bool:
    """Whether a single word, such as `mH` or `rpm`, is a unit (no products, no powers)."""
    return word in SCALES or look_up_word(word, unit_table()) is not None


def unit_words() -> Iterator[str]:
    """Every unit word that the table lists, without prefixes."""
    yield from unit_table()
    yield from SCALES


@lru_cache(maxsize=1)
def unit_table() -> dict[str, Measure]:
    """Every word without prefix; built on first use, each definition from the words above it."""
    base = {name: Dimension(**{name: 1}) for name in Dimension._fields}
    table: dict[str, Measure] = {name: (Fraction(1), dimension) for name, dimension in base.items()}
    table["g"] = (Fraction(1, 1000), base["kg"])

    def define(word: str, factor: Fraction, text: str) -> None:
        measure = read_measure(text, lambda part: look_up_word(part, table))
        table[word] = (factor * measure[0], measure[1])

    for word, text in PREFIXABLE.items():
        if text:
            define(word, Fraction(1), text)
    for word, (number, text) in (PREFIXABLE_FACTORS | PLAIN).items():
        define(word, Fraction(number), text)
    for word, (factor, text) in ANGLES.items():
        define(word, factor, text)
    return table


def look_up_word(word: str, table: dict[str, Measure]) -> Measure | None:
    """The word, or a prefix and a word. The whole word wins: `min` is a minute, `cd` a candela, `ft` a foot."""
    if (whole := table.get(word)) is not None:
        return whole
    for length in (2, 1):  # `da` before `d`
        prefix, rest = word[:length], word[length:]
        if prefix in PREFIXES and rest in table and (rest in PREFIXABLE or rest in PREFIXABLE_FACTORS):
            factor, dimension = table[rest]
            return Fraction(10) ** PREFIXES[prefix] * factor, dimension
    return None


def unit_suggestion(word: str) -> str:
    """What to do about a word that is no unit: the unit that was probably meant."""
    if (hint := HINTS.get(word) or HINTS.get(word.lower()) or HINTS.get(word.lower().removesuffix("s"))) is not None:
        return f"did you mean '{hint}'?"
    if word[0] in "NVAWJ" and all(is_unit(letter) for letter in word):
        return f"did you mean '{'*'.join(word)}'?"  # `Nm` is how a catalogue prints it
    if word.startswith("kg") and is_unit(word[2:]):
        return f"did you mean 'kg*{word[2:]}'?"
    close = nearest(word, _words_with_prefix_of(word))
    return f"did you mean '{close}'?" if close else "units are SI units with prefixes, such as mH, kohm, N*m/A, rad/s"


def unit_advice(name: str) -> str:
    """What to do about a unit that stands where a name is read, as in `500/s` or `kg*m2`; nothing for other words."""
    if is_unit(name):
        return f"as a unit, '{name}' stands behind its number, after a space: 1 {name}, or 1 {name}^-1"
    word, digit = name[:-1], name[-1:]
    return f"as a unit, write {word}^{digit}" if digit in "23" and is_unit(word) else ""


def _words_with_prefix_of(word: str) -> list[str]:
    """Known words, and all units with the prefix that `word` seems to start with, in either case of letters."""
    prefixes = [p for p in PREFIXES if word.lower().startswith(p.lower())]
    prefixed = [p + base for p in prefixes for base in (*PREFIXABLE, *PREFIXABLE_FACTORS)]
    return [*unit_words(), *prefixed]
