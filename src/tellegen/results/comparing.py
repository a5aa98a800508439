"""Two runs side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tellegen.results import rules
from tellegen.results.labelling import Recorded


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
