"""A figure as a value: shapes with a place and a meaning, which SVG, PDF, PNG, TikZ and JSON all show alike.

A layout makes a scene; back ends only draw it. Every shape carries its `Origin`: the element, port, sign and domain that it
stands for. One unit is one CSS pixel at 100 %; y runs downwards.
"""

from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.drawing.geometry import Box, Point
from tellegen.drawing.typesetting import Outline

Weight = Literal["thin", "bold", "double", "signal", "hair"]
"""Thin for scalars, bold (or double) for vectors, signal for modulation and measurement, hair for outlines in symbols."""
Tone = Literal[
    "ink", "quiet", "warning", "power", "electrical", "translational", "rotational", "hydraulic", "thermal", "magnetic"
]
"""What a colour means; a theme says which colour it is."""
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


Shape = Wire | Block | Sum | Dot | Section | Label | Bond | Ring | Curve | Band


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
