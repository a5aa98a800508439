"""Which C compiler is there, how a C source becomes a loaded library, and libraries kept between runs.

A library is named by the key of what it was made from and by the digest of its own bytes: a file that was cut short or changed is
not loaded but made again. `kept_files` says whose files are believed.
"""

import atexit
import contextlib
import ctypes
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import final

from tellegen.compiler import rules
from tellegen.compiler.kept_files import SUFFIX, DistrustError, KeptFiles, cache_folder, kept_files, own_folder
from tellegen.core.errors import Finding

FLAGS = ("-std=c99", "-O2", "-fPIC", "-shared", "-fno-math-errno")
"""Never -ffast-math: a value that is not finite must be seen. Without errno, `sqrt` is one instruction."""

SMALL_FLAGS = ("-fno-tree-vectorize",)
"""Vectorising a handful of statements makes them slower."""

TIMEOUT_S = 300.0


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
        # Compilers of C are drivers: the process that works is a child of the one that was started.
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
    if chosen := os.environ.get("CC", "").strip():
        return _identified(_words_of(chosen))
    for word in ("cc", "gcc", "clang"):
        if path := shutil.which(word):
            return _identified((path,))
    # A whole compiler as a package: where nothing else may be installed, pip can bring it.
    if importlib.util.find_spec("ziglang") is not None:
        return _identified((sys.executable, "-m", "ziglang", "cc"))
    return None


@cache
def compiler_macros(*flags: str) -> str | None:
    """What the compiler defines by itself with these flags, each as ` NAME value`; None where it does not take them."""
    try:
        compiler = find_compiler()
        return None if compiler is None else _run((*compiler.command, *flags, "-dM", "-E", "-x", "c", os.devnull))
    except CompilerCallError:
        return None


def _words_of(chosen: str) -> tuple[str, ...]:
    """The words of $CC: a program whose path may have spaces, quoted or not, and options behind it, such as "ccache gcc"."""
    words = chosen.split()
    # Who quotes says where words end; without quotes the longest beginning that is a program is the program.
    for count in range(0 if {*"\"'"} & {*chosen} else len(words), 0, -1):
        if shutil.which(program := " ".join(words[:count])):
            return (program, *words[count:])
    # Backslashes are separators of paths on Windows, not escapes.
    with contextlib.suppress(ValueError):  # a quote that is not closed
        return tuple(word.strip('"') for word in shlex.split(chosen, posix=os.name != "nt")) or (chosen,)
    return tuple(words)


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
    # A session of its own, so that killing its group ends the driver and what it started, and not us.
    started = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True)
    with started as process:
        _AT_WORK[thread] = process
        try:
            out, said = process.communicate(timeout=TIMEOUT_S)
        # Ctrl-C too: nobody would wait for the compiler, and it would go on for minutes.
        except BaseException:
            _kill(process)
            raise
        finally:
            del _AT_WORK[thread]
    if process.pid in _STOPPED:
        _STOPPED.discard(process.pid)
        raise CompilerStoppedError
    return process.returncode, out, said


def _compile(compiler: Compiler, sources: Sequence[Path], library: Path, flags: tuple[str, ...]) -> None:
    """Make a shared library of C files: several side by side, for the first run on a machine waits for the solvers.

    Raises: CompilerCallError with what the compiler said.
    """
    parts = list(sources)
    if len(sources) > 1:
        parts = [path.with_suffix(".o") for path in sources]
        alone = [flag for flag in flags if flag != "-shared"]
        calls = [(*compiler.command, *alone, "-c", "-o", str(o), str(c)) for c, o in zip(sources, parts, strict=True)]
        # Threads are enough: each only waits for a process.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(_run, calls))
    _run((*compiler.command, *flags, "-o", str(library), *map(str, parts), "-lm"))
    # A compiler that says that all went well is believed when the file is there.
    if not library.is_file():
        raise CompilerCallError(f"'{compiler.command[0]}' ended well but wrote no library")


_DIGEST_LETTERS = 24


def key_of(*parts: str) -> str:
    """The name under which what was made from these texts is kept."""
    digest = hashlib.sha256()
    for part in parts:
        text = part.encode()
        # With its length, so that no text can end where another one begins and give the same key.
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:40]


def cached_library(files: KeptFiles, key: str) -> ctypes.CDLL | None:
    """The whole, unchanged library of a key; files that are not, or that others can have written, are removed."""
    for name in files.names():
        if not (name.startswith(f"{key}-") and name.endswith(SUFFIX)):
            continue
        with contextlib.suppress(OSError):
            try:
                content = files.read(name)
                # Loading a library that was cut short would crash the process: its name holds the digest of its bytes.
                if name == _name(key, content):
                    return files.load(name, content)
            except DistrustError:
                pass
            files.remove(name)
    return None


