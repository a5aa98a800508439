"""What a run through several modes leaves: rows of all modes side by side, energies, events and effort."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation.handover import Handover
from tellegen.simulation.mode_models import Mode, ModeModel
from tellegen.simulation.stretch import Rows, Standing, StretchEnd
from tellegen.simulation.trajectory import Books, Effort, Happening, Segment

Array = NDArray[np.float64]


@final
@dataclass(frozen=True)
class _Part:
    """Rows of one mode: those from `start` to `stop` of the times asked for, or the one of a change of mode."""

    model: ModeModel
    t: Array
    y: Array
    yp: Array


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
        self._parts: list[_Part] = []

    def rows(self, model: ModeModel) -> Rows:
        """Room for the rows of a mode, those before the present time taken as done."""
        rows = self._rows.setdefault(model.mode, Rows.at(self.times, model.model.size))
        rows.done = self.done
        return rows

    def stretch(self, model: ModeModel, end: StretchEnd) -> None:
        """Take over what a stretch left."""
        rows = self._rows[model.mode]
        if rows.done > self.done:
            written = slice(self.done, rows.done)
            self._append(_Part(model, rows.t[written], rows.y[written], rows.yp[written]))
            self.done = rows.done
        self.samples += rows.samples
        rows.samples.clear()
        self.energies += end.energies
        self.effort += end.effort

    def change(self, before: ModeModel, left: Standing, after: ModeModel, entered: Standing) -> None:
        """Rows on both sides of a change of mode; times still rise, so the first stands one rounding unit earlier."""
        just_before = np.nextafter(left.t, -np.inf)
        if self._parts and just_before > self._parts[-1].t[-1]:
            self._append(_single(before, float(just_before), left))
        self._append(_single(after, entered.t, entered))

    def _append(self, part: _Part) -> None:
        """Add rows; one that stands at the same time gives way to the later."""
        while self._parts and self._parts[-1].t[-1] >= part.t[0]:
            last = self._parts.pop()
            if len(last.t) > 1:
                self._parts.append(_Part(last.model, last.t[:-1], last.y[:-1], last.yp[:-1]))
        self._parts.append(part)

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
        start = 0
        for part in self._parts:
            if not found or found[-1].model is not part.model.model:
                found.append(Segment(start, part.model.model))
            start += len(part.t)
        return tuple(found) or (Segment(0, last),)

    def row_times(self) -> Array:
        """The times of all rows."""
        return np.concatenate([part.t for part in self._parts]) if self._parts else np.zeros(0)

    def memory(self, held: Array) -> Array | None:
        """What was held at each row; `held` is what was held at the start."""
        times, nothing = self.row_times(), np.zeros((0, 0))
        return Rows(times, nothing, nothing, len(times), self.samples).memory(held)

    def all_rows(self) -> tuple[Array, Array]:
        """y and yp of all rows, as wide as the widest mode; what a mode does not have is not a number."""
        width = max([part.model.model.size for part in self._parts], default=0)
        y, yp = (np.full((sum(len(part.t) for part in self._parts), width), np.nan) for _ in range(2))
        start = 0
        for part in self._parts:
            rows, size = slice(start, start + len(part.t)), part.model.model.size
            y[rows, :size], yp[rows, :size] = part.y, part.yp
            start = rows.stop
        return y, yp


def _single(model: ModeModel, t: float, at: Standing) -> _Part:
    return _Part(model, np.array([t]), at.y[None, : model.model.size].copy(), at.yp[None, : model.model.size].copy())
