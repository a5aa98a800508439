"""The command `invert`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from tellegen.cli import output
from tellegen.cli.commands.experiments import Plotted, check_picture, save_plot
from tellegen.cli.options import as_json, as_latex, command, force, pairs, settings
from tellegen.core.options import keywords, option, required
from tellegen.experiments.setup import sort_settings
from tellegen.notations.loading import as_model
from tellegen.results.files import check_folder
from tellegen.results.records import writer_for
from tellegen.studies.inversion import Inverse
from tellegen.studies.inversion import invert as inverted
from tellegen.workflow.files import refuse_overwriting


@dataclass(frozen=True, kw_only=True)
class InvertOptions(Plotted):
    """What `invert` is asked for."""

    prescribe: tuple[str, ...] = required(
        "An output and its course; a name alone gives the equations, and no run. Once for each.",
        flag="--prescribe",
        metavar="x='sin(t/(1 s))'",
        once_for_each=True,
    )
    for_: tuple[str, ...] = option(
        (),
        "The inputs asked for, sources or signals; without it, those that nothing drives.",
        flag="--for",
        metavar="V,F",
    )
    settings: Mapping[str, str] = settings()
    until: str | None = option(None, "How long to run: 2, or '20 ms'.", metavar="TIME")
    rtol: float | None = option(None, "The relative tolerance (1e-8).")
    samples: int | None = option(None, "How many even steps the rows make (1000).")
    target: Path | None = option(
        None, "Write the run: .csv, .nc (netCDF), .parquet or .mat.", flag="--output", short="-o", metavar="FILE"
    )
    plot: str | None = option(
        None, "Plot inputs and outputs, to .svg, .pdf, .png, .tex (TikZ) or .json.", metavar="[FILE]"
    )
    force: bool = force()
    as_json: bool = as_json(excludes=("as_latex",))
    as_latex: bool = as_latex("Print the formulas in LaTeX (amsmath).")


@command(
    "tellegen invert dc_motor_pump --prescribe P_0 --for V_a",
    "tellegen invert dc_motor_pump --prescribe P_0='quintic(0, 100 kPa, from=0, to=0.5 s)' --for V_a --plot",
)
def invert(options: InvertOptions) -> None:
    """The inputs with which outputs follow a course: what an actuator has to give."""
    named = [text for text in options.prescribe if "=" not in text]
    if named and len(named) < len(options.prescribe):
        raise typer.BadParameter(f"'{named[0]}' has no course, and others have one", param_hint="--prescribe")
    if named and (options.target is not None or options.plot is not None):
        raise typer.BadParameter(
            "names alone give equations: there is no run to write or plot", param_hint="--prescribe"
        )
    # Nothing is computed for a file that cannot be written.
    if options.target is not None:
        writer_for(options.target)
        check_folder(options.target)
        refuse_overwriting(options.target, force=options.force)
    check_picture(options.plot, options.model, force=options.force)
    model = as_model(options.model)
    given = sort_settings(model, options.settings)
    found = inverted(
        model,
        prescribe=named or pairs(options.prescribe, "--prescribe", "x='sin(t/(1 s))'"),
        parameters=given.parameters,
        inputs=given.inputs,
        initial=given.initial,
        **{name: value for name, value in keywords(options, inverted).items() if name != "prescribe"},
    )
    written: list[str] = []
    equations = found.equations if isinstance(found, Inverse) else found
    if isinstance(found, Inverse):
        written += [] if options.target is None else [str(found.run.save(options.target))]
        written += [] if options.plot is None else [save_plot(found.plot(**options.look), options.plot, options.model)]
    output.show(options, found.to_json, found.to_text, equations.to_latex)
    if not options.as_json and not options.as_latex:
        output.say_written(*written, below=True)
