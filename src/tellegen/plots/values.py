"""What a plot shows, as values: curves, panels of them, and how the whole looks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict, final

import numpy as np

from tellegen.core.names import did_you_mean, listing
from tellegen.plots.axes import Array, Kind
from tellegen.scenes.pictures import Picture, width_in_pixels
from tellegen.scenes.rules import BAD_OPTION
from tellegen.scenes.scene import Scene
from tellegen.scenes.strokes import THEMES, ThemeName

SINGLE, DOUBLE = "88 mm", "181 mm"
"""The widths of one column and of two columns of a journal."""


BANDED = 25
"""The shade of an area, in per cent."""


NARROWEST = 155.0
"""A panel with its numbers is at least so wide: about 41 mm."""


@final
@dataclass(frozen=True, eq=False)
class Line:
    """A curve by its name; `words` tell it from others of that name, and `latex` is written where the name is none.

    `look` are the numbers of its tone and its dash; otherwise its place in the panel chooses both. A `mark` stands at each point
    in place of a line. Down or up to `under` the area is shaded, by `shade` per cent, in place of a line.
    """

    name: str
    x: Array
    y: Array
    words: str = ""
    latex: str = ""
    look: tuple[int, int] | None = None
    mark: Literal["", "x", "o", "."] = ""
    under: Array | None = None
    shade: int = BANDED


def told(line: Line) -> str:
    """The name of a curve in plain words."""
    return line.name if line.words in ("", line.name) else f"{line.name}, {line.words}"


@final
@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over one pair of axes; panels with equal `x_title` and unit have one axis. Titles are LaTeX.

    `given` says that the units were chosen by a person and take no prefix. `window` is the part of x that is shown, `equal` asks
    for equal scales, and `start` for a dot where each curve begins.
    """

    lines: tuple[Line, ...]
    unit: str = ""
    title: str = ""
    x_title: str = "t"
    x_unit: str = "s"
    kind: Kind = "linear"
    x_kind: Kind = "linear"
    given: bool = False
    x_given: bool = False
    window: tuple[float, float] | None = None
    equal: bool = False
    start: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What its curves show."""
        return tuple(told(line) for line in self.lines)

    @property
    def x_key(self) -> tuple[object, ...]:
        """What panels with one axis have in common."""
        # Equal scales are a matter of one panel: a map of slow poles beside fast ones has numbers of its own.
        return self.x_title, self.x_unit, self.x_kind, self.window, id(self) if self.equal else 0

    def in_window(self, line: Line) -> tuple[Array, Array]:
        """The part of a curve that is shown."""
        if self.window is None:
            return line.x, line.y
        low, high = self.window
        inside = (line.x > low) & (line.x < high)
        ends = np.interp([low, high], line.x, line.y)
        x = np.concatenate([[low], line.x[inside], [high]])
        return x, np.concatenate([ends[:1], line.y[inside], ends[1:]])


@final
@dataclass(frozen=True, slots=True)
class Plot(Picture):
    """A plot that shows itself in a notebook, and writes itself with `save`: .svg, .pdf, .png, .tex (TikZ) or .json.

    `panels` tell what it shows: their curves with names and numbers, and units.
    """

    scene: Scene
    panels: tuple[Panel, ...] = field(default=(), repr=False)
    theme: ThemeName = "colour"
    zoom: float = 1.0

    def __str__(self) -> str:
        shown = "; ".join(", ".join(panel.names) for panel in self.panels)
        return f"{self.scene.title}: {shown}" if shown else self.scene.title


Stack = Sequence[Panel]


class Look(TypedDict, total=False):
    """How wide a plot is ('88 mm', '3.4 in', or pixels of CSS), and its theme: colour, mono (for print) or dark."""

    max_width: float | str | None
    theme: str


@final
@dataclass(frozen=True, slots=True)
class CheckedLook:
    """The width at which a plot is laid out, the size at which it is drawn, and its theme."""

    width: float
    zoom: float
    theme: ThemeName


def checked_look(*, max_width: float | str | None = None, theme: str = "colour") -> CheckedLook:
    """The look of a plot; by default it is as wide as two columns of a journal.

    Raises: FigureError (F102) for what is no width, or no theme.
    """
    asked = width_in_pixels(DOUBLE if max_width is None else str(max_width))
    if not asked:
        told = f"'{max_width}' is no value of the option 'max_width'"
        raise BAD_OPTION.error(told, fix=f"give a length: '{SINGLE}' or '{DOUBLE}', the columns of a journal")
    # What is narrower than a panel can be is drawn smaller as a whole.
    width = max(asked, NARROWEST)
    for name in THEMES:
        if theme == name:
            return CheckedLook(width, asked / width, name)
    fix = did_you_mean(theme, THEMES) or f"choose one of {listing(THEMES)}"
    raise BAD_OPTION.error(f"'{theme}' is no value of the option 'theme'", fix=fix)
