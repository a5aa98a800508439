"""What sampled signals held at each row of a run, kept as what was held from which row on."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class HeldRows:
    """An array over row and place in the memory that is made where somebody reads it: samples are far fewer than rows.

    `values[k]` was held from row `since[k]` on, up to that of the next one; the first row is held from the beginning.
    """

    since: NDArray[np.intp]
    values: Array
    count: int

    @classmethod
    def of(cls, rows: Array) -> "HeldRows":
        """Rows that are written out."""
        return cls(np.arange(len(rows), dtype=np.intp), rows, len(rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and places."""
        return self.count, self.values.shape[1]

    def __len__(self) -> int:
        return self.count

    def row(self, number: int) -> Array:
        """One row; negative numbers count from the end."""
        at = number + self.count if number < 0 else number
        return np.asarray(self.values[np.searchsorted(self.since, at, side="right") - 1])

    def part(self, rows: slice) -> "HeldRows":
        """Rows that follow each other."""
        start, stop, _ = rows.indices(self.count)
        first = max(int(np.searchsorted(self.since, start, side="right")) - 1, 0)
        last = max(int(np.searchsorted(self.since, stop, side="left")), first + 1)
        since = np.maximum(self.since[first:last] - start, 0)
        return HeldRows(since, self.values[first:last], max(stop - start, 0))

    def chosen(self, rows: NDArray[np.intp]) -> "HeldRows":
        """Rows by number, in any order."""
        return HeldRows.of(self.values[np.searchsorted(self.since, rows, side="right") - 1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        made = np.repeat(self.values, np.diff(self.since, append=self.count), axis=0)
        return made if dtype is None else made.astype(dtype, copy=False)
