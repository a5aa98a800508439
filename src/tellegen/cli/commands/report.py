"""The command `report`, and what a terminal shows while a report is made."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from tellegen.cli import output
from tellegen.cli.options import Force, ModelText


@contextmanager
def reporting_progress() -> Iterator[Callable[[str], None]]:
    """Names the section that is being made, on a terminal; says nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("reading the model") as status:
        yield lambda title: status.update(f"{title} ...")


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
    from tellegen.reporting.reports import report
    from tellegen.workflow.files import refuse_overwriting

    refuse_overwriting(target, force=force)  # as all commands do, under one code
    groups = [group.split(",") for group in limit or ()]
    with reporting_progress() as progress:
        made = report(model, target, limits=groups, force=force, progress=progress)
    shown = f": it shows {made.errors} error{'s' if made.errors > 1 else ''}" if made.errors else ""
    output.say_written(f"{target}{shown}")
