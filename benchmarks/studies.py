"""How long do many runs of one model take, in lanes, in one batch and one by one?

10 000 runs of two models with three parameters within 20 %, of which the last values are kept, at a relative tolerance of 1e-6, and
64 runs of a machine of 20 variables over 2 s: in vector registers ("lanes"), and one after the other ("batch"). One thread;
preparing the model and choosing the solver are not counted. "simulate" makes some of the runs one after the other, with new values
each time. "fit" finds three parameters from 200 measurements. Check: the largest error of some runs against a tolerance of 1e-12;
of the fit how far a parameter is off. Ratio: CPU time a run over that of the batch.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

import tellegen as tg
from benchmarks.harness import AbstractCase, Facts, Outcome, Row, Stopped, measure, row
from tellegen.studies.runs.model_runs import ModelRuns, RunSettings
from tellegen.studies.runs.table import shares_drawn

MODELS = {
    "crank_rod": (("b_m", "m_p", "b_p"), 2.0, 10_000, 100),
    "dc_motor_pump": (("R_a", "K_m", "J_m"), 0.5, 10_000, 200),
    "corking_machine": (("d_se", "b_m", "K_ce"), 2.0, 64, 4),
}
"""What is varied, how long a run is, how many there are in a batch, and how many are made one by one."""

ALLOWED = 2e-5
"""Twenty tolerances, as a run promises."""
COMPARED = 24


def prepared(name: str, rtol: float | None = None) -> tuple[ModelRuns, np.ndarray]:
    """The model ready for its runs, and their values."""
    names, until, count, _ = MODELS[name]
    model = tg.load(name)
    known = ModelRuns(model, (), (), RunSettings(until=until)).base_value
    base = [known(n) for n in names]
    values = np.array(base) * (0.8 + 0.4 * shares_drawn(len(names), count, "random", 1))
    return ModelRuns(model, names, values[0].tolist(), RunSettings(until=until, rtol=rtol)), values


@final
@dataclass(frozen=True)
class Batch(AbstractCase):
    """All runs in one call."""

    model: str
    in_lanes: bool = False

    def prepare(self) -> Any:
        runs, values = prepared(self.model)
        # a pilot of many runs, of which some are then made: lanes are for large studies
        plan = runs.plan(np.tile(values, (1 + 10_000 // len(values), 1)))
        if not self.in_lanes:
            plan = replace(plan, pair="")
        runs.make(values[:1], plan)
        return runs, values, plan

    def work(self, given: Any) -> Any:
        runs, values, plan = given
        return runs.make(values, plan, 1)

    def check(self, given: Any, found: Any) -> Facts:
        _, values, plan = given
        some = np.linspace(0, len(values) - 1, COMPARED).astype(int)
        fine, _ = prepared(self.model, 1e-12)
        exact = fine.make(values[some], replace(fine.plan(values[some]), pair=""), 1).out
        return judged(found.out[some], exact, plan.pair or plan.solver)


@final
@dataclass(frozen=True)
class OneByOne(AbstractCase):
    """Some of the runs by `simulate`, a new value each time."""

    model: str

    def prepare(self) -> Any:
        runs, values = prepared(self.model)
        tg.simulate(runs.model, runs.settings.until, samples=1)
        return runs, values

    def work(self, given: Any) -> Any:
        runs, values = given
        made = [self._run(runs, row) for row in values[: MODELS[self.model][3]]]
        return np.array([[run.values(kept.name)[-1] for kept in runs.kept] for run in made])

    def _run(self, runs: ModelRuns, row: Any) -> tg.Run:
        values = dict(zip(runs.names, row.tolist(), strict=True))
        return tg.simulate(runs.model, runs.settings.until, parameters=values, samples=1)

    def check(self, given: Any, found: Any) -> Facts:
        _, values = given
        fine, _ = prepared(self.model, 1e-12)
        some = values[: len(found)]
        return judged(found, fine.make(some, fine.plan(some), 1).out, "simulate")


@final
@dataclass(frozen=True)
class Fitted(AbstractCase):
    """Three parameters of the motor from 200 measurements."""

    def prepare(self) -> Any:
        t = np.linspace(0.0, 0.5, 201)[1:]
        run = tg.simulate("dc_motor_pump", 0.5, times=t, rtol=1e-9)
        noise = np.random.default_rng(1).standard_normal((2, len(t)))
        data = {"t": t, "I_a": run.values("I_a") + 0.1 * noise[0], "omega_m": run.values("omega_m") + noise[1]}
        tg.sensitivities("dc_motor_pump", ["R_a"], until=0.1)
        return data

    def work(self, given: Any) -> Any:
        return tg.fit(
            "dc_motor_pump", given, ["R_a", "K_m", "J_m"], parameters={"R_a": 0.8, "K_m": 0.09, "J_m": 1.5e-3}
        )

    def check(self, given: Any, found: Any) -> Facts:
        off = abs(found.values["R_a"] / 0.5 - 1.0)
        return {"ok": off < 0.02, "check": f"R_a off by {100.0 * off:.2f} %, {found.problem.runs} runs with slopes"}


def judged(found: Any, exact: Any, how: str) -> Facts:
    """The largest error beside the largest value of each number."""
    off = float(np.max(np.abs(found - exact) / np.abs(exact).max(axis=0)))
    return {"ok": off < ALLOWED, "check": f"{how}, error {off:.1e}"}


def run(full: bool) -> Iterator[Row]:
    """Both ways for each model, and a fit."""
    for name, (_, _, many, few) in MODELS.items():
        batch, loop = measure(Batch(name)), measure(OneByOne(name))
        lanes = measure(Batch(name, in_lanes=True))
        yield row(f"lanes, {name}", many, lanes, ratio=_a_run(lanes, many, batch, many, digits=2))
        yield row(f"batch, {name}", many, batch)
        yield row(f"simulate, {name}", few, loop, ratio=_a_run(loop, few, batch, many))
    yield row("fit, dc_motor_pump", 200, measure(Fitted()))


def _a_run(slow: Outcome | Stopped, few: int, quick: Outcome | Stopped, many: int, digits: int = 0) -> str:
    """How many times as long a run takes."""
    if isinstance(slow, Stopped) or isinstance(quick, Stopped) or not quick.facts["ok"]:
        return ""
    return f"{slow.cpu / few / (quick.cpu / many):,.{digits}f}"
