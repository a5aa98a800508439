"""How many runs a second does a graphics card make, and how many the cores beside it and diffrax on the same card?

crank_rod over 2 s (three parameters within 20 %) and corking_machine over 2 s, of which the last values are kept, at a relative
tolerance of 1e-6, each kernel compiled before; "cores" makes runs in lanes on all cores. diffrax is `vmap` of Tsit5 over the rates
that `tellegen.functions(of="jax")` gives, in double precision, at the loosest tolerance whose error is no larger than that of the
card. Error: the largest of some runs against a tolerance of 1e-12, beside the largest value of each number. Ratio: runs a second
over those of the cores, of a card in the kernel. A kernel is compiled, and then read from the disk again. "examples" makes some
runs of each built-in example that a card takes there and on the cores: both promise twenty tolerances. Without a card, or without
CuPy or diffrax, the row says so; the examples are made with all sizes.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, final

import numpy as np

import tellegen as tg
from benchmarks.harness import Bound, Row
from benchmarks.studies import ALLOWED, COMPARED, MODELS, by_diffrax
from tellegen.core.errors import TellegenError
from tellegen.simulation.global_error import PROMISED
from tellegen.simulation.lanes import CardBatch
from tellegen.studies.runs.lane_runs import CARD, PILOT_STEPS, card_pair, varied_places
from tellegen.studies.runs.makers import card_name
from tellegen.studies.runs.model_runs import ModelRuns, Plan, RunSettings
from tellegen.studies.runs.sweep import usable_cores
from tellegen.studies.runs.table import shares_drawn
from tellegen.workflow.files import examples

ON_CARD = {"crank_rod": 1 << 20, "corking_machine": 1 << 16}
ON_CORES = {"crank_rod": 1 << 17, "corking_machine": 1 << 11}
OF_DIFFRAX = {"crank_rod": 1 << 16}
EVEN = 2.0 / 16_384


@final
@dataclass(frozen=True)
class Way:
    """A tolerance, or else that of the model; a step, or else those of the tolerance; and what was asked before it was built."""

    rtol: float | None = None
    step: float | None = None
    single: bool = False
    least: float | None = None
    """Runs a second."""
    least_ratio: float | None = None
    """Over the cores."""


WAYS = {
    "crank_rod": (Way(), Way(rtol=4e-5, least=3e7, least_ratio=100.0), Way(rtol=1e-5, single=True)),
    "corking_machine": (Way(), Way(rtol=1e-4), Way(step=EVEN, least=4e5)),
}
LEAST_OVER_DIFFRAX = 50.0
LONGEST_TO_COMPILE = {"crank_rod": 0.5, "corking_machine": 1.5}
LONGEST_TO_READ = 0.05
OF_EXAMPLES = 64
SINGLE_ALLOWED = 1e-1
"""Single precision has seven digits, and an angle that grows loses some of them: its error is told, not promised."""


def drawn(name: str, count: int) -> np.ndarray:
    """Values of the parameters that vary."""
    names, until, _, _ = MODELS[name]
    known = ModelRuns(tg.load(name), (), (), RunSettings(until=until)).base_value
    shares = shares_drawn(len(names), count, "random", 1)
    return np.asarray(np.array([known(n) for n in names]) * (0.8 + 0.4 * shares))


def prepared(name: str, rtol: float | None = None, step: float | None = None) -> ModelRuns:
    """The model ready for its runs."""
    names, until, _, _ = MODELS[name]
    return ModelRuns(tg.load(name), names, drawn(name, 1)[0].tolist(), RunSettings(until=until, rtol=rtol, step=step))


def on_card(runs: ModelRuns, values: np.ndarray, plan: Plan, *, single: bool) -> Plan:
    """The plan of a pilot, with a method on the card."""
    tables, _, _ = runs.tables(values[:16])
    places = varied_places(runs.names, runs.ready.numeric, runs.problem.given, tables)
    pair, step = card_pair(runs.ready.numeric.size, runs.step), runs.step or 0.0
    most = 20 * PILOT_STEPS
    return replace(
        plan, pair=pair, step=step, varied=places, pair_share=1.0, most_steps=most, device=CARD, single=single
    )


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """The least seconds of some times, after a first one that compiles."""
    found, best = work(), float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - began)
    return best, found


def run(full: bool) -> Iterator[Row]:
    """Card, cores and diffrax for each model."""
    try:
        card = card_name()
    except TellegenError as reason:
        yield Row("card", check=f"absent: {reason.what}")
        card = ""
    for name in ON_CARD:
        yield from _of_model(name, card)
    if card and full:
        yield _examples()


def _of_model(name: str, card: str) -> Iterator[Row]:
    runs, values = prepared(name), drawn(name, ON_CARD[name])
    some = np.linspace(0, ON_CORES[name] - 1, COMPARED).astype(int)
    fine = prepared(name, 1e-12)
    exact = fine.make(values[some], replace(fine.plan(values[some]), pair=""), 1).out

    def error(out: np.ndarray) -> float:
        return float(np.max(np.abs(out[some] - exact) / np.abs(exact).max(axis=0)))

    cores = usable_cores(None)
    few = values[: ON_CORES[name]]
    plan = runs.plan(few)
    seconds, made = timed(lambda: runs.make(few, plan, cores))
    quick, off = len(few) / seconds, error(made.out)
    text = f"{quick:.3g} runs/s, error {off:.1e}, {plan.pair or plan.solver}"
    yield Row(f"{name}: {cores} cores", len(few), seconds, ratio="1", check=text, ok=off < ALLOWED)
    if not card:
        return
    equal = (1.0, 0.0)
    for way in WAYS[name]:
        own = prepared(name, way.rtol, way.step)
        found, facts = _launched(own, on_card(own, values, plan, single=way.single), values)
        off, told = error(found.out), "single" if way.single else "double"
        if way == Way():
            equal = (off, facts["quick"])
        bounds = {
            "compiled in s": (Bound(most=LONGEST_TO_COMPILE[name]), facts["compiled"]),
            "read again in s": (Bound(most=LONGEST_TO_READ), facts["read"]),
        }
        if way.least:
            bounds["runs/s"] = Bound(way.least), facts["quick"]
        if way.least_ratio:
            bounds["ratio"] = Bound(way.least_ratio), facts["quick"] / quick
        words = f"{facts['quick']:.3g} runs/s in the kernel, {facts['all']:.3g} with copying, error {off:.1e}"
        yield Row(
            f"{name}: {card}, {told}, {f'rtol {own.rtol:g}' if way.step is None else 'even steps'}",
            len(values),
            len(values) / facts["all"],
            ratio=f"{facts['quick'] / quick:.1f}",
            check=f"{words}, {facts['told']}",
            target="; ".join(f"{words} {bound.judge(number)}" for words, (bound, number) in bounds.items()),
            ok=bool((found.status == 0).all())
            and off < (SINGLE_ALLOWED if way.single else max(ALLOWED, 20 * own.rtol)),
        )
    if name in OF_DIFFRAX:
        yield _diffrax(name, values[: OF_DIFFRAX[name]], some[some < OF_DIFFRAX[name]], exact, equal)


def _launched(runs: ModelRuns, plan: Plan, values: np.ndarray) -> tuple[Any, dict[str, Any]]:
    """The runs, and how many a second they are: in the kernel, and with all that is copied to the card and back."""
    cupy = import_module("cupy")
    program = runs.lane_runs(plan).batch
    assert isinstance(program, CardBatch)
    began = time.perf_counter()
    kernel = program.kernel
    first = time.perf_counter() - began
    cupy.clear_memo()
    began = time.perf_counter()
    replace(program, single=plan.single).kernel  # noqa: B018  made anew, from the disk
    kept = time.perf_counter() - began
    inside: list[float] = []

    def timed_kernel(*given: Any) -> None:
        events = [cupy.cuda.Event() for _ in range(2)]
        events[0].record()
        kernel(*given)
        events[1].record()
        events[1].synchronize()
        inside.append(1e-3 * cupy.cuda.get_elapsed_time(*events))

    program.__dict__["kernel"] = timed_kernel
    tables, _, _ = runs.tables(values)
    took, found = timed(lambda: runs.in_lanes(tables, plan))
    room = f"{kernel.num_regs} registers, {kernel.local_size_bytes} bytes beside them"
    compiled = f"compiled in {first:.2f} s, kept {1e3 * kept:.0f} ms"
    told = f"{plan.pair}, {np.median(found.counts[:, 0]):.0f} steps, {room}, {compiled}"
    speeds = {"quick": len(values) / min(inside), "all": len(values) / took}
    return found, {**speeds, "told": told, "compiled": first, "read": kept}


def _examples() -> Row:
    """Some runs of all examples on the card and on the cores: how far apart they are, in what both promise."""
    began, most, worst, made = time.perf_counter(), 0.0, "", 0
    for example in examples():
        model = tg.load(example.name)
        plain = [n for n, p in model.parameters.items() if p.expression is not None and not p.expression.free_symbols]
        vary = {name: tg.uniform("98 %", "102 %") for name in plain if name not in model.counts}
        if not vary:
            continue
        until = None if model.experiment.until is not None else 1.0
        names = dict(list(vary.items())[:2])
        asked: dict[str, Any] = {"draws": OF_EXAMPLES, "by": "random", "check": "none", "progress": False}
        try:
            there = tg.sweep(model, names, until, on="gpu", **asked)
        except TellegenError as reason:
            if reason.code == "S430":
                continue
            raise
        here, made = tg.sweep(model, names, until, **asked), made + 1
        for k, column in enumerate(here.made.out.T):
            apart = np.nanmax(np.abs(there.made.out[:, k] - column)) / (2.0 * PROMISED * here.runs.tolerance_of(column))
            if not apart <= most:
                most, worst = float(apart), example.name
    told = f"{made} examples, at most {most:.2g} of what both promise ({worst})"
    return Row(
        "examples, card and cores", OF_EXAMPLES, time.perf_counter() - began, check=told, ok=made > 0 and most <= 1.0
    )


def _diffrax(name: str, values: np.ndarray, some: np.ndarray, exact: np.ndarray, told: tuple[float, float]) -> Row:
    if not (find_spec("diffrax") and find_spec("jax")):
        return Row(f"{name}: diffrax vmap", check="absent: 'diffrax' is not installed")
    every = by_diffrax(name)
    given, scale = import_module("jax.numpy").asarray(values), np.abs(exact).max(axis=0)
    for tolerance in (1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8):
        found = np.asarray(every(given, tolerance))[some]
        off = float(np.max(np.abs(found - exact[: len(some)]) / scale))
        if off <= told[0]:
            break
    took, _ = timed(lambda: every(given, tolerance).block_until_ready())
    where = import_module("jax").devices()[0].platform
    text = f"{len(values) / took:.3g} runs/s, error {off:.1e} at tolerance {tolerance:g}, on {where}"
    times = told[1] * took / len(values)
    return Row(
        f"{name}: diffrax vmap",
        len(values),
        took,
        ratio=f"1/{times:.0f} of the card",
        check=text,
        target=f"card : this {Bound(LEAST_OVER_DIFFRAX).judge(times)}",
    )
