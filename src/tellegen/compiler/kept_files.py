"""The folder of what was compiled: whose it is, whose its files are, and how they are read, loaded, written and removed.

A library that is loaded runs as the user, so nothing is believed that somebody else can have written. The folder is opened once and
its files are reached through that descriptor: what was checked is what is used, even where others can rename a folder above it.

Windows knows no such owners and modes. The default folder lies in the profile of the user, which others cannot write; who sets
TELLEGEN_CACHE to another place there answers for who can write it. Names, digests and kinds of files are checked all the same.
"""

import atexit
import contextlib
import ctypes
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

LARGEST_BYTES = 256 * 2**20
"""Beyond this size the files not used for longest are removed."""

SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")
CODE_SUFFIX = ".code"
"""Of generated code that is kept beside the libraries."""

MAKING = "making-"
"""Begins the names of files that are not whole yet."""

OURS = re.compile(rf"[0-9a-f]{{40}}(-[0-9a-f]+{re.escape(SUFFIX)}|[\w.-]*{re.escape(CODE_SUFFIX)})")
_HALF_MADE = re.compile(rf"{MAKING}[0-9a-f]{{16}}")
"""Only files that a run can have made are counted and removed: somebody may have set the cache to a folder with more in it."""

ABANDONED_S = 3600.0
"""A file is written in no time: what is not whole after an hour belongs to a run that was killed."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
"""Where a list of access rights names more users, the bits of the group show what they may do at most."""


class DistrustError(Exception):
    """Somebody else can write a folder or a file. The text says how."""


def cache_folder() -> Path:
    """$TELLEGEN_CACHE, else `tellegen` in the cache folder of the user."""
    if chosen := os.environ.get("TELLEGEN_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tellegen"


@final
@dataclass(frozen=True)
class KeptFiles:
    """The files of a folder that nobody else can write."""

    folder: Path
    number: int | None
    """The descriptor of the folder; None on Windows, which has none."""

    def names(self) -> list[str]:
        """What is in the folder. Raises: OSError."""
        return sorted(os.listdir(self.folder if self.number is None else self.number))

    def state(self, name: str) -> os.stat_result:
        """What the folder says about a file, links not followed. Raises: OSError."""
        return os.stat(self._place(name), dir_fd=self.number, follow_symlinks=False)

    def read(self, name: str) -> bytes:
        """What is in a file, which counts as used from now on.

        Raises: OSError when it cannot be read, DistrustError when it is no plain file, is too large or others can write it.
        """
        # Asked before opening: to open a device can be an act of its own.
        _check_file(name, self.state(name))
        flags = os.O_RDONLY | sum(getattr(os, f"O_{word}", 0) for word in ("BINARY", "NOFOLLOW", "NONBLOCK", "NOCTTY"))
        # No object stands for the open file: a run that is stopped just then would leave it open, with a warning.
        number = os.open(self._place(name), flags, dir_fd=self.number)
        try:
            state = os.fstat(number)
            # And again: this is the file that is read, whatever the name means by now.
            _check_file(name, state)
            # What was used last is removed last. A folder of root serves all: its files can be read, not touched.
            with contextlib.suppress(OSError):
                os.utime(number if os.utime in os.supports_fd else self._place(name))
            return _content(number, state.st_size)
        finally:
            os.close(number)

    def load(self, name: str, content: bytes) -> ctypes.CDLL:
        """The library of a file whose content was read and found good.

        Raises: OSError where it is none for this machine.
        """
        if self.number is None:
            return ctypes.CDLL(str(self.folder / name))
        # Through the descriptor of the folder, in which nobody else can put another file under the name. Not through that of
        # the file: loaders take one path for one library, and numbers of closed files come again.
        through = f"/proc/self/fd/{self.number}"
        if os.path.isdir(through):
            return ctypes.CDLL(f"{through}/{name}")
        # A path could lead elsewhere by now: a copy in a folder of this process holds what was checked.
        copy = own_folder() / name
        copy.write_bytes(content)
        return ctypes.CDLL(str(copy))

    def write(self, name: str, content: bytes) -> None:
        """Make a file, whole or not at all. Raises: OSError."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        making = self._place(f"{MAKING}{os.urandom(8).hex()}")
        number = os.open(making, flags, 0o600, dir_fd=self.number)
        try:
            try:
                rest = memoryview(content)
                while rest:
                    rest = rest[os.write(number, rest) :]
            finally:
                os.close(number)
            # Another process may read at this moment: it sees the old file or the new one, never a part.
            os.replace(making, self._place(name), src_dir_fd=self.number, dst_dir_fd=self.number)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(making, dir_fd=self.number)
            raise

    def remove(self, name: str) -> None:
        """Remove a file. Raises: OSError."""
        os.unlink(self._place(name), dir_fd=self.number)

    def prune(self, *, keep: str = "", largest: int = LARGEST_BYTES) -> None:
        """Remove what was never finished, and the files not used for longest until the rest fits."""
        self.remove_abandoned()
        found = []
        for name in filter(OURS.fullmatch, self.names()):
            with contextlib.suppress(OSError):
                state = self.state(name)
                found.append((state.st_mtime, state.st_size, name))
        size = sum(bytes_ for _, bytes_, _ in found)
        # Those not used for longest first.
        for _, bytes_, name in sorted(found):
            if size <= largest:
                return
            # What was just made is about to be loaded, however large it is.
            if name != keep:
                with contextlib.suppress(OSError):  # another process may have removed it, or still hold it open
                    self.remove(name)
                    size -= bytes_

    def remove_abandoned(self) -> None:
        """Remove what a run that was killed has left half made."""
        for name in filter(_HALF_MADE.fullmatch, self.names()):
            with contextlib.suppress(OSError):
                if time.time() - self.state(name).st_mtime > ABANDONED_S:
                    self.remove(name)

    def _place(self, name: str) -> str:
        return name if self.number is not None else str(self.folder / name)


