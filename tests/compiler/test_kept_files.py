"""Nothing is loaded or restored that somebody else can have written, whatever lies in the folder of what was compiled."""

import ctypes
import os
import resource
import stat
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import code
from tellegen.compiler.code import Code, kept_code, unrolled_code
from tellegen.compiler.kept_files import (
    ABANDONED_S,
    CODE_SUFFIX,
    LARGEST_BYTES,
    MAKING,
    SUFFIX,
    DistrustError,
    kept_files,
)
from tellegen.compiler.toolchain import build
from tellegen.graph import lower
from tellegen.notations.reading import read_model

if sys.platform == "win32":
    pytest.skip("owners and modes of POSIX", allow_module_level=True)

MINE = "int tg_answer(void) { return 1; }\n"
SOMEBODY = 12345
TEXT = "system: rc\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 2}\n  C: {capacitor: [b, gnd], C: 4}\n"

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("TELLEGEN_CACHE", str(place))
    monkeypatch.setattr(code, "SMALL", 0)
    return place


def answer(library: ctypes.CDLL | None) -> int:
    assert library is not None
    return int(library.tg_answer())


def kept_library(cache: Path) -> Path:
    (path,) = cache.glob(f"*{SUFFIX}")
    return path


def generated_and_kept(cache: Path) -> Path:
    kept_code(assign_causality(lower(read_model(TEXT))), unrolled_code)
    (path,) = cache.glob(f"*{CODE_SUFFIX}")
    return path


def is_read(path: Path) -> bool:
    """Whether the code of the model comes from the file: generating it anew is told by a call."""
    called: list[CausalGraph] = []

    def generate(causal: CausalGraph) -> Code:
        called.append(causal)
        return unrolled_code(causal)

    kept_code(assign_causality(lower(read_model(TEXT))), generate)
    return path.is_file() and not called


def test_the_folder_and_its_files_are_made_for_the_user_alone(cache: Path) -> None:
    before = os.umask(0)
    try:
        assert answer(build(MINE).library) == 1
        generated_and_kept(cache)
    finally:
        os.umask(before)
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in cache.iterdir()} == {0o600}
    assert build(MINE).cached


@given(mode=st.integers(0, 0o777), owner=st.sampled_from([0, SOMEBODY]), of_folder=st.booleans())
def test_what_is_used_belongs_to_the_user_and_nobody_else_can_write_it(
    mode: int, owner: int, *, of_folder: bool
) -> None:
    """The property: every owner and every mode of the folder and of a file, against what POSIX says about who can write."""
    own = os.geteuid()
    owner = owner if own == 0 else own  # only root can give files away
    mode |= 0o500 if of_folder else 0o400
    with tempfile.TemporaryDirectory() as above:
        place = Path(above) / "cache"
        place.mkdir(mode=0o700)
        (place / "file.code").write_bytes(b"content")
        target = place if of_folder else place / "file.code"
        os.chown(target, owner, -1)
        target.chmod(mode)
        try:
            with kept_files(place) as files:
                content = files.read("file.code")
        except DistrustError:
            content = None
    safe = owner in (own, 0) and not mode & 0o022
    assert content == (b"content" if safe else None)


@as_root
def test_a_library_in_a_folder_of_another_user_is_not_loaded_and_it_is_said(cache: Path) -> None:
    build(MINE)
    kept = generated_and_kept(cache)
    os.chown(cache, SOMEBODY, -1)
    made = build(MINE)
    assert answer(made.library) == 1
    assert not made.cached
    assert [finding.code for finding in made.findings] == ["N111"]
    assert str(SOMEBODY) in made.findings[0].what
    assert not is_read(kept)
    before = sorted(cache.iterdir())
    assert "is not used" in str(tg.cache(clear=True))
    assert sorted(cache.iterdir()) == before


@as_root
def test_a_planted_library_is_not_loaded(cache: Path) -> None:
    """Whole and rightly named, but of somebody else: its digest alone must not be believed."""
    build(MINE)
    path = kept_library(cache)
    os.chown(path, SOMEBODY, -1)
    made = build(MINE)
    assert (answer(made.library), made.cached) == (1, False)
    assert path.stat().st_uid == os.geteuid()
    assert build(MINE).cached


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o777])
def test_files_that_others_can_write_are_made_again(cache: Path, mode: int) -> None:
    build(MINE)
    path, kept = kept_library(cache), generated_and_kept(cache)
    assert is_read(kept)
    path.chmod(mode)
    kept.chmod(mode)
    assert not build(MINE).cached
    assert build(MINE).cached
    assert not is_read(kept)
    assert is_read(kept)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _device(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices may be made here")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGEST_BYTES * 100)


def _link(path: Path) -> None:
    other = path.with_name("elsewhere")
    other.write_bytes(b"x")
    path.symlink_to(other)


@pytest.mark.parametrize("put", [_fifo, _link_to_a_device, _device, _huge, _link])
def test_what_is_no_plain_file_neither_hangs_nor_fills_memory(cache: Path, put: Callable[[Path], None]) -> None:
    build(MINE)
    path, kept = kept_library(cache), generated_and_kept(cache)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for place in (path, kept):
        place.unlink()
        put(place)
    assert answer(build(MINE).library) == 1
    assert not is_read(kept)
    assert build(MINE).cached
    assert is_read(kept)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_a_folder_in_the_place_of_a_file_is_done_without(cache: Path) -> None:
    build(MINE)
    path = kept_library(cache)
    path.unlink()
    path.mkdir()
    made = build(MINE)
    assert answer(made.library) == 1
    assert [finding.code for finding in made.findings] == ["N103"]
    assert tg.cache().size == 0


def test_a_pipe_in_the_place_of_the_folder_is_done_without(cache: Path) -> None:
    os.mkfifo(cache)
    made = build(MINE)
    assert (answer(made.library), [finding.code for finding in made.findings]) == (1, ["N103"])


def test_what_was_never_finished_is_removed_when_something_is_kept(cache: Path) -> None:
    cache.mkdir(mode=0o700)
    old, new, somebodys = f"{MAKING}{1:016x}", f"{MAKING}{2:016x}", f"{MAKING}of.mp4"
    long_ago = time.time() - 2 * ABANDONED_S
    for name in (old, new, somebodys):
        (cache / name).write_bytes(b"half")
    for name in (old, somebodys):
        os.utime(cache / name, (long_ago, long_ago))
    build(MINE)
    assert {path.name for path in cache.glob(f"{MAKING}*")} == {new, somebodys}


def test_without_proc_a_private_copy_is_loaded(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(MINE)
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    made = build(MINE)
    assert (answer(made.library), made.cached) == (1, True)


def test_a_file_that_cannot_be_written_whole_leaves_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kept_files(cache, make=True) as files:

        def full(number: int, data: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            files.write("a.code", b"content")
    assert not list(cache.iterdir())


def test_no_descriptor_stays_open(cache: Path) -> None:
    build(MINE)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for k in range(5):
        build(MINE + f"/* {k % 2} */\n")
    assert before == (len(os.listdir("/proc/self/fd")) if before else 0)
