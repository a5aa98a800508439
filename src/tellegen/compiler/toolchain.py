"""Which C compiler is there, and how it is called: never through a shell."""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import final

FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared", "-fno-math-errno")
"""Never -ffast-math: a value that is not finite must be seen. Without errno, `sqrt` is one instruction."""

SMALL_FLAGS = ("-fno-tree-vectorize",)
"""Vectorising a handful of statements makes them slower."""

TIMEOUT_S = 300.0
SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


@final
@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler: the words that call it, and the text that tells one version from another."""

    command: tuple[str, ...]
    identity: str


class CompilerCallError(Exception):
    """The compiler could not be called, or refused the source. The text is what it said."""


def find_compiler() -> Compiler | None:
    """The compiler named by $CC, else `cc`, else the one in the package ziglang; None where there is none.

    Raises: CompilerCallError when $CC is set and cannot be called.
    """
    chosen = os.environ.get("CC", "").split()
    if chosen:
        return _identified(tuple(chosen))
    for word in ("cc", "gcc", "clang"):
        if path := shutil.which(word):
            return _identified((path,))
    if importlib.util.find_spec("ziglang") is not None:
        return _identified((sys.executable, "-m", "ziglang", "cc"))
    return None


@cache
def _identified(command: tuple[str, ...]) -> Compiler:
    answer = _run((*command, "--version"))
    return Compiler(command, f"{' '.join(command)}\n{answer}\n{platform.machine()}\n{platform.system()}")


def _run(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, errors="replace")
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise CompilerCallError(f"'{command[0]}' cannot be run: {reason}") from reason
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise CompilerCallError(said or f"'{command[0]}' ended with status {done.returncode} and said nothing")
    return done.stdout


def compile_file(compiler: Compiler, source: Path, library: Path, flags: tuple[str, ...]) -> None:
    """Make a shared library of one C file.

    Raises: CompilerCallError with what the compiler said.
    """
    _run((*compiler.command, *flags, "-o", str(library), str(source), "-lm"))
    if not library.is_file():
        raise CompilerCallError(f"'{compiler.command[0]}' ended well but wrote no library")
