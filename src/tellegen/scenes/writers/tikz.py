"""Scenes as TikZ with the LaTeX of their labels, in own styles or, for bond graphs, in those of the package bondgraphs.

Scene coordinates are used unchanged: x=0.75pt, y=-0.75pt. Needs the packages tikz and amsmath and the library arrows.meta.

The package draws the half arrows, the strokes and the labels of bonds; texts and places are those of the scene.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import assert_never

from tellegen.scenes import rules, strokes
from tellegen.scenes.geometry import Box, Outline, Point, along, cubic_controls, direction
from tellegen.scenes.scene import (
    Band,
    Block,
    Bond,
    Curve,
    Dot,
    Label,
    Ring,
    Scene,
    Section,
    Shape,
    Sum,
    Trace,
    Wire,
    label_box,
)
from tellegen.scenes.writers.svg import number

TIKZ_PACKAGES = r"""\usepackage{tikz,amsmath}
\usetikzlibrary{arrows.meta}"""

MATRIX_COLUMNS = 10
"""The columns that a matrix of amsmath may have unless it is told otherwise."""

BESIDE_INK = 3.0
"""What the advance of letters takes beside their ink, for which the scene has room."""

_WEIGHTS = {"thin": "pog wire", "bold": "pog vector", "double": "pog double", "signal": "signal", "hair": "hair"}
_HEADS = {"thin": "pog", "bold": "pog vector", "double": "pog vector", "signal": "signal", "hair": "signal"}


def to_tikz(scene: Scene, *, theme: strokes.ThemeName = "colour", scale: float = 1, standalone: bool = False) -> str:
    """The scene as a tikzpicture with the styles that it uses, or as a whole document that pdflatex reads."""
    colours = strokes.THEMES[theme]
    picture = "\n".join([*_definitions(colours), *_picture(scene, colours, scale)])
    if not standalone:
        packages = TIKZ_PACKAGES.replace("\n", " ")
        return f"% {' '.join(scene.title.split())}\n% The preamble of the document needs {packages}\n{picture}\n"
    head = [r"\documentclass[border=0pt]{standalone}", r"\usepackage{lmodern}", TIKZ_PACKAGES]
    return "\n".join([*head, r"\begin{document}", picture + "%", r"\end{document}", ""])


BEAMER = r"""\documentclass[11pt]{beamer}
\usepackage[T1]{fontenc}
\usepackage{lmodern}
\setbeamertemplate{navigation symbols}{}"""


def to_beamer(
    still: Scene,
    frames: Sequence[Sequence[Shape]],
    told: Sequence[str],
    *,
    theme: strokes.ThemeName = "colour",
    standalone: bool = False,
) -> str:
    r"""A scene that stays, with the shapes of each overlay of a beamer frame over it and what is told under it: `\only<1>{...}`."""
    colours = strokes.THEMES[theme]
    # A slide is 128 mm by 96 mm: what is flat is as wide as the text, what is high as high as there is room under a title.
    size = r"{!}{0.68\textheight}" if still.box.height / still.box.width > SLIDE else r"{\textwidth}{!}"
    title = latex_words(" ".join(still.title.split()))
    lines = [
        *_definitions(colours),  # before the frame: it is read as one argument, in which no macro can be defined
        rf"\begin{{frame}}{{{title}}}",
        rf"\centering\resizebox{size}{{%",
        *_picture(still, colours, 1, frames),
        r"}\par\medskip\small",
        *(rf"\only<{overlay}>{{{text}}}%" for overlay, text in enumerate(told, 1)),
        r"\end{frame}",
    ]
    if not standalone:
        packages = TIKZ_PACKAGES.replace("\n", " ")
        return "\n".join([f"% A frame of the class beamer, whose preamble needs {packages}", *lines, ""])
    return "\n".join([BEAMER, TIKZ_PACKAGES, r"\begin{document}", *lines, r"\end{document}", ""])


def _definitions(theme: strokes.Theme) -> Iterator[str]:
    """The styles and colours that pictures use."""
    # A percent sign at the end of each line of definitions: TeX would see a space, and move the picture by it.
    for line in Path(__file__).with_name("styles.tex").read_text(encoding="ascii").splitlines():
        yield f"{line}%"
    for paint, colour in theme.paints.items():
        yield rf"\definecolor{{tellegen {paint}}}{{HTML}}{{{colour[1:]}}}%"


SLIDE = 0.55
"""The height of the room under the title of a slide over its width."""


def _picture(scene: Scene, theme: strokes.Theme, scale: float, frames: Sequence[Sequence[Shape]] = ()) -> Iterator[str]:
    if scale != 1:
        # Lines, heads and texts alike, which no option of a picture scales.
        yield rf"\scalebox{{{scale:.6f}}}{{%"
    yield r"\begin{tikzpicture}[tellegen,color=tellegen ink]"
    yield rf" \path[use as bounding box] {_corners(scene.box)};"
    shapes = [*scene.shapes, *(shape for frame in frames for shape in frame)]
    labels = (shape.text for shape in shapes if isinstance(shape, Label) and shape.math)
    rows = (row for text in labels for row in text.split(r"\\"))
    # amsmath stops at a matrix that is wider than it was told.
    if (columns := max((row.count("&") + 1 for row in rows), default=0)) > MATRIX_COLUMNS:
        yield rf" \csname c@MaxMatrixCols\endcsname={columns}\relax"
    # White paper is left out: on a page of another colour it would be a patch.
    if theme.colour("paper") != "#FFFFFF":
        yield rf" \fill[tellegen paper] {_corners(scene.box)};"
    for shape in strokes.layered(scene.shapes):
        yield from (f" {line}" for line in _shape(shape, theme))
    for overlay, frame in enumerate(frames, 1):
        yield rf" \only<{overlay}>{{%"
        for shape in strokes.layered(frame):
            yield from (f"  {line}" for line in _shape(shape, theme))
        yield " }"
    yield r"\end{tikzpicture}" + ("}" if scale != 1 else "")


def _shape(shape: Shape, theme: strokes.Theme) -> Iterator[str]:
    match shape:
        case Band():
            # Areas are many and their colours few, but a colour is redefined before each use: nothing then depends on the order.
            yield _band_colour(theme, shape.domain)
            yield rf"\fill[tellegen band] {_corners(shape.box)};"
        case Section():
            yield rf"\draw[pog section,tellegen quiet] {_at(shape.start)} -- {_at(shape.end)};"
        case Wire():
            head = f",{_HEADS[shape.weight]} head" if shape.head else ""
            yield rf"\draw[{_WEIGHTS[shape.weight]}{head}{_tone(shape.tone)}] {_line(shape.points)};"
        case Dot():
            yield rf"\fill[{_paint(shape.tone)}] {_circle(shape.centre, strokes.DOT_RADIUS[shape.weight])};"
        case Block():
            yield rf"\path[pog block{_outlined(shape.tone)}] {_corners(shape.box)};"
        case Sum():
            yield rf"\path[pog sum{_outlined(shape.tone)}] {_circle(shape.centre, strokes.SUM_RADIUS)};"
            for spot in shape.spots:
                yield rf"\fill[{_paint(shape.tone)}] {_circle(strokes.spot_centre(shape, spot), strokes.SPOT_RADIUS)};"
        case Bond():
            yield from _bond(shape)
        case Ring():
            style = "warning ring" if shape.dashed else "ring"
            yield rf"\draw[{style}{_tone(shape.tone)}] {_circle(shape.centre, shape.radius)};"
        case Curve():
            if shape.shade or shape.pale:
                yield _band_colour(theme, shape.tone, shape.shade)
            yield _curve(shape)
        case Trace():
            if shape.shade != strokes.SOLID:
                yield _band_colour(theme, shape.tone, shape.shade)
            yield _trace(shape)
        case Label():
            yield _label(shape)
        case _:
            assert_never(shape)


def _bond(bond: Bond) -> Iterator[str]:
    tone = _tone("warning" if bond.warned else bond.tone)
    half = "bond" if bond.flow_side == 1 else "bond flip"
    if bond.size > 1:
        # The two lines first, then the half arrow on the last few units of the middle line.
        yield rf"\draw[vector bond{tone}] {_line(bond.points)};"
        last = direction(*bond.points[-2:])
        yield rf"\draw[{half}{tone}] {_line((along(bond.points[-1], last, -3), bond.points[-1]))};"
    else:
        yield rf"\draw[{half}{tone}] {_line(bond.points)};"
    if bond.stroke:
        yield rf"\draw[causal stroke{tone}] {_line(strokes.stroke_line(bond))};"


def _band_colour(theme: strokes.Theme, domain: str, shade: int = 0) -> str:
    paint = f"shade:{domain}:{shade}" if shade else f"band:{domain}"
    return rf"\definecolor{{tellegen band}}{{HTML}}{{{theme.colour(paint)[1:]}}}"


def _curve(curve: Curve) -> str:
    closed = " -- cycle" if curve.closed and curve.outline[-1][0] != "Z" else ""
    if curve.shade:
        seam = rf"draw=tellegen band,line width={strokes.SEAM * strokes.POINT:g}pt"
        return rf"\filldraw[{seam},fill=tellegen band] {_outline(curve.outline)}{closed};"
    if curve.pale:
        line = _WEIGHTS["hair"] + _tone(curve.tone)
        return rf"\filldraw[{line},fill=tellegen band] {_outline(curve.outline)}{closed};"
    style = _paint(curve.tone) if curve.filled else _WEIGHTS[curve.weight] + _tone(curve.tone)
    dash = ",dashed curve" if curve.dashed and not curve.filled else ""
    return rf"\{'fill' if curve.filled else 'draw'}[{style}{dash}] {_outline(curve.outline)}{closed};"


def _trace(trace: Trace) -> str:
    style = [f"line width={number(trace.width * strokes.POINT)}pt", "line join=round"]
    if trace.dash:
        lengths = [number(length * strokes.POINT) for length in trace.dash]
        steps = " ".join(f"{word} {length}pt" for word, length in zip(cycle(("on", "off")), lengths, strict=False))
        style.append(f"dash pattern={steps}")
    colour = _paint(trace.tone) if trace.shade == strokes.SOLID else "tellegen band"
    return rf"\draw[{','.join([*style, colour])}] {_line(trace.points)};"


def _outline(outline: Outline) -> str:
    parts: list[str] = []
    here: Point = (0, 0)
    for letter, points in outline:
        match letter:
            case "M":
                parts.append(_at(points[0]))
            case "L":
                parts.append(f"-- {_at(points[0])}")
            case "Q":
                # TikZ has cubic curves only: each control point lies two thirds of the way to that of the quadratic one.
                one, two = cubic_controls(here, *points)
                parts.append(f".. controls {_at(one)} and {_at(two)} .. {_at(points[1])}")
            case "C":
                parts.append(f".. controls {_at(points[0])} and {_at(points[1])} .. {_at(points[2])}")
            case _:
                parts.append("-- cycle")
        here = points[-1] if points else here
    return " ".join(parts)


def _anchor(label: Label) -> str:
    """The place of a node that stands at the point of a label."""
    level = "base" if label.level == "baseline" else ""
    return f"{level} {_SIDES[label.align]}".strip() or "center"


_SIDES = {"left": "west", "right": "east", "centre": ""}


def _label(label: Label) -> str:
    # The skip is that of LaTeX, 1.2 times the size, and the size comes in units of 0.75 points.
    size, skip = number(label.size * strokes.POINT), number(label.size * 0.9)
    font = rf"\fontsize{{{size}}}{{{skip}}}\selectfont"
    if label.math:
        text = f"${_displayed(label.text)}$"
    else:
        font += r"\sffamily" + (r"\slshape" if label.slanted else "")
        text = latex_words(label.text)
    style = f"tellegen label,anchor={_anchor(label)}{_tone(label.tone)},font={{{font}}}"
    # TeX sets formulas in its own letters. Where they come out wider than the place that the scene has for them, they are fitted.
    place = number((label_box(label).width + BESIDE_INK) * strokes.POINT)
    return rf"\node[{style}] at {_at(label.at)} {{\tellegenfit{{{place}pt}}{{{text}}}}};"


def _displayed(text: str) -> str:
    """A formula in the style of figures: fractions as large as on a line of their own, rows of a matrix apart for them."""
    if r"\frac" not in text:
        return text
    # Rows of a matrix touch where they are higher than a line.
    return text.replace(r"\\", r"\\\noalign{\vskip 3pt}").replace(r"\frac", r"\dfrac")


_SPECIAL = {character: "\\" + character for character in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}


def latex_words(text: str) -> str:
    """Words as LaTeX sets them."""
    return "".join(_SPECIAL.get(character, character) for character in text)


def _at(point: Point) -> str:
    return f"({number(point[0])},{number(point[1])})"


def _line(points: tuple[Point, ...]) -> str:
    return " -- ".join(map(_at, points))


def _corners(box: Box) -> str:
    return f"{_at((box.left, box.top))} rectangle {_at((box.right, box.bottom))}"


def _circle(centre: Point, radius: float) -> str:
    return f"{_at(centre)} circle[radius={number(radius * strokes.POINT)}pt]"


def _paint(tone: str) -> str:
    return f"tellegen {tone}"


def _tone(tone: str) -> str:
    return "" if tone == "ink" else f",{_paint(tone)}"


def _outlined(tone: str) -> str:
    """The tone of an outline whose inside stays white: a colour alone would fill it too."""
    return "" if tone == "ink" else f",draw={_paint(tone)}"


BONDGRAPHS_PACKAGES = r"""\usepackage{amsmath}
\usepackage{bondgraphs}"""
EDGE = 20.0
"""Round the picture on a page of its own, in points: the package puts labels where it likes."""
_AT_BONDS = ("effort", "flow")
"""Labels that the package itself puts beside bonds."""


def to_bondgraphs(scene: Scene, *, scale: float = 1, standalone: bool = False) -> str:
    """The scene as an environment `bondgraph`, or as a whole document that pdflatex reads.

    Raises: FigureError (F102) for a scene without bonds.
    """
    if not any(isinstance(shape, Bond) for shape in scene.shapes):
        what = "the styles of 'bondgraphs' draw bonds, and this figure has none"
        fix = "draw the model as a bond graph: draw(model, 'bond', macros='bondgraphs')"
        raise rules.BAD_OPTION.error(what, fix=fix)
    if not standalone:
        picture = "\n".join(_bondgraphs_picture(scene, scale))
        packages = BONDGRAPHS_PACKAGES.replace("\n", " ")
        return f"% {' '.join(scene.title.split())}\n% The preamble of the document needs {packages}\n{picture}\n"
    # The page is as wide as the scene, so that its edge makes the picture smaller.
    fitting = scale * scene.box.width / (scene.box.width + 2 * EDGE / strokes.POINT)
    picture = "\n".join(_bondgraphs_picture(scene, fitting))
    width, height = ((side * strokes.POINT + 2 * EDGE) * fitting for side in (scene.box.width, scene.box.height))
    paper = f"paperwidth={number(width)}pt,paperheight={number(height)}pt,margin={number(EDGE / 2 * fitting)}pt"
    page = rf"\usepackage[{paper}]{{geometry}}"
    head = [r"\documentclass{article}", page, BONDGRAPHS_PACKAGES, r"\pagestyle{empty}\setlength{\parindent}{0pt}"]
    return "\n".join([*head, r"\begin{document}", picture, r"\end{document}", ""])


def _bondgraphs_picture(scene: Scene, scale: float) -> Iterator[str]:
    if scale != 1:
        yield rf"\scalebox{{{scale:.6f}}}{{%"
    yield r"\begin{bondgraph}[x=0.75pt,y=-0.75pt]"
    # The package puts variables at its bonds itself, so they go with the bonds and not with the other texts.
    beside = {
        (shape.origin.port, shape.origin.part): shape.text
        for shape in scene.shapes
        if isinstance(shape, Label) and shape.origin.part in _AT_BONDS
    }
    for shape in scene.shapes:
        for line in _bondgraphs_shape(shape, beside):
            yield f"  {line}"
    yield r"\end{bondgraph}" + ("}" if scale != 1 else "")


def _bondgraphs_shape(shape: Shape, beside: Mapping[tuple[str, str], str]) -> Iterator[str]:
    match shape:
        case Bond():
            yield from _bondgraphs_bond(shape, beside)
        case Label() if shape.math and shape.origin.part not in _AT_BONDS:
            size = "" if shape.origin.part == "name" else r"\small"
            style = f"inner sep=0pt,anchor={_anchor(shape)},font={{{size}}}"
            yield rf"\node[{style}] at {_at(shape.at)} {{${shape.text}$}};"
        case Wire():
            yield rf"\draw[->,gray] {_line(shape.points)};"
        case Ring():
            style = "densely dashed,diff" if shape.dashed else "gray"
            yield rf"\draw[{style}] {_circle(shape.centre, shape.radius)};"
        case Block():
            yield rf"\draw[thick] {_corners(shape.box)};"
        case _:
            return  # bands and their captions are not of the package


def _bondgraphs_bond(bond: Bond, beside: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The last piece of a bond is an edge with the half arrow; those before it are plain lines."""
    colour = "={diff}" if bond.warned else ""
    ends = {"end": f"e_out{colour}", "start": f"e_in{colour}", "": ""}
    first, last = bond.points[:-1], bond.points[-2:]
    style = ["mbond"] if bond.size > 1 else []
    if len(first) > 1:
        # A stroke at the start belongs to the first piece, which then is no edge of the package.
        plain = ["thick", *(["double"] if bond.size > 1 else []), *([ends["start"]] if bond.stroke == "start" else [])]
        yield rf"\draw[{','.join(plain)}] {_line(first)};"
    if ends[bond.stroke] and (bond.stroke == "end" or len(first) == 1):
        style.append(ends[bond.stroke])
    for part in _AT_BONDS:
        if text := beside.get((bond.origin.port, part)):
            style.append(f"{part}={{${text}$}}")
    yield rf"\draw {_at(last[0])} edge[{','.join(style)}] {_at(last[1])};"
