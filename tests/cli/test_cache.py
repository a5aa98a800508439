"""`tellegen cache`: what was compiled is shown, and removed without touching what is not ours."""

import os
import time
from pathlib import Path

import pytest

import tellegen as tg
from command_line import record_of, tellegen


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "cache"
    monkeypatch.setenv("TELLEGEN_CACHE", str(place))
    return place


def test_an_empty_cache_is_shown_and_not_made(folder: Path) -> None:
    assert record_of("cache")["libraries"] == 0
    assert not folder.exists()


def test_what_a_run_compiled_is_counted_and_cleared(folder: Path) -> None:
    assert tellegen("simulate", "rlc").returncode == 0
    record = record_of("cache")
    on_disk = [path for path in folder.iterdir() if path.is_file()]
    assert record["libraries"] >= 1
    assert record["libraries"] + record["codes"] == len(on_disk)
    assert record["bytes"] == sum(path.stat().st_size for path in on_disk)
    assert str(folder) in tellegen("cache").stdout
    assert record_of("cache", "--clear") == {**record, "removed": True}
    assert not list(folder.iterdir())
    assert tellegen("simulate", "rlc").returncode == 0


def test_files_of_others_stay_and_what_was_abandoned_goes(folder: Path) -> None:
    folder.mkdir()
    (folder / "letter.txt").write_text("mine")
    (folder / "libother.so").write_text("mine too")
    left, now = "making-0123456789abcdef", "making-fedcba9876543210"
    for name, age in ((left, 7200), (now, 0), ("making-notes", 7200)):
        (folder / name).write_bytes(b"")
        os.utime(folder / name, (time.time() - age,) * 2)
    assert tg.cache(clear=True).libraries == 0
    assert sorted(path.name for path in folder.iterdir()) == ["letter.txt", "libother.so", now, "making-notes"]
