"""From C source to a loaded library: cached where possible, and with a plain word where it is not."""

import atexit
import ctypes
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import final

from tellegen.compiler import rules
from tellegen.compiler.library_cache import cache_folder, cached_library, keep_library, key_of
from tellegen.compiler.toolchain import (
    FLAGS,
    SMALL_FLAGS,
    Compiler,
    CompilerCallError,
    compile_file,
    find_compiler,
)
from tellegen.core.errors import Finding

ABI = "2"
"""Counts changes of model.h that an old library would not survive."""

HEADER = Path(__file__).with_name("model.h")
_SAID = 600


@final
@dataclass(frozen=True)
class Build:
    """A loaded library, or None where the model must run in Python; `findings` say why, and whether it came from the cache."""

    library: ctypes.CDLL | None
    findings: tuple[Finding, ...] = ()
    cached: bool = False


def build(source: str, *, small: bool = True) -> Build:
    """The library of a C source that includes nothing but `model.h` and the standard headers.

    Never raises for what the machine lacks: without a compiler, or with a broken one, the library is None and a finding says so.
    """
    try:
        compiler = find_compiler()
    except CompilerCallError as trouble:
        return Build(None, (broken(str(trouble)),))
    if compiler is None:
        finding = rules.NO_COMPILER.finding(
            "no C compiler was found: the model runs in Python, slowly",
            fix="install gcc or clang, or 'pip install ziglang'",
        )
        return Build(None, (finding,))
    flags = (*FLAGS, *(SMALL_FLAGS if small else ()))
    try:
        return _compiled(f"{_header()}\n{source}", compiler, flags)
    except CompilerCallError as trouble:
        return Build(None, (broken(str(trouble)),))


@cache
def _header() -> str:
    return HEADER.read_text(encoding="utf-8")


def _compiled(text: str, compiler: Compiler, flags: tuple[str, ...]) -> Build:
    key = key_of(ABI, compiler.identity, " ".join(flags), text)
    folder = cache_folder()
    make = partial(_make, text, compiler, flags)
    if (path := cached_library(folder, key)) is not None and (library := _loaded(path)) is not None:
        return Build(library, cached=True)
    try:
        return Build(ctypes.CDLL(str(keep_library(folder, key, make))))
    except OSError as reason:
        finding = rules.NO_CACHE.finding(
            f"compiled models cannot be kept in '{folder}': {reason.strerror or reason}",
            fix="make the folder writable, or set TELLEGEN_CACHE to another one",
        )
        return Build(_made_apart(key, compiler, make), (finding,))


def _made_apart(key: str, compiler: Compiler, make: Callable[[Path], None]) -> ctypes.CDLL:
    """A library outside the cache.

    Raises: CompilerCallError where what the compiler writes cannot be loaded there either.
    """
    try:
        return ctypes.CDLL(str(keep_library(_own_folder(), key, make)))
    except OSError as reason:
        raise CompilerCallError(f"what '{compiler.command[0]}' wrote cannot be loaded: {reason}") from reason


def _loaded(path: Path) -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL(str(path))
    except OSError:
        return None


def _make(text: str, compiler: Compiler, flags: tuple[str, ...], library: Path) -> None:
    source = library.with_suffix(".c")
    source.write_text(text, encoding="ascii")
    compile_file(compiler, source, library, flags)


@cache
def _own_folder() -> Path:
    """A folder that lives as long as this process, where the cache cannot be used."""
    folder = Path(tempfile.mkdtemp(prefix="tellegen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def broken(said: str) -> Finding:
    """The finding for a compiler that failed, with what it said."""
    shown = said if len(said) <= _SAID else f"{said[:_SAID]}..."
    return rules.BROKEN_COMPILER.finding(
        f"the C compiler failed, so the model runs in Python, slowly: {shown}",
        fix="check that the compiler makes shared libraries, or set CC to one that does",
    )
