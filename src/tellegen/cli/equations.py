"""How `derive` shows each form of equations: text, JSON or LaTeX."""

from collections.abc import Mapping
from typing import NamedTuple

from tellegen.cli import output
from tellegen.conditioning import LagrangeSystem
from tellegen.conditioning.lagrange import lagrange_steps
from tellegen.core.domains import DOMAINS
from tellegen.core.units import describe, parse_unit
from tellegen.equations.forms.hamiltonian import HamiltonianSystem
from tellegen.equations.forms.transfer import TransferMatrix
from tellegen.equations.printing.latex import (
    descriptor_to_latex,
    equations_to_latex,
    hamiltonian_to_latex,
    transfer_to_latex,
)
from tellegen.equations.printing.record import (
    descriptor_to_record,
    equations_to_record,
    hamiltonian_to_record,
    transfer_to_record,
)
from tellegen.equations.printing.terms import Sign
from tellegen.equations.printing.text import (
    descriptor_to_text,
    equations_to_text,
    hamiltonian_to_text,
    steps_to_text,
    transfer_to_text,
)
from tellegen.equations.steps import derivation_steps
from tellegen.equations.system import EquationSystem, parameter_values
from tellegen.expressions import Symbol
from tellegen.graph import StorageLaw
from tellegen.model.model import Model, Parameter
from tellegen.notations.loading import as_model
from tellegen.workflow.deriving import Derived, Form, derive_closed
from tellegen.workflow.deriving import derive as derive_form


class Wanted(NamedTuple):
    """What the options of `derive` ask for."""

    form: Form
    sign: Sign
    numeric: bool
    eliminate: bool
    as_json: bool
    as_latex: bool
    mode: Mapping[str, str]
    closed_at: Mapping[str, str] | None = None
    outputs: tuple[str, ...] | None = None


def show_equations(name: str, wanted: Wanted) -> None:
    """Derive the equations of a model and print them."""
    model = as_model(name)
    found = _derived(model, wanted)
    if wanted.as_json:
        output.write_json(_record(found, wanted))
    elif wanted.as_latex:
        output.write(_latex(found, wanted))
    else:
        output.write(_text(found, wanted, model))


def _derived(model: Model, wanted: Wanted) -> Derived:
    if wanted.closed_at is not None:
        return derive_closed(
            model,
            form=wanted.form,
            numeric=wanted.numeric,
            mode=wanted.mode,
            at=_point(wanted.closed_at),
            outputs=wanted.outputs,
        )
    return derive_form(
        model,
        form=wanted.form,
        numeric=wanted.numeric,
        eliminate=wanted.eliminate,
        mode=wanted.mode,
        outputs=wanted.outputs,
    )


def _point(texts: Mapping[str, str]) -> dict[str, float]:
    # What reads quantities of an experiment is loaded for those who give a point.
    from tellegen.experiments.quantities import value_of

    return {name: value_of(text, None, f"the value of {name}") for name, text in texts.items()}


def show_steps(
    name: str, sign: Sign, mode: Mapping[str, str], *, as_json: bool, as_latex: bool, lagrange: bool = False
) -> None:
    """Derive the equations of a model step by step and print the steps."""
    plain = not lagrange
    steps = derivation_steps(derive_form(name, mode=mode), sign=sign) if plain else lagrange_steps(as_model(name))
    if as_json:
        output.write_json(steps.to_json())
    elif as_latex:
        output.write(steps.to_latex())
    else:
        output.write(steps_to_text(steps, width=output.width(), unicode=output.shows_unicode()))


def _record(found: Derived, wanted: Wanted) -> dict[str, object]:
    if isinstance(found, EquationSystem):
        return equations_to_record(found, wanted.sign, numeric=wanted.numeric)
    if isinstance(found, HamiltonianSystem):
        return hamiltonian_to_record(found, numeric=wanted.numeric)
    if isinstance(found, LagrangeSystem):
        return found.to_json()
    values = parameter_values(found.parameters)
    if isinstance(found, TransferMatrix):
        return transfer_to_record(found, values)
    return descriptor_to_record(found, values, numeric=wanted.numeric)


def _latex(found: Derived, wanted: Wanted) -> str:
    if isinstance(found, EquationSystem):
        return equations_to_latex(found, sign=wanted.sign)
    if isinstance(found, HamiltonianSystem):
        return hamiltonian_to_latex(found)
    if isinstance(found, LagrangeSystem):
        return found.to_latex()
    if isinstance(found, TransferMatrix):
        return transfer_to_latex(found)
    return descriptor_to_latex(found)


def _text(found: Derived, wanted: Wanted, model: Model) -> str:
    width = output.width()
    if isinstance(found, LagrangeSystem):
        return found.to_text()
    if isinstance(found, HamiltonianSystem):
        return hamiltonian_to_text(found, width=width, unicode=output.shows_unicode(), units=_parameter_units(model))
    if isinstance(found, EquationSystem):
        return equations_to_text(
            found, sign=wanted.sign, width=width, unicode=output.shows_unicode(), units=units_of(model, found)
        )
    if isinstance(found, TransferMatrix):
        return transfer_to_text(found, width=width)
    return descriptor_to_text(found, width=width)


def units_of(model: Model, found: EquationSystem) -> dict[str, str]:
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
    return describe(parameter.dimension).split(" ", 1)[0]
