"""A figure: a scene with the options it is drawn with. Notebooks show it, and `save` writes any format."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.drawing import rules
from tellegen.drawing.formats import write_drawing, writer_for
from tellegen.drawing.memories import as_comment
from tellegen.drawing.options import DEFAULTS, POINT, READABLE, Options
from tellegen.drawing.raster import to_pdf, to_png
from tellegen.drawing.remembered import remembered
from tellegen.drawing.scene import Label, Scene
from tellegen.drawing.scene_json import to_json
from tellegen.drawing.svg import to_svg
from tellegen.drawing.tikz import to_tikz
from tellegen.drawing.tikz_bondgraphs import to_bondgraphs


@final
@dataclass(frozen=True, slots=True)
class Figure:
    """A scene, and how it is drawn. All formats show the same picture. `notes` say what was kept of an earlier figure.

    >>> from tellegen.drawing import draw
    >>> draw("rlc", "bond").svg().startswith("<svg")
    True
    """

    scene: Scene
    options: Options = DEFAULTS
    notes: tuple[str, ...] = ()

    @property
    def zoom(self) -> float:
        """The size at which it is drawn: the scale asked for, and less where its rows are wider than it may be."""
        return self.options.zoom(self.scene.box.width)

    @property
    def text_points(self) -> float:
        """The size of its smallest text in points, as drawn; 0 without texts."""
        return (
            POINT * self.zoom * min((shape.size for shape in self.scene.shapes if isinstance(shape, Label)), default=0)
        )

    def svg(self, *, symbols: bool = False) -> str:
        """The figure as SVG. With `symbols`, equal texts are stored once: smaller, for screens."""
        return to_svg(self.scene, theme=self.options.theme, scale=self.zoom, symbols=symbols, memory=self._memory())

    def pdf(self) -> bytes:
        """The figure as a PDF page of its own size."""
        return to_pdf(self.scene, theme=self.options.theme, scale=self.zoom, memory=self._memory())

    def png(self, *, dpi: float = 192) -> bytes:
        """The figure as a PNG; 96 dots an inch make a unit a pixel.

        Raises: FigureError (F107) for more pixels than fit into memory.
        """
        return to_png(self.scene, theme=self.options.theme, scale=self.zoom, dpi=dpi, memory=self._memory())

    def tikz(self, *, standalone: bool = False) -> str:
        r"""The figure as a tikzpicture to \input, or as a whole document; with the option `macros` in styles of another package.

        Raises: FigureError (F102) where that package draws no such figures.
        """
        if self.options.macros == "bondgraphs":
            picture = to_bondgraphs(self.scene, scale=self.zoom, standalone=standalone)
        else:
            picture = to_tikz(self.scene, theme=self.options.theme, scale=self.zoom, standalone=standalone)
        return picture + as_comment(self._memory())

    def json(self, *, outlines: bool = False) -> str:
        """The scene as JSON; with `outlines`, the paths of its texts too."""
        return to_json(self.scene, outlines=outlines)

    def save(self, path: str | Path) -> Path:
        """Write the figure in the format of its suffix: .svg, .pdf, .png, .tex (a document in TikZ) or .json (the scene).

        The file is written under a temporary name and then renamed. An SVG with many labels stores equal letters once.

        Raises: FigureError for an unknown suffix (F104), or when the system refuses (F105).
        """
        target = Path(path)
        return write_drawing(target, writer_for(target, FORMATS, "figures", rules.BAD_SUFFIX)(self))

    def _memory(self) -> str:
        """What its files remember: where everything stands."""
        found = remembered(self.scene)
        return "" if found is None else found.text()

    def _repr_svg_(self) -> str:
        return self.svg(symbols=True)

    def __str__(self) -> str:
        box = self.scene.box
        told = f"{self.scene.title} ({box.width:g} x {box.height:g}, {len(self.scene.shapes)} shapes)"
        smaller = self.zoom / self.options.scale
        if smaller == 1:
            return told
        points = self.text_points
        least = f"{READABLE:g} at {READABLE / points * smaller * box.width:.0f} and " if points < READABLE else ""
        return (
            f"{told}, drawn at {100 * smaller:.0f} % to be {smaller * box.width:.0f} wide: its smallest text has "
            f"{points:.1f} points, and would have {least}{points / smaller:.1f} at {box.width:.0f}"
        )


MANY_LABELS = 500
"""Files of figures with more of them store equal letters once: a tenth of the size. Others have plain paths, for old programs."""


def _svg_file(figure: Figure) -> bytes:
    labels = sum(isinstance(shape, Label) for shape in figure.scene.shapes)
    return figure.svg(symbols=labels > MANY_LABELS).encode()


FORMATS: dict[str, Callable[[Figure], bytes]] = {
    ".svg": _svg_file,
    ".pdf": lambda figure: figure.pdf(),
    ".png": lambda figure: figure.png(),
    ".tex": lambda figure: figure.tikz(standalone=True).encode(),
    ".json": lambda figure: figure.json().encode(),
}


def check_suffix(path: Path) -> None:
    """Refuse a file name that says no format, before work is done for it.

    Raises: FigureError (F104).
    """
    writer_for(path, FORMATS, "figures", rules.BAD_SUFFIX)
