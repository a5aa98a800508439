"""Options of the form `name=value`, given once for each name."""

from collections.abc import Iterable

import typer


def pairs(texts: Iterable[str], option: str, example: str) -> dict[str, str]:
    """The names with their texts.

    Raises: typer.BadParameter for a text without `=`, or a name given twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            raise typer.BadParameter(f"'{text}' is not of the form {example}", param_hint=option)
        if name in found:
            raise typer.BadParameter(f"'{name}' is given twice", param_hint=option)
        found[name] = value
    return found


def name_list(text: str) -> tuple[str, ...]:
    """Names separated by commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
