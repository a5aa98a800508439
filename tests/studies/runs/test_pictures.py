"""Pictures of studies: what they show are the numbers of the study, and a page shows all of them."""

from pathlib import Path

import numpy as np
import pytest

import tellegen as tg
from tellegen.cli.main import run
from tellegen.core.errors import TellegenError

VARY = {"R_a": tg.normal("100 %", "5 %"), "J_m": tg.normal("0.3e-3 kg*m^2", "0.2e-3 kg*m^2")}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tg.Study:
    """Runs of which some are refused, with a number and a course of each, in a folder."""
    folder = tmp_path_factory.mktemp("studies") / "motor.study"
    return tg.sweep(
        "dc_motor_pump", VARY, draws=128, keep=["max(I_a)", "I_a"], samples=50, check="none", into=folder, threads=1
    )


def test_a_distribution_counts_every_run_that_finished(study: tg.Study) -> None:
    (panel,) = study.plot("max(I_a)").panels
    (line,) = panel.lines
    assert line.under is not None
    assert line.y[::2].sum() == study.finished < 128
    values = study.values("max(I_a)")
    assert line.x[0] == np.nanmin(values)
    assert line.x[-1] == np.nanmax(values)


def test_a_fan_has_the_quantiles_of_all_runs_at_each_time(study: tg.Study) -> None:
    (panel,) = study.plot("I_a").panels
    wide, narrow, median = panel.lines
    good = study.values("I_a")[study.status == 0]
    assert np.allclose(median.y, np.median(good, axis=0))
    for line, (low, high) in ((wide, (0.05, 0.95)), (narrow, (0.25, 0.75))):
        assert line.under is not None
        assert np.allclose(line.under, np.quantile(good, low, axis=0))
        assert np.allclose(line.y, np.quantile(good, high, axis=0))


def test_a_matrix_has_a_panel_for_each_pair_and_distributions_on_its_diagonal(study: tg.Study) -> None:
    plot = study.scatter()
    assert len(plot.panels) == 9
    marks = [[plot.panels[3 * x + y].lines[0].mark for x in range(3)] for y in range(3)]
    assert marks == [["", ".", "."], [".", "", "."], [".", ".", ""]]
    pair = study.scatter("R_a", "max(I_a)").panels[1].lines[0]
    assert np.array_equal(pair.x, study.varied["R_a"][study.status == 0])
    with pytest.raises(TellegenError, match="S408"):
        study.scatter("R_a", "max(I_b)")


def test_bars_of_influence_carry_their_bounds() -> None:
    found = tg.influence(
        "dc_motor_pump", {"R_a": VARY["R_a"], "K_m": tg.uniform("90 %", "110 %")}, ["max(I_a)"], draws=32
    )
    parts = [shape.origin.part for shape in found.plot().scene.shapes]
    assert parts.count("bar") == 4
    assert parts.count("ends") == 12


def test_a_report_shows_a_study_whole(study: tg.Study, tmp_path: Path) -> None:
    page = tg.report(study, tmp_path / "study.html")
    titles = [section.title for section in page.sections]
    assert titles == ["What was done", "Results", "Spread", "What hangs together", "Runs that failed", "Model"]
    text = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert f"{study.finished} of 128 runs" in text
    assert "D130" in text, "what is wrong with a run that was refused"
    with pytest.raises(TellegenError, match="X304"):
        tg.report(study, tmp_path / "study.html")


def test_the_command_shows_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "small.study"
    words = ["sweep", "dc_motor_pump", "--vary", "R_a=0.4:0.6:12", "--keep", "max(I_a)", "--check", "none"]
    assert run([*words, "-o", str(folder), "--plot", str(tmp_path / "all.svg"), "--scatter"]) == 0
    assert run(["report", str(folder), "-o", str(tmp_path / "small.html")]) == 0
    assert "12 of 12 runs" in (tmp_path / "small.html").read_text(encoding="utf-8")
    assert run(["report", str(tmp_path), "-o", str(tmp_path / "none.html")]) == 1


def test_a_profile_is_a_picture_of_its_own_and_beside_the_fit() -> None:
    t = np.linspace(0.0, 0.5, 41)
    made = tg.simulate("dc_motor_pump", 0.5, times=t)
    noisy = made.values("I_a") + 0.3 * np.random.default_rng(4).standard_normal(len(t))
    fit = tg.fit("dc_motor_pump", {"t": t, "I_a": noisy}, ["R_a"])
    profile = fit.profile("R_a")
    (panel,) = profile.plot().panels
    assert panel.x_unit == "ohm"
    told, limit = panel.lines
    inside = told.x[told.y <= limit.y]
    low, high = fit.interval()["R_a"]
    assert inside.min() == pytest.approx(low, abs=0.3 * (high - low))
    assert inside.max() == pytest.approx(high, abs=0.3 * (high - low))
    assert len(fit.plot(profile).panels) == 3


def test_axes_name_the_variable_behind_whatever_word_is_asked_of_it() -> None:
    keep = ["time_of_max(I)", "at(I, 20 ms)", "energy.R", "mean(omega)"]
    study = tg.sweep("dc_motor", {"R": [1.0, 1.1]}, 0.1, keep=keep, check="none")
    found = {name: panel.x_title for name, panel in zip(keep, study.plot().panels, strict=True)}
    assert found == {
        "time_of_max(I)": r"\text{time\_of\_max(}I\text{)}",
        "at(I, 20 ms)": r"\text{at(}I\text{, 20 ms)}",
        "energy.R": "E_{R}",
        "mean(omega)": r"\text{mean(}\omega\text{)}",
    }
