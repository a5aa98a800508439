"""Scenes as PDF and PNG, by the two canvases of matplotlib: no library of the system is needed.

The same primitives as in the SVG are drawn, at the same places; nothing of matplotlib's own style or fonts takes part.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from tellegen.scenes import rules, strokes
from tellegen.scenes.geometry import Outline, shifted
from tellegen.scenes.scene import Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

# At four bytes a pixel this is 0.8 GB.
MOST_PIXELS = 200_000_000
MEMORY_KEY = "tellegen"
"""Under this word files keep where everything stands."""


def to_pdf(scene: Scene, *, theme: strokes.ThemeName = "colour", scale: float = 1, memory: str = "") -> bytes:
    """The scene as a PDF page of its size, without a date: equal scenes give equal files; `memory` is among its keywords."""
    about = {"Title": scene.title, "Subject": scene.about, "CreationDate": None}
    if memory:
        about["Keywords"] = memory
    return _printed(scene, strokes.THEMES[theme], scale, 72, "pdf", about)


def to_pdf_pages(scenes: Sequence[Scene], *, theme: strokes.ThemeName = "colour", scale: float = 1) -> bytes:
    """The scenes as the pages of one PDF, without a date."""
    import matplotlib as mpl  # noqa: PLC0415  takes a second to load, and SVG does without
    from matplotlib.backends.backend_pdf import PdfPages  # noqa: PLC0415

    file, colours = BytesIO(), strokes.THEMES[theme]
    about = {"Title": scenes[0].title, "CreationDate": None}
    with mpl.rc_context(_RULES), PdfPages(file, metadata=about) as pages:
        for scene in scenes:
            paper = colours.colour(strokes.PAPER)
            pages.savefig(_figure(scene, colours, scale), facecolor=paper, edgecolor="none")
    return file.getvalue()


def to_png(
    scene: Scene,
    *,
    theme: strokes.ThemeName = "colour",
    scale: float = 1,
    dpi: float = 192,
    ground: bool = True,
    memory: str = "",
) -> bytes:
    """The scene as a PNG. At 96 dots an inch a unit is a pixel. Without a ground, what is not drawn is transparent.

    `memory` is a text in the file beside the picture.

    Raises: FigureError (F107) for a picture that would not fit into memory.
    """
    pixels = scene.box.width * scene.box.height * (scale * dpi / 96) ** 2
    if pixels > MOST_PIXELS:
        raise rules.TOO_LARGE.error(
            f"the picture would have {pixels / 1e6:.0f} million pixels, and at most {MOST_PIXELS / 1e6:.0f} are drawn",
            fix="ask for fewer dots an inch, or for a PDF or an SVG",
        )
    about = {"Title": scene.title, "Software": "tellegen"} | ({MEMORY_KEY: memory} if memory else {})
    return _printed(scene, strokes.THEMES[theme], scale, dpi, "png", about, ground=ground)


def _printed(
    scene: Scene,
    theme: strokes.Theme,
    scale: float,
    dpi: float,
    form: str,
    about: dict[str, Any],
    *,
    ground: bool = True,
) -> bytes:
    import matplotlib as mpl  # noqa: PLC0415  takes a second to load, and SVG does without

    # A matplotlibrc of the user would else decide over sizes and compression.
    file = BytesIO()
    with mpl.rc_context(_RULES):
        figure = _figure(scene, theme, scale)
        paper = theme.colour(strokes.PAPER) if ground else "none"
        figure.savefig(file, format=form, dpi=dpi, metadata=about, facecolor=paper, edgecolor="none")
    return file.getvalue()


_RULES: Any = {"path.simplify": False, "lines.scale_dashes": True, "savefig.bbox": None, "pdf.compression": 6}
"""What a user's style must not change."""


def _figure(scene: Scene, theme: strokes.Theme, scale: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.transforms import Affine2D  # noqa: PLC0415

    box = scene.box
    inch = scale / 96
    figure = Figure(figsize=(box.width * inch, box.height * inch))
    # A figure without pyplot: no window, no global state, and no memory that somebody has to free.
    FigureCanvasAgg(figure)
    to_inches = Affine2D().translate(-box.left, -box.bottom).scale(inch, -inch) + figure.dpi_scale_trans
    for shape in strokes.layered(scene.shapes):
        for item in strokes.primitives(shape):
            patch = _patch(item, theme, scale)
            patch.set_transform(to_inches)
            figure.add_artist(patch, clip=False)
    return figure


def _patch(item: strokes.Primitive, theme: strokes.Theme, scale: float) -> "Patch":
    from matplotlib import patches  # noqa: PLC0415

    if isinstance(item, strokes.Glyphs):
        # One path for a whole text: inner outlines cut holes into the letters that they lie in.
        steps = [step for glyph in item.placed.text.outlines for step in glyph]
        outline = tuple((letter, shifted(points, *item.placed.start)) for letter, points in steps)
        fill = theme.colour(item.fill)
        return patches.PathPatch(_path(outline), facecolor=fill, edgecolor="none", linewidth=0, snap=False)
    pen: dict[str, Any] = {
        "facecolor": theme.colour(item.fill) if item.fill else "none",
        "edgecolor": theme.colour(item.stroke) if item.stroke else "none",
        "linewidth": item.width * strokes.POINT * scale,
        "snap": False,
    }
    if item.dash:
        pen["linestyle"] = (0, tuple(length / item.width for length in item.dash))  # counted in widths of the pen
    if isinstance(item, strokes.Circle):
        return patches.Circle(item.centre, item.radius, **pen)
    # What SVG calls square is called projecting there.
    cap = {"square": "projecting"}.get(item.cap, item.cap)
    return patches.PathPatch(_path(item.outline), capstyle=cap, joinstyle=item.join, **pen)


def _path(outline: Outline) -> Any:
    from matplotlib.path import Path as Lines  # noqa: PLC0415

    codes: list[int] = []
    points: list[tuple[float, float]] = []
    for letter, ends in outline:
        codes += [_CODES[letter]] * max(1, len(ends))
        points += ends or ((0.0, 0.0),)  # the point of a closing step is not looked at
    return Lines(points, codes)


_CODES = {"M": 1, "L": 2, "Q": 3, "C": 4, "Z": 79}
"""matplotlib.path.Path.MOVETO and so on; numbers, so that the library is loaded when something is drawn."""
