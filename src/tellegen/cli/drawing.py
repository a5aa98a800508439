"""How `draw` makes a figure of a model and writes its file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tellegen.cli import output
from tellegen.description.opening import AnyModel
from tellegen.drawing import animate, draw, keep_layout, rules
from tellegen.drawing.animation import check_animation_suffix
from tellegen.drawing.figures import check_suffix
from tellegen.drawing.notations import scene_maker
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
    max_width: float
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
    force: bool,
) -> None:
    """Draw a model, at a time of its experiment where one is given; what cannot be written is refused before that."""
    check_suffix(target)
    scene_maker(notation)
    refuse_overwriting(target, force=force)
    figure = draw(_reduced(model, limits), notation, at=at, **chosen.by_name())
    figure.save(target)
    output.write(f"{target}: {figure}")


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
    """Write into the file of a model where the items of its bond graph stand."""
    if notation != "bond":
        told = f"no places are kept of figures drawn as '{notation}'"
        raise rules.NO_LAYOUT.error(told, fix="draw it as 'bond'")
    kept = keep_layout(model)
    output.write(f"{model}: {len(kept)} places in 'layout'")
