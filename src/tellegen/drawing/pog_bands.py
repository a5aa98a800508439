"""Areas in the colours of domains under a POG ladder, with their names."""

from dataclasses import dataclass
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.pog_measures import (
    ARROW_SPACE,
    BAND_ABOVE,
    BAND_BELOW,
    BRANCH_SHIFT,
    CAPTION_BELOW,
    LEAD,
    NOTE,
    NUMBER_SPACE,
    words_width,
)
from tellegen.drawing.pog_pen import Pen
from tellegen.drawing.pog_placing import PlacedLadder
from tellegen.drawing.pog_plan import BranchPlan
from tellegen.drawing.scene import Band, Label, Origin

CAPTIONS = {"translational": "mechanical, translational", "rotational": "mechanical, rotational", "heat": "thermal"}


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a ladder in one domain."""

    left: float
    right: float
    domain: str


def stretches(ladder: PlacedLadder, *, side: bool = False) -> list[Stretch]:
    """The domains along a ladder; a transducer belongs to both of its sides, so that they meet in its middle."""
    sections, borders = ladder.plan.sections(), ladder.borders
    left = (-LEAD if not side else -BRANCH_SHIFT / 2) if sections[0] is not None else 0.0
    right = borders[-1] + (LEAD if sections[-1] is not None else 0)
    found: list[Stretch] = []
    domain = ""
    for k, column in enumerate(ladder.plan.columns):
        for section in (column.left, column.right):
            if section is None or section.domain == domain:
                continue
            at = left if not domain else ladder.middle(k)
            if domain:
                found.append(Stretch(left, at, domain))
            left, domain = at, section.domain
        if column.left is None and column.right is None:
            domain = column.wire_domain
    return [*found, Stretch(left, right, domain)] if domain else found


def draw_bands(pen: Pen, ladder: PlacedLadder, at: Point, *, side: bool = False) -> None:
    """The bands of a ladder and of its side ladders."""
    if not ladder.plan.columns:
        return
    x, y = at
    options = pen.options
    top = y - BAND_ABOVE - (NUMBER_SPACE if options.section_numbers else 0)
    bottom = y + ladder.height + BAND_BELOW + (ARROW_SPACE if options.power_directions else 0)
    for stretch in stretches(ladder, side=side):
        box = Box(x + stretch.left, top, x + stretch.right, bottom)
        if stretch.domain in DOMAINS:
            pen.add(Band(box, stretch.domain, Origin(part="band", domain=stretch.domain)))
        if options.shows_captions:
            _caption(pen, ladder, stretch, x, bottom + CAPTION_BELOW - BAND_BELOW)
    for branch in ladder.branches:
        draw_bands(pen, branch.ladder, (x + branch.x, y + branch.y), side=True)


def _caption(pen: Pen, ladder: PlacedLadder, stretch: Stretch, x: float, y: float) -> None:
    """The name of a domain where it fits between the wires that lead to side ladders; a short one where a long one does not."""
    free = _free(ladder, stretch)
    for text in (CAPTIONS.get(stretch.domain, stretch.domain), stretch.domain):
        width = words_width(text, NOTE) * 1.06 + 6
        room = next((piece for piece in free if piece[1] - piece[0] >= width), None)
        if room is not None:
            at = (x + (room[0] + room[1]) / 2, y)
            origin = Origin(part="caption", domain=stretch.domain)
            pen.add(Label(text, at, size=NOTE, level="baseline", math=False, slanted=True, tone="quiet", origin=origin))
            return


def _free(ladder: PlacedLadder, stretch: Stretch) -> list[tuple[float, float]]:
    """The pieces of a stretch without wires that lead down, the widest first."""
    below = {branch.column for branch in ladder.branches if not branch.above}
    found, left = [], stretch.left
    for k, column in enumerate(ladder.plan.columns):
        if k in below and isinstance(column.content, BranchPlan):
            start, end = ladder.borders[k], ladder.borders[k + 1]
            if end > stretch.left and start < stretch.right:
                found.append((left, start))
                left = end
    found.append((left, stretch.right))
    return sorted(found, key=lambda piece: piece[0] - piece[1])
