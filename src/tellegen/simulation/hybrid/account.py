"""What a run through several modes leaves: rows of all modes, energies, events and effort, and its changes of mode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

import numpy as np

from tellegen.compiler.context import Array
from tellegen.compiler.numeric_model import EventFunction, NumericModel
from tellegen.simulation.hybrid.handover import Handover, Impact
from tellegen.simulation.hybrid.mode_choice import ModeTrial
from tellegen.simulation.hybrid.mode_models import HybridState, Mode, ModeModel, ModeModels
from tellegen.simulation.solvers.stretch import RunRows, StatePoint, StretchEnd
from tellegen.simulation.trajectory import Books, Effort, HeldRows, RunEvent, Segment

if TYPE_CHECKING:
    from tellegen.simulation.hybrid.relay import Relayed

BLOCK: Final = 200_000
"""Rows for which there is room at a time."""


@final
@dataclass(frozen=True)
class _Part:
    """Rows of one mode, some of those asked for or the one of a change of mode."""

    model: ModeModel
    t: Array
    y: Array
    yp: Array


@final
class HybridAccount:
    """Sums up over all stretches and impulses, and keeps the rows.

    Rows asked for stand in arrays as wide as the widest mode from the beginning, so that a run takes no more memory than they do.
    """

    def __init__(self, times: Array) -> None:
        self.times = times
        self.done = 0
        self.energies = np.zeros(4)
        self.impulsive = 0.0
        self.losses: dict[str, float] = {}
        self.effort = Effort()
        self.turns = 0
        self.events: list[RunEvent] = []
        self.samples: list[Array] = []
        self._room: dict[Mode, RunRows] = {}
        self._y, self._yp = np.empty((len(times), 0)), np.empty((len(times), 0))
        self._kept: list[tuple[ModeModel, slice] | _Part] = []

    def rows(self, model: ModeModel) -> RunRows:
        """Room for the next rows of a mode."""
        # A mode gets room for some rows only: with many modes and millions of rows each would need all.
        times = self.times[self.done : self.done + BLOCK]
        if model.mode not in self._room:
            self._room[model.mode] = RunRows.at(times, model.model.size)
        rows = self._room[model.mode]
        rows.t, rows.done = times, 0
        return rows

    def reach(self) -> float:
        """The time of the last row for which there is room, infinite where it is the last of all."""
        last = self.done + BLOCK - 1
        return float(self.times[last]) if last < len(self.times) - 1 else np.inf

    def stretch(self, model: ModeModel, end: StretchEnd) -> None:
        """Take over what a stretch left."""
        rows, size = self._room[model.mode], model.model.size
        if rows.done:
            written = slice(self.done, self.done + rows.done)
            self._widen(size)
            for to, given in ((self._y, rows.y), (self._yp, rows.yp)):
                # Columns that this mode lacks are no numbers, lest somebody plots them.
                to[written, :size], to[written, size:] = given[: rows.done], np.nan
            self._kept.append((model, written))
            self.done = written.stop
        self.samples += rows.samples
        rows.samples.clear()
        self._sum_up(end)

    def _sum_up(self, end: StretchEnd) -> None:
        self.energies += end.energies
        self.effort += end.effort
        self.turns += end.turns

    def room(self, width: int) -> tuple[Array, Array]:
        """Where all rows stand, so many variables wide at least."""
        self._widen(width)
        return self._y, self._yp

    def relayed(self, by: "Relayed") -> None:
        """Take over what many stretches left, whose rows are written already."""
        self._sum_up(by.end)
        changes = by.changes
        self.energies[0] += float(changes["supplied"].sum())
        self.impulsive += float(changes["lost"].sum())
        mode = by.first
        # Of most stretches there are no rows: only those with some are looked at.
        written = np.diff(changes["rows"], prepend=self.done)
        looked = range(len(changes)) if by.states is not None else np.flatnonzero(written).tolist()
        for k in looked:
            mode, to = int(changes["from"][k]), int(changes["to"][k])
            self._keep_until(by.modes[mode], int(changes["rows"][k]))
            if by.states is not None and mode != to:
                t, (y, yp, y_after, yp_after) = float(changes["t"][k]), by.states[k]
                self.change(by.modes[mode], StatePoint(t, y, yp), by.modes[to], StatePoint(t, y_after, yp_after))
        self._keep_until(by.model, by.rows)

    def _keep_until(self, model: ModeModel, rows: int) -> None:
        if rows > self.done:
            self._kept.append((model, slice(self.done, rows)))
            self.done = rows

    def _widen(self, size: int) -> None:
        """Columns for a mode that has more variables than those before it."""
        more = size - self._y.shape[1]
        if more > 0:
            fresh = [np.empty((len(self.times), size)) for _ in range(2)]
            for new, old in zip(fresh, (self._y, self._yp), strict=True):
                new[: self.done, :-more], new[: self.done, -more:] = old[: self.done], np.nan
            self._y, self._yp = fresh

    def change(self, before: ModeModel, left: StatePoint, after: ModeModel, entered: StatePoint) -> None:
        """Rows on both sides of a change of mode; times still rise, so the first stands one rounding unit earlier."""
        # Rows at one and the same time could not be interpolated between.
        just_before = np.nextafter(left.t, -np.inf)
        if self._kept and just_before > self._last_time():
            self._kept.append(_single(before, float(just_before), left))
        self._kept.append(_single(after, entered.t, entered))

    def ended(self, model: ModeModel, at: StatePoint) -> None:
        """A row where a run ended between two of them."""
        if not self._kept or at.t > self._last_time():
            self._kept.append(_single(model, at.t, at))

    def _last_time(self) -> float:
        last = self._kept[-1]
        return float(last.t[-1] if isinstance(last, _Part) else self.times[last[1].stop - 1])

    def impulse(self, handover: Handover, elements: str) -> None:
        """Energy that sources supplied in an instant, and what was lost there, by the elements that changed."""
        self.energies[0] += handover.supplied
        self.impulsive += handover.lost
        if handover.lost:
            self.lose(handover.lost, elements)

    def lose(self, energy: float, elements: str) -> None:
        """Book a loss to the elements that changed."""
        self.losses[elements] = self.losses.get(elements, 0.0) + energy

    def books(self, stored_start: float, stored_end: float) -> Books:
        """The energy books."""
        return Books.of(self.energies, stored_start, stored_end, self.impulsive)

    def finished(self, held: Array, last: NumericModel) -> "ModeRows":
        """All rows in order of time; `held` is what was held at the start, `last` stands in where there are no rows."""
        # Without rows of changes what stands in the arrays is the result: nothing is copied.
        asked = [kept for kept in self._kept if not isinstance(kept, _Part)]
        if len(asked) < len(self._kept):
            return self._merged(held, last)
        found = [(model.model, written.start) for model, written in asked]
        width = max((model.size for model, _ in found), default=self._y.shape[1])
        return ModeRows(
            self.times[: self.done],
            self._y[: self.done, :width],
            self._yp[: self.done, :width],
            _segments(found, last),
            self._memory(self.times[: self.done], held),
        )

    def _merged(self, held: Array, last: NumericModel) -> "ModeRows":
        """Rows asked for and those of changes; one that stands at the time of a later one gives way to it."""
        parts: list[_Part] = []
        for kept in self._kept:
            part = kept if isinstance(kept, _Part) else self._part(*kept)
            # A row asked for may fall on a change: what stands behind the change is the truth from then on.
            while parts and parts[-1].t[-1] >= part.t[0]:
                early = parts.pop()
                if len(early.t) > 1:
                    parts.append(_Part(early.model, early.t[:-1], early.y[:-1], early.yp[:-1]))
            parts.append(part)
        width = max(part.model.model.size for part in parts)
        starts = np.cumsum([0, *(len(part.t) for part in parts)])
        y, yp = (np.full((starts[-1], width), np.nan) for _ in range(2))
        for part, start, stop in zip(parts, starts[:-1], starts[1:], strict=True):
            size = part.model.model.size
            y[start:stop, :size], yp[start:stop, :size] = part.y, part.yp
        t = np.concatenate([part.t for part in parts])
        found = [(part.model.model, int(start)) for part, start in zip(parts, starts[:-1], strict=True)]
        return ModeRows(t, y, yp, _segments(found, last), self._memory(t, held))

    def _part(self, model: ModeModel, rows: slice) -> _Part:
        size = model.model.size
        return _Part(model, self.times[rows], self._y[rows, :size], self._yp[rows, :size])

    def _memory(self, times: Array, held: Array) -> HeldRows | None:
        nothing = np.zeros((0, 0))
        return RunRows(times, nothing, nothing, len(times), self.samples).memory(held)


@final
@dataclass(frozen=True)
class ModeRows:
    """Rows of all modes, as wide as the widest one; what a mode lacks is not a number."""

    t: Array
    y: Array
    yp: Array
    segments: tuple[Segment, ...]
    memory: HeldRows | None


def _segments(found: Sequence[tuple[NumericModel, int]], last: NumericModel) -> tuple[Segment, ...]:
    """Which rows belong to which model."""
    made: list[Segment] = []
    for model, start in found:
        # Stretches of one mode that follow each other are one segment.
        if not made or made[-1].model is not model:
            made.append(Segment(start, model))
    return tuple(made) or (Segment(0, last),)


def _single(model: ModeModel, t: float, at: StatePoint) -> _Part:
    return _Part(model, np.array([t]), at.y[None, : model.model.size].copy(), at.yp[None, : model.model.size].copy())


@final
@dataclass(frozen=True)
class ModeChange:
    """From one stretch to the next: the mode that was left and where, by which events and impacts, and the one entered.

    `memory` is what sampled signals held.
    """

    before: ModeModel
    left: StatePoint
    hits: tuple[EventFunction, ...]
    impacts: tuple[Impact, ...]
    entered: ModeTrial
    memory: Mapping[str, float]

    @property
    def changed(self) -> bool:
        """Whether the mode changed, or a body bounced."""
        return bool(self.impacts) or self.before.mode != self.entered.model.mode


@final
@dataclass
class ModeChangeLog:
    """The start of a run, and every change from one stretch to the next."""

    changes: list[ModeChange] = field(default_factory=list)
    models: ModeModels | None = None
    state: HybridState | None = None
    first: ModeTrial | None = None
    memory: Mapping[str, float] = field(default_factory=dict)

    def begin(self, models: ModeModels, state: HybridState, first: ModeTrial) -> None:
        """Note the start: the state from which the first mode was entered."""
        self.models, self.state, self.first = models, state, first
        held = first.model.context.memory[: len(first.model.model.memory)].tolist()
        self.memory = dict(zip(first.model.model.memory, held, strict=True))
