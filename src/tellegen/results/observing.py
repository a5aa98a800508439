"""Observables of a run at its rows, computed when somebody asks."""

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel, Observable
from tellegen.simulation.held_rows import HeldRows
from tellegen.simulation.observed_rows import observe_rows
from tellegen.simulation.trajectory import Trajectory

Array = NDArray[np.float64]

MOST_KEPT = 20_000_000
"""Up to so many numbers all observables are kept once they were computed; beyond, only those asked for."""

FEW_ROWS = 2000
"""Up to so many rows calls from Python are as fast as finding a library."""
ROWS_AT_ONCE = 100_000


@final
class Observer:
    """Calls `observe` of the model of each segment, row by row. Variables that a mode does not have are not a number there."""

    def __init__(self, trajectory: Trajectory, parameters: Mapping[str, float], inputs: Mapping[str, float]) -> None:
        self.trajectory = trajectory
        self.parameters, self.inputs = parameters, inputs
        self.observables: tuple[Observable, ...] = trajectory.model.observables
        self.contexts: dict[int, Context] = {}
        self._kept: Array | None = None

    def at_rows(self, columns: Sequence[int]) -> Array:
        """Observables of the first segment's list at all rows: an array over row and column."""
        if self._kept is None and len(self.trajectory.t) * len(self.observables) <= MOST_KEPT:
            everything = range(len(self.observables))
            self._kept = self._computed(everything, self.trajectory.t, self.trajectory.y, self.trajectory.yp)
        if self._kept is not None:
            return self._kept[:, columns]
        return self._computed(columns, self.trajectory.t, self.trajectory.y, self.trajectory.yp)

    def at_points(
        self, columns: Sequence[int], t: Array, y: Array, yp: Array, segment: int, memory: HeldRows | None
    ) -> Array:
        """Observables at other points of one segment."""
        model = self.trajectory.segments[segment].model
        return self._of_model(model, self._places(model, columns), t, y, yp, memory)

    def _computed(self, columns: Sequence[int], t: Array, y: Array, yp: Array) -> Array:
        found = np.full((len(t), len(columns)), np.nan)
        for model, rows in segments(self.trajectory):
            width, places = model.size, self._places(model, columns)
            memory = None if self.trajectory.memory is None else self.trajectory.memory.part(rows)
            found[rows] = self._of_model(model, places, t[rows], y[rows, :width], yp[rows, :width], memory)
        return found

    def _places(self, model: NumericModel, columns: Sequence[int]) -> NDArray[np.intp]:
        """Where the observables of the first segment stand in the list of another; -1 where they do not."""
        if model is self.trajectory.model:
            return np.array(columns, dtype=np.intp)
        at = {(o.name, o.kind): k for k, o in enumerate(model.observables)}
        wanted = (self.observables[k] for k in columns)
        return np.array([at.get((o.name, o.kind), -1) for o in wanted], dtype=np.intp)

    def _of_model(
        self, model: NumericModel, places: NDArray[np.intp], t: Array, y: Array, yp: Array, memory: HeldRows | None
    ) -> Array:
        """In C where that can be; not all rows at once, so that Ctrl-C is heard."""
        context = self.context(model)
        found = np.full((len(t), len(places)), np.nan)
        observe = observe_rows if model.backend == "c" and len(t) > FEW_ROWS else _observe_each
        for first in range(0, len(t), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            held = None if memory is None else memory.part(rows)
            observe(model, context, t[rows], y[rows], yp[rows], held, places, found[rows])
        return found

    def context(self, model: NumericModel) -> Context:
        """A context with the parameters and inputs of the run; those that a mode does not have are left out.

        Making one takes as long as observing many rows of a large model, so it is kept.
        """
        made = self.contexts.get(id(model))
        if made is None:
            made = model.new_context(
                {name: self.parameters[name] for name in model.parameters if name in self.parameters},
                {name: self.inputs[name] for name in model.inputs if name in self.inputs},
            )
            if self.trajectory.past is not None:
                self.trajectory.past.tie(made)
            self.contexts[id(model)] = made
        return made


def _observe_each(
    model: NumericModel,
    context: Context,
    t: Array,
    y: Array,
    yp: Array,
    memory: HeldRows | None,
    places: NDArray[np.intp],
    into: Array,
) -> None:
    """Row by row, by calls from Python."""
    there = places >= 0
    for k, time in enumerate(t):
        if memory is not None:
            context.memory[: memory.shape[1]] = memory.row(k)
        # Between the last rows of a run that failed, a law may be asked outside of its domain: not a number, no error.
        into[k, there] = model.observe_unchecked(float(time), y[k], yp[k], context)[places[there]]


def segments(trajectory: Trajectory) -> list[tuple[NumericModel, slice]]:
    """The model of each stretch with its rows."""
    starts = [s.start for s in trajectory.segments] + [len(trajectory.t)]
    return [(s.model, slice(starts[k], starts[k + 1])) for k, s in enumerate(trajectory.segments)]
