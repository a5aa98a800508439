"""The command `derive`."""

from enum import StrEnum
from typing import Annotated

import typer

from tellegen.cli.options import (
    AsJson,
    AsLatex,
    ModelText,
    SignName,
    SignOption,
    name_list,
    pairs,
    refuse_two_languages,
)

EXAMPLES = (
    "tellegen derive dc_motor_pump",
    "tellegen derive rlc --form tf --latex",
    "tellegen derive m.yaml --json",
)


class FormName(StrEnum):
    """Forms of equations."""

    POG = "pog"
    PH = "ph"
    LAGRANGE = "lagrange"
    DAE = "dae"
    TF = "tf"


def command(
    model: ModelText,
    form: Annotated[
        FormName | None,
        typer.Option(
            help="pog: L x' = -A x + B u; ph: port-Hamiltonian; lagrange: M q'' + C q' + R q' + G = W tau; dae: descriptor form, "
            "nothing eliminated; tf: transfer matrix."
        ),
    ] = None,
    sign: SignOption = SignName.MINUS,
    numeric: Annotated[
        bool,
        typer.Option("--numeric", help="Numbers for parameters: the sparse descriptor form, or the form asked for."),
    ] = False,
    eliminate: Annotated[
        bool, typer.Option("--eliminate", help="With --numeric: the matrices L, A, B, C, D instead.")
    ] = False,
    steps: Annotated[
        bool, typer.Option("--steps", help="The derivation step by step: each entry by the paths that make it.")
    ] = False,
    mode: Annotated[
        list[str] | None,
        typer.Option(metavar="S=closed", help="The mode of an element that has modes; once for each element."),
    ] = None,
    closed: Annotated[
        bool,
        typer.Option("--closed", help="The linear closed loop: signals are part of the model, references are inputs."),
    ] = False,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="omega=80",
            help="With --closed: the operating point, a value of a state or an input; once for each.",
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        typer.Option(
            metavar="v,F_K", help="Rows of the transfer matrix: any variables; with --form pog, measured beside y."
        ),
    ] = None,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Derive the equations of a model."""
    if outputs and steps:
        raise typer.BadParameter("--outputs goes with the forms pog and tf, without --steps")
    if at and not closed:
        raise typer.BadParameter("--at goes with --closed")
    if closed and steps:
        raise typer.BadParameter("--steps goes with the power equations, not with --closed")
    refuse_two_languages(as_json, as_latex)
    if eliminate and not numeric:
        raise typer.BadParameter("--eliminate goes with --numeric")
    if steps and (numeric or form not in (None, FormName.POG, FormName.LAGRANGE)):
        raise typer.BadParameter("--steps goes with the forms pog and lagrange, and with symbols")
    from tellegen.cli.equations import Wanted, show_equations, show_steps

    modes = pairs(mode or (), "--mode", "S=closed")
    if steps:
        show_steps(model, sign.value, modes, as_json=as_json, as_latex=as_latex, lagrange=form is FormName.LAGRANGE)
        return
    point = pairs(at or (), "--at", "omega=80") if closed else None
    chosen = name_list(outputs) if outputs else None
    wanted = Wanted(
        form.value if form else "pog", sign.value, numeric, eliminate, as_json, as_latex, modes, point, chosen
    )
    show_equations(model, wanted)
