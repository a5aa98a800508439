"""How long do fits and searches take beside loops over single runs, and what does a store cost?

"fit" finds three parameters of crank_rod from 200 measurements with one per cent of noise, from half as much or twice
the values; "loop" does it by `least_squares` of SciPy with its own differences over runs of `simulate`. "optimise"
finds the spring and the damper of a buffer with the least force within a stroke. "store" writes chunks of 2 s of runs
of crank_rod with ten kept numbers. Check: chi2 over degrees of freedom, the error against the closed form, the share
of the time of the runs. Ratio: CPU time over that of the first.
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

import tellegen as tg
from benchmarks.harness import AbstractCase, Bound, Facts, Outcome, Row, Stopped, Told, compared, measure, row
from tellegen.notations.reading import read_model
from tellegen.studies.runs.store import begin_store, spec_of
from tellegen.studies.runs.sweep import cases_of, checked_settings, prepared_runs

TRUTH = {"b_m": 0.02, "m_p": 0.5, "b_p": 2.0}
AWAY = {"b_m": 0.04, "m_p": 0.25, "b_p": 4.0}
UNTIL, COUNT = 2.0, 200

BUFFER = """
system: A buffer that stops a trolley
parameters: {m: 200 kg, k: 20 kN/m, b: 500 N*s/m}
network:
  m: {mass: [x], velocity: v}
  k: {spring: [x, frame], force: F_k}
  b: {damper: [x, frame], force: F_b}
signals:
  F: F_k + F_b
