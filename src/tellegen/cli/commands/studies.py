"""Commands of many runs: `sweep`, `fit`, `influence` and `optimise`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from tellegen.cli import output
from tellegen.cli.commands.experiments import Plotted, check_picture, save_plot
from tellegen.cli.options import as_json, command, force, model_file, printed_or_written, settings
from tellegen.core.names import listing
from tellegen.core.options import keywords, option
from tellegen.core.tables import table_lines
from tellegen.experiments.setup import sort_settings
from tellegen.graph import lower
from tellegen.notations.loading import as_model
from tellegen.notations.writing import to_yaml
from tellegen.results.files import check_folder
from tellegen.results.units import variable_units
from tellegen.studies.runs.fit import Fit, Profile, RecordFit
from tellegen.studies.runs.fit import fit as fitted
from tellegen.studies.runs.fit_problem import Bounds, FitProblem
from tellegen.studies.runs.influence import influence as influences
from tellegen.studies.runs.measurements import records_of
from tellegen.studies.runs.model_runs import RunSettings
from tellegen.studies.runs.optimise import Method
from tellegen.studies.runs.optimise import optimise as optimised
from tellegen.studies.runs.rules import BAD_FREE, BAD_VARIATION, NOT_KEPT
from tellegen.studies.runs.study import FOLDERS, Study, check_suffix
from tellegen.studies.runs.sweep import resume as resumed
from tellegen.studies.runs.sweep import sweep as swept
from tellegen.studies.runs.table import Drawing, names_of
from tellegen.studies.runs.variation import read_variation
from tellegen.workflow.files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class ManyRuns(Plotted):
    """What commands of many runs share."""

    settings: Mapping[str, str] = settings()
    until: str | None = option(None, "How long to run: 2, or '20 ms'.", metavar="TIME")
    rtol: float | None = option(None, "The relative tolerance.")
    solver: str = option("auto", "The solver; the choice is made for you otherwise.")
    threads: int | None = option(None, "How many threads; all cores otherwise.", least=1)


@dataclass(frozen=True, kw_only=True)
class SweepOptions(ManyRuns):
    """What `sweep` is asked for."""

    model: str = option("", "A model file, or the name of a built-in example.", metavar="MODEL", positional=True)
    vary: Mapping[str, str] = option(
        {},
        "What to vary: first:last:count[:log], values with commas, or normal(0.5 ohm, 5 %); once for each name.",
        metavar="K=1e4:1e6:50:log",
    )
    draws: int | None = option(None, "How many values to draw from distributions.", least=1)
    by: Drawing = option("sobol", "How to draw: sobol, latin or random.", needs="draws")
    seed: int = option(0, "What the draws begin with.", needs="draws")
    paired: bool = option(False, "Take the values of all names side by side.")
    table: Path | None = option(
        None, "A row for each run, in place of --vary: .csv or .parquet.", metavar="FILE", excludes=("vary",)
    )
    keep: tuple[str, ...] = option(
        (),
        "What to keep of each run, once for each: omega_m, 'max(I_a)', 'at(I_a, 0.1 s)'.",
        once_for_each=True,
        metavar="NAME",
    )
    samples: int | None = option(None, "Keep rows at so many even steps.", least=1)
    step: str | None = option(
        None, "The step of solvers that keep theirs, and with --on gpu of order 4.", metavar="TIME"
    )
    on: str = option(
        "local", "Where: local, gpu, or a Dask cluster by its address or scheduler file.", metavar="tcp://HOST:PORT"
    )
    single: bool = option(False, "With --on gpu: in single precision.")
    check: str = option("some", "Which runs are made again to tell their error: some, all or none.")
    strict: bool = option(False, "Exit with 1 where some runs did not finish.")
    target: Path | None = option(
        None,
        "Write the study: .nc (netCDF), .parquet or .csv at its end, or a folder that grows and can be resumed.",
        flag="--output",
        short="-o",
        metavar="FILE",
    )
    resume: Path | None = option(
        None,
        "Go on with the study in this folder; nothing else is needed.",
        metavar="DIR",
        excludes=(
            "vary",
            "table",
            "draws",
            "keep",
            "samples",
            "until",
            "settings",
            "rtol",
            "solver",
            "step",
            "single",
            "target",
        ),
    )
    plot: str | None = option(None, "Plot it, to .svg, .pdf, .png, .tex (TikZ) or .json.", metavar="[FILE]")
    over: str | None = option(None, "With --plot: what is varied along the axis.", metavar="NAME", needs="plot")
    scatter: bool = option(
        False, "With --plot: all names over each other, a dot for a run.", needs="plot", excludes=("over",)
    )
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen sweep dc_motor_pump --vary R_a=0.3:0.7:41 --keep 'max(I_a)'",
    "tellegen sweep m.yaml --vary 'b=normal(4 N*s/m, 5 %)' --draws 256 -o m.study",
    "tellegen sweep --resume m.study",
)
def sweep(options: SweepOptions) -> None:
    """Run a model many times, over ranges, draws or a table of values."""
    into = options.target if options.target is not None and _is_store(options.target) else None
    file = None if into is not None else options.target
    if file is not None:
        check_suffix(file)
        check_folder(file)
        refuse_overwriting(file, force=options.force)
    name = options.model or str(options.resume)
    check_picture(options.plot, name, force=options.force)
    study = _swept(options, into) if options.resume is None else resumed(options.resume, **keywords(options, resumed))
    written = [] if file is None else [str(study.save(file))]
    if options.plot is not None:
        plot = study.scatter(**options.look) if options.scatter else study.plot(over=options.over, **options.look)
        written.append(save_plot(plot, options.plot, name))
    output.show(options, study.to_json, lambda: str(study))
    if not options.as_json:
        output.say_written(*written, below=True)
    if study.cancelled:
        if folder := into or options.resume:
            output.complain(f"whole chunks are kept; go on with: tellegen sweep --resume {folder}")
        raise typer.Exit(output.INTERRUPTED)
    if study.finished == 0 or (options.strict and study.failed):
        raise typer.Exit(output.MODEL_ERRORS)


def _is_store(target: Path) -> bool:
    """Whether a study grows there; what ends like a file of another kind is refused as such."""
    return target.is_dir() or target.suffix in FOLDERS


def _swept(options: SweepOptions, into: Path | None) -> Study:
    if not options.model:
        raise typer.BadParameter("name a model, or a study to go on with: --resume DIR", param_hint="MODEL")
    if options.table is None and not options.vary:
        raise BAD_VARIATION.error("nothing is varied", fix="give --vary K=1e4:1e6:50, or --table FILE")
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    vary = {name: read_variation(name, text) for name, text in options.vary.items()}
    if options.over is not None:
        told = [
            *(vary or names_of(options.table)),
            *(options.keep or model.experiment.outputs or variable_units(lower(model))),
        ]
        if options.over not in told:
            raise NOT_KEPT.error(
                f"the study has no '{options.over}'", where=model.name, fix=f"there are {listing(told)}"
            )
    asked = {**keywords(options, swept), "force": options.force and into is not None}
    return swept(
        model,
        options.table if options.table is not None else vary,
        options.until,
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        into=into,
        **asked,
    )


@dataclass(frozen=True, kw_only=True)
class FitOptions(Plotted):
    """What `fit` is asked for."""

    data: tuple[Path, ...] = option(
        (), "Measured data, one record a file: .csv or .parquet.", metavar="DATA", positional=True, once_for_each=True
    )
    free: tuple[str, ...] = option(
        (), "What to fit: names with commas, or a name with its bounds.", metavar="b_m,K=0.1:0.3", once_for_each=True
    )
    measured: Mapping[str, str] = option({}, "What a column measures; once for each.", metavar="'U=2*I_a + offset'")
    noise: Mapping[str, str] = option({}, "The deviation of a column; once for each.", metavar="I_a='100 mA'")
    loss: str = option("linear", "How far errors count: linear, soft_l1, huber, cauchy or arctan.")
    starts: int = option(1, "How many points between the bounds to start at.", least=1)
    check: tuple[Path, ...] = option((), "Say how other data fit, too.", metavar="OTHER.csv", once_for_each=True)
    profile: str | None = option(None, "Fit again along this parameter.", metavar="NAME")
    settings: Mapping[str, str] = settings()
    rtol: float | None = option(None, "The relative tolerance of runs (1e-8).")
    solver: str = option("auto", "The solver; the choice is made for you otherwise.")
    target: Path | None = model_file("Where to write the fitted model.")
    plot: str | None = option(None, "Plot it, to .svg, .pdf, .png, .tex (TikZ) or .json.", metavar="[FILE]")
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen fit m.yaml measured.csv --free K,b -o fitted.yaml",
    "tellegen fit m.yaml measured.csv --free 'K=500:2000' --free b --starts 20 --json",
)
def fit(options: FitOptions) -> None:
    """Find parameters from measured data, and say what the data can tell."""
    target = printed_or_written(options.target)
    refuse_overwriting(target, force=options.force)
    check_picture(options.plot, options.model, force=options.force)
    if target is not None:
        check_folder(target)
    model, free = as_model(options.model), _free(options.free)
    given = sort_settings(model, options.settings)
    # What is asked of the fit makes sense before any run, too.
    if options.profile is not None and options.profile not in free:
        raise BAD_FREE.error(f"'{options.profile}' is not free", fix=f"free are {listing(free)}")
    if options.check:
        asked = RunSettings(None, given.inputs, given.initial, given.parameters, options.solver, options.rtol)
        FitProblem(model, records_of(list(options.check)), free, asked, measured=options.measured, noise={})
    found = fitted(
        model,
        list(options.data),
        free,
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        **keywords(options, fitted),
    )
    others = found.check(list(options.check)) if options.check else ()
    profile = None if options.profile is None else found.profile(options.profile)
    written = [] if target is None else [str(found.save(target))]
    if options.plot is not None:
        written.append(save_plot(found.plot(profile, **options.look), options.plot, options.model))
    checks = [{"name": one.name, "rms": one.rms, "fit_percent": one.fit_percent} for one in others]
    told = (
        None
        if profile is None
        else {"name": profile.name, "values": profile.values.tolist(), "chi2": profile.chi2.tolist()}
    )
    more = {**({"checks": checks} if checks else {}), **({"profile": told} if told else {})}
    output.show(options, lambda: {**found.to_json(), **more}, lambda: _fit_text(found, others, profile))
    if not options.as_json:
        if options.target is not None and target is None:
            output.write(to_yaml(found.model))
        output.say_written(*written, below=True)


def _free(texts: tuple[str, ...]) -> dict[str, Bounds | None]:
    """Names with bounds, where they have some."""
    found: dict[str, Bounds | None] = {}
    for part in (part.strip() for text in texts for part in text.split(",")):
        name, sign, bounds = (word.strip() for word in part.partition("="))
        low, colon, high = (word.strip() for word in bounds.partition(":"))
        if not name or bool(sign) != bool(low and colon and high) or ":" in high:
            raise BAD_FREE.error(f"'{part}' is no name with bounds", fix="write it as K=0.1:0.3")
        found[name] = (low, high) if sign else None
    return found


def _fit_text(found: Fit, others: tuple[RecordFit, ...], profile: Profile | None) -> str:
    lines = [str(found)]
    for one in others:
        told = ", ".join(f"{name} {percent:.1f} %" for name, percent in one.fit_percent.items())
        lines += ["", f"{one.name or 'other data'}: {told}"]
    if profile is not None:
        rows: list[tuple[str, ...]] = [(profile.name, "chi2")]
        rows += [(f"{value:.6g}", f"{cost:.6g}") for value, cost in zip(profile.values, profile.chi2, strict=True)]
        lines += ["", *table_lines(rows)]
        lines += [part for finding in profile.findings for part in ("", str(finding))]
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class InfluenceOptions(ManyRuns):
    """What `influence` is asked for."""

    vary: Mapping[str, str] = option(
        {}, "A name and its distribution; once for each.", metavar="'R_a=normal(0.5 ohm, 5 %)'"
    )
    of: tuple[str, ...] = option(
        (), "What is looked at, once for each: as --keep of sweep.", once_for_each=True, metavar="NAME"
    )
    draws: int = option(1024, "How many draws; each takes two more runs than there are names.", least=2)
    seed: int = option(0, "What the draws begin with.")
    local: bool = option(False, "By slopes at the medians, in place of draws.")
    plot: str | None = option(None, "Plot it, to .svg, .pdf, .png, .tex (TikZ) or .json.", metavar="[FILE]")
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen influence dc_motor_pump --vary 'R_a=normal(100 %, 5 %)' --vary 'K_m=normal(100 %, 5 %)' --of 'max(I_a)'"
)
def influence(options: InfluenceOptions) -> None:
    """Say which parameters decide what a run gives."""
    check_picture(options.plot, options.model, force=options.force)
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    found = influences(
        model,
        {name: read_variation(name, text) for name, text in options.vary.items()},
        options.of,
        options.until,
        method="local" if options.local else "sobol",
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        **keywords(options, influences),
    )
    written = [] if options.plot is None else [save_plot(found.plot(**options.look), options.plot, options.model)]
    output.show(options, found.to_json, lambda: str(found))
    if not options.as_json:
        output.say_written(*written, below=True)


@dataclass(frozen=True, kw_only=True)
class OptimiseOptions(ManyRuns):
    """What `optimise` is asked for."""

    free: tuple[str, ...] = option(
        (), "What to choose, with its bounds; commas between several.", metavar="C=1e-6:1e-3", once_for_each=True
    )
    minimise: str = option("", "What is to be smallest: as --keep of sweep, or a formula.", metavar="'max(I_a)'")
    subject_to: tuple[str, ...] = option(
        (), "A constraint; once for each.", metavar="'max(P_0) <= 30 bar'", once_for_each=True
    )
    starts: int = option(8, "How many points between the bounds to start at.", least=1)
    method: Method = option("auto", "By slopes, by evolution (CMA-ES), or auto: evolution where slopes lead nowhere.")
    over: Mapping[str, str] = option(
        {}, "A name and its distribution: the mean over its draws is minimised.", metavar="'R=normal(100 %, 5 %)'"
    )
    quantile: float | None = option(None, "With --over: this quantile in place of the mean.", needs="over")
    draws: int = option(32, "With --over: how many draws.", least=1, needs="over")
    seed: int = option(0, "What draws and starts begin with.")
    target: Path | None = model_file("Where to write the model with the best values.")
    plot: str | None = option(None, "Plot the run with the best values.", metavar="[FILE]")
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen optimise dc_motor_pump --free K_m=0.05:0.5 --minimise '-omega_m' --subject-to 'max(I_a) <= 30 A'",
    "tellegen optimise m.yaml --free b=1:100 --minimise 'max(v_m)' --over 'K=normal(800 N/m, 10 %)' -o best.yaml",
)
def optimise(options: OptimiseOptions) -> None:
    """Choose parameters so that a number of a run is smallest, within bounds and constraints."""
    target = printed_or_written(options.target)
    refuse_overwriting(target, force=options.force)
    check_picture(options.plot, options.model, force=options.force)
    if target is not None:
        check_folder(target)
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    bounds = _free(options.free)
    for name, ends in bounds.items():
        if ends is None:
            raise BAD_FREE.error(f"'{name}' has no bounds", where=name, fix=f"write it as {name}=0.1:0.3")
    if not options.minimise:
        raise typer.BadParameter("say what is to be smallest", param_hint="--minimise")
    asked = {name: value for name, value in keywords(options, optimised).items() if name != "over"}
    found = optimised(
        model,
        {name: ends for name, ends in bounds.items() if ends is not None},
        options.minimise,
        over={name: read_variation(name, text) for name, text in options.over.items()},
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        **asked,
    )
    written = [] if target is None else [str(found.save(target))]
    if options.plot is not None:
        written.append(save_plot(found.run.plot(**options.look), options.plot, options.model))
    output.show(options, found.to_json, lambda: str(found))
    if not options.as_json:
        if options.target is not None and target is None:
            output.write(to_yaml(found.model))
        output.say_written(*written, below=True)
