"""Energies of steps from powers at their ends, or inside them."""

from collections import deque
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.job_view import Array

GAUSS_POINTS: Final = (0.5 - np.sqrt(15.0) / 10.0, 0.5, 0.5 + np.sqrt(15.0) / 10.0)
GAUSS_WEIGHTS: Final = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)

_MOST_KEPT: Final = 6
_REACH: Final = 6.0
_APART: Final = 0.1
"""Earlier steps count that began no more than so many steps before the present one, and are so far from each other."""
_LEAST_ENDS: Final = 5


@final
class KeptPowers:
    """Powers at the ends of the last steps, the newest first."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, Array]] = deque(maxlen=_MOST_KEPT)

    def begin(self, t: float, powers: Array) -> None:
        """Forget what lies before a break."""
        self._kept.clear()
        self.note(t, powers)

    def note(self, t: float, powers: Array) -> None:
        """The powers at the end of a step."""
        self._kept.appendleft((t, powers))

    def energies(self) -> Array | None:
        """Of the last step: on the polynomial through its ends and some before it. None where too few of them are known.

        Three points of Gauss are exact for it.
        """
        near = self._chosen()
        if len(near) < _LEAST_ENDS:
            return None
        start = near[1][0]
        h = near[0][0] - start
        at = np.array([(t - start) / h for t, _ in near])
        found = np.zeros(4)
        for point, gauss in zip(GAUSS_POINTS, GAUSS_WEIGHTS, strict=True):
            for k, (_, powers) in enumerate(near):
                others = np.delete(at, k)
                found += gauss * float(np.prod((point - others) / (at[k] - others))) * powers
        return h * found

    def _chosen(self) -> list[tuple[float, Array]]:
        """Not far longer ago than the last step takes, nor so close to each other beside it that rounding would be magnified."""
        near = list(self._kept)[:2]
        (end, _), (start, _) = near
        for t, powers in list(self._kept)[2:]:
            if start - t > _REACH * (end - start):
                break
            if near[-1][0] - t >= _APART * (end - start):
                near.append((t, powers))
        return near
