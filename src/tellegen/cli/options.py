"""Arguments and options that several commands have: the same words for the same thing everywhere."""

from enum import StrEnum
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
Sign = Annotated[SignName, typer.Option(help="The sign of A: '-' for L x' = -A x + B u, '+' for L x' = A x + B u.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
Settings = Annotated[
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
