"""`animate`: powers and energies of a run moving over a figure, or a mechanism in motion; an animation plays in notebooks and
saves itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import final

import numpy as np

from tellegen.drawing import rules
from tellegen.drawing.figures import Figure, write_drawing, writer_for
from tellegen.drawing.geometry import Box
from tellegen.drawing.mechanism.motion import MechanismMotion, mechanism_motion
from tellegen.drawing.mechanism.pose import MechanismPose
from tellegen.drawing.options import DEFAULTS, Options, read_options, with_layout
from tellegen.drawing.overlay.flows import Array
from tellegen.drawing.overlay.results import (
    Overlay,
    drawn_model,
    network_overlay,
    overlaid_notation,
    overlay_of,
    panel_overlay,
    shown_run,
)
from tellegen.drawing.scene import Scene, Shape, moved
from tellegen.drawing.writers.animation import to_animated_html, to_animated_svg, to_gif, to_mp4
from tellegen.notations.loading import AnyModel, as_model
from tellegen.results import Run


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
        return to_animated_html(self.still, self.frames, self.times, self.seconds, self.options)

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


def with_panel(motion: MechanismMotion, panel: Overlay | None, times: Array) -> MechanismMotion:
    """The motion with a panel at its right, both at the same times; the motion tells the time."""
    if panel is None:
        return motion
    scene, beside = motion.still, panel.still
    height = max(scene.box.height, beside.box.height)
    box = Box(0, 0, scene.box.width + beside.box.width, height)
    dx, drop = scene.box.width, height - scene.box.height

    def both(main: tuple[Shape, ...], marks: tuple[Shape, ...]) -> tuple[Shape, ...]:
        shown = (shape for shape in marks if shape.origin.part != "time")
        return (*(moved(s, 0, drop) for s in main), *(moved(s, dx, 0) for s in shown))

    frames = tuple(both(*pair) for pair in zip(motion.frames, panel.frames(times), strict=True))
    about = f"{scene.about}, with powers and energies"
    return MechanismMotion(replace(scene, box=box, about=about, shapes=both(scene.shapes, beside.shapes)), frames)


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
    losses; or `mechanism`: its bodies in motion, with the trails of their points, and the same marks in a column beside it. There
    are so many `frames`, at even times of the run, in so many `seconds` of the viewer. Options are those of `draw`.

    Raises: FigureError for notations and options that do not exist (F101, F102, F200), a run of another model (F201), a number of
    frames that makes no film (F204), or a model without a mechanism (F181).
    """
    chosen = read_options(options)
    _check(frames, seconds)
    if notation == MECHANISM:
        return _motion(what, run, frames, seconds, chosen)
    if notation == NETWORK:
        model = drawn_model(what)
        if model.mechanism is not None:
            return _motion(model, run, frames, seconds, chosen)
        shown, _ = shown_run(model, run)
        overlay = network_overlay(model, shown, chosen, float(shown.t[0]))
    else:
        overlaid = overlaid_notation(notation)
        shown, graph = shown_run(what, run)
        placed = chosen if isinstance(what, Run) else with_layout(chosen, as_model(what), notation)
        overlay = overlay_of(shown, overlaid, placed, graph)
    times = _times(shown, frames)
    return Animation(overlay.still, tuple(overlay.frames(times)), tuple(times.tolist()), float(seconds), chosen)


def _motion(what: AnyModel | Run, run: Run | None, frames: int, seconds: float, options: Options) -> Animation:
    if isinstance(what, Run):
        told = "a run alone does not know the shape of its mechanism"
        raise rules.NO_OVERLAY.error(
            told, where=what.name, fix="give the model too: animate(model, 'mechanism', run=run)"
        )
    model = as_model(what)
    MechanismPose(model)  # a model without a mechanism is refused before it is simulated
    shown, _ = shown_run(model, run)
    times = _times(shown, frames)
    motion = with_panel(mechanism_motion(model, shown, times, options), panel_overlay(model, shown, options), times)
    return Animation(motion.still, motion.frames, tuple(times.tolist()), float(seconds), options)


def _times(run: Run, frames: int) -> Array:
    return np.linspace(run.t[0], run.t[-1], frames)


def _check(frames: int, seconds: float) -> None:
    whole = isinstance(frames, int) and not isinstance(frames, bool)
    if not whole or not 2 <= frames <= MOST_FRAMES:
        raise rules.BAD_FRAMES.error(
            f"an animation of {frames!r} frames cannot be made", fix=f"ask for 2 to {MOST_FRAMES} frames"
        )
    if not isinstance(seconds, int | float) or not 0 < seconds < np.inf:
        raise rules.BAD_FRAMES.error(
            f"an animation cannot last {seconds!r} s", fix="give the seconds as a positive number"
        )
