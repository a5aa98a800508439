"""Runs in lanes: the same as those of `simulate`, with bits that depend on the values of a run alone."""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.bent_models import bent_model
from tellegen.compiler.straight import support
from tellegen.compiler.toolchain import build_files
from tellegen.experiments.setup import set_up
from tellegen.graph.signals import Table
from tellegen.notations.reading import read_model
from tellegen.simulation.lanes import FLAGS, LaneBatch
from tellegen.studies.runs import lane_runs
from tellegen.studies.runs.lane_runs import lane_refusal, varied_places
from tellegen.studies.runs.model_runs import Made, ModelRuns, Plan, RunSettings
from tellegen.workflow.files import examples

RTOL = 1e-6
PROMISED = 20.0
PAIRS = ("dormand-prince", "tsitouras")


def varied_parameters(model: tg.Model, most: int = 2) -> list[str]:
    plain = [n for n, p in model.parameters.items() if p.expression is not None and not p.expression.free_symbols]
    return [name for name in plain if name not in model.counts][:most]


def drawn(model: tg.Model, names: Sequence[str], count: int, settings: RunSettings) -> np.ndarray:
    known = ModelRuns(model, (), (), settings).base_value
    return np.array([known(n) for n in names]) * np.random.default_rng(1).uniform(0.95, 1.05, (count, len(names)))


def in_lanes(runs: ModelRuns, plan: Plan, pair: str, values: np.ndarray) -> Plan:
    """The plan with a method for lanes, whatever a pilot would choose."""
    tables, _, others = runs.tables(values)
    assert not others
    places = varied_places(runs.names, runs.ready.numeric, runs.problem.given, tables)
    return replace(plan, pair=pair, varied=places, pair_share=plan.share, most_steps=1_000_000)


def kept_of(states: Sequence[str], until: float) -> list[str]:
    first, last = states[0], states[-1]
    calls = [
        f"max({first})",
        f"min({last})",
        f"time_of_max({first})",
        f"time_of_min({last})",
        f"mean({first})",
        f"rms({last})",
        f"at({first}, {0.3 * until})",
    ]
    return [*states, *calls, f"integral({last})"]


def assert_lanes_are_simulate(model: tg.Model, pair: str, until: float | None, count: int = 9) -> None:
    names = varied_parameters(model)
    settings = RunSettings(until=until)
    values = drawn(model, names, count, settings)
    numeric = ModelRuns(model, names, values[0].tolist(), settings).ready
    kept = kept_of(numeric.numeric.states[:2] or numeric.numeric.displacements[:1], numeric.until)
    runs = ModelRuns(model, names, values[0].tolist(), settings, kept)
    plan = in_lanes(runs, runs.plan(values), pair, values)
    tables, _, _ = runs.tables(values)
    found = runs.in_lanes(tables, plan)
    assert (found.status == 0).all(), "no run is left to another solver"
    made = runs.make(values, plan, 2)
    for number in (1, count - 1):
        run = runs.simulated(values[number], own_rows=True)
        # rows of its own would step over a short peak
        peaks = [t for one, t in zip(runs.numbers, made.out[number], strict=True) if one.word.startswith("time_of")]
        fine = tg.simulate(
            model,
            until,
            parameters=dict(zip(names, values[number].tolist(), strict=True)),
            rtol=1e-9,
            times=np.union1d(np.linspace(0.0, runs.ready.until, 101), peaks),
        )
        for k, one in enumerate(runs.numbers):
            told = run.values(one.name)
            size = RTOL * np.abs(told).max() * (until or runs.ready.until if one.word == "integral" else 1.0) + 1e-9
            exact = {"max": fine.values(one.name).max(), "min": fine.values(one.name).min(), "last": told[-1]}
            if one.word in exact:
                off = abs(made.out[number, k] - exact[one.word])
                assert off <= PROMISED * size, (one.text, off / size)
    # means and what is asked for at a time against the solver for single runs, where these are tested
    single = runs.make(values, replace(plan, pair=""), 2)
    for k, one in enumerate(runs.numbers):
        if one.word.startswith("time_of"):  # known to the square root of the tolerance
            continue
        off = np.abs(single.out[:, k] - made.out[:, k]).max()
        assert off <= PROMISED * runs.tolerance_of(single.out[:, k]), (one.text, off)


@pytest.mark.parametrize(("name", "pair"), [("pmsm", "dormand-prince"), ("dc_motor_pump", "tsitouras")])
def test_a_run_in_lanes_is_that_of_simulate(name: str, pair: str) -> None:
    model = tg.load(name)
    assert_lanes_are_simulate(model, pair, None if model.experiment.until is not None else 1.0)


