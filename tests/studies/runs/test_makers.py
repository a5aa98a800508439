"""Who makes runs changes no bit of them: threads, processes, and the workers of a cluster, of which one is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.studies.runs import chunks, makers
from tellegen.studies.runs import store as stores
from tellegen.studies.runs import sweep as sweeps
from tellegen.studies.runs.chunks import make_chunk, study_text
from tellegen.studies.runs.makers import ThreadMaker, WorkerProcess
from tellegen.studies.runs.store import open_store, writing
from tellegen.studies.runs.sweep import resume

VARY = {"R_a": tg.uniform("90 %", "110 %"), "J_m": tg.uniform("90 %", "110 %")}
KEEP = ["omega_m", "max(I_a)"]


def swept(draws: int = 256, **more: Any) -> tg.Study:
    return tg.sweep("dc_motor_pump", VARY, draws=draws, keep=KEEP, check="none", **more)


def same(one: tg.Study, other: tg.Study) -> bool:
    """Whether two studies have the same bits."""
    return one.made.out.tobytes() == other.made.out.tobytes() and one.status.tobytes() == other.status.tobytes()


def test_a_study_as_a_text_gives_the_same_bits(tmp_path: Path) -> None:
    study = swept()
    text = study_text(study.runs, study.plan)
    assert json.loads(text)["names"] == ["R_a", "J_m"]
    made = make_chunk(text, study.cases.values[100:110], 100).made
    assert made is not None
    assert made.out.tobytes() == study.made.out[100:110].tobytes()
    # Into a store that can be seen, and not into one that only has its name.
    folder = tmp_path / "motor.study"
    whole = swept(into=folder)
    group = open_store(folder).group
    group["status"][:64] = -1
    with writing(folder) as right:
        assert make_chunk(text, study.cases.values[:64], 0, str(folder), "another").made is not None
        assert (group["status"][:64] == -1).all()
        assert make_chunk(text, study.cases.values[:64], 0, str(folder), right.token).made is None
    assert same(tg.read_study(folder), whole)


def test_a_worker_of_another_version_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    study = swept(16)
    text = study_text(study.runs, study.plan)
    monkeypatch.setattr(chunks, "generator", lambda: ["9.9", "other"])
    refused = make_chunk(text, study.cases.values, 0).refused
    assert refused is not None
    assert refused.code == "S406"
    assert "9.9" in refused.what


def test_runs_that_python_takes_part_in_are_made_by_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(makers, "WORTH_S", 0.0)
    vary = {"J_l": [0.4, -1.0, *np.linspace(0.45, 0.6, 10)]}
    found = tg.sweep("clutch_drive", vary, 0.3, check="none", threads=2)
    assert "2 worker processes" in str(found)
    alone = tg.sweep("clutch_drive", vary, 0.3, check="none", threads=1)
    assert same(found, alone)
    assert [one.run for one in found.failed] == [one.run for one in alone.failed] == [1]
    assert found.failed[0].finding is not None


@pytest.mark.slow
def test_a_process_that_ends_is_replaced_once() -> None:
    study = swept(16)
    text, rows = study_text(study.runs, study.plan), study.cases.values
    worker = WorkerProcess()
    try:
        first = worker.make(text, rows, 0).made
        assert worker._process is not None
        worker._process.kill()
        again = worker.make(text, rows, 0).made
        assert first is not None
        assert again is not None
        assert first.out.tobytes() == again.out.tobytes() == study.made.out.tobytes()
        refused = worker.make(json.dumps({**json.loads(text), "keep": ["omega_q"]}), rows, 0).refused
        assert refused is not None
        assert refused.code == "S408"
    finally:
        worker.close()


@pytest.mark.parametrize(
    ("on", "code"),
    [
        ("there", "S306"),
        ("tcp://127.0.0.1:1", "S419"),
        ("nowhere.json", "S419"),
        (3, "S306"),
    ],
)
def test_a_place_that_is_none_is_refused_before_any_run(on: Any, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(makers, "REACHED_S", 0.2)
    monkeypatch.setattr(makers, "chosen_maker", None)
    with pytest.raises(TellegenError) as caught:
        swept(16, on=on)
    assert caught.value.code == code


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A scheduler with two worker processes."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


@pytest.mark.slow
def test_a_cluster_gives_the_same_bits_by_writing_and_by_returning(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "chunk_of", lambda *_: 64)
    monkeypatch.setattr(makers, "chunk_of", lambda *_: 64)
    alone = swept(1000)
    address = cluster.scheduler_address
    assert same(swept(1000, on=address), alone)
    written = swept(1000, on=address, into=tmp_path / "one.study")
    assert same(written, alone)
    assert "2 workers of a cluster" in str(written)
    # As from another machine, which does not see the folder of the store.
    monkeypatch.setattr(stores.Writing, "token", "", raising=False)
    client = cluster.get_client()
    monkeypatch.setattr(makers, "make_chunk", _far_away)
    assert same(swept(1000, on=client, into=tmp_path / "two.study"), alone)
    (tmp_path / "scheduler.json").write_text(json.dumps({"address": address}), encoding="utf-8")
    assert same(swept(100, on=str(tmp_path / "scheduler.json")), swept(100))


def _far_away(text: str, rows: Any, first: int, folder: str, token: str) -> Any:
    return make_chunk(text, rows, first)


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_its_chunk_alone(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "chunk_of", lambda *_: 16)
    client = cluster.get_client()
    vary = {"d_se": tg.uniform("90 %", "110 %")}
    killed: list[int] = []

    def watch(begun: int, count: int) -> None:
        if not killed and begun >= 32:
            workers = client.run(os.getpid)
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    asked: dict[str, Any] = {"until": 0.1, "draws": 160, "keep": ["max(omega_m)"], "check": "none"}
    names = tg.simulate("corking_machine", 0.1).state_names
    asked["keep"] = [f"max({names[0]})"]
    study = tg.sweep("corking_machine", vary, **asked, on=client, into=tmp_path / "a.study", progress=watch)
    assert killed
    assert study.finished == 160
    assert same(study, tg.sweep("corking_machine", vary, **asked))
    assert not list(tmp_path.glob("*.running"))
    assert resume(tmp_path / "a.study", check="none").finished == 160


@pytest.mark.slow
def test_ctrl_c_keeps_whole_chunks_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = tmp_path / "crank.study"
    words = ["sweep", "crank_rod", "--vary", "b_m=uniform(80 %, 120 %)", "--draws", "200000", "--threads", "1"]
    child = subprocess.Popen(
        [sys.executable, "-m", "tellegen", *words, "--keep", "omega", "-o", str(folder)],
        stderr=subprocess.PIPE,
        text=True,
    )
    while child.poll() is None and len(list(folder.glob("status/c/*"))) < 1:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, told = child.communicate(timeout=60)
    assert child.returncode == 130
    assert f"tellegen sweep --resume {folder}" in told
    status = open_store(folder).group["status"][:]
    assert 0 < (status == 0).sum() < 200_000
    assert set(np.unique(status)) == {-1, 0}
    assert not list(tmp_path.glob("*.running"))


def test_the_line_of_progress_tells_failures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "PATIENCE_S", 0.0)
    monkeypatch.setattr(sweeps, "PAUSE_S", 0.0)
    monkeypatch.setattr(ThreadMaker, "parts", lambda *_: makers.divided(40, 10))
    vary = {"J_m": np.concatenate([[-1e-3] * 3, np.linspace(1e-3, 2e-3, 37)])}
    tg.sweep("dc_motor_pump", vary, keep=["omega_m"], check="none", progress=True)
    told = capsys.readouterr().err
    assert "of 40 runs" in told
    assert "a second" in told
    assert "3 failed" in told


def test_a_small_cluster_makes_a_study() -> None:
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as found,
        found.get_client() as client,
    ):
        assert same(swept(100, on=client), swept(100))
