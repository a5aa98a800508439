r"""Bond graphs in the styles of the LaTeX package bondgraphs, for papers that use it: bonds are edges, strokes are e_in and e_out.

The package draws the half arrows, the strokes and the labels of bonds; texts and places are those of the scene.
"""

from collections.abc import Iterator, Mapping

from tellegen.drawing import rules
from tellegen.drawing.geometry import Point
from tellegen.drawing.scene import Block, Bond, Label, Ring, Scene, Shape, Wire
from tellegen.drawing.svg import number

PACKAGES = r"""\usepackage{amsmath}
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
        raise rules.BAD_OPTION.error(
            what, fix="draw the model as a bond graph: draw(model, 'bond', macros='bondgraphs')"
        )
    if not standalone:
        picture = "\n".join(_picture(scene, scale))
        packages = PACKAGES.replace("\n", " ")
        return f"% {' '.join(scene.title.split())}\n% The preamble of the document needs {packages}\n{picture}\n"
    # The page is as wide as the scene, so that its edge makes the picture smaller.
    fitting = scale * scene.box.width / (scene.box.width + 2 * EDGE / 0.75)
    picture = "\n".join(_picture(scene, fitting))
    width, height = ((side * 0.75 + 2 * EDGE) * fitting for side in (scene.box.width, scene.box.height))
    paper = f"paperwidth={number(width)}pt,paperheight={number(height)}pt,margin={number(EDGE / 2 * fitting)}pt"
    page = rf"\usepackage[{paper}]{{geometry}}"
    head = [r"\documentclass{article}", page, PACKAGES, r"\pagestyle{empty}\setlength{\parindent}{0pt}"]
    return "\n".join([*head, r"\begin{document}", picture, r"\end{document}", ""])


def _picture(scene: Scene, scale: float) -> Iterator[str]:
    if scale != 1:
        yield rf"\scalebox{{{scale:.6f}}}{{%"
    yield r"\begin{bondgraph}[x=0.75pt,y=-0.75pt]"
    beside = {
        (shape.origin.port, shape.origin.part): shape.text
        for shape in scene.shapes
        if isinstance(shape, Label) and shape.origin.part in _AT_BONDS
    }
    for shape in scene.shapes:
        for line in _shape(shape, beside):
            yield f"  {line}"
    yield r"\end{bondgraph}" + ("}" if scale != 1 else "")


def _shape(shape: Shape, beside: Mapping[tuple[str, str], str]) -> Iterator[str]:
    match shape:
        case Bond():
            yield from _bond(shape, beside)
        case Label() if shape.math and shape.origin.part not in _AT_BONDS:
            anchor = "base" if shape.level == "baseline" else "center"
            side = {"left": "west", "right": "east", "centre": ""}[shape.align]
            size = "" if shape.origin.part == "name" else r"\small"
            place = f"{anchor} {side}".strip() if anchor == "base" else side or anchor
            yield rf"\node[inner sep=0pt,anchor={place},font={{{size}}}] at {_at(shape.at)} {{${shape.text}$}};"
        case Wire():
            yield rf"\draw[->,gray] {_line(shape.points)};"
        case Ring():
            style = "densely dashed,diff" if shape.dashed else "gray"
            yield rf"\draw[{style}] {_at(shape.centre)} circle[radius={number(shape.radius * 0.75)}pt];"
        case Block():
            box = shape.box
            yield rf"\draw[thick] {_at((box.left, box.top))} rectangle {_at((box.right, box.bottom))};"
        case _:
            return  # bands and their captions are not of the package


def _bond(bond: Bond, beside: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The last piece of a bond is an edge with the half arrow; those before it are plain lines."""
    colour = "={diff}" if bond.warned else ""
    strokes = {"end": f"e_out{colour}", "start": f"e_in{colour}", "": ""}
    first, last = bond.points[:-1], bond.points[-2:]
    style = ["mbond"] if bond.size > 1 else []
    if len(first) > 1:
        plain = [
            "thick",
            *(["double"] if bond.size > 1 else []),
            *([strokes["start"]] if bond.stroke == "start" else []),
        ]
        yield rf"\draw[{','.join(plain)}] {_line(first)};"
    if strokes[bond.stroke] and (bond.stroke == "end" or len(first) == 1):
        style.append(strokes[bond.stroke])
    for part in _AT_BONDS:
        if text := beside.get((bond.origin.port, part)):
            style.append(f"{part}={{${text}$}}")
    yield rf"\draw {_at(last[0])} edge[{','.join(style)}] {_at(last[1])};"


def _at(point: Point) -> str:
    return f"({number(point[0])},{number(point[1])})"


def _line(points: tuple[Point, ...]) -> str:
    return " -- ".join(map(_at, points))
