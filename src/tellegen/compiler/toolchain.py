"""Which C compiler is there, and how it is called: never through a shell."""

import atexit
import contextlib
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
import threading
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


class CompilerStoppedError(BaseException):
    """Somebody stopped the compiler with `stop_compiler`: no failure, and not for those who look after failures."""


_AT_WORK: dict[int, "subprocess.Popen[str]"] = {}
"""The compiler that each thread waits for."""
_STOPPED: set[int] = set()


def stop_compiler(thread: int) -> bool:
    """End the compiler that a thread waits for, and tell whether it does: it gets a CompilerStoppedError."""
    if (process := _AT_WORK.get(thread)) is None:
        return False
    _STOPPED.add(process.pid)
    _kill(process)
    return True


def _kill(process: "subprocess.Popen[str]") -> None:
    """With those that it has started: a driver leaves them behind."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


@atexit.register
def _kill_all() -> None:
    """Nobody waits for a compiler that builds ahead when the program is over."""
    for process in tuple(_AT_WORK.values()):
        _kill(process)


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
        status, out, said = _ended(command)
    except (OSError, subprocess.TimeoutExpired) as reason:
        raise CompilerCallError(f"'{command[0]}' cannot be run: {reason}") from reason
    if status:
        what = (said or out).strip()
        raise CompilerCallError(what or f"'{command[0]}' ended with status {status} and said nothing")
    return out


def _ended(command: tuple[str, ...]) -> tuple[int, str, str]:
    """The status of a command, and what it wrote. Ctrl-C ends it at once, and so does `stop_compiler`."""
    pipe, thread = subprocess.PIPE, threading.get_ident()
    started = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True)
    with started as process:
        _AT_WORK[thread] = process
        try:
            out, said = process.communicate(timeout=TIMEOUT_S)
        except BaseException:
            _kill(process)
            raise
        finally:
            del _AT_WORK[thread]
    if process.pid in _STOPPED:
        _STOPPED.discard(process.pid)
        raise CompilerStoppedError
    return process.returncode, out, said


def compile_file(compiler: Compiler, source: Path, library: Path, flags: tuple[str, ...]) -> None:
    """Make a shared library of one C file.

    Raises: CompilerCallError with what the compiler said.
    """
    _run((*compiler.command, *flags, "-o", str(library), str(source), "-lm"))
    if not library.is_file():
        raise CompilerCallError(f"'{compiler.command[0]}' ended well but wrote no library")
