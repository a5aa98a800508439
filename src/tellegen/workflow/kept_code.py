"""What was compiled and is kept for later runs: where it lies, how much there is, and how to be rid of it."""

import contextlib
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from tellegen.compiler.kept_files import (
    CODE_SUFFIX,
    LARGEST_BYTES,
    OURS,
    DistrustError,
    KeptFiles,
    cache_folder,
    kept_files,
)


@final
@dataclass(frozen=True)
class KeptCode:
    """How many compiled libraries and generated codes lie in `folder`, and their bytes; `removed` says that they did."""

    folder: Path
    libraries: int
    codes: int
    size: int
    removed: bool = False
    unused: str = ""
    """Why runs do not use the folder: somebody else can write it, and nothing in it is counted or removed."""

    def to_json(self) -> dict[str, object]:
        """The same as names and values."""
        return {
            "folder": str(self.folder),
            "libraries": self.libraries,
            "codes": self.codes,
            "bytes": self.size,
            "largest_bytes": LARGEST_BYTES,
            "removed": self.removed,
        } | ({"unused": self.unused} if self.unused else {})

    def __str__(self) -> str:
        if self.unused:
            return f"{self.folder} is not used: {self.unused}"
        what = f"{self.libraries} compiled libraries and the code of {self.codes} models, {self.size / 2**20:.1f} MB"
        if self.removed:
            return f"removed from {self.folder}: {what}"
        return f"{self.folder}: {what}\nbeyond {LARGEST_BYTES // 2**20} MB what was not used for longest goes by itself"


def cache(*, clear: bool = False) -> KeptCode:
    """What was compiled and is kept for later runs; with `clear` it is removed.

    The next run of a model whose library is gone compiles it again. Runs that go on keep what they have loaded.

    >>> import tellegen as tg
    >>> tg.cache().size < 1e9
    True
    """
    folder = cache_folder()
    nothing = KeptCode(folder, 0, 0, 0, removed=clear)
    if not folder.is_dir():
        return nothing
    try:
        with kept_files(folder) as files:
            return _counted(files, clear=clear)
    except DistrustError as reason:
        return replace(nothing, removed=False, unused=str(reason))


def _counted(files: KeptFiles, *, clear: bool) -> KeptCode:
    libraries = codes = size = 0
    for name in filter(OURS.fullmatch, files.names()):
        with contextlib.suppress(OSError):  # another process may have removed it meanwhile
            state = files.state(name)
            codes += name.endswith(CODE_SUFFIX)
            libraries += not name.endswith(CODE_SUFFIX)
            size += state.st_size if stat.S_ISREG(state.st_mode) else 0
            if clear:
                files.remove(name)
    if clear:
        files.remove_abandoned()
    return KeptCode(files.folder, libraries, codes, size, removed=clear)
