"""Maps of two arguments against SciPy, in files and beside them, and in other tools."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import PchipInterpolator, RegularGridInterpolator

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.exporting.python.functions import functions
from tellegen.notations.reading import read_model

SYSTEM = """system: a map
network:
  V: {{voltage source: [a], signal: 1 V*y}}
  R: {{resistor: [a, b], R: 1 ohm}}
  C: {{capacitor: [b], C: 1 F}}
signals:
  u: 3*t/(1 s)
  w: 2*sin(2*t/(1 s))
  y: {{map: {grid}, at: [u, w], interpolation: {how}}}
experiment: {{until: 1 s}}
"""
ROWS, COLUMNS = [0.0, 0.5, 1.5, 3.0], [-2.0, -1.0, 1.5, 2.0]
VALUES = [[1.0, 2.0, 4.0, 3.0], [0.0, 2.5, 4.5, 6.0], [-1.0, 3.0, 5.0, 7.0], [2.0, 2.0, 2.0, 2.0]]


def inline(rows: list[float], columns: list[float], values: list[list[float]], how: str) -> str:
    return SYSTEM.format(grid=f"{{rows: {rows}, columns: {columns}, values: {values}}}", how=how)


def test_straight_lines_between_points_are_those_of_scipy() -> None:
    run = tg.simulate(read_model(inline(ROWS, COLUMNS, VALUES, "linear")), samples=200, progress=False)
    wanted = RegularGridInterpolator((ROWS, COLUMNS), np.array(VALUES))
    assert run.values("y") == pytest.approx(wanted(np.column_stack([run.values("u"), run.values("w")])), abs=1e-12)


def test_smooth_surfaces_are_cubics_along_rows_and_then_along_columns() -> None:
    run = tg.simulate(read_model(inline(ROWS, COLUMNS, VALUES, "cubic")), samples=200, progress=False)
    u, w = run.values("u"), run.values("w")
    for k in range(len(u)):
        along = [PchipInterpolator(ROWS, np.array(VALUES)[:, c]) for c in range(4)]
        # SciPy's slopes at the ends are others, so places between inner points alone are compared.
        if ROWS[1] <= u[k] <= ROWS[2] and COLUMNS[1] <= w[k] <= COLUMNS[2]:
            at = [float(f(u[k])) for f in along]
            assert run.values("y")[k] == pytest.approx(float(PchipInterpolator(COLUMNS, at)(w[k])), abs=1e-9)


@settings(max_examples=8)
@given(
    st.lists(st.lists(st.integers(0, 10), min_size=3, max_size=3), min_size=3, max_size=3),
    st.floats(0, 2),
    st.floats(0, 2),
)
def test_a_rising_map_rises_and_never_leaves_the_values_around(steps: list[list[float]], x: float, y: float) -> None:
    values = np.cumsum(np.cumsum(np.array(steps), axis=0), axis=1)
    model = read_model(
        inline([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], values.tolist(), "cubic")
        .replace("3*t/(1 s)", "u_0")
        .replace("2*sin(2*t/(1 s))", "w_0")
        .replace("signals:", "parameters: {u_0: 0, w_0: 0}\nsignals:")
    )
    at = tg.simulate(model, parameters={"u_0": x, "w_0": y}, samples=1, progress=False).values("y")[0]
    i, j = min(int(x), 1), min(int(y), 1)
    slack = 1e-9 * (1 + abs(values).max())
    assert values[i, j] - slack <= at <= values[i + 1, j + 1] + slack


def test_a_map_stands_in_a_file_beside_the_model(tmp_path: Path) -> None:
    lines: list[list[object]] = [[" ", *COLUMNS]]
    lines += [[row, *values] for row, values in zip(ROWS, VALUES, strict=True)]
    (tmp_path / "eta.csv").write_text(
        "\n".join(",".join(f"{entry}" for entry in line) for line in lines), encoding="utf-8"
    )
    (tmp_path / "m.yaml").write_text(SYSTEM.format(grid="{file: eta.csv}", how="linear"), encoding="utf-8")
    beside = tg.simulate(tmp_path / "m.yaml", samples=50, progress=False)
    model = read_model(inline(ROWS, COLUMNS, VALUES, "linear"))
    assert beside.values("y") == pytest.approx(tg.simulate(model, samples=50, progress=False).values("y"), abs=1e-14)
    again = read_model(tg.to_yaml(model))
    assert again.signals["y"].settings == model.signals["y"].settings


def test_functions_for_python_know_maps() -> None:
    model = read_model(inline(ROWS, COLUMNS, VALUES, "cubic"))
    made = functions(model, sources="experiment")
    run = tg.simulate(model, samples=20, progress=False, outputs=["I_V"])
    for k, t in enumerate(run.t):
        state = np.array([run.values("V_C")[k]])
        assert made.rates(t, state, np.zeros(0), np.ones(len(made.names.parameters)))[0] == pytest.approx(
            run.values("y")[k] - state[0], abs=1e-9
        )


@pytest.mark.parametrize(
    ("grid", "code"),
    [
        ("{rows: [0, 1], columns: [0, 1], values: [[1, 2]]}", "D514"),
        ("{rows: [0, 1], columns: [0, 1], values: [[1, 2], [3]]}", "D514"),
        ("{rows: [1, 0], columns: [0, 1], values: [[1, 2], [3, 4]]}", "D515"),
        ("{rows: [0 V, 1 V], columns: [0, 1], values: [[1, 2], [3, 4]]}", "D504"),
    ],
)
def test_what_is_no_map_is_told(grid: str, code: str) -> None:
    with pytest.raises(DescriptionError) as told:
        read_model(SYSTEM.format(grid=grid, how="linear").replace("3*t/(1 s)", "3 A*t/(1 s)"))
    assert told.value.code == code, told.value
