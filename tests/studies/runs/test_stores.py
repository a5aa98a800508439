"""Studies in folders: whatever ends a study, the same command goes on with it, and the numbers are the same to the last bit."""

import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.studies.runs import store as stores
from tellegen.studies.runs.store import Store, open_store, writing
from tellegen.studies.runs.sweep import resume

VARY = {"R_a": tg.uniform("90 %", "110 %"), "J_m": tg.uniform("90 %", "110 %")}
KEEP = ["omega_m", "max(I_a)"]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "chunk_of", lambda *_: 64)


def swept(folder: Path | None = None, draws: int = 512, **more: Any) -> tg.Study:
    return tg.sweep("dc_motor_pump", VARY, draws=draws, keep=KEEP, into=folder, check="none", threads=2, **more)


CHILD = """
import sys
import tellegen as tg
from tellegen.studies.runs import store
store.chunk_of = lambda *_: 128
vary = {name: tg.uniform("90 %", "110 %") for name in ("b_m", "m_p")}
tg.sweep("crank_rod", vary, draws=1280, keep=["omega", "theta"], into=sys.argv[1], check="none", threads=1, progress=False)
"""


def test_a_study_that_is_killed_at_any_moment_goes_on_and_has_the_same_bits(tmp_path: Path) -> None:
    folder = tmp_path / "crank.study"
    for chunks in (3,):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(folder)])
        while child.poll() is None and len(list(folder.glob("status/c/*"))) <= chunks:
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert (tmp_path / "crank.study.running").exists(), "it was killed while it wrote"
    done = int((open_store(folder).group["status"][:] == 0).sum())
    assert 0 < done < 1280
    study = resume(folder, check="none", threads=2)
    vary = {name: tg.uniform("90 %", "110 %") for name in ("b_m", "m_p")}
    whole = tg.sweep("crank_rod", vary, draws=1280, keep=["omega", "theta"], check="none")
    assert study.made.out.tobytes() == whole.made.out.tobytes()
    assert study.cases.values.tobytes() == whole.cases.values.tobytes()
    assert not list(tmp_path.glob("*.running"))


@pytest.mark.usefixtures("small_chunks")
def test_a_store_cut_off_at_any_byte_resumes(tmp_path: Path) -> None:
    whole = tmp_path / "whole.study"
    expected = swept(whole).made.out.tobytes()
    numbers = np.random.default_rng(3)
    for case in range(6):
        folder = tmp_path / f"cut{case}.study"
        shutil.copytree(whole, folder)
        # The order in which a chunk is written: what comes after the cut is not there, and the cut file is a temporary one.
        chunk = int(numbers.integers(8))
        files = [folder / name / "c" / str(chunk) for name in (*KEEP, "steps", "reached", "status")]
        cut = int(numbers.integers(len(files)))
        for file in files[cut:]:
            content = file.read_bytes() if file.exists() else b""
            file.unlink(missing_ok=True)
            if file == files[cut]:
                (file.parent / f"{file.name}.partial").write_bytes(content[: int(numbers.integers(len(content) + 1))])
        assert swept(folder).made.out.tobytes() == expected
        assert resume(folder).made.out.tobytes() == expected


@pytest.mark.usefixtures("small_chunks")
def test_the_same_command_resumes_and_more_draws_extend(tmp_path: Path) -> None:
    folder = tmp_path / "motor.study"
    few = swept(folder, 100)
    assert few.finished == 100
    more = swept(folder, 300)
    assert more.made.out[:100].tobytes() == few.made.out.tobytes()
    assert more.made.out.tobytes() == swept(None, 300).made.out.tobytes()
    read = tg.read_study(folder)
    assert read.made.out.tobytes() == more.made.out.tobytes()
    assert str(read.summary()) == str(more.summary())
    assert read.run(17).final()["omega_m"] == pytest.approx(float(read.values("omega_m")[17]), rel=2e-5)


@pytest.mark.usefixtures("small_chunks")
def test_xarray_opens_a_store_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "motor.study"
    study = tg.sweep("dc_motor_pump", VARY, draws=100, keep=[*KEEP, "I_a"], samples=10, into=folder, check="none")
    with xarray.open_zarr(folder, consolidated=False) as found:
        assert found["max(I_a)"].dims == ("run",)
        assert found["I_a"].dims == ("run", "t")
        assert found["I_a"].attrs["units"] == "A"
        assert found["I_a"].values.tobytes() == study.values("I_a").tobytes()
        assert found.attrs["tellegen_study"] == 1
    with xarray.open_zarr(folder, group="vary", consolidated=False) as varied:
        assert varied["R_a"].values.tobytes() == study.values("R_a").tobytes()


def test_models_with_modes_are_stored_and_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stores, "chunk_of", lambda *_: 4)
    folder = tmp_path / "clutch.study"
    vary = {"tau_max": tg.between(4, 6, 10)}
    first = tg.sweep("clutch_drive", vary, 0.3, into=folder, check="none")
    assert first.plan.how == "one by one"
    shutil.rmtree(folder / "status" / "c")
    again = tg.sweep("clutch_drive", vary, 0.3, into=folder, check="none")
    assert again.made.out.tobytes() == first.made.out.tobytes()


