"""How often variables turn back by more than rounding and errors explain: errors of steps add up over such swings."""

from typing import Final, final

import numpy as np

from tellegen.simulation.plain.job_view import Array, JobView

_TOLERANCES: Final = 100.0


@final
class Turns:
    """Counts the turns of each variable of the first block; the job is told those of the one that swings most."""

    def __init__(self, view: JobView) -> None:
        n = view.block
        self._view = view
        self._extreme = view.y[:n].copy()
        self._upwards = np.ones(n, dtype=bool)
        self._count = np.zeros(n, dtype=int)

    def see(self, y: Array) -> None:
        """Look at the variables after a step."""
        view, now = self._view, y[: self._view.block]
        moved = now - self._extreme
        farther = np.where(self._upwards, moved >= 0.0, moved <= 0.0)
        size = view.atol[: view.block] + view.job.rtol * np.abs(now)
        turned = ~farther & (np.abs(moved) > _TOLERANCES * size)
        self._extreme = np.where(farther | turned, now, self._extreme)
        if turned.any():
            self._upwards ^= turned
            self._count += turned
            view.job.turns = max(view.job.turns, int(self._count.max()))
