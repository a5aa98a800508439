"""Animations as files: SVG that plays by itself, an HTML page with a slider, GIF by Pillow and MP4 by ffmpeg."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tellegen.drawing import rules
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Scene, Shape
from tellegen.drawing.strokes import PAPER, THEMES
from tellegen.drawing.writers.raster import to_png
from tellegen.drawing.writers.svg import SvgWriter, number

if TYPE_CHECKING:
    from PIL.Image import Image


Frames = Sequence[tuple[Shape, ...]]


def to_animated_svg(still: Scene, frames: Frames, seconds: float, options: Options) -> str:
    """The animation as an SVG document. A viewer that does not animate shows the first frame."""
    writer = SvgWriter(still, THEMES[options.theme], options.zoom(still.box.width), symbols=True)
    count = len(frames)
    groups = [
        f"<g{'' if k == 0 else VISIBLE_LATER}>{_shown(k, count, seconds)}{writer.bare(shapes)}</g>"
        for k, shapes in enumerate(frames)
    ]
    return writer.document(groups)


VISIBLE_LATER = ' visibility="hidden"'


def _shown(frame: int, count: int, seconds: float) -> str:
    """When a frame is visible."""
    start, end = number(frame / count), number((frame + 1) / count)
    moments = [("0", "hidden"), (start, "visible"), (end, "hidden")]
    if frame == 0:
        moments = moments[1:]
    if frame == count - 1:
        moments = moments[:-1]
    keys, values = (";".join(column) for column in zip(*moments, strict=True))
    return (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{number(seconds)}s" repeatCount="indefinite" '
        f'keyTimes="{keys}" values="{values}"/>'
    )


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
body {{ margin: 1rem; background: {paper}; color: {ink}; font: 15px sans-serif; }}
svg {{ max-width: 100%; height: auto; }}
.frame {{ display: none; }}
.frame.shown {{ display: inline; }}
form {{ display: flex; gap: 0.8rem; align-items: center; max-width: 60rem; }}
input {{ flex: 1; }}
output {{ min-width: 7em; font-variant-numeric: tabular-nums; }}
</style>
</head>
<body>
{drawing}
<form>
<button type="button" aria-label="play or pause">Play</button>
<input type="range" min="0" max="{last}" value="0" step="1" aria-label="time">
<output>{first}</output>
</form>
<script>
{script}
</script>
</body>
</html>
"""

SCRIPT = """const times = %(times)s, pause = %(pause)s;
const frames = document.querySelectorAll(".frame");
const button = document.querySelector("button"), slider = document.querySelector("input");
const output = document.querySelector("output");
let timer = 0;
function show(number) {
  frames.forEach((frame, k) => frame.classList.toggle("shown", k === number));
  slider.value = number;
  output.textContent = "t = " + times[number] + " s";
}
function stop() { clearInterval(timer); timer = 0; button.textContent = "Play"; }
function play() {
  timer = setInterval(() => show((Number(slider.value) + 1) %% frames.length), pause);
  button.textContent = "Pause";
}
button.addEventListener("click", () => timer ? stop() : play());
slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
document.querySelector("form").addEventListener("submit", event => event.preventDefault());
show(0);
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
"""


def to_animated_html(still: Scene, frames: Frames, times: Sequence[float], seconds: float, options: Options) -> str:
    """The animation as a page. It plays at once, unless the reader asked the system for less motion."""
    theme = THEMES[options.theme]
    writer = SvgWriter(still, theme, options.zoom(still.box.width), symbols=True)
    groups = [f'<g class="frame{" shown" * (k == 0)}">{writer.bare(shapes)}</g>' for k, shapes in enumerate(frames)]
    told = [f"{time:.4g}" for time in times]
    script = SCRIPT % {"times": json.dumps(told), "pause": round(1000 * seconds / len(frames))}
    return PAGE.format(
        title=escape(still.title),
        paper=theme.colour(PAPER),
        ink=theme.colour("ink"),
        drawing=writer.document(groups),
        last=len(frames) - 1,
        first=f"t = {told[0]} s",
        script=script,
    )


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
