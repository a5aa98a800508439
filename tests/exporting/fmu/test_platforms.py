"""Binaries for other systems: what their heads say, how parts become one file; that of Windows runs in Wine."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from exporting.fmu.units import Unit, exported
from tellegen import ExportError, export_model
from tellegen.exporting.fmu import unit as fmu_unit
from tellegen.exporting.fmu.unit import PLATFORMS, present_platform, universal_binary

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
    monkeypatch.setattr(fmu_unit, "_has_zig", lambda: False)
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["crank_rod", "clutch_drive"])
def test_the_sources_in_a_unit_build_again_and_run(
    name: str, tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    system_tool("cmake")
    unit = exported(name, tmp_path, "3", sources="experiment")
    first = unit.run(0.2, output=unit.states)
    # The file has another library then.
    program = Path(sys.executable).with_name("fmpy")
    subprocess.run([program, "compile", unit.path], check=True, capture_output=True, timeout=300)
    built = Unit(unit.path.rename(tmp_path / "built.fmu"))
    assert built.problems() == []
    again = built.run(0.2, output=unit.states)
    for state in unit.states:
        assert np.max(np.abs(again[state] - first[state])) <= 1e-9 * max(1.0, np.max(np.abs(first[state])))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["crank_rod", "bouncing_ball"])
def test_a_unit_for_windows_runs_in_wine(name: str, tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    pytest.importorskip("ziglang", reason="ziglang is not installed: pip install 'tellegen[fmu]'")
    wine = system_tool("wine")
    unit = exported(name, tmp_path, platforms=["win64"], sources="experiment")
    with zipfile.ZipFile(unit.path) as archive:
        (library,) = [n for n in archive.namelist() if n.endswith(".dll")]
        (tmp_path / "unit.dll").write_bytes(archive.read(library))
    host = Path(__file__).with_name("windows_host.c")
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", "x86_64-windows-gnu", "-O1"]
    subprocess.run([*compiler, str(host), "-o", str(tmp_path / "host.exe")], check=True, timeout=900)
    until = float(unit.description.defaultExperiment.stopTime)
    references = {v.name: v.valueReference for v in unit.description.modelVariables if v.name in unit.states}
    words = ["unit.dll", unit.description.guid, repr(until / 200), "200", *map(str, references.values())]
    surroundings = {**os.environ, "WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "DISPLAY": ""}
    try:
        done = subprocess.run(
            [wine, "host.exe", *words],
            cwd=tmp_path,
            env=surroundings,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )
    finally:
        subprocess.run([wine, "wineboot", "-k"], env=surroundings, capture_output=True, check=False, timeout=60)
    rows = np.array([[float(word) for word in line.split()] for line in done.stdout.split("\n") if line.strip()])
    run = tg.simulate(name, times=np.minimum(rows[:, 0], until), rtol=1e-10, progress=False)
    for k, state in enumerate(references):
        # Impacts are found by either at a time of its own.
        off = np.sort(np.abs(rows[:, 1 + k] - run.values(state)))[:-5]
        assert np.max(off) < 1e-6 * np.max(np.abs(run.values(state))), state
