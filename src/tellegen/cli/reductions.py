"""How `reduce` and `stiffen` show a model: text, JSON or LaTeX, and the file that they write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from tellegen.cli import output
from tellegen.cli.equations import units_of
from tellegen.cli.options import PRINTED
from tellegen.equations.printing.latex import equations_to_latex
from tellegen.equations.printing.terms import Sign
from tellegen.equations.printing.text import equations_to_text, steps_to_text
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import write_text
from tellegen.reduction import Reduction
from tellegen.reduction.reduction import reduction_to_text
from tellegen.reduction.steps import reduction_steps
from tellegen.workflow.files import refuse_overwriting
from tellegen.workflow.transforming import reduce, stiffen


class ReduceOptions(NamedTuple):
    """What the options of `reduce` ask for."""

    limits: tuple[str, ...]
    keep: tuple[str, ...]
    sign: Sign
    steps: bool
    as_json: bool
    as_latex: bool
    target: Path | None
    force: bool
    loss: bool = False
    study: bool = False
    suggest: bool = False


def show_reduction(name: str, wanted: ReduceOptions) -> None:
    """Reduce a model, write the file that is asked for, and print the result, or what the reduction costs."""
    if wanted.suggest:
        _show_suggestions(name, wanted)
        return
    refuse_overwriting(wanted.target, force=wanted.force)
    found = reduce(name, wanted.limits, keep=wanted.keep)
    if wanted.target == PRINTED:
        output.write(to_yaml(found.model))
        return
    if wanted.target is not None:
        write_text(wanted.target, to_yaml(found.model))
    if wanted.loss or wanted.study:
        _show_cost(name, found, wanted)
    elif wanted.steps:
        _show_steps(found, wanted)
    elif wanted.as_json:
        output.write_json(found.to_json(wanted.sign))
    elif wanted.as_latex:
        output.write(found.to_latex(wanted.sign))
    else:
        units = units_of(found.model, found.equations)
        width, unicode = output.width(), output.shows_unicode()
        output.write(reduction_to_text(found, sign=wanted.sign, width=width, unicode=unicode, units=units))
    _say_written(wanted)


def _say_written(wanted: ReduceOptions) -> None:
    """Name the file below a text for people; JSON and LaTeX stay alone on the stream."""
    if wanted.target is not None and not (wanted.as_json or wanted.as_latex):
        output.say_written(wanted.target, below=True)


def show_projection(
    name: str, states: int, method: Literal["balanced", "moments"] | None, wanted: ReduceOptions
) -> None:
    """Project a linear model on a few states, write it where a file is named, and print its equations with what they lose."""
    from tellegen.studies.projection import project

    refuse_overwriting(wanted.target, force=wanted.force)
    found = project(name, states, method=method)
    if wanted.target == PRINTED:
        output.write(to_yaml(found.model))
        return
    if wanted.target is not None:
        write_text(wanted.target, to_yaml(found.model))
    sign = wanted.sign
    if wanted.as_json:
        output.write_json(found.to_json(sign))
    elif wanted.as_latex:
        output.write(equations_to_latex(found.equations, sign=sign))
    else:
        width, unicode = output.width(), output.shows_unicode()
        text = equations_to_text(found.equations, sign=sign, width=width, unicode=unicode)
        output.write(f"{text.rstrip()}\n\n{found}")
    _say_written(wanted)


class StiffenOptions(NamedTuple):
    """What the options of `stiffen` ask for."""

    apart: tuple[str, ...]
    value: float | None
    damped: bool
    target: Path | None
    force: bool
    as_json: bool


def show_stiffened(name: str, connection: str, wanted: StiffenOptions) -> None:
    """Make a connection elastic, and write or print the model."""
    refuse_overwriting(wanted.target, force=wanted.force)
    found = stiffen(name, connection, apart=wanted.apart, value=wanted.value, damped=wanted.damped)
    text = to_yaml(found.model)
    if wanted.target is not None:
        write_text(wanted.target, text)
    about = f"{found.parameter} = {found.value:.6g} in SI; {found.limit} gives the rigid model back"
    record = {"parameter": found.parameter, "value": found.value, "limit": found.limit}
    output.show_model(text, wanted.target, as_json=wanted.as_json, about=about, **record)


def _show_cost(name: str, found: Reduction, wanted: ReduceOptions) -> None:
    # Studies run models: what compiles and solves them is loaded for those who ask.
    from tellegen.studies.convergence import reduction_study
    from tellegen.studies.losses import trajectory_loss

    if wanted.loss:
        loss = trajectory_loss(name, found)
        _show_record(loss.to_json(), str(loss), wanted)
    else:
        study = reduction_study(name, wanted.limits, keep=wanted.keep)
        _show_record(study.to_json(), str(study), wanted)


def _show_suggestions(name: str, wanted: ReduceOptions) -> None:
    from tellegen.studies.suggestion import suggest_limits

    found = suggest_limits(name)
    _show_record(found.to_json(), str(found), wanted)


def _show_record(record: Mapping[str, object], text: str, wanted: ReduceOptions) -> None:
    if wanted.as_json:
        output.write_json(record)
    else:
        output.write(text)


def _show_steps(found: Reduction, wanted: ReduceOptions) -> None:
    steps = reduction_steps(found, sign=wanted.sign)
    if wanted.as_json:
        output.write_json(steps.to_json())
    elif wanted.as_latex:
        output.write(steps.to_latex())
    else:
        output.write(steps_to_text(steps, width=output.width(), unicode=output.shows_unicode()))