LONG_RUNS = {"corking_machine": 0.5, "corking_machine_extended": 0.5, "trolley_folder": 0.2, "andrews_squeezer": 0.01}


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", [e.name for e in examples()])
def test_a_run_in_lanes_is_that_of_simulate_for_every_example_that_qualifies(name: str, pair: str) -> None:
    model = tg.load(name)
    until = LONG_RUNS.get(name, None if model.experiment.until is not None else 1.0)
    ready = set_up(model, until=until)
    rates = ready.numeric.data.rates if ready.numeric.data is not None else None
    searched = rates is None or any(type(s).__name__ == "Newton" for s in rates.statements)
    if ready.graph.switching or searched or lane_refusal(ready.numeric, "auto"):
        return
    assert_lanes_are_simulate(model, pair, until)


FORMULAS = """
system: Every function of formulas
parameters: {a: 0.7, b: 1.3, C: 1 F, R: 2 ohm}
network:
  G: {voltage source: [e, gnd]}
  R: {resistor: [e, n]}
  C: {capacitor: [n, gnd], voltage: V, initial: 0.4 V}
signals:
  x: 0.9*sin(t/(1 s) + a)
  f: sin(x) + cos(a*x) + tan(x/2) + asin(x) + acos(x/2) + atan(b*x) + atan2(x, a) + sinh(x) + cosh(x) + tanh(3*x) + hypot(x, b)
  g: exp(x) + log(2 + x) + sqrt(1 + x^2) + abs(x) + floor(b) + ceil(a) + min(x, a, 0.2) + max(x, -a) + sign(a)
  h: (2 + x)^1.7 + x^7 + (1 + x^2)^(-3/2) + if(x > 0 and a < b, x, -x/2) + a^b*x
  k: sin(2*x + 2.1) - cos(2*x - a) + sin(2*x)*cos(2*x + 1) - cos(x + sin(x - b))
experiment: {until: 2 s, inputs: {G: (f + g + h + k)*1 V}}
"""


def test_all_functions_give_in_lanes_what_the_library_gives() -> None:
    model = read_model(FORMULAS)
    names = ["C", "R"]
    values = np.random.default_rng(3).uniform([0.6, 1.1], [0.9, 1.9], (6, 2))
    runs = ModelRuns(model, names, values[0].tolist(), RunSettings(rtol=1e-9), ["V", "I_R", "max(I_R)"])
    plan = in_lanes(runs, Plan("batch", "for the test", "runge-kutta"), "dormand-prince", values)
    tables, _, _ = runs.tables(values)
    found = runs.in_lanes(tables, plan)
    assert (found.status == 0).all()
    single = runs.make(values, replace(plan, pair=""), 1)
    assert np.abs(found.out - single.out).max() <= PROMISED * 1e-9 * np.abs(single.out).max()


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_tables_and_maps_give_in_lanes_what_the_library_gives(seed: int) -> None:
    model = read_model(bent_model(seed))
    names, kept = ["v", "x_k", "m"], ["at(F_k, 0 s)", "at(g, 0 s)", "at(h, 0 s)", "v", "at(f, 0.3 s)"]
    # beyond the first and the last points too, and on some of them
    values = np.random.default_rng(seed).uniform([-1.5, -3e-3, 1.8], [1.5, 3e-3, 2.2], (96, 3))
    speeds = next(law.points for law in set_up(model).graph.signals if isinstance(law, Table) and law.name == "g")
    values[: len(speeds), 0] = speeds
    runs = ModelRuns(model, names, values[0].tolist(), RunSettings(until=0.4), kept)
    plan = in_lanes(runs, Plan("batch", "for the test", "runge-kutta", share=0.05), "tsitouras", values)
    made, single = runs.make(values, plan, 1), runs.make(values, replace(plan, pair="", share=1e-3), 1)
    assert (made.status == 0).all()
    sizes = np.abs(single.out).max(axis=0)
    assert (np.abs(made.out - single.out)[:, :3] <= 1e-13 * sizes[:3]).all()
    assert (np.abs(made.out - single.out) <= PROMISED * RTOL * sizes).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_no_run_over_bends_is_further_off_than_promised(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_runs, "WORTH", 0.0)
    vary = {"m": tg.uniform("80 %", "120 %"), "F": tg.uniform("50 %", "150 %")}
    kept = ["v", "F_k", "mean(v)", "max(v)"]
    study = tg.sweep(read_model(bent_model(seed)), vary, draws=128, keep=kept, check="all", progress=False)
    assert study.plan.pair
    assert study.error is not None
    assert study.error.largest <= PROMISED


