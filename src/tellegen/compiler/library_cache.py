"""Compiled libraries kept between runs, in the user's cache folder.

A library is named by the key of what it was made from and by the digest of its own bytes: a file that was cut short or changed is
not loaded but made again. Files appear by renaming, so that several processes can share the folder.
"""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from tellegen.compiler.toolchain import SUFFIX

LARGEST_BYTES = 256 * 2**20
"""Beyond this size the libraries not used for longest are removed."""

CODE_SUFFIX = ".code"
"""Of generated code that is kept beside the libraries."""

_DIGEST_LETTERS = 24


def cache_folder() -> Path:
    """$TELLEGEN_CACHE, else `tellegen` in the cache folder of the user."""
    if chosen := os.environ.get("TELLEGEN_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tellegen"


def key_of(*parts: str) -> str:
    """The name under which what was made from these texts is kept."""
    digest = hashlib.sha256()
    for part in parts:
        text = part.encode()
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:40]


def cached_library(folder: Path, key: str) -> Path | None:
    """The whole, unchanged library of a key; files that are not are removed."""
    for path in sorted(folder.glob(f"{key}-*{SUFFIX}")):
        with contextlib.suppress(OSError):
            if path.name == _name(key, bytes_of(path)):
                os.utime(path)
                return path
            path.unlink()
    return None


def bytes_of(path: Path) -> bytes:
    """What is in a file. No object stands for the open file: a run that is stopped just then would leave it open, with a warning.

    Raises: OSError when it cannot be read.
    """
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(number).st_size + 1
        parts = iter(lambda: os.read(number, size), b"")
        return b"".join(parts)
    finally:
        os.close(number)


def keep_library(folder: Path, key: str, make: Callable[[Path], None]) -> Path:
    """Make a library in the folder under its key.

    Raises: OSError when the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="making-") as place:
        made = Path(place) / f"model{SUFFIX}"
        make(made)
        path = folder / _name(key, made.read_bytes())
        os.replace(made, path)
    prune(folder, keep=path)
    return path


def prune(folder: Path, *, keep: Path | None = None, largest: int = LARGEST_BYTES) -> None:
    """Remove the libraries, and the code kept beside them, not used for longest until the rest fits."""
    found = []
    for path in (*folder.glob(f"*{SUFFIX}"), *folder.glob(f"*{CODE_SUFFIX}")):
        with contextlib.suppress(OSError):
            state = path.stat()
            found.append((state.st_mtime, state.st_size, path))
    size = sum(bytes_ for _, bytes_, _ in found)
    for _, bytes_, path in sorted(found):
        if size <= largest:
            return
        if path != keep:
            with contextlib.suppress(OSError):  # another process may have removed it, or still hold it open
                path.unlink()
                size -= bytes_


def _name(key: str, content: bytes) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()[:_DIGEST_LETTERS]}{SUFFIX}"
