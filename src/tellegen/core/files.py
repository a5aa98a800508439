"""Ordinary files of bounded size, read and written whole; places of characters in a text.

Files are read and written as bytes. What cannot be done is raised as OSError or ValueError; `reason` says it in words, and
the reader of a format puts it under its own rule.
"""

import contextlib
import errno
import os
import re
import secrets
import stat
from pathlib import Path

from tellegen.core.errors import Place

MAX_BYTES = 64 * 1024 * 1024
"""No file of a model is larger."""

LINE_BREAK = re.compile("\r\n|\r|\n")


def read_bytes(path: Path, most: int) -> bytes:
    """The bytes of a file, at most one more than `most`. Pipes and devices are not opened: that could wait for ever.

    Raises: OSError, or ValueError where the name cannot be that of a file.
    """
    _require_regular(path.stat().st_mode)
    # Not blocking, and looked at again, in case the name came to mean something else since.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(descriptor, "rb") as stream:
        _require_regular(os.fstat(descriptor).st_mode)
        return stream.read(most + 1)


def write_bytes(target: Path, data: bytes) -> None:
    """Write a file so that it is whole at every moment: a temporary name in the same folder, then the real name.

    Raises: OSError, or ValueError where the name cannot be that of a file; the old file is then untouched.
    """
    # Kept for the new file: whoever made the old one executable or private meant it.
    mode = target.stat().st_mode if os.path.exists(target) else None
    if mode is not None:
        _require_regular(mode)
    # In the same folder, because a name moves in one step within one file system alone; by chance, so that two writers
    # do not meet.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    # Never an existing file, nor one that a link of that name points to.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, flags, 0o666)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        if mode is not None:
            temporary.chmod(stat.S_IMODE(mode))
        temporary.replace(target)
    # Ctrl-C too must not leave a temporary file behind.
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def failure_reason(error: OSError | ValueError, *, absent: str = "there is no such file or folder") -> str:
    """Why a file cannot be read or written, in words; `absent` is what to say of one that is not there."""
    if isinstance(error, FileNotFoundError):
        return absent
    if isinstance(error, PermissionError):
        return "permission denied"
    return (error.strerror if isinstance(error, OSError) else None) or "the name is not a file name"


def _require_regular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not an ordinary file")


def _sync_folder(folder: Path) -> None:
    """Make the new name as durable as the data, where the system can."""
    # Windows and some network folders cannot open a folder.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# Texts


def find_forbidden(forbidden: re.Pattern[str], text: str, file: str) -> tuple[str, Place] | None:
    """The first character of a text that a pattern forbids, as `the character U+0000`, and its place; None without one."""
    found = forbidden.search(text)
    if found is None:
        return None
    before = [match.end() for match in LINE_BREAK.finditer(text, 0, found.start())]
    line_start = before[-1] if before else 0
    place = Place(file, len(before) + 1, found.start() - line_start + 1)
    return f"the character U+{ord(found.group()):04X}", place


def clip(text: str, most: int = 60) -> str:
    """The first line of a text as messages show it: at most so many characters, with `...` where something is left out."""
    if len(text) <= most and "\n" not in text and "\r" not in text:
        return text
    line = text.split("\n", 1)[0].rstrip("\r")
    # Where lines are left out the dots say so, however short the first one is.
    return line if len(line) <= most and line == text else line[: most - 3].rstrip() + "..."
