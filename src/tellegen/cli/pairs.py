"""Options of the form `name=value`, given once for each name."""

import math
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


def numbers(texts: Iterable[str], option: str, example: str) -> dict[str, float]:
    """The names with their numbers.

    Raises: typer.BadParameter for what is not a finite number.
    """
    found: dict[str, float] = {}
    for name, text in pairs(texts, option, example).items():
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = math.nan
        if not math.isfinite(found[name]):
            raise typer.BadParameter(f"'{text}' is not a number", param_hint=option)
    return found
