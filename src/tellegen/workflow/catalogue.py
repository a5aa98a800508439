"""The built-in systems."""

from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.description.parts.shelf import SYSTEMS


@final
@dataclass(frozen=True, slots=True)
class Example:
    """A built-in system: its name, and what it is in one line."""

    name: str
    about: str


def examples() -> tuple[Example, ...]:
    """The built-in systems, by name. No model is built: only the line that describes each is read.

    >>> [example.name for example in examples()][:2]
    ['cauer_low_pass', 'dc_motor']
    """
    return tuple(Example(path.stem, _about(path)) for path in sorted(SYSTEMS.glob("*.yaml")))


def _about(path: Path) -> str:
    """The text of `about`, else of `system`, read up to the first line that is neither."""
    found: dict[str, str] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            key, colon, text = line.partition(":")
            if colon and key in {"system", "about"}:
                found[key] = text.strip().strip("\"'")
            elif colon and not key.startswith("#"):
                break
    return found.get("about") or found.get("system", "")
