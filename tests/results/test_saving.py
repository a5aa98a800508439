"""Runs as files: what is written, what is read back, and what is refused."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from scipy.io import loadmat

import tellegen as tg
from tellegen.core.errors import ExportError, SimulationError
from tellegen.notations.reading import read_model
from tellegen.results import Run, channels, read_run
from tellegen.results.channels import Channels

SUFFIXES = [".csv", ".nc", ".parquet", ".mat"]


@pytest.fixture(scope="module")
def run() -> Run:
    return tg.simulate("dc_motor_pump", samples=20)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_saved_run_reads_back_as_it_was(run: Run, suffix: str, tmp_path: Path) -> None:
    path = run.save(tmp_path / f"run{suffix}")
    found = read_run(path)
    assert sorted(found.names) == sorted(run.names)
    assert np.array_equal(found.t, run.t)
    for name in run.names:
        assert np.array_equal(found.values(name), run.values(name)), name
    assert found.compare(run).relative == 0.0


@pytest.mark.parametrize(
    ("suffix", "write"),
    [(".csv", Run.to_csv), (".nc", Run.to_netcdf), (".parquet", Run.to_parquet), (".mat", Run.to_mat)],
)
def test_a_format_asked_for_by_name_needs_no_suffix(
    run: Run, suffix: str, write: Callable[[Run, Path], Path], tmp_path: Path
) -> None:
    path = write(run, tmp_path / "run.dat")
    assert path == tmp_path / "run.dat"
    assert read_run(path.rename(tmp_path / f"run{suffix}")).compare(run).relative == 0.0


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["stick_slip", "sampled_position_control"])
def test_rows_are_saved_block_by_block(name: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks end amidst modes and samples; a variable that a mode does not have is not a number there."""
    run = tg.simulate(name, samples=40, progress=False)
    wanted = run.table(run.names)
    monkeypatch.setattr(channels, "BLOCK", 7)
    found = read_run(run.save(tmp_path / f"run{suffix}"))
    assert np.array_equal(found.t, run.t)
    assert np.array_equal(found.table(run.names), wanted, equal_nan=True)


def test_a_netcdf_file_is_what_xarray_would_write(run: Run, tmp_path: Path) -> None:
    with xarray.open_dataset(run.save(tmp_path / "run.nc"), engine="h5netcdf") as found:
        made = run.dataset(*run.names)
        assert found.drop_attrs().equals(made.drop_attrs())
        assert all(found[name].attrs == made[name].attrs for name in (*made.data_vars, "t"))


@pytest.mark.parametrize("suffix", [".nc", ".parquet", ".mat"])
def test_units_parameters_and_books_are_in_the_file(run: Run, suffix: str, tmp_path: Path) -> None:
    found = read_run(run.save(tmp_path / f"run{suffix}"))
    assert found.unit("P_0") == "Pa"
    assert found.unit("power.R_a") == "W"
    assert found.name == "DC motor driving a hydraulic pump"
    assert json.loads(found.attributes["parameters"])["R_a"] == 0.5
    assert json.loads(found.attributes["energy"])["supplied"] == pytest.approx(run.energy.supplied)


def test_the_columns_of_a_table(run: Run, tmp_path: Path) -> None:
    path = run.save(tmp_path / "run.csv")
    with path.open(newline="") as lines:
        rows = list(csv.reader(lines))
    elements = ["V_a", "L_a", "R_a", "J_m", "b_m", "C_0", "alpha_p", "Q_0"]
    powers = [f"power.{name}" for name in elements]
    energies = [f"energy.{name}" for name in ("L_a", "J_m", "C_0")]
    sections = ["V_r", "Q_u", "E_m", "C_m", "C_p", "Q_p"]
    assert rows[0] == ["t", "I_a", "omega_m", "P_0", *sections, "V_a", "Q_0", *powers, *energies]
    assert len(rows) == 22
    assert float(rows[-1][1]) == run.values("I_a")[-1], "numbers are written so that they read back the same"


def test_heads_of_a_table_name_units_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    path = run.in_units(P_0="bar").to_csv(tmp_path / "run.csv", units=True)
    head = path.read_text().splitlines()[0].split(",")
    assert head[:6] == ["t [s]", "I_a [A]", "omega_m [rad/s]", "P_0 [bar]", "V_r [V]", "Q_u [m^3/s]"]
    assert {"V_a [V]", "Q_0 [m^3/s]", "C_m [N*m]"} <= set(head)
    assert "power.R_a [W]" in head
    found = read_run(path)
    assert np.array_equal(found.values("I_a"), run.values("I_a"))
    assert found.values("P_0") == pytest.approx(run.values("P_0"), rel=1e-15)
    assert found.unit("omega_m") == "rad/s"


