"""Runs as others see them: labelled arrays, two records compared, and files, written and read back.

Files are CSV, netCDF, Parquet and MATLAB.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Unpack, final

import numpy as np

from tellegen.compiler.context import Array
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, identifier, listing
from tellegen.core.packages import load_package
from tellegen.expressions.matlab import LONGEST, matlab_name
from tellegen.plots import Look, Plot
from tellegen.results import plotting, rules
from tellegen.results.files import write_atomically
from tellegen.results.units import si_of, to_si

if TYPE_CHECKING:
    import xarray

    from tellegen.results.run import Run


class Recorded(Protocol):
    """A run, from memory or from a file: times, and variables with units by name."""

    @property
    def name(self) -> str:
        """What was simulated."""

    @property
    def symbols(self) -> Mapping[str, str]:
        """How its names are written, where that is not the usual way."""

    @property
    def t(self) -> Array:
        """The times of the rows, in s."""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""

    def values(self, name: str) -> Array:
        """The numbers of a variable, row by row."""

    def table(self, names: Sequence[str]) -> Array:
        """The numbers of several variables: an array over row and name."""

    def unit(self, name: str) -> str:
        """The unit of a variable."""


def data_array(run: Recorded, name: str, values: Array | None = None, unit: str | None = None) -> "xarray.DataArray":
    """One variable over time."""
    import xarray  # noqa: PLC0415  heavy, and only needed by who asks for it

    found = run.values(name) if values is None else values
    units = run.unit(name) if unit is None else unit
    array = xarray.DataArray(found, coords={"t": run.t}, dims="t", name=name, attrs={"units": units, "long_name": name})
    array["t"].attrs = {"units": "s", "long_name": "time"}
    return array


def data_set(run: Recorded, names: Iterable[str]) -> "xarray.Dataset":
    """Several variables over time; their names are identifiers, `long_name` keeps them as the user wrote them."""
    import xarray  # noqa: PLC0415

    wanted = list(names)
    table = run.table(wanted)
    arrays = {column(name): data_array(run, name, table[:, k]) for k, name in enumerate(wanted)}
    made = xarray.Dataset(arrays, attrs={"title": run.name})
    # Without variables no array has brought its times along.
    if "t" not in made.coords:
        made = made.assign_coords(t=("t", run.t, {"units": "s", "long_name": "time"}))
    return made


def column(name: str) -> str:
    """The name of a variable as a column: `power.drive.R[1]` is `power.drive__R_1`."""
    kind, dot, element = name.partition(".")
    # The dot stays: it tells powers and energies from variables with similar names.
    return f"{kind}.{identifier(element)}" if dot and kind in ("power", "energy") else identifier(name)


@final
@dataclass(frozen=True)
class Difference:
    """How far two records of one variable are apart: the largest difference, and that relative to the largest value."""

    largest: float
    relative: float
    at: float


@final
@dataclass(frozen=True)
class Comparison:
    """The differences of two runs by variable, over the times that both have."""

    differences: Mapping[str, Difference]

    @property
    def worst(self) -> str:
        """The variable that differs most, relative to its size."""
        return max(self.differences, key=lambda name: self.differences[name].relative)

    @property
    def relative(self) -> float:
        """The largest relative difference of all."""
        return self.differences[self.worst].relative

    def __str__(self) -> str:
        widest = max(map(len, self.differences))
        return "\n".join(
            f"{name:<{widest}}  {d.largest:.3g}  ({d.relative:.1e} of its size, at t = {d.at:g} s)"
            for name, d in sorted(self.differences.items(), key=lambda entry: -entry[1].relative)
        )


@final
@dataclass(frozen=True)
class _Columns:
    """What has columns (a DataFrame, a mapping of arrays), one of them `t`, looked at as a run."""

    t: Array
    columns: Mapping[str, Array]
    name: str = "columns"

    @classmethod
    def of(cls, given: Any) -> "_Columns | None":
        """The columns; None of what has none, or no times. The times of a DataFrame may be its index."""
        if getattr(getattr(given, "index", None), "name", None) == "t":
            given = given.reset_index()
        names = list(getattr(given, "columns", given if isinstance(given, Mapping) else ()))
        if "t" not in names:
            return None
        found = {str(name): _numbers(str(name), given[name]) for name in names}
        return cls(found.pop("t"), found)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def table(self, names: Sequence[str]) -> Array:
        return np.column_stack([self.columns[name] for name in names])


def _numbers(name: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        fix = "leave the column out, or make numbers of it"
        raise rules.NOTHING_IN_COMMON.error(f"the column '{name}' holds what is no number", fix=fix) from None


def compare_runs(one: Recorded, two: "Recorded | Any", *names: str) -> Comparison:
    """How far the second run is from the first, at the times of the first inside the second, straight lines between its rows.

    The second may be measured too: what has columns by the names of variables and one `t`, such as a DataFrame. Without names,
    every variable that both have.

    Raises: SimulationError (S204) when they have none, or no time in common, or when the second is no run.
    """
    two = _Columns.of(two) or two
    if not all(hasattr(two, word) for word in ("names", "t", "table")):
        raise rules.NOTHING_IN_COMMON.error(
            f"a run is compared with a run, and {two!r:.60} is none",
            fix="give what simulate or read_run returned, or columns with one 't'; names of variables come after it",
        )
    wanted: Sequence[str] = names or [name for name in one.names if name in set(two.names)]
    # Beyond its last row a run has nothing to say, and `interp` would go on with the last value.
    inside = (one.t >= two.t[0]) & (one.t <= two.t[-1]) if len(two.t) else np.zeros(len(one.t), dtype=bool)
    if not wanted or not inside.any():
        raise rules.NOTHING_IN_COMMON.error(
            f"'{one.name}' and '{two.name}' share no {'time' if wanted else 'variable'}",
            fix="compare runs of the same model, over the same time",
        )
    t = one.t[inside]
    # Equal times need no straight lines, which would bring an error of their own.
    same = len(t) == len(two.t) and bool(np.all(t == two.t))
    found: dict[str, Difference] = {}
    for name, first, second in zip(wanted, one.table(wanted)[inside].T, two.table(wanted).T, strict=True):
        apart = np.abs(first - (second if same else np.interp(t, two.t, second)))
        # Rows of modes that lack the variable are no numbers and do not count.
        worst = int(np.nanargmax(apart)) if np.isfinite(apart).any() else 0
        size = float(np.nanmax(np.abs(first), initial=0.0))
        largest = float(apart[worst])
        found[name] = Difference(
            largest, largest / size if size else (0.0 if largest == 0 else np.inf), float(t[worst])
        )
    return Comparison(found)


def save(run: "Run", path: str | Path, suffix: str | None = None) -> Path:
    """Write a run to a file in the format of its suffix.

    Raises: ExportError for an unknown suffix (X201), a missing package (X001), or when the system refuses (X202).
    """
    target = Path(path)
    write = writer_for(target, suffix)
    return write_atomically(target, lambda file: write(run, file))


def writer_for(path: Path, suffix: str | None = None) -> Callable[["Run", Path], None]:
    """The function that writes the format of a file name.

    Raises: ExportError (X201) for a suffix that names no format.
    """
    wanted = (suffix or path.suffix).lower()
    if wanted not in WRITERS:
        fix = did_you_mean(wanted, WRITERS) or f"end the name in {', '.join(WRITERS)}"
        what = f"'{path.name}' ends in no known suffix" if not wanted else f"'{wanted}' files cannot be written"
        raise rules.BAD_SUFFIX.error(what, fix=fix)
    return WRITERS[wanted]


def attributes(run: "Run") -> dict[str, str]:
    """What a file says about the run beside its columns."""
    return {
        "title": run.name,
        "solver": run.solver,
        "status": run.status,
        "parameters": json.dumps({identifier(name): value for name, value in run.parameters.items()}),
        "energy": json.dumps(run.energy.to_json()),
    }


def _write_csv(run: "Run", path: Path) -> None:
    names = ["t", *run.names]
    heads = [plotting.label(column(name), run.display.units.get(name, "")) for name in names]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(heads) + "\n")
        # Block by block: a file may be larger than what memory holds twice.
        for _, table in run.channels.blocks(names):
            for k, name in enumerate(names):
                table[:, k] = run.display.shown(name, table[:, k])
            for row in table:
                file.write(
                    ",".join(map(repr, row.tolist())) + "\n"
                )  # the shortest text that reads back as the same number


def _write_netcdf(run: "Run", path: Path) -> None:
    """As xarray would write the dataset of the run, block by block."""
    files = load_package("h5netcdf", purpose="a netCDF file")
    names = ["t", *run.names]
    with files.File(path, "w") as file:
        file.dimensions = {"t": len(run.t)}
        file.attrs.update(attributes(run))
        made = [file.create_variable(column(name), ("t",), float) for name in names]
        for variable, name in zip(made, names, strict=True):
            variable.attrs.update({"units": run.unit(name), "long_name": "time" if name == "t" else name})
        for rows, table in run.channels.blocks(names):
            for k, variable in enumerate(made):
                variable[rows] = table[:, k]


def _write_parquet(run: "Run", path: Path) -> None:
    arrow = load_package("pyarrow", extra="parquet", purpose="a Parquet file")
    parquet = load_package("pyarrow.parquet", extra="parquet", purpose="a Parquet file")
    names = ["t", *run.names]
    fields = [arrow.field(column(n), arrow.float64(), metadata={"units": run.unit(n), "long_name": n}) for n in names]
    schema = arrow.schema(fields, metadata=attributes(run))
    with parquet.ParquetWriter(path, schema) as file:
        for _, table in run.channels.blocks(names):
            file.write_table(arrow.table([arrow.array(table[:, k]) for k in range(len(names))], schema=schema))


def _write_mat(run: "Run", path: Path) -> None:
    mat = load_package("scipy.io", purpose="a MATLAB file")
    # A mapping in place of a dict: SciPy takes one variable at a time, so only one is in memory.
    mat.savemat(path, _MatVariables(run), long_field_names=True)


@final
class _MatVariables(Mapping[str, object]):
    """The variables of a MATLAB file, each made when it is written."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        columns = {name: identifier(column(name)) for name in ("t", *run.names)}
        # MATLAB has no longer ones; a checksum keeps them apart.
        self._names = {key if len(key) <= LONGEST else matlab_name(key): name for name, key in columns.items()}

    def __getitem__(self, key: str) -> object:
        if key == "units":
            return {key: self._run.unit(name) for key, name in self._names.items()}
        return attributes(self._run) if key == "about" else self._run.values(self._names[key])

    def __iter__(self) -> Iterator[str]:
        return iter([*self._names, "units", "about"])

    def __len__(self) -> int:
        return len(self._names) + 2


