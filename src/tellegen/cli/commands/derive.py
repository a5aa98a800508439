"""The command `derive`: the equations of a model as text, JSON or LaTeX."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tellegen.cli import output
from tellegen.cli.options import OfModel, Sign, as_json, as_latex, command, force, sign
from tellegen.conditioning.equations_of_motion import lagrange_steps
from tellegen.core.domains import DOMAINS
from tellegen.core.language import LANGUAGES
from tellegen.core.options import option, values
from tellegen.core.units import describe, parse_unit
from tellegen.equations.forms.descriptor import DescriptorSystem
from tellegen.equations.forms.hamiltonian import HamiltonianSystem
from tellegen.equations.forms.state_space import StateSpaceForm
from tellegen.equations.forms.transfer import TransferMatrix
from tellegen.equations.printing import record
from tellegen.equations.printing.text import (
    descriptor_to_text,
    equations_to_text,
    hamiltonian_to_text,
    state_space_to_text,
    steps_to_text,
    transfer_to_text,
)
from tellegen.equations.steps import Explanation, derivation_steps
from tellegen.equations.system import EquationSystem
from tellegen.expressions import Symbol
from tellegen.expressions.symbols import symbols_to_text
from tellegen.graph import StorageLaw
from tellegen.model.model import Model, Parameter
from tellegen.notations.loading import as_model
from tellegen.workflow.deriving import Derived, DeriveOptions
from tellegen.workflow.deriving import derive as derived
from tellegen.workflow.files import refuse_overwriting

if TYPE_CHECKING:
    from tellegen.reduction import Reduction


@dataclass(frozen=True, kw_only=True)
class ShownEquations(DeriveOptions, OfModel):
    """What `derive` is asked for: the equations, and how they are printed."""

    sign: Sign = sign()
    language: str = option("en", "The language of --steps.", choices=LANGUAGES, needs="steps")
    target: Path | None = option(
        None,
        "Where to write the --steps with their figures: .html or .tex (LaTeX).",
        flag="--output",
        short="-o",
        metavar="FILE",
        needs="steps",
    )
    force: bool = force()
    as_json: bool = as_json(excludes=("as_latex",))
    as_latex: bool = as_latex()


@command(
    "tellegen derive dc_motor_pump",
    "tellegen derive rlc --form tf --latex",
    "tellegen derive m.yaml --json",
    "tellegen derive rlc --steps --language it -o steps.html",
)
def derive(options: ShownEquations) -> None:
    """Derive the equations of a model."""
    if options.outputs and options.steps:
        raise typer.BadParameter("--outputs goes with the forms pog, tf and ss, without --steps")
    if options.closed and options.steps:
        raise typer.BadParameter("--steps goes with the power equations, not with --closed")
    if options.steps and (options.numeric or options.form not in ("pog", "lagrange")):
        raise typer.BadParameter("--steps goes with the forms pog and lagrange, and with symbols")
    model = as_model(options.model)
    if options.steps:
        _show_steps(model, options)
        return
    # Values may come with units, which only the reader of experiments knows.
    asked = replace(options, at=_point(options.at) if options.at else None)
    found: Derived = derived(model, **values(asked, DeriveOptions))
    latex = partial(found.to_latex, options.sign) if isinstance(found, EquationSystem) else found.to_latex
    symbols = symbols_to_text(model.symbols)
    output.show(
        options,
        lambda: _record(found, options),
        lambda: "\n".join(part for part in (_text(found, options, model), symbols) if part),
        latex,
    )


def _point(texts: Mapping[str, object]) -> dict[str, float]:
    # What reads quantities of an experiment is loaded for those who give a point.
    from tellegen.experiments.quantities import value_of

    return {name: value_of(str(text), None, f"the value of {name}") for name, text in texts.items()}


def _show_steps(model: Model, options: ShownEquations) -> None:
    if options.form == "lagrange":
        steps = lagrange_steps(model, options.language)  # type: ignore[arg-type]
    else:
        steps = derivation_steps(derived(model, mode=options.mode), sign=options.sign, language=options.language)  # type: ignore[arg-type]
    if options.target is None:
        show_steps(options, steps)
    else:
        write_lesson(model, steps, options.target, overwrite=options.force)


def write_lesson(what: "Model | Reduction", steps: Explanation, target: Path, *, overwrite: bool) -> None:
    """Write a derivation or a reduction step by step, with its figures."""
    # What draws is loaded for those who want figures.
    from tellegen.teaching.lessons import check_lesson_file, lesson

    check_lesson_file(target)
    refuse_overwriting(target, force=overwrite)
    lesson(what, steps).save(target)
    output.say_written(str(target))


def show_steps(options: object, steps: Explanation) -> None:
    """Print a derivation or a reduction step by step."""
    width, unicode = output.width(), output.shows_unicode()
    output.show(options, steps.to_json, lambda: steps_to_text(steps, width=width, unicode=unicode), steps.to_latex)


def _record(found: Derived, wanted: ShownEquations) -> dict[str, object]:
    if isinstance(found, EquationSystem):
        return record.equations_to_record(found, wanted.sign, numeric=wanted.numeric)
    if isinstance(found, HamiltonianSystem):
        return record.hamiltonian_to_record(found, numeric=wanted.numeric)
    if isinstance(found, StateSpaceForm):
        return record.state_space_to_record(found, numeric=wanted.numeric)
    if isinstance(found, DescriptorSystem):
        return record.descriptor_to_record(found, numeric=wanted.numeric)
    return found.to_json()


def _text(found: Derived, wanted: ShownEquations, model: Model) -> str:
    width, unicode = output.width(), output.shows_unicode()
    if isinstance(found, EquationSystem):
        units = units_of(model, found)
        return equations_to_text(found, sign=wanted.sign, width=width, unicode=unicode, units=units)
    if isinstance(found, HamiltonianSystem):
        return hamiltonian_to_text(found, width=width, unicode=unicode, units=_parameter_units(model))
    if isinstance(found, StateSpaceForm):
        return state_space_to_text(found, width=width, unicode=unicode, units=units_of(model, found))
    if isinstance(found, TransferMatrix):
        return transfer_to_text(found, width=width)
    if isinstance(found, DescriptorSystem):
        return descriptor_to_text(found, width=width)
    # Every form prints itself; those above also know a sign, units or the width of the terminal.
    return found.to_text()


def units_of(model: Model, found: EquationSystem | StateSpaceForm) -> dict[str, str]:
    """SI units of parameters, states, inputs and outputs, where they are known."""
    units = _parameter_units(model)
    if found.origin is not None:
        for port in found.origin.graph.ports:
            domain = DOMAINS[port.domain]
            units |= {port.across: domain.across.unit, port.through: domain.through.unit}
            if isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable:
                units[port.state] = domain.energy(port.law.side).unit
    return {name: unit for name, unit in units.items() if unit != "1"}


def _parameter_units(model: Model) -> dict[str, str]:
    """SI units of the parameters, where they are known."""
    units = {name: unit for name, parameter in model.parameters.items() if (unit := _unit_of(parameter))}
    for element in model.elements:
        quantity, value = element.kind.quantity, element.value
        parameter = model.parameters.get(value.name) if isinstance(value, Symbol) else None
        # A connection has no unit of its own.
        if quantity is None or not quantity.unit or parameter is None:
            continue  # a connection has no unit of its own
        # The unit of the kind reads better than one of the same dimension: N*m/A, not Wb. Netlists tell no dimensions.
        if parameter.dimension in (None, parse_unit(quantity.unit).dimension):
            units[parameter.name] = quantity.unit
    return {name: unit for name, unit in units.items() if unit != "1"}


def _unit_of(parameter: Parameter) -> str:
    if parameter.dimension is None:
        return ""
    if parameter.unit and parse_unit(parameter.unit).factor == 1:
        return parameter.unit
    # A description may name several units; the first is the usual one.
    return describe(parameter.dimension).split(" ", 1)[0]
