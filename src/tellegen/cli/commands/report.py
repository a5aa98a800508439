"""The commands `report` and `page`, and what a terminal shows while a report is made."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tellegen.cli import output
from tellegen.cli.options import OfModel, command, force
from tellegen.core.options import option
from tellegen.reporting.reports import page as write_page
from tellegen.reporting.reports import report as write_report
from tellegen.workflow.files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class ReportOptions(OfModel):
    """What `report` is asked for."""

    target: Path = option(
        Path("report.html"), "Where to write: .html, .md or .pdf.", flag="--output", short="-o", metavar="FILE"
    )
    limit: tuple[str, ...] = option(
        (),
        "Show a smaller model too; each further --limit leads on from it.",
        metavar="NAME=0,NAME=inf",
        once_for_each=True,
    )
    live: bool = option(
        False, "Let the experiment run in the page, with sliders (needs the package ziglang, or clang)."
    )
    force: bool = force()


@command("tellegen report dc_motor_pump -o report.html")
def report(options: ReportOptions) -> None:
    """Show a model whole on one page: figures, equations, properties, its experiment and the energy books; or a study."""
    target = options.target
    refuse_overwriting(target, force=options.force)  # as all commands do, under one code
    groups = [group.split(",") for group in options.limit]
    with _progress() as progress:
        made = write_report(
            options.model, target, limits=groups, live=options.live, force=options.force, progress=progress
        )
    shown = f": it shows {made.errors} error{'s' if made.errors > 1 else ''}" if made.errors else ""
    output.say_written(f"{target}{shown}")


@dataclass(frozen=True, kw_only=True)
class PageOptions(OfModel):
    """What `page` is asked for."""

    target: Path = option(Path("page.html"), "Where to write: .html.", flag="--output", short="-o", metavar="FILE")
    slider: tuple[str, ...] = option(
        (),
        "What can be moved, alone or with its ends; without any, all that can.",
        metavar="NAME[=LOW:HIGH],..",
        once_for_each=True,
    )
    force: bool = force()


@command("tellegen page dc_motor_pump -o page.html --slider R_a=0.1:2")
def page(options: PageOptions) -> None:
    """Write one HTML file in which the model runs: sliders, curves, figures and equations, without a server or a network."""
    refuse_overwriting(options.target, force=options.force)
    sliders = [one for given in options.slider for one in given.split(",")]
    with _progress() as progress:
        write_page(options.model, options.target, sliders=sliders, force=options.force, progress=progress)
    output.say_written(str(options.target))


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Names the section that is being made, on a terminal; says nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("reading the model") as status:
        yield lambda title: status.update(f"{title} ...")
