"""The variables of a run by name: where each stands among the rows of the solver or among the observables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import cast, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.numeric_model import ObservableKind
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.graph import PowerGraph, SourceLaw
from tellegen.results import rules
from tellegen.results.observing import Observer, segments
from tellegen.results.ports import Catalogue, parts_of_fields
from tellegen.results.units import variable_units
from tellegen.simulation.trajectory import Segment, Trajectory

Array = NDArray[np.float64]

MOST_COMPARED = 4000
"""Names beyond so many are not searched for the one nearest to a typing error."""


BLOCK = 50_000
"""Rows of one block."""


@final
class Channels:
    """Looks variables up. Rows are observed once for all the names of one question."""

    def __init__(
        self,
        name: str,
        trajectory: Trajectory,
        graph: PowerGraph,
        parameters: Mapping[str, float],
        inputs: Mapping[str, float],
        described_signals: Sequence[str],
        described: PowerGraph | None = None,
    ) -> None:
        self.name, self.trajectory, self.graph = name, trajectory, graph
        self.parameters, self.inputs = parameters, inputs
        self.described_signals = described_signals
        self.described = described
        parts = parts_of_fields(graph) if described is not None else ()
        self.catalogue = Catalogue(trajectory.model.observables, parts, described)
        self.observer = Observer(trajectory, parameters, inputs)

    # -- Names -----------------------------------------------------------------------------------------------------------------

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states of storages. A storage may be a state in one mode and follow others in another."""
        return tuple(dict.fromkeys(name for segment in self.trajectory.segments for name in segment.model.states))

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """The signals that the model describes, and those with a state of their own."""
        found = {self.catalogue.observables[k].name for k in self.catalogue.of("signal", "")}
        described = [n for n in self.described_signals if n in found and n not in self.catalogue.merged]
        return tuple(dict.fromkeys((*self.trajectory.model.signal_states, *described)))

    @cached_property
    def inputs_of_sources(self) -> tuple[str, ...]:
        """The inputs: one a source."""
        return tuple(port.law.input for port in self.graph.ports if isinstance(port.law, SourceLaw))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The conjugates of the inputs, by the name of a state where they are one."""
        places = self.catalogue.by_kind.get("output", {}).values()
        return tuple(self.catalogue.observables[k].name for found in places for k in found)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """States, displacements, signals, inputs and outputs, each once."""
        moving = (*self.states, *self.trajectory.model.displacements, *self.signals)
        return tuple(dict.fromkeys((*moving, *self.inputs_of_sources, *self.outputs)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is saved: the variables, then powers and energies by element."""
        powers = (f"power.{element}" for element in self.catalogue.elements("power"))
        energies = (f"energy.{element}" for element in self.catalogue.elements("energy"))
        return tuple(dict.fromkeys((*self.variables, *powers, *energies)))

    def knows(self, name: object) -> bool:
        """Whether there is a variable of this name."""
        return name == "t" or name in self._of_solver or bool(self._places(str(name)))

    # -- Values ----------------------------------------------------------------------------------------------------------------

    def table(self, names: Sequence[str]) -> Array:
        """The numbers of variables: an array over row and name.

        Raises: SimulationError (S201) with the nearest name.
        """
        wanted = [[] if name == "t" or self._in_all_segments(name) else self._places(name) for name in names]
        columns = sorted({k for places in wanted for k in places})
        observed = self.observer.at_rows(columns) if columns else np.zeros((len(self.trajectory.t), 0))
        at = {k: i for i, k in enumerate(columns)}
        found = np.empty((len(self.trajectory.t), len(names)))
        for i, (name, places) in enumerate(zip(names, wanted, strict=True)):
            if places:
                found[:, i] = observed[:, [at[k] for k in places]].sum(axis=1)
            elif name == "t":
                found[:, i] = self.trajectory.t
            else:
                self._fill_from_solver(name, found[:, i])
        return found

    def sums(self, groups: Sequence[Sequence[int]]) -> Array:
        """Sums of observables: an array over row and group."""
        columns = sorted({k for places in groups for k in places})
        observed = self.observer.at_rows(columns) if columns else np.zeros((len(self.trajectory.t), 0))
        at = {k: i for i, k in enumerate(columns)}
        return np.stack([observed[:, [at[k] for k in places]].sum(axis=1) for places in groups], axis=1)

    def last(self, names: Sequence[str]) -> Array:
        """The numbers of variables in the last row, which alone is observed."""
        return np.asarray(self._part(slice(len(self.trajectory.t) - 1, len(self.trajectory.t))).table(names)[0])

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[slice, Array]]:
        """Rows and the numbers of variables there, block by block: who writes them needs no memory for all at once.

        Raises: SimulationError (S201) with the nearest name.
        """
        count = len(self.trajectory.t)
        if count <= BLOCK:
            yield slice(0, count), self.table(names)
            return
        for name in names:
            if not self.knows(name):
                raise self.unknown(name)
        for first in range(0, count, BLOCK):
            rows = slice(first, min(first + BLOCK, count))
            part = self._part(rows)
            there = [k for k, name in enumerate(names) if part.knows(name)]
            found = np.full(
                (rows.stop - first, len(names)), np.nan
            )  # of a variable that the modes met there do not have
            found[:, there] = part.table([names[k] for k in there])
            yield rows, found

    def _part(self, rows: slice) -> "Channels":
        """The same run in some of its rows, which follow each other; at least one."""
        made, met = self.trajectory, [s for s in self.trajectory.segments if s.start < rows.stop]
        first = max(k for k, segment in enumerate(met) if segment.start <= rows.start)
        some = replace(
            made,
            t=made.t[rows],
            y=made.y[rows],
            yp=made.yp[rows],
            segments=tuple(Segment(max(s.start - rows.start, 0), s.model) for s in met[first:]),
            memory=None if made.memory is None else made.memory.part(rows),
            sensitivities=None,
        )
        signals = self.described_signals
        one = Channels(self.name, some, self.graph, self.parameters, self.inputs, signals, self.described)
        one.observer.contexts = self.observer.contexts
        return one

    def unit(self, name: str) -> str:
        """The SI unit of a variable; empty where it is not known."""
        if name == "t":
            return "s"
        if name in self._units:
            return self._units[name]
        places = self._places(name)
        return self.catalogue.observables[places[0]].unit if places else ""

    def unknown(self, name: str) -> TellegenError:
        """The error for a name that means nothing."""
        known = dict.fromkeys((*self.names, *self.catalogue.by_name, *self.catalogue.elements("power")))
        few = list(known)[:MOST_COMPARED]
        fix = did_you_mean(name, few) or f"some that are: {listing(few)}"
        return rules.NO_SUCH_CHANNEL.error(f"the run has no '{name}'", where=self.name, fix=fix)

    # -- Where things stand ----------------------------------------------------------------------------------------------------

    @cached_property
    def _units(self) -> dict[str, str]:
        return variable_units(self.graph)

    @cached_property
    def _of_solver(self) -> dict[str, list[tuple[slice, int]]]:
        """Where each variable of the solver stands: rows and column, one for each stretch that has it."""
        found: dict[str, list[tuple[slice, int]]] = {}
        for model, rows in segments(self.trajectory):
            for k, name in enumerate(model.names):
                found.setdefault(name, []).append((rows, k))
        return found

    def _in_all_segments(self, name: str) -> bool:
        return len(self._of_solver.get(name, ())) == len(self.trajectory.segments)

    def _places(self, name: str) -> list[int]:
        kind, dot, element = name.partition(".")
        if dot and kind in ("power", "energy") and (found := self.catalogue.of(cast(ObservableKind, kind), element)):
            return found
        place = self.catalogue.by_name.get(name)
        return [] if place is None else [place]

    def _fill_from_solver(self, name: str, column: Array) -> None:
        stretches = self._of_solver.get(name)
        if stretches is None:
            raise self.unknown(name)
        column[:] = np.nan
        for rows, k in stretches:
            column[rows] = self.trajectory.y[rows, k]