def test_names_in_files_are_identifiers(tmp_path: Path) -> None:
    model = read_model(
        'system: ladder\nnetwork:\n  V: {voltage source: ["n[0]", gnd]}\n  line:\n    repeat: {k: 1..2}\n    network:\n'
        '      R[k]: {resistor: ["n[k-1]", "n[k]"], R: 1 ohm}\n      C[k]: {capacitor: ["n[k]", gnd], C: 1 F}\n'
    )
    found = tg.simulate(model, 1, inputs={"V": 1.0}, samples=3)
    header = found.save(tmp_path / "run.csv").read_text().splitlines()[0]
    assert header.startswith("t,V_C_1,V_C_2,V,")
    assert "power.R_1" in header.split(",")
    saved = read_run(tmp_path / "run.csv")
    assert np.array_equal(saved.values("V_C[1]"), found.values("V_C[1]")), "names as in the model are understood"


@pytest.mark.parametrize("name", ["run.xls", "run", "run.cvs"])
def test_an_unknown_suffix_is_refused_and_nothing_is_written(run: Run, name: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as error:
        run.save(tmp_path / name)
    assert error.value.code == "X201"
    assert ".csv" in error.value.finding.fix
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as error:
        run.save(tmp_path / "missing" / "run.csv")
    assert error.value.code == "X202"


def test_a_file_that_cannot_be_finished_leaves_the_old_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.csv"
    path.write_text("what was there before")

    def fails(self: Channels, names: list[str]) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Channels, "blocks", fails)
    with pytest.raises(ExportError) as error:
        run.save(path)
    assert "No space left on device" in error.value.what
    assert [p.name for p in tmp_path.iterdir()] == ["run.csv"]
    assert path.read_text() == "what was there before"


def test_a_missing_package_is_named_with_the_command_that_brings_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError) as error:
        run.save(tmp_path / "run.parquet")
    assert error.value.code == "X001"
    assert error.value.what == "a Parquet file needs the package 'pyarrow'"
    assert error.value.finding.fix == "pip install 'tellegen[parquet]'"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "no,run\n1,2\n"),
        ("b.csv", "t,x\n1,2\n0,3\n"),
        ("c.csv", "t,x\n1,words\n"),
        ("d.csv", ""),
        ("e.nc", "not netCDF"),
        ("f.parquet", "not Parquet"),
        ("g.mat", "not MATLAB"),
    ],
)
def test_a_file_that_is_no_run_is_refused(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ExportError) as error:
        read_run(path)
    assert error.value.code == "X203"


@pytest.mark.parametrize("name", ["missing.csv", "missing.nc", "missing.parquet", "missing.mat"])
def test_a_missing_file_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ExportError) as error:
        read_run(tmp_path / name)
    assert error.value.code == "X203"
    assert error.value.finding.what.endswith("there is no such file")


def test_what_is_no_netcdf_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "run.nc"
    path.write_text("t,x")
    with pytest.raises(ExportError) as error:
        read_run(path)
    assert error.value.finding.what.endswith("it is no netCDF file of version 4")


def test_a_saved_run_names_what_it_does_not_have(run: Run, tmp_path: Path) -> None:
    saved = read_run(run.save(tmp_path / "run.csv"))
    with pytest.raises(SimulationError) as error:
        saved.values("I_b")
    assert error.value.finding.fix == "did you mean 'I_a'?"


def test_a_saved_run_plots_and_gives_datasets(run: Run, tmp_path: Path) -> None:
    saved = read_run(run.save(tmp_path / "run.nc"))
    assert [(panel.names, panel.unit) for panel in saved.plot("I_a", "P_0").panels] == [
        (("I_a",), "A"),
        (("P_0",), "Pa"),
    ]
    assert set(saved.dataset("I_a", "power.R_a")) == {"I_a", "power.R_a"}
    assert saved["I_a"].attrs["units"] == "A"


def test_a_matlab_file_holds_names_of_any_length(tmp_path: Path) -> None:
    """MATLAB takes 63 letters: what is longer is cut, and stays apart from what begins alike."""
    net = tg.Network("Long names")
    for end in "ab":
        net.capacitor("x" * 100 + end, "a" if end == "a" else "b", "gnd", C=1)
    net.resistor("R", "a", "b", R=1)
    file = tg.simulate(net.model(), 0.1, samples=3).save(tmp_path / "run.mat")
    held = [name for name in loadmat(file) if name.startswith("V_xxx")]
    assert len(held) == 2
    assert all(len(name) <= 63 for name in held)
