"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from tellegen.results import rules


def write_atomically(target: Path, write: Callable[[Path], object]) -> Path:
    """Let `write` fill a temporary file beside the target, then give it its name. What was there stays until then.

    Raises: ExportError (X202) when the system refuses.
    """
    try:
        # Beside the target, with its suffix: renaming works inside one file system, and some writers look at the
        # suffix.
        handle, name = tempfile.mkstemp(prefix=f".{target.stem}.", suffix=target.suffix, dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            write(temporary)
            # Temporary files are private; a result is as open as any file that the user makes.
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as reason:
        raise rules.NOT_WRITTEN.error(
            f"'{target}' cannot be written: {reason.strerror or reason}", fix="choose another folder"
        ) from reason
    return target


def check_folder(target: Path) -> None:
    """Refuse a file in a folder that is not there, before anything is computed for it.

    Raises: ExportError (X202).
    """
    if not os.path.isdir(target.parent):
        raise rules.NOT_WRITTEN.error(
            f"'{target}' cannot be written: there is no folder '{target.parent}'",
            fix="make the folder, or choose another",
        )


def _umask() -> int:
    # The only way to read it is to set it.
    now = os.umask(0)
    os.umask(now)
    return now
