"""Animations as GIF by Pillow, and as MP4 by the program ffmpeg where it is there."""

import shutil
import subprocess
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

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
    """The animation as a video (H.264), which ffmpeg compresses.

    Raises: FigureError (F203) without ffmpeg, or where it writes no video.
    """
    program = _ffmpeg()
    images = _images(still, frames, options, dpi)
    width, height = images[0].size
    rate = max(1, round(len(frames) / seconds))
    # The colours of the format come in squares of two by two pixels, so both sizes are made even.
    even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"
    with TemporaryDirectory() as folder:
        target = Path(folder) / "film.mp4"
        command = [program, "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
        command += [
            "-r",
            str(rate),
            "-i",
            "-",
            "-vf",
            even,
            "-pix_fmt",
            "yuv420p",
            "-movflags",
            "+faststart",
            str(target),
        ]
        done = subprocess.run(
            command, input=b"".join(image.tobytes() for image in images), capture_output=True, check=False
        )
        if done.returncode != 0:
            told = done.stderr.decode(errors="replace").strip().splitlines()
            what = f"ffmpeg wrote no video: {told[-1] if told else 'it ended without a word'}"
            raise rules.NO_VIDEO.error(what, fix="write a .gif, an .svg or an .html file")
        return target.read_bytes()


def _ffmpeg() -> str:
    """The program ffmpeg: that of the system, or the one that the package imageio-ffmpeg brings.

    Raises: FigureError (F203).
    """
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        what = "MP4 needs the program ffmpeg, which is not on this machine"
        fix = "write a .gif, an .svg or an .html file, or pip install 'tellegen[video]'"
        raise rules.NO_VIDEO.error(what, fix=fix) from None


def _images(still: Scene, frames: Frames, options: Options, dpi: float) -> "list[Image]":
    """The frames as pictures. What stays is drawn once, since drawing takes longer than laying pictures on each other."""
    from PIL.Image import alpha_composite  # noqa: PLC0415

    ground = _picture(still, options, dpi, ground=True)
    moving = (_picture(replace(still, shapes=shapes), options, dpi, ground=False) for shapes in frames)
    return [alpha_composite(ground, picture).convert("RGB") for picture in moving]


def _picture(scene: Scene, options: Options, dpi: float, *, ground: bool) -> "Image":
    from PIL import Image  # noqa: PLC0415

    zoom = options.zoom(scene.box.width)
    data = to_png(scene, theme=options.theme, scale=zoom, dpi=dpi, ground=ground)
    return Image.open(BytesIO(data)).convert("RGBA")
