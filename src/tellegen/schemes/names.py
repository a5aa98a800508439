"""Names for the items and variables of schemes: plain, and each used once."""

from collections.abc import Iterable, Sequence

from tellegen.core.domains import REFERENCES
from tellegen.core.names import identifier, is_dotted, is_name
from tellegen.expressions import RESERVED_WORDS


def plain_name(path: str) -> str:
    """A path as one name: `drive.R[3]` becomes `drive_R_3`."""
    name = identifier(path)
    # Two underscores in a row stand for the dot of a path in C and JSON, so a plain name must not have them.
    while "__" in name:
        name = name.replace("__", "_")
    # A node called `pi` or `gnd` would be read back as a number or as a reference, so that the file would mean another model.
    if name in RESERVED_WORDS or name in REFERENCES:
        return f"{name}_n"
    # What begins with a digit or an underscore is no name in any notation; the letter n says that it was made up.
    return name if is_name(name) else "n_" + name.strip("_")


def variable_name(path: str) -> str:
    """The name of a variable as a file can say it: a path through parts stays, so that formulas still read it."""
    return path if is_dotted(path) and "[" not in path else plain_name(path)


class UniqueNames:
    """Hands out each name once, with a number behind it where it is taken."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def reserve(self, name: str) -> None:
        """Keep a name from being handed out."""
        self._taken.add(name)

    def take(self, wanted: str) -> str:
        """The name itself, or the first free one after it."""
        name, count = wanted, 1
        while name in self._taken:
            count += 1
            # Counting starts at 2: the first one keeps the name itself, as a person would number a second resistor.
            name = f"{wanted.rstrip('_')}_{count}"
        self._taken.add(name)
        return name


def without_duplicates(names: str | Iterable[str]) -> list[str]:
    """The names, each once; a text is one name, not its letters."""
    return [names] if isinstance(names, str) else list(dict.fromkeys(names))


def common_stem(names: Sequence[str]) -> str:
    """What names have in common, without the parts that they belong to: `I` for `I_1` and `I_2`, `v_0` for `vx_0` and `vy_0`."""
    last = [name.rpartition(".")[2].partition("[")[0].split("_") for name in names]
    shared: list[str] = []
    for words in zip(*last, strict=False):
        if len({*words}) == 1:
            shared.append(words[0])
            continue
        # V_e1 and V_e2 are V_e with numbers, vx and vy are v with an axis; screw and spline have nothing in common.
        stem = _same_beginning(words)
        if all((word[len(stem) :] or "0").isdigit() for word in words):
            stem = stem.rstrip("0123456789")
        elif any(len(word) - len(stem) > 1 for word in words):
            break
        if stem:
            shared.append(stem)
            tails = {tuple(own[len(shared) :]) for own in last}
            shared += tails.pop() if len(tails) == 1 else ()
        break
    return "_".join(shared)


def _same_beginning(words: Sequence[str]) -> str:
    # What the smallest and the largest word share, all words between them share as well.
    first, last = min(words), max(words)
    return first[: next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
