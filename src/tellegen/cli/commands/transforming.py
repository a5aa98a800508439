"""Commands that make another model of a model, or files of another tool: `reduce` and `stiffen`, the reverse of a limit,
`translate` and `export`.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import typer

from tellegen.cli import output
from tellegen.cli.commands.derive import show_steps, units_of, write_lesson
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
from tellegen.core.language import LANGUAGES
from tellegen.core.options import option, required
from tellegen.equations.printing.text import equations_to_text
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import write_text
from tellegen.reduction import Reduction
from tellegen.reduction.steps import reduction_steps
from tellegen.schemes.translation import Notation
from tellegen.teaching.rules import LESSON_FILES
from tellegen.workflow.files import refuse_overwriting
from tellegen.workflow.transforming import reduce as reduced
from tellegen.workflow.transforming import stiffen as stiffened
from tellegen.workflow.transforming import translate as translated


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
    language: str = option("en", "The language of --steps.", choices=LANGUAGES, needs="steps")
    as_json: bool = as_json(excludes=("as_latex",))
    as_latex: bool = as_latex()
    target: Path | None = model_file(
        "Where to write the reduced model; '-' prints it; --steps with figures as .html or .tex."
    )
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
        # LaTeX of a projection is its equations too, and goes with --order.
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
        from tellegen.studies.suggestion import suggest_limits

        found = suggest_limits(options.model)
        output.show(options, found.to_json, found.__str__)
        return
    refuse_overwriting(options.target, force=options.force)
    if options.order is not None:
        _show_projection(options.order, options)
    else:
        _show_reduction(options)


def _show_reduction(options: ReduceOptions) -> None:
    found = reduced(options.model, options.limit, keep=options.keep)
    steps = partial(reduction_steps, found, sign=options.sign, language=options.language)  # type: ignore[arg-type]
    if options.steps and options.target is not None and options.target.suffix.lower() in LESSON_FILES:
        write_lesson(found, steps(), options.target, overwrite=options.force)
        return
    if options.target == PRINTED:
        output.write(to_yaml(found.model))
        return
    if options.target is not None:
        write_text(options.target, to_yaml(found.model))
    if options.loss or options.study:
        _show_cost(found, options)
    elif options.steps:
        show_steps(options, steps())
    else:
        units = units_of(found.model, found.equations)
        width, unicode = output.width(), output.shows_unicode()
        output.show(
            options,
            lambda: found.to_json(options.sign),
            lambda: found.to_text(options.sign, width=width, unicode=unicode, units=units),
            lambda: found.to_latex(options.sign),
        )
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
    width, unicode = output.width(), output.shows_unicode()
    text = equations_to_text(found.equations, sign=options.sign, width=width, unicode=unicode).rstrip()
    output.show(
        options,
        lambda: found.to_json(options.sign),
        lambda: f"{text}\n\n{found}",
        lambda: found.equations.to_latex(options.sign),
    )
    _say_written(options)


def _show_cost(found: Reduction, options: ReduceOptions) -> None:
    # Studies run models: what compiles and solves them is loaded for those who ask.
    from tellegen.studies.losses import reduction_study, trajectory_loss

    if options.loss:
        loss = trajectory_loss(options.model, found)
        output.show(options, loss.to_json, loss.__str__)
    else:
        study = reduction_study(options.model, options.limit, keep=options.keep)
        output.show(options, study.to_json, study.__str__)


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


@dataclass(frozen=True, kw_only=True)
class ExportOptions(OfModel):
    """What `export` is asked for."""

    target: Path = required("The folder of the files.", flag="--output", short="-o", metavar="FOLDER")
    tool: str = required(
        "simulink: programs for MATLAB and Octave; fmu: a functional mock-up unit; ssp: one in a system structure; "
        "slx: experimental; modelica: a package; python: functions; c: one step, for firmware.",
        flag="--to",
        metavar="TOOL",
    )
    fmi: str | None = option(None, "With fmu: the version of FMI, 2 or 3.", metavar="2|3")
    sources: str | None = option(
        None,
        "With fmu, python and c: sources become inputs, or keep the courses of the experiment.",
        metavar="open|experiment",
    )
    variables: tuple[str, ...] | None = option(
        None,
        "With fmu and c: an output beside those of the experiment; once for each.",
        flag="--variable",
        metavar="NAME",
        once_for_each=True,
    )
    platforms: tuple[str, ...] | None = option(
        None,
        "With fmu: a system to compile for, or 'all'; once for each. Without it, the present one.",
        flag="--platform",
        metavar="NAME",
        once_for_each=True,
    )
    step: str | None = option(None, "With c: how long a step is: 1e-4, or '100 us'.", metavar="TIME")
    method: str | None = option(None, "With c: without it, the one that fits.", metavar="exact|rk4|midpoint")
    real: str | None = option(None, "With c: the kind of its numbers.", metavar="double|float")
    inputs: tuple[str, ...] | None = option(
        None,
        "With c: a signal that comes from outside, beside the sources; once for each.",
        flag="--input",
        metavar="NAME",
        once_for_each=True,
    )
    controller: bool | None = option(None, "With c: the signals alone, without what they control.")
    shape: str | None = option(
        None,
        "With modelica: without it, a network where one can be; equations are those of derive.",
        flag="--as",
        metavar="network|equations",
    )
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen export dc_motor_pump --to simulink -o motor", "tellegen export crank_rod --to fmu --fmi 3 -o units")
def export(options: ExportOptions) -> None:
    """Write a model with its experiment as files of another tool."""
    from tellegen.exporting.exports import (
        NOTICES,
        export_model,
    )  # brings the numbers that the other commands here do without

    words = ("fmi", "sources", "variables", "platforms", "step", "method", "real", "inputs", "controller", "shape")
    given = {word: getattr(options, word) for word in words}
    # What is not given has the default of its tool, and a tool refuses what it does not know.
    more = {word: value for word, value in given.items() if value is not None}
    written = export_model(options.model, options.tool, options.target, overwrite=options.force, **more)
    if options.as_json:
        output.write_json({"files": [str(path) for path in written]})
    else:
        output.say_written(*written)
        if (notice := NOTICES.get(options.tool)) is not None:
            output.write(f"notice: {notice}")


@dataclass(frozen=True, kw_only=True)
class TranslateOptions(OfModel):
    """What `translate` is asked for."""

    notation: Notation = required("The notation of the new file.", metavar="NOTATION")
    target: Path | None = model_file()
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen translate dc_motor_pump bond -o dc_motor_pump_bond.yaml")
def translate(options: TranslateOptions) -> None:
    """Say the same model in another notation: as a network, a bond graph or a Power-Oriented Graph."""
    target = printed_or_written(options.target)
    text = translated(options.model, options.notation, target, force=options.force)
    output.show_model(text, target, as_json=options.as_json)
