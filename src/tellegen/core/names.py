"""Names of elements, parameters, variables and nodes, and how they are written elsewhere."""

import difflib
import keyword
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import count

NAME = re.compile(r"[A-Za-z](?:_?[A-Za-z0-9])*_?")
"""A letter, then letters, digits, underscores; no two underscores in a row, which stand for the dot of a path in C."""

TIME = "t"
"""The name of time in formulas of signals, and in results."""

_INDEXED = re.compile(rf"({NAME.pattern})((?:\[\d+(?:,\d+)*\])?)")

_C_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
)
C_KEYWORDS = frozenset(_C_WORDS.split())
RESERVED = C_KEYWORDS | frozenset(keyword.kwlist)


def is_name(text: str) -> bool:
    """Whether `text` can name an element, a parameter, a variable or a node by itself (no path, no index)."""
    return NAME.fullmatch(text) is not None


def is_path(text: str) -> bool:
    """Whether `text` is a path such as `drive.motor.L_a` or `ladder.R[3]`."""
    return all(_INDEXED.fullmatch(part) for part in text.split("."))


def is_dotted(text: str) -> bool:
    """Whether `text` is a path through at least one part: `left.L_a`, but not `L_a`."""
    return "." in text and is_path(text)


def named_after(symbol: str, path: str) -> str:
    """The name of what belongs to an element: `omega` of `left.J` is `left.omega_J`."""
    owner, dot, own = path.rpartition(".")
    return f"{owner}{dot}{symbol}_{own}"


def identifier(path: str) -> str:
    """The path as an identifier of JSON, C, Python and CSV: `drive.motor.x[3]` becomes `drive__motor__x_3`.

    Words reserved in Python or C get a trailing underscore.
    """
    flat = path.replace(".", "__").replace("[", "_").replace(",", "_").replace("]", "")
    # `lambda` and `register` are good names of parameters, and no names in a program.
    return flat + "_" if flat in RESERVED else flat


def joined(*names: str) -> str:
    """A name made of others: indices lose their brackets, because one stands last in a name, and underscores do not double."""
    text = "_".join(names).replace("[", "_").replace("]", "")
    return re.sub("__+", "_", text)


def unused(wanted: str, taken: Container[str], ending: str = "_") -> str:
    """The name, with underscores or another ending behind it until nothing else has it."""
    while wanted in taken:
        wanted += ending
    return wanted


def numbered(prefix: str, taken: Container[str]) -> Iterator[str]:
    """The names k_1, k_2, ... of a prefix, without those that something else has."""
    return (name for n in count(1) if (name := f"{prefix}_{n}") not in taken)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to `word`, or None when nothing is close enough to be a typing error."""
    choices = list(known)
    by_lower = {choice.lower(): choice for choice in choices}
    # A wrong capital is the commonest slip, and no distance of letters ranks it first.
    if word.lower() in by_lower:
        return by_lower[word.lower()]
    # At six tenths `resistr` finds `resistor`, and short names of one letter find nothing by chance.
    found = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean 'inductor'?`, or an empty text when nothing is close.

    A name that parts have is meant before one that is spelt alike: `K` may be `left.K` or `right.K`, and both are told.
    """
    choices = list(dict.fromkeys(known))
    # Who moves an element into a part forgets the dot more often than a letter.
    inside = [choice for choice in choices if choice.endswith(f".{word}")]
    if inside and word not in choices:
        return f"name the part: {listing(inside, 4)}" if len(inside) > 1 else f"did you mean '{inside[0]}'?"
    close = nearest(word, choices)
    return f"did you mean '{close}'?" if close else ""


def listing(names: Iterable[str], most: int = 8) -> str:
    """Names as a text: `'a', 'b' and 3 more`."""
    return enumeration([f"'{name}'" for name in names], most)


def enumeration(texts: Sequence[str], most: int = 8) -> str:
    """Texts one after another, as they are: `a, b and 3 more`."""
    head = ", ".join(texts[:most])
    return head if len(texts) <= most else f"{head} and {len(texts) - most} more"
