"""Which C compiler is there, how a C source becomes a loaded library, and libraries kept between runs.

A library is named by the key of what it was made from and by the digest of its own bytes: a file that was cut short or changed is
not loaded but made again. Files appear by renaming, so that several processes can share the folder.
"""

import atexit
import contextlib
import ctypes
import hashlib
import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import final

from tellegen.compiler import rules
from tellegen.core.errors import Finding

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
    # $CC may hold options too, such as "ccache gcc".
    chosen = os.environ.get("CC", "").split()
    if chosen:
        return _identified(tuple(chosen))
    for word in ("cc", "gcc", "clang"):
        if path := shutil.which(word):
            return _identified((path,))
    # A whole compiler as a package: where nothing else may be installed, pip can bring it.
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
        # With its length, so that no text can end where another one begins and give the same key.
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()[:40]


def cached_library(folder: Path, key: str) -> Path | None:
    """The whole, unchanged library of a key; files that are not are removed."""
    for path in sorted(folder.glob(f"{key}-*{SUFFIX}")):
        with contextlib.suppress(OSError):
            # Loading a library that was cut short would crash the process: its name holds the digest of its bytes.
            if path.name == _name(key, bytes_of(path)):
                # What was used last is removed last.
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
    # In the same folder: a file can only be renamed inside one file system.
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
    # Those not used for longest first.
    for _, bytes_, path in sorted(found):
        if size <= largest:
            return
        # What was just made is about to be loaded, however large it is.
        if path != keep:
            with contextlib.suppress(OSError):  # another process may have removed it, or still hold it open
                path.unlink()
                size -= bytes_


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
    folder = cache_folder()
    make = partial(_make, files, compiler, flags)
    # One of another machine may lie in a shared folder and fail to load: then it is made again.
    if (path := cached_library(folder, key)) is not None and (library := _loaded(path)) is not None:
        return Build(library, cached=True)
    try:
        return Build(ctypes.CDLL(str(keep_library(folder, key, make))))
    except OSError as reason:
        finding = rules.NO_CACHE.finding(
            f"compiled models cannot be kept in '{folder}': {reason.strerror or reason}",
            fix="make the folder writable, or set TELLEGEN_CACHE to another one",
        )
        # The run goes on all the same: only the next one pays again.
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


def _make(files: Mapping[str, str], compiler: Compiler, flags: tuple[str, ...], library: Path) -> None:
    paths = [library.with_name(name) for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        # Sources are plain ASCII: no compiler has to be told an encoding.
        path.write_text(text, encoding="ascii")
    _compile(compiler, [path for path in paths if path.suffix == ".c"], library, flags)


@cache
def _own_folder() -> Path:
    """A folder that lives as long as this process, where the cache cannot be used."""
    folder = Path(tempfile.mkdtemp(prefix="tellegen-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def broken_compiler(said: str) -> Finding:
    """The finding for a compiler that failed, with what it said."""
    shown = said if len(said) <= _SAID else f"{said[:_SAID]}..."
    return rules.BROKEN_COMPILER.finding(
        f"the C compiler failed, so the model runs in Python, slowly: {shown}",
        fix="check that the compiler makes shared libraries, or set CC to one that does",
    )
