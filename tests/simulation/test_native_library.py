"""The library of the solvers: shipped or compiled, shared by threads, and what becomes of it in another process."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from tellegen.compiler.kept_files import cache_folder
from tellegen.compiler.toolchain import build_files
from tellegen.core.errors import SimulationError
from tellegen.simulation.solvers import library, sources


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where an installation would have its library; the texts are a copy that may be changed."""
    folder = tmp_path / "native"
    shutil.copytree(sources.NATIVE, folder, ignore=shutil.ignore_patterns("*.so", "*.dylib", "*.dll"))
    for module in (sources, library):
        monkeypatch.setattr(module, "NATIVE", folder)
    monkeypatch.setattr(library, "_LOADED", [])
    return folder / sources.library_name()


def compiled(files: dict[str, str]) -> Path:
    """The library of C files in the cache; it was loaded through a descriptor that is closed by now."""
    built = build_files(files).library
    assert built is not None
    return cache_folder() / Path(built._name).name


def made(path: Path) -> None:
    """Compile the library into a place."""
    shutil.copy(compiled(sources.solver_files()), path)


def test_a_library_that_fits_is_taken_and_no_compiler_asked(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(shipped)
    monkeypatch.setenv("CC", "/nowhere/cc")
    assert library.library()._name == str(shipped)


def test_a_library_of_other_texts_is_refused(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(shipped)
    changed = shipped.with_name("ordering.c")
    changed.write_text(changed.read_text() + "/* a line more */\n")
    assert library.shipped_library() is None
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(SimulationError, match="brings no compiled solvers") as caught:
        library.library()
    assert caught.value.code == "S101"


def test_what_is_no_library_of_ours_is_refused(shipped: Path) -> None:
    shipped.write_bytes(b"no library")
    assert library.shipped_library() is None
    shipped.unlink()
    shutil.copy(compiled({"other.c": "int other(void) { return 1; }"}), shipped)
    assert library.shipped_library() is None


def test_compiling_can_be_asked_for(shipped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(shipped)
    monkeypatch.setenv("TELLEGEN_SOLVERS", "compile")
    assert library.library()._name != str(shipped)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking beside threads: that is the case here
def test_a_child_does_not_wait_for_what_a_thread_of_its_parent_was_building(monkeypatch: pytest.MonkeyPatch) -> None:
    library.library()  # in the cache
    monkeypatch.setattr(library, "_LOADED", [])
    with library._LOCK:  # as that thread may hold it at the moment of the fork
        child = os.fork()
        if child == 0:
            os._exit(7 if library.library().tg_order else 1)
    give_up = time.monotonic() + 60.0
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < give_up:
        time.sleep(0.01)
        ended, status = os.waitpid(child, os.WNOHANG)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended, "the child waits for ever"
    assert os.waitstatus_to_exitcode(status) == 7