WRITERS: dict[str, Callable[["Run", Path], None]] = {
    ".csv": _write_csv,
    ".nc": _write_netcdf,
    ".parquet": _write_parquet,
    ".mat": _write_mat,
}


HDF5_MARK = b"\x89HDF\r\n\x1a\n"
"""How a netCDF file of version 4 begins."""
_SHOWN = re.compile(r"(\S+) \[(.+)\]")


@final
@dataclass(frozen=True, eq=False)
class SavedRun:
    """The variables of a run that a file holds, by the names of its columns; names as in the model are understood too."""

    name: str
    t: Array
    columns: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns beside t."""
        return tuple(self.columns)

    def values(self, name: str) -> Array:
        """The numbers of one variable.

        Raises: SimulationError (S201) with the nearest name.
        """
        if name == "t":
            return self.t
        key = name if name in self.columns else column(name)
        if key not in self.columns:
            fix = did_you_mean(name, self.columns) or f"the file has {listing(self.columns)}"
            raise rules.NO_SUCH_CHANNEL.error(f"the run has no '{name}'", where=self.name, fix=fix)
        return self.columns[key]

    def table(self, names: Sequence[str]) -> Array:
        """The numbers of several variables: an array over row and name."""
        found = np.empty((len(self.t), len(names)))
        for k, name in enumerate(names):
            found[:, k] = self.values(name)
        return found

    def unit(self, name: str) -> str:
        """The unit of a variable; empty where the file does not say."""
        return "s" if name == "t" else self.units.get(name, self.units.get(column(name), ""))

    def __contains__(self, name: str) -> bool:
        return name == "t" or name in self.columns or column(name) in self.columns

    def __getitem__(self, name: str) -> "xarray.DataArray":
        return data_array(self, name)

    def dataset(self, *names: str) -> "xarray.Dataset":
        """The variables named, else all, as one dataset."""
        return data_set(self, names or self.names)

    def compare(self, other: Recorded, *names: str) -> Comparison:
        """How far another run is from this one, variable by variable."""
        return compare_runs(self, other, *names)

    def plot(
        self,
        *names: str,
        against: str = plotting.TIME,
        panels: Sequence[Sequence[str]] = (),
        beside: Mapping[str, Recorded] | None = None,
        **look: Unpack[Look],
    ) -> Plot:
        """Variables over time or `against` another one, as `Run.plot` draws them."""
        shown = names or [n for n in self.names if not n.startswith(("power.", "energy."))]
        return plotting.plot(self, shown, against=against, panels=panels, beside=beside, **look)

    def plot_phase(self, x: str, y: str, **look: Unpack[Look]) -> Plot:
        """One variable over another."""
        return self.plot(y, against=x, **look)


def read_run(path: str | Path) -> SavedRun:
    """The run in a file that `Run.save` wrote: `.csv`, `.nc`, `.parquet` or `.mat`.

    Raises: ExportError for another suffix (X201), a missing package (X001), or a file that is no run (X203).
    """
    file = Path(path)
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        fix = did_you_mean(file.suffix, READERS) or f"runs are in files that end in {', '.join(READERS)}"
        raise rules.BAD_SUFFIX.error(f"'{file.name}' is not known as a file of a run", fix=fix)
    if not os.path.isfile(file):
        raise _no_run(file, "it is a folder" if os.path.isdir(file) else "there is no such file")
    try:
        found = reader(file)
    except TellegenError:
        raise
    except Exception as reason:  # what libraries raise for a broken file has no common kind
        raise _no_run(file, str(reason)) from reason
    if found.t.ndim != 1 or not len(found.t) or np.any(np.diff(found.t) < 0):
        raise _no_run(file, "it has no column t of increasing times")
    return found


def _no_run(file: Path, reason: str) -> Exception:
    return rules.NOT_A_RUN.error(
        f"'{file}' cannot be read as a run: {reason}", fix="choose a file that a run was saved to"
    )


def _read_csv(path: Path) -> SavedRun:
    with path.open(encoding="utf-8") as lines:
        names = lines.readline().strip().split(",")
        rows = lines.readlines()
    if (names[0] != "t" and not names[0].startswith("t [")) or not rows:
        raise ValueError("its first line does not name its columns, t first, with rows below")
    table = np.loadtxt(rows, delimiter=",", ndmin=2)
    if table.shape[1] != len(names):
        raise ValueError(f"it names {len(names)} columns and has {table.shape[1]}")
    columns: dict[str, Array] = {}
    units: dict[str, str] = {}
    for k, head in enumerate(names):
        shown = _SHOWN.fullmatch(head)  # `omega [rpm]`: a column that was written in a unit for people
        name = head if shown is None else shown[1]
        columns[name] = table[:, k] if shown is None else to_si(table[:, k], shown[2])
        if shown is not None:
            units[name] = si_of(shown[2])
    return SavedRun(path.stem, columns.pop("t"), columns, units)


def _read_netcdf(path: Path) -> SavedRun:
    load_package("h5netcdf", purpose="a netCDF file")
    xarray = load_package("xarray", purpose="a netCDF file")
    with path.open("rb") as opened:
        if opened.read(len(HDF5_MARK)) != HDF5_MARK:
            raise ValueError("it is no netCDF file of version 4")
    with xarray.open_dataset(path, engine="h5netcdf") as found:
        columns = {str(name): np.array(found[name].values, dtype=float) for name in found.data_vars}
        units = {name: str(found[name].attrs.get("units", "")) for name in columns}
        attributes = {str(key): str(value) for key, value in found.attrs.items()}
        return SavedRun(attributes.get("title", path.stem), np.array(found["t"].values), columns, units, attributes)


def _read_parquet(path: Path) -> SavedRun:
    parquet = load_package("pyarrow.parquet", extra="parquet", purpose="a Parquet file")
    table = parquet.read_table(path)
    columns = {name: np.asarray(table[name].to_numpy(), dtype=float) for name in table.column_names}
    units = {f.name: (f.metadata or {}).get(b"units", b"").decode() for f in table.schema}
    attributes = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
    t = columns.pop("t")
    return SavedRun(attributes.get("title", path.stem), t, columns, units, attributes)


def _read_mat(path: Path) -> SavedRun:
    mat = load_package("scipy.io", purpose="a MATLAB file")
    found: dict[str, Any] = mat.loadmat(path, squeeze_me=True, simplify_cells=True)
    about: dict[str, Any] = found.get("about", {})
    units: dict[str, Any] = found.get("units", {})
    # What `save` puts beside the variables, and what SciPy adds with two underscores.
    skipped = {"t", "units", "about"}
    columns = {
        # One row comes back as a bare number.
        _dotted(name): np.atleast_1d(np.asarray(value, dtype=float))
        for name, value in found.items()
        if not name.startswith("__") and name not in skipped
    }
    return SavedRun(
        str(about.get("title", path.stem)),
        np.atleast_1d(np.asarray(found["t"], dtype=float)),
        columns,
        {_dotted(name): str(unit) if np.size(unit) else "" for name, unit in units.items()},
        {name: str(value) for name, value in about.items()},
    )


def _dotted(name: str) -> str:
    """MATLAB has no dots in names: `power__R` is `power.R`."""
    kind, _, element = name.partition("__")
    return f"{kind}.{element}" if element and kind in ("power", "energy") else name


READERS: dict[str, Callable[[Path], SavedRun]] = {
    ".csv": _read_csv,
    ".nc": _read_netcdf,
    ".parquet": _read_parquet,
    ".mat": _read_mat,
}