def test_functions_are_good_to_few_units_in_the_last_place(tmp_path: Path) -> None:
    names = {
        "sin": 40.0,
        "cos": 40.0,
        "tan": 1.4,
        "exp": 300.0,
        "atan": 9.0,
        "sinh": 5.0,
        "cosh": 9.0,
        "tanh": 3.0,
        "asin": 1.0,
        "acos": 1.0,
    }
    text = "#include <math.h>\n#define TG_INLINE inline\n" + support()
    text += "".join(
        f"void all_{n}(int n, double *x) {{ for (int i = 0; i < n; i++) x[i] = tg_{n}(x[i]); }}\n"
        for n in (*names, "log")
    )
    library = build_files({"functions.c": text}, FLAGS).library
    assert library is not None
    rng = np.random.default_rng(5)

    def values(name: str, x: np.ndarray) -> np.ndarray:
        found = x.copy()
        getattr(library, f"all_{name}")(ctypes.c_int(len(x)), found.ctypes.data_as(ctypes.c_void_p))
        return found

    cases = [(name, rng.uniform(-most, most, 2000)) for name, most in names.items()]
    cases += [
        ("sin", rng.uniform(-1e6, 1e6, 2000)),
        ("log", 10.0 ** rng.uniform(-300, 300, 2000)),
        ("log", rng.uniform(0.9, 1.1, 500)),
    ]
    for name, x in cases:
        exact = np.array([getattr(math, name)(v) for v in x])
        # sums of two rounded parts are as good as the larger of these
        size = np.maximum(np.abs(exact), 1e-300)
        assert (np.abs(values(name, x) - exact) <= 6 * np.spacing(size)).all(), name
    assert np.isnan(values("sin", np.array([2e6, np.inf, np.nan]))).all(), "what cannot be reduced is no number"
    assert values("exp", np.array([-np.inf, -800.0, 800.0])).tolist() == [0.0, 0.0, np.inf]
    assert values("log", np.array([0.0, np.inf])).tolist() == [-np.inf, np.inf]
    assert np.isnan(values("log", np.array([-1.0]))).all()


def test_order_company_threads_and_width_change_no_bit() -> None:
    model = tg.load("dc_motor_pump")
    names = varied_parameters(model, 3)
    settings = RunSettings(until=0.05, samples=3)
    values = drawn(model, names, 37, settings)
    kept = ["I_a", "max(I_a)", "mean(omega_m)", "at(P_0, 0.013)", "time_of_max(I_a)"]
    runs = ModelRuns(model, names, values[0].tolist(), settings, kept)
    plan = in_lanes(runs, runs.plan(values), "tsitouras", values)
    whole = runs.make(values, plan, 1)
    assert (whole.status == 0).all()

    def bits(made: Made) -> bytes:
        return made.out.tobytes() + made.rows.tobytes() + made.steps.tobytes()

    assert bits(runs.make(values, plan, 3)) == bits(whole)
    backwards = runs.make(values[::-1].copy(), plan, 2)
    assert backwards.out[::-1].tobytes() == whole.out.tobytes()
    alone = np.concatenate([runs.make(values[k : k + 1], plan, 1).out for k in range(3)])
    assert alone.tobytes() == whole.out[:3].tobytes()
    # prepared by another row of the table, as by another process
    other = ModelRuns(model, names, values[17].tolist(), settings, kept)
    assert other.make(values[:9], plan, 1).out.tobytes() == whole.out[:9].tobytes()
    tables, _, _ = runs.tables(values)
    program = runs.lane_runs(plan)
    for width in (1, 4):
        object.__setattr__(program, "batch", LaneBatch(program.code, program.pair, program.keeping, width))
        found = runs.in_lanes(tables, plan)
        assert found.rows.tobytes() == whole.rows.tobytes(), f"{width} lanes"


def test_runs_that_lanes_give_up_are_made_by_the_solver_for_single_runs() -> None:
    model = tg.load("crank_rod")
    values = np.linspace(0.01, 0.03, 20)[:, None]
    runs = ModelRuns(model, ["b_m"], [0.02], RunSettings(until=0.5), ["omega", "max(omega)"])
    plan = in_lanes(runs, Plan("batch", "for the test", "runge-kutta"), "tsitouras", values)
    tables, _, _ = runs.tables(values)
    hasty = replace(plan, most_steps=20)
    assert (runs.in_lanes(tables, hasty).status != 0).all()
    assert runs.make(values, hasty, 2).out.tobytes() == runs.make(values, replace(plan, pair=""), 1).out.tobytes()


