"""The command `analyse`."""

from typing import Annotated

import typer

from tellegen.cli.options import AsJson, Force, ModelText, name_list, pairs

EXAMPLES = (
    "tellegen analyse dc_motor_pump --plot bode.svg",
    "tellegen analyse crank_rod --at theta=1",
)


def command(
    model: ModelText,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="omega=80", help="Linearise here, not in steady state: a value of a state; once for each."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="K=2e5", help="A parameter or a constant input, in SI or with a unit; once for each."
        ),
    ] = None,
    poles: Annotated[
        int | None,
        typer.Option(metavar="COUNT", min=1, help="Only the poles nearest to a point, for models of any size."),
    ] = None,
    near: Annotated[float, typer.Option(metavar="S", help="With --poles: the point on the real axis.")] = 0.0,
    outputs: Annotated[
        str | None, typer.Option(metavar="v,F_K", help="Variables measured beside the outputs of the sources.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="[FILE]", help="The Bode diagram: on the screen, or to .png, .svg or .pdf.")
    ] = None,
    step: Annotated[str | None, typer.Option(metavar="FILE", help="The step responses, to .png, .svg or .pdf.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Poles, zeros, damping, gains, structure and the split of power."""
    from tellegen.cli.runs import AnalyseOptions, show_analysis

    point = pairs(at, "--at", "omega=80") if at else None
    given = pairs(settings or (), "--set", "K=2e5")
    measured = name_list(outputs) if outputs else None
    show_analysis(model, AnalyseOptions(point, given, poles, near, plot, as_json, measured, step, force))
