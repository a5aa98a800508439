"""The command `condition`: the forms of a model with dependent storages side by side, or their equations."""

from collections.abc import Mapping
from dataclasses import dataclass

from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, as_latex, command, settings
from tellegen.conditioning import ConditioningOptions, Stiffness
from tellegen.conditioning.parasitic import DAMPING, ERROR
from tellegen.core.options import option
from tellegen.experiments.setup import sort_settings
from tellegen.model.model import Model
from tellegen.notations.loading import as_model
from tellegen.studies.conditioning import RTOL, compare_conditioning
from tellegen.studies.conditioning import condition as conditioned


@dataclass(frozen=True, kw_only=True)
class ConditionOptions(OfModel):
    """What `condition` is asked for."""

    forms: tuple[str, ...] = option(
        (),
        "derivative, residual, parasitic, field, lagrange, hamilton; without it, all that the model has.",
        flag="--as",
        metavar="FORM,FORM",
    )
    settings: Mapping[str, str] = settings()
    until: str | None = option(None, "How long to run: 2, or '20 ms'.", metavar="TIME")
    rtol: float | None = option(None, "The relative tolerance.")
    coordinates: tuple[str, ...] = option(
        (), "Displacements, or outputs of storages, that are independent.", metavar="x,theta"
    )
    stiffness: float | None = option(
        None, "The stiffness of parasitic elements, in SI.", metavar="K", excludes=("error",)
    )
    error: float | None = option(
        None, "Parasitic elements stiff enough for this relative error of coordinates and forces: 0.001."
    )
    equations: bool = option(False, "The equations of the forms named with --as, and no runs.", needs="forms")
    as_json: bool = as_json(excludes=("as_latex",))
    as_latex: bool = as_latex("With --equations: print LaTeX (amsmath).", needs="equations")


@command("tellegen condition crank_rod", "tellegen condition crank_rod --as residual,parasitic --stiffness 1e8")
def condition(options: ConditionOptions) -> None:
    """Compare six ways to treat dependent storages: time, error and what each is good for."""
    model = as_model(options.model)
    if options.equations:
        _show_equations(model, options)
        return
    given = sort_settings(model, options.settings)
    found = compare_conditioning(
        model,
        options.forms or None,
        options=ConditioningOptions(options.coordinates, Stiffness(options.stiffness, DAMPING)),
        error=ERROR if options.error is None else options.error,
        until=options.until,
        inputs=given.inputs,
        initial=given.initial,
        parameters=given.parameters,
        rtol=RTOL if options.rtol is None else options.rtol,
    )
    if options.as_json:
        output.write_json(found.to_json())
    else:
        output.write(str(found))


def _show_equations(model: Model, options: ConditionOptions) -> None:
    found = [
        conditioned(model, form, coordinates=options.coordinates, stiffness=options.stiffness, error=options.error)
        for form in options.forms
    ]
    if options.as_json:
        output.write_json({"forms": {made.form: made.to_json() for made in found}})
    else:
        output.write("\n\n".join(made.to_latex() if options.as_latex else made.to_text() for made in found))
