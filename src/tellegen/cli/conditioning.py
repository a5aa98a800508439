"""How `condition` shows the forms of a model: the table of costs and errors, or the equations of each form."""

from typing import NamedTuple

from tellegen.cli import output
from tellegen.conditioning import Options, Stiffness
from tellegen.conditioning.parasitic import DAMPING
from tellegen.description import Model
from tellegen.description.opening import as_model
from tellegen.experiments.settings import sort_settings
from tellegen.studies.conditioning import RTOL, Setting, compare_conditioning
from tellegen.studies.parasitic_sizing import size_parasitic
from tellegen.workflow import condition


class ConditionOptions(NamedTuple):
    """What the options of `condition` ask for."""

    forms: tuple[str, ...]
    settings: dict[str, str]
    until: str | None
    rtol: float | None
    coordinates: tuple[str, ...]
    stiffness: float | None
    error: float | None
    equations: bool
    as_json: bool
    as_latex: bool


def show_conditioning(name: str, wanted: ConditionOptions) -> None:
    """Run the forms side by side and print the table, or print the equations of the forms."""
    model = as_model(name)
    if wanted.equations:
        _show_equations(model, wanted)
        return
    given = sort_settings(model, wanted.settings)
    rtol = RTOL if wanted.rtol is None else wanted.rtol
    setting = Setting(wanted.until, given.inputs, given.initial, given.parameters, rtol)
    options = Options(wanted.coordinates, Stiffness(_stiffness(model, wanted, setting), DAMPING))
    found = compare_conditioning(
        model,
        wanted.forms or None,
        options=options,
        until=wanted.until,
        inputs=given.inputs,
        initial=given.initial,
        parameters=given.parameters,
        rtol=rtol,
    )
    if wanted.as_json:
        output.write_json(found.to_json())
    else:
        output.write(str(found))


def _stiffness(model: Model, wanted: ConditionOptions, setting: Setting) -> float | dict[str, float] | None:
    if wanted.error is None:
        return wanted.stiffness
    found = size_parasitic(model, wanted.error, Options(wanted.coordinates), setting)
    return dict(found.stiffnesses)


def _show_equations(model: Model, wanted: ConditionOptions) -> None:
    found = [
        condition(model, form, coordinates=wanted.coordinates, stiffness=wanted.stiffness) for form in wanted.forms
    ]
    if wanted.as_json:
        output.write_json({"forms": {made.form: made.to_json() for made in found}})
    else:
        output.write("\n\n".join(made.to_latex() if wanted.as_latex else made.to_text() for made in found))
