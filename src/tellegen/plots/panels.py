"""Plots as scenes: panels of curves in a grid, whose axes are linked where they show the same; quantities of names as bars.

The names of the curves stand over each panel with samples of their lines and the unit, so that no text ever lies on a curve.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from math import isfinite
from typing import NamedTuple, Unpack

import numpy as np

from tellegen.plots.axes import MOST_TICKS, Array, Axis, Tick, fitted_axis
from tellegen.plots.curves import Drawn, drawn_curve, last_periods
from tellegen.plots.texts import (
    CURVE,
    EDGE,
    FAINT,
    FRAME,
    GAP,
    GRID,
    LINE,
    MARK,
    PALE,
    SAMPLE,
    SMALL_MARK,
    SPACE,
    START,
    FramedPanel,
    Head,
    disc,
    look_of,
    marked,
    number_texts,
    of_panel,
    plot_text,
    ring,
    text_width,
    words_latex,
)
from tellegen.plots.values import NARROWEST, Line, Look, Panel, Plot, Stack, checked_look
from tellegen.scenes.geometry import Box, Point, box_outline, polyline
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Curve, Label, Origin, Scene, Shape, Tone, Trace, label_box, tidy

ROW, BAR = 15.0, 9.0
"""The height of a row, and of the bar in it."""
LOOKS: tuple[tuple[Tone, int], ...] = (("rotational", 85), ("hydraulic", 40))
"""The groups of bars, told apart by how dark they are too."""


def bars_plot(
    title: str, groups: Mapping[str, Mapping[str, float]], words: str, unit: str, **look: Unpack[Look]
) -> Plot:
    """A bar for each name, those of one group alike; what a group shares is told over them, and `words` with the unit below."""
    asked = checked_look(**look)
    width = asked.width
    names = {name: plot_text(name_latex(name), (0.0, 0.0), "right") for group in groups.values() for name in group}
    left = EDGE + MARK + max((label_box(label).width for label in names.values()), default=0.0) + 2
    values = np.array([value for group in groups.values() for value in group.values()] or [0.0])
    axis = fitted_axis([np.append(values, 0.0)], unit)
    top = EDGE + LINE + 4
    # A name may have a bar in each group.
    frame = Box(left, top, width - EDGE - GAP, top + ROW * max(sum(map(len, groups.values())), 2))
    shapes = [*_legend(groups, frame), *_bars(groups, names, axis, frame)]
    about = "; ".join(f"{group}: {', '.join(bars)}" for group, bars in groups.items())
    return Plot(_framed(title, about, shapes, frame, axis, words), (), asked.theme, asked.zoom)


def _framed(title: str, about: str, bars: Sequence[Shape], frame: Box, axis: Axis, words: str) -> Scene:
    """Bars with the frame, its grid and the numbers below."""
    shapes = list(bars)
    ticks = x_ticks(axis, frame.width)
    places = frame.left + axis.share(np.array([tick.value for tick in ticks])) * frame.width
    for tick, x in zip(ticks, places.tolist(), strict=True):
        origin = Origin(part="grid")
        shapes.insert(0, Trace(((x, frame.bottom), (x, frame.top)), GRID, shade=PALE, origin=origin))
        if tick.value == 0:
            shapes.append(Trace(((x, frame.bottom), (x, frame.top)), FRAME, origin=origin))
    shapes.append(Trace(ring(frame), FRAME, origin=Origin(part="frame")))
    shapes += number_texts(frame, ticks, places, rf"\text{{{words}}}\ ({axis.title})", frame.bottom + 13.5)
    box = Box(0, 0, frame.right + EDGE + GAP, frame.bottom + 2 * LINE + 5 + EDGE)
    return tidy(Scene(title, about, box, tuple(shapes)))


class BarSpan(NamedTuple):
    """A bar to `value`, and between which ends that is known."""

    value: float
    low: float
    high: float


def spans_plot(
    title: str,
    sections: Mapping[str, Mapping[str, Sequence[BarSpan]]],
    kinds: Sequence[str],
    *,
    words: str,
    unit: str,
    **look: Unpack[Look],
) -> Plot:
    """For each name of a section a bar of each kind, with the ends between which it is known; sections have titles."""
    asked = checked_look(**look)
    names = {name: plot_text(name_latex(name), (0.0, 0.0), "right") for bars in sections.values() for name in bars}
    left = EDGE + MARK + max((label_box(label).width for label in names.values()), default=0.0) + 2
    spans = [span for bars in sections.values() for each in bars.values() for span in each]
    axis = fitted_axis([np.array([0.0, *(end for span in spans for end in span)])], unit)
    rows = sum(len(bars) + 1 for bars in sections.values())
    top = EDGE + LINE + 4
    frame = Box(left, top, asked.width - EDGE - GAP, top + ROW * max(rows, 2) + 4)
    shapes, at = list[Shape](_legend(dict.fromkeys(kinds, ""), frame)), frame.top + 2
    zero = frame.left + float(axis.share(np.array([0.0]))[0]) * frame.width
    for section, bars in sections.items():
        head = plot_text(words_latex(section), (zero + 5, at + ROW - 4), "left", Origin(section, "section"))
        shapes.append(head)
        at += ROW
        for name, each in bars.items():
            shapes.append(replace(names[name], at=(frame.left - 4, at + ROW / 2 + 3.5), origin=Origin(name, "name")))
            height = BAR / len(each) + 1
            for k, span in enumerate(each):
                middle = at + ROW / 2 + (k - (len(each) - 1) / 2) * height
                shapes += _span(
                    span, name, axis, Box(frame.left, middle - height / 2, frame.right, middle + height / 2), k
                )
            at += ROW
    about = "; ".join(f"{section}: {', '.join(bars)}" for section, bars in sections.items())
    return Plot(_framed(title, about, shapes, frame, axis, words), (), asked.theme, asked.zoom)


def _span(span: BarSpan, name: str, axis: Axis, room: Box, kind: int) -> Iterator[Shape]:
    zero, end, low, high = (room.left + axis.share(np.array([0.0, *span])) * room.width).tolist()
    tone, shade = LOOKS[kind % len(LOOKS)]
    box = Box(min(zero, end), room.top + 0.5, max(zero, end), room.bottom - 0.5)
    yield Curve(box_outline(box), tone=tone, shade=shade, closed=True, origin=Origin(name, "bar"))
    middle = (room.top + room.bottom) / 2
    if high > low:
        yield Trace(((low, middle), (high, middle)), FRAME, origin=Origin(name, "ends"))
        for x in (low, high):
            yield Trace(((x, middle - 1.8), (x, middle + 1.8)), FRAME, origin=Origin(name, "ends"))


def _legend(groups: Mapping[str, object], frame: Box) -> Iterator[Shape]:
    at, baseline = frame.left, frame.top - 5
    for (word, _), (tone, shade) in zip(groups.items(), cycle(LOOKS), strict=False):
        box = Box(at, baseline - 7, at + SAMPLE, baseline)
        yield Curve(box_outline(box), tone=tone, shade=shade, closed=True, origin=Origin(part="sample", port=word))
        latex = rf"\text{{{word}}}"
        yield plot_text(latex, (at + SAMPLE + 4, baseline), "left", Origin(part="group", port=word))
        at += SAMPLE + 4 + text_width(latex) + SPACE


def _bars(
    groups: Mapping[str, Mapping[str, float]], names: Mapping[str, Label], axis: Axis, frame: Box
) -> Iterator[Shape]:
    row = frame.top + ROW / 2
    zero, *_ = (frame.left + axis.share(np.array([0.0])) * frame.width).tolist()
    for bars, (tone, shade) in zip(groups.values(), cycle(LOOKS), strict=False):
        for name, value in bars.items():
            end, *_ = (frame.left + axis.share(np.array([value])) * frame.width).tolist()
            box = Box(min(zero, end), row - BAR / 2, max(zero, end), row + BAR / 2)
            yield Curve(box_outline(box), tone=tone, shade=shade, closed=True, origin=Origin(name, "bar"))
            yield replace(names[name], at=(frame.left - 4, row + 3.5), origin=Origin(name, "name"))
            row += ROW


MOST_CURVES = 4


MOST_SWINGS, LEVELS = 30, 24
"""A curve that turns more often, by more than one of so many levels, has a panel for itself: dashes would not be seen."""


MANY_BANDS = 0.25
"""Where so much of the width of a panel is band, the last periods are shown beside it."""


MOST_WINDOWS = 6
WIDEST_MAP = 340.0
"""About 90 mm: a map of poles or an orbit is about as wide as high."""


def panels_plot(title: str, stacks: Sequence[Stack], *, about: str = "", **look: Unpack[Look]) -> Plot:
    """Stacks of panels beside each other, as many as there is room for, and the others below.

    Raises: FigureError (F102) for what is no width, or no theme.
    """
    asked = checked_look(**look)
    found = [[part for panel in stack for part in _readable(panel)] for stack in stacks]
    if all(len(stack) == 1 for stack in stacks):
        found = [[panel] for stack in found for panel in stack]
    columns = _columns(found, asked.width)
    found, columns = _with_windows(found, columns, asked.width)
    # A plane that is wider than high shows nothing more.
    planes = all(panel.equal or panel.start for stack in found for panel in stack)
    maps = columns * WIDEST_MAP if planes else asked.width
    scene = _Sheet(found, columns, min(asked.width, maps)).scene(title, about)
    return Plot(scene, tuple(panel for stack in found for panel in stack), asked.theme, asked.zoom)


def _readable(panel: Panel) -> Iterator[Panel]:
    """Panels of as many curves as can be told apart: those that swing often stand alone, the others evenly divided."""
    if len(panel.lines) == 1 or any(line.look or line.mark or line.under is not None for line in panel.lines):
        yield panel
        return
    over_time = panel.x_kind == "linear" and not panel.start
    fast = [line for line in panel.lines if over_time and _swings(line.y) > MOST_SWINGS]
    slow = [line for line in panel.lines if line not in fast]
    parts = -(-len(slow) // MOST_CURVES)
    groups = [slow[k * len(slow) // parts : (k + 1) * len(slow) // parts] for k in range(parts)]
    # In the order in which their first curves were named.
    for lines in sorted([*groups, *([line] for line in fast)], key=lambda group: panel.lines.index(group[0])):
        yield replace(panel, lines=tuple(lines))


def _swings(y: Array) -> int:
    """How often a curve turns, by more than its noise."""
    y = y[np.isfinite(y)]
    span = float(np.ptp(y)) if len(y) else 0.0
    if not span or not isfinite(span):
        return 0
    steps = np.sign(np.diff(np.round((y - y.min()) / span * LEVELS)))
    steps = steps[steps != 0]
    return int(np.count_nonzero(np.diff(steps)))


def _columns(stacks: Sequence[Stack], width: float) -> int:
    """How many stacks stand side by side."""
    room = max(1, int(width // NARROWEST))
    # High stacks, as of gain and phase, want to stand beside each other; single panels of one time below each other.
    if max(map(len, stacks), default=0) > 1:
        return min(room, len(stacks))
    wide = width > 2.5 * NARROWEST
    wanted = 1 if len(stacks) <= (3 if wide else 6) else 2 if len(stacks) <= 12 else 3
    return min(room, wanted)


def _with_windows(stacks: list[list[Panel]], columns: int, width: float) -> tuple[list[list[Panel]], int]:
    """The stacks, and beside or below each panel of bands the last periods of it."""
    panels = [panel for stack in stacks for panel in stack]
    over_time = all(panel.x_kind == "linear" and not panel.start and not panel.equal for panel in panels)
    if len(panels) > MOST_WINDOWS or not over_time or max(map(len, stacks), default=0) > 1:
        return stacks, columns
    window = next((found for panel in panels if (found := _last_of_bands(panel, width / columns - 40))), None)
    if window is None:
        return stacks, columns
    whole, ends = panels, [replace(panel, window=window) for panel in panels]
    if width >= 2.5 * NARROWEST:
        return [[panel] for pair in zip(whole, ends, strict=True) for panel in pair], 2
    return [[panel] for panel in (*whole, *ends)], 1


def _last_of_bands(panel: Panel, width: float) -> tuple[float, float] | None:
    """The last periods of a curve that is mostly a band."""
    for line in panel.lines:
        if len(line.x) < 2 * width or not line.x[-1] > line.x[0]:
            continue
        x = fitted_axis([line.x], "", tight=True).share(line.x) * width
        y = fitted_axis([line.y], "").share(line.y) * 100.0
        if drawn_curve(x, y).banded > MANY_BANDS * width and (found := last_periods(line.x, line.y)):
            return found
    return None


class _Sheet:
    """Finds room for panels: frames of one column stand below each other, those of one row beside each other."""

    def __init__(self, stacks: Sequence[Stack], columns: int, width: float) -> None:
        self.columns, self.width = max(columns, 1), width
        self.rows = list(_rows(stacks, self.columns))
        panels = [panel for row in self.rows for panel in row if panel is not None]
        self.height = _panel_height(len(self.rows), width, plane=any(panel.equal or panel.start for panel in panels))
        self.numbers = {id(panel): number for number, panel in enumerate((p for stack in stacks for p in stack), 1)}
        self.x_axes = _linked(panels)
        self.y_axes = {id(panel): _y_axis(panel) for panel in panels}

    def scene(self, title: str, about: str) -> Scene:
        """All panels, in a frame as wide as was asked for."""
        shapes: list[Shape] = []
        top = EDGE
        edges = list(self._edges())
        for k, row in enumerate(self.rows):
            below = self.rows[k + 1] if k + 1 < len(self.rows) else [None] * self.columns
            heads = [self._head(panel, right - left) for panel, (left, right) in zip(row, edges, strict=True)]
            head = max((one.height for one in heads if one), default=0.0)
            labelled = [p is not None and (q is None or q.x_key != p.x_key) for p, q in zip(row, below, strict=True)]
            frame_top = top + head
            for panel, one, (left, right), shows_x in zip(row, heads, edges, labelled, strict=True):
                if panel is None or one is None:
                    continue
                place = self._place(panel, Box(left, frame_top, right, frame_top + self.height), shows_x)
                shapes += one.shapes(place)
                shapes += _panel_shapes(place)
            top = frame_top + self.height + (2 * LINE + 5 if any(labelled) else 5)
        return tidy(Scene(title, about, Box(0, 0, self.width, top + EDGE), tuple(shapes)))

    def _head(self, panel: Panel | None, width: float) -> Head | None:
        if panel is None:
            return None
        unit = self.y_axes[id(panel)].title
        return Head(panel, f"({unit})" if unit else "", width)

    def _place(self, panel: Panel, frame: Box, shows_x: bool) -> FramedPanel:
        x, y = self.x_axes[panel.x_key], self.y_axes[id(panel)]
        if panel.equal:
            x, y = _equal(x, y, frame)
        empty = FramedPanel(panel, self.numbers[id(panel)], frame, x, y, shows_x=shows_x, drawn=())
        return replace(empty, drawn=tuple(_drawn(empty, line) for line in panel.lines))

    def _edges(self) -> Iterator[tuple[float, float]]:
        """The left and the right sides of the frames of each column: all equally wide."""
        lefts = [max((self._numbers(row[c]) for row in self.rows), default=0.0) for c in range(self.columns)]
        room = self.width - 2 * EDGE - sum(lefts) - self.columns * GAP
        at = EDGE
        for left in lefts:
            at += left
            yield at, at + room / self.columns
            at += room / self.columns + GAP

    def _numbers(self, panel: Panel | None) -> float:
        """The room that the numbers at the left of a panel need."""
        if panel is None:
            return 0.0
        axis = self.y_axes[id(panel)]
        if panel.equal:
            # As wide as it may become, since the frame is not known before its numbers are.
            frame = Box(0, 0, self.width / self.columns - 40, self.height)
            _, axis = _equal(self.x_axes[panel.x_key], axis, frame)
        ticks = _y_ticks(axis, self.height)
        return MARK + 2 + max((text_width(tick.label) for tick in ticks if tick.label), default=0.0)


def _drawn(place: FramedPanel, line: Line) -> Drawn:
    """The curve in its frame: a line, points, or an area."""
    u, v = place.at(*place.panel.in_window(line))
    if line.under is not None:
        good = np.isfinite(line.y) & np.isfinite(line.under)
        above, below = (place.at(line.x[good], y[good]) for y in (line.y, line.under))
        edge = [*zip(*above, strict=True), *reversed(list(zip(*below, strict=True)))]
        return Drawn((), (), (tuple((float(x), float(y)) for x, y in edge),) if edge else ())
    if line.mark:
        return Drawn((), tuple(zip(u.tolist(), v.tolist(), strict=True)))
    return drawn_curve(u, v)


def _rows(stacks: Sequence[Stack], columns: int) -> Iterator[list[Panel | None]]:
    for first in range(0, len(stacks), columns):
        block = stacks[first : first + columns]
        for k in range(max(map(len, block))):
            row = [stack[k] if k < len(stack) else None for stack in block]
            yield [*row, *[None] * (columns - len(row))]


def _panel_height(rows: int, width: float, *, plane: bool) -> float:
    wide = width > 2.5 * NARROWEST
    if plane:
        return 250.0 if wide else 190.0
    return {1: 190.0 if wide else 150.0, 2: 135.0 if wide else 115.0}.get(rows, 100.0 if wide else 90.0)


def _linked(panels: Sequence[Panel]) -> Mapping[tuple[object, ...], Axis]:
    """One x axis for all panels that show the same there."""
    found: dict[tuple[object, ...], list[Panel]] = {}
    for panel in panels:
        found.setdefault(panel.x_key, []).append(panel)
    return {key: _x_axis(alike) for key, alike in found.items()}


def _x_axis(alike: Sequence[Panel]) -> Axis:
    one = alike[0]
    values = [panel.in_window(line)[0] for panel in alike for line in panel.lines]
    # Time and frequency begin and end where the curves do; an orbit has room round it.
    tight = not one.start and not one.equal
    return fitted_axis(values, one.x_unit, one.x_kind, tight=tight, given=one.x_given)


def _y_axis(panel: Panel) -> Axis:
    values = [panel.in_window(line)[1] for line in panel.lines]
    values += [line.under for line in panel.lines if line.under is not None]
    return fitted_axis(values, panel.unit, panel.kind, given=panel.given)


def _equal(x: Axis, y: Axis, frame: Box) -> tuple[Axis, Axis]:
    """Axes on which a circle is one."""
    per_unit = max((x.high - x.low) / frame.width, (y.high - y.low) / frame.height)
    return _about(x, per_unit * frame.width), _about(y, per_unit * frame.height)


def _about(axis: Axis, span: float) -> Axis:
    middle = (axis.low + axis.high) / 2
    return replace(axis, low=middle - span / 2, high=middle + span / 2)


def _y_ticks(axis: Axis, height: float) -> tuple[Tick, ...]:
    return axis.ticks(min(MOST_TICKS, max(2, int(height / 15))))


def x_ticks(axis: Axis, width: float) -> tuple[Tick, ...]:
    """As many ticks as there is room for between their numbers."""
    for most in range(MOST_TICKS, 2, -1):
        ticks = axis.ticks(most)
        named = [tick for tick in ticks if tick.label]
        places = axis.share(np.array([tick.value for tick in named])) * width
        needs = [text_width(tick.label) / 2 for tick in named]
        free = (b - a - p - q for a, b, p, q in zip(places, places[1:], needs, needs[1:], strict=False))
        if all(gap > 7 for gap in free):
            return ticks
    return axis.ticks(2)


def _panel_shapes(place: FramedPanel) -> Iterator[Shape]:
    yield from _grid(place)
    for number, (line, drawn) in enumerate(zip(place.panel.lines, place.drawn, strict=True)):
        yield from _curve_shapes(place, line, drawn, number)
    yield Trace(ring(place.frame), FRAME, origin=of_panel(place, "frame"))
    if not any(drawn.lines or drawn.dots or drawn.bands for drawn in place.drawn):
        x, y = place.frame.centre
        yield replace(plot_text(r"\text{no finite values}", (x, y), "centre", of_panel(place, "empty")), tone="quiet")


def _curve_shapes(place: FramedPanel, line: Line, drawn: Drawn, number: int) -> Iterator[Shape]:
    tone, dash = look_of(line, number)
    origin = Origin(line.name, f"curve {line.words}".strip(), str(place.number))
    for band in drawn.bands:
        yield Curve(polyline(band, closed=True), tone=tone, shade=line.shade, closed=True, origin=origin)
    for points in drawn.lines:
        yield Trace(points if len(points) > 1 else (*points, *points), CURVE, dash, tone, origin=origin)
    for point in drawn.dots:
        if line.mark:
            yield from marked(line.mark, point, tone, origin)
        else:
            yield Curve(disc(point), tone=tone, filled=True, closed=True, origin=origin)
    if place.panel.start and drawn.lines:
        yield Curve(
            disc(drawn.lines[0][0], START), tone=tone, filled=True, closed=True, origin=replace(origin, part="start")
        )


def _grid(place: FramedPanel) -> Iterator[Shape]:
    """Hairlines and marks at ticks, and their numbers."""
    box = place.frame
    for tick in _y_ticks(place.y, box.height):
        y = box.bottom - float(place.y.share(np.array([tick.value]))[0]) * box.height
        yield from _tick(place, "y", tick, ((box.left, y), (box.right, y)), (1, 0))
        if tick.label:
            yield plot_text(tick.label, (box.left - 4, y + 3.5), "right", of_panel(place, f"y {tick.label}"))
    ticks = x_ticks(place.x, box.width)
    for tick in ticks:
        x = box.left + float(place.x.share(np.array([tick.value]))[0]) * box.width
        yield from _tick(place, "x", tick, ((x, box.bottom), (x, box.top)), (0, -1))
    if place.shows_x:
        yield from _x_texts(place, ticks)


def _tick(
    place: FramedPanel, side: str, tick: Tick, line: tuple[Point, Point], inwards: tuple[int, int]
) -> Iterator[Shape]:
    (x, y), (u, v) = line[0], inwards
    inside = place.frame.grown(-1.0)
    # On the frame itself there is a line already.
    far = inside.left < x < inside.right if side == "x" else inside.top < y < inside.bottom
    if tick.label and far and any(drawn.lines or drawn.dots or drawn.bands for drawn in place.drawn):
        zero = tick.value == 0 and (side == "y" or place.panel.equal)
        yield Trace(line, GRID, shade=FAINT if zero else PALE, origin=of_panel(place, "grid"))
    length = MARK if tick.label else SMALL_MARK
    yield Trace(((x, y), (x + length * u, y + length * v)), GRID, origin=of_panel(place, "tick"))


def _x_texts(place: FramedPanel, ticks: Sequence[Tick]) -> Iterator[Shape]:
    box = place.frame
    places = box.left + place.x.share(np.array([tick.value for tick in ticks])) * box.width
    unit = place.x.title
    title = rf"{place.panel.x_title}\ ({unit})" if unit else place.panel.x_title
    baseline = box.bottom + (16.5 if place.panel.x_kind == "log" else 13.5)
    yield from number_texts(box, ticks, places, title, baseline, str(place.number))
