"""The command `translate`."""

from enum import StrEnum
from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.options import AsJson, Force, ModelFile, ModelText

EXAMPLES = ("tellegen translate dc_motor_pump bond -o dc_motor_pump_bond.yaml",)


class NotationName(StrEnum):
    """Notations of model files."""

    NETWORK = "network"
    BOND = "bond"
    POG = "pog"


def command(
    model: ModelText,
    notation: Annotated[
        NotationName, typer.Argument(metavar="NOTATION", help="The notation of the new file.", show_default=False)
    ],
    target: ModelFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Say the same model in another notation: as a network, a bond graph or a Power-Oriented Graph."""
    from tellegen.workflow.transforming import translate

    text = translate(model, notation.value, target, force=force)
    output.show_model(text, target, as_json=as_json)
