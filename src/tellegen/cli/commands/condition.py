"""The command `condition`."""

from typing import Annotated

import typer

from tellegen.cli.options import (
    AsJson,
    ModelText,
    RelativeTolerance,
    SettingsOption,
    Until,
    name_list,
    pairs,
    refuse_two_languages,
)

EXAMPLES = (
    "tellegen condition crank_rod",
    "tellegen condition crank_rod --as residual,parasitic --stiffness 1e8",
)


def command(
    model: ModelText,
    forms: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORM,FORM",
            help="derivative, residual, parasitic, field, lagrange, hamilton; without it, all that the model has.",
        ),
    ] = "",
    settings: SettingsOption = None,
    until: Until = None,
    rtol: RelativeTolerance = None,
    coordinates: Annotated[
        str, typer.Option(metavar="x,theta", help="Displacements, or outputs of storages, that are independent.")
    ] = "",
    stiffness: Annotated[
        float | None, typer.Option(metavar="K", help="The stiffness of parasitic elements, in SI.")
    ] = None,
    error: Annotated[
        float | None,
        typer.Option(help="Parasitic elements stiff enough for this relative error of coordinates and forces: 0.001."),
    ] = None,
    equations: Annotated[
        bool, typer.Option("--equations", help="The equations of the forms named with --as, and no runs.")
    ] = False,
    as_json: AsJson = False,
    as_latex: Annotated[bool, typer.Option("--latex", help="With --equations: print LaTeX (amsmath).")] = False,
) -> None:
    """Compare six ways to treat dependent storages: time, error and what each is good for."""
    if stiffness is not None and error is not None:
        raise typer.BadParameter("--stiffness and --error exclude each other")
    if equations and not forms:
        raise typer.BadParameter("--equations goes with --as")
    if as_latex and not equations:
        raise typer.BadParameter("--latex goes with --equations")
    refuse_two_languages(as_json, as_latex)
    from tellegen.cli.conditioning import ConditionOptions, show_conditioning

    words, chosen = name_list(forms), name_list(coordinates)
    given = pairs(settings or (), "--set", "K=2e5")
    wanted = ConditionOptions(words, given, until, rtol, chosen, stiffness, error, equations, as_json, as_latex)
    show_conditioning(model, wanted)