def test_another_study_is_refused_and_what_differs_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "motor.study"
    swept(folder, 64)
    others: dict[str, dict[str, Any]] = {
        "values": {"seed": 2},
        "settings": {"rtol": 1e-8},
        "what is kept": {"keep": ["P_0"]},
    }
    for part, more in others.items():
        with pytest.raises(TellegenError) as refused:
            tg.sweep("dc_motor_pump", VARY, **{"draws": 64, "keep": KEEP, "into": folder, **more})
        assert refused.value.code == "S403"
        assert f"'{part}' is not the same" in refused.value.what
    with pytest.raises(TellegenError) as refused:
        tg.sweep("dc_motor", {"R": tg.uniform("90 %", "110 %")}, draws=64, into=folder)
    assert "model" in refused.value.what
    with pytest.raises(TellegenError, match="64 draws of this study, and 32 are asked for") as refused:
        swept(folder, 32)
    assert refused.value.code == "S403"
    anew = swept(folder, 64, seed=2, force=True)
    assert anew.made.out.tobytes() != swept(None, 64).made.out.tobytes()


def test_who_begins_anew_loses_a_study_and_nothing_else(tmp_path: Path) -> None:
    other = tmp_path / "photographs"
    other.mkdir()
    (other / "holiday.txt").touch()
    with pytest.raises(TellegenError) as refused:
        swept(other, 8, force=True)
    assert refused.value.code == "S412"
    assert [file.name for file in other.iterdir()] == ["holiday.txt"]
    assert swept(tmp_path / "new.study", 8, force=True).finished == 8
    assert swept(tmp_path / "new.study", 16, force=True).finished == 16


def test_two_writers_are_kept_apart_and_one_that_is_gone_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "motor.study"
    swept(folder, 64)
    with writing(folder), pytest.raises(TellegenError) as refused:
        swept(folder, 64)
    assert refused.value.code == "S404"
    assert str(os.getpid()) in refused.value.what
    mark = tmp_path / "motor.study.running"
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    for left in ({"host": socket.gethostname(), "process": child.pid}, {"host": "elsewhere", "process": 1}):
        mark.write_text(json.dumps(left), encoding="utf-8")
        long_ago = time.time() - 100.0
        os.utime(mark, (long_ago, long_ago))
        assert swept(folder, 64).finished == 64
        assert not mark.exists()
    mark.write_text(json.dumps({"host": "elsewhere", "process": 1}), encoding="utf-8")
    with pytest.raises(TellegenError, match="elsewhere"):
        swept(folder, 64)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_is_said_before_the_first_run_or_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    folder = tmp_path / "motor.study"
    with monkeypatch.context() as context:
        context.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**6, 10**6, 1000))
        with pytest.raises(TellegenError) as refused:
            swept(folder)
    assert refused.value.code == "S405"
    assert not folder.exists()
    write, count = Store.write, [0]

    def fails(self: Store, part: slice, *rest: Any) -> None:
        count[0] += 1
        if count[0] == 4:
            self.group = Full(self.group)
        write(self, part, *rest)

    class Full(dict[str, Any]):
        def __init__(self, group: Any) -> None:
            self._group = group

        def __getitem__(self, name: str) -> Any:
            raise OSError(reason, "no room")

    with monkeypatch.context() as context:
        context.setattr(Store, "write", fails)
        with pytest.raises(TellegenError) as refused:
            swept(folder)
    assert refused.value.code == "S405"
    assert int((open_store(folder).group["status"][:] == 0).sum()) == 3 * 64
    assert swept(folder).made.out.tobytes() == swept(None).made.out.tobytes()


def test_what_is_no_study_or_cannot_be_stored_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("nothing", "empty"):
        with pytest.raises(TellegenError) as refused:
            tg.read_study(tmp_path / name)
        assert refused.value.code == "S412"
    with pytest.raises(TellegenError) as refused:
        swept(tmp_path / "empty", 64)  # never written over
    assert refused.value.code == "S412"
    with pytest.raises(TellegenError) as refused:
        swept(tmp_path / "no" / "folder", 64)
    assert refused.value.code == "S412"
    with pytest.raises(TellegenError) as refused:
        swept(tmp_path / "f.study", 64, inputs={"V_a": np.sin})
    assert refused.value.code == "S415"
    monkeypatch.setattr(stores, "import_module", lambda name: (_ for _ in ()).throw(ImportError(name)))
    with pytest.raises(TellegenError) as refused:
        swept(tmp_path / "g.study", 64)
    assert refused.value.code == "S414"
    assert "tellegen[studies]" in refused.value.finding.fix


def test_shapes_of_inputs_and_texts_are_kept_in_a_store(tmp_path: Path) -> None:
    folder = tmp_path / "motor.study"
    first = swept(folder, 64, inputs={"V_a": tg.step(12)}, initial={"I_a": "1 A"}, parameters={"K_m": "0.16 N*m/A"})
    assert resume(folder).made.out.tobytes() == first.made.out.tobytes()
    row = first.cases.row(5)
    run = tg.simulate("dc_motor_pump", inputs={"V_a": tg.step(12)}, initial={"I_a": 1}, parameters={**row, "K_m": 0.16})
    assert (
        abs(run.values("omega_m")[-1] - first.values("omega_m")[5]) <= 20 * 1e-6 * np.abs(run.values("omega_m")).max()
    )
