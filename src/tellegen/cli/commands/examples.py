"""The command `examples`."""

from tellegen.cli import output
from tellegen.cli.options import AsJson

EXAMPLES = ("tellegen examples",)


def command(as_json: AsJson = False) -> None:
    """List the built-in systems."""
    from tellegen.workflow.files import examples

    found = examples()
    if as_json:
        output.write_json({"examples": [{"name": example.name, "about": example.about} for example in found]})
        return
    widest = max(len(example.name) for example in found)
    output.write("\n".join(f"{example.name:<{widest}}  {example.about}" for example in found))
