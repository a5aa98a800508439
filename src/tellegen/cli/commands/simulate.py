"""The command `simulate`."""

from pathlib import Path
from typing import Annotated

import typer

from tellegen.cli.options import AsJson, Force, ModelText, RelativeTolerance, SettingsOption, Until, pairs

EXAMPLES = (
    "tellegen simulate dc_motor_pump --set R_a=0.7 --plot run.png",
    "tellegen simulate m.yaml --until 2 -o run.nc",
)


def command(
    model: ModelText,
    settings: SettingsOption = None,
    until: Until = None,
    rtol: RelativeTolerance = None,
    atol: Annotated[float | None, typer.Option(help="The absolute tolerance, in SI.")] = None,
    solver: Annotated[str, typer.Option(help="The solver; the choice is made for you otherwise.")] = "auto",
    max_step: Annotated[str | None, typer.Option(metavar="TIME", help="No step is longer than this.")] = None,
    step: Annotated[
        str | None, typer.Option(metavar="TIME", help="The step of midpoint and discrete-gradient, which keep it.")
    ] = None,
    samples: Annotated[int | None, typer.Option(help="How many even steps the rows make (1000).")] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="FORM",
            help="Dependent storages as: derivative, residual, parasitic, field, lagrange or hamilton.",
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the run: .csv, .nc (netCDF), .parquet or .mat."),
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="[FILE]", help="Plot it: on the screen, or to .png, .svg or .pdf.")
    ] = None,
    units: Annotated[
        list[str] | None,
        typer.Option(
            "--unit", metavar="omega=rpm", help="Show a variable in this unit: in text, plots and CSV; once for each."
        ),
    ] = None,
    head_units: Annotated[
        bool, typer.Option("--head-units", help="Name the unit of every column in the head of a CSV file: I_a [A].")
    ] = False,
    start: Annotated[
        str, typer.Option(metavar="FROM", help="Where to start: initial, or steady (the equilibrium at t = 0).")
    ] = "initial",
    steady: Annotated[
        bool, typer.Option("--steady", help="Only the steady state, with inputs as at the end of the experiment.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a model: its experiment, or what the options say."""
    from tellegen.cli.runs import SimulateOptions, show_run

    given, shown = pairs(settings or (), "--set", "K=2e5"), pairs(units or (), "--unit", "omega=rpm")
    options = SimulateOptions(
        given,
        until,
        rtol,
        atol,
        solver,
        samples,
        target,
        plot,
        as_json,
        form,
        shown,
        start,
        steady,
        force,
        head_units,
        max_step,
        step,
    )
    show_run(model, options)
