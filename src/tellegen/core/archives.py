"""Zip files from anybody: bounded in number and size, and nothing in them has a place outside of their folder."""

import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

MOST_MEMBERS: Final = 4096
MOST_BYTES: Final = 256 * 1024 * 1024
"""Of one member, and of all of them together, as they are unpacked."""
CHUNK: Final = 1 << 20


class ArchiveError(ValueError):
    """A zip file that is not opened. The text says why."""


def archive_members(path: Path) -> dict[str, zipfile.ZipInfo]:
    """The files in a zip, by their names in it.

    Raises: ArchiveError for what is no zip file, or one that is too large or that would write elsewhere; OSError.
    """
    with opened_archive(path) as archive:
        found = archive.infolist()
    if len(found) > MOST_MEMBERS:
        raise ArchiveError(f"it has {len(found)} files, and at most {MOST_MEMBERS} are read")
    if sum(info.file_size for info in found) > MOST_BYTES:
        raise ArchiveError(f"its files have more than {MOST_BYTES >> 20} MB")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in found:
        _check_place(info)
        if info.is_dir():
            continue
        other = members.get(info.filename)
        # The same twice is a slip of who packed it; with two contents nobody knows which one is meant.
        if other is not None and (other.CRC, other.file_size) != (info.CRC, info.file_size):
            raise ArchiveError(f"it has two files '{info.filename[:80]}'")
        members[info.filename] = info
    return members


def opened_archive(path: Path) -> zipfile.ZipFile:
    """The zip file, open. Raises: ArchiveError, OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise ArchiveError("it is no ordinary file")
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise ArchiveError(f"it is no zip file: {error}") from error


def member_bytes(path: Path, info: zipfile.ZipInfo, most: int = MOST_BYTES) -> bytes:
    """What is in one file of a zip. Sizes in its directory may lie: it is unpacked piece by piece.

    Raises: ArchiveError for more than `most`, or for what cannot be unpacked.
    """
    parts: list[bytes] = []
    size = 0
    for part in _parts(path, info):
        size += len(part)
        if size > most:
            raise ArchiveError(f"'{info.filename[:80]}' has more than {most} bytes")
        parts.append(part)
    return b"".join(parts)


def _parts(path: Path, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        with opened_archive(path) as archive, archive.open(info) as stream:
            while part := stream.read(CHUNK):
                yield part
    # Zlib, encryption and methods that are not there each have an error of their own.
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError) as error:
        raise ArchiveError(f"'{info.filename[:80]}' cannot be unpacked: {error}") from error
    except Exception as error:
        if type(error).__module__ in ("zlib", "_lzma", "bz2"):
            raise ArchiveError(f"'{info.filename[:80]}' cannot be unpacked: {error}") from error
        raise


def _check_place(info: zipfile.ZipInfo) -> None:
    """Raises: ArchiveError for a name that leads out of the folder, or a link."""
    name = info.filename
    place = PurePosixPath(name)
    outside = place.is_absolute() or ".." in place.parts or "\\" in name or ":" in name or "\0" in name
    if outside or not place.parts:
        raise ArchiveError(f"'{name[:80]}' lies outside of its folder")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveError(f"'{name[:80]}' is a link or a device")
