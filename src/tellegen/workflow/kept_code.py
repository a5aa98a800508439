"""What was compiled and is kept for later runs: where it lies, how much there is, and how to be rid of it."""

import contextlib
import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.compiler.toolchain import CODE_SUFFIX, LARGEST_BYTES, SUFFIX, cache_folder

_NAME = re.compile(rf"[0-9a-f]{{40}}(-[0-9a-f]+{re.escape(SUFFIX)}|[\w.-]*{re.escape(CODE_SUFFIX)})")
"""Only files that a run can have made are counted and removed: somebody may have set the cache to a folder with more in it."""

_ABANDONED_S = 3600.0
"""A compiler is given five minutes: what is still being made after an hour belongs to a run that was killed."""


@final
@dataclass(frozen=True)
class KeptCode:
    """How many compiled libraries and generated codes lie in `folder`, and their bytes; `removed` says that they did."""

    folder: Path
    libraries: int
    codes: int
    size: int
    removed: bool = False

    def to_json(self) -> dict[str, object]:
        """The same as names and values."""
        return {
            "folder": str(self.folder),
            "libraries": self.libraries,
            "codes": self.codes,
            "bytes": self.size,
            "largest_bytes": LARGEST_BYTES,
            "removed": self.removed,
        }

    def __str__(self) -> str:
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
    found = [path for path in folder.glob("*") if _NAME.fullmatch(path.name)] if folder.is_dir() else []
    size = 0
    for path in found:
        with contextlib.suppress(OSError):  # another process may have removed it meanwhile
            size += path.stat().st_size
            if clear:
                path.unlink()
    if clear:
        for place in folder.glob("making-*"):
            with contextlib.suppress(OSError):
                if time.time() - place.stat().st_mtime > _ABANDONED_S:
                    shutil.rmtree(place, ignore_errors=True)
    codes = sum(path.suffix == CODE_SUFFIX for path in found)
    return KeptCode(folder, len(found) - codes, codes, size, removed=clear)
