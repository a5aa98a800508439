"""What a reader of a file of another tool gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.core.errors import Finding


@final
@dataclass(frozen=True, slots=True)
class Imported:
    """What a file of another tool says: the text of a model file, and what of it was left out.

    `beside` are the files that the model uses, by names beside it: parts, or an FMU.
    """

    text: str
    beside: Mapping[str, str | bytes] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
