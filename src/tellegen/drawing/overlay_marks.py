"""Where a figure shows power, stored energy and losses, and what is drawn there for a value."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, final, get_args

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.scene import Curve, Origin, Shape, Tone
from tellegen.drawing.strokes import along, box_outline, polyline

Kind = Literal["power", "stored", "lost"]

NARROWEST, WIDEST = 1.0, 8.0
"""Widths of power arrows."""
HEAD_LENGTH, HEAD_BESIDE = 9.0, 2.6
"""Of an arrow: its head, and how far the head stands out on each side of the shaft."""
LENGTH = 28.0
NOTHING = 1e-6
"""Less than this part of the largest power shows no arrow."""
BAR = 6.0
"""The width of an energy bar."""
LOSS_LENGTH, LOSS_DOTS = 22.0, 3
"""A loss: dots that lead away, and a head."""
LOSS_SCALE = 0.5
"""Losses are drawn so much narrower than powers, so that they fit beside blocks."""


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A place: `unit` is the direction in which power counts as positive, `box` the outline of an energy bar.

    `keys` are the rows of the flows that count here; a vector block shows the sum of its elements.
    """

    kind: Kind
    keys: tuple[str, ...]
    centre: Point
    unit: Point = (1.0, 0.0)
    length: float = LENGTH
    box: Box | None = None
    domain: str = ""
    numbered: bool = False
    """Whether there is room for a number under it."""

    def moved(self, dx: float, dy: float) -> "Mark":
        """The same mark elsewhere."""
        centre = self.centre[0] + dx, self.centre[1] + dy
        return replace(self, centre=centre, box=None if self.box is None else self.box.moved(dx, dy))

    @property
    def tone(self) -> Tone:
        """The colour of the domain."""
        return domain_tone(self.domain)


def domain_tone(domain: str) -> Tone:
    """The tone of a domain; that of power where it has none of its own."""
    name = "thermal" if domain == "heat" else domain
    tones: tuple[Tone, ...] = get_args(Tone)
    return next((tone for tone in tones if tone == name), "power")


def arrow_width(power: float, most: float) -> float:
    """The width of an arrow: as the root of the power, so that small ones can be seen beside large ones."""
    share = min(1.0, abs(power) / most) if most else 0.0
    return NARROWEST + (WIDEST - NARROWEST) * sqrt(share)


def mark_shapes(mark: Mark, value: float, most: float) -> Iterator[Shape]:
    """What a mark shows for a value, the largest of the run being `most`."""
    match mark.kind:
        case "power":
            if abs(value) > NOTHING * most:
                yield _arrow(mark, value, arrow_width(value, most))
        case "stored":
            yield from _bar(mark, value / most if most else 0.0)
        case "lost":
            if abs(value) > NOTHING * most:
                yield from _loss(mark, LOSS_SCALE * arrow_width(value, most), value)


def _origin(mark: Mark, part: str, sign: int = 1) -> Origin:
    name = " ".join(mark.keys)
    element, port = ("", name) if mark.kind == "power" else (name, "")
    return Origin(element, part, port, sign, mark.domain)


def _arrow(mark: Mark, value: float, width: float) -> Curve:
    unit = mark.unit if value > 0 else (-mark.unit[0], -mark.unit[1])
    tail = along(mark.centre, unit, -mark.length / 2)
    neck, half = mark.length - HEAD_LENGTH, width / 2
    points = [(0, half), (neck, half), (neck, half + HEAD_BESIDE), (mark.length, 0)]
    corners = [*points, *((forward, -right) for forward, right in reversed(points[:3]))]
    outline = polyline(tuple(along(tail, unit, forward, right) for forward, right in corners), closed=True)
    return Curve(
        outline, filled=True, closed=True, tone=mark.tone, origin=_origin(mark, "flow", 1 if value > 0 else -1)
    )


def _bar(mark: Mark, share: float) -> Iterator[Shape]:
    assert mark.box is not None, "an energy bar has a place"
    box = mark.box
    full = min(1.0, max(0.0, share))
    filled = Box(box.left, box.bottom - full * box.height, box.right, box.bottom)
    if filled.height > 0:
        yield Curve(
            box_outline(filled), filled=True, closed=True, tone=mark.tone, origin=_origin(mark, "stored energy")
        )
    yield Curve(box_outline(box), "hair", closed=True, tone="quiet", origin=_origin(mark, "energy bar"))


def _loss(mark: Mark, width: float, value: float) -> Iterator[Shape]:
    """Squares that lead away, then a head; towards the element where it gives power."""
    unit = mark.unit if value > 0 else (-mark.unit[0], -mark.unit[1])
    tail = along(mark.centre, unit, -mark.length / 2)
    half, shaft = width / 2, mark.length - HEAD_LENGTH
    origin = _origin(mark, "loss", 1 if value > 0 else -1)
    step = shaft / LOSS_DOTS
    for k in range(LOSS_DOTS):
        yield _dot(along(tail, unit, k * step), unit, 0.55 * step, half, mark.tone, origin)
    head = ((shaft, half + HEAD_BESIDE), (mark.length, 0), (shaft, -half - HEAD_BESIDE))
    corners = tuple(along(tail, unit, forward, right) for forward, right in head)
    yield Curve(polyline(corners, closed=True), filled=True, closed=True, tone=mark.tone, origin=origin)


def _dot(start: Point, unit: Point, length: float, half: float, tone: Tone, origin: Origin) -> Curve:
    corners = ((0, half), (length, half), (length, -half), (0, -half))
    outline = polyline(tuple(along(start, unit, forward, right) for forward, right in corners), closed=True)
    return Curve(outline, filled=True, closed=True, tone=tone, origin=origin)
