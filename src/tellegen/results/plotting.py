"""Runs as figures of matplotlib: variables over time with one axis for each unit, and one variable over another."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from tellegen.results import rules
from tellegen.results.files import write_atomically
from tellegen.results.units import DisplayUnits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tellegen.results.records import Recorded


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
    return write_atomically(path, lambda file: figure.savefig(file, format=suffix[1:], dpi=150))


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


WIDTH, HEIGHT = 7.0, 2.2
IN_SI = DisplayUnits()
BROKEN = ("--", ":", "-.")


def plot(
    run: "Recorded",
    names: Iterable[str],
    *,
    beside: "Mapping[str, Recorded] | None" = None,
    figure: "Figure | None" = None,
    display: DisplayUnits = IN_SI,
) -> "Figure":
    """Variables over time; those of one unit share an axis. Other runs stand `beside` it in broken lines, each under its name."""
    # Axes follow the units in the order in which the names bring them.
    of_unit: dict[str, list[str]] = {}
    for name in names:
        of_unit.setdefault(display.unit(name, run.unit(name)), []).append(name)
    shown = [name for group in of_unit.values() for name in group]
    # All at once: rows are then observed once.
    values = dict(zip(shown, run.table(shown).T, strict=True))
    drawn = figure_of(figure, width=WIDTH, height=0.8 + HEIGHT * max(len(of_unit), 1))
    axes = drawn.subplots(max(len(of_unit), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, group) in zip(axes, of_unit.items(), strict=False):
        for name in group:
            (line,) = axis.plot(display.shown("t", run.t), display.shown(name, values[name]), label=name)
            for (title, other), style in zip((beside or {}).items(), cycle(BROKEN), strict=False):
                # The colour of the variable, so that lines that belong together are seen as such.
                shades = {"linestyle": style, "color": line.get_color(), "label": f"{name}, {title}"}
                axis.plot(display.shown("t", other.t), display.shown(name, other.values(name)), **shades)
        axis.set_ylabel(label(group[0], unit) if len(group) == 1 else f"[{unit or '1'}]")
        if len(group) > 1 or beside:
            axis.legend()
        axis.grid(True, alpha=0.3)
    axes[0].set_title(run.name)
    axes[-1].set_xlabel(label("t", display.unit("t", "s")))
    return drawn


def plot_phase(
    run: "Recorded", x: str, y: str, *, figure: "Figure | None" = None, display: DisplayUnits = IN_SI
) -> "Figure":
    """One variable over another, with its start marked."""
    over, up = display.shown(x, run.values(x)), display.shown(y, run.values(y))
    drawn = figure_of(figure, width=5.0, height=4.5)
    axis = drawn.subplots()
    axis.plot(over, up)
    axis.plot(over[:1], up[:1], "o", label="start")
    axis.set_xlabel(label(x, display.unit(x, run.unit(x))))
    axis.set_ylabel(label(y, display.unit(y, run.unit(y))))
    axis.set_title(run.name)
    axis.legend()
    axis.grid(True, alpha=0.3)
    return drawn
