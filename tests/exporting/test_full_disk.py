"""A disk that is full: an export is there whole, or as it was before."""

import errno
import resource
import signal
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.errors import ExportError
from tellegen.core.files import write_bytes
from tellegen.exporting import exports

WRITE = write_bytes


@pytest.mark.parametrize("room", [0, 1, 2])
@pytest.mark.parametrize("earlier", [False, True])
def test_an_export_on_a_full_disk_leaves_nothing_half_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, *, earlier: bool
) -> None:
    folder = tmp_path / "new" / "folder"
    if earlier:
        tg.export_model("rlc", "simulink", folder)
        for file in folder.iterdir():
            file.write_text("earlier", encoding="utf-8")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    written: list[Path] = []

    def write(target: Path, data: bytes) -> None:
        if len(written) == room and data != b"earlier":
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(target)
        WRITE(target, data)

    monkeypatch.setattr(exports, "write_bytes", write)
    with pytest.raises(ExportError, match="No space left"):
        tg.export_model("rlc", "simulink", folder, overwrite=True)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
    assert earlier or not list(tmp_path.iterdir())


@pytest.mark.parametrize("to", list(exports.TARGETS))
def test_no_file_may_grow_whatever_it_is_for(tmp_path: Path, to: str) -> None:
    """The system itself refuses to write, also what compilers need on the way."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        with pytest.raises(ExportError) as refused:
            tg.export_model("rlc", to, tmp_path / "new" / "folder")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert refused.value.code == "X404"
    assert not list(tmp_path.iterdir())
