"""How `condition` shows the forms of a model: the table of costs and errors, or the equations of each form."""

from typing import NamedTuple

from tellegen.cli import output
from tellegen.conditioning import ConditioningOptions, Stiffness
from tellegen.conditioning.parasitic import DAMPING, ERROR
from tellegen.experiments.setup import sort_settings
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.studies.conditioning import RTOL, compare_conditioning, condition


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
    options = ConditioningOptions(wanted.coordinates, Stiffness(wanted.stiffness, DAMPING))
    found = compare_conditioning(
        model,
        wanted.forms or None,
        options=options,
        error=ERROR if wanted.error is None else wanted.error,
        until=wanted.until,
        inputs=given.inputs,
        initial=given.initial,
        parameters=given.parameters,
        rtol=RTOL if wanted.rtol is None else wanted.rtol,
    )
    if wanted.as_json:
        output.write_json(found.to_json())
    else:
        output.write(str(found))


def _show_equations(model: Model, wanted: ConditionOptions) -> None:
    found = [
        condition(model, form, coordinates=wanted.coordinates, stiffness=wanted.stiffness, error=wanted.error)
        for form in wanted.forms
    ]
    if wanted.as_json:
        output.write_json({"forms": {made.form: made.to_json() for made in found}})
    else:
        output.write("\n\n".join(made.to_latex() if wanted.as_latex else made.to_text() for made in found))
