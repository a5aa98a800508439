"""`import_model`: files of other tools become model files, with what they use beside them."""

import os
from pathlib import Path
from typing import Any

from tellegen.core.files import write_bytes
from tellegen.importing.imported import Imported
from tellegen.importing.imports import imported
from tellegen.notations.loading import holds_spice_deck
from tellegen.notations.yaml.document import write_text
from tellegen.workflow.files import refuse_overwriting
from tellegen.workflow.rules import NOTHING_TO_IMPORT


def import_model(
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    **options: Any,
) -> str:
    """A file of another tool as the text of a model file; written to `output` where that is given.

    Which tool is told by the ending: `.txt` is a POG_Modeler netlist. What could not be read is told at the head of the text.
    Files that the model uses, such as its parts, are written beside `output`, or not at all. Everything is written or nothing.

    Raises: DescriptionError when the file cannot be read, for an option that its reader does not know (D311), or when a file to be
    written is there already and `force` is off (D302).
    """
    return imported_and_written(path, output, force=force, **options).text


def imported_and_written(
    path: str | os.PathLike[str], output: str | os.PathLike[str] | None, *, force: bool, **options: Any
) -> Imported:
    """The same with all there is to say about it."""
    file = Path(path)
    if file.suffix.lower() in {".yaml", ".yml"} and not holds_spice_deck(file):
        raise NOTHING_TO_IMPORT.error(f"'{file}' is a model file already", fix="use it as it is")
    # Made whole before anything is written.
    found = imported(file, Path(file if output is None else output).stem, **options)
    if output is None:
        return found
    for name in found.beside:
        refuse_overwriting(Path(output).with_name(name), force=force)
    refuse_overwriting(output, force=force)
    # The model last: it is never there without what it uses.
    for name, content in found.beside.items():
        target = Path(output).with_name(name)
        write_text(target, content) if isinstance(content, str) else write_bytes(target, content)
    write_text(Path(output), found.text)
    return found
