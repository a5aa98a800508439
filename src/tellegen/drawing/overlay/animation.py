"""`animate`: powers and energies of a run moving over a figure, or a mechanism in motion, as SVG, a page, GIF or a video."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape
from importlib import import_module
from io import BytesIO
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, final

import numpy as np

from tellegen.core.language import Language, Phrases
from tellegen.drawing import rules
from tellegen.drawing.figures import Figure
from tellegen.drawing.mechanism.pose import MechanismPose
from tellegen.drawing.mechanism.scene import MechanismMotion, mechanism_motion
from tellegen.drawing.options import DEFAULTS, Options, read_options, with_layout
from tellegen.drawing.overlay import results
from tellegen.drawing.overlay.marks import Array
from tellegen.drawing.schematic.motion import ROTATIONAL, TRANSLATIONAL, SchematicMotion, ShaftMarks, node_motions
from tellegen.drawing.schematic.plan import schematic_elements
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results import Run
from tellegen.scenes.geometry import Box
from tellegen.scenes.pictures import write_drawing, writer_for
from tellegen.scenes.scene import Scene, Shape, moved
from tellegen.scenes.strokes import PAPER, THEMES
from tellegen.scenes.writers.raster import to_png
from tellegen.scenes.writers.svg import SvgWriter, number

if TYPE_CHECKING:
    from PIL.Image import Image


VISIBLE_LATER = ' visibility="hidden"'
"""A viewer that does not animate shows the first frame only."""


def _shown(frame: int, count: int, seconds: float) -> str:
    """When a frame is visible."""
    start, end = number(frame / count), number((frame + 1) / count)
    moments = [("0", "hidden"), (start, "visible"), (end, "hidden")]
    # The first frame is visible from the start, the last one until the end: neither needs a moment to be hidden before or after.
    if frame == 0:
        moments = moments[1:]
    if frame == count - 1:
        moments = moments[:-1]
    keys, values = (";".join(column) for column in zip(*moments, strict=True))
    return (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{number(seconds)}s" repeatCount="indefinite" '
        f'keyTimes="{keys}" values="{values}"/>'
    )


PLAYER = "player.html"
"""A page with the frames of an animation, a button and a slider."""
COLOURS = 128
"""Of a GIF: enough for lines with soft edges in a few colours."""


def _ffmpeg() -> str:
    """The program ffmpeg: that of the system, or the one that the package imageio-ffmpeg brings.

    Raises: FigureError (F203).
    """
    # That of the system first: who installed it wants it to be used.
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    try:
        return str(import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        what = "MP4 needs the program ffmpeg, which is not on this machine"
        fix = "write a .gif, an .svg or an .html file, or pip install 'tellegen[video]'"
        raise rules.NO_VIDEO.error(what, fix=fix) from None


@final
@dataclass(frozen=True, slots=True)
class Animation:
    """A scene that stays, and shapes over it for each frame. `times` are those of the run, `seconds` is how long it plays.

    The page of frames that are no times of a run says `captions` in their place.

    >>> from tellegen.drawing import animate
    >>> len(animate("rlc", "bond", frames=5).times)
    5
    """

    still: Scene
    frames: tuple[tuple[Shape, ...], ...] = field(repr=False)
    times: tuple[float, ...] = field(repr=False)
    seconds: float = 6.0
    options: Options = DEFAULTS
    captions: tuple[str, ...] = field(default=(), repr=False)
    language: Language = "en"

    def figure(self, number: int) -> Figure:
        """One frame as a figure, counted from 0."""
        still = self.still
        shapes = (*still.shapes, *self.frames[number])
        return Figure(Scene(still.title, still.about, still.box, shapes), self.options)

    def svg(self) -> str:
        """The animation as SVG that plays by itself, over and over."""
        writer, count = self._writer(), len(self.frames)
        groups = [
            f"<g{'' if k == 0 else VISIBLE_LATER}>{_shown(k, count, self.seconds)}{writer.bare(shapes)}</g>"
            for k, shapes in enumerate(self.frames)
        ]
        return writer.document(groups)

    def html(self) -> str:
        """The animation as a page with a button and a slider, which loads nothing else.

        It plays at once, unless the reader asked the system for less motion.
        """
        theme, writer, say = THEMES[self.options.theme], self._writer(), Phrases(self.language)
        told = self.captions or tuple(f"t = {time:.4g} s" for time in self.times)
        groups = [
            f'<g class="frame{" shown" * (k == 0)}">{writer.bare(shapes)}</g>' for k, shapes in enumerate(self.frames)
        ]
        page = Template(Path(__file__).with_name(PLAYER).read_text(encoding="ascii"))
        return page.substitute(
            title=escape(self.still.title),
            paper=theme.colour(PAPER),
            ink=theme.colour("ink"),
            drawing=writer.document(groups),
            last=len(self.frames) - 1,
            first=escape(told[0]),
            told=json.dumps(told).replace("<", "\\u003c"),
            language=self.language,
            way="column" if self.captions else "row",
            play=say("page.play"),
            stop=say("page.pause"),
            button=say("page.play_or_pause"),
            slider=say("page.stage" if self.captions else "page.time"),
            pause=round(1000 * self.seconds / len(self.frames)),
        )

    def _writer(self) -> SvgWriter:
        # Frames have most letters in common, and a page of sixty of them would be many times as long without symbols.
        return SvgWriter(self.still, THEMES[self.options.theme], self.options.zoom(self.still.box.width), symbols=True)

    def gif(self, *, dpi: float = 96) -> bytes:
        """The animation as GIF that plays over and over; at 96 dots an inch a unit is a pixel."""
        from PIL.Image import Dither, Quantize  # noqa: PLC0415  loaded when something is drawn

        images = self._images(dpi)
        # All frames have the colours of the busiest one: with colours of their own, what stays would flicker.
        busiest = images[max(range(len(images)), key=lambda k: len(self.frames[k]))]
        palette = busiest.quantize(COLOURS, method=Quantize.MAXCOVERAGE)
        first, *others = (image.quantize(palette=palette, dither=Dither.NONE) for image in images)
        file = BytesIO()
        pause = max(20, round(1000 * self.seconds / len(images)))  # shorter ones are slowed down by viewers
        first.save(file, format="GIF", save_all=True, append_images=others, duration=pause, loop=0, optimize=False)
        return file.getvalue()

    def mp4(self, *, dpi: float = 96) -> bytes:
        """The animation as a video (H.264), which ffmpeg compresses.

        Raises: FigureError (F203) without the program ffmpeg, or where it writes no video.
        """
        program, images = _ffmpeg(), self._images(dpi)
        width, height = images[0].size
        rate = max(1, round(len(images) / self.seconds))
        # The colours of the format come in squares of two by two pixels, so both sizes are made even.
        even = "pad=ceil(iw/2)*2:ceil(ih/2)*2"
        raw = f"-v error -f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {rate} -i -"
        with TemporaryDirectory() as folder:
            target = Path(folder) / "film.mp4"
            # The index comes first in the file ("faststart"), so that a browser plays it before it has all of it.
            made = f"-vf {even} -pix_fmt yuv420p -movflags +faststart"
            command = [program, *raw.split(), *made.split(), str(target)]
            film = b"".join(image.tobytes() for image in images)
            done = subprocess.run(command, input=film, capture_output=True, check=False)
            if done.returncode != 0:
                told = done.stderr.decode(errors="replace").strip().splitlines()
                what = f"ffmpeg wrote no video: {told[-1] if told else 'it ended without a word'}"
                raise rules.NO_VIDEO.error(what, fix="write a .gif, an .svg or an .html file")
            return target.read_bytes()

    def _images(self, dpi: float) -> "list[Image]":
        """The frames as pictures. What stays is drawn once, since drawing takes longer than laying pictures on each other."""
        from PIL import Image  # noqa: PLC0415

        zoom = self.options.zoom(self.still.box.width)

        def picture(scene: Scene, *, ground: bool) -> "Image.Image":
            data = to_png(scene, theme=self.options.theme, scale=zoom, dpi=dpi, ground=ground)
            return Image.open(BytesIO(data)).convert("RGBA")

        below = picture(self.still, ground=True)
        moving = (picture(replace(self.still, shapes=shapes), ground=False) for shapes in self.frames)
        return [Image.alpha_composite(below, above).convert("RGB") for above in moving]

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


def with_panel(motion: MechanismMotion, panel: results.Overlay | None, times: Array) -> MechanismMotion:
    """The motion with a panel at its right, both at the same times; the motion tells the time."""
    if panel is None:
        return motion
    (scene, moving), beside = motion, panel.still
    height = max(scene.box.height, beside.box.height)
    box = Box(0, 0, scene.box.width + beside.box.width, height)
    # A motion that is lower than its panel stands at the foot, where it tells the time.
    dx, drop = scene.box.width, height - scene.box.height

    def both(main: tuple[Shape, ...], marks: tuple[Shape, ...]) -> tuple[Shape, ...]:
        shown = (shape for shape in marks if shape.origin.part != "time")
        return (*(moved(s, 0, drop) for s in main), *(moved(s, dx, 0) for s in shown))

    # The motion tells the time already, below on the left; a second one beside it would only be read twice.
    frames = tuple(both(*pair) for pair in zip(moving, panel.frames(times), strict=True))
    about = f"{scene.about}, with powers and energies"
    return replace(scene, box=box, about=about, shapes=both(scene.shapes, beside.shapes)), frames


MOST_FRAMES = 1000
MECHANISM, NETWORK = "mechanism", "network"


def animate(
    what: AnyModel | Run,
    notation: str = "pog",
    *,
    run: Run | None = None,
    frames: int = 60,
    seconds: float = 6.0,
    **options: object,
) -> Animation:
    """An animation of a run: `what` is a model, which is simulated unless its `run` is given, or a run alone.

    `notation` is `pog`, `bond` or `network`: arrows as wide as the root of the power, bars of stored energy, dotted arrows of
    losses, and in a network masses and springs that move; or `mechanism`: its bodies in motion, with the trails of their points,
    and the same marks in a column beside it. There are so many `frames`, at even times of the run, in so many `seconds` of the
    viewer. Options are those of `draw`.

    Raises: FigureError for notations and options that do not exist (F101, F102, F200), a run of another model (F201), a number of
    frames that makes no film (F204), or a model without a mechanism (F181).
    """
    chosen = read_options(options)
    _check(frames, seconds)
    if notation == MECHANISM:
        return _motion(what, run, frames, seconds, chosen)
    if notation == NETWORK:
        model = results.drawn_model(what)
        if model.mechanism is not None:
            return _motion(model, run, frames, seconds, chosen)
        shown, _ = results.shown_run(model, run)
        times = _times(shown, frames)
        still, moving = _network_motion(model, shown, times, chosen)
        return Animation(still, moving, tuple(times.tolist()), float(seconds), chosen)
    overlaid = results.overlaid_notation(notation)
    shown, graph = results.shown_run(what, run)
    placed = chosen if isinstance(what, Run) else with_layout(chosen, as_model(what), notation)
    overlay = results.overlay_of(shown, overlaid, placed, graph)
    times = _times(shown, frames)
    return Animation(overlay.still, tuple(overlay.frames(times)), tuple(times.tolist()), float(seconds), chosen)


def _network_motion(model: Model, run: Run, times: Array, options: Options) -> MechanismMotion:
    """The schematic with its marks; what is translational moves, enlarged or reduced as its figure says, and shafts turn."""
    scene, elements = schematic_scene(model, options), schematic_elements(model)
    ways, angles = (
        {node: np.interp(times, run.t, way) for node, way in node_motions(run, domain).items()}
        for domain in (TRANSLATIONAL, ROTATIONAL)
    )
    scene = ShaftMarks(scene.shapes, elements, angles).with_words(scene)
    # The scale of a motion is that of its whole run, not of the frames alone.
    motion = SchematicMotion(scene.shapes, elements, node_motions(run)) if ways else None
    moving = motion is not None and bool(motion.carried)
    overlay = results.physical_overlay(motion.with_room(scene) if motion and moving else scene, run)
    # The same motion again, where the room for the marks has put all shapes.
    turning = ShaftMarks(overlay.still.shapes, elements, angles)
    if not (motion and moving):
        frames = tuple((*turning.at(k), *shown) for k, shown in enumerate(overlay.frames(times)))
        return overlay.still, frames
    placed = SchematicMotion(overlay.still.shapes, elements, ways, motion.scale)
    marks = overlay.frames(times, shift=lambda k, element: placed.mark_shift(element, k))
    frames = tuple((*placed.at(k), *turning.at(k), *shown) for k, shown in enumerate(marks))
    return replace(overlay.still, shapes=tuple(s for s in overlay.still.shapes if not placed.moves(s))), frames


def _motion(what: AnyModel | Run, run: Run | None, frames: int, seconds: float, options: Options) -> Animation:
    if isinstance(what, Run):
        told = "a run alone does not know the shape of its mechanism"
        raise rules.NO_OVERLAY.error(
            told, where=what.name, fix="give the model too: animate(model, 'mechanism', run=run)"
        )
    model = as_model(what)
    MechanismPose(model)  # a model without a mechanism is refused before it is simulated
    shown, _ = results.shown_run(model, run)
    times = _times(shown, frames)
    panel = results.panel_overlay(model, shown, options)
    still, moving = with_panel(mechanism_motion(model, shown, times, options), panel, times)
    return Animation(still, moving, tuple(times.tolist()), float(seconds), options)


def _times(run: Run, frames: int) -> Array:
    return np.linspace(run.t[0], run.t[-1], frames)


def _check(frames: int, seconds: float) -> None:
    # True would pass for one frame.
    whole = isinstance(frames, int) and not isinstance(frames, bool)
    if not whole or not 2 <= frames <= MOST_FRAMES:
        raise rules.BAD_FRAMES.error(
            f"an animation of {frames!r} frames cannot be made", fix=f"ask for 2 to {MOST_FRAMES} frames"
        )
    if not isinstance(seconds, int | float) or not 0 < seconds < np.inf:
        raise rules.BAD_FRAMES.error(
            f"an animation cannot last {seconds!r} s", fix="give the seconds as a positive number"
        )
