"""Runs as figures: variables over time with one axis for each unit, and one variable over another."""

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING

from tellegen.results.display import DisplayUnits
from tellegen.results.figures import figure_of, label
from tellegen.results.labelling import Recorded

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.0, 2.2
IN_SI = DisplayUnits()
BROKEN = ("--", ":", "-.")


def plot(
    run: Recorded,
    names: Iterable[str],
    *,
    beside: Mapping[str, Recorded] | None = None,
    figure: "Figure | None" = None,
    display: DisplayUnits = IN_SI,
) -> "Figure":
    """Variables over time; those of one unit share an axis. Other runs stand `beside` it in broken lines, each under its name."""
    of_unit: dict[str, list[str]] = {}
    for name in names:
        of_unit.setdefault(display.unit(name, run.unit(name)), []).append(name)
    shown = [name for group in of_unit.values() for name in group]
    values = dict(zip(shown, run.table(shown).T, strict=True))
    drawn = figure_of(figure, width=WIDTH, height=0.8 + HEIGHT * max(len(of_unit), 1))
    axes = drawn.subplots(max(len(of_unit), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, group) in zip(axes, of_unit.items(), strict=False):
        for name in group:
            (line,) = axis.plot(run.t, display.shown(name, values[name]), label=name)
            for (title, other), style in zip((beside or {}).items(), cycle(BROKEN), strict=False):
                shades = {"linestyle": style, "color": line.get_color(), "label": f"{name}, {title}"}
                axis.plot(other.t, display.shown(name, other.values(name)), **shades)
        axis.set_ylabel(label(group[0], unit) if len(group) == 1 else f"[{unit or '1'}]")
        if len(group) > 1 or beside:
            axis.legend()
        axis.grid(True, alpha=0.3)
    axes[0].set_title(run.name)
    axes[-1].set_xlabel("t [s]")
    return drawn


def plot_phase(
    run: Recorded, x: str, y: str, *, figure: "Figure | None" = None, display: DisplayUnits = IN_SI
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
