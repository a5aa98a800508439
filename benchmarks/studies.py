"""How long do many runs of one model take, in lanes, in one batch and one by one, here and elsewhere?

10 000 runs of two models with three parameters within 20 %, of which the last values are kept, at a relative tolerance of 1e-6, and
64 runs of a machine of 20 variables over 2 s: in vector registers ("lanes"), and one after the other ("batch"). One thread;
preparing the model and choosing the solver are not counted, and two threads are counted by the clock. "simulate" makes some of the
runs one after the other, with new values each time, and with none, "joblib" by two processes whose own time is counted; "vectors by
hand" is C for crank_rod alone. "P1" is the crank of `runs` over 10 s, each program at the loosest tolerance whose error stays below
1e-6, ours with last values alone. "SciPy loop" is `odeint`, which is LSODA, over equations in Python, "diffrax vmap" Tsit5 over all
runs on the processor, each as coarse as that error allows. "buck_converter" changes its mode 8000 times, in C and in Python.
Check: the largest error of some runs against a tolerance of 1e-12. Ratio: CPU time a run over that of what it names; beside it what
was asked of that ratio before any of it was built, and whether it is kept. `cluster`, `searches` and `gpu` hold the others.
"""

import ctypes
import os
import platform
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, final

import numpy as np

import tellegen as tg
from benchmarks.harness import AbstractCase, Bound, Facts, Outcome, Row, Stopped, Told, compared, measure, row, together
from benchmarks.runs import ALL, GOAL, RunOf
from benchmarks.solvers.problems import crank
from tellegen.compiler.context import address_of
from tellegen.compiler.kept_files import cache_folder
from tellegen.notations.reading import read_model
from tellegen.simulation import lanes
from tellegen.simulation.hybrid.relay import ModeRelay
from tellegen.studies.runs.model_runs import ModelRuns, RunSettings
from tellegen.studies.runs.table import shares_drawn

MODELS = {
    "crank_rod": (("b_m", "m_p", "b_p"), 2.0, 10_000, 100),
    "dc_motor_pump": (("R_a", "K_m", "J_m"), 0.5, 10_000, 1_000),
    "corking_machine": (("d_se", "b_m", "K_ce"), 2.0, 64, 4),
}
"""What is varied, how long a run is, how many there are in a batch, and how many are made one by one."""

NARROWER = {"avx2": 8, "sse2": 4}
"""Older vector instructions, and how many runs at a time suit them."""