@contextlib.contextmanager
def kept_files(folder: Path, *, make: bool = False) -> Iterator[KeptFiles]:
    """The files of a folder; `make` makes it where there is none.

    Raises: OSError when it cannot be opened, DistrustError when somebody else can write it.
    """
    if make and not folder.is_dir():
        # Whatever the mask of the process says: a folder that a group can write would not be believed the next time.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield KeptFiles(folder, None)
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if trouble := _trouble(os.fstat(number)):
            raise DistrustError(f"'{folder}' {trouble}")
        yield KeptFiles(folder, number)
    finally:
        os.close(number)


@cache
def own_folder() -> Path:
    """A folder that lives as long as this process, where the cache cannot be used."""
    folder = Path(tempfile.mkdtemp(prefix="tellegen-"))
    atexit.register(_remove_own, folder, os.getpid())
    return folder


def _remove_own(folder: Path, process: int) -> None:
    # A process that was forked off ends too, while the first one goes on with the folder.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _check_file(name: str, state: os.stat_result) -> None:
    # A pipe would be waited for, and a device can be read without end.
    if not stat.S_ISREG(state.st_mode):
        raise DistrustError(f"'{name}' is no plain file")
    if state.st_size > LARGEST_BYTES:
        raise DistrustError(f"'{name}' is larger than the whole cache may be")
    if trouble := _trouble(state):
        raise DistrustError(f"'{name}' {trouble}")


def _trouble(state: os.stat_result) -> str:
    """How somebody else can have written a file or a folder; empty where nobody can."""
    if sys.platform == "win32":
        return ""
    # Root could do anything anyway, and may keep one cache for all.
    if state.st_uid not in (os.geteuid(), 0):
        return f"belongs to another user ({state.st_uid})"
    if state.st_mode & _OTHERS_WRITE:
        return f"can be written by others (mode {stat.S_IMODE(state.st_mode):o})"
    return ""


def _content(number: int, size: int) -> bytes:
    """The first bytes of an open file, as many as it had when it was checked."""
    parts = []
    while size > 0 and (part := os.read(number, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
