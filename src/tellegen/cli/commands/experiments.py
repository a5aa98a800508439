"""Commands that compute with the numbers of a model: `simulate`, `analyse` and `condition`, and the pictures of `--plot`."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from tellegen.analysis.poles import is_linear, poles_near
from tellegen.analysis.summary import NearestPoles, pole_record, poles_to_text
from tellegen.cli import output
from tellegen.cli.options import SCREEN, OfModel, as_json, as_latex, command, force, name_list, settings
from tellegen.conditioning import ConditioningOptions, Stiffness
from tellegen.conditioning.parasitic import DAMPING, ERROR
from tellegen.core.names import identifier
from tellegen.core.options import keywords, option
from tellegen.experiments.analysing import analyse as analysed
from tellegen.experiments.setup import sort_settings
from tellegen.experiments.simulating import simulate as simulated
from tellegen.experiments.steady_state import equilibrium
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.plots import Look, Plot
from tellegen.plots.values import DOUBLE, SINGLE
from tellegen.results.files import check_folder
from tellegen.results.records import writer_for
from tellegen.results.run import Run
from tellegen.scenes.pictures import check_suffix
from tellegen.scenes.strokes import ThemeName
from tellegen.simulation.problem import FIXED_STEP
from tellegen.studies.conditioning import RTOL, compare_conditioning
from tellegen.studies.conditioning import condition as conditioned
from tellegen.workflow.deriving import derive
from tellegen.workflow.files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class Plotted(OfModel):
    """How plots of a model look."""

    max_width: str | None = option(
        None,
        f"How wide plots are: '{SINGLE}' or '{DOUBLE}' (one or two columns of a journal), '3.4 in', or pixels of CSS.",
        metavar="WIDTH",
    )
    theme: ThemeName = option("colour", "colour, mono (for print) or dark plots.", read=str)

    @property
    def look(self) -> Look:
        """The same as keywords."""
        return {"max_width": self.max_width, "theme": self.theme}


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(Plotted):
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
    plot: str | None = option(None, "Plot it, to .svg, .pdf, .png, .tex (TikZ) or .json.", metavar="[FILE]")
    curves: tuple[str, ...] = option((), "With --plot: these variables.", metavar="I_a,omega_m", needs="plot")
    against: str = option(
        "t", "With --plot: over this variable; another one than t makes a phase plot.", metavar="VARIABLE", needs="plot"
    )
    panels: str | None = option(
        None,
        "With --plot: the variables of each panel.",
        metavar="'I_a;omega_m,omega_l'",
        needs="plot",
        excludes=("curves",),
    )
    outputs: tuple[str, ...] = option(
        (), "Variables shown, plotted and written beside the others: any of an element.", metavar="V_R,power.motor"
    )
    units: Mapping[str, str] = option(
        {}, "Show a variable in this unit: in text, plots and CSV; once for each.", flag="--unit", metavar="omega=rpm"
    )
    head_units: bool = option(False, "Name the unit of every column in the head of a CSV file: I_a [A].")
    start: str | None = option(
        None,
        "Where to start: initial, or steady (the equilibrium at t = 0); without it as the experiment says.",
        metavar="FROM",
    )
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
    # Units in the head are for people: programs that read the file look for plain names.
    saved = run.with_units() if options.head_units else run
    written = [] if options.target is None else [str(saved.save(options.target))]
    if options.plot is not None:
        panels = [group for text in (options.panels or "").split(";") if (group := name_list(text))]
        shown = run.plot(*options.curves, against=options.against, panels=panels, **options.look)
        written.append(save_plot(shown, options.plot, options.model))
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
        # A form of dependent storages is a model of its own, which everything else then runs.
        model if options.form is None else conditioned(model, options.form),
        options.until,
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        on_failure="return",
        **keywords(options, simulated),
    )


def _show_steady(options: SimulateOptions) -> None:
    # Refused rather than ignored: who names a file expects one.
    if options.target is not None or options.plot is not None:
        raise typer.BadParameter("a steady state has one row: there is nothing to write or plot", param_hint="--steady")
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    found = equilibrium(
        model if options.form is None else conditioned(model, options.form).model,
        inputs=given.inputs,
        initial=given.initial,
        parameters=given.parameters,
        units=options.units,
        at=options.until,
    )
    output.show(options, found.to_json, found.__str__)
    if not options.as_json:
        _warn(found.run)


def _record(run: Run) -> dict[str, object]:
    made = run.trajectory
    early = {} if run.finding is None else {"status": run.status, "findings": [run.finding.to_json()]}
    return {
        **made.account,
        "final": {identifier(name): value for name, value in run.final().items()},
        "energy": run.energy.to_json(),
        "units": {identifier(name): unit for name in run.final() if (unit := run.unit(name))},
        **early,
    }


def _warn(run: Run) -> None:
    """Print warnings about the model on stderr; notices are for `check`, and what is doubtful about the run is in its text."""
    # Notices are for `check`, and what is doubtful about a run stands in its text.
    doubts = [finding for finding in run.notices if finding.severity == "warning"]
    if doubts:
        output.write_findings(doubts, as_json=False)


@dataclass(frozen=True, kw_only=True)
class AnalyseOptions(Plotted):
    """What `analyse` is asked for."""

    at: Mapping[str, str] | None = option(
        None,
        "Linearise here, not in steady state: a value of a state, also of a controller; once for each.",
        metavar="omega=80",
    )
    settings: Mapping[str, str] = settings("A parameter or a constant input")
    poles: int | None = option(
        None, "Only the poles nearest to a point, for models of any size.", metavar="COUNT", least=1
    )
    near: float = option(0.0, "With --poles: the point on the real axis.", metavar="S")
    outputs: tuple[str, ...] | None = option(
        None, "Variables measured beside the outputs of the sources.", metavar="v,F_K"
    )
    as_inputs: tuple[str, ...] | None = option(
        None,
        "Sources, signals, parameters or moduli that are inputs: a control loop is cut open there, and nowhere else.",
        metavar="d,V_a",
    )
    plot: str | None = option(None, "The Bode diagram, to .svg, .pdf, .png, .tex (TikZ) or .json.", metavar="[FILE]")
    step: str | None = option(None, "The step responses, to a file of such a kind.", metavar="FILE")
    map: str | None = option(None, "Poles (x) and zeros (o) in the complex plane, to such a file.", metavar="FILE")
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen analyse dc_motor_pump --plot bode.svg",
    "tellegen analyse crank_rod --at theta=1",
    "tellegen analyse dc_motor_speed_control --as-inputs V_c",
)
def analyse(options: AnalyseOptions) -> None:
    """Poles, zeros, damping, gains, structure and the split of power."""
    name = options.model
    if options.poles is not None and _show_poles_of_linear(as_model(name), options.poles, options):
        return
    for target in (options.plot, options.step, options.map):
        check_picture(target, name, force=options.force)
    model = as_model(name)
    given = sort_settings(model, options.settings)
    # Under --set a state would be an initial value, and an analysis has no start.
    if given.initial:
        raise typer.BadParameter(f"'{next(iter(given.initial))}' is a state: give it with --at", param_hint="--set")
    found = analysed(
        model,
        at=options.at,
        inputs=given.inputs,
        parameters=given.parameters,
        outputs=options.outputs,
        as_inputs=options.as_inputs,
    )
    if options.poles is not None:
        nearest = NearestPoles(found, options.near, options.poles)
        output.show(options, nearest.to_json, nearest.__str__)
        return
    drawn = ((options.plot, found.plot), (options.step, found.plot_step), (options.map, found.plot_poles))
    written = [save_plot(plot(**options.look), target, name) for target, plot in drawn if target is not None]
    output.show(options, found.to_json, found.__str__)
    if not options.as_json:
        output.say_written(*written, below=True)


def _show_poles_of_linear(model: Model, count: int, options: AnalyseOptions) -> bool:
    """The poles by the sparse descriptor form, which knows no operating point: of linear models that nothing controls."""
    if options.at or options.settings or options.as_inputs or model.signals or any(e.signal for e in model.elements):
        return False
    form = derive(model, form="dae", numeric=True)
    if not is_linear(form):
        return False
    found = poles_near(form, near=options.near, count=count)
    output.show(options, lambda: {"poles": [pole_record(pole) for pole in found]}, lambda: poles_to_text(found))
    return True


@dataclass(frozen=True, kw_only=True)
class ConditionOptions(OfModel):
    """What `condition` is asked for."""

    forms: tuple[str, ...] = option(
        (),
        "derivative, residual, parasitic, field, lagrange, hamilton; without it, all that the model has.",
        flag="--as",
        metavar="FORM,FORM",
    )
    settings: Mapping[str, str] = settings()
    until: str | None = option(None, "How long to run: 2, or '20 ms'.", metavar="TIME")
    rtol: float | None = option(None, "The relative tolerance.")
    coordinates: tuple[str, ...] = option(
        (), "Displacements, or outputs of storages, that are independent.", metavar="x,theta"
    )
    stiffness: float | None = option(
        None, "The stiffness of parasitic elements, in SI.", metavar="K", excludes=("error",)
    )
    error: float | None = option(
        None, "Parasitic elements stiff enough for this relative error of coordinates and forces: 0.001."
    )
    equations: bool = option(False, "The equations of the forms named with --as, and no runs.", needs="forms")
    as_json: bool = as_json(excludes=("as_latex",))
    as_latex: bool = as_latex("With --equations: print LaTeX (amsmath).", needs="equations")


@command("tellegen condition crank_rod", "tellegen condition crank_rod --as residual,parasitic --stiffness 1e8")
def condition(options: ConditionOptions) -> None:
    """Compare six ways to treat dependent storages: time, error and what each is good for."""
    model = as_model(options.model)
    if options.equations:
        _show_equations(model, options)
        return
    given = sort_settings(model, options.settings)
    found = compare_conditioning(
        model,
        options.forms or None,
        options=ConditioningOptions(options.coordinates, Stiffness(options.stiffness, DAMPING)),
        error=ERROR if options.error is None else options.error,
        until=options.until,
        inputs=given.inputs,
        initial=given.initial,
        parameters=given.parameters,
        rtol=RTOL if options.rtol is None else options.rtol,
    )
    output.show(options, found.to_json, found.__str__)


def _show_equations(model: Model, options: ConditionOptions) -> None:
    found = [
        conditioned(model, form, coordinates=options.coordinates, stiffness=options.stiffness, error=options.error)
        for form in options.forms
    ]
    output.show(
        options,
        lambda: {"forms": {made.form: made.to_json() for made in found}},
        lambda: "\n\n".join(made.to_text() for made in found),
        lambda: "\n\n".join(made.to_latex() for made in found),
    )


def check_picture(target: str | None, name: str, *, force: bool) -> None:
    """Refuse a picture that could not be written, before anything is computed.

    Raises: FigureError for an unknown suffix (F104); ExportError for a folder that is not there (X202); DescriptionError for a
    file that would be replaced (D302).
    """
    if target is None:
        return
    file = _picture_file(target, name)
    check_suffix(file)
    check_folder(file)
    refuse_overwriting(file, force=force)


def save_plot(plot: Plot, target: str, name: str) -> str:
    """Write a plot to a file; one that nobody named is shown by the program of the system for it, where there is a screen."""
    written = plot.save(_picture_file(target, name))
    if target == SCREEN and sys.stdout.isatty():
        typer.launch(str(written))
    return str(written)


def _picture_file(target: str, name: str) -> Path:
    """Where a picture is written: the file that was named, or one with the name of the model."""
    return Path(f"{Path(name).stem}.png") if target == SCREEN else Path(target)
