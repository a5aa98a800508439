"""The command `bench`."""

from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.options import AsJson

EXAMPLES = ("tellegen bench units_yaml",)


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Benchmarks; without one, all.")] = None,
    full: Annotated[bool, typer.Option("--full", help="All sizes; takes minutes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Time Tellegen beside the peers that are installed, and check every result.

    Exits with 1 when a result is wrong, never because something is slow.
    """
    from tellegen.benchmarks.running import bench

    if not bench(*(names or ()), full=full, as_json_text=as_json):
        raise typer.Exit(output.MODEL_ERRORS)
