"""Quantities of named things as horizontal bars."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import NamedTuple, Unpack

import numpy as np

from tellegen.plots.axes import Axis, fitted_axis
from tellegen.plots.panels import x_ticks
from tellegen.plots.texts import (
    EDGE,
    FRAME,
    GAP,
    GRID,
    LINE,
    MARK,
    PALE,
    SAMPLE,
    SPACE,
    number_texts,
    plot_text,
    ring,
    text_width,
    words_latex,
)
from tellegen.plots.values import Look, Plot, checked_look
from tellegen.scenes.geometry import Box, box_outline
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
