"""Signatures that a reader takes in at a glance: no paths of modules, and no constructors of values that functions make."""

import re
from dataclasses import is_dataclass

from sphinx.application import Sphinx

LONGEST = 300
"""A dataclass with a longer list of fields is made by Tellegen, not by hand; its fields stand below its name."""


def shortened(
    app: Sphinx, what: str, name: str, value: object, options: object, signature: str | None, result: str | None
) -> tuple[str | None, str | None]:
    """The signature with the names of types alone, or none where it would only repeat the fields."""
    if signature and is_dataclass(value) and len(signature) > LONGEST:
        return "", None
    return _plain(signature), _plain(result)


def _plain(text: str | None) -> str | None:
    return text and re.sub(r"~?\b(?:[a-z_]+\.)+(?=[A-Z])", "", text).replace("~", "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Hear of every signature."""
    app.connect("autodoc-process-signature", shortened)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
