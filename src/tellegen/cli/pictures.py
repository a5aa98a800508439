"""Plots that are asked for with `--plot`: a window where there is one, else a file, refused before anything is computed."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tellegen.cli.options import SCREEN
from tellegen.results.files import check_folder
from tellegen.results.plotting import blank_figure, check_suffix, save_figure
from tellegen.workflow.files import refuse_overwriting

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_picture(target: str | None, name: str, *, force: bool) -> None:
    """Refuse a picture that could not be written, before anything is computed.

    Raises: ExportError for an unknown suffix (X201) or a folder that is not there (X202); DescriptionError for a file that would
    be replaced (D302).
    """
    if target is None or (target == SCREEN and _has_screen()):
        return
    file = _picture_file(target, name)
    check_suffix(file)
    check_folder(file)
    refuse_overwriting(file, force=force)


def show_figure(draw: "Callable[[Figure | None], Figure]", target: str, name: str) -> list[str]:
    """Draw into a file, or on the screen where there is one; gives the files that were written."""
    if target != SCREEN or not _has_screen():
        return [str(save_figure(draw(blank_figure()), _picture_file(target, name)))]
    from matplotlib import pyplot

    draw(None)
    pyplot.show()
    return []


def _picture_file(target: str, name: str) -> Path:
    """Where a picture is written: the file that was named, or one with the name of the model."""
    return Path(f"{Path(name).stem}.png") if target == SCREEN else Path(target)


def _has_screen() -> bool:
    """Whether a plot without a file name has a window to go to."""
    if not sys.stdout.isatty():
        return False
    from matplotlib import get_backend

    return get_backend().lower() != "agg"
