"""The command `reduce`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli.options import (
    AsJson,
    AsLatex,
    Force,
    ModelText,
    SignName,
    SignOption,
    name_list,
    refuse_two_languages,
)

EXAMPLES = (
    "tellegen reduce dc_motor_pump --limit J_m=0 --steps",
    "tellegen reduce corking_shaft --limit K_se=inf",
)


class MethodName(StrEnum):
    """Methods of projection."""

    BALANCED = "balanced"
    MOMENTS = "moments"


def command(
    model: ModelText,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="J_m=0", help="A parameter that tends to 0, to inf, or to another one; once for each."),
    ] = None,
    keep: Annotated[str, typer.Option(metavar="x,y", help="States that should remain, by name.")] = "",
    sign: SignOption = SignName.MINUS,
    steps: Annotated[bool, typer.Option("--steps", help="The reduction step by step.")] = False,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
    target: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="MODEL.yaml", help="Where to write the reduced model; '-' prints it."),
    ] = None,
    force: Force = False,
    loss: Annotated[bool, typer.Option("--loss", help="Run both models, and tell how far they are apart.")] = False,
    study: Annotated[bool, typer.Option("--study", help="Measure the order of convergence to the limit.")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Rank elements by their activity, and try the limits that it proposes.")
    ] = False,
    order: Annotated[
        int | None,
        typer.Option(metavar="N", help="A linear model with N states, in numbers, instead of limits (pyMOR)."),
    ] = None,
    method: Annotated[
        MethodName | None, typer.Option(help="How --order finds them; else the one that loses less.")
    ] = None,
) -> None:
    """Reduce a model: parameters at zero or infinity, fewer states."""
    refuse_two_languages(as_json, as_latex)
    if loss + study + suggest + (steps or (as_latex and order is None)) + (order is not None) > 1:
        raise typer.BadParameter("choose one of --loss, --study, --suggest, --order, or equations (--steps, --latex)")
    if suggest and (limit or keep or target):
        raise typer.BadParameter("--suggest proposes limits: it takes none, and writes no model")
    if order is not None and (limit or keep):
        raise typer.BadParameter("--order finds states by itself: it takes no limits")
    if method is not None and order is None:
        raise typer.BadParameter("--method goes with --order")
    if not suggest and order is None and not limit:
        raise typer.BadParameter("give a limit, such as --limit J_m=0, or ask for proposals (--suggest)")
    from tellegen.cli.reductions import ReduceOptions, show_projection, show_reduction

    kept = name_list(keep)
    wanted = ReduceOptions(tuple(limit or ()), kept, sign.value, steps, as_json, as_latex, target, force)
    if order is not None:
        show_projection(model, order, None if method is None else method.value, wanted)
        return
    show_reduction(model, wanted._replace(loss=loss, study=study, suggest=suggest))
