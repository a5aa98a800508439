"""Sweeps: the table of runs, what is kept of them, and what is refused."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tellegen as tg
from tellegen.core.errors import TellegenError
from tellegen.simulation.solvers import jobs

RTOL = 1e-6
PROMISED = 20.0  # tolerances, as a run promises

DECAY = """
system: A charge that decays
parameters: {R: 2 ohm, C: 1 mF, V_0: 5 V}
network:
  R: {resistor: [a, gnd]}
  C: {capacitor: [a, gnd], initial: V_0}
experiment: {until: 10 ms}
"""

SWINGING = """
system: A weight on a spring
parameters: {m: 1 kg, k: 400 N/m, F_0: 2 N}
network:
  F: {force source: [frame, a]}
  m: {mass: [a], velocity: v}
  k: {spring: [a, frame], force: F_k}
displacements: {x: v}
experiment: {until: 1 s, inputs: {F: "step(F_0, 0.1 s)"}}
"""


@pytest.fixture
def decay(tmp_path: Path) -> tg.Model:
    return written(tmp_path, DECAY)


def written(folder: Path, text: str) -> tg.Model:
    file = folder / "model.yaml"
    file.write_text(text, encoding="utf-8")
    return tg.read(file)


def test_sequences_make_a_grid_whose_last_name_runs_fastest(decay: tg.Model) -> None:
    study = tg.sweep(decay, {"R": [1, 2, 4], "C": ["1 mF", "2 mF"]}, keep=["V_C"], check="none")
    assert study.values("R").tolist() == [1, 1, 2, 2, 4, 4]
    assert study.values("C").tolist() == [1e-3, 2e-3] * 3
    exact = 5.0 * np.exp(-0.01 / (study.values("R") * study.values("C")))
    assert np.abs(study.values("V_C") - exact).max() <= PROMISED * RTOL * 5.0
    grid = study.grid("V_C")
    assert grid.dims == ("R", "C")
    assert float(grid.sel(R=4, C=2e-3)) == study.values("V_C")[5]


def test_pairs_stand_side_by_side_and_each_point_of_a_grid_gets_the_same_draws(decay: tg.Model) -> None:
    pairs = tg.sweep(decay, {"R": [1, 2], "C": [1e-3, 2e-3]}, paired=True, check="none")
    assert pairs.cases.values.tolist() == [[1, 1e-3], [2, 2e-3]]
    drawn = tg.sweep(decay, {"R": [1, 2], "C": tg.uniform("90 %", "110 %")}, draws=4, check="none")
    c = drawn.values("C")
    assert c[:4].tolist() == c[4:].tolist()
    assert (np.abs(c / 1e-3 - 1.0) <= 0.1).all()
    assert drawn.grid("V_C").dims == ("R", "draw")


@pytest.mark.parametrize(
    ("made", "mean", "deviation"),
    [
        (tg.uniform(1, 3), 2.0, 2.0 / np.sqrt(12.0)),
        (tg.normal("2 ohm", "10 %"), 2.0, 0.2),
        (tg.normal("100 %", 0.1), 2.0, 0.1),
        (tg.triangular(1, 2, 3), 2.0, 1.0 / np.sqrt(6.0)),
        (tg.lognormal(2, "10 %"), 2.0 * np.exp(0.005), 2.0 * np.exp(0.005) * np.sqrt(np.expm1(0.01))),
        (stats.norm(2.0, 0.3), 2.0, 0.3),
    ],
)
def test_draws_have_the_mean_and_deviation_of_their_distribution(
    decay: tg.Model, made: Any, mean: float, deviation: float
) -> None:
    drawn = tg.sweep(decay, {"R": made}, draws=1024, check="none", threads=1).values("R")
    # Sobol's points: errors fall nearly with their number, far below 1/32.
    assert abs(drawn.mean() - mean) <= 3e-3 * mean
    assert abs(drawn.std() - deviation) <= 2e-2 * deviation


def test_more_draws_begin_with_the_draws_of_fewer(decay: tg.Model) -> None:
    for by in ("sobol", "random"):
        few, more = (tg.sweep(decay, {"R": tg.uniform(1, 3)}, draws=n, by=by, check="none") for n in (16, 32))
        assert more.cases.values[:16].tolist() == few.cases.values.tolist()
    seeds = [tg.sweep(decay, {"R": tg.uniform(1, 3)}, draws=16, seed=s, check="none").cases.values for s in (1, 2)]
    assert seeds[0].tolist() != seeds[1].tolist()


def test_what_is_kept_of_a_swing_has_its_closed_form(tmp_path: Path) -> None:
    model = written(tmp_path, SWINGING)
    keep = ["max(x)", "min(x)", "mean(x)", "integral(v)", "rms(v)", "at(x, 0.25 s)", "time_of_max(v)", "x", "energy.k"]
    study = tg.sweep(model, {"k": tg.between(300, 500, 20)}, keep=keep)
    k = study.values("k")
    w, rest = np.sqrt(k), 2.0 / k  # x = F/k (1 - cos w (t - 0.1))
    exact = {
        "max(x)": 2.0 * rest,
        "min(x)": 0.0 * rest,
        "mean(x)": rest * (0.9 - np.sin(0.9 * w) / w),
        "integral(v)": rest * (1.0 - np.cos(0.9 * w)),
        "rms(v)": rest * w * np.sqrt(0.45 - np.sin(1.8 * w) / (4.0 * w)),
        "at(x, 0.25 s)": rest * (1.0 - np.cos(0.15 * w)),
        "x": rest * (1.0 - np.cos(0.9 * w)),
    }
    for name, values in exact.items():
        scale = np.abs(values).max() or np.abs(rest).max()
        # beside the absolute tolerance of 1e-9, which counts for centimetres
        assert np.abs(study.values(name) - values).max() <= PROMISED * (RTOL * scale + 1e-9), name
    peaks = study.values("time_of_max(v)") - 0.1
    # All peaks are equally high: which one is found is left to rounding. A peak is flat: its time is known to the root of rounding.
    assert np.abs(np.sin(peaks * w) - 1.0).max() <= 1e-4
    assert study.unit("integral(v)") == "m"
    assert study.unit("energy.k") == "J"
    assert study.error is not None
    assert study.error.largest <= PROMISED


def test_rows_are_those_of_simulate(tmp_path: Path) -> None:
    model = written(tmp_path, SWINGING)
    study = tg.sweep(model, {"k": tg.between(300, 500, 20)}, keep=["x", "F_k", "max(F_k)"], samples=25, check="none")
    assert study["x"].dims == ("run", "t")
    for number in (0, 7, 19):
        run = tg.simulate(model, parameters=study.cases.row(number), samples=25)
        for name in ("x", "F_k"):
            size = RTOL * np.abs(run.values(name)).max() + 1e-9
            assert np.abs(study.values(name)[number] - run.values(name)).max() <= PROMISED * size


def test_initial_values_and_inputs_are_varied_as_by_set() -> None:
    study = tg.sweep("rlc", {"V_C": tg.between(0, 1, 10), "V": [1.0, 2.0]}, inputs={"V": 1}, check="none")
    for number in (3, 12):
        row = study.cases.row(number)
        run = tg.simulate("rlc", initial={"V_C": row["V_C"]}, inputs={"V": row["V"]})
        for name in ("I", "V_C"):
            size = RTOL * np.abs(run.values(name)).max() + 1e-9
            assert abs(study.values(name)[number] - run.values(name)[-1]) <= PROMISED * size, name


def test_runs_that_fail_are_kept_beside_those_that_finish(decay: tg.Model) -> None:
    study = tg.sweep(
        decay, {"C": np.concatenate([np.linspace(1e-3, 2e-3, 12), [-1e-3, np.float64(0.0)]])}, check="none"
    )
    assert study.finished == 12
    assert [one.run for one in study.failed] == [12, 13]
    assert np.isnan(study.values("V_C")[12:]).all()
    assert study.failed[0].finding is not None
    assert str(study).count("(2 runs)") + str(study).count("error D") >= 1
    with pytest.raises(TellegenError):
        tg.sweep(decay, {"C": [1e-3, -1e-3]}, check="none", on_failure="raise")


def test_a_table_gives_a_row_for_each_run(decay: tg.Model, tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("R [ohm],C [mF]\n1,1\n2,3\n", encoding="utf-8")
    study = tg.sweep(decay, file, check="none")
    assert study.cases.values.tolist() == [[1, 1e-3], [2, 3e-3]]
    again = tg.sweep(decay, study.table[["R", "C"]], check="none")
    assert again.values("V_C").tolist() == study.values("V_C").tolist()


def test_a_study_is_written_whole_in_three_formats(decay: tg.Model, tmp_path: Path) -> None:
    import pandas
    import xarray

    study = tg.sweep(decay, {"R": [1, 2, 4]}, keep=["V_C", "max(I_R)"], check="none")
    frames = [pandas.read_csv(study.save(tmp_path / "s.csv")), pandas.read_parquet(study.save(tmp_path / "s.parquet"))]
    for frame in frames:
        assert frame["max(I_R)"].tolist() == study.values("max(I_R)").tolist()
    with xarray.open_dataset(study.save(tmp_path / "s.nc")) as found:
        assert found["V_C"].values.tolist() == study.values("V_C").tolist()
        assert found["V_C"].attrs["units"] == "V"


def test_summary_tells_extremes_and_the_runs_they_belong_to(decay: tg.Model) -> None:
    study = tg.sweep(decay, {"R": [2, 1, 4]}, keep=["V_C"], check="none")
    found = study.summary()["V_C"]
    assert (found.lowest, found.highest) == (1, 2)
    assert found.mean == pytest.approx(study.values("V_C").mean())
    assert abs(study.run(2).final()["V_C"] - found.max) <= PROMISED * RTOL * 5


@pytest.mark.parametrize(
    ("vary", "more", "code"),
    [
        ({}, {}, "S407"),
        ({"R": []}, {}, "S407"),
        ({"R": tg.between(1, 1, 5)}, {}, "S407"),
        ({"R": tg.between(1, 2, 0)}, {}, "S407"),
        ({"R": tg.between(-1, 2, 5, log=True)}, {}, "S407"),
        ({"R": tg.normal(2, -1)}, {"draws": 4}, "S407"),
        ({"R": tg.uniform(3, 1)}, {"draws": 4}, "S407"),
        ({"R": tg.triangular(1, 5, 3)}, {"draws": 4}, "S407"),
        ({"R": tg.lognormal(-1, 0.1)}, {"draws": 4}, "S407"),
        ({"R": tg.normal(2, 1)}, {}, "S409"),
        ({"R": [1, 2]}, {"draws": 4}, "S409"),
        ({"R": tg.normal(2, 1)}, {"draws": 4, "by": "dice"}, "S409"),
        ({"R": [1, 2], "C": [1]}, {"paired": True}, "S402"),
        ({"R": tg.between(1, 2, 100_000), "C": tg.between(1, 2, 100_000)}, {}, "S401"),
        ({"Q": [1, 2]}, {}, "S302"),
        ({"R": ["1 m"]}, {}, "S303"),
        ({"R": [np.nan]}, {}, "S303"),
        ({"R": [1]}, {"keep": ["V_X"]}, "S408"),
        ({"R": [1]}, {"keep": ["largest(V_C)"]}, "S408"),
        ({"R": [1]}, {"keep": ["at(V_C, 1 s)"]}, "S408"),
        ({"R": [1]}, {"keep": ["at(V_C)"]}, "S408"),
        ({"R": [1]}, {"samples": 0}, "S303"),
        ({"R": [1]}, {"threads": 0}, "S303"),
        ({"R": [1]}, {"rtol": 2.0}, "S104"),
        ({"R": [1]}, {"rtol": 0.0}, "S104"),
        ({"R": tg.normal(2, 1)}, {"draws": 4, "seed": -1}, "S409"),
        ({"R": tg.normal(2, 1)}, {"draws": 4, "seed": "x"}, "S409"),
        ({"R": [1]}, {"step": 1e-3}, "S128"),
        ({"R": [1]}, {"step": "1 m", "solver": "midpoint"}, "S303"),
        ({"R": [1]}, {"into": "/dev/null/a.study"}, "S412"),
        (5, {}, "S411"),
        ({"R": [1]}, {"solver": "euler"}, "S103"),
    ],
)
def test_bad_requests_are_refused_before_any_run(
    decay: tg.Model, vary: Mapping[str, Any], more: dict[str, Any], code: str
) -> None:
    with pytest.raises(TellegenError) as refused:
        tg.sweep(decay, vary, **more)
    assert refused.value.code == code
    assert refused.value.finding.fix, "it says what to do next"


def test_tables_that_are_no_list_of_runs_are_refused(decay: tg.Model, tmp_path: Path) -> None:
    for text in ("", "R\n", "R,C\n1\n", "R\nx\n", "R [A]\n1\n", "R,R\n1,2\n"):
        file = tmp_path / "runs.csv"
        file.write_text(text, encoding="utf-8")
        with pytest.raises(TellegenError) as refused:
            tg.sweep(decay, file)
        assert refused.value.code == "S411", text


def test_statuses_of_the_batch_are_those_of_the_solvers(decay: tg.Model) -> None:
    study = tg.sweep(decay, {"R": tg.between(1, 2, 20)}, check="none")
    assert set(study.status.tolist()) == {jobs.FINISHED}
    assert study.plan.how == "batch"


def test_what_an_element_takes_in_all_is_a_number_beside_rows_too() -> None:
    asked: dict[str, Any] = {"vary": {"R_a": [0.4, 0.5]}, "until": 0.1, "check": "none"}
    rows = tg.sweep("dc_motor_pump", keep=["energy.R_a", "I_a"], samples=5, **asked)
    alone = tg.sweep("dc_motor_pump", keep=["energy.R_a"], **asked)
    assert rows["energy.R_a"].dims == ("run",)
    assert rows["I_a"].dims == ("run", "t")
    assert rows.values("energy.R_a") == pytest.approx(alone.values("energy.R_a"), rel=1e-5)


def test_one_text_is_one_name_and_what_is_no_text_is_refused() -> None:
    model, vary = tg.load("dc_motor_pump"), {"R_a": [0.4, 0.5]}
    study = tg.sweep(model, vary, 0.1, keep="max(I_a)", check="none")
    peak = tg.response(model, "R_a", "max(I_a)", 0.1)
    assert peak([[0.4], [0.5]])[:, 0] == pytest.approx(study.values("max(I_a)"), rel=2e-5)
    refused: list[Callable[[], object]] = [
        lambda: tg.sweep(model, vary, 0.1, keep=[3]),  # type: ignore[list-item]
        lambda: tg.optimise(model, {"R_a": (0.3, 0.6)}, 3),  # type: ignore[arg-type]
        lambda: tg.response(model, ["R_a", "R_a"], "I_a", 0.1),
        lambda: tg.fit(model, tg.record({"t": [0, 0.1], "I_a": [0, 1]}, hold="spline"), "R_a"),  # type: ignore[arg-type]
    ]
    codes = []
    for request in refused:
        with pytest.raises(TellegenError) as found:
            request()
        codes.append(found.value.code)
    assert codes == ["S408", "S408", "S407", "S425"]
