"""Model files that are written: never over another one unasked; and files of other tools as model files."""

import os
from pathlib import Path

from tellegen.description import read_netlist, to_yaml
from tellegen.description.document import write_text
from tellegen.workflow.rules import NOTHING_TO_IMPORT, WOULD_OVERWRITE


def write_new(text: str, output: str | os.PathLike[str], *, force: bool) -> str:
    """Write the text of a model, and give it back.

    Raises: DescriptionError (D302) when `output` is there already and `force` is off.
    """
    refuse_overwriting(output, force=force)
    write_text(Path(output), text)
    return text


def refuse_overwriting(output: str | os.PathLike[str] | None, *, force: bool) -> None:
    """Check that a file to be written takes the place of none; without a file there is nothing to check.

    Raises: DescriptionError (D302) when `output` is there already and `force` is off.
    """
    if output is not None and not force and Path(output).exists():
        raise WOULD_OVERWRITE.error(f"'{output}' is there already", fix="choose another name, or force it (--force)")


def import_model(
    path: str | os.PathLike[str], output: str | os.PathLike[str] | None = None, *, force: bool = False
) -> str:
    """A file of another tool as the text of a model file; written to `output` where that is given.

    POG_Modeler netlists (`.txt`) are read. The file is written whole or not at all.

    Raises: DescriptionError when the file cannot be read, or when `output` is there already and `force` is off (D302).
    """
    file = Path(path)
    if file.suffix.lower() in {".yaml", ".yml"}:
        raise NOTHING_TO_IMPORT.error(f"'{file}' is a model file already", fix="use it as it is")
    text = to_yaml(read_netlist(file))
    return text if output is None else write_new(text, output, force=force)
