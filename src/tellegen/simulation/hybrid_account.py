"""What a run through several modes leaves: rows of all modes side by side, energies, events and effort."""

from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.handover import Handover
from tellegen.simulation.mode_models import Mode, ModeModel
from tellegen.simulation.stretch import Rows, StretchEnd
from tellegen.simulation.trajectory import Books, Effort, Happening, Segment

Array = NDArray[np.float64]


@final
class Account:
    """Sums up over all stretches and impulses, and keeps the rows."""

    def __init__(self, times: Array) -> None:
        self.times = times
        self.done = 0
        self.energies = np.zeros(4)
        self.impulsive = 0.0
        self.losses: dict[str, float] = {}
        self.effort = Effort()
        self.events: list[Happening] = []
        self.samples: list[Array] = []
        self._rows: dict[Mode, Rows] = {}
        self._parts: list[tuple[int, int, ModeModel]] = []

    def rows(self, model: ModeModel) -> Rows:
        """Room for the rows of a mode, those before the present time taken as done."""
        rows = self._rows.setdefault(model.mode, Rows.at(self.times, model.model.size))
        rows.done = self.done
        return rows

    def stretch(self, model: ModeModel, end: StretchEnd) -> None:
        """Take over what a stretch left."""
        rows = self._rows[model.mode]
        if rows.done > self.done:
            self._parts.append((self.done, rows.done, model))
            self.done = rows.done
        self.samples += rows.samples
        rows.samples.clear()
        self.energies += end.energies
        self.effort += end.effort

    def impulse(self, handover: Handover, elements: str) -> None:
        """Energy that sources supplied in an instant, and what was lost there, by the elements that changed."""
        self.energies[0] += handover.supplied
        self.impulsive += handover.lost
        if handover.lost:
            self.losses[elements] = self.losses.get(elements, 0.0) + handover.lost

    def books(self, stored_start: float, stored_end: float) -> Books:
        """The energy books."""
        supplied, dissipated, generated, modulation = self.energies.tolist()
        return Books(supplied, dissipated, generated, modulation, self.impulsive, stored_start, stored_end)

    def segments(self, last: NumericModel) -> tuple[Segment, ...]:
        """Which rows belong to which model; `last` stands in where there are no rows."""
        found: list[Segment] = []
        for start, _, model in self._parts:
            if not found or found[-1].model is not model.model:
                found.append(Segment(start, model.model))
        return tuple(found) or (Segment(0, last),)

    def memory(self, held: Array) -> Array | None:
        """What was held at each row; `held` is what was held at the start."""
        nothing = np.zeros((0, 0))
        return Rows(self.times, nothing, nothing, self.done, self.samples).memory(held)

    def all_rows(self) -> tuple[Array, Array]:
        """y and yp of all rows, as wide as the widest mode; what a mode does not have is not a number."""
        width = max([model.model.size for _, _, model in self._parts], default=0)
        y, yp = (np.full((self.done, width), np.nan) for _ in range(2))
        for start, stop, model in self._parts:
            rows, size = self._rows[model.mode], model.model.size
            y[start:stop, :size] = rows.y[start:stop]
            yp[start:stop, :size] = rows.yp[start:stop]
        return y, yp
