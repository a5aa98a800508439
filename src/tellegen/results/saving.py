"""Runs as files: CSV, netCDF, Parquet and MATLAB. Each is written whole to a temporary name, and then renamed."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, final

from tellegen.core.names import did_you_mean, identifier
from tellegen.core.optional import needed
from tellegen.results import rules
from tellegen.results.figures import label
from tellegen.results.files import written_whole
from tellegen.results.labelling import column

if TYPE_CHECKING:
    from tellegen.results.run import Run


def save(run: "Run", path: str | Path, suffix: str | None = None) -> Path:
    """Write a run to a file in the format of its suffix.

    Raises: ExportError for an unknown suffix (X201), a missing package (X001), or when the system refuses (X202).
    """
    target = Path(path)
    write = writer_for(target, suffix)
    return written_whole(target, lambda file: write(run, file))


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
    names = run.names
    heads = [label(column(name), run.display.units.get(name, "")) for name in names]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(["t", *heads]) + "\n")
        for _, table in run.channels.blocks(["t", *names]):
            for k, name in enumerate(names, start=1):
                table[:, k] = run.display.shown(name, table[:, k])
            for row in table:
                file.write(
                    ",".join(map(repr, row.tolist())) + "\n"
                )  # the shortest text that reads back as the same number


def _write_netcdf(run: "Run", path: Path) -> None:
    """As xarray would write the dataset of the run, block by block."""
    files = needed("h5netcdf", purpose="a netCDF file")
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
    arrow = needed("pyarrow", extra="parquet", purpose="a Parquet file")
    parquet = needed("pyarrow.parquet", extra="parquet", purpose="a Parquet file")
    names = ["t", *run.names]
    fields = [arrow.field(column(n), arrow.float64(), metadata={"units": run.unit(n), "long_name": n}) for n in names]
    schema = arrow.schema(fields, metadata=attributes(run))
    with parquet.ParquetWriter(path, schema) as file:
        for _, table in run.channels.blocks(names):
            file.write_table(arrow.table([arrow.array(table[:, k]) for k in range(len(names))], schema=schema))


def _write_mat(run: "Run", path: Path) -> None:
    mat = needed("scipy.io", purpose="a MATLAB file")
    mat.savemat(path, _MatVariables(run), long_field_names=True)


@final
class _MatVariables(Mapping[str, object]):
    """The variables of a MATLAB file, each made when it is written."""

    def __init__(self, run: "Run") -> None:
        self._run = run
        self._names = {identifier(column(name)): name for name in ("t", *run.names)}

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
