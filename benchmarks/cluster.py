"""What does a cluster cost beside this process alone?

crank_rod with three parameters within 20 %, two numbers kept of each run, in chunks of some seconds: by one thread of
this process into a store, by two workers of a Dask cluster on this machine that write into a store, and by two that
give arrays back. With all sizes also a million runs of dc_motor_pump. Starting workers, and what is compiled once, is not
counted. CPU time is that of all processes together; check: whether the numbers have the bits of this process. Ratio:
CPU time a run over that of one thread.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np

import tellegen as tg
from benchmarks.harness import AbstractCase, Bound, Facts, Outcome, Row, Stopped, Told, measure, row

COUNT, MANY = 400_000, 1_000_000
MODELS = {
    "crank_rod": (("b_m", "m_p", "b_p"), ["omega", "theta"], "2 s"),
    "dc_motor_pump": (("R_a", "K_m", "J_m"), ["omega_m", "max(I_a)"], "0.5 s"),
}
"""What is varied and kept, and how long runs are."""


def swept(model: str, count: int, **more: Any) -> tg.Study:
    """The study of this benchmark."""
    names, keep, until = MODELS[model]
    vary = {name: tg.uniform("80 %", "120 %") for name in names}
    return tg.sweep(
        model, vary, until, draws=count, by="random", keep=keep, check="none", threads=1, progress=False, **more
    )


@final
@dataclass(frozen=True)
class Direct(AbstractCase):
    """One thread of this process, into a store."""

    model: str
    count: int

    def prepare(self) -> Any:
        swept(self.model, self.count)
        return Path(tempfile.mkdtemp()) / "motor.study"

    def work(self, given: Any) -> Any:
        return swept(self.model, self.count, into=given)

    def check(self, given: Any, found: Any) -> Facts:
        return {"ok": found.finished == self.count, "check": f"{found.finished} runs finished"}


@final
@dataclass(frozen=True)
class ByWorkers(AbstractCase):
    """Two worker processes. A worker prepares a study once, and has then what it needs of all others that are alike."""

    model: str
    count: int
    writing: bool

    def prepare(self) -> Any:
        import distributed  # noqa: PLC0415  an extra

        local: Any = distributed.LocalCluster
        cluster = local(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50)
        client = cluster.get_client()
        folder = Path(tempfile.mkdtemp())
        # All load and compile what they need, which depends on how many runs there are.
        swept(self.model, self.count, on=client, **({"into": folder / "before.study"} if self.writing else {}))
        return cluster, client, folder / "motor.study"

    def work(self, given: Any) -> Any:
        _, client, folder = given
        before = sum(client.run(time.process_time).values())
        study = swept(self.model, self.count, on=client, **({"into": folder} if self.writing else {}))
        return study, sum(client.run(time.process_time).values()) - before

    def check(self, given: Any, found: Any) -> Facts:
        cluster, client, _ = given
        study, elsewhere = found
        client.close()
        cluster.close()
        some = np.linspace(0, self.count - 1, 1_000).astype(int)
        alone = study.runs.make(study.cases.values[some], study.plan).out
        same = alone.tobytes() == study.made.out[some].tobytes()
        told = "the same bits" if same else "other bits"
        return {
            "ok": same and study.finished == self.count,
            "check": f"{study.finished} runs, {told}",
            "else": elsewhere,
        }


def run(full: bool) -> Iterator[Row]:
    """One process, and two workers that write or give back."""
    wanted: list[tuple[str, int, tuple[bool, ...]]] = [("crank_rod", COUNT, (True, False))]
    if full:
        wanted.append(("dc_motor_pump", MANY, (True,)))
    for model, count, ways in wanted:
        direct = measure(Direct(model, count), limit=300)
        yield row(f"{model}, one thread, into a store", count, direct)
        for writing in ways if find_spec("distributed") else ():
            words = "into a store" if writing else "giving arrays back"
            found = measure(ByWorkers(model, count, writing), limit=600)
            yield _with_ratio(f"{model}, two workers, {words}", count, found, direct)


def _with_ratio(name: str, count: int, made: Outcome | Stopped, direct: Outcome | Stopped) -> Row:
    if isinstance(made, Stopped) or isinstance(direct, Stopped) or not made.facts["ok"]:
        return row(name, count, made)
    cpu = made.cpu + made.facts["else"]
    told = Outcome(made.seconds, cpu, made.spread, made.peak_mb, made.facts)
    found = cpu / direct.cpu
    busy = f"other programs wanted {os.getloadavg()[0]:.0f} of the {os.cpu_count()} cores, and what Dask takes goes by the clock"
    return row(name, count, told, against=Told(f"{found:.2f}", Bound(most=1.15, why=busy).judge(found)))
