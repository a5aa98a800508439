"""Arguments and options that several commands have: the same words for the same thing everywhere; `name=value` pairs, and
`--plot`.
"""

from collections.abc import Iterable
from enum import StrEnum
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Final

import typer

PRINTED: Final = Path("-")
"""As the file to write: print the text instead, like a command without `-o`."""


class SignName(StrEnum):
    """Sign conventions."""

    MINUS = "-"
    PLUS = "+"


def printed_or_written(target: Path | None) -> Path | None:
    """The file to write, or None where the text is to be printed."""
    return None if target == PRINTED else target


ModelText = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, or the name of a built-in example.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="Print LaTeX (amsmath).")]
SignOption = Annotated[
    SignName, typer.Option(help="The sign of A: '-' for L x' = -A x + B u, '+' for L x' = A x + B u.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="K=2e5", help="A parameter, an input or an initial value, in SI or with a unit; once for each."
    ),
]
Until = Annotated[str | None, typer.Option(metavar="TIME", help="How long to run: 2, or '20 ms'.")]
RelativeTolerance = Annotated[float | None, typer.Option("--rtol", help="The relative tolerance.")]
ModelFile = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="MODEL.yaml",
        callback=printed_or_written,
        help="Where to write the model; without it, or with '-', it is printed.",
    ),
]


def refuse_two_languages(as_json: bool, as_latex: bool) -> None:
    """Say that a text is JSON or LaTeX.

    Raises: typer.BadParameter for both.
    """
    if as_json and as_latex:
        raise typer.BadParameter("--json and --latex exclude each other")


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


SCREEN = "-"
"""Stands for a plot without a file name: a window where there is one, else a file named like the model."""

MODELS = (".yaml", ".yml", ".txt")


def with_plot_file(arguments: list[str]) -> list[str]:
    """The arguments with a target for each `--plot` that names no file: the parser wants a value for every such option."""
    return [
        f"--plot={SCREEN}" if word == "--plot" and not _names_file(after) else word
        for word, after in zip_longest(arguments, arguments[1:], fillvalue="")
    ]


def _names_file(word: str) -> bool:
    return "." in word and not word.startswith("-") and not word.lower().endswith(MODELS)