def keep_library(files: KeptFiles, key: str, make: Callable[[Path], None]) -> ctypes.CDLL:
    """Make a library, keep it under its key and load it.

    Raises: OSError when the folder cannot be written, or the library is none for this machine.
    """
    # Apart from the cache: a compiler is told a path, and only in a folder of our own does it surely lead where we mean.
    with tempfile.TemporaryDirectory(prefix="tellegen-") as place:
        made = Path(place) / f"model{SUFFIX}"
        make(made)
        content = made.read_bytes()
    name = _name(key, content)
    files.write(name, content)
    files.prune(keep=name)
    return files.load(name, content)


def _name(key: str, content: bytes) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()[:_DIGEST_LETTERS]}{SUFFIX}"


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
    why: str = ""
    """Why there is no library, in a few words."""


def build(source: str, *, small: bool = True) -> Build:
    """The library of a C source that includes nothing but `model.h` and the standard headers.

    Never raises for what the machine lacks: without a compiler, or with a broken one, the library is None and a finding says so.
    """
    return build_files({"model.c": f"{_header()}\n{source}"}, SMALL_FLAGS if small else ())


def build_files(files: Mapping[str, str], more_flags: tuple[str, ...] = ()) -> Build:
    """The library of C files by name, each a translation unit of its own, and of the headers that they include; as `build`."""
    try:
        compiler = find_compiler()
    except CompilerCallError as trouble:
        return Build(None, (broken_compiler(str(trouble)),), why=f"the C compiler failed: {trouble}")
    if compiler is None:
        finding = rules.NO_COMPILER.finding(
            "no C compiler was found: the model runs in Python, slowly",
            fix="install gcc or clang, or 'pip install ziglang'",
        )
        return Build(None, (finding,), why="no C compiler was found")
    try:
        return _compiled(files, compiler, (*FLAGS, *more_flags))
    except CompilerCallError as trouble:
        return Build(None, (broken_compiler(str(trouble)),), why=f"the C compiler failed: {trouble}")


@cache
def _header() -> str:
    return HEADER.read_text(encoding="utf-8")


def _compiled(files: Mapping[str, str], compiler: Compiler, flags: tuple[str, ...]) -> Build:
    # All that decides the bytes of a library, and nothing else: the same text by another compiler is another one.
    key = key_of(ABI, compiler.identity, " ".join(flags), *files.values())
    make = partial(_make, files, compiler, flags)
    folder = cache_folder()
    try:
        return _from_folder(folder, key, make)
    except DistrustError as reason:
        finding = rules.FOREIGN_CACHE.finding(
            f"the cache of compiled models is not used: {reason}",
            fix=f"'chmod go-w {folder}' where it is yours, or set TELLEGEN_CACHE to a folder of your own",
        )
    except OSError as reason:
        finding = rules.NO_CACHE.finding(
            f"compiled models cannot be kept in '{folder}': {reason.strerror or reason}",
            fix="make the folder writable, or set TELLEGEN_CACHE to another one",
        )
    # The run goes on all the same: only the next one pays again.
    try:
        return replace(_from_folder(own_folder(), key, make), findings=(finding,))
    except (OSError, DistrustError) as reason:
        raise CompilerCallError(f"what '{compiler.command[0]}' wrote cannot be loaded: {reason}") from reason


def _from_folder(folder: Path, key: str, make: Callable[[Path], None]) -> Build:
    """A library that is kept in a folder, or is from now on. Raises: OSError or DistrustError about the folder."""
    with kept_files(folder, make=True) as files:
        # One of another machine may lie in a shared folder and fail to load: then it is made again.
        if (library := cached_library(files, key)) is not None:
            return Build(library, cached=True)
        return Build(keep_library(files, key, make))


def _make(files: Mapping[str, str], compiler: Compiler, flags: tuple[str, ...], library: Path) -> None:
    paths = [library.with_name(name) for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        # Sources are plain ASCII: no compiler has to be told an encoding.
        path.write_text(text, encoding="ascii")
    _compile(compiler, [path for path in paths if path.suffix == ".c"], library, flags)


def broken_compiler(said: str) -> Finding:
    """The finding for a compiler that failed, with what it said."""
    shown = said if len(said) <= _SAID else f"{said[:_SAID]}..."
    return rules.BROKEN_COMPILER.finding(
        f"the C compiler failed, so the model runs in Python, slowly: {shown}",
        fix="check that the compiler makes shared libraries, or set CC to one that does",
    )
