"""The command `check`."""

import sys

import typer

from tellegen.cli import output
from tellegen.cli.options import AsJson, ModelText

EXAMPLES = ("tellegen check dc_motor_pump",)


def command(model: ModelText, as_json: AsJson = False) -> None:
    """Find errors, and say what the states are.

    Also lists dependent storages and zero-order causal paths. Exits with 1 when there are errors.
    """
    from tellegen.equations.checking import check

    found = check(model)
    if as_json:
        output.write_json(found.to_json())
    else:
        output.write(output.findings_text(str(found).split("\n\n"), sys.stdout.isatty()))
    if not found.ok:
        raise typer.Exit(output.MODEL_ERRORS)
