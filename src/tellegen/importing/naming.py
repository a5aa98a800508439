"""Names of other tools in our words: `n+` is no name here, and two things must not share one."""

import re

from tellegen.core.domains import REFERENCES
from tellegen.core.names import TIME, numbered
from tellegen.expressions import RESERVED_WORDS

_OTHER = re.compile(r"[^A-Za-z0-9]+")


def plain_name(text: str, prefix: str) -> str:
    """The text with an underscore for whatever cannot stand in a name.

    >>> plain_name("Net-(C1-Pad1)", "n"), plain_name("1a", "n")
    ('Net_C1_Pad1', 'n1a')
    """
    name = _OTHER.sub("_", text).strip("_") or prefix
    return name if name[0].isalpha() else prefix + name


class GivenNames:
    """The names given so far in one file."""

    def __init__(self) -> None:
        self.taken: set[str] = {*RESERVED_WORDS, TIME}

    def give(self, text: str, prefix: str) -> str:
        """A name for something, as near to its text as may be; the prefix makes a name of a number."""
        name = plain_name(text, prefix)
        found = name if name not in self.taken else next(numbered(name, {*self.taken, f"{name}_1"}))
        self.taken.add(found)
        return found


def node_names(nodes: list[str]) -> dict[str, str]:
    """The names of nodes, by their words in the file; whole numbers stay."""
    found: dict[str, str] = {}
    taken = set(REFERENCES)
    for node in nodes:
        name = node if re.fullmatch(r"[0-9]{1,9}", node) else plain_name(node, "n")
        if name in taken:
            name = next(numbered(name, taken))
        taken.add(name)
        found[node] = name
    return found
