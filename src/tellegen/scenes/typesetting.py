"""Math and words as outlines with exact sizes, so that a figure is laid out before anything draws it.

ziamath sets LaTeX as glyph paths: no fonts are needed where the figure is shown. Text is centred on its ink, not on advance widths.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from html import escape
from importlib.resources import files
from typing import Any, ClassVar, final
from xml.etree import ElementTree

from tellegen.scenes.geometry import Box, Command, Outline, box_outline, hull, outline_points, shifted, union

_TOKEN = re.compile(r"[MLQCZ]|-?\d*\.?\d+(?:e-?\d+)?")
_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}


@final
@dataclass(frozen=True, slots=True)
class Typeset:
    """A text as filled outlines about the left end of its baseline; `box` is the extent of its ink."""

    outlines: tuple[Outline, ...]
    box: Box

    @classmethod
    def of(cls, outlines: Iterable[Outline]) -> "Typeset":
        """Outlines with the extent of their ink."""
        made = tuple(outlines)
        points = [point for outline in made for point in outline_points(outline)]
        return cls(made, hull(points) if points else Box(0, 0, 0, 0))


COLON = r"{:}\,"
"""What stands between the letters of an element and its parameter, `I: L_a`."""
_COLON_GAP, _COLON_SPACE = 0.08, 0.36
"""Before and behind a colon, in sizes."""


_NUMBERED = re.compile(r"(?P<symbol>[^^&_]*)_(?P<subscript>[^^&=]*[1-9][^^&=]*)")
"""A symbol with a number in its subscript, or in that of its subscript."""
ALIKE = 0.02
"""Sizes of letters differ by less than this where only rounding tells them apart."""
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
    # Names such as x_12 and x_13 differ in digits only; large figures have thousands of them.
    found = _NUMBERED.fullmatch(latex)
    if found is not None and _is_whole(found["symbol"]) and _is_whole(found["subscript"]):
        return _numbered(found["symbol"], found["subscript"], size)
    return _set(latex, size)


def _is_whole(text: str) -> bool:
    """Whether every brace of a text is closed in it: no piece of a fraction."""
    depth = 0
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0


def _numbered(symbol: str, subscript: str, size: float) -> Typeset:
    """A symbol with numbers in its subscript, from the one with zeros in their place: large figures have thousands of them.

    The last outlines are those of the subscript, one for each character that is seen. A digit moves what follows by the difference
    between its width and that of a zero.
    """
    # Setting a formula is slow, moving outlines is not.
    usual = _set_once(f"{symbol}_{_DIGIT.sub('0', subscript)}", size)
    seen = list(_seen(subscript))
    first = len(usual.outlines) - len(seen)
    ends: list[Outline] = []
    shift = 0.0
    # Wherever the outlines are not those of the characters one by one (a ligature, a fraction), the formula is set as it is.
    if first <= 0:
        return _set(f"{symbol}_{subscript}", size)
    for outline, (character, depth, upright) in zip(usual.outlines[first:], seen, strict=True):
        if not character.isdecimal():
            ends.append(_shifted(outline, shift))
            continue
        zero, own = (_pair(digit, depth, upright, size)[0] for digit in ("0", character))
        if not _alike(zero, outline):
            return _set(f"{symbol}_{subscript}", size)
        (x, y), (u, v) = outline[0][1][0], zero[0][1][0]
        ends.append(_shifted(own, x - u + shift, y - v))
        shift += _advance(character, depth, upright, size) - _advance("0", depth, upright, size)
    return Typeset.of((*usual.outlines[:first], *ends))


def _alike(one: Outline, two: Outline) -> bool:
    """Whether two outlines are the same letter in the same size."""
    if [step for step, _ in one] != [step for step, _ in two]:
        return False
    here, there = hull(outline_points(one)), hull(outline_points(two))
    return abs(here.width - there.width) < ALIKE and abs(here.height - there.height) < ALIKE


def _seen(subscript: str) -> Iterator[tuple[str, int, bool]]:
    """The characters of a subscript that are seen; how deep each stands, and whether it is upright."""
    # Braces open a style and close it; a command and an underscore say what the next piece is, braces or a single character.
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
def _pair(digit: str, depth: int, upright: bool, size: float) -> tuple[Outline, Outline]:
    """A digit and an equal one beside it, in a subscript."""
    # The distance of the two is the advance of a digit, which ziamath does not tell.
    pair = rf"\text{{{digit}{digit}}}" if upright else digit + digit
    *_, one, two = _set(f"x_{{{pair}}}" if depth == 1 else f"x_{{x_{{{pair}}}}}", size).outlines
    return one, two


def _advance(digit: str, depth: int, upright: bool, size: float) -> float:
    """From a digit to an equal one beside it."""
    one, two = _pair(digit, depth, upright, size)
    return two[0][1][0][0] - one[0][1][0][0]


def _shifted(outline: Outline, shift: float, down: float = 0.0) -> Outline:
    return tuple((letter, shifted(points, shift, down)) for letter, points in outline) if shift or down else outline


@lru_cache(maxsize=4096)
def _set_once(latex: str, size: float) -> Typeset:
    return _set(latex, size)


def with_plain_words(latex: str) -> str:
    """The formula for what makes MathML of it, which takes words over as they stand: signs of LaTeX and of XML among them."""
    return _WORDS.sub(lambda found: escape(re.sub(r"\\([_&%#$])", r"\1", found[0]), quote=False), latex)


_WORDS = re.compile(r"(?<=\\text\{)[^{}\\]*(?:\\[_&%#$][^{}\\]*)*(?=\})")


def _set(latex: str, size: float) -> Typeset:
    # A minus behind a sign of equality is a sign, not an operation: it stands close to what it belongs to.
    signed = with_plain_words(latex.replace("= -", "= {-}"))
    # Both packages find their fonts through a function of Python that is deprecated.
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        return Typeset.of(_drawn(_formulas()(signed, size=size).node, 0.0, 0.0))


def _drawn(node: Any, x: float, y: float) -> Iterator[Outline]:
    """What a node of ziamath draws at a place.

    Read from the node: ziamath writes a picture as text, and to write and read each number takes longer than to set the formula.
    """
    if hasattr(node, "nodexy"):
        for (right, down), inside in zip(node.nodexy, node.nodes, strict=False):
            yield from _drawn(inside, x + right, y + down)
    # Brackets that grow are assembled of several glyphs, and have a negative number.
    elif hasattr(node, "glyph") and not node.phantom and node.glyph.index >= 0:
        yield from _placed(node.glyph, x, y, node.glyph.funits_to_points(1, node.size / node.glyph.DFLT_SIZE_PT))
    else:
        # Bars of fractions and roots, and whatever is rare.
        picture = ElementTree.Element("svg")
        node.draw(x, y, picture)
        for item in picture.iter():
            yield from _outlines(item)


def _placed(glyph: Any, x: float, y: float, scale: float) -> Iterator[Outline]:
    """A glyph at a place, both rounded as ziamath writes them, so that figures are the same on all machines."""
    right, down = round(x, _PLACES), round(y, _PLACES)
    steps = _scaled(_steps_of(glyph), scale)
    if steps:
        yield tuple((letter, shifted(points, right, down)) for letter, points in steps)


@lru_cache(maxsize=4096)
def _scaled(outline: Outline, scale: float) -> Outline:
    """The outline of a glyph in units of the figure: a formula has each letter many times, and rounding is slow."""
    steps: list[Command] = []
    for letter, points in outline:
        at = tuple((round(x * scale, _PLACES), round(-y * scale, _PLACES)) for x, y in points)
        if letter == "L" and steps[-1] == ("M", at):
            continue  # a glyph repeats its first point
        steps.append((letter, at))
    return tuple(steps)


_STYLED = {"mathvariant", "displaystyle", "display", "mathcolor", "mathbackground", "mathsize", "scriptlevel", "style"}
_LETTER_FORMS = frozenset("ϕϵϑϱϖϰ")
_PLACES = 3
_GIVEN = {"rowymin", "rowymax", "nostretch"}
"""What a row tells those in it that grow, and measures anew."""
_APART = frozenset(("mi", "mn", "mo", "msub", "msup", "msubsup"))
"""What is the same wherever it stands."""
_MOST_MADE = 16384
_GLYPHS: dict[str, Outline] = {}


def _steps_of(glyph: Any) -> Outline:
    """A glyph in the units of its font."""
    # Its name holds that of its font.
    if glyph.id not in _GLYPHS:
        steps: list[Command] = []
        for operator in glyph.operators:
            letter = type(operator).__name__[0]
            if letter == "M" and steps:
                steps.append(("Z", ()))
            points = [point for name in ("p", "p1", "p2", "p3") if (point := getattr(operator, name, None)) is not None]
            steps.append((letter, tuple((point.x, point.y) for point in points)))
        _GLYPHS[glyph.id] = (*steps, ("Z", ())) if steps else ()
    return _GLYPHS[glyph.id]


@lru_cache(maxsize=1)
def _formulas() -> Any:
    """What sets LaTeX, with as little done twice as may be: the equations of a mechanism have each name a hundred times.

    Rows are measured beforehand only where something in them grows with the row, as a bracket does; what does not grow is set once.
    """
    from ziamath import styles  # noqa: PLC0415
    from ziamath.config import config  # noqa: PLC0415
    from ziamath.nodes import mnode, mnumber  # noqa: PLC0415
    from ziamath.nodes.mrow import Mrow  # noqa: PLC0415
    from ziamath.nodes.mtable import Mtable  # noqa: PLC0415
    from ziamath.operators import operators  # noqa: PLC0415
    from ziamath.zmath import Latex  # noqa: PLC0415

    config.svg2 = False

    def style(element: ElementTree.Element, parent: Any = None) -> Any:
        """The style of an element; one that says nothing of its own has that of its parent, which is a third of the time."""
        if parent is None or not _STYLED.isdisjoint(element.attrib):
            return styles.parse_style(element, parent)
        variant = styles.parse_variant(config.math.variant, parent.mathvariant)
        size, level = parent.mathsize, parent.scriptlevel
        return styles.MathStyle(variant, parent.displaystyle, parent.mathcolor, parent.mathbackground, size, level)

    # Letters such as the phi of LaTeX stand outside the Greek alphabet of Unicode, and ziamath would leave them upright.
    letters: Any = mnumber
    in_alphabet = letters.auto_italic
    letters.auto_italic = lambda letter: letter in _LETTER_FORMS or in_alphabet(letter)

    nodes: Any = mnode
    nodes.parse_style = style
    # It looks at no node when the size of the letters is given.
    length = lru_cache(maxsize=1024)(partial(nodes.Mnode.size_px, None))
    nodes.Mnode.size_px = lambda node, size, fontsize=None: length(size, fontsize or node.glyphsize)
    growing = {name for (name, _), words in operators.items() if words.get("stretchy", "false") != "false"}

    def grows(element: ElementTree.Element) -> bool:
        """Whether something in an element is as high as the row that it stands in."""
        return any("stretchy" in item.attrib or (item.text or "").strip() in growing for item in element.iter())

    made: dict[tuple[Any, ...], Any] = {}
    make = nodes.Mnode.fromelement

    @wraps(make)
    def remembered(element: ElementTree.Element, parent: Any, **words: Any) -> Any:
        """A node, or the one that was made of the same before: a node knows where its parts are, not where it is itself."""
        # Fractions look at what stands before them, and signs at both sides unless their form is given.
        apart = element.tag in _APART and (element.tag != "mo" or "form" in element.attrib)
        if not apart or grows(element):
            return make(element, parent, **words)
        given = {word: value for word, value in words.items() if word not in _GIVEN}
        key = _told(element), parent.mtag, parent.size, _style_key(parent.style), *given.items()
        if key not in made:
            if len(made) >= _MOST_MADE:
                made.clear()
            made[key] = make(element, parent, **given)
        return made[key]

    nodes.Mnode.fromelement = staticmethod(remembered)
    extents: dict[tuple[Any, ...], tuple[float, float]] = {}

    # Each measurement sets all rows inside once more: the time doubles with every level, and most formulas have no bracket.
    class Row(Mrow, tag="mrow"):
        def _get_height_nostretch(self, line: list[ElementTree.Element], **words: Any) -> tuple[float, float]:
            # While a row round it is measured, what grows counts for nothing.
            if words.get("nostretch") or not any(map(grows, line)):
                return 0.0, 0.0
            given = (item for item in words.items() if item[0] not in _GIVEN)
            context = self.size, _style_key(self.style), *given
            reached = [self._extent(child, context, words) for child in line]
            return min(low for low, _ in reached), max(high for _, high in reached)

        def _extent(
            self, child: ElementTree.Element, context: tuple[Any, ...], words: dict[str, Any]
        ) -> tuple[float, float]:
            """How far what stands in a row reaches below and above: the same in all rows of a size and style."""
            key = _told(child), *context
            if key not in extents:
                if len(extents) >= _MOST_MADE:
                    extents.clear()
                extents[key] = super()._get_height_nostretch([child], **words)
            return extents[key]

    # The table between two brackets is set to be measured, and once more to be drawn: the second time it is the first one.
    class Table(Mtable, tag="mtable"):
        last: ClassVar[tuple[object, dict[str, Any]]] = (None, {})

        def __init__(self, element: ElementTree.Element, parent: Any, **words: Any) -> None:
            text = None if grows(element) else ElementTree.tostring(element)
            key = text, parent.size, parent.style
            if text is not None and Table.last[0] == key:
                self.__dict__.update(Table.last[1])
                return
            super().__init__(element, parent, **words)
            Table.last = key, dict(self.__dict__)

    return Latex


def _told(element: ElementTree.Element) -> tuple[Any, ...]:
    """All that an element says, as a key."""
    return element.tag, element.text, *element.attrib.items(), *map(_told, element)


def _style_key(style: Any) -> tuple[Any, ...]:
    variant = style.mathvariant
    return (
        *(variant.style, variant.italic, variant.bold, variant.normal),
        *(style.displaystyle, style.mathcolor, style.mathbackground, style.mathsize, style.scriptlevel),
    )


@lru_cache(maxsize=1024)
def set_words(text: str, size: float) -> Typeset:
    """Plain words in a sans serif font."""
    font = _words_font()
    scale = size / font.info.layout.unitsperem
    outlines: list[Outline] = []
    for k, line in enumerate(text.splitlines()):
        x = 0
        for glyph in map(font.glyph, line):
            outlines += _placed(glyph, x * scale, k * size, scale)
            x += glyph.advance()
    return Typeset.of(outlines)


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
    # From ink to ink, as the eye measures a gap.
    shift = one.box.right + gap - two.box.left
    moved = tuple(_shifted(outline, shift) for outline in two.outlines)
    return Typeset((*one.outlines, *moved), union([one.box, two.box.moved(shift, 0.0)]))


def _outlines(item: ElementTree.Element) -> list[Outline]:
    match item.tag.rpartition("}")[2]:
        case "path":
            return [_path(item.attrib["d"])]
        case "rect":
            x, y, width, height = (float(item.attrib[key]) for key in ("x", "y", "width", "height"))
            # Bars of fractions and roots.
            return [box_outline(Box(x, y, x + width, y + height))]
        case _:
            return []


def _path(data: str) -> Outline:
    tokens = iter(_TOKEN.findall(data))
    steps: list[Command] = []
    # Only these commands occur, all of them absolute: ziamath and ziafont write no others.
    for letter in tokens:
        points = tuple((float(next(tokens)), float(next(tokens))) for _ in range(_POINTS[letter]))
        if letter == "L" and steps and steps[-1] == ("M", points):
            continue  # ziamath repeats the first point
        steps.append((letter, points))
    return tuple(steps)
