"""Math and words as outlines with exact sizes, so that a figure is laid out before anything draws it.

ziamath sets LaTeX as glyph paths: no fonts are needed where the figure is shown. Text is centred on its ink, not on advance widths.
"""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, final
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


COLON = r"{:}\,"
"""What stands between the letters of an element and its parameter, `I: L_a`."""
_COLON_GAP, _COLON_SPACE = 0.08, 0.36
"""Before and behind a colon, in sizes."""


_NUMBERED = re.compile(r"(?P<symbol>[^\d^&_]*)_(?P<subscript>[^^&=]*)")
"""A symbol whose only digits are in its subscript, or in that of its subscript."""
_PIECE = re.compile(r"\\[A-Za-z]+|\S")
_UPRIGHT = (r"\text", r"\mathrm")
_DIGIT = re.compile(r"\d")


@lru_cache(maxsize=16384)
def set_math(latex: str, size: float) -> Typeset:
    """LaTeX mathematics in a size of `size` units. What stands before and behind a COLON is set once for all figures."""
    before, colon, after = latex.partition(COLON)
    if colon and before and after:
        start = _beside(set_math(before, size), set_math("{:}", size), _COLON_GAP * size)
        return _beside(start, set_math(after, size), _COLON_SPACE * size)
    found = _NUMBERED.fullmatch(latex)
    several = len({*_DIGIT.findall(latex)}) > 1
    if several and found is not None and _is_whole(found["symbol"]) and _is_whole(found["subscript"]):
        return _numbered(latex, found["subscript"], size)
    return _set(latex, size)


def _is_whole(text: str) -> bool:
    """Whether every brace of a text is closed in it: no piece of a fraction."""
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def _numbered(latex: str, subscript: str, size: float) -> Typeset:
    """A symbol with a number in its subscript, from those with one digit repeated: large figures have thousands of them.

    The last outlines are those of the subscript, one for each character that is seen. A digit moves what follows by the difference
    between its width and that of the digit which stood there.
    """
    seen = list(_seen(subscript))
    like = {digit: _set_once(_DIGIT.sub(digit, latex), size) for digit in {*_DIGIT.findall(latex)}}
    usual = next(character for character, _, _ in seen if character in like)
    some = like[usual]
    if len(some.outlines) <= len(seen) or any(len(other.outlines) != len(some.outlines) for other in like.values()):
        return _set(latex, size)
    first = len(some.outlines) - len(seen)
    ends: list[Outline] = []
    shift, before = 0.0, dict.fromkeys(like, 0.0)
    for k, (character, depth, upright) in enumerate(seen):
        own = like.get(character)
        ends.append(_shifted((own or some).outlines[first + k], shift - before.get(character, 0.0)))
        if own is not None:
            wider = {
                digit: _advance(digit, depth, upright, size) - _advance(usual, depth, upright, size) for digit in like
            }
            shift += wider[character]
            before = {digit: far + wider[digit] for digit, far in before.items()}
    return _of((*some.outlines[:first], *ends))


def _seen(subscript: str) -> Iterator[tuple[str, int, bool]]:
    """The characters of a subscript that are seen; how deep each stands, and whether it is upright."""
    styles = [(1, False)]
    following: tuple[int, bool] | None = None
    for piece in _PIECE.findall(subscript):
        if piece == "}":
            styles.pop()
        elif piece == "{":
            styles.append(following or styles[-1])
            following = None
        elif piece == "_":
            following = styles[-1][0] + 1, styles[-1][1]
        elif piece in _UPRIGHT:
            following = (following or styles[-1])[0], True
        else:
            yield (piece if len(piece) == 1 else "x"), *(following or styles[-1])
            following = None


@lru_cache(maxsize=1024)
def _advance(digit: str, depth: int, upright: bool, size: float) -> float:
    """From a digit to an equal one beside it."""
    pair = rf"\text{{{digit}{digit}}}" if upright else digit + digit
    *_, one, two = _set(f"x_{{{pair}}}" if depth == 1 else f"x_{{x_{{{pair}}}}}", size).outlines
    return two[0][1][0][0] - one[0][1][0][0]


def _shifted(outline: Outline, shift: float) -> Outline:
    return tuple((letter, tuple((x + shift, y) for x, y in points)) for letter, points in outline) if shift else outline


@lru_cache(maxsize=4096)
def _set_once(latex: str, size: float) -> Typeset:
    return _set(latex, size)


def _set(latex: str, size: float) -> Typeset:
    # Both packages find their fonts through a function of Python that is deprecated.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
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
    return _typeset(Text(text, font=_words_font(), size=size).svg())


@lru_cache(maxsize=1)
def _words_font() -> Any:
    """The sans serif font, read once and without its kerning tables, whose reading takes a second."""
    from ziafont.font import Font  # noqa: PLC0415

    class Plain(Font):
        def _readtables(self) -> None:
            super()._readtables()
            for table in ("GPOS", "GSUB"):
                self.tables.pop(table, None)

    # By its file: the default goes through a deprecated function.
    return Plain(str(files("ziafont.fonts") / "DejaVuSans.ttf"))


def _beside(one: Typeset, two: Typeset, gap: float) -> Typeset:
    """Two texts on one baseline, with a gap between their inks."""
    shift = one.box.right + gap - two.box.left
    moved = tuple(_shifted(outline, shift) for outline in two.outlines)
    low, high = min(one.box.top, two.box.top), max(one.box.bottom, two.box.bottom)
    return Typeset((*one.outlines, *moved), Box(one.box.left, low, two.box.right + shift, high))


def _typeset(svg: str) -> Typeset:
    outlines = tuple(outline for item in ElementTree.fromstring(svg).iter() for outline in _outlines(item))
    return _of(outlines)


def _of(outlines: tuple[Outline, ...]) -> Typeset:
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
