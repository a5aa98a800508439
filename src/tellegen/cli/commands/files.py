"""The commands around files: `examples`, `import`, `schema`, and `cache` for those that runs keep."""

import json
from dataclasses import dataclass
from pathlib import Path

from tellegen.cli import output
from tellegen.cli.options import as_json, command, force, model_file, printed_or_written
from tellegen.core.options import option, required
from tellegen.notations import schema as file_schema
from tellegen.workflow.files import examples as built_in_systems
from tellegen.workflow.files import migrate as rewritten
from tellegen.workflow.importing import imported_and_written


@dataclass(frozen=True, kw_only=True)
class ExamplesOptions:
    """What `examples` is asked for."""

    as_json: bool = as_json()


@command("tellegen examples")
def examples(options: ExamplesOptions) -> None:
    """List the built-in systems."""
    found = built_in_systems()
    widest = max(len(example.name) for example in found)
    output.show(
        options,
        lambda: {"examples": [{"name": example.name, "about": example.about} for example in found]},
        lambda: "\n".join(f"{example.name:<{widest}}  {example.about}" for example in found),
    )


WORDS = ("diodes", "domain_of", "every")
"""The options of readers."""


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What `import` is asked for."""

    file: Path = required("A file of another tool; its ending says of which.", metavar="FILE")
    target: Path | None = model_file()
    diodes: str | None = option(
        None,
        "Of a SPICE deck: exponential with charge, exponential alone, or ideal with modes.",
        metavar="exponential|static|ideal",
    )
    domain_of: tuple[str, ...] | None = option(
        None,
        "Of a 20-sim model: the domain of a component whose ports have none; once for each.",
        flag="--domain-of",
        metavar="NAME=DOMAIN",
        once_for_each=True,
    )
    every: str | None = option(
        None,
        "Of a functional mock-up unit: it steps by itself, and is asked so often; without it, its states are those of the model.",
        metavar="TIME",
    )
    force: bool = force()
    as_json: bool = as_json()


@command(
    "tellegen import example_1.txt -o example_1.yaml", "tellegen import charging.cir --diodes ideal -o charging.yaml"
)
def import_(options: ImportOptions) -> None:
    """Turn a file of another tool into a model file."""
    target = printed_or_written(options.target)
    # What is not given has the default of its reader, and a reader refuses what it does not know.
    more = {word: value for word in WORDS if (value := getattr(options, word)) is not None}
    found = imported_and_written(options.file, target, force=options.force, **more)
    findings = [finding.to_json() for finding in found.findings]
    if found.findings and not options.as_json:
        output.write_findings(found.findings, as_json=False)
    if found.beside and target is None and not options.as_json:
        output.complain(f"with -o the files that it uses are written too: {', '.join(found.beside)}")
    parts = {name: text for name, text in found.beside.items() if isinstance(text, str)}
    output.show_model(found.text, target, as_json=options.as_json, findings=findings, parts=parts)


@dataclass(frozen=True, kw_only=True)
class MigrateOptions:
    """What `migrate` is asked for."""

    file: Path = required("A model file.", metavar="FILE")
    target: Path | None = model_file("Where to write it; without it the file itself is rewritten.")
    force: bool = force()
    as_json: bool = as_json()


@command("tellegen migrate m.yaml")
def migrate(options: MigrateOptions) -> None:
    """Rewrite a file of an earlier version of the format.

    What means something else now is said in the words of the newest version; comments stay. Without -o the file itself is
    rewritten.
    """
    found = rewritten(options.file, options.target, force=options.force)
    nothing = "nothing: the file is of the newest version"
    output.show(
        options,
        lambda: {"changed": list(found.told)},
        lambda: "\n".join(["changed:", *(f"  {said}" for said in found.told or (nothing,))]),
    )


@dataclass(frozen=True, kw_only=True)
class SchemaOptions:
    """Nothing can be asked of `schema`."""


@command("tellegen schema > tellegen.schema.json")
def schema(options: SchemaOptions) -> None:
    """Print the JSON Schema of model files.

    Editors use it to complete and to check what is typed.
    """
    output.write(json.dumps(file_schema.schema(), indent=2))


@dataclass(frozen=True, kw_only=True)
class CacheOptions:
    """What `cache` is asked for."""

    clear: bool = option(False, "Remove it.")
    as_json: bool = as_json()


@command("tellegen cache", "tellegen cache --clear")
def cache(options: CacheOptions) -> None:
    """Show what was compiled and is kept for later runs, or clear it."""
    from tellegen.workflow.kept_code import (
        cache as kept_code,
    )  # brings the compiler, which the other commands do without

    found = kept_code(clear=options.clear)
    if options.as_json:
        output.write_json(found.to_json())
    else:
        output.write(str(found))
