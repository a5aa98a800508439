"""The texts of plots, all of one size: the names over a panel with samples of their curves, and the numbers along its sides."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.plots.axes import Array, Axis, Tick
from tellegen.plots.curves import Drawn
from tellegen.plots.values import BANDED, Line, Panel
from tellegen.scenes.geometry import Box, Point, box_outline
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import NOTHING, Align, Curve, Label, Origin, Ring, Shape, Tone, Trace, label_box

SIZE = 10.7
"""Of all texts: 8 points."""


TONES: tuple[Tone, ...] = ("electrical", "hydraulic", "rotational", "translational", "thermal", "magnetic")


DASHES: tuple[tuple[float, ...], ...] = ((), (6, 2.5), (1.6, 2), (8, 2.2, 1.6, 2.2), (3.2, 2), (9, 2, 1.6, 2, 1.6, 2))
"""Curves of one panel differ in both, so that they are told apart in print and by everybody."""


EDGE, GAP, LINE = 3.0, 9.0, 15.0
"""Round the plot, between columns, and from baseline to baseline."""


SAMPLE, SPACE = 17.0, 11.0
"""The length of a sample of a line, and what lies between two names."""


FRAME, GRID, CURVE = 0.7, 0.5, 1.3


PALE, FAINT = 14, 45
"""Shades in per cent: of the grid, and of the line at zero."""


MARK, SMALL_MARK, START = 3.5, 2.0, 2.6


@final
@dataclass(frozen=True)
class FramedPanel:
    """A panel in its frame, with its axes."""

    panel: Panel
    number: int
    frame: Box
    x: Axis
    y: Axis
    shows_x: bool
    drawn: tuple[Drawn, ...]

    def at(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Values as places on the page."""
        box = self.frame
        return box.left + self.x.share(x) * box.width, box.bottom - self.y.share(y) * box.height


def text_width(latex: str) -> float:
    """How wide a text of a plot is."""
    return label_box(plot_text(latex, (0.0, 0.0), "left")).width


def plot_text(latex: str, at: Point, align: Align, origin: Origin = NOTHING) -> Label:
    """A text of a plot: all are of one size, and stand on their baseline."""
    return Label(latex, at, SIZE, align, "baseline", origin=origin)


class Head:
    """The names of the curves of a panel with samples of their lines, and the unit, on as many lines as they need."""

    def __init__(self, panel: Panel, unit: str, width: float) -> None:
        self.panel, self.width = panel, width
        single = len(panel.lines) == 1 and not panel.lines[0].words and not panel.lines[0].mark
        # The name of a single curve is the title of its axis.
        self.sampled = not single or bool(panel.title)
        title = rf"{panel.title}\ {unit}" if panel.title else ""
        self.title = plot_text(title.removesuffix("\\ "), (0.0, 0.0), "left") if title else None
        self.unit = plot_text(unit, (0.0, 0.0), "left") if unit and not title else None
        self.rows = list(self._wrapped())
        texts = [label for row in self.rows for _, label in row]
        # Subscripts with letters under the line reach deep.
        self.drop = max(5.0, 2.5 + max((label_box(label).bottom for label in texts), default=0.0))

    @property
    def height(self) -> float:
        """From the top of the texts to the frame."""
        return len(self.rows) * LINE + self.drop - 1

    def _wrapped(self) -> Iterator[list[tuple[int, Label]]]:
        """The curves by their numbers, as many on a line as there is room for."""
        names = [_name_label(line, self.width) for line in self.panel.lines]
        needs = [label_box(name).width + (SAMPLE + 4 if self.sampled else 0) + SPACE for name in names]
        if self.unit is not None and needs:
            needs[-1] += label_box(self.unit).width
        taken = label_box(self.title).width + SPACE if self.title else 0.0
        row: list[tuple[int, Label]] = []
        # A title stands alone where not all names go on its line.
        if self.title is not None and taken + sum(needs) - SPACE > self.width:
            yield []
            taken = 0.0
        for number, (name, need) in enumerate(zip(names, needs, strict=True)):
            if row and taken + need - SPACE > self.width:
                yield row
                row, taken = [], 0.0
            row.append((number, name))
            taken += need
        yield row

    def shapes(self, place: FramedPanel) -> Iterator[Shape]:
        """The texts from the left side of the frame, the last line just over it."""
        left, first = place.frame.left, place.frame.top - self.drop - (len(self.rows) - 1) * LINE
        for k, row in enumerate(self.rows):
            at, baseline = left, first + k * LINE
            if k == 0 and self.title is not None:
                yield (title := replace(self.title, at=(at, baseline), origin=of_panel(place, "title")))
                at = label_box(title).right + SPACE
            for number, name in row:
                line = self.panel.lines[number]
                if self.sampled:
                    yield from _sample(line, number, (at, baseline - 3.4), place)
                    at += SAMPLE + 4
                origin = Origin(line.name, f"name {line.words}".strip(), str(place.number))
                yield (label := replace(name, at=(at, baseline), origin=origin))
                at = label_box(label).right + SPACE
            if k == len(self.rows) - 1:
                if self.unit is not None:
                    yield (unit := replace(self.unit, at=(at - SPACE + 5, baseline), origin=of_panel(place, "unit")))
                    at = label_box(unit).right + SPACE
                yield from _legend((at, baseline), place)


