"""The laws of studies: a run of a study is a run of `simulate`, and its bits depend on its values alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.notations.reading import read_model
from tellegen.studies.runs.model_runs import ModelRuns, Plan, RunSettings
from tellegen.workflow.files import examples

RTOL = 1e-6
PROMISED = 20.0


def varied_parameters(model: tg.Model, most: int = 2) -> list[str]:
    plain = [n for n, p in model.parameters.items() if p.expression is not None and not p.expression.free_symbols]
    return [name for name in plain if name not in model.counts][:most]


def assert_runs_are_those_of_simulate(
    study: tg.Study, model: tg.Model, until: float | None, numbers: list[int]
) -> None:
    for number in numbers:
        row = study.cases.row(number)
        run = tg.simulate(model, until, parameters=row, progress=False)
        for kept in study.runs.numbers:
            values = run.values(kept.name)
            size = RTOL * np.abs(values).max() + 1e-9
            off = abs(study.values(kept.text)[number] - values[-1])
            assert off <= PROMISED * size, (kept.text, off / size)


QUICK = [
    "bouncing_ball",
    "clutch_drive",
    "corking_transmission",
    "crank_rod",
    "crank_rod_mechanism",
    "dc_motor_speed_control",
    "motor_heating",
    "planar_robot",
    "pmsm",
    "rapson_slide",
    "sampled_position_control",
    "stick_slip",
]
"""Examples of every kind: with modes, loops, samples and limits; stiff, linear, mechanisms; starts and inputs that follow."""


@pytest.mark.parametrize("name", QUICK)
def test_a_run_of_a_study_is_that_of_simulate(name: str) -> None:
    model = tg.load(name)
    until = None if model.experiment.until is not None else 1.0
    vary = {p: tg.uniform("95 %", "105 %") for p in varied_parameters(model)}
    study = tg.sweep(model, vary, until, draws=9, check="none", threads=2)
    assert study.finished == 9
    assert_runs_are_those_of_simulate(study, model, until, [2, 7])


@pytest.mark.slow
@pytest.mark.parametrize("name", [e.name for e in examples() if e.name not in QUICK])
def test_a_run_of_a_study_is_that_of_simulate_for_every_example(name: str) -> None:
    test_a_run_of_a_study_is_that_of_simulate(name)


@settings(max_examples=8)
@given(
    st.lists(st.sampled_from(["V_0", "R", "L", "C", "t_0", "I", "V_C", "E"]), min_size=1, max_size=3, unique=True),
    st.sampled_from(["2*L/(1 ms)", "3 ohm", "R + L/(1 s)"]),
    st.integers(0, 10**6),
)
def test_whatever_follows_from_what_is_varied_follows_in_each_run(names: list[str], second: str, seed: int) -> None:
    """Starts, inputs, breaks and durations that are formulas of parameters: tables made at once, or row by row."""
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
    base = {"V_0": 2.0, "R": 5.0, "L": 2e-3, "C": 20e-6, "t_0": 0.4e-3, "I": 0.3, "V_C": -1.0, "E": 3.0}
    inputs = {"E": 1.0} if "E" in names else {}
    vary = {n: tg.uniform(min(0.9 * base[n], 1.1 * base[n]), max(0.9 * base[n], 1.1 * base[n])) for n in names}
    study = tg.sweep(model, vary, draws=10, seed=seed, keep=["I", "V_C"], inputs=inputs, check="none")
    assert study.plan.how == "batch"
    for number in (0, 6):
        row = study.cases.row(number)
        given_values = {n: row[n] for n in row if n not in ("I", "V_C", "E")}
        run = tg.simulate(
            model,
            parameters=given_values,
            initial={n: row[n] for n in ("I", "V_C") if n in row},
            inputs={"E": row["E"]} if "E" in row else {},
        )
        for name in ("I", "V_C"):
            values = run.values(name)
            assert abs(study.values(name)[number] - values[-1]) <= PROMISED * (RTOL * np.abs(values).max() + 1e-9)


@pytest.mark.parametrize("name", ["crank_rod", "dc_motor_pump", "sampled_position_control", "motor_heating", "pmsm"])
def test_order_grouping_and_threads_change_no_bit(name: str) -> None:
    model = tg.load(name)
    names = varied_parameters(model, 3)
    table = tg.sweep(model, {p: tg.uniform("90 %", "110 %") for p in names}, 0.01, draws=40, check="none", keep=["t"])
    values = table.cases.values
    kept = [f"max({n})" for n in table.runs.ready.numeric.states[:2]] + list(table.runs.ready.numeric.states)
    runs = ModelRuns(model, names, values[0].tolist(), RunSettings(until=0.01), kept)
    plan = runs.plan(values)
    assert plan.how == "batch"
    whole = runs.make(values, plan, 1)
    assert (whole.status == 0).all()
    threads = runs.make(values, plan, 3)
    assert threads.out.tobytes() == whole.out.tobytes()
    backwards = runs.make(values[::-1].copy(), plan, 2)
    assert backwards.out[::-1].tobytes() == whole.out.tobytes()
    alone = np.concatenate([runs.make(values[k : k + 1], plan, 1).out for k in range(5)])
    assert alone.tobytes() == whole.out[:5].tobytes()
    # prepared by another row of the table, as by another process
    other = ModelRuns(model, names, values[17].tolist(), RunSettings(until=0.01), kept).make(values[:9], plan, 1)
    assert other.out.tobytes() == whole.out[:9].tobytes()


def test_runs_that_turn_stiff_are_made_again_by_another_solver() -> None:
    model = read_model(
        """
system: A relaxing pair
parameters: {R: 1 ohm, r: 1 mohm, C: 1 F}
network:
  C: {capacitor: [a, gnd], initial: 1 V, law: 'q = 1 F*v + 0.1 F/V^2*v^3/3'}
  R: {resistor: [a, b]}
  c: {capacitor: [b, gnd], C: 1 uF, initial: 1 V}
  r: {resistor: [b, gnd], R: r}
experiment: {until: 1 s}
"""
    )
    study = tg.sweep(model, {"r": tg.between(1e-3, 1e3, 20, log=True)}, check="none")
    assert study.finished == 20
    assert_runs_are_those_of_simulate(study, model, None, [0, 10, 19])


def test_ctrl_c_keeps_what_was_made() -> None:
    model = tg.load("crank_rod")
    values = np.linspace(0.01, 0.03, 400)[:, None]
    runs = ModelRuns(model, ["b_m"], [0.02], RunSettings(), ["omega"])
    plan = Plan("batch", "for the test", "runge-kutta")
    calls: list[int] = []

    def between(begun: int) -> bool:
        calls.append(begun)
        return len(calls) > 1

    made = runs.make(values, plan, 1, between)
    done = made.status == 0
    assert np.isfinite(made.out[done]).all()
    assert np.isnan(made.out[~done]).all()
    assert set(made.status.tolist()) <= {0, -1}


def test_a_model_that_cannot_start_says_so_in_each_run_and_stops_no_study() -> None:
    study = tg.sweep("crank_rod", {"L": np.concatenate([np.linspace(0.12, 0.2, 20), [0.01]])}, 0.1, check="none")
    assert study.finished == 20
    assert len(study.failed) == 1
    assert study.failed[0].run == 20
    with pytest.raises(TellegenError):
        study.run(99)
