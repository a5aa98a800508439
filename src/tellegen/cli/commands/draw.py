"""The command `draw`."""

from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli.options import Force, ModelText

EXAMPLES = (
    "tellegen draw dc_motor_pump --as pog -o motor.svg",
    "tellegen draw rlc --as bond --theme mono -o rlc.pdf",
    "tellegen draw dc_motor_pump --as pog --at '20 ms' -o power.svg",
    "tellegen draw rlc --as bond --animate -o rlc.gif",
)


def command(
    model: ModelText,
    target: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to draw: .svg, .pdf, .png, .tex (TikZ) or .json; an animation: .gif, .svg, .html or .mp4.",
            show_default=False,
        ),
    ],
    notation: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="NOTATION",
            help="bond (bond graph), pog (Power-Oriented Graph), network (schematic), mechanism, equations or sankey (energy).",
        ),
    ] = "pog",
    theme: Annotated[str, typer.Option(help="colour, mono (for print) or dark.")] = "colour",
    labels: Annotated[str, typer.Option(help="symbols, values or both.")] = "symbols",
    numbers_: Annotated[bool, typer.Option("--numbers", help="Number the bonds or the sections.")] = False,
    names: Annotated[bool, typer.Option("--names", help="Name the junctions.")] = False,
    bands: Annotated[bool, typer.Option(help="Show domains as coloured areas.")] = True,
    vectorial: Annotated[
        bool, typer.Option("--vectorial", help="One vector block (pog), or vector bonds for like branches (bond).")
    ] = False,
    derivative: Annotated[
        bool, typer.Option("--derivative", help="Draw dependent storages as derivative blocks (pog).")
    ] = False,
    directions: Annotated[
        bool, typer.Option("--directions", help="Show in which direction power counts as positive (pog).")
    ] = False,
    style: Annotated[
        str, typer.Option(help="flat or solid (mechanism): bodies as lines, or with depth and shade.")
    ] = "flat",
    macros: Annotated[
        str,
        typer.Option(help="own or bondgraphs (bond, .tex): TikZ with its own styles, or those of the LaTeX package."),
    ] = "own",
    max_width: Annotated[
        float, typer.Option(help="Where a long figure goes on in a new row, in pixels at 100 %.")
    ] = 1100,
    scale: Annotated[float, typer.Option(help="The size of the whole figure.")] = 1,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Simulate, and show powers and energies at this time: 0.2 or '20 ms'."),
    ] = None,
    animated: Annotated[
        bool, typer.Option("--animate", help="Simulate, and show powers and energies as they change.")
    ] = False,
    frames: Annotated[int, typer.Option(help="The pictures of an animation.")] = 60,
    keep_layout: Annotated[
        bool,
        typer.Option("--keep-layout", help="Write into the file where items stand: later figures keep that (bond)."),
    ] = False,
    force: Force = False,
) -> None:
    """Draw a model: bond graph, Power-Oriented Graph, schematic or equations, still or with the power of its experiment."""
    from tellegen.cli.drawing import DrawOptions, keep_places, save_animation, save_figure

    chosen = DrawOptions(
        theme, labels, numbers_, names, bands, vectorial, derivative, directions, style, macros, max_width, scale
    )
    if animated:
        save_animation(model, notation, target, chosen, frames=frames, at=at, force=force)
    else:
        save_figure(model, notation, target, chosen, at=at, force=force)
    if keep_layout:
        keep_places(model, notation)
