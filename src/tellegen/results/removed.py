"""Variables that the model of a run has no more, because a reduction removed them, and that formulas still give."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tellegen.results.run import Run

Array = NDArray[np.float64]


class Removed(Protocol):
    """What a reduction knows of the variables that it removed. Nothing is computed before one of them is asked for."""

    @property
    def units(self) -> Mapping[str, str]:
        """The variables, with their SI units."""

    def courses(self, run: "Run", names: Sequence[str]) -> Mapping[str, Array]:
        """Their numbers along a run, row by row; those that the run cannot tell are left out."""


def table_with_removed(run: "Run", removed: Removed, names: Sequence[str]) -> Array:
    """The numbers of variables, removed ones among them: an array over row and name.

    Raises: SimulationError (S201) for a name that means nothing.
    """
    gone = [name for name in names if not run.channels.knows(name) and name in removed.units]
    found = dict(removed.courses(run, gone))
    others = [name for name in names if name not in found]
    found |= zip(others, run.channels.table(others).T, strict=True)
    return np.stack([found[name] for name in names], axis=1)
