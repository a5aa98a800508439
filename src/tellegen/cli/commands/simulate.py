"""The command `simulate`: a run or a steady state, printed, written and plotted."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, command, force, settings
from tellegen.cli.pictures import check_picture, show_figure
from tellegen.core.names import identifier
from tellegen.core.options import keywords, option
from tellegen.experiments.equilibria import equilibrium
from tellegen.experiments.setup import sort_settings
from tellegen.experiments.simulating import simulate as simulated
from tellegen.notations.loading import as_model
from tellegen.results.files import check_folder
from tellegen.results.run import Run
from tellegen.results.saving import writer_for
from tellegen.simulation.problem import FIXED_STEP
from tellegen.studies.conditioning import condition
from tellegen.workflow.files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(OfModel):
    """What `simulate` is asked for."""

    settings: Mapping[str, str] = settings()
    until: str | None = option(None, "How long to run: 2, or '20 ms'.", metavar="TIME")
    rtol: float | None = option(None, "The relative tolerance.")
    atol: float | None = option(None, "The absolute tolerance, in SI.")
    solver: str = option("auto", "The solver; the choice is made for you otherwise.")
    max_step: str | None = option(None, "No step is longer than this.", metavar="TIME")
    step: str | None = option(None, f"The step of {' and '.join(FIXED_STEP)}, which keep it.", metavar="TIME")
    samples: int | None = option(None, "How many even steps the rows make (1000).")
    form: str | None = option(
        None,
        "Dependent storages as: derivative, residual, parasitic, field, lagrange or hamilton.",
        flag="--as",
        metavar="FORM",
    )
    target: Path | None = option(
        None, "Write the run: .csv, .nc (netCDF), .parquet or .mat.", flag="--output", short="-o", metavar="FILE"
    )
    plot: str | None = option(None, "Plot it: on the screen, or to .png, .svg or .pdf.", metavar="[FILE]")
    units: Mapping[str, str] = option(
        {}, "Show a variable in this unit: in text, plots and CSV; once for each.", flag="--unit", metavar="omega=rpm"
    )
    head_units: bool = option(False, "Name the unit of every column in the head of a CSV file: I_a [A].")
    start: str = option("initial", "Where to start: initial, or steady (the equilibrium at t = 0).", metavar="FROM")
    steady: bool = option(False, "Only the steady state, with inputs as at the end of the experiment.")
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen simulate dc_motor_pump --set R_a=0.7 --plot run.png", "tellegen simulate m.yaml --until 2 -o run.nc")
def simulate(options: SimulateOptions) -> None:
    """Simulate a model: its experiment, or what the options say."""
    if options.steady:
        _show_steady(options)
        return
    # Nothing is simulated for a file that cannot be written.
    if options.target is not None:
        writer_for(options.target)
        check_folder(options.target)
        refuse_overwriting(options.target, force=options.force)
    check_picture(options.plot, options.model, force=options.force)
    run = _run(options)
    saved = run.with_units() if options.head_units else run
    written = [] if options.target is None else [str(saved.save(options.target))]
    if options.plot is not None:
        written += show_figure(lambda figure: run.plot(figure=figure), options.plot, options.model)
    if options.as_json:
        output.write_json(_record(run))
    else:
        output.write(str(run))
        output.say_written(*written, below=True)
        _warn(run)
    # A run that fails or is cancelled is shown and written as far as it came; the exit code says so.
    if run.status != "finished":
        raise typer.Exit(output.INTERRUPTED if run.status == "cancelled" else output.MODEL_ERRORS)


def _run(options: SimulateOptions) -> Run:
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    return simulated(
        model if options.form is None else condition(model, options.form),
        options.until,
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        on_failure="return",
        **keywords(options, simulated),
    )


def _show_steady(options: SimulateOptions) -> None:
    """Print the steady state of a model."""
    if options.target is not None or options.plot is not None:
        raise typer.BadParameter("a steady state has one row: there is nothing to write or plot", param_hint="--steady")
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    found = equilibrium(
        model if options.form is None else condition(model, options.form).model,
        inputs=given.inputs,
        initial=given.initial,
        parameters=given.parameters,
        units=options.units,
        at=options.until,
    )
    if options.as_json:
        output.write_json(found.to_json())
    else:
        output.write(str(found))
        _warn(found.run)


def _record(run: Run) -> dict[str, object]:
    """The record that `simulate --json` prints."""
    made = run.trajectory
    early = {} if run.finding is None else {"status": run.status, "findings": [run.finding.to_json()]}
    return {
        "solver": made.solver,
        "setup_s": made.setup_s,
        "solve_s": made.solve_s,
        "steps": made.steps,
        "rhs_calls": made.rhs_calls,
        "final": {identifier(name): value for name, value in run.final().items()},
        "energy": run.energy.to_json(),
        **early,
    }


def _warn(run: Run) -> None:
    """Print warnings about the model on stderr; notices are for `check`, and what is doubtful about the run is in its text."""
    doubts = [finding for finding in run.notices if finding.severity == "warning"]
    if doubts:
        output.write_findings(doubts, as_json=False)
