"""The command `import`."""

from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.options import AsJson, Force, ModelFile

EXAMPLES = ("tellegen import example_1.txt -o example_1.yaml",)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A POG_Modeler netlist (.txt).")],
    target: ModelFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Turn a file of another tool into a model file."""
    from tellegen.workflow.files import import_model

    text = import_model(file, target, force=force)
    output.show_model(text, target, as_json=as_json)