experiment: {until: 1 s, initial: {v: 2 m/s}}
"""
LEAST = 0.520585
"""Of the largest force times the stroke over m v^2."""

RUNS_OF_A_CHUNK = 10_000
"""Two seconds of runs, one after the other."""


def record() -> tuple[dict[str, Any], dict[str, float]]:
    """Measurements with one per cent of noise, and the noise."""
    t = np.linspace(0.0, UNTIL, COUNT + 1)[1:]
    run = tg.simulate("crank_rod", UNTIL, times=t, rtol=1e-9)
    numbers = np.random.default_rng(1)
    noise = {name: 0.01 * float(np.ptp(run.values(name))) for name in ("omega", "theta")}
    return {"t": t, **{n: run.values(n) + size * numbers.standard_normal(COUNT) for n, size in noise.items()}}, noise


@final
@dataclass(frozen=True)
class Fitted(AbstractCase):
    """By exact slopes."""

    def prepare(self) -> Any:
        data, noise = record()
        tg.fit("crank_rod", data, ["b_m"], noise=noise)
        return data, noise

    def work(self, given: Any) -> Any:
        data, noise = given
        return tg.fit("crank_rod", data, list(TRUTH), noise=noise, parameters=AWAY)

    def check(self, given: Any, found: Any) -> Facts:
        off = max(abs(found.values[name] / value - 1.0) for name, value in TRUTH.items())
        told = f"{found.problem.slope_runs} runs with slopes, off by {100 * off:.1f} % at most"
        return {
            "ok": off < 0.2 and found.chi2 / found.dof < 1.2,
            "check": f"chi2/dof {found.chi2 / found.dof:.2f}, {told}",
        }


@final
@dataclass(frozen=True)
class Looped(AbstractCase):
    """By runs of `simulate` and differences of SciPy."""

    def prepare(self) -> Any:
        tg.simulate("crank_rod", UNTIL, samples=1)
        return record()

    def work(self, given: Any) -> Any:
        from scipy.optimize import least_squares  # noqa: PLC0415  not timed for the others

        data, noise = given
        runs = [0]

        def residuals(x: Any) -> Any:
            runs[0] += 1
            values = dict(zip(TRUTH, np.exp(x).tolist(), strict=True))
            run = tg.simulate("crank_rod", UNTIL, times=data["t"], parameters=values, rtol=1e-8)
            return np.concatenate([(run.values(name) - data[name]) / size for name, size in noise.items()])

        found = least_squares(residuals, np.log(list(AWAY.values())), x_scale="jac", jac="3-point")
        return dict(zip(TRUTH, np.exp(found.x).tolist(), strict=True)), runs[0], 2.0 * found.cost / (2 * COUNT - 3)

    def check(self, given: Any, found: Any) -> Facts:
        values, runs, chi2 = found
        off = max(abs(values[name] / value - 1.0) for name, value in TRUTH.items())
        return {"ok": True, "check": f"chi2/dof {chi2:.2f}, {runs} runs, off by {100 * off:.1f} % at most"}


@final
@dataclass(frozen=True)
class Optimised(AbstractCase):
    """Two free names, one constraint, eight starts."""

    def prepare(self) -> Any:
        model = read_model(BUFFER)
        tg.response(model, by=["k", "b"], of=["max(F)"], threads=1).slopes([2e4, 500.0])
        return model

    def work(self, given: Any) -> Any:
        free = {"k": (1e3, 1e6), "b": (10.0, 1e5)}
        return tg.optimise(given, free, "max(F)", subject_to=["max(F_k)/k <= 100 mm"], threads=1)

    def check(self, given: Any, found: Any) -> Facts:
        off = abs(found.objective * 0.1 / 800.0 / LEAST - 1.0)
        return {"ok": off < 1e-4, "check": f"{found.run_count} runs, force off by {off:.0e}"}


@final
@dataclass(frozen=True)
class Stored(AbstractCase):
    """Chunks of runs that were made are written."""

    chunks: int = 10

    def prepare(self) -> Any:
        model, vary = tg.load("crank_rod"), {name: tg.uniform("80 %", "120 %") for name in TRUTH}
        settings = checked_settings(
            UNTIL, None, None, None, solver="auto", rtol=None, atol=None, max_step=None, start=None
        )
        draws = self.chunks * RUNS_OF_A_CHUNK
        cases = cases_of(model, vary, settings, draws=draws, by="random", seed=0, paired=False)
        kept = [f"{word}(omega)" for word in ("max", "min", "mean", "rms", "integral", "time_of_max", "time_of_min")]
        runs = prepared_runs(model, cases, settings, [*kept, "omega", "theta", "max(theta)"])
        plan = runs.plan(cases.values)
        folder = Path(tempfile.mkdtemp()) / "crank.study"
        store = begin_store(folder, spec_of(runs, cases, {}), runs, cases, plan, anew=False)
        store.chunk = RUNS_OF_A_CHUNK
        return store, runs, runs.make(cases.values[:RUNS_OF_A_CHUNK], plan), plan

    def work(self, given: Any) -> Any:
        store, runs, made, _ = given
        for part in range(self.chunks):
            store.write(slice(part * RUNS_OF_A_CHUNK, (part + 1) * RUNS_OF_A_CHUNK), made, runs)
        return store

    def check(self, given: Any, found: Any) -> Facts:
        done = int((found.group["status"][:] == 0).sum())
        return {"ok": done == self.chunks * RUNS_OF_A_CHUNK, "check": f"{done} runs written", "chunks": self.chunks}


def run(full: bool) -> Iterator[Row]:
    """A fit both ways, an optimum, and a store."""
    fitted, looped = measure(Fitted()), measure(Looped())
    yield row("fit, crank_rod", COUNT, fitted)
    cost = f"{looped.cpu:.2g} s" if isinstance(looped, Outcome) else ""
    asked = Bound(20.0, why=f"the loop takes {cost} and took 9.8 when that was asked")
    yield row("loop, crank_rod", COUNT, looped, against=compared("this : fit", looped, 1, fitted, 1, asked))
    yield row("optimise, buffer", None, measure(Optimised()))
    yield _share(measure(Stored()))


def _share(found: Outcome | Stopped) -> Row:
    """What writing is beside the two seconds that each chunk takes to make."""
    if not isinstance(found, Outcome):
        return row("store, chunks of 2 s", RUNS_OF_A_CHUNK, found)
    share = 100 * found.cpu / found.facts["chunks"] / 2.0
    told = Told(f"{share:.1f} % of 2 s", Bound(most=2.0).judge(share))
    return row("store, chunks of 2 s", RUNS_OF_A_CHUNK, found, against=told)
