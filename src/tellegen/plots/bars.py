"""Quantities of named things as horizontal bars."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle
from typing import Unpack

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
    ticks = x_ticks(axis, frame.width)
    places = frame.left + axis.share(np.array([tick.value for tick in ticks])) * frame.width
    for tick, x in zip(ticks, places.tolist(), strict=True):
        origin = Origin(part="grid")
        shapes.insert(0, Trace(((x, frame.bottom), (x, frame.top)), GRID, shade=PALE, origin=origin))
        if tick.value == 0:
            shapes.append(Trace(((x, frame.bottom), (x, frame.top)), FRAME, origin=origin))
    shapes.append(Trace(ring(frame), FRAME, origin=Origin(part="frame")))
    shapes += number_texts(frame, ticks, places, rf"\text{{{words}}}\ ({axis.title})", frame.bottom + 13.5)
    box = Box(0, 0, width, frame.bottom + 2 * LINE + 5 + EDGE)
    about = "; ".join(f"{group}: {', '.join(bars)}" for group, bars in groups.items())
    return Plot(tidy(Scene(title, about, box, tuple(shapes))), (), asked.theme, asked.zoom)


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
