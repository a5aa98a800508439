"""Model files: the built-in examples, what a model takes along, and none written over another one unasked."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.core.files import write_bytes
from tellegen.core.shipped import SUFFIX, example_file, example_names
from tellegen.notations.reading import Migration, migration
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode, read_document, write_text
from tellegen.workflow.rules import WOULD_OVERWRITE


@final
@dataclass(frozen=True, slots=True)
class Example:
    """A built-in system: its name, and what it is in one line."""

    name: str
    about: str


def examples() -> tuple[Example, ...]:
    """The built-in systems, by name. No model is built: only the line that describes each is read.

    >>> [example.name for example in examples()][:2]
    ['cauer_low_pass', 'dc_motor']
    """
    return tuple(Example(name, _about(example_file(name))) for name in example_names())


def _about(path: Path) -> str:
    """The text of `about`, else of `system`, read up to the first line that is neither."""
    found: dict[str, str] = {}
    # Only the head of each file: to list the examples none of them is opened as a model.
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            key, colon, text = line.partition(":")
            if colon and key in {"system", "about"}:
                found[key] = text.strip().strip("\"'")
            elif colon and not key.startswith("#"):
                break
    return found.get("about") or found.get("system", "")


def write_new(text: str, output: str | os.PathLike[str], *, force: bool) -> str:
    """Write the text of a model, and give it back.

    Raises: DescriptionError (D302) when `output` is there already and `force` is off.
    """
    refuse_overwriting(output, force=force)
    write_text(Path(output), text)
    return text


def write_with_files(text: str, source: str, target: Path, *, force: bool) -> None:
    """Write the text of a model that was read from `source`; what it uses beside that goes with it into another folder.

    Raises: DescriptionError (D302) where another file stands in the way of one and `force` is off; nothing is written then.
    """
    old, new = Path(source).parent, target.parent
    further: dict[Path, bytes] = {}
    if os.path.isfile(source) and old.resolve() != new.resolve():
        further = {new / name: (old / name).read_bytes() for name in dict.fromkeys(_used_files(Path(source), Path()))}
    for path, content in further.items():
        if not (path.is_file() and path.read_bytes() == content):
            refuse_overwriting(path, force=force)
    # The model last: it is never there without what it uses.
    for path, content in further.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)
    write_text(target, text)


def _used_files(file: Path, folder: Path) -> Iterator[Path]:
    """The parts, tables, maps and units beside a model, and beside its parts, as paths from the folder of the model."""
    waiting: list[Node] = [read_document(file).root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, SequenceNode):
            waiting += node.items
        elif isinstance(node, MappingNode):
            for key, value in node.items():
                waiting.append(value)
                if key.text in ("use", "file", "fmu") and isinstance(value, Scalar):
                    found = file.parent / value.text
                    if found.is_file():
                        yield folder / value.text
                        if found.suffix == SUFFIX:
                            yield from _used_files(found, (folder / value.text).parent)


def refuse_overwriting(output: str | os.PathLike[str] | None, *, force: bool) -> None:
    """Check that a file to be written takes the place of none; without a file there is nothing to check.

    Raises: DescriptionError (D302) when `output` is there already and `force` is off.
    """
    if output is not None and not force and os.path.exists(output):
        raise WOULD_OVERWRITE.error(f"'{output}' is there already", fix="choose another name, or force it (--force)")


def migrate(
    path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, *, force: bool = False
) -> Migration:
    """Rewrite a file of an earlier version of the format in the newest one, its comments kept; `told` says what changed.

    `output` takes the new text where the file shall stay. A file of the newest version is left as it is.

    Raises: DescriptionError for a file that cannot be read, and (D302) when `output` is there already and `force` is off.
    """
    refuse_overwriting(output, force=force)
    found = migration(Path(path))
    if found.told or output is not None:
        write_with_files(found.text, str(path), Path(path if output is None else output), force=force)
    return found
