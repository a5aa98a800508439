"""The command `export`."""

from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.options import AsJson, Force, ModelText

EXAMPLES = ("tellegen export dc_motor_pump --to simulink -o motor",)


def command(
    model: ModelText,
    target: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="FOLDER", help="The folder of the files.", show_default=False),
    ],
    tool: Annotated[str, typer.Option("--to", metavar="TOOL", help="simulink: programs for MATLAB and Octave.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a model with its experiment as files of another tool."""
    from tellegen.exporting.exports import export_model

    written = export_model(model, tool, target, overwrite=force)
    if as_json:
        output.write_json({"files": [str(path) for path in written]})
    else:
        output.say_written(*written)
