"""How `draw` makes a figure of a model and writes its file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tellegen.cli import output
from tellegen.drawing import animate, draw, keep_layout, rules
from tellegen.drawing.figures import check_suffix, scene_maker
from tellegen.drawing.memory import ANEW, KEPT
from tellegen.drawing.overlay.animation import check_animation_suffix
from tellegen.notations.layout import PLACED_FIGURES
from tellegen.notations.loading import AnyModel
from tellegen.workflow.files import refuse_overwriting
from tellegen.workflow.transforming import reduce


class DrawOptions(NamedTuple):
    """What the options of `draw` ask for."""

    theme: str
    labels: str
    numbers: bool
    names: bool
    bands: bool
    vectorial: bool
    derivative: bool
    power_directions: bool
    meshes: str
    lanes: bool
    matrices: str
    vectors: str
    dimensions: bool
    displacements: bool
    style: str
    macros: str
    max_width: str | None
    scale: float

    def by_name(self) -> dict[str, Any]:
        """The options as figures call them."""
        found = self._asdict()
        numbers = found.pop("numbers")
        return {**found, "bond_numbers": numbers, "section_numbers": numbers}


def save_figure(
    model: str,
    notation: str,
    target: Path,
    chosen: DrawOptions,
    *,
    limits: Sequence[str] = (),
    at: str | None = None,
    like: Path | None = None,
    fresh: bool = False,
    force: bool,
) -> None:
    """Draw a model, at a time of its experiment where one is given; what cannot be written is refused before that.

    It is drawn `like` another figure, else like the one that it replaces, unless it shall be laid out anew (`fresh`).
    """
    check_suffix(target)
    scene_maker(notation)
    if like is not None and fresh:
        told = "a figure like another one is not laid out anew"
        raise rules.NOT_LIKE.error(told, fix="leave --like or --fresh out")
    refuse_overwriting(target, force=force)
    replaced = target if notation in PLACED_FIGURES and target.is_file() and not fresh else None
    figure = draw(_reduced(model, limits), notation, at=at, like=like or replaced, **chosen.by_name())
    figure.save(target)
    output.write(f"{target}: {figure}")
    for note in figure.notes:
        if note.startswith(KEPT) and like is None:
            output.write(f"{note}; --fresh lays it out anew")
        elif like is not None or not note.startswith(ANEW):
            output.write(note)


def save_animation(
    model: str,
    notation: str,
    target: Path,
    chosen: DrawOptions,
    *,
    limits: Sequence[str] = (),
    frames: int,
    at: str | None,
    force: bool,
) -> None:
    """Draw the experiment of a model in motion."""
    check_animation_suffix(target)
    if at is not None:
        what = "an animation shows the whole experiment, and a time was given"
        raise rules.NO_OVERLAY.error(what, fix="leave --at out, or draw one moment without --animate")
    refuse_overwriting(target, force=force)
    animation = animate(_reduced(model, limits), notation, frames=frames, **chosen.by_name())
    animation.save(target)
    output.write(f"{target}: {animation}")


def _reduced(model: str, limits: Sequence[str]) -> AnyModel:
    """The model, or what limits make of it."""
    return reduce(model, limits) if limits else model


def keep_places(model: str, notation: str) -> None:
    """Write into the file of a model where the items of its figure stand."""
    kept = keep_layout(model, notation=notation)
    output.write(f"{model}: {len(kept)} places in 'layout'")
