"""Math and words as outlines with exact sizes, so that a figure is laid out before anything draws it.

ziamath sets LaTeX as glyph paths: no fonts are needed where the figure is shown. Text is centred on its ink, not on advance widths.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import final
from xml.etree import ElementTree

from tellegen.drawing.geometry import Box, Point, hull

Command = tuple[str, tuple[Point, ...]]
"""A step of an outline: M and L with one point, Q with two, C with three, Z with none."""
Outline = tuple[Command, ...]

_TOKEN = re.compile(r"[MLQCZ]|-?\d*\.?\d+(?:e-?\d+)?")
_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}


@final
@dataclass(frozen=True, slots=True)
class Typeset:
    """A text as filled outlines about the left end of its baseline; `box` is the extent of its ink."""

    outlines: tuple[Outline, ...]
    box: Box


@lru_cache(maxsize=4096)
def set_math(latex: str, size: float) -> Typeset:
    """LaTeX mathematics in a size of `size` units."""
    from ziamath.config import config  # noqa: PLC0415
    from ziamath.zmath import Latex  # noqa: PLC0415

    config.svg2 = False
    return _typeset(Latex(latex, size=size).svg())


@lru_cache(maxsize=1024)
def set_words(text: str, size: float) -> Typeset:
    """Plain words in a sans serif font."""
    from ziafont.config import config  # noqa: PLC0415
    from ziafont.font import Text  # noqa: PLC0415

    config.svg2 = False
    return _typeset(Text(text, size=size).svg())


def _typeset(svg: str) -> Typeset:
    outlines = tuple(outline for item in ElementTree.fromstring(svg).iter() for outline in _outlines(item))
    points = [point for outline in outlines for _, ends in outline for point in ends]
    return Typeset(outlines, hull(points) if points else Box(0, 0, 0, 0))


def _outlines(item: ElementTree.Element) -> list[Outline]:
    match item.tag.rpartition("}")[2]:
        case "path":
            return [_path(item.attrib["d"])]
        case "rect":
            x, y, width, height = (float(item.attrib[key]) for key in ("x", "y", "width", "height"))
            corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
            steps = [("M" if k == 0 else "L", (corner,)) for k, corner in enumerate(corners)]
            return [(*steps, ("Z", ()))]
        case _:
            return []


def _path(data: str) -> Outline:
    tokens = iter(_TOKEN.findall(data))
    steps: list[Command] = []
    for letter in tokens:
        points = tuple((float(next(tokens)), float(next(tokens))) for _ in range(_POINTS[letter]))
        if letter == "L" and steps and steps[-1] == ("M", points):
            continue  # ziamath repeats the first point
        steps.append((letter, points))
    return tuple(steps)
