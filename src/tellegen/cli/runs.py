"""How `simulate` and `analyse` show what they found: text, JSON, files and figures."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, cast

import typer

from tellegen.cli import output
from tellegen.cli.options import SCREEN
from tellegen.core.names import identifier
from tellegen.experiments.setup import sort_settings
from tellegen.experiments.simulating import Start, simulate
from tellegen.notations.loading import as_model
from tellegen.results.files import check_folder
from tellegen.results.plotting import blank_figure, check_suffix, save_figure
from tellegen.results.run import Run
from tellegen.results.saving import writer_for
from tellegen.studies.conditioning import condition
from tellegen.workflow.files import refuse_overwriting

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure


class AnalyseOptions(NamedTuple):
    """What the options of `analyse` ask for."""

    point: dict[str, str] | None
    settings: dict[str, str]
    poles: int | None
    near: float
    plot: str | None
    as_json: bool
    outputs: tuple[str, ...] | None = None
    step: str | None = None
    force: bool = False


class SimulateOptions(NamedTuple):
    """What the options of `simulate` ask for."""

    settings: dict[str, str]
    until: str | None
    rtol: float | None
    atol: float | None
    solver: str
    samples: int | None
    target: Path | None
    plot: str | None
    as_json: bool
    form: str | None = None
    units: Mapping[str, str] = MappingProxyType({})
    start: str = "initial"
    steady: bool = False
    force: bool = False
    head_units: bool = False
    max_step: str | None = None
    step: str | None = None


def show_run(name: str, options: SimulateOptions) -> None:
    """Simulate a model; print, write and plot what is asked for. Nothing is simulated for a file that cannot be written.

    A run that fails or is cancelled is shown and written as far as it came; the exit code says so.
    """
    if options.steady:
        show_steady(name, options)
        return
    if options.target is not None:
        writer_for(options.target)
        check_folder(options.target)
        refuse_overwriting(options.target, force=options.force)
    check_picture(options.plot, name, force=options.force)
    model = as_model(name)
    given = sort_settings(model, options.settings)
    run = simulate(
        model if options.form is None else condition(model, options.form),
        options.until,
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        solver=options.solver,
        rtol=options.rtol,
        atol=options.atol,
        max_step=options.max_step,
        step=options.step,
        samples=options.samples,
        units=options.units,
        start=cast("Start", options.start),
        on_failure="return",
    )
    saved = run.with_units() if options.head_units else run
    written = [] if options.target is None else [str(saved.save(options.target))]
    if options.plot is not None:
        written += show_figure(lambda figure: run.plot(figure=figure), options.plot, name)
    if options.as_json:
        output.write_json(run_record(run))
    else:
        output.write(str(run))
        output.say_written(*written, below=True)
        warn(run)
    if run.status != "finished":
        raise typer.Exit(output.INTERRUPTED if run.status == "cancelled" else output.MODEL_ERRORS)


def show_steady(name: str, options: SimulateOptions) -> None:
    """Print the steady state of a model."""
    from tellegen.experiments.equilibria import equilibrium

    if options.target is not None or options.plot is not None:
        raise typer.BadParameter("a steady state has one row: there is nothing to write or plot", param_hint="--steady")
    model = as_model(name)
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
        warn(found.run)


def check_picture(target: str | None, name: str, *, force: bool) -> None:
    """Refuse a picture that could not be written, before anything is computed.

    Raises: ExportError for an unknown suffix (X201) or a folder that is not there (X202); DescriptionError for a file that would
    be replaced (D302).
    """
    if target is None or (target == SCREEN and has_screen()):
        return
    file = picture_file(target, name)
    check_suffix(file)
    check_folder(file)
    refuse_overwriting(file, force=force)


def picture_file(target: str, name: str) -> Path:
    """Where a picture is written: the file that was named, or one with the name of the model."""
    return Path(f"{Path(name).stem}.png") if target == SCREEN else Path(target)


def has_screen() -> bool:
    """Whether a plot without a file name has a window to go to."""
    if not sys.stdout.isatty():
        return False
    from matplotlib import get_backend

    return get_backend().lower() != "agg"


def run_record(run: Run) -> dict[str, object]:
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


def warn(run: Run) -> None:
    """Print warnings about the model on stderr; notices are for `check`, and what is doubtful about the run is in its text."""
    doubts = [finding for finding in run.notices if finding.severity == "warning"]
    if doubts:
        output.write_findings(doubts, as_json=False)


def show_figure(draw: "Callable[[Figure | None], Figure]", target: str, name: str) -> list[str]:
    """Draw into a file, or on the screen where there is one; gives the files that were written."""
    if target != SCREEN or not has_screen():
        return [str(save_figure(draw(blank_figure()), picture_file(target, name)))]
    from matplotlib import pyplot

    draw(None)
    pyplot.show()
    return []


def show_analysis(name: str, options: AnalyseOptions) -> None:
    """Analyse a model; print and plot what is asked for."""
    from tellegen.experiments.analysing import analyse

    if options.poles is not None:
        show_poles(name, options)
        return
    for target in (options.plot, options.step):
        check_picture(target, name, force=options.force)
    model = as_model(name)
    given = sort_settings(model, options.settings)
    if given.initial:
        raise typer.BadParameter(f"'{next(iter(given.initial))}' is a state: give it with --at", param_hint="--set")
    found = analyse(model, at=options.point, inputs=given.inputs, parameters=given.parameters, outputs=options.outputs)
    written = [] if options.plot is None else show_figure(lambda figure: found.plot(figure=figure), options.plot, name)
    if options.step is not None:
        written += show_figure(lambda figure: found.plot_step(figure=figure), options.step, name)
    if options.as_json:
        output.write_json(found.to_json())
        return
    output.write(str(found))
    output.say_written(*written, below=True)


def show_poles(name: str, options: AnalyseOptions) -> None:
    """Print the poles nearest to a point, for models of any size."""
    from tellegen.analysis.poles import poles_near
    from tellegen.analysis.summary import pole_record, poles_to_text
    from tellegen.workflow.deriving import derive

    assert options.poles is not None, "asked for"
    model = as_model(name)
    found = poles_near(derive(model, form="dae", numeric=True), near=options.near, count=options.poles)
    if options.as_json:
        output.write_json({"poles": [pole_record(pole) for pole in found]})
    else:
        output.write(poles_to_text(found, controlled=any(e.signal is not None for e in model.elements)))
