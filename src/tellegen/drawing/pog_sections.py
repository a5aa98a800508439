"""Power sections of a POG figure: dashed lines with their variables, numbers, power directions and links."""

from tellegen.drawing.geometry import Point
from tellegen.drawing.pog_measures import (
    ARROW_BELOW,
    ARROW_LENGTH,
    LEAD,
    LOWER_LABEL,
    NOTE,
    SECTION_OVERHANG,
    SMALL,
    TEXT,
    UPPER_LABEL,
)
from tellegen.drawing.pog_pen import LEAD_PART, Pen
from tellegen.drawing.pog_plan import SectionPlan
from tellegen.drawing.scene import Label, Origin, Ring, Section, Wire
from tellegen.expressions import latex_name

TICK, TICK_HALF, TICK_NUMBER = 11.0, 5.0, 10.0
"""From a section to the slash through a wire, half its height, and from the wire to the middle of its number."""
LINK_RADIUS, LONG_LINK_RADIUS = 10.0, 14.0
"""Of the ring round one letter, and round several."""


def draw_section(pen: Pen, section: SectionPlan, at: Point, lower: float) -> None:
    """A section at a place on the upper line, down to the lower line."""
    x, upper = at
    origin = Origin(part="section", port=section.name, domain=section.domain)
    pen.add(Section((x, upper - SECTION_OVERHANG), (x, lower + SECTION_OVERHANG), origin))
    named = Origin(part="variable", port=section.name, domain=section.domain)
    pen.add(Label(section.upper, (x, upper - UPPER_LABEL), size=TEXT, level="baseline", origin=named))
    pen.add(Label(section.lower, (x, lower + LOWER_LABEL), size=TEXT, level="baseline", origin=named))
    if pen.options.section_numbers:
        number = Origin(part="number", port=section.name)
        pen.add(
            Label(section.name, (x, upper - UPPER_LABEL - 22), size=11, level="baseline", tone="quiet", origin=number)
        )
    if pen.options.dimensions and section.size > 1:
        _tick(pen, section, (x, upper), -1)
        _tick(pen, section, (x, lower), 1)
    if pen.options.power_directions:
        _power_arrow(pen, section, x, lower)


def _tick(pen: Pen, section: SectionPlan, at: Point, outwards: int) -> None:
    """A slash through a wire beside its section, with the number of variables on the outer side."""
    x, y = at
    slash = (x + TICK - TICK_HALF, y + TICK_HALF), (x + TICK + TICK_HALF, y - TICK_HALF)
    pen.add(Wire(slash, False, "hair", origin=Origin(part=LEAD_PART, port=section.name, domain=section.domain)))
    origin = Origin(part="dimension", port=section.name, domain=section.domain)
    place = x + TICK + (TICK_HALF + 2 if outwards < 0 else 2), y + outwards * TICK_NUMBER
    pen.add(Label(str(section.size), place, size=11, align="left", origin=origin))


def _power_arrow(pen: Pen, section: SectionPlan, x: float, lower: float) -> None:
    """An arrow in the direction in which power counts as positive."""
    half = ARROW_LENGTH / 2 if section.direction == "right" else -ARROW_LENGTH / 2
    y = lower + ARROW_BELOW
    origin = Origin(part=LEAD_PART, port=section.name, domain=section.domain)
    pen.add(Wire(((x - half, y), (x + half, y)), True, "hair", "power", origin))
    label = Origin(part="power", port=section.name, domain=section.domain)
    pen.add(
        Label(latex_name(f"P_{section.name}"), (x, y + 14), size=SMALL - 2, level="middle", tone="power", origin=label)
    )


def draw_link(pen: Pen, section: SectionPlan, x: float, y: float, *, right: bool) -> None:
    """The letter under which a ladder goes on elsewhere, at the outer end of the wires of a section."""
    radius = link_radius(section.link)
    away = LEAD + radius + 4
    mark_link(pen, section, (x + away if right else x - away, y))


def link_radius(letters: str) -> float:
    """The radius of the ring round the letters of a link."""
    return LINK_RADIUS if len(letters.rstrip("'")) == 1 else LONG_LINK_RADIUS


def mark_link(pen: Pen, section: SectionPlan, at: Point) -> None:
    """The letters of a link in a ring."""
    origin = Origin(part="link", port=section.name)
    ring = Ring(at, link_radius(section.link), origin=origin)
    pen.add(ring, Label(section.link, at, size=NOTE, math=False, origin=origin))
