"""The command `draw`: a figure of a model, or its experiment in motion."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tellegen.cli import output
from tellegen.cli.options import OfModel, command, force
from tellegen.core.language import LANGUAGES
from tellegen.core.options import option, required, values
from tellegen.drawing import animate, keep_layout, rules
from tellegen.drawing import draw as drawn
from tellegen.drawing.figures import scene_maker
from tellegen.drawing.memory import ANEW, KEPT
from tellegen.drawing.options import Options as FigureOptions
from tellegen.drawing.overlay.animation import check_animation_suffix
from tellegen.drawing.stages import file_names, stages
from tellegen.notations.layout import PLACED_FIGURES
from tellegen.notations.loading import AnyModel
from tellegen.scenes.pictures import check_suffix
from tellegen.workflow.files import refuse_overwriting
from tellegen.workflow.transforming import reduce


@dataclass(frozen=True, kw_only=True)
class _Target(OfModel):
    """What is drawn, and where."""

    target: Path = required(
        "Where to draw: .svg, .pdf, .png, .tex (TikZ) or .json; an animation: .gif, .svg, .html or .mp4.",
        flag="--output",
        short="-o",
        metavar="FILE",
    )
    notation: str = option(
        "pog",
        "bond (bond graph), pog (Power-Oriented Graph), network (schematic), mechanism, equations, sankey (energy) "
        "or steps (of a --limit).",
        flag="--as",
        metavar="NOTATION",
    )


@dataclass(frozen=True, kw_only=True)
class DrawOptions(FigureOptions, _Target):
    """What `draw` is asked for: the options of all figures, and what belongs to a file."""

    numbers: bool = option(False, "Number the bonds or the sections.")
    limit: tuple[str, ...] = option(
        (),
        "Draw the reduced model, or its reduction (--as steps); once for each limit.",
        metavar="J_m=0",
        once_for_each=True,
    )
    at: str | None = option(
        None, "Simulate, and show powers and energies at this time: 0.2 or '20 ms'.", metavar="TIME"
    )
    animate: bool = option(False, "Simulate, and show powers and energies as they change.")
    frames: int = option(60, "The pictures of an animation.")
    stages: bool = option(
        False,
        "Draw how the figure comes about, with reasons: strokes (bond), columns (pog), a --limit (steps). "
        ".pdf has pages, .tex beamer overlays, others a file each; with --animate they play.",
        excludes=("at",),
    )
    language: str = option("en", "The language of these reasons.", choices=LANGUAGES)
    keep_layout: bool = option(
        False, "Write into the file of the model where items stand: later figures keep that (bond, pog, network)."
    )
    like: Path | None = option(
        None,
        "Keep the places of another figure; without it, those of the figure that is replaced (bond, pog, network).",
        metavar="FILE",
    )
    fresh: bool = option(False, "Lay the figure out anew, whatever it replaces.")
    force: bool = force()

    def of_figure(self) -> dict[str, Any]:
        """The options as figures call them; those that only Python gives are left to their defaults."""
        # Earlier places come from the figure that is replaced, not from words on the command line.
        chosen = values(self, FigureOptions)
        shown = {name: value for name, value in chosen.items() if name not in ("places", "earlier")}
        return shown | {"bond_numbers": self.numbers, "section_numbers": self.numbers}

    def of_model(self) -> AnyModel:
        """The model, or what limits make of it."""
        return reduce(self.model, self.limit) if self.limit else self.model


@command(
    "tellegen draw dc_motor_pump --as pog -o motor.svg",
    "tellegen draw rlc --as bond --theme mono -o rlc.pdf",
    "tellegen draw dc_motor_pump --as pog --at '20 ms' -o power.svg",
    "tellegen draw dc_motor_pump --as steps --limit J_m=0 -o reduction.svg",
    "tellegen draw rlc --as bond --animate -o rlc.gif",
    "tellegen draw rlc --as bond --stages --language it -o strokes.pdf",
)
def draw(options: DrawOptions) -> None:
    """Draw a model: bond graph, Power-Oriented Graph, schematic or equations, still or with the power of its experiment."""
    if options.stages:
        _save_stages(options)
    elif options.animate:
        _save_animation(options)
    else:
        _save_figure(options)
    if options.keep_layout:
        kept = keep_layout(options.model, notation=options.notation)
        output.write(f"{options.model}: {len(kept)} places in 'layout'")


def _save_figure(options: DrawOptions) -> None:
    """Draw a model, at a time of its experiment where one is given; what cannot be written is refused before that.

    It is drawn `like` another figure, else like the one that it replaces, unless it shall be laid out anew (`fresh`).
    """
    target, notation, like = options.target, options.notation, options.like
    # What cannot be written, or is no notation, is refused before a model is opened.
    check_suffix(target)
    scene_maker(notation)
    if like is not None and options.fresh:
        told = "a figure like another one is not laid out anew"
        raise rules.NOT_LIKE.error(told, fix="leave --like or --fresh out")
    refuse_overwriting(target, force=options.force)
    # A figure that is drawn again keeps its layout unless one asks otherwise: documents refer to it.
    replaced = target if notation in PLACED_FIGURES and os.path.isfile(target) and not options.fresh else None
    figure = drawn(options.of_model(), notation, at=options.at, like=like or replaced, **options.of_figure())
    figure.save(target)
    output.write(f"{target}: {figure}")
    for note in figure.notes:
        if note.startswith(KEPT) and like is None:
            output.write(f"{note}; --fresh lays it out anew")
        # That a figure was laid out anew is news only to one who asked for the places of another.
        elif like is not None or not note.startswith(ANEW):
            output.write(note)


def _save_stages(options: DrawOptions) -> None:
    """Draw the stages of a figure, or an animation of them."""
    target = options.target
    check = check_animation_suffix if options.animate else check_suffix
    check(target)
    refuse_overwriting(target, force=options.force)
    made = stages(options.of_model(), options.notation, language=options.language, **options.of_figure())  # type: ignore[arg-type]
    if options.animate:
        made.animation().save(target)
        output.say_written(str(target))
    else:
        names = file_names(target, len(made))
        for name in names:
            refuse_overwriting(name, force=options.force)
        made.save(target)
        output.say_written(str(target) if len(names) == 1 else f"{names[0]} to {names[-1].name}")
    output.write(str(made))


def _save_animation(options: DrawOptions) -> None:
    check_animation_suffix(options.target)
    if options.at is not None:
        what = "an animation shows the whole experiment, and a time was given"
        raise rules.NO_OVERLAY.error(what, fix="leave --at out, or draw one moment without --animate")
    refuse_overwriting(options.target, force=options.force)
    animation = animate(options.of_model(), options.notation, frames=options.frames, **options.of_figure())
    animation.save(options.target)
    output.write(f"{options.target}: {animation}")
