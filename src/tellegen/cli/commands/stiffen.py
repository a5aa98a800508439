"""The command `stiffen`."""

from typing import Annotated

import typer

from tellegen.cli.options import AsJson, Force, ModelFile, ModelText, name_list

EXAMPLES = ("tellegen stiffen planetary_gear J_s -o elastic.yaml",)


def command(
    model: ModelText,
    connection: Annotated[
        str,
        typer.Argument(
            metavar="CONNECTION", help="A storage that follows others, or a node to be cut.", show_default=False
        ),
    ],
    apart: Annotated[str, typer.Option(metavar="a,b", help="The elements that are parted from the node.")] = "",
    value: Annotated[
        float | None, typer.Option(help="The fictitious parameter in SI; without it one is suggested.")
    ] = None,
    undamped: Annotated[bool, typer.Option("--undamped", help="No dissipator beside the fictitious storage.")] = False,
    target: ModelFile = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make a rigid connection elastic: the reverse of a limit."""
    from tellegen.cli.reductions import StiffenOptions, show_stiffened

    show_stiffened(model, connection, StiffenOptions(name_list(apart), value, not undamped, target, force, as_json))
