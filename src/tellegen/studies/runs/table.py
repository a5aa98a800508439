"""The table of a study: one row of values for each run, made once, before the first run."""

import csv
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Final, Literal, final, get_args

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.studies.runs import rules
from tellegen.studies.runs.variation import (
    MOST_RUNS,
    Array,
    Reading,
    Variation,
    drawn_values,
    is_distribution,
    sequence_values,
)

Drawing = Literal["sobol", "latin", "random"]

DRAW: Final = "draw"
"""The dimension of draws in a grid."""


@final
@dataclass(frozen=True)
class RunTable:
    """Run k is row k of `values`. `shape` are the lengths of the grid by name, draws last; empty where there is no grid."""

    names: tuple[str, ...]
    values: Array
    shape: Mapping[str, int]

    def __len__(self) -> int:
        return len(self.values)

    def row(self, number: int) -> dict[str, float]:
        """The values of one run by name."""
        return dict(zip(self.names, self.values[number].tolist(), strict=True))


def make_table(
    vary: Mapping[str, Variation],
    readings: Mapping[str, Reading],
    *,
    draws: int | None,
    by: Drawing,
    seed: int,
    paired: bool,
) -> RunTable:
    """The grid of all sequences, the last name fastest, or their values side by side; every point gets the same draws.

    Raises: SimulationError naming what makes no table (S401, S402, S407, S409).
    """
    if not vary:
        raise rules.BAD_VARIATION.error("nothing is varied", fix="give a name and its values, as K=1e4:1e6:50")
    drawn = {name: v for name, v in vary.items() if is_distribution(v)}
    listed = {name: sequence_values(name, v, readings[name]) for name, v in vary.items() if name not in drawn}
    _check_draws(drawn, draws, by, seed)
    lengths = {name: len(values) for name, values in listed.items()}
    if paired and len(set(lengths.values())) > 1:
        told = listing(f"{name} has {count}" for name, count in lengths.items())
        raise rules.NOT_PAIRED.error(
            f"the values do not pair: {told}", fix="give as many of each, or leave out 'paired'"
        )
    points = next(iter(lengths.values()), 1) if paired else prod(lengths.values())
    count = points * (draws or 1)
    if count > MOST_RUNS:
        what = (
            f"the study has {count:.3g} runs: {' x '.join(map(str, [*lengths.values(), *([draws] if draws else [])]))}"
        )
        raise rules.TOO_MANY_RUNS.error(what, fix="take fewer values, or draws in place of a grid")
    found = np.empty((count, len(vary)))
    for k, column in enumerate(
        _columns(vary, listed, drawn, paired=paired, draws=draws, by=by, seed=seed, readings=readings)
    ):
        found[:, k] = column
    shape = {} if paired else dict(lengths)
    return RunTable(tuple(vary), found, {**shape, **({DRAW: draws} if draws else {})} if not paired else {})


def _check_draws(drawn: Mapping[str, Variation], draws: int | None, by: str, seed: int) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise rules.NO_DRAWS.error(f"the seed is {seed!r}", fix="give a whole number from 0 on")
    if by not in get_args(Drawing):
        fix = did_you_mean(by, get_args(Drawing)) or f"choose one of {listing(get_args(Drawing))}"
        raise rules.NO_DRAWS.error(f"there are no draws by '{by}'", fix=fix)
    if drawn and draws is None:
        name = next(iter(drawn))
        raise rules.NO_DRAWS.error(
            f"'{name}' follows a distribution, and nothing says how often to draw", fix="give draws=1024"
        )
    if draws is None:
        return
    if not drawn:
        raise rules.NO_DRAWS.error(
            f"{draws} draws are asked for, and no name follows a distribution", fix="leave them out"
        )
    if isinstance(draws, bool) or draws != int(draws) or draws < 1:
        raise rules.NO_DRAWS.error(f"{draws} draws are asked for", fix="give a positive whole number")


def _columns(
    vary: Mapping[str, Variation],
    listed: Mapping[str, Array],
    drawn: Mapping[str, Variation],
    *,
    paired: bool,
    draws: int | None,
    by: Drawing,
    seed: int,
    readings: Mapping[str, Reading],
) -> list[Array]:
    shares = shares_drawn(len(drawn), draws, by, seed) if draws else np.zeros((1, 0))
    inner = {name: drawn_values(name, v, shares[:, k], readings[name]) for k, (name, v) in enumerate(drawn.items())}
    if paired:
        grids = dict(listed)
    else:
        meshed = np.meshgrid(*listed.values(), indexing="ij") if listed else []
        grids = {name: mesh.ravel() for name, mesh in zip(listed, meshed, strict=True)}
    points = len(next(iter(grids.values()), np.zeros(1)))
    return [np.tile(inner[name], points) if name in inner else np.repeat(grids[name], len(shares)) for name in vary]


