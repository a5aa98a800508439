"""The variables of a run by name: rows of the solver, observables computed when somebody asks, and values between rows."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel, Observable, ObservableKind
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.graph import Port, PowerGraph, SourceLaw
from tellegen.results import rules
from tellegen.results.units import variable_units
from tellegen.simulation.trajectory import HeldRows, Segment, Trajectory, observe_rows

if TYPE_CHECKING:
    from tellegen.results.run import Run


@final
class ObservableCatalogue:
    """The observables by name, and by kind and element.

    Where the run is that of a form of a model, `described` is the graph of the model itself: elements that the form has merged
    into a field are there by the signals with the names of their variables, and the parts of the field are not listed.
    """

    def __init__(
        self, observables: Sequence[Observable], parts: Container[str] = (), described: PowerGraph | None = None
    ) -> None:
        self.observables = observables
        self.merged: set[str] = set()  # names of signals that are powers and energies
        self._parts = parts
        self._order = {port.element: k for k, port in enumerate(described.ports)} if described is not None else {}
        self.by_name: dict[str, int] = {}
        self.by_kind: dict[str, dict[str, list[int]]] = {}
        for k, o in enumerate(observables):
            # The output of a source stands there as its power variable too, with the same value.
            self.by_name.setdefault(o.name, k)
            self.by_kind.setdefault(o.kind, {}).setdefault(o.element, []).append(k)
        for port in described.ports if described is not None else ():
            self._read_as(port)

    def of(self, kind: ObservableKind, element: str) -> list[int]:
        """The indices of the observables of one kind of an element; several where it has several ports."""
        return self.by_kind.get(kind, {}).get(element, [])

    def elements(self, kind: ObservableKind) -> list[str]:
        """The elements that have observables of a kind, in the order of description."""
        found = [element for element in self.by_kind.get(kind, {}) if element not in self._parts]
        return sorted(found, key=lambda e: self._order.get(e, len(self._order))) if self._order else found

    def _read_as(self, port: Port) -> None:
        """The variables of an element that signals tell: one that is part of a field now, or a joint between such."""
        names: dict[ObservableKind, str] = {"across": port.across, "through": port.through}
        names |= {"power": f"power.{port.element}", "energy": f"energy.{port.element}"}
        for kind, name in names.items():
            place = self.by_name.get(name)
            if place is None:
                continue
            if self.observables[place].kind == "signal" or not self.of(kind, port.element):
                self.by_kind.setdefault(kind, {})[port.element] = [place]
                self.merged |= {name} if kind in ("power", "energy") else set()


def parts_of_fields(graph: PowerGraph) -> frozenset[str]:
    """The ports and sources of fields that were made from other elements."""
    return frozenset(port.element for port in graph.ports if port.part_of)


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
        self.contexts: dict[int, ModelContext] = {}
        self._kept: Array | None = None

    def at_rows(self, columns: Sequence[int]) -> Array:
        """Observables of the first segment's list at all rows: an array over row and column."""
        # All at once: the model computes every observable of a row anyway, and most are asked for one after the other.
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
        return self._of_model(model, self._indices_in(model, columns), t, y, yp, memory)

    def _computed(self, columns: Sequence[int], t: Array, y: Array, yp: Array) -> Array:
        found = np.full((len(t), len(columns)), np.nan)
        held = self.trajectory.memory
        if held is None:
            for model, numbers in self._rows_by_model():
                width, indices = model.size, self._indices_in(model, columns)
                found[numbers] = self._of_model(
                    model, indices, t[numbers], y[numbers, :width], yp[numbers, :width], None
                )
            return found
        for model, rows in self.trajectory.parts:
            width, indices = model.size, self._indices_in(model, columns)
            found[rows] = self._of_model(model, indices, t[rows], y[rows, :width], yp[rows, :width], held.part(rows))
        return found

    def _rows_by_model(self) -> Iterator[tuple[NumericModel, slice | NDArray[np.intp]]]:
        """Each model once, with all its rows: a run that switches has thousands of segments, and a handful of models."""
        models = {id(segment.model): segment.model for segment in self.trajectory.segments}
        if len(models) == 1:
            yield self.trajectory.model, slice(None)
            return
        stops = [*(segment.start for segment in self.trajectory.segments[1:]), len(self.trajectory.t)]
        lengths = np.array(stops) - np.array([segment.start for segment in self.trajectory.segments])
        of = np.repeat([id(segment.model) for segment in self.trajectory.segments], lengths)
        for key, model in models.items():
            yield model, np.flatnonzero(of == key)

    def _indices_in(self, model: NumericModel, columns: Sequence[int]) -> NDArray[np.intp]:
        """Where the observables of the first segment stand in the list of another; -1 where they do not."""
        # The usual case, without a search: a run has one model.
        if model is self.trajectory.model:
            return np.array(columns, dtype=np.intp)
        at = {(o.name, o.kind): k for k, o in enumerate(model.observables)}
        wanted = (self.observables[k] for k in columns)
        return np.array([at.get((o.name, o.kind), -1) for o in wanted], dtype=np.intp)

    def _of_model(
        self, model: NumericModel, indices: NDArray[np.intp], t: Array, y: Array, yp: Array, memory: HeldRows | None
    ) -> Array:
        """In C where that can be; not all rows at once, so that Ctrl-C is heard."""
        context = self.context(model)
        found = np.full((len(t), len(indices)), np.nan)
        observe = observe_rows if model.backend == "c" and len(t) > FEW_ROWS else _observe_each
        for first in range(0, len(t), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            held = None if memory is None else memory.part(rows)
            observe(model, context, t[rows], y[rows], yp[rows], memory=held, indices=indices, into=found[rows])
        return found

    def context(self, model: NumericModel) -> ModelContext:
        """A context with the parameters and inputs of the run; those that a mode does not have are left out.

        Making one takes as long as observing many rows of a large model, so it is kept.
        """
        made = self.contexts.get(id(model))
        if made is None:
            made = model.new_context(
                {name: self.parameters[name] for name in model.parameters if name in self.parameters},
                {name: self.inputs[name] for name in model.inputs if name in self.inputs},
            )
            # Delayed signals are read from the past of the run: without it every row would show initial values.
            if self.trajectory.past is not None:
                self.trajectory.past.tie(made)
            self.contexts[id(model)] = made
        return made


def _observe_each(
    model: NumericModel,
    context: ModelContext,
    t: Array,
    y: Array,
    yp: Array,
    *,
    memory: HeldRows | None,
    indices: NDArray[np.intp],
    into: Array,
) -> None:
    """Row by row, by calls from Python."""
    there = indices >= 0
    for k, time in enumerate(t):
        if memory is not None:
            context.memory[: memory.shape[1]] = memory.row(k)
        # Between the last rows of a run that failed, a law may be asked outside of its domain: not a number, no error.
        into[k, there] = model.observe_unchecked(float(time), y[k], yp[k], context)[indices[there]]


def hermite(t: Array, y: Array, yp: Array, at: Array, *, smooth: int) -> tuple[Array, Array]:
    """Values and rates at other times; the first `smooth` columns have rates, the others (algebraic unknowns) go straight."""
    place = np.clip(np.searchsorted(t, at, side="right") - 1, 0, max(len(t) - 2, 0))
    if len(t) < 2:
        return np.repeat(y[:1], len(at), axis=0), np.repeat(yp[:1], len(at), axis=0)
    after = place + 1
    step = t[after] - t[place]
    # A time may be asked for twice: there the first value stands.
    step = np.where(step > 0, step, 1.0)[:, None]
    s = (at - t[place])[:, None] / step
    y0, y1, d0, d1 = y[place], y[after], step * yp[place], step * yp[after]
    rise = y1 - y0
    value = y0 + s * (d0 + s * ((3 * rise - 2 * d0 - d1) + s * (d0 + d1 - 2 * rise)))
    rate = (d0 + s * (2 * (3 * rise - 2 * d0 - d1) + 3 * s * (d0 + d1 - 2 * rise))) / step
    # Unknowns have no rates to bend a cubic by.
    value[:, smooth:] = (y0 + s * rise)[:, smooth:]
    rate[:, smooth:] = 0.0
    return value, rate


def trajectory_at(old: Trajectory, at: Array) -> Trajectory:
    """The trajectory at other times, each stretch by itself."""
    y, yp = np.full((len(at), old.y.shape[1]), np.nan), np.full((len(at), old.y.shape[1]), np.nan)
    kept: list[Segment] = []
    for model, rows in old.parts:
        # A time at the seam belongs to what comes after it.
        mine = (at >= old.t[rows][0]) & ((at < old.t[rows.stop]) if rows.stop < len(old.t) else True)
        if not mine.any():
            continue
        smooth = model.size - len(model.unknowns)
        y[mine], yp[mine] = hermite(old.t[rows], old.y[rows], old.yp[rows], at[mine], smooth=smooth)
        kept.append(Segment(int(np.flatnonzero(mine)[0]), model))
    memory = None if old.memory is None else old.memory.chosen(np.searchsorted(old.t, at, side="right") - 1)
    return replace(old, t=at, y=y, yp=yp, segments=tuple(kept), memory=memory)


MOST_COMPARED = 4000
"""Names beyond so many are not searched for the one nearest to a typing error."""


BLOCK = 50_000
"""Rows of one block."""


@final
class Follower(NamedTuple):
    """A variable with a name that neither solver nor model give: what a storage keeps, or what stands at a side of a coupling."""

    unit: str
    values: Callable[[], Array]


@final
class Channels:
    """Looks variables up. Rows are observed once for all the names of one question."""

    def __init__(self, run: "Run") -> None:
        # A copy, for the run keeps these channels: a ring of the two would hold the rows until the collector comes.
        self._run = replace(run)
        self.name, self.trajectory, self.graph, self.parameters = run.name, run.trajectory, run.graph, run.parameters
        parts = parts_of_fields(run.graph) if run.described is not None else ()
        self.catalogue = ObservableCatalogue(run.trajectory.model.observables, parts, run.described)
        self.observer = Observer(run.trajectory, run.parameters, run.given_inputs)

    # -- Names -----------------------------------------------------------------------------------------------------------------

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states of storages. A storage may be a state in one mode and follow others in another."""
        return tuple(dict.fromkeys(name for segment in self.trajectory.segments for name in segment.model.states))

    @cached_property
    def signals(self) -> tuple[str, ...]:
        """The signals that the model describes, and those with a state of their own."""
        found = {self.catalogue.observables[k].name for k in self.catalogue.of("signal", "")}
        described = [n for n in self._run.described_signals if n in found and n not in self.catalogue.merged]
        return tuple(dict.fromkeys((*self.trajectory.model.signal_states, *described)))

    @cached_property
    def inputs_of_sources(self) -> tuple[str, ...]:
        """The inputs: one a source."""
        return tuple(port.law.input for port in self.graph.ports if isinstance(port.law, SourceLaw))

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The conjugates of the inputs, by the name of a state where they are one."""
        indices = self.catalogue.by_kind.get("output", {}).values()
        return tuple(self.catalogue.observables[k].name for found in indices for k in found)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """States, displacements, signals, inputs, outputs and what was asked for beside them, each once."""
        moving = (*self.states, *self.trajectory.model.displacements, *self.signals)
        asked = (name for name in self._run.shown if name != "t")
        return tuple(dict.fromkeys((*moving, *self.inputs_of_sources, *self.outputs, *asked)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is saved: the variables, then powers and energies by element."""
        powers = (f"power.{element}" for element in self.catalogue.elements("power"))
        energies = (f"energy.{element}" for element in self.catalogue.elements("energy"))
        return tuple(dict.fromkeys((*self.variables, *powers, *energies)))

    def knows(self, name: object) -> bool:
        """Whether there is a variable of this name."""
        return self._has_rows(name) or name in self._followers or name in self._removed

    def _has_rows(self, name: object) -> bool:
        """Whether solver or model give the variable, row by row."""
        return name == "t" or name in self._of_solver or bool(self._indices(str(name)))

    # -- Values ----------------------------------------------------------------------------------------------------------------

    def table(self, names: Sequence[str]) -> Array:
        """The numbers of variables: an array over row and name.

        Raises: SimulationError (S201) with the nearest name.
        """
        if not all(map(self._has_rows, names)):
            return self._table_of_all(names)
        # A variable of the solver stands in the rows already; all others are asked of the model in one go.
        wanted = [[] if name == "t" or self._in_all_segments(name) else self._indices(name) for name in names]
        # Each observable once, however many names need it.
        columns = sorted({k for indices in wanted for k in indices})
        observed = self.observer.at_rows(columns) if columns else np.zeros((len(self.trajectory.t), 0))
        at = {k: i for i, k in enumerate(columns)}
        found = np.empty((len(self.trajectory.t), len(names)))
        for i, (name, indices) in enumerate(zip(names, wanted, strict=True)):
            if indices:
                found[:, i] = observed[:, [at[k] for k in indices]].sum(axis=1)
            elif name == "t":
                found[:, i] = self.trajectory.t
            else:
                self._fill_from_solver(name, found[:, i])
        return found

    def _table_of_all(self, names: Sequence[str]) -> Array:
        """The same where some variables follow from others: what the run has itself is never computed from what was removed."""
        own = {name: name for name in names if self._has_rows(name)}
        found = dict(zip(own, self.table(list(own)).T, strict=True))
        found |= {name: self._followers[name].values() for name in names if name not in own and name in self._followers}
        if gone := [name for name in names if name not in found and name in self._removed]:
            assert self._run.removed is not None, "it has units of its variables"
            found |= self._run.removed.values(self._run, gone)
        for name in names:
            if name not in found:
                raise self.unknown(name)
        return np.stack([found[name] for name in names], axis=1)

    def sums(self, groups: Sequence[Sequence[int]]) -> Array:
        """Sums of observables: an array over row and group."""
        columns = sorted({k for indices in groups for k in indices})
        observed = self.observer.at_rows(columns) if columns else np.zeros((len(self.trajectory.t), 0))
        at = {k: i for i, k in enumerate(columns)}
        return np.stack([observed[:, [at[k] for k in indices]].sum(axis=1) for indices in groups], axis=1)

    def last(self, names: Sequence[str]) -> Array:
        """The numbers of variables in the last row, which alone is observed but for rates that need those before it."""
        if not self._removed.keys().isdisjoint(names):
            return np.asarray(self.table(names)[-1])
        return np.asarray(self._part(slice(len(self.trajectory.t) - 1, len(self.trajectory.t))).table(names)[0])

    def blocks(self, names: Sequence[str]) -> Iterator[tuple[slice, Array]]:
        """Rows and the numbers of variables there, block by block: who writes them needs no memory for all at once.

        Raises: SimulationError (S201) with the nearest name.
        """
        count = len(self.trajectory.t)
        # A run that fits is looked up as a whole: what was computed for it is kept.
        if count <= BLOCK:
            yield slice(0, count), self.table(names)
            return
        for name in names:
            if not self.knows(name):
                raise self.unknown(name)
        whole = {name: self.table([name])[:, 0] for name in names if name in self._removed}
        for first in range(0, count, BLOCK):
            rows = slice(first, min(first + BLOCK, count))
            part = self._part(rows)
            there = [k for k, name in enumerate(names) if name not in whole and part.knows(name)]
            found = np.full(
                (rows.stop - first, len(names)), np.nan
            )  # of a variable that the modes met there do not have
            found[:, there] = part.table([names[k] for k in there])
            for name, values in whole.items():
                found[:, names.index(name)] = values[rows]
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
        )
        one = Channels(replace(self._run, trajectory=some))
        # Making a context of a large model takes longer than observing a block.
        one.observer.contexts = self.observer.contexts
        return one

    def unit(self, name: str) -> str:
        """The SI unit of a variable; empty where it is not known."""
        if name == "t":
            return "s"
        if name in self._units:
            return self._units[name]
        indices = self._indices(name)
        if indices:
            return self.catalogue.observables[indices[0]].unit
        follower = self._followers.get(name)
        return self._removed.get(name, "") if follower is None else follower.unit

    def unknown(self, name: str) -> TellegenError:
        """The error for a name that means nothing."""
        # Also names that are no variables of the run but can be asked for, so that a typing error in any of them is
        # found.
        known = dict.fromkeys(
            (*self.names, *self.catalogue.by_name, *self._followers, *self.catalogue.elements("power"))
        )
        few = [other for other in known if other != name][:MOST_COMPARED]  # asked for, it is among the names
        fix = did_you_mean(name, few) or f"some that are: {listing(few)}"
        return rules.NO_SUCH_CHANNEL.error(f"the run has no '{name}'", where=self.name, fix=fix)

    # -- Where things stand ----------------------------------------------------------------------------------------------------

    @cached_property
    def _units(self) -> dict[str, str]:
        return variable_units(self.graph)

    @cached_property
    def _followers(self) -> Mapping[str, Follower]:
        found = self._run.by_element.followers()
        return {name: follower for name, follower in found.items() if not self._has_rows(name)}

    @property
    def _removed(self) -> Mapping[str, str]:
        """Variables that only a reduction still knows, with their units."""
        found = {} if self._run.removed is None else self._run.removed.units
        return {name: unit for name, unit in found.items() if not self._has_rows(name)} if found else found

    @cached_property
    def _of_solver(self) -> dict[str, list[tuple[slice, int]]]:
        """Where each variable of the solver stands: rows and column, one for each stretch that has it."""
        found: dict[str, list[tuple[slice, int]]] = {}
        for model, rows in self.trajectory.parts:
            for k, name in enumerate(model.names):
                found.setdefault(name, []).append((rows, k))
        return found

    def _in_all_segments(self, name: str) -> bool:
        return len(self._of_solver.get(name, ())) == len(self.trajectory.segments)

    def observables_of(self, name: str) -> list[int]:
        """The places of the observables whose sum has the name; none where another one tells it."""
        return self._indices(name)

    def _indices(self, name: str) -> list[int]:
        kind, dot, element = name.partition(".")
        # By the element first: one of several ports has several powers, whose sum is meant.
        if dot and kind in ("power", "energy") and (found := self.catalogue.of(cast(ObservableKind, kind), element)):
            return found
        place = self.catalogue.by_name.get(name)
        return [] if place is None else [place]

    def _fill_from_solver(self, name: str, column: Array) -> None:
        stretches = self._of_solver.get(name)
        if stretches is None:
            raise self.unknown(name)
        # Where no mode has the variable it has no value; a line is then broken there in plots.
        column[:] = np.nan
        for rows, k in stretches:
            column[rows] = self.trajectory.y[rows, k]
