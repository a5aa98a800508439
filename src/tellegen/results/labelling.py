"""Labelled arrays with units. xarray is loaded here, when somebody asks for one."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from tellegen.core.names import identifier

if TYPE_CHECKING:
    import xarray

Array = NDArray[np.float64]


class Recorded(Protocol):
    """A run, from memory or from a file: times, and variables with units by name."""

    @property
    def name(self) -> str:
        """What was simulated."""

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
    if "t" not in made.coords:
        made = made.assign_coords(t=("t", run.t, {"units": "s", "long_name": "time"}))
    return made


def column(name: str) -> str:
    """The name of a variable as a column: `power.drive.R[1]` is `power.drive__R_1`."""
    kind, dot, element = name.partition(".")
    return f"{kind}.{identifier(element)}" if dot and kind in ("power", "energy") else identifier(name)
