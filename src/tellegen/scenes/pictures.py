"""A scene as a picture that shows itself in a notebook and writes itself in every format."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from tellegen.core.errors import Rule
from tellegen.core.files import failure_reason, write_bytes
from tellegen.core.names import did_you_mean
from tellegen.core.units import convert, dimension_of, is_unit
from tellegen.scenes import rules
from tellegen.scenes.scene import Label, Scene
from tellegen.scenes.strokes import POINT, ThemeName
from tellegen.scenes.writers.raster import to_pdf, to_png
from tellegen.scenes.writers.scene_json import to_json
from tellegen.scenes.writers.svg import to_svg
from tellegen.scenes.writers.tikz import to_tikz

PIXELS = 96.0
"""Of CSS, in an inch."""
WIDTH = re.compile(r"(\d+\.?\d*|\.\d+)\s*([A-Za-z]*)")


def width_in_pixels(text: str, option: str = "max_width") -> float | None:
    """A length in words as CSS pixels: `85 mm`, `3.4 in`, or a bare number; None for what is none.

    Raises: FigureError (F102) for a unit that is no length.
    """
    found = WIDTH.fullmatch(text.strip())
    if found is None:
        return None
    number, unit = found.groups()
    if not unit:
        return float(number)
    # Any unit of length will do, so that a column of a journal can be copied as it is told.
    if not is_unit(unit) or dimension_of(unit) != dimension_of("m"):
        raise rules.BAD_OPTION.error(f"'{text}' is no value of the option '{option}'", fix="give a length: '85 mm'")
    return convert(float(number), unit, "in") * PIXELS


Drawn = TypeVar("Drawn")


def writer_for(
    path: Path, writers: Mapping[str, Callable[[Drawn], bytes]], what: str, rule: Rule
) -> Callable[[Drawn], bytes]:
    """The writer of the suffix of a file.

    Raises: FigureError under `rule` for a suffix that has none.
    """
    suffix = path.suffix.lower()
    if suffix in writers:
        return writers[suffix]
    fix = did_you_mean(suffix, writers) or f"end the name in {', '.join(writers)}"
    message = f"{what} are not written as '{suffix}'" if suffix else f"'{path.name}' has no suffix"
    raise rule.error(message, fix=fix)


def write_drawing(target: Path, data: bytes) -> Path:
    """Write a file under a temporary name and rename it.

    Raises: FigureError (F105) when the system refuses.
    """
    try:
        # A link is followed, so that the file behind it is replaced and not the link.
        write_bytes(Path(os.path.realpath(target)), data)
    except (OSError, ValueError) as error:
        what = f"'{target}' cannot be written: {failure_reason(error)}"
        raise rules.NOT_WRITTEN.error(what, fix="choose another folder or name") from error
    return target


class Picture:
    """What figures of models and plots have in common: a scene, its colours and its size. All formats show the same."""

    __slots__ = ()

    scene: Scene

    @property
    def theme(self) -> ThemeName:
        """Its colours."""
        return "colour"

    @property
    def zoom(self) -> float:
        """The size at which it is drawn."""
        return 1.0

    @property
    def memory(self) -> str:
        """What its files remember beside what can be seen."""
        return ""

    @property
    def text_points(self) -> float:
        """The size of its smallest text in points, as drawn; 0 without texts."""
        sizes = (shape.size for shape in self.scene.shapes if isinstance(shape, Label))
        return POINT * self.zoom * min(sizes, default=0)

    def svg(self, *, symbols: bool = False) -> str:
        """The picture as SVG. With `symbols`, equal texts are stored once: smaller, for screens."""
        return to_svg(self.scene, theme=self.theme, scale=self.zoom, symbols=symbols, memory=self.memory)

    def pdf(self) -> bytes:
        """The picture as a PDF page of its own size."""
        return to_pdf(self.scene, theme=self.theme, scale=self.zoom, memory=self.memory)

    def png(self, *, dpi: float = 192) -> bytes:
        """The picture as a PNG; 96 dots an inch make a unit a pixel.

        Raises: FigureError (F107) for more pixels than fit into memory.
        """
        return to_png(self.scene, theme=self.theme, scale=self.zoom, dpi=dpi, memory=self.memory)

    def tikz(self, *, standalone: bool = False) -> str:
        r"""The picture as a tikzpicture to \input, or as a whole document."""
        return to_tikz(self.scene, theme=self.theme, scale=self.zoom, standalone=standalone)

    def json(self, *, outlines: bool = False) -> str:
        """The scene as JSON; with `outlines`, the paths of its texts too."""
        return to_json(self.scene, outlines=outlines)

    def save(self, path: str | Path) -> Path:
        """Write the picture in the format of its suffix: .svg, .pdf, .png, .tex (a document in TikZ) or .json (the scene).

        The file is written under a temporary name and then renamed. An SVG with many labels stores equal letters once.

        Raises: FigureError for an unknown suffix (F104), or when the system refuses (F105).
        """
        target = Path(path)
        return write_drawing(target, writer_for(target, FORMATS, "figures", rules.BAD_SUFFIX)(self))

    def _repr_svg_(self) -> str:
        return self.svg(symbols=True)


MANY_LABELS = 500
"""Files of pictures with more of them store equal letters once: a tenth of the size. Others have plain paths, for old programs."""


def _svg_file(picture: Picture) -> bytes:
    labels = sum(isinstance(shape, Label) for shape in picture.scene.shapes)
    return picture.svg(symbols=labels > MANY_LABELS).encode()


FORMATS: dict[str, Callable[[Picture], bytes]] = {
    ".svg": _svg_file,
    ".pdf": lambda picture: picture.pdf(),
    ".png": lambda picture: picture.png(),
    ".tex": lambda picture: picture.tikz(standalone=True).encode(),
    ".json": lambda picture: picture.json().encode(),
}


def check_suffix(path: Path) -> None:
    """Refuse a file name that says no format, before work is done for it.

    Raises: FigureError (F104).
    """
    writer_for(path, FORMATS, "figures", rules.BAD_SUFFIX)
