"""Runs in one process: memory, files, threads and folders stay as they are."""

import gc
import os
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core import memory


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _held() -> tuple[int, int, int]:
    """Open files, threads, and folders of this process in the place for passing files."""
    return (
        len(os.listdir("/proc/self/fd")),
        threading.active_count(),
        len(list(Path(tempfile.gettempdir()).glob("tellegen-*"))),
    )


def _run(model: object, k: int) -> None:
    tg.simulate(model, until=1e-3, samples=10, parameters={"R": 1.0 + 1e-3 * k})  # type: ignore[arg-type]


def test_a_hundred_runs_leave_no_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is old at once must still be walked: counted, for the size of a process moves by chance."""
    # A hundred runs leave 25 000 objects in cycles, for which the collector would not yet come.
    monkeypatch.setattr(memory, "_FEWEST_OBJECTS", 5_000)
    monkeypatch.setattr(memory, "_SHARE", 1_000)
    model = tg.load("rlc")
    for k in range(30):
        _run(model, k)
    gc.collect()
    before = Counter(type(found).__name__ for found in gc.get_objects())
    for k in range(100):
        _run(model, 100 + k)
    more = Counter(type(found).__name__ for found in gc.get_objects()) - before
    assert more.total() < 12_000, more.most_common(8)
    gc.collect()
    more = Counter(type(found).__name__ for found in gc.get_objects()) - before
    assert more.total() < 2_000, more.most_common(8)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="asks the system of Linux")
def test_memory_files_threads_and_folders_stay_flat_over_thousands_of_runs() -> None:
    model = tg.load("rlc")
    for k in range(1000):
        _run(model, k)
    size, held = _resident(), _held()
    for k in range(3000):
        _run(model, 1000 + k)
    assert _resident() < 1.2 * size
    # Fewer is as good: a thread of an earlier test may have ended meanwhile.
    assert all(now <= before for now, before in zip(_held(), held, strict=True))