def _legend(at: Point, place: FramedPanel) -> Iterator[Shape]:
    """What a band is, or the dot at a start, where there is room to say so."""
    pairs = zip(place.panel.lines, place.drawn, strict=True)
    banded = any(drawn.bands for line, drawn in pairs if line.under is None)
    words = r"\text{min to max}" if banded else r"\text{start}" if place.panel.start else ""
    x, y = at
    if not words or x + SAMPLE + 4 + text_width(words) > place.frame.right:
        return
    tone, _ = look_of(place.panel.lines[0], 0)
    origin = of_panel(place, "sample")
    if banded:
        yield Curve(box_outline(Box(x, y - 7, x + SAMPLE, y)), tone=tone, shade=BANDED, closed=True, origin=origin)
    else:
        yield Curve(disc((x + SAMPLE - 4, y - 3.4), START), tone=tone, filled=True, closed=True, origin=origin)
    yield plot_text(words, (x + SAMPLE + 4, y), "left", of_panel(place, "legend"))


def _name_label(line: Line, width: float) -> Label:
    """The name of a curve as it stands over its panel; one too long loses the head of its path, then its last words."""
    room = width - SAMPLE - 4
    name, words = line.name, line.words
    label = _written(line, name, words)
    while label_box(label).width > room and (("." in name and not line.latex) or len(words) > 1):
        shorter = name.partition(".")[2]
        name, words = (shorter, words) if shorter and not line.latex else (name, words.removesuffix("...")[:-1] + "...")
        label = _written(line, name, words)
    return label


def _written(line: Line, name: str, words: str) -> Label:
    start = "" if line.words == line.name else line.latex or variable_latex(name)
    if start and name != line.name:
        start = rf"\ldots {start}"
    if words and not _PLAIN.fullmatch(words):  # what formulas cannot hold
        return Label(f"{line.name}, {words}" if start else words, (0.0, 0.0), SIZE, "left", "baseline", math=False)
    told = words_latex(words) if words else ""
    return plot_text(rf"{start}\text{{, }}{told}" if start and told else start + told, (0.0, 0.0), "left")


_PLAIN = re.compile(r"[\w .,:;=+/()*'\[\]-]*", re.ASCII)


_NAME = re.compile(r"([A-Za-z]\w*_\w+)")


def words_latex(words: str) -> str:
    """Words in the letters of formulas; names with a subscript in them are set as names."""
    parts = _NAME.split(words)
    return "".join(name_latex(part) if k % 2 else rf"\text{{{part}}}" for k, part in enumerate(parts) if part)


def variable_latex(name: str) -> str:
    """The name of a variable of a run as mathematics; the power of an element is P with its name."""
    kind, _, element = name.partition(".")
    letter = {"power": "P", "energy": "E"}.get(kind)
    return rf"{letter}_{{{name_latex(element)}}}" if letter and element else name_latex(name)


def look_of(line: Line, number: int) -> tuple[Tone, tuple[float, ...]]:
    """The tone and the dash of the curve of a number in its panel."""
    tone, dash = line.look or (number, number)
    return TONES[tone % len(TONES)], DASHES[dash % len(DASHES)]


def of_panel(place: FramedPanel, part: str) -> Origin:
    """What belongs to a panel as a whole."""
    return Origin(part=part, port=str(place.number))


def _sample(line: Line, number: int, at: Point, place: FramedPanel) -> Iterator[Shape]:
    x, y = at
    tone, dash = look_of(line, number)
    origin = Origin(line.name, f"sample {line.words}".strip(), str(place.number))
    if line.mark:
        yield from marked(line.mark, (x + SAMPLE / 2, y), tone, origin)
    elif line.under is not None:
        box = box_outline(Box(x, y - 3.5, x + SAMPLE, y + 3.5))
        yield Curve(box, tone=tone, shade=line.shade, closed=True, origin=origin)
    else:
        yield Trace(((x, y), (x + SAMPLE, y)), CURVE, dash, tone, origin=origin)


def marked(mark: str, at: Point, tone: Tone, origin: Origin) -> Iterator[Shape]:
    """A cross, a circle or a dot at a point."""
    x, y = at
    if mark == ".":
        yield Curve(disc(at, 1.3), tone=tone, filled=True, closed=True, origin=origin)
        return
    if mark == "o":
        yield Ring(at, 3.4, tone=tone, origin=origin)
        return
    for side in (1, -1):
        yield Trace(((x - 3.2, y - 3.2 * side), (x + 3.2, y + 3.2 * side)), CURVE, tone=tone, origin=origin)


def ring(box: Box) -> tuple[Point, ...]:
    """The sides of a frame."""
    # Closed, and a piece further: a corner at the ends of a line is not joined.
    corners = ((box.left, box.top), (box.right, box.top), (box.right, box.bottom), (box.left, box.bottom))
    return (*corners, *corners[:2])


def disc(centre: Point, radius: float = 2.2) -> "tuple[tuple[str, tuple[Point, ...]], ...]":
    """A filled circle as an outline of four cubics."""
    (x, y), r, k = centre, radius, 0.5523 * radius
    return (
        ("M", ((x + r, y),)),
        ("C", ((x + r, y + k), (x + k, y + r), (x, y + r))),
        ("C", ((x - k, y + r), (x - r, y + k), (x - r, y))),
        ("C", ((x - r, y - k), (x - k, y - r), (x, y - r))),
        ("C", ((x + k, y - r), (x + r, y - k), (x + r, y))),
    )


def number_texts(
    box: Box, ticks: Sequence[Tick], places: Array, title: str, baseline: float, port: str = ""
) -> Iterator[Shape]:
    """The numbers under a frame, and what they are."""
    for tick, x in zip(ticks, places.tolist(), strict=True):
        if tick.label:
            # The last number may reach over the frame, but not into the next column.
            at = min(x, box.right + GAP - 2 - text_width(tick.label) / 2)
            yield plot_text(tick.label, (at, baseline), "centre", Origin(part=f"x {tick.label}", port=port))
    yield plot_text(title, ((box.left + box.right) / 2, baseline + LINE), "centre", Origin(part="x title", port=port))
