"""The command `design`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, command, force, model_file, printed_or_written
from tellegen.core.options import keywords, option, required
from tellegen.studies.control_design import design as designed
from tellegen.workflow.files import refuse_overwriting, write_with_files


@dataclass(frozen=True, kw_only=True)
class DesignOptions(OfModel):
    """What `design` is asked for."""

    kind: Literal["pi", "lead", "pid", "lqr", "poles", "observer"] = required(
        "pi, lead and pid: by crossover and phase margin; lqr: by sizes; poles: by poles; observer: by poles or sizes.",
        metavar="KIND",
    )
    inputs: tuple[str, ...] = required(
        "The sources or signals that are driven; of an observer, those that it knows.", flag="--for", metavar="V,F"
    )
    measure: tuple[str, ...] = option((), "What is measured.", metavar="omega,I")
    reference: str = option("", "What the first measured output follows: a formula.", metavar="'150 rad/s'")
    crossover: str | None = option(None, "Where the loop has gain one: in rad/s, or in Hz.", metavar="'20 rad/s'")
    phase_margin: float = option(60.0, "The phase margin there, in degrees.")
    sizes: Mapping[str, str] = option(
        {},
        "How large a variable may be (lqr), or a noise is (observer); once for each.",
        flag="--size",
        metavar="omega='5 rad/s'",
    )
    poles: tuple[str, ...] = option((), "The poles, in 1/s.", metavar="-50,-40+30j,-40-30j")
    name: str = option("", "What the first new signal is called.")
    at: Mapping[str, str] | None = option(
        None, "Linearise here, not in steady state: a value of a state; once for each.", metavar="omega=80"
    )
    parameters: Mapping[str, str] = option(
        {}, "A parameter, in SI or with a unit; once for each.", flag="--set", metavar="K=2e5"
    )
    target: Path | None = model_file()
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen design dc_motor pi --for V --measure omega --reference '150 rad/s' --crossover '60 rad/s' -o controlled.yaml",
    "tellegen design dc_motor lqr --for V --size omega='5 rad/s' --size V='2 V'",
)
def design(options: DesignOptions) -> None:
    """Design a controller or an observer from a model, and write it into its file."""
    target = printed_or_written(options.target)
    refuse_overwriting(target, force=options.force)
    found = designed(options.model, options.kind, **keywords(options, designed))
    if target is not None:
        write_with_files(found.text, found.file, target, force=options.force)
    output.show_model(found.text, target, as_json=options.as_json, about=str(found), **found.to_json())
