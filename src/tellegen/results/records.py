"""Variables over time with units, from memory or from a file: labelled arrays, and two records compared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from tellegen.compiler.context import Array
from tellegen.core.names import identifier
from tellegen.results import rules

if TYPE_CHECKING:
    import xarray


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


def compare_runs(one: Recorded, two: Recorded, *names: str) -> Comparison:
    """How far the second run is from the first, at the times of the first inside the second, straight lines between its rows.

    Without names, every variable that both have.

    Raises: SimulationError (S204) when they have none, or no time in common, or when the second is no run.
    """
    if not all(hasattr(two, word) for word in ("names", "t", "table")):
        raise rules.NOTHING_IN_COMMON.error(
            f"a run is compared with a run, and {two!r:.60} is none",
            fix="give what simulate or read_run returned; names of variables come after it",
        )
    wanted: Sequence[str] = names or [name for name in one.names if name in set(two.names)]
    inside = (one.t >= two.t[0]) & (one.t <= two.t[-1]) if len(two.t) else np.zeros(len(one.t), dtype=bool)
    if not wanted or not inside.any():
        raise rules.NOTHING_IN_COMMON.error(
            f"'{one.name}' and '{two.name}' share no {'time' if wanted else 'variable'}",
            fix="compare runs of the same model, over the same time",
        )
    t = one.t[inside]
    same = len(t) == len(two.t) and bool(np.all(t == two.t))
    found: dict[str, Difference] = {}
    for name, first, second in zip(wanted, one.table(wanted)[inside].T, two.table(wanted).T, strict=True):
        apart = np.abs(first - (second if same else np.interp(t, two.t, second)))
        worst = int(np.nanargmax(apart)) if np.isfinite(apart).any() else 0
        size = float(np.nanmax(np.abs(first), initial=0.0))
        largest = float(apart[worst])
        found[name] = Difference(
            largest, largest / size if size else (0.0 if largest == 0 else np.inf), float(t[worst])
        )
    return Comparison(found)