def shares_drawn(width: int, count: int, by: Drawing, seed: int) -> Array:
    """Points of the unit cube. The first of more draws by Sobol's sequence or at random are those of fewer."""
    from scipy.stats import qmc  # noqa: PLC0415  SciPy is loaded by who draws

    generator = np.random.default_rng(seed)
    if by == "random":
        return generator.random((count, width))
    if by == "latin":
        return np.asarray(qmc.LatinHypercube(width, rng=generator).random(count))
    with warnings.catch_warnings():
        # A number that is no power of two costs balance: the reference page says so, once.
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(qmc.Sobol(width, rng=generator).random(count))


# -- tables that are given -----------------------------------------------------------------------------------------------------


def given_table(
    source: Any, readings: Mapping[str, Reading] | None = None
) -> tuple[tuple[str, ...], list[list[Any]], list[str]]:
    """Names, columns and units of a table: a file, or what has columns (DataFrame, Dataset).

    Raises: SimulationError (S411) for what is no table.
    """
    if isinstance(source, str | Path):
        heads, columns = _read_file(Path(source))
    elif hasattr(source, "data_vars"):
        heads = [str(name) for name in source.data_vars]
        columns = [np.ravel(source[name].values).tolist() for name in source.data_vars]
    elif hasattr(source, "columns"):
        heads = [str(name) for name in source.columns]
        columns = [list(source[name]) for name in source.columns]
    else:
        raise rules.BAD_TABLE.error(
            f"what is varied is {source!r}, which is no table", fix="give a mapping, a DataFrame or a file"
        )
    named = [head_of(head) for head in heads]
    if not named or not columns or not columns[0]:
        raise rules.BAD_TABLE.error("the table has no rows", fix="give a row of values for each run")
    if len({len(column) for column in columns}) > 1:
        raise rules.BAD_TABLE.error(
            "the columns of the table have different lengths", fix="give a row of values for each run"
        )
    names = tuple(name for name, _ in named)
    if len(set(names)) < len(names) or not all(names):
        raise rules.BAD_TABLE.error(f"the columns are {listing(heads, 20)}", fix="give each column a name of its own")
    return names, columns, [unit for _, unit in named]


def head_of(head: str) -> tuple[str, str]:
    """Name and unit of a head such as `I_a [A]`."""
    name, bracket, unit = head.strip().partition(" [")
    if not bracket or not unit.endswith("]"):
        return head.strip(), ""
    return name.strip(), unit[:-1].strip()


def table_of(source: Any, readings: Mapping[str, Reading]) -> RunTable:
    """A table with one row for each run.

    Raises: SimulationError (S411) for cells that are no numbers, (S401) for too many rows.
    """
    names, columns, units = given_table(source)
    if len(columns[0]) > MOST_RUNS:
        raise rules.TOO_MANY_RUNS.error(f"the table has {len(columns[0])} rows", fix="take fewer")
    found = np.empty((len(columns[0]), len(names)))
    for k, (name, cells, unit) in enumerate(zip(names, columns, units, strict=True)):
        for i, cell in enumerate(cells):
            found[i, k] = _cell(name, cell, unit, i, readings[name])
    return RunTable(names, found, {})


def _cell(name: str, cell: Any, unit: str, row: int, read: Reading) -> float:
    text = f"{cell} {unit}" if unit else cell
    try:
        return read(text if unit or isinstance(cell, str) else float(cell), f"row {row + 1} of {name}")
    except (TypeError, ValueError):
        raise _no_number(name, cell, row) from None
    except TellegenError as reason:
        raise rules.BAD_TABLE.error(reason.what, where=name, fix="give a finite number in each cell") from None


def _no_number(name: str, cell: Any, row: int) -> TellegenError:
    return rules.BAD_TABLE.error(
        f"row {row + 1} of '{name}' is '{cell}'", where=name, fix="give a finite number in each cell"
    )


def _read_file(path: Path) -> tuple[list[str], list[list[Any]]]:
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet  # noqa: PLC0415  an extra

            table = parquet.read_table(path)
            return list(table.column_names), [table.column(name).to_pylist() for name in table.column_names]
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [row for row in csv.reader(stream) if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError) as reason:
        raise rules.BAD_TABLE.error(f"'{path}' cannot be read: {reason}", fix="give a CSV or Parquet file") from None
    if not rows:
        raise rules.BAD_TABLE.error(f"'{path}' is empty", fix="give a head of names and a row for each run")
    heads, body = rows[0], rows[1:]
    for number, row in enumerate(body, 2):
        if len(row) != len(heads):
            what = f"line {number} of '{path}' has {len(row)} cells under {len(heads)} heads"
            raise rules.BAD_TABLE.error(what, fix="give a cell for each head")
    return heads, [[row[k].strip() for row in body] for k in range(len(heads))]


def grid_index(table: RunTable) -> NDArray[np.int64] | None:
    """Run numbers over the grid; None where the table is none."""
    return np.arange(len(table)).reshape(tuple(table.shape.values())) if table.shape else None


def names_of(source: Any) -> Sequence[str]:
    """The names that a mapping of variations or a table varies."""
    return tuple(source) if isinstance(source, Mapping) else given_table(source)[0]
