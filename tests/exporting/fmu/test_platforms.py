"""Binaries for other systems: what their heads say, and how parts become one file. None of them is run here."""

import zipfile
from pathlib import Path

import pytest

from exporting.fmu.units import exported
from tellegen import ExportError, export_model
from tellegen.exporting.fmu import platforms
from tellegen.exporting.fmu.platforms import PLATFORMS, present_platform, universal_binary

HEADS = {
    "linux64": b"\x7fELF\x02",
    "linux-arm64": b"\x7fELF\x02",
    "win64": b"MZ",
    "win32": b"MZ",
    "darwin64": b"\xca\xfe\xba\xbe",
}


def test_the_present_platform_is_the_default(tmp_path: Path) -> None:
    unit = exported("rlc", tmp_path)
    binaries = [n for n in zipfile.ZipFile(unit.path).namelist() if n.startswith("binaries/")]
    system = PLATFORMS[present_platform()]
    assert binaries == [f"binaries/{system.folder_2}/rlc{system.suffix}"]


def test_another_platform_without_ziglang_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platforms, "_has_zig", lambda: False)
    other = next(name for name in PLATFORMS if name != present_platform())
    with pytest.raises(ExportError, match=f"X411: '{other}' needs a compiler for other systems") as refused:
        export_model("rlc", "fmu", tmp_path, platforms=[other])
    assert refused.value.finding.fix == "pip install ziglang"


def test_two_processors_of_macos_become_one_file() -> None:
    parts = [
        (0xFEEDFACF).to_bytes(4, "little") + kind.to_bytes(4, "little") + b"\x03\0\0\0" + b"code" * size
        for kind, size in ((0x01000007, 9), (0x0100000C, 5000))
    ]
    found = universal_binary(parts)
    assert found[:8] == bytes.fromhex("cafebabe00000002")
    for k, part in enumerate(parts):
        kind, _, offset, size, align = (int.from_bytes(found[8 + 20 * k + 4 * i :][:4], "big") for i in range(5))
        assert (kind, size, align) == (int.from_bytes(part[4:8], "little"), len(part), 14)
        assert offset % (1 << align) == 0
        assert found[offset : offset + size] == part


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_every_platform_compiles(name: str, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="ziglang is not installed: pip install 'tellegen[fmu]'")
    unit = exported("rlc", tmp_path, platforms=[name])
    with zipfile.ZipFile(unit.path) as archive:
        (binary,) = [n for n in archive.namelist() if n.startswith("binaries/")]
        assert archive.read(binary).startswith(HEADS[name])
