"""The command `analyse`: what a linear model tells, printed and plotted."""

from collections.abc import Mapping
from dataclasses import dataclass

import typer

from tellegen.analysis.poles import poles_near
from tellegen.analysis.summary import pole_record, poles_to_text
from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, command, force, settings
from tellegen.cli.pictures import check_picture, show_figure
from tellegen.core.options import option
from tellegen.experiments.analysing import analyse as analysed
from tellegen.experiments.setup import sort_settings
from tellegen.notations.loading import as_model
from tellegen.workflow.deriving import derive


@dataclass(frozen=True, kw_only=True)
class AnalyseOptions(OfModel):
    """What `analyse` is asked for."""

    at: Mapping[str, str] | None = option(
        None, "Linearise here, not in steady state: a value of a state; once for each.", metavar="omega=80"
    )
    settings: Mapping[str, str] = settings("A parameter or a constant input")
    poles: int | None = option(
        None, "Only the poles nearest to a point, for models of any size.", metavar="COUNT", least=1
    )
    near: float = option(0.0, "With --poles: the point on the real axis.", metavar="S")
    outputs: tuple[str, ...] | None = option(
        None, "Variables measured beside the outputs of the sources.", metavar="v,F_K"
    )
    plot: str | None = option(None, "The Bode diagram: on the screen, or to .png, .svg or .pdf.", metavar="[FILE]")
    step: str | None = option(None, "The step responses, to .png, .svg or .pdf.", metavar="FILE")
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen analyse dc_motor_pump --plot bode.svg", "tellegen analyse crank_rod --at theta=1")
def analyse(options: AnalyseOptions) -> None:
    """Poles, zeros, damping, gains, structure and the split of power."""
    if options.poles is not None:
        _show_poles(options.model, options.poles, options)
        return
    name = options.model
    for target in (options.plot, options.step):
        check_picture(target, name, force=options.force)
    model = as_model(name)
    given = sort_settings(model, options.settings)
    if given.initial:
        raise typer.BadParameter(f"'{next(iter(given.initial))}' is a state: give it with --at", param_hint="--set")
    found = analysed(model, at=options.at, inputs=given.inputs, parameters=given.parameters, outputs=options.outputs)
    written = [] if options.plot is None else show_figure(lambda figure: found.plot(figure=figure), options.plot, name)
    if options.step is not None:
        written += show_figure(lambda figure: found.plot_step(figure=figure), options.step, name)
    if options.as_json:
        output.write_json(found.to_json())
        return
    output.write(str(found))
    output.say_written(*written, below=True)


def _show_poles(name: str, count: int, options: AnalyseOptions) -> None:
    """Print the poles nearest to a point, for models of any size."""
    model = as_model(name)
    found = poles_near(derive(model, form="dae", numeric=True), near=options.near, count=count)
    if options.as_json:
        output.write_json({"poles": [pole_record(pole) for pole in found]})
    else:
        output.write(poles_to_text(found, controlled=any(e.signal is not None for e in model.elements)))
