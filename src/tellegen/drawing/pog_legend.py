"""Under a POG figure: what its letters mean, and notes in words."""

from collections.abc import Iterable, Iterator

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.options import Options
from tellegen.drawing.pog_measures import FRACTION, NOTE, TEXT
from tellegen.drawing.pog_plan import FigurePlan
from tellegen.drawing.scene import Label, Origin, Shape
from tellegen.drawing.typesetting import set_math, set_words

SPACE = 30
"""Between the equations of a row."""
ROW = 14
LEFT_OUT = "Expressions that are too long for a figure are in the equations of the model."


def legend_shapes(plan: FigurePlan, box: Box, options: Options) -> list[Shape]:
    """Equations in rows under the figure, then the notes."""
    found: list[Shape] = []
    y = box.bottom + 12
    room = max(box.width, min(options.room, 700))
    shown = [text for text in plan.legend if set_math(text, FRACTION).box.width <= max(room, options.room)]
    for row in _rows(shown, room):
        height = max(set_math(text, FRACTION).box.height for text in row)
        x = box.left
        for text in row:
            origin = Origin(part="legend")
            found.append(Label(text, (x, y + height / 2), size=FRACTION, align="left", origin=origin))
            x += set_math(text, FRACTION).box.width + SPACE
        y += height + ROW
    notes = plan.notes if len(shown) == len(plan.legend) or LEFT_OUT in plan.notes else (*plan.notes, LEFT_OUT)
    return [*found, *_note_lines(notes, (box.left, y), room)]


def note_shapes(notes: Iterable[str], box: Box, options: Options) -> list[Shape]:
    """Notes under a figure."""
    return list(_note_lines(notes, (box.left, box.bottom), max(box.width, min(options.room, 700))))


def _note_lines(notes: Iterable[str], at: Point, room: float) -> Iterator[Shape]:
    x, y = at
    origin = Origin(part="note")
    for line in (line for note in notes for line in _lines(note, room)):
        y += TEXT
        yield Label(line, (x, y), NOTE, "left", "baseline", math=False, slanted=True, tone="quiet", origin=origin)


def _rows(texts: Iterable[str], room: float) -> Iterator[list[str]]:
    row: list[str] = []
    used = 0.0
    for text in texts:
        width = set_math(text, FRACTION).box.width
        if row and used + width > room:
            yield row
            row, used = [], 0.0
        row.append(text)
        used += width + SPACE
    if row:
        yield row


def _lines(note: str, room: float) -> Iterator[str]:
    """A note broken into lines between words."""
    line = ""
    for word in note.split():
        longer = f"{line} {word}".strip()
        if line and set_words(longer, NOTE).box.width * 1.05 > room:
            yield line
            line = word
        else:
            line = longer
    if line:
        yield line