def test_an_angle_that_is_too_large_for_lanes_is_left_to_the_library() -> None:
    model = read_model(
        """
system: A wheel that has turned for long
parameters: {J: 1 kg*m^2, g: 2 N*m}
network:
  J: {inertia: [a], speed: w, initial: 1 rad/s}
  M: {torque source: [frame, a], signal: g*sin(theta)}
displacements: {theta: w}
experiment: {until: 1 s}
"""
    )
    values = np.linspace(1.5e6, 1.6e6, 12)[:, None]
    runs = ModelRuns(model, ["theta"], values[0].tolist(), RunSettings(), ["w"])
    plan = in_lanes(runs, Plan("batch", "for the test", "runge-kutta"), "dormand-prince", values)
    tables, _, _ = runs.tables(values)
    assert (runs.in_lanes(tables, plan).status != 0).all()
    made = runs.make(values, plan, 1)
    assert (made.status == 0).all()
    assert (
        abs(made.out[3, 0] - tg.simulate(model, initial={"theta": values[3, 0]}).values("w")[-1]) <= PROMISED * 1e-6 * 3
    )


@pytest.mark.parametrize(
    ("name", "why"), [("solenoid", "unknowns are searched for"), ("sampled_position_control", "sampled")]
)
def test_a_study_says_why_it_has_no_lanes(name: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_runs, "WORTH", 0.0)
    model = tg.load(name)
    study = tg.sweep(
        model, {p: tg.uniform("99 %", "101 %") for p in varied_parameters(model)}, 0.01, draws=16, check="none"
    )
    assert not study.plan.pair
    assert why in study.plan.reason


def test_a_large_study_runs_in_lanes_and_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(lane_runs, "WORTH", 0.0)
    vary = {"b_m": tg.uniform("90 %", "110 %"), "m_p": tg.uniform("90 %", "110 %")}
    study = tg.sweep("crank_rod", vary, 0.5, draws=64, keep=["omega"], into=tmp_path / "crank.study")
    assert study.plan.pair in PAIRS
    assert study.to_json()["lanes"]
    assert "in lanes, by" in str(study)
    assert study.error is not None
    assert study.error.largest <= PROMISED
    again = tg.read_study(tmp_path / "crank.study")
    assert again.plan == study.plan
    part = again.runs.make(again.cases.values[5:9], again.plan, 1)
    assert part.out.tobytes() == study.made.out[5:9].tobytes()


@settings(max_examples=2)
@given(
    st.lists(st.sampled_from(["V_0", "R", "L", "t_0", "I", "E"]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["2*L/(1 ms)", "3 ohm"]),
)
def test_whatever_follows_from_what_is_varied_follows_in_lanes(names: list[str], second: str) -> None:
    """Starts, inputs, breaks and durations that are formulas of parameters, and a resistance that follows from another one."""
    model = read_model(
        f"""
system: A circuit with formulas
parameters: {{V_0: 2 V, R: 5 ohm, L: 2 mH, C: 20 uF, t_0: 0.4 ms, r: '{second}'}}
network:
  E: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b]}}
  r: {{resistor: [b, d]}}
  L: {{inductor: [d, e], current: I}}
  C: {{capacitor: [e, gnd], voltage: V_C, initial: V_0/4}}
  G: {{voltage source: [e, f], signal: V_0/3}}
  R_g: {{resistor: [f, gnd], R: 7 ohm}}
experiment: {{until: 2 ms + 3*t_0, inputs: {{E: 'step(V_0, t_0)'}}, initial: {{I: V_0/R}}}}
"""
    )
    base = {"V_0": 2.0, "R": 5.0, "L": 2e-3, "t_0": 0.4e-3, "I": 0.3, "E": 3.0}
    given_inputs = {"E": 1.0} if "E" in names else {}
    values = np.array([base[n] for n in names]) * np.random.default_rng(1).uniform(0.9, 1.1, (10, len(names)))
    settings = RunSettings(inputs=given_inputs)
    runs = ModelRuns(model, names, values[0].tolist(), settings, ["I", "V_C", "max(V_C)"])
    plan = in_lanes(runs, Plan("batch", "for the test", "runge-kutta"), "tsitouras", values)
    tables, rows, _ = runs.tables(values)
    assert runs.lane_runs(plan).taken(tables).all()
    assert len(rows) == 10
    found = runs.in_lanes(tables, plan)
    assert (found.status == 0).all()
    single = runs.make(values, replace(plan, pair=""), 1)
    sizes = [runs.tolerance_of(single.out[:, k]) for k in range(3)]
    assert (np.abs(found.out - single.out).max(axis=0) <= PROMISED * np.array(sizes)).all()
