"""`animate`: powers and energies of a run moving over a figure, or a mechanism in motion."""

import numpy as np

from tellegen.description.opening import AnyModel, as_model
from tellegen.drawing import rules
from tellegen.drawing.animation import Animation
from tellegen.drawing.animation_motion import motion_of
from tellegen.drawing.animation_panel import with_panel
from tellegen.drawing.mechanism_pose import Pose
from tellegen.drawing.options import Options, read_options, with_layout
from tellegen.drawing.overlay_flows import Array
from tellegen.drawing.overlay_network import network_overlay, panel_overlay
from tellegen.drawing.overlay_results import drawn_model, overlaid_notation, run_of
from tellegen.drawing.overlay_scene import overlay_of
from tellegen.results import Run

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
        shown, _ = run_of(model, run)
        overlay = network_overlay(model, shown, chosen, float(shown.t[0]))
    else:
        overlaid = overlaid_notation(notation)
        shown, graph = run_of(what, run)
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
    Pose(model)  # a model without a mechanism is refused before it is simulated
    shown, _ = run_of(model, run)
    times = _times(shown, frames)
    motion = with_panel(motion_of(model, shown, times, options), panel_overlay(model, shown, options), times)
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
