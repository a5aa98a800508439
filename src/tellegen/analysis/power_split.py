"""Which element gives and which takes how much of the power."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

QUIET = 1e-12
"""Elements with less than this share of the power exchanged neither give nor take."""


@final
@dataclass(frozen=True)
class PowerSplit:
    """Powers in W by element, the largest first: what each gives into the model and what each takes out of it.

    `given` and `taken` have equal sums, but for what the storages hold back.
    """

    given: Mapping[str, float]
    taken: Mapping[str, float]

    @property
    def total(self) -> float:
        """The power that enters."""
        return sum(self.given.values())

    def share(self, element: str) -> float:
        """Which part of the power that enters an element takes; negative for one that gives."""
        power = self.taken.get(element, 0.0) - self.given.get(element, 0.0)
        return power / self.total if self.total else 0.0


def split_power(powers: Mapping[str, float]) -> PowerSplit:
    """The split of powers that are positive into each element."""
    exchanged = sum(map(abs, powers.values())) / 2
    audible = {name: p for name, p in powers.items() if abs(p) > QUIET * exchanged}
    ordered = sorted(audible.items(), key=lambda entry: -abs(entry[1]))
    return PowerSplit({n: -p for n, p in ordered if p < 0}, {n: p for n, p in ordered if p > 0})
