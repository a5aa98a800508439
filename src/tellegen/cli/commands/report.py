"""The command `report`."""

from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.options import Force, ModelText

EXAMPLES = ("tellegen report dc_motor_pump -o report.html",)


def command(
    model: ModelText,
    target: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Where to write: .html, .md or .pdf.")
    ] = Path("report.html"),
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=0,NAME=inf", help="Show a smaller model too; each further --limit leads on from it."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Show a model whole on one page: figures, equations, properties, its experiment and the energy books."""
    from tellegen.cli.reports import reporting_progress
    from tellegen.reporting.reports import report
    from tellegen.workflow.files import refuse_overwriting

    refuse_overwriting(target, force=force)  # as all commands do, under one code
    groups = [group.split(",") for group in limit or ()]
    with reporting_progress() as progress:
        made = report(model, target, limits=groups, force=force, progress=progress)
    shown = f": it shows {made.errors} error{'s' if made.errors > 1 else ''}" if made.errors else ""
    output.say_written(f"{target}{shown}")
