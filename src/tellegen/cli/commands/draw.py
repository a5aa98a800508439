"""The command `draw`."""

from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli.options import Force, ModelText

EXAMPLES = (
    "tellegen draw dc_motor_pump --as pog -o motor.svg",
    "tellegen draw rlc --as bond --theme mono -o rlc.pdf",
    "tellegen draw dc_motor_pump --as pog --at '20 ms' -o power.svg",
    "tellegen draw dc_motor_pump --as steps --limit J_m=0 -o reduction.svg",
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
            help="bond (bond graph), pog (Power-Oriented Graph), network (schematic), mechanism, equations, sankey (energy) "
            "or steps (of a --limit).",
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
    meshes: Annotated[
        str, typer.Option(help="auto, linked or vector: a meshed model cut at linked sections, or as one block (pog).")
    ] = "auto",
    lanes: Annotated[bool, typer.Option(help="Show like branches as one vector ladder (pog).")] = True,
    matrices: Annotated[
        str, typer.Option(help="auto, named or shown: entries of the matrices under the figure (pog).")
    ] = "auto",
    vectors: Annotated[str, typer.Option(help="bold or double: the wires of vectors (pog).")] = "bold",
    dimensions: Annotated[
        bool, typer.Option("--dimensions", help="Tick the wires of vectors, with the numbers of variables (pog).")
    ] = False,
    displacements: Annotated[
        bool, typer.Option("--displacements", help="Add the integrators of displacements to a vector block (pog).")
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="J_m=0", help="Draw the reduced model, or its reduction (--as steps); once for each limit."
        ),
    ] = None,
    style: Annotated[
        str, typer.Option(help="flat or solid (mechanism): bodies as lines, or with depth and shade.")
    ] = "flat",
    macros: Annotated[
        str,
        typer.Option(help="own or bondgraphs (bond, .tex): TikZ with its own styles, or those of the LaTeX package."),
    ] = "own",
    max_width: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTH",
            help="How wide a figure may be: '85 mm', '3.4 in', or pixels of CSS. Longer rows go on below, and what is still wider "
            "is drawn smaller; it is said how small its texts become. Without it figures are made for screens.",
        ),
    ] = None,
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
        typer.Option(
            "--keep-layout",
            help="Write into the file of the model where items stand: later figures keep that (bond, pog, network).",
        ),
    ] = False,
    like: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the places of another figure; without it, those of the figure that is replaced (bond, pog, network).",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Lay the figure out anew, whatever it replaces.")] = False,
    force: Force = False,
) -> None:
    """Draw a model: bond graph, Power-Oriented Graph, schematic or equations, still or with the power of its experiment."""
    from tellegen.cli.figures import DrawOptions, keep_places, save_animation, save_figure

    chosen = DrawOptions(
        theme,
        labels,
        numbers_,
        names,
        bands,
        vectorial,
        derivative,
        directions,
        meshes,
        lanes,
        matrices,
        vectors,
        dimensions,
        displacements,
        style,
        macros,
        max_width,
        scale,
    )
    limits = tuple(limit or ())
    if animated:
        save_animation(model, notation, target, chosen, limits=limits, frames=frames, at=at, force=force)
    else:
        save_figure(model, notation, target, chosen, limits=limits, at=at, like=like, fresh=fresh, force=force)
    if keep_layout:
        keep_places(model, notation)
