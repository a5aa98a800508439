"""Names for the items and variables of schemes: plain, and each used once."""

from collections.abc import Iterable

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
