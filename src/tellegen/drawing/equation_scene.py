"""Equations as a figure: one line each, signs of equality under each other."""

import re
from typing import Protocol

from tellegen.drawing.geometry import Box
from tellegen.drawing.moving import tidy
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Label, Origin, Scene

SIZE, GAP, MARGIN, SPACE = 17.0, 18.0, 26.0, 6.0


class Equations(Protocol):
    """Anything that can write itself as lines of LaTeX in an `align*` environment."""

    def to_latex(self) -> str:
        """The equations in LaTeX."""


def equation_scene(equations: Equations, options: Options = DEFAULTS, *, title: str = "Equations") -> Scene:
    """The figure of a set of equations, in glyphs of its own: no LaTeX is needed to see it."""
    del options  # equations have no options of their own; the theme is a matter of the back end
    source = equations.to_latex()
    lines = [_sides(line) for line in lines_of(source)]
    labels: list[Label] = []
    top = 0.0
    for number, (left, right) in enumerate(lines, 1):
        pair = [label for label in _line(number, left, right) if label.text]
        boxes = [label_box(label) for label in pair]
        baseline = top - min(box.top for box in boxes)
        labels += [_moved(label, 0, baseline) for label in pair]
        top = baseline + max(box.bottom for box in boxes) + GAP
    inks = [label_box(label) for label in labels]
    start, stop = min((box.left for box in inks), default=0.0), max((box.right for box in inks), default=0.0)
    shapes = tuple(_moved(label, MARGIN - start, MARGIN) for label in labels)
    box = Box(0, 0, stop - start + 2 * MARGIN, max(top - GAP, 0.0) + 2 * MARGIN)
    return tidy(Scene(title, " ".join(source.split()), box, shapes))


def lines_of(source: str) -> list[str]:
    r"""The lines of an `align*`; the `\\` inside a matrix does not end one."""
    body = re.sub(r"\\(?:begin|end)\{align\*?\}", "", source)
    return [line.strip() for line in body.split(" \\\\\n") if line.strip()]


def _sides(line: str) -> tuple[str, str]:
    if line.startswith("&"):  # a long sum goes on
        return "", line[1:].strip()
    left, mark, right = line.partition("&=")
    # A minus behind the sign of equality is a sign, not an operation: it stands close.
    text = re.sub(r"^-", "{-}", right.strip())
    return (left.strip(), f"= {text}") if mark else (line, "")


def _line(number: int, left: str, right: str) -> tuple[Label, Label]:
    """Both sides of an equation about the left end of its sign of equality."""
    one = Label(left, (-SPACE, 0), SIZE, "right", "baseline", origin=Origin(part="left", port=str(number)))
    two = Label(right, (0, 0), SIZE, "left", "baseline", origin=Origin(part="right", port=str(number)))
    return one, two


def _moved(label: Label, dx: float, dy: float) -> Label:
    x, y = label.at
    return Label(label.text, (x + dx, y + dy), label.size, label.align, label.level, origin=label.origin)
