"""The commands `check` and `explain`: what is wrong with a model, and what the code of a finding means."""

import re
import sys
from dataclasses import dataclass

import typer

from tellegen.cli import output
from tellegen.cli.options import OfModel, as_json, command
from tellegen.core.options import required
from tellegen.equations.checking import check as check_model
from tellegen.workflow.explaining import explain as explain_code


@dataclass(frozen=True, kw_only=True)
class CheckOptions(OfModel):
    """What `check` is asked for."""

    as_json: bool = as_json()


@command("tellegen check dc_motor_pump")
def check(options: CheckOptions) -> None:
    """Find errors, and say what the states are.

    Also lists dependent storages and zero-order causal paths. Exits with 1 when there are errors.
    """
    found = check_model(options.model)
    output.show(options, found.to_json, lambda: output.findings_text(str(found).split("\n\n"), sys.stdout.isatty()))
    if not found.ok:
        raise typer.Exit(output.MODEL_ERRORS)


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """What `explain` is asked for."""

    codes: tuple[str, ...] = required(
        "Codes of errors, warnings or notices.", metavar="CODE...", once_for_each=True, quiet=True
    )
    as_json: bool = as_json()


@command("tellegen explain K101", "tellegen explain D110 G101 --json")
def explain(options: ExplainOptions) -> None:
    """Say what the code of an error means: why, a file that is wrong, and one that is right."""
    # Words of a title are looked for together: `tellegen explain two sources`.
    named = any(re.fullmatch(r"[A-Za-z]\d+", code) for code in options.codes)
    found = [explain_code(code) for code in (options.codes if named else [" ".join(options.codes)])]
    output.show(
        options,
        lambda: {"rules": [rule.to_json() for rule in found]},
        lambda: "\n\n\n".join(rule.to_text(output.width()) for rule in found),
    )
