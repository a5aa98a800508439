"""Which elements matter: the energy that passes through each, whatever its direction.

The activity of an element is the integral of |power| over a run, and its index the share of all activities (L. S. Louca,
J. L. Stein, G. M. Hulbert and J. Sprague, "Proper model generation: an energy-based methodology", ICBGM 1997; L. S. Louca,
J. L. Stein and G. M. Hulbert, "Energy-based model reduction methodology for automated modeling", ASME J. Dyn. Sys. Meas. Control
132, 2010). Elements of little activity can often be removed. The measure depends on the experiment, and a ranking is a proposal,
not a proof.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.names import identifier
from tellegen.results.ports import sources_of
from tellegen.results.run import Run
from tellegen.studies.tables import text_table

Array = NDArray[np.float64]

CLOSE = 1e-3
"""Rows are made denser until the sum of all activities changes by less than this share."""

FEWEST = 500
"""Fewer rows than this could agree by chance with twice as many."""

FINEST = 32
"""Rows are made at most so many times denser."""


@final
@dataclass(frozen=True)
class Activity:
    """The activities of elements in J, largest first; sources are not counted, for nobody would take them away."""

    energies: Mapping[str, float]

    @property
    def total(self) -> float:
        """The sum of all activities."""
        return sum(self.energies.values())

    @property
    def shares(self) -> dict[str, float]:
        """The share of each element in the total, largest first; zero where nothing happens at all."""
        total = self.total
        return {name: energy / total if total else 0.0 for name, energy in self.energies.items()}

    def least(self, share: float) -> list[str]:
        """The elements, least active first, that together have at most this share."""
        found: list[str] = []
        used = 0.0
        for name, part in reversed(self.shares.items()):
            used += part
            if used > share:
                break
            found.append(name)
        return found

    def to_json(self) -> dict[str, object]:
        """Energy and share by element."""
        shares = self.shares
        return {
            "total": self.total,
            "activity": {
                identifier(name): {"energy": energy, "share": shares[name]} for name, energy in self.energies.items()
            },
        }

    def __str__(self) -> str:
        rows = [("element", "activity (J)", "share", "together")]
        together = np.cumsum(list(self.shares.values()))
        for (name, share), sum_so_far in zip(self.shares.items(), together, strict=True):
            rows.append((name, f"{self.energies[name]:.4g}", f"{100 * share:.3g} %", f"{100 * sum_so_far:.5g} %"))
        return text_table(rows)


def activity(run: Run) -> Activity:
    """The energy that passed through each storing and dissipating element of a run, ranked.

    Rows are made denser, by simulating again, until the result no longer depends on them; a run from a file is taken as it is.
    """
    names = [name for name in run.catalogue.elements("power") if name not in sources_of(run.graph)]
    found = _energies(run, names)
    density = 2
    while run.again is not None and len(run.t) > 1 and density <= FINEST:
        times = np.linspace(run.t[0], run.t[-1], density * max(len(run.t), FEWEST) + 1)
        denser = _energies(run.refined(np.union1d(times, run.t)), names)
        settled = abs(denser.sum() - found.sum()) <= CLOSE * denser.sum()
        found, density = denser, 2 * density
        if settled:
            break
    energies = dict(zip(names, found.tolist(), strict=True))
    return Activity(dict(sorted(energies.items(), key=lambda entry: -entry[1])))


def _energies(run: Run, names: list[str]) -> Array:
    if not names:
        return np.zeros(0)
    powers = run.channels.sums([run.catalogue.of("power", name) for name in names])
    return np.asarray(np.trapezoid(np.abs(np.nan_to_num(powers)), run.t, axis=0))
