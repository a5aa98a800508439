"""Figures of matplotlib: made where plots are shown, or given by whoever owns a canvas."""

from pathlib import Path
from typing import TYPE_CHECKING

from tellegen.results import rules
from tellegen.results.files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PICTURES = (".png", ".svg", ".pdf")


def figure_of(given: "Figure | None", *, width: float, height: float) -> "Figure":
    """The figure to draw into: the one given, else a new one of pyplot, which notebooks and `plt.show()` know of."""
    if given is not None:
        given.set_size_inches(width, height)
        given.set_layout_engine("constrained")
        return given
    from matplotlib import pyplot  # noqa: PLC0415

    return pyplot.figure(figsize=(width, height), layout="constrained")


def blank_figure() -> "Figure":
    """A figure that no window shows, for files and servers."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    return Figure()


def save_figure(figure: "Figure", path: Path) -> Path:
    """Write a figure to a file: `.png`, `.svg` or `.pdf`.

    Raises: ExportError for another suffix (X201), or when the file cannot be written (X202).
    """
    suffix = check_suffix(path)
    return written_whole(path, lambda file: figure.savefig(file, format=suffix[1:], dpi=150))


def check_suffix(path: Path) -> str:
    """The suffix of a picture.

    Raises: ExportError (X201) for another one.
    """
    suffix = path.suffix.lower()
    if suffix not in PICTURES:
        raise rules.BAD_SUFFIX.error(
            f"'{path.name}' is not known as a picture",
            why="the suffix chooses the format",
            fix=f"end the name in {', '.join(PICTURES)}",
        )
    return suffix


def label(name: str, unit: str) -> str:
    """`I_a [A]`; the name alone where it has no unit."""
    return f"{name} [{unit}]" if unit and unit != "1" else name