ALLOWED = 2e-5
"""Twenty tolerances, as a run promises."""
COMPARED = 24
OF_DIFFRAX = 1_000


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
    narrower: str = ""
    """In lanes: the vector instructions of an older processor."""
    threads: int = 1

    def prepare(self) -> Any:
        runs, values = prepared(self.model)
        if self.narrower:
            with_these = (f"-m{self.narrower}",), NARROWER[self.narrower], self.narrower
            lanes.vector_flags = lambda: with_these  # type: ignore[assignment]
        # a pilot of many runs, of which some are then made: lanes are for large studies
        plan = runs.plan(np.tile(values, (1 + 10_000 // len(values), 1)))
        if not self.in_lanes:
            plan = replace(plan, pair="")
        runs.make(values[:1], plan)
        return runs, values, plan

    def work(self, given: Any) -> Any:
        runs, values, plan = given
        return runs.make(values, plan, self.threads)

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
    new_values: bool = True

    def prepare(self) -> Any:
        os.environ["TELLEGEN_CACHE"] = tempfile.mkdtemp(prefix="tellegen-bench-")
        runs, values = prepared(self.model)
        tg.simulate(runs.model, runs.settings.until, samples=1)
        return runs, values if self.new_values else np.tile(values[0], (len(values), 1)), _kept_files()

    def work(self, given: Any) -> Any:
        runs, values, _ = given
        made = [self._run(runs, row) for row in values[: MODELS[self.model][3]]]
        return np.array([[run.values(kept.name)[-1] for kept in runs.kept] for run in made])

    def _run(self, runs: ModelRuns, row: Any) -> tg.Run:
        values = dict(zip(runs.names, row.tolist(), strict=True))
        return tg.simulate(runs.model, runs.settings.until, parameters=values, samples=1)

    def check(self, given: Any, found: Any) -> Facts:
        _, values, before = given
        fine, _ = prepared(self.model, 1e-12)
        some = values[: len(found)]
        how = f"simulate, {_kept_files() - before} files left"
        return judged(found, fine.make(some, fine.plan(values), 1).out, how)


def simulated_apart(
    model: tg.Model | str, until: float, values: dict[str, float], names: list[str]
) -> tuple[Any, float]:
    """The last values of a run in another process, and what it took there."""
    began = time.process_time()
    run = tg.simulate(model, until, parameters=values, samples=1, progress=False)
    return [run.values(name)[-1] for name in names], time.process_time() - began


@final
@dataclass(frozen=True)
class ByJoblib(AbstractCase):
    """Some of the runs by `simulate` in two processes of joblib, which have made as many before."""

    model: str

    def prepare(self) -> Any:
        runs, values = prepared(self.model)
        some = values[: MODELS[self.model][3]]
        self.work((runs, some))
        return runs, some

    def work(self, given: Any) -> Any:
        import joblib  # noqa: PLC0415  a peer

        runs, values = given
        told = [dict(zip(runs.names, row.tolist(), strict=True)) for row in values]
        names = [kept.name for kept in runs.kept]
        one = joblib.delayed(simulated_apart)
        return joblib.Parallel(n_jobs=2)(one(self.model, runs.settings.until, row, names) for row in told)

    def check(self, given: Any, found: Any) -> Facts:
        _, values = given
        fine, _ = prepared(self.model, 1e-12)
        exact = fine.make(values, fine.plan(values), 1).out
        took = sum(seconds for _, seconds in found)
        return {**judged(np.array([out for out, _ in found]), exact, "simulate, two processes"), "else": took}


def exact_crank_rods() -> tuple[Any, Any, Any]:
    """The values of all runs of crank_rod, which of them are compared, and the exact numbers of these."""
    _, values = prepared("crank_rod")
    some = np.linspace(0, len(values) - 1, COMPARED).astype(int)
    fine, _ = prepared("crank_rod", 1e-12)
    return values, some, fine.make(values[some], replace(fine.plan(values[some]), pair=""), 1).out


@final
@dataclass(frozen=True)
class VectorsByHand(AbstractCase):
    """crank_rod in C written for it, at the loosest tolerance whose error stays below that of P1."""

    def prepare(self) -> Any:
        source = Path(__file__).parent / "solvers" / "in_vectors.c"
        target = Path(tempfile.mkdtemp(prefix="tellegen-bench-")) / "in_vectors.so"
        flags = ["-O3", *lanes.vector_flags()[0], "-ffast-math", "-fopenmp-simd", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, str(source), "-o", str(target), "-lmvec", "-lm"], check=True)
        library = ctypes.CDLL(str(target))
        values, some, exact = exact_crank_rods()

        def make(rtol: float) -> Any:
            out, atol = np.empty((len(values), 2)), np.full(2, 1e-3 * rtol)
            until = ctypes.c_double(MODELS["crank_rod"][1])
            given = (ctypes.c_void_p(address_of(a)) for a in (values, atol, out))
            rows, scale, place = given
            library.crank_rods_in_vectors(len(values), rows, until, ctypes.c_double(rtol), scale, place)
            return out

        for half_digits in range(10, 22):
            rtol = float(f"{10 ** (-half_digits / 2):.0e}")
            off = judged(make(rtol)[some], exact, f"Tsitouras, rtol {rtol:g}", GOAL)
            if off["ok"]:
                break
        return make, rtol, off

    def work(self, given: Any) -> Any:
        make, rtol, _ = given
        return make(rtol)

    def check(self, given: Any, found: Any) -> Facts:
        off: Facts = given[-1]
        return off


@final
@dataclass(frozen=True)
class LoopOfSciPy(AbstractCase):
    """The runs of crank_rod that are compared, by `odeint` over its equations in Python, at the loosest tolerance that will do."""

    def prepare(self) -> Any:
        values, some, exact = exact_crank_rods()
        for digits in range(5, 11):
            rtol = 10.0**-digits
            off = judged(self.work((values[some], rtol, None)), exact, f"LSODA, rtol {rtol:g}", GOAL)
            if off["ok"]:
                break
        return values[some], rtol, off

    def work(self, given: Any) -> Any:
        from math import cos, pi, sin, sqrt  # noqa: PLC0415  beside what reads them

        from scipy.integrate import odeint  # noqa: PLC0415  a peer

        values, rtol, _ = given
        times = [0.0, MODELS["crank_rod"][1]]

        def rates(y: Any, t: float, b_m: float, m_p: float, b_p: float) -> tuple[float, float]:
            speed, theta = y
            s, c = sin(theta), cos(theta)
            a = 0.05 * s - 0.01
            square = 1.0 / (0.15 * 0.15 - a * a)
            part = sqrt(square)
            h = -0.05 * (s + c * a * part)
            slope = 0.05 * (s * a * part - c - 0.05 * c * c * part * (1.0 + a * a * square))
            return (2.0 - (b_m + h * h * b_p + h * slope * m_p * speed) * speed) / (0.01 + h * h * m_p), speed

        asked = {"rtol": rtol, "atol": 1e-2 * rtol, "mxstep": 100_000}
        return np.array(
            [odeint(rates, [0.0, 0.5 * pi], times, args=tuple(row), **asked)[-1] for row in values.tolist()]
        )

    def check(self, given: Any, found: Any) -> Facts:
        off: Facts = given[-1]
        return off


def by_diffrax(name: str) -> Any:
    """A function of the values of many runs, and of a tolerance, to the numbers that are kept: Tsit5 of diffrax under `vmap`."""
    diffrax, jax, jnp = map(import_module, ("diffrax", "jax", "jax.numpy"))
    jax.config.update("jax_enable_x64", True)
    names, until, _, _ = MODELS[name]
    model = tg.functions(tg.load(name), of="jax", sources="experiment")
    places = np.array([model.names.parameters.index(n) for n in names])
    order = np.array([model.names.states.index(kept.name) for kept in prepared(name)[0].numbers])
    base, start = jnp.asarray(model.parameters), jnp.asarray(model.start)
    term = diffrax.ODETerm(lambda t, y, p: model.rates(t, y, (), p))

    def one(row: Any, tolerance: Any) -> Any:
        return diffrax.diffeqsolve(
            term,
            diffrax.Tsit5(),
            0.0,
            until,
            None,
            start,
            args=base.at[places].set(row),
            saveat=diffrax.SaveAt(t1=True),
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=1e-3 * tolerance),
            max_steps=100_000,
        ).ys[0][order]

    return jax.jit(jax.vmap(one, in_axes=(0, None)))


@final
@dataclass(frozen=True)
class Vmapped(AbstractCase):
    """Some runs of crank_rod together by diffrax on the processor, at the loosest tolerance that will do."""

    count: int

    def prepare(self) -> Any:
        os.environ["JAX_PLATFORMS"] = "cpu"
        values, some, exact = exact_crank_rods()
        every = by_diffrax("crank_rod")
        for half_digits in range(10, 18):
            rtol = float(f"{10 ** (-half_digits / 2):.0e}")
            off = judged(np.asarray(every(values[some], rtol)), exact, f"Tsitouras, rtol {rtol:g}", GOAL)
            if off["ok"]:
                break
        given = every, values[: self.count], rtol, off
        self.work(given)
        return given

    def work(self, given: Any) -> Any:
        every, values, rtol, _ = given
        return every(values, rtol).block_until_ready()

    def check(self, given: Any, found: Any) -> Facts:
        off: Facts = given[-1]
        return off


@final
@dataclass(frozen=True)
class AtOneError(AbstractCase):
    """Many runs of P1 at the loosest tolerance that keeps the error which other programs are given."""

    in_lanes: bool

    def prepare(self) -> Any:
        model, values = read_model(crank().text), 1e-2 * (0.8 + 0.4 * shares_drawn(1, 1_000, "random", 1))
        some = np.linspace(0, len(values) - 1, COMPARED).astype(int)

        def runs_with(rtol: float) -> tuple[Any, Any]:
            runs = ModelRuns(model, ("b_m",), values[0].tolist(), RunSettings(rtol=rtol))
            plan = runs.plan(np.tile(values, (20, 1)))
            return runs, plan if self.in_lanes and rtol > 1e-11 else replace(plan, pair="")

        fine, plan = runs_with(1e-12)
        exact = fine.make(values[some], plan, 1).out
        for half_digits in range(10, 22):
            runs, plan = runs_with(float(f"{10 ** (-half_digits / 2):.0e}"))
            off = judged(
                runs.make(values[some], plan, 1).out, exact, f"{plan.pair or plan.solver}, rtol {runs.rtol:g}", GOAL
            )
            if off["ok"]:
                break
        return runs, plan, values, off

    def work(self, given: Any) -> Any:
        runs, plan, values, _ = given
        return runs.make(values, plan, 1)

    def check(self, given: Any, found: Any) -> Facts:
        off: Facts = given[-1]
        return off


@final
@dataclass(frozen=True)
class Switching(AbstractCase):
    """A converter whose changes of mode are decided in C, or in Python."""

    in_c: bool

    def prepare(self) -> Any:
        if not self.in_c:
            ModeRelay.suits = lambda *_: False  # type: ignore[method-assign]
        tg.simulate("buck_converter", "1 ms", samples=1)

    def work(self, given: Any) -> Any:
        return tg.simulate("buck_converter", samples=1)

    def check(self, given: Any, found: Any) -> Facts:
        fine = tg.simulate("buck_converter", samples=1, rtol=1e-10)
        exact = [fine.values(name)[-1] for name in ("I_L", "V_C")]
        off = max(abs(found.values(n)[-1] - e) for n, e in zip(("I_L", "V_C"), exact, strict=True)) / max(exact)
        return {"ok": bool(off < ALLOWED), "check": f"{len(found.trajectory.events)} changes, error {off:.1e}"}


def _kept_files() -> int:
    """The files that compiled models have left."""
    return sum(1 for _ in cache_folder().rglob("*"))


def judged(found: Any, exact: Any, how: str, allowed: float = ALLOWED) -> Facts:
    """The largest error beside the largest value of each number."""
    off = float(np.max(np.abs(found - exact) / np.abs(exact).max(axis=0)))
    return {"ok": off < allowed, "check": f"{how}, error {off:.1e}"}


LOOP_ASKED = {"crank_rod": (120.0, 31.9), "dc_motor_pump": (600.0, 16.0), "corking_machine": (5.0, 36.0)}
"""What a loop over `simulate` was to take beside a batch, and the ms that a run of it took when that was asked."""
LANES_ASKED = {"crank_rod": 8.0, "corking_machine": 2.5}
NARROWER_ASKED = {"avx2": 5.0, "sse2": 2.0}
NEW_ASKED = Bound(most=1.3)


def run(full: bool) -> Iterator[Row]:
    """All ways for each model, other programs, and changes of mode."""
    for name, (_, _, many, few) in MODELS.items():
        batch, lanes = measure(Batch(name)), measure(Batch(name, in_lanes=True))
        yield row(f"batch, {name}", many, batch)
        asked = Bound(LANES_ASKED[name]) if name in LANES_ASKED else None
        yield row(f"lanes, {name}", many, lanes, against=compared("batch : lanes", batch, many, lanes, many, asked))
        for older in NARROWER if name == "crank_rod" and platform.machine() in ("x86_64", "AMD64") else ():
            found = measure(Batch(name, in_lanes=True, narrower=older))
            told = compared("batch : these", batch, many, found, many, Bound(NARROWER_ASKED[older]))
            yield row(f"lanes, {name}, {older}", many, found, against=told)
        if name == "crank_rod":
            yield from _others(many, few, batch, lanes)
        new, same = measure(OneByOne(name)), measure(OneByOne(name, new_values=False))
        yield row(
            f"simulate, {name}",
            few,
            new,
            against=compared("this : batch", new, few, batch, many, _of_loop(name, new, few)),
        )
        yield row(
            f"simulate, {name}, no new value", few, same, against=compared("new : none", new, few, same, few, NEW_ASKED)
        )
    yield from _at_one_error()
    quick, slow = measure(Switching(True)), measure(Switching(False))
    yield row("buck_converter, modes in C", None, quick)
    told = compared("this : in C", slow, 1, quick, 1, Bound(8.0))
    yield row("buck_converter, modes in Python", None, slow, against=told)


def _of_loop(name: str, new: Outcome | Stopped, few: int) -> Bound:
    asked, before = LOOP_ASKED[name]
    now = 1e3 * new.cpu / few if isinstance(new, Outcome) else 0.0
    return Bound(asked, why=f"the loop takes {now:.2g} ms a run and took {before:.3g} when that was asked")


def _others(many: int, few: int, batch: Outcome | Stopped, lanes: Outcome | Stopped) -> Iterator[Row]:
    """Two threads by the clock, C by hand, SciPy, diffrax, and processes of joblib."""
    both = measure(Batch("crank_rod", in_lanes=True, threads=2))
    told = Told()
    if isinstance(lanes, Outcome) and isinstance(both, Outcome):
        gain = lanes.seconds / both.seconds
        busy = f"other programs wanted {os.getloadavg()[0]:.0f} of the {os.cpu_count()} cores"
        told = Told(f"one thread : these, by the clock = {gain:.3g}", Bound(1.9, why=busy).judge(gain))
    yield row("lanes, crank_rod, two threads", many, both, against=told)
    by_hand = measure(VectorsByHand())
    cost = f"{1e6 * by_hand.cpu / many:.0f} us a run" if isinstance(by_hand, Outcome) else ""
    asked = Bound(2.0, why=f"that C takes {cost} and the one of before took 76")
    yield row(
        "vectors by hand, crank_rod", many, by_hand, against=compared("this : lanes", by_hand, many, lanes, many, asked)
    )
    loop = measure(LoopOfSciPy())
    cost = f"{1e3 * loop.cpu / COMPARED:.2g} ms a run" if isinstance(loop, Outcome) else ""
    asked = Bound(750.0, why=f"this loop takes {cost} and the one of before took 19.4")
    told = compared("this : lanes", loop, COMPARED, lanes, many, asked)
    yield row("SciPy loop, crank_rod", COMPARED, loop, against=told)
    if find_spec("diffrax"):
        vmapped = measure(Vmapped(OF_DIFFRAX))
        to_batch = compared("this : batch", vmapped, OF_DIFFRAX, batch, many, Bound(0.9))
        to_lanes = compared("this : lanes", vmapped, OF_DIFFRAX, lanes, many, Bound(7.0))
        yield row("diffrax vmap, crank_rod", OF_DIFFRAX, vmapped, against=together(to_batch, to_lanes))
    else:
        yield Row("diffrax vmap, crank_rod", check="absent: 'diffrax' is not installed")
    if not find_spec("joblib"):
        yield Row("joblib, crank_rod", check="absent: 'joblib' is not installed")
        return
    found, cost = measure(ByJoblib("crank_rod")), ""
    if isinstance(found, Outcome):
        found = replace(found, cpu=found.facts["else"])
        cost = f"{1e3 * found.cpu / few:.2g} ms"
    asked = Bound(1400.0, why=f"a run of `simulate` takes {cost} there and took 37 ms when that was asked")
    yield row("joblib, crank_rod", few, found, against=compared("this : lanes", found, few, lanes, many, asked))


def _at_one_error() -> Iterator[Row]:
    batch, lanes = measure(AtOneError(False)), measure(AtOneError(True))
    for name, found in (("batch", batch), ("lanes", lanes)):
        yield row(f"P1, {name}", 1_000, found)
    for label, asked in (("hand-written C, order 8", (0.95, 8.0)), ("SciPy", None), ("diffrax", None)):
        if not ALL[label].installed():
            yield Row(f"P1, {label}", check=f"absent: '{ALL[label].package}' is not installed")
            continue
        found = measure(RunOf(label, "P1", 1), repeats=1, limit=60.0)
        if isinstance(found, Stopped) or not found.facts["ok"]:
            yield row(f"P1, {label}", 1, found)
            continue
        alone = replace(found, cpu=found.facts["solve_s"], seconds=found.facts["solve_s"])
        told = together(
            compared("this : batch", alone, 1, batch, 1_000, Bound(asked[0]) if asked else None),
            compared("this : lanes", alone, 1, lanes, 1_000, Bound(asked[1]) if asked else None),
        )
        yield row(f"P1, {label}", 1, alone, against=told)
