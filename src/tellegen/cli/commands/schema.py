"""The command `schema`."""

import json

from tellegen.cli import output

EXAMPLES = ("tellegen schema > tellegen.schema.json",)


def command() -> None:
    """Print the JSON Schema of model files.

    Editors use it to complete and to check what is typed.
    """
    from tellegen.notations.schema import schema

    output.write(json.dumps(schema(), indent=2))
