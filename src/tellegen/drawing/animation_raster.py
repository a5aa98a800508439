"""Animations as GIF by Pillow, and as MP4 by matplotlib where the program ffmpeg is there."""

import shutil
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from tellegen.drawing import rules
from tellegen.drawing.animation_svg import Frames
from tellegen.drawing.options import Options
from tellegen.drawing.raster import to_png
from tellegen.drawing.scene import Scene

if TYPE_CHECKING:
    from PIL.Image import Image

COLOURS = 128
"""Of a GIF: enough for lines with soft edges in a few colours."""


def to_gif(still: Scene, frames: Frames, seconds: float, options: Options, *, dpi: float) -> bytes:
    """The animation as a GIF that plays over and over. All frames have the colours of the busiest one."""
    from PIL.Image import Dither, Quantize  # noqa: PLC0415  loaded when something is drawn

    images = _images(still, frames, options, dpi)
    busiest = images[max(range(len(frames)), key=lambda k: len(frames[k]))]
    palette = busiest.quantize(COLOURS, method=Quantize.MAXCOVERAGE)
    drawn = [image.quantize(palette=palette, dither=Dither.NONE) for image in images]
    file = BytesIO()
    pause = max(20, round(1000 * seconds / len(frames)))  # shorter ones are slowed down by viewers
    drawn[0].save(file, format="GIF", save_all=True, append_images=drawn[1:], duration=pause, loop=0, optimize=False)
    return file.getvalue()


def to_mp4(still: Scene, frames: Frames, seconds: float, options: Options, *, dpi: float) -> bytes:
    """The animation as a video (H.264).

    Raises: FigureError (F203) without ffmpeg.
    """
    if shutil.which("ffmpeg") is None:
        what = "MP4 needs the program ffmpeg, which is not on this machine"
        raise rules.NO_VIDEO.error(what, fix="write a .gif, an .svg or an .html file, or install ffmpeg")
    from matplotlib.animation import FFMpegWriter  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    images = _images(still, frames, options, dpi)
    width, height = images[0].size
    figure = Figure(figsize=(width / dpi, height / dpi), dpi=dpi)
    writer = FFMpegWriter(fps=max(1, round(len(frames) / seconds)), metadata={"title": still.title})
    with TemporaryDirectory() as folder:
        target = Path(folder) / "film.mp4"
        with writer.saving(figure, str(target), dpi):
            for image in images:
                figure.clear()
                figure.figimage(np.asarray(image))
                writer.grab_frame()
        return target.read_bytes()


def _images(still: Scene, frames: Frames, options: Options, dpi: float) -> "list[Image]":
    """The frames as pictures. What stays is drawn once, since drawing takes longer than laying pictures on each other."""
    from PIL.Image import alpha_composite  # noqa: PLC0415

    ground = _picture(still, options, dpi, ground=True)
    moving = (_picture(replace(still, shapes=shapes), options, dpi, ground=False) for shapes in frames)
    return [alpha_composite(ground, picture).convert("RGB") for picture in moving]


def _picture(scene: Scene, options: Options, dpi: float, *, ground: bool) -> "Image":
    from PIL import Image  # noqa: PLC0415

    data = to_png(scene, theme=options.theme, scale=options.scale, dpi=dpi, ground=ground)
    return Image.open(BytesIO(data)).convert("RGBA")
