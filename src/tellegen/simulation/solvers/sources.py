"""The C texts of the solvers, and what tells one version of them from another.

The build of a wheel runs this file, too, where nothing is installed yet: it needs nothing but the standard library.
"""

import hashlib
import sys
from pathlib import Path

NATIVE = Path(__file__).parents[1] / "native"
MODEL_HEADER = Path(__file__).parents[2] / "compiler" / "model.h"


def solver_files() -> dict[str, str]:
    """Name and text of every file that the library is compiled from, and a header with the digest of the others."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in (MODEL_HEADER, *sorted(NATIVE.glob("*.[ch]")))}
    digest = hashlib.sha256("\0".join(texts.values()).encode()).hexdigest()[:16]
    return {**texts, "digest.h": f'#define TG_SOURCES "{digest}"\n'}


def library_name(system: str = sys.platform) -> str:
    """What the compiled library is called in the folder `native` of an installation."""
    return "tellegen_solvers" + {"darwin": ".dylib", "win32": ".dll"}.get(system, ".so")
