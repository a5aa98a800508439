"""An animation: a figure of which some shapes change from frame to frame. Notebooks play it, and `save` writes any format."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from tellegen.drawing import rules
from tellegen.drawing.animation_html import to_html
from tellegen.drawing.animation_raster import to_gif, to_mp4
from tellegen.drawing.animation_svg import to_animated_svg
from tellegen.drawing.figures import Figure
from tellegen.drawing.formats import write_drawing, writer_for
from tellegen.drawing.options import DEFAULTS, Options
from tellegen.drawing.scene import Scene, Shape


@final
@dataclass(frozen=True, slots=True)
class Animation:
    """A scene that stays, and shapes over it for each frame. `times` are those of the run, `seconds` is how long it plays.

    >>> from tellegen.drawing import animate
    >>> len(animate("rlc", "bond", frames=5).times)
    5
    """

    still: Scene
    frames: tuple[tuple[Shape, ...], ...] = field(repr=False)
    times: tuple[float, ...] = field(repr=False)
    seconds: float = 6.0
    options: Options = DEFAULTS

    def figure(self, number: int) -> Figure:
        """One frame as a figure, counted from 0."""
        still = self.still
        shapes = (*still.shapes, *self.frames[number])
        return Figure(Scene(still.title, still.about, still.box, shapes), self.options)

    def svg(self) -> str:
        """The animation as SVG that plays by itself, over and over."""
        return to_animated_svg(self.still, self.frames, self.seconds, self.options)

    def html(self) -> str:
        """The animation as a page with a button and a slider, which loads nothing else."""
        return to_html(self.still, self.frames, self.times, self.seconds, self.options)

    def gif(self, *, dpi: float = 96) -> bytes:
        """The animation as GIF; at 96 dots an inch a unit is a pixel."""
        return to_gif(self.still, self.frames, self.seconds, self.options, dpi=dpi)

    def mp4(self, *, dpi: float = 96) -> bytes:
        """The animation as a video.

        Raises: FigureError (F203) where the program ffmpeg is missing.
        """
        return to_mp4(self.still, self.frames, self.seconds, self.options, dpi=dpi)

    def save(self, path: str | Path) -> Path:
        """Write the animation in the format of its suffix: .gif, .svg, .html or .mp4.

        The file is written under a temporary name and then renamed.

        Raises: FigureError for an unknown suffix (F202), without ffmpeg for .mp4 (F203), or when the system refuses (F105).
        """
        target = Path(path)
        return write_drawing(target, writer_for(target, ANIMATED, "animations", rules.BAD_ANIMATION_FILE)(self))

    def _repr_html_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        box = self.still.box
        frames = len(self.frames)
        return f"{self.still.title} ({box.width:g} x {box.height:g}, {frames} frames in {self.seconds:g} s)"


ANIMATED: dict[str, Callable[[Animation], bytes]] = {
    ".gif": lambda animation: animation.gif(),
    ".svg": lambda animation: animation.svg().encode(),
    ".html": lambda animation: animation.html().encode(),
    ".mp4": lambda animation: animation.mp4(),
}


def check_animation_suffix(path: Path) -> None:
    """Refuse a file name that says no format, before work is done for it.

    Raises: FigureError (F202).
    """
    writer_for(path, ANIMATED, "animations", rules.BAD_ANIMATION_FILE)
