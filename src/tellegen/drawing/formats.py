"""Files of figures and animations: the suffix chooses the writer, and a file is written whole or not at all."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from tellegen.core.errors import Rule
from tellegen.core.names import did_you_mean
from tellegen.description.files import reason, write_bytes
from tellegen.drawing import rules

Drawn = TypeVar("Drawn")


def writer_for(
    path: Path, writers: Mapping[str, Callable[[Drawn], bytes]], what: str, rule: Rule
) -> Callable[[Drawn], bytes]:
    """The writer of the suffix of a file.

    Raises: FigureError under `rule` for a suffix that has none.
    """
    suffix = path.suffix.lower()
    if suffix in writers:
        return writers[suffix]
    fix = did_you_mean(suffix, writers) or f"end the name in {', '.join(writers)}"
    message = f"{what} are not written as '{suffix}'" if suffix else f"'{path.name}' has no suffix"
    raise rule.error(message, fix=fix)


def write_drawing(target: Path, data: bytes) -> Path:
    """Write a file under a temporary name and rename it.

    Raises: FigureError (F105) when the system refuses.
    """
    try:
        write_bytes(Path(os.path.realpath(target)), data)
    except (OSError, ValueError) as error:
        what = f"'{target}' cannot be written: {reason(error)}"
        raise rules.NOT_WRITTEN.error(what, fix="choose another folder or name") from error
    return target
