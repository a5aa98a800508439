"""From shapes with a meaning to what a pen does: paths, circles and glyphs, with their widths and the colours of themes.

The measures are those of the figures in `docs/howto/draw.md`, in units.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, assert_never, final

from tellegen.scenes import scene
from tellegen.scenes.geometry import Outline, Point, along, box_outline, direction, polyline

ThemeName = Literal["colour", "mono", "dark"]
"""Colour for screens and slides, mono for print (black and grey, no bands), dark for dark screens."""
POINT = 0.75
"""A unit in points: 96 units are an inch."""
PAPER = "paper"
"""The paint of the background, and of the inside of blocks."""


@final
@dataclass(frozen=True, slots=True)
class Theme:
    """`paints` gives a colour to every tone and to the paper, `bands` to every domain."""

    paints: Mapping[str, str]
    bands: Mapping[str, str]

    def colour(self, paint: str) -> str:
        """The colour of a tone, of `paper`, of `band:<domain>`, or of `shade:<tone>:<per cent>` between the last two."""
        word, _, domain = paint.partition(":")
        if word == "shade":
            tone, _, share = domain.partition(":")
            return _between(self.colour(f"band:{tone}"), self.paints[tone], int(share) / 100)
        return self.bands.get(domain, self.paints[PAPER]) if word == "band" else self.paints[paint]


def _between(start: str, end: str, share: float) -> str:
    """The colour so far on the way from one to another."""
    pairs = zip(bytes.fromhex(start[1:]), bytes.fromhex(end[1:]), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)


def _theme(tones: str, domains: str, bands: str) -> Theme:
    """A theme of colours: of ink, paper, quiet, warning and power, of the domains, and of their areas, where it shows these."""
    paints = dict(zip(("ink", PAPER, "quiet", "warning", "power"), tones.split(), strict=True))
    paints |= dict(zip(_DOMAINS, domains.split(), strict=True))
    areas = dict(zip(_DOMAINS, bands.split(), strict=False))
    return Theme(paints, areas | ({"heat": areas["thermal"]} if areas else {}))


_DOMAINS = ("electrical", "translational", "rotational", "hydraulic", "thermal", "magnetic", "pneumatic")
THEMES: Mapping[ThemeName, Theme] = {
    "colour": _theme(
        "#000000 #FFFFFF #555555 #C45500 #1B6E3C",
        "#1F5FA8 #9A3D7A #2C7A43 #B26413 #7F6A1E #5B4FA3 #0F7580",
        "#E8F0FA #F6EAF2 #EAF5EC #FBF1E6 #F3EFE4 #EDEBF7 #E6F3F4",
    ),
    "mono": _theme("#000000 #FFFFFF #555555 #000000 #000000", "#000000 " * 7, ""),
    "dark": _theme(
        "#E8E8E8 #16181D #8A8A8A #FFA14A #6FCF97",
        "#7FB2F0 #E39BC9 #7CCB93 #F0B36B #D3BE6A #B3A8F0 #6CC6D0",
        "#1C2431 #2B2029 #1B2A20 #2C251B #2A271C #23212F #1A282A",
    ),
}


Layer = Literal["bands", "sections", "wires", "blocks", "labels"]
LAYERS: tuple[Layer, ...] = ("bands", "sections", "wires", "blocks", "labels")
Cap = Literal["butt", "square", "round"]
Join = Literal["miter", "round"]

LINE: dict[scene.Weight, float] = {"thin": 1.3, "bold": 2.6, "double": 4.0, "signal": 1.0, "hair": 0.9}
"""Widths of wires and outlines."""
INNER = 2.2
"""The gap between the two strokes of a double wire."""
BORDER = 1.3
"""Blocks and summations, whatever the weight of their wires."""
HEAD: dict[scene.Weight, tuple[float, float]] = {
    "thin": (9, 6.6),
    "bold": (9 * 1.25, 6.6 * 1.45),
    "double": (9 * 1.25, 6.6 * 1.45),
    "signal": (8, 5.6),
    "hair": (7, 5),
}
"""Length and width of arrowheads."""
NOTCH, SHAFT = 0.72, 0.75
"""Barb of an arrowhead, and where its shaft ends, as parts of its length: so that the tip stays sharp."""
# A spot lies inside the circle, near enough to its edge to be seen as part of the arrow that enters there.
SUM_RADIUS, SPOT_RADIUS, SPOT_INSET = 9.0, 3.4, 0.9
DOT_RADIUS: dict[scene.Weight, float] = {"thin": 2.6, "bold": 3.6, "double": 3.6, "signal": 2.2, "hair": 2.0}
SECTION_WIDTH, SECTION_DASH = 1.0, (5.0, 4.0)
# The barb is about 30 degrees to its bond, as in textbooks; a stroke is longer than a barb is wide, so that the two are told apart.
BOND, BARB_BACK, BARB_SIDE = 1.4, 11.0, 6.5
STROKE, STROKE_LENGTH = 2.1, 17.0
RAIL, RAIL_GAP = 1.2, 3.2
"""The two lines of a vector bond, and the distance of their centres."""
RING, RING_DASH = 1.2, (3.0, 2.4)
CURVE_DASH = (5.0, 3.5)
SOLID = 100
"""The shade of a line that is no paler than its tone, in per cent."""
SEAM = 0.5
"""Faces reach so far over their edges that nothing shines through between them."""


@final
@dataclass(frozen=True, slots=True)
class PenPath:
    """An outline, filled or drawn with a pen of some width.

    A paint is a tone, `paper`, `band:<domain>` or `shade:<tone>:<per cent>`.
    """

    outline: Outline
    fill: str = ""
    stroke: str = ""
    width: float = 0
    dash: tuple[float, ...] | None = None
    cap: Cap = "butt"
    join: Join = "miter"


@final
@dataclass(frozen=True, slots=True)
class Circle:
    """A circle, filled or drawn with a pen."""

    centre: Point
    radius: float
    fill: str = ""
    stroke: str = ""
    width: float = 0
    dash: tuple[float, float] | None = None


@final
@dataclass(frozen=True, slots=True)
class Glyphs:
    """A text as filled outlines."""

    placed: scene.PlacedText
    fill: str


Primitive = PenPath | Circle | Glyphs


LAYER_OF: Mapping[type[scene.Shape], Layer] = {
    scene.Band: "bands",
    scene.Section: "sections",
    **dict.fromkeys((scene.Wire, scene.Bond, scene.Dot), "wires"),
    **dict.fromkeys((scene.Block, scene.Sum, scene.Ring, scene.Curve, scene.Trace), "blocks"),
    scene.Label: "labels",
}
"""The layer in which shapes of a kind are drawn."""


def layered(shapes: Iterable[scene.Shape]) -> list[scene.Shape]:
    """The shapes in the order of their layers, those of one layer as they come."""
    return sorted(shapes, key=lambda shape: LAYERS.index(LAYER_OF[type(shape)]))


def primitives(shape: scene.Shape) -> Iterator[Primitive]:
    """What a pen does for a shape, in order."""
    match shape:
        case scene.Band():
            yield PenPath(box_outline(shape.box), fill=f"band:{shape.domain}")
        case scene.Section():
            line = polyline((shape.start, shape.end))
            yield PenPath(line, stroke="quiet", width=SECTION_WIDTH, dash=SECTION_DASH)
        case scene.Wire():
            yield from _wire(shape)
        case scene.Dot():
            yield Circle(shape.centre, DOT_RADIUS[shape.weight], fill=shape.tone)
        case scene.Block():
            yield PenPath(box_outline(shape.box), PAPER, shape.tone, BORDER)
        case scene.Sum():
            yield from _sum(shape)
        case scene.Bond():
            yield from _bond(shape)
        case scene.Ring():
            yield Circle(shape.centre, shape.radius, "", shape.tone, RING, RING_DASH if shape.dashed else None)
        case scene.Curve():
            yield _curve(shape)
        case scene.Trace():
            # Round at its corners: a mitre would make every turn of a fast curve a spike.
            yield PenPath(polyline(shape.points), "", trace_paint(shape), shape.width, shape.dash or None, join="round")
        case scene.Label():
            yield Glyphs(scene.place_label(shape), shape.tone)
        case _:
            assert_never(shape)


def trace_paint(trace: scene.Trace) -> str:
    """The paint of a curve of a plot: its tone, or a paler one."""
    return trace.tone if trace.shade == SOLID else f"shade:{trace.tone}:{trace.shade}"


def spot_centre(shape: scene.Sum, spot: Point) -> Point:
    """Where a spot is in the circle of a summation."""
    return along(shape.centre, spot, SUM_RADIUS - SPOT_RADIUS - SPOT_INSET)


def stroke_end(bond: scene.Bond) -> tuple[Point, Point]:
    """The end of a bond that has its causal stroke, and the direction of the bond there."""
    if bond.stroke == "start":
        return bond.points[0], direction(*bond.points[:2])
    return bond.points[-1], direction(*bond.points[-2:])


def stroke_line(bond: scene.Bond) -> tuple[Point, Point]:
    """The causal stroke of a bond."""
    end, unit = stroke_end(bond)
    return along(end, unit, 0, -STROKE_LENGTH / 2), along(end, unit, 0, STROKE_LENGTH / 2)


def _wire(wire: scene.Wire) -> Iterator[Primitive]:
    points, head = wire.points, None
    if wire.head:
        length, width = HEAD[wire.weight]
        unit, tip = direction(points[-2], points[-1]), points[-1]
        corners = (tip, along(tip, unit, -length, width / 2), along(tip, unit, -NOTCH * length))
        head = PenPath(polyline((*corners, along(tip, unit, -length, -width / 2)), closed=True), fill=wire.tone)
        # The shaft ends inside the head: drawn to the tip, its square end would blunt it.
        points = (*points[:-1], along(tip, unit, -SHAFT * length))
    yield PenPath(polyline(points), stroke=wire.tone, width=LINE[wire.weight])
    # The double wire is one wide stroke with the paper drawn over its middle, so that corners are right without being computed.
    if wire.weight == "double":
        yield PenPath(polyline(points), stroke=PAPER, width=INNER)
    if head is not None:
        yield head


def _sum(shape: scene.Sum) -> Iterator[Primitive]:
    yield Circle(shape.centre, SUM_RADIUS, PAPER, shape.tone, BORDER)
    for spot in shape.spots:
        yield Circle(spot_centre(shape, spot), SPOT_RADIUS, fill=shape.tone)


def _bond(bond: scene.Bond) -> Iterator[Primitive]:
    tone = "warning" if bond.warned else bond.tone
    last = direction(*bond.points[-2:])
    if bond.size > 1:
        for side in (RAIL_GAP / 2, -RAIL_GAP / 2):
            yield PenPath(polyline(_beside(bond.points, side)), stroke=tone, width=RAIL)
    else:
        yield PenPath(polyline(bond.points), stroke=tone, width=BOND)
    # The barb starts at the outer of the two lines of a vector bond; from the middle it would cross one of them.
    shift = bond.flow_side * RAIL_GAP / 2 if bond.size > 1 else 0
    tip = along(bond.points[-1], last, 0, shift)
    barb = along(tip, last, -BARB_BACK, bond.flow_side * BARB_SIDE)
    yield PenPath(polyline((tip, barb)), stroke=tone, width=BOND, cap="square")
    if bond.stroke:
        yield PenPath(polyline(stroke_line(bond)), stroke=tone, width=STROKE)


def _beside(points: tuple[Point, ...], right: float) -> tuple[Point, ...]:
    """A line parallel to one through points, mitred at its corners."""
    units = [direction(a, b) for a, b in pairwise(points)]
    moved = [along(points[0], units[0], 0, right)]
    for k, point in enumerate(points[1:-1]):
        before, after = units[k], units[k + 1]
        share = 1 + before[0] * after[0] + before[1] * after[1]  # of the mitre, by the cosine of the turn
        normal = -(before[1] + after[1]) / share, (before[0] + after[0]) / share
        moved.append((point[0] + normal[0] * right, point[1] + normal[1] * right))
    return (*moved, along(points[-1], units[-1], 0, right))


def _curve(curve: scene.Curve) -> PenPath:
    # Back ends close a path only where it says so, or the last corner would have no mitre.
    outline = (*curve.outline, ("Z", ())) if curve.closed and curve.outline[-1][0] != "Z" else curve.outline
    if curve.shade:
        paint = f"shade:{curve.tone}:{curve.shade}"
        return PenPath(outline, paint, paint, SEAM)
    if curve.pale:
        return PenPath(outline, f"band:{curve.tone}", curve.tone, LINE["hair"])
    if curve.filled:
        return PenPath(outline, fill=curve.tone)
    return PenPath(outline, "", curve.tone, LINE[curve.weight], CURVE_DASH if curve.dashed else None)
