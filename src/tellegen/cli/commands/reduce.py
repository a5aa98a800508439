"""The commands `reduce` and `stiffen`: a smaller model, what it costs and the file that holds it; and the reverse of a limit."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from tellegen.cli import output
from tellegen.cli.commands.derive import units_of
from tellegen.cli.options import (
    PRINTED,
    OfModel,
    Sign,
    as_json,
    as_latex,
    command,
    force,
    model_file,
    printed_or_written,
    sign,
)
from tellegen.core.options import option, required
from tellegen.equations.printing.latex import equations_to_latex
from tellegen.equations.printing.text import equations_to_text, steps_to_text
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import write_text
from tellegen.reduction import Reduction
from tellegen.reduction.steps import reduction_steps
from tellegen.workflow.files import refuse_overwriting
from tellegen.workflow.transforming import reduce as reduced
from tellegen.workflow.transforming import stiffen as stiffened


@dataclass(frozen=True, kw_only=True)
class ReduceOptions(OfModel):
    """What `reduce` is asked for."""

    limit: tuple[str, ...] = option(
        (),
        "A parameter that tends to 0, to inf, or to another one; once for each.",
        metavar="J_m=0",
        once_for_each=True,
    )
    keep: tuple[str, ...] = option((), "States that should remain, by name.", metavar="x,y")
    sign: Sign = sign()
    steps: bool = option(False, "The reduction step by step.")
    as_json: bool = as_json(excludes=("as_latex",))
    as_latex: bool = as_latex()
    target: Path | None = model_file("Where to write the reduced model; '-' prints it.")
    force: bool = force()
    loss: bool = option(False, "Run both models, and tell how far they are apart.")
    study: bool = option(False, "Measure the order of convergence to the limit.")
    suggest: bool = option(False, "Rank elements by their activity, and try the limits that it proposes.")
    order: int | None = option(
        None, "A linear model with N states, in numbers, instead of limits (pyMOR).", metavar="N"
    )
    method: Literal["balanced", "moments"] | None = option(
        None, "How --order finds them; else the one that loses less.", needs="order"
    )

    def refuse_contradictions(self) -> None:
        """Refuse what cannot be asked for together.

        Raises: typer.BadParameter.
        """
        equations = self.steps or (self.as_latex and self.order is None)
        if self.loss + self.study + self.suggest + equations + (self.order is not None) > 1:
            told = "choose one of --loss, --study, --suggest, --order, or equations (--steps, --latex)"
            raise typer.BadParameter(told)
        if self.suggest and (self.limit or self.keep or self.target):
            raise typer.BadParameter("--suggest proposes limits: it takes none, and writes no model")
        if self.order is not None and (self.limit or self.keep):
            raise typer.BadParameter("--order finds states by itself: it takes no limits")
        if not (self.suggest or self.order is not None or self.limit):
            raise typer.BadParameter("give a limit, such as --limit J_m=0, or ask for proposals (--suggest)")


@command("tellegen reduce dc_motor_pump --limit J_m=0 --steps", "tellegen reduce corking_shaft --limit K_se=inf")
def reduce(options: ReduceOptions) -> None:
    """Reduce a model: parameters at zero or infinity, fewer states."""
    options.refuse_contradictions()
    if options.suggest:
        _show_suggestions(options)
        return
    refuse_overwriting(options.target, force=options.force)
    if options.order is not None:
        _show_projection(options.order, options)
    else:
        _show_reduction(options)


def _show_reduction(options: ReduceOptions) -> None:
    found = reduced(options.model, options.limit, keep=options.keep)
    if options.target == PRINTED:
        output.write(to_yaml(found.model))
        return
    if options.target is not None:
        write_text(options.target, to_yaml(found.model))
    if options.loss or options.study:
        _show_cost(found, options)
    elif options.steps:
        _show_steps(found, options)
    elif options.as_json:
        output.write_json(found.to_json(options.sign))
    elif options.as_latex:
        output.write(found.to_latex(options.sign))
    else:
        units = units_of(found.model, found.equations)
        width, unicode = output.width(), output.shows_unicode()
        output.write(found.to_text(options.sign, width=width, unicode=unicode, units=units))
    _say_written(options)


def _say_written(options: ReduceOptions) -> None:
    """Name the file below a text for people; JSON and LaTeX stay alone on the stream."""
    if options.target is not None and not (options.as_json or options.as_latex):
        output.say_written(options.target, below=True)


def _show_projection(states: int, options: ReduceOptions) -> None:
    """Project a linear model on a few states, write it where a file is named, and print its equations with what they lose."""
    from tellegen.studies.projection import project

    found = project(options.model, states, method=options.method)
    if options.target == PRINTED:
        output.write(to_yaml(found.model))
        return
    if options.target is not None:
        write_text(options.target, to_yaml(found.model))
    if options.as_json:
        output.write_json(found.to_json(options.sign))
    elif options.as_latex:
        output.write(equations_to_latex(found.equations, sign=options.sign))
    else:
        width, unicode = output.width(), output.shows_unicode()
        text = equations_to_text(found.equations, sign=options.sign, width=width, unicode=unicode)
        output.write(f"{text.rstrip()}\n\n{found}")
    _say_written(options)


def _show_cost(found: Reduction, options: ReduceOptions) -> None:
    # Studies run models: what compiles and solves them is loaded for those who ask.
    from tellegen.studies.losses import reduction_study, trajectory_loss

    if options.loss:
        loss = trajectory_loss(options.model, found)
        _show_record(loss.to_json(), str(loss), options)
    else:
        study = reduction_study(options.model, options.limit, keep=options.keep)
        _show_record(study.to_json(), str(study), options)


def _show_suggestions(options: ReduceOptions) -> None:
    from tellegen.studies.suggestion import suggest_limits

    found = suggest_limits(options.model)
    _show_record(found.to_json(), str(found), options)


def _show_record(record: Mapping[str, object], text: str, options: ReduceOptions) -> None:
    if options.as_json:
        output.write_json(record)
    else:
        output.write(text)


def _show_steps(found: Reduction, options: ReduceOptions) -> None:
    steps = reduction_steps(found, sign=options.sign)
    if options.as_json:
        output.write_json(steps.to_json())
    elif options.as_latex:
        output.write(steps.to_latex())
    else:
        output.write(steps_to_text(steps, width=output.width(), unicode=output.shows_unicode()))


@dataclass(frozen=True, kw_only=True)
class StiffenOptions(OfModel):
    """What `stiffen` is asked for."""

    connection: str = required("A storage that follows others, or a node to be cut.", metavar="CONNECTION")
    apart: tuple[str, ...] = option((), "The elements that are parted from the node.", metavar="a,b")
    value: float | None = option(None, "The fictitious parameter in SI; without it one is suggested.")
    undamped: bool = option(False, "No dissipator beside the fictitious storage.")
    target: Path | None = model_file()
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen stiffen planetary_gear J_s -o elastic.yaml")
def stiffen(options: StiffenOptions) -> None:
    """Make a rigid connection elastic: the reverse of a limit."""
    target = printed_or_written(options.target)
    refuse_overwriting(target, force=options.force)
    found = stiffened(
        options.model, options.connection, apart=options.apart, value=options.value, damped=not options.undamped
    )
    text = to_yaml(found.model)
    if target is not None:
        write_text(target, text)
    about = f"{found.parameter} = {found.value:.6g} in SI; {found.limit} gives the rigid model back"
    record = {"parameter": found.parameter, "value": found.value, "limit": found.limit}
    output.show_model(text, target, as_json=options.as_json, about=about, **record)
