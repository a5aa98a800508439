"""A figure as a value: shapes with a place and a meaning, where the ink of their labels lies, and shapes moved elsewhere.

A layout makes a scene; back ends only draw it. Every shape carries its `Origin`: the element, port, sign and domain that it
stands for. One unit is one CSS pixel at 100 %; y runs downwards.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby
from typing import Literal, final

from tellegen.core.language import ENGLISH, Phrases
from tellegen.scenes.geometry import Box, Outline, Point, PointMap, mapped_outline
from tellegen.scenes.typesetting import Typeset, set_math, set_words

Weight = Literal["thin", "bold", "double", "signal", "hair"]
"""Thin for scalars, bold (or double) for vectors, signal for modulation and measurement, hair for outlines in symbols."""
Tone = Literal[
    "ink",
    "quiet",
    "warning",
    "power",
    "electrical",
    "translational",
    "rotational",
    "hydraulic",
    "thermal",
    "magnetic",
    "pneumatic",
]
"""What a colour means; a theme says which colour it is."""
MARGIN = 26.0
"""Round a figure."""
Align = Literal["centre", "left", "right"]
Level = Literal["middle", "baseline"]


@final
@dataclass(frozen=True, slots=True)
class Origin:
    """What a shape stands for. `part` tells the shapes of one element apart: integrator, gain, K, K^T, effort, name, value, ..."""

    element: str = ""
    part: str = ""
    port: str = ""
    sign: int = 1
    domain: str = ""


NOTHING = Origin()


@final
@dataclass(frozen=True, slots=True)
class Wire:
    """A line through points, with an arrowhead at its last point where `head` says so."""

    points: tuple[Point, ...]
    head: bool = False
    weight: Weight = "thin"
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Block:
    """A box with a border and a white inside. Its text is a label of its own."""

    box: Box
    weight: Weight = "thin"
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Sum:
    """A summation circle. `spots` are unit directions from its centre to the sides where negated arrows enter."""

    centre: Point
    spots: tuple[Point, ...] = ()
    weight: Weight = "thin"
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Dot:
    """A branch dot: wires that meet here carry one variable."""

    centre: Point
    weight: Weight = "thin"
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Section:
    """A power section: a dashed line across two wires."""

    start: Point
    end: Point
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Label:
    """Math (LaTeX) or plain words at a point. Ink is centred on the point or starts or ends there.

    `level` says whether the point is the middle of the ink's height or the baseline.
    """

    text: str
    at: Point
    size: float = 17
    align: Align = "centre"
    level: Level = "middle"
    math: bool = True
    slanted: bool = False
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Bond:
    """A half arrow along points, the barb at the last one on the flow side. `stroke` is the end that receives the effort.

    `flow_side` is +1 where the flow is to the right of the direction of travel (seen on the page), -1 to the left. `warned` marks
    derivative causality or a conflict, in shape and in colour. `size` is the dimension of a vector bond.
    """

    points: tuple[Point, ...]
    stroke: Literal["start", "end", ""] = ""
    flow_side: Literal[1, -1] = 1
    warned: bool = False
    size: int = 1
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Ring:
    """A circle: dashed round a warning, plain round a bond number."""

    centre: Point
    radius: float
    dashed: bool = False
    tone: Tone = "ink"
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Curve:
    """A free outline, for the symbols of physical schematics, for mechanisms and for streams of energy.

    A pale one has a thin line in its tone, and inside the colour that the area of this domain has. With a `shade`, in per cent, it
    is a face without a line, that much darker towards its tone.
    """

    outline: Outline
    weight: Weight = "thin"
    filled: bool = False
    closed: bool = False
    dashed: bool = False
    tone: Tone = "ink"
    origin: Origin = NOTHING
    pale: bool = False
    shade: int = 0


@final
@dataclass(frozen=True, slots=True)
class Band:
    """A flat area in the colour of a domain, under everything else."""

    box: Box
    domain: str
    origin: Origin = NOTHING


@final
@dataclass(frozen=True, slots=True)
class Trace:
    """A curve of a plot, or a line of its axes. `dash` are lengths of dashes and gaps, `shade` is how dark it is, in per cent."""

    points: tuple[Point, ...]
    width: float = 1.3
    dash: tuple[float, ...] = ()
    tone: Tone = "ink"
    shade: int = 100
    origin: Origin = NOTHING


# Everything that a back end has to know; JSON reads its list of shapes from here.
Shape = Wire | Block | Sum | Dot | Section | Label | Bond | Ring | Curve | Band | Trace


@final
@dataclass(frozen=True, slots=True)
class Scene:
    """All shapes of one figure within `box`. Back ends draw bands first, then sections, wires, blocks and labels.

    `notation` is the kind of a figure whose places can be kept, and `lines` are the names along its lines, the main line first.
    `notes` say what is not as it was asked for; they are told beside the figure, and are no part of it.
    """

    title: str
    about: str
    box: Box
    shapes: tuple[Shape, ...] = field(repr=False)
    notation: str = ""
    lines: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)


SLANT = 0.21
"""Slanted words lean by 12 degrees, as an oblique sans serif does."""


@final
@dataclass(frozen=True, slots=True)
class PlacedText:
    """A typeset text, and the point where the left end of its baseline goes."""

    text: Typeset
    start: Point

    @property
    def box(self) -> Box:
        """The extent of its ink on the figure."""
        return self.text.box.moved(*self.start)


def place_label(label: Label) -> PlacedText:
    """Its outlines and where they go: ink is centred on the point of the label, or starts or ends there."""
    text = set_math(label.text, label.size) if label.math else set_words(label.text, label.size)
    text = _leaning(text) if label.slanted and not label.math else text
    x, y = label.at
    # Ink instead of advance widths: letters such as f and j reach beyond theirs, and a centred text would look shifted.
    box = text.box
    left = {"centre": x - (box.left + box.right) / 2, "left": x - box.left, "right": x - box.right}[label.align]
    return PlacedText(text, (left, y if label.level == "baseline" else y - (box.top + box.bottom) / 2))


def label_box(label: Label) -> Box:
    """The extent of the ink of a label."""
    return place_label(label).box


@lru_cache(maxsize=1024)
def _leaning(text: Typeset) -> Typeset:
    # y runs downwards from the baseline, so what is above it, with negative y, moves to the right.
    return Typeset.of(mapped_outline(outline, lambda at: (at[0] - SLANT * at[1], at[1])) for outline in text.outlines)


def moved(shape: Shape, dx: float, dy: float) -> Shape:
    """The same shape at another place."""
    return mapped(shape, lambda at: (at[0] + dx, at[1] + dy), lambda box: box.moved(dx, dy))


def tidy(scene: Scene) -> Scene:
    """The scene with all coordinates rounded to a thousandth, so that equal figures are equal on every machine."""

    def box(old: Box) -> Box:
        return Box(*(_rounded(side) for side in (old.left, old.top, old.right, old.bottom)))

    def point(old: Point) -> Point:
        return _rounded(old[0]), _rounded(old[1])

    return replace(scene, box=box(scene.box), shapes=tuple(mapped(shape, point, box) for shape in scene.shapes))


def framed_scene(title: str, about: str, frame: Box, shapes: Iterable[Shape]) -> Scene:
    """The scene of shapes within a frame whose upper left corner becomes the origin."""
    box = Box(0, 0, frame.width, frame.height)
    return tidy(Scene(title, about, box, tuple(moved(shape, -frame.left, -frame.top) for shape in shapes)))


def _rounded(value: float) -> float:
    # A thousandth of a unit is far below what can be seen, and above the rounding of different processors.
    return round(value, 3) + 0.0  # minus zero is zero


def mapped(shape: Shape, point: PointMap, box: Callable[[Box], Box]) -> Shape:
    """The shape with its points and boxes elsewhere."""
    match shape:
        case Wire() | Bond() | Trace():
            return replace(shape, points=tuple(map(point, shape.points)))
        case Block() | Band():
            return replace(shape, box=box(shape.box))
        case Sum() | Dot() | Ring():
            return replace(shape, centre=point(shape.centre))
        case Section():
            return replace(shape, start=point(shape.start), end=point(shape.end))
        case Label():
            return replace(shape, at=point(shape.at))
        case Curve():
            return replace(shape, outline=mapped_outline(shape.outline, point))


# -- the words under the areas of domains: the same size, colour and wording in every notation ------------------------------------

CAPTION, CAPTION_DROP = 12.0, 20.0
"""The size of captions, and how far under an area their baseline is."""


def caption_of(domain: str) -> str:
    """What a domain is called under its area in figures; lessons say it in their language."""
    return ENGLISH.domain(domain)


def with_captions(scene: "Scene", say: Phrases) -> "Scene":
    """The scene with the words under its areas in another language; captions of steps are of no domain."""
    shapes = tuple(
        replace(shape, text=say.domain(shape.origin.domain))
        if isinstance(shape, Label) and shape.origin.part == "caption" and shape.origin.domain
        else shape
        for shape in scene.shapes
    )
    return replace(scene, shapes=shapes)


def caption_label(text: str, at: Point, domain: str, number: str = "") -> Label:
    """A caption; the `number` tells those of one figure apart."""
    origin = Origin(part="caption", port=number, domain=domain)
    return Label(text, at, CAPTION, level="baseline", math=False, slanted=True, tone="quiet", origin=origin)


def captions_along(bands: Iterable[Band], y: float, used: int = 0) -> Iterator[Label]:
    """A word for each run of neighbours of one domain, where it fits; `used` numbers are taken by others."""
    ordered = sorted(bands, key=lambda band: band.box.left)
    for number, (domain, run) in enumerate(groupby(ordered, key=lambda band: band.domain), used + 1):
        boxes = [band.box for band in run]
        left, right = boxes[0].left, boxes[-1].right
        label = caption_label(caption_of(domain), ((left + right) / 2, y), domain, str(number))
        # A caption that reaches beyond its area would name the neighbour; the colour says enough then.
        if label_box(label).width < right - left:
            yield label
