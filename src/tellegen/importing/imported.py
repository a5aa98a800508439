"""What a reader of a file of another tool gives, and names of other tools in our words: `n+` is no name here.

Two things must not share a name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.core.errors import Finding
from tellegen.core.names import TIME, numbered
from tellegen.expressions import RESERVED_WORDS


@final
@dataclass(frozen=True, slots=True)
class Imported:
    """What a file of another tool says: the text of a model file, and what of it was left out.

    `beside` are the files that the model uses, by names beside it: parts, or an FMU.
    """

    text: str
    beside: Mapping[str, str | bytes] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


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
