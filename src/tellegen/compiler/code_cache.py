"""Generated code kept between runs, beside its library: writing out the derivatives of a mechanism takes longer than many runs.

What is kept belongs to one causal graph and to one state of the generator. It lies in the folder of the libraries, and holds
values alone: whatever else a file asks for when it is opened is refused, and the code is generated again.
"""

import contextlib
import hashlib
import io
import os
import pickle
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final, final

from tellegen.causality import CausalGraph
from tellegen.compiler.coding import Code
from tellegen.compiler.library_cache import CODE_SUFFIX, cache_folder, prune

SMALL = 1_500
"""Bytes of a graph whose code is generated in no time."""

GENERATOR = ("core", "expressions", "elements", "graph", "causality", "equations", "compiler")
"""The folders whose modules decide what the code of a graph is."""


OUTSIDE: Final = {
    ("fractions", "Fraction"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
}
VALUES: Final = {
    *(
        f"tellegen.compiler.{name}"
        for name in ("channels", "coding", "numeric_model", "pattern", "program", "statements")
    ),
    *(f"tellegen.expressions.{name}" for name in ("canonical", "interning", "nodes", "structure")),
    "tellegen.core.errors",
    "tellegen.graph.signals",
}
"""The modules whose own classes and makers of expressions stand for values."""


@final
class _Values(pickle.Unpickler):
    """Restores values, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """The class or maker of a value. Raises: UnpicklingError for anything else."""
        if (module, name) in OUTSIDE or (module in VALUES and "." not in name):
            found = super().find_class(module, name)
            if module not in VALUES or found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"'{module}.{name}' is no value")


@final
class _Alike(pickle.Pickler):
    """Writes equal values alike: which of their equal texts are one object depends on where each was read."""

    def persistent_id(self, value: object) -> str | None:
        """The one text that stands for all equal ones; None for anything else."""
        return sys.intern(value) if type(value) is str else None


def kept_code(causal: CausalGraph, generate: Callable[[CausalGraph], Code], part: str = "") -> Code:
    """The code of a graph, or a part of it, from the cache where it is there. What only the interpreter reads is left out then."""
    key = _key(causal)
    if key is None:
        return generate(causal)
    path = cache_folder() / f"{key}{part}{CODE_SUFFIX}"
    found = _read(path)
    if found is None:
        found = generate(causal)
        with contextlib.suppress(OSError):  # a cache that cannot be written is told of by the library
            _write(path, found)
    return found


def _key(causal: CausalGraph) -> str | None:
    """The name of the code of a graph; None where it is small, or holds functions of Python."""
    written = io.BytesIO()
    try:
        _Alike(written).dump(causal)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    content = written.getvalue()
    if len(content) < SMALL:
        return None
    return hashlib.sha256(_generator() + content).hexdigest()[:40]


@cache
def _generator() -> bytes:
    """What tells one state of the generator from another."""
    top = Path(__file__).parents[1]
    files = sorted(path for folder in GENERATOR for path in (top / folder).glob("*.py"))
    states = [(str(path.relative_to(top)), s.st_size, s.st_mtime_ns) for path in files for s in [path.stat()]]
    return repr((sys.version, states)).encode()


def _read(path: Path) -> Code | None:
    """What is kept in a whole, unchanged file."""
    with contextlib.suppress(Exception):  # whatever is wrong with the file, the code is generated again
        content = path.read_bytes()
        digest, body = content[:32], content[32:]
        if hashlib.sha256(body).digest() == digest:
            os.utime(path)
            found = _Values(io.BytesIO(body)).load()
            return found if isinstance(found, Code) else None
    return None


def _write(path: Path, code: Code) -> None:
    """Keep what a model is made from: not the steps that the source was written from."""
    body = pickle.dumps(replace(code, routines=[], program=replace(code.program, core=[], observing=[])))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix="making-", delete=False) as made:
        made.write(hashlib.sha256(body).digest() + body)
    os.replace(made.name, path)
    prune(path.parent, keep=path)
