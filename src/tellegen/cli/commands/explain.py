"""The command `explain`."""

import re
from typing import Annotated

import typer

from tellegen.cli import output
from tellegen.cli.options import AsJson

EXAMPLES = (
    "tellegen explain K101",
    "tellegen explain D110 G101 --json",
)


def command(
    codes: Annotated[
        list[str], typer.Argument(metavar="CODE...", help="Codes of errors, warnings or notices.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Say what the code of an error means: why, a file that is wrong, and one that is right."""
    from tellegen.workflow.explaining import explain

    # Words of a title are looked for together: `tellegen explain two sources`.
    named = any(re.fullmatch(r"[A-Za-z]\d+", code) for code in codes)
    found = [explain(code) for code in (codes if named else [" ".join(codes)])]
    if as_json:
        output.write_json({"rules": [rule.to_json() for rule in found]})
    else:
        output.write("\n\n\n".join(rule.to_text(output.width()) for rule in found))
