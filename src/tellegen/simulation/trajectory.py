"""What a run gives back: rows of variables, what sampled signals held there, energy books and an account of the work."""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, ModelContext, address_of, raise_kept_error
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding
from tellegen.simulation.solvers.library import library


@final
@dataclass(frozen=True, eq=False)
class HeldRows:
    """An array over row and place in the memory that is made where somebody reads it: samples are far fewer than rows.

    `values[k]` was held from row `since[k]` on, up to that of the next one; the first row is held from the beginning.
    """

    since: NDArray[np.intp]
    values: Array
    count: int

    @classmethod
    def of(cls, rows: Array) -> "HeldRows":
        """Rows that are written out."""
        return cls(np.arange(len(rows), dtype=np.intp), rows, len(rows))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and indices."""
        return self.count, self.values.shape[1]

    def __len__(self) -> int:
        return self.count

    def row(self, number: int) -> Array:
        """One row; negative numbers count from the end."""
        at = number + self.count if number < 0 else number
        return np.asarray(self.values[np.searchsorted(self.since, at, side="right") - 1])

    def part(self, rows: slice) -> "HeldRows":
        """Rows that follow each other."""
        start, stop, _ = rows.indices(self.count)
        # Also the one that was held when the part begins.
        first = max(int(np.searchsorted(self.since, start, side="right")) - 1, 0)
        last = max(int(np.searchsorted(self.since, stop, side="left")), first + 1)
        since = np.maximum(self.since[first:last] - start, 0)
        return HeldRows(since, self.values[first:last], max(stop - start, 0))

    def chosen(self, rows: NDArray[np.intp]) -> "HeldRows":
        """Rows by number, in any order."""
        return HeldRows.of(self.values[np.searchsorted(self.since, rows, side="right") - 1])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # Made only for who reads it: a run of a million rows with a slow sampler holds a few values.
        made = np.repeat(self.values, np.diff(self.since, append=self.count), axis=0)
        return made if dtype is None else made.astype(dtype, copy=False)


def observe_rows(
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
    """Write the observables at `indices` into the rows of `into`; one at a place below zero is left as it is.

    `memory` is what was sampled at each row. Outside the domain of a law an observable is not a number.
    """
    floats = [np.ascontiguousarray(a, dtype=float) for a in (t, y, yp)]
    held = np.zeros((len(t), 0)) if memory is None else np.ascontiguousarray(memory, dtype=float)
    # C writes all observables of a row and copies those asked for: one call for thousands of rows.
    everything, chosen = np.zeros(max(len(model.observables), 1)), np.ascontiguousarray(indices, dtype=ctypes.c_int64)
    assert into.flags.c_contiguous, "rows of an array that was just made"
    rows = (len(t), *map(address_of, floats), y.shape[1], address_of(held), held.shape[1])
    room = (address_of(everything), len(everything), address_of(chosen), len(chosen), address_of(into))
    _function()(model.addresses["observe"], context.address, *rows, *room)
    raise_kept_error()


@cache
def _function() -> Any:
    function = library().tg_observe_rows
    pointer, number = ctypes.c_void_p, ctypes.c_int
    model_and_rows: list[Any] = [pointer, pointer, ctypes.c_int64, pointer, pointer, pointer, number]
    function.argtypes = [*model_and_rows, pointer, number, pointer, number, pointer, number, pointer]
    function.restype = None
    return function


Status = Literal["finished", "cancelled", "failed"]


@final
@dataclass(frozen=True, slots=True)
class Books:
    """Energy in joule: supplied + generated + modulation = change of stored + dissipated + impulsive, up to `residual`."""

    supplied: float = 0.0
    dissipated: float = 0.0
    generated: float = 0.0
    modulation: float = 0.0
    impulsive: float = 0.0
    stored_start: float = 0.0
    stored_end: float = 0.0
    stored_most: float = 0.0
    explained: float = 0.0
    """Where books would be open: the most that was stored on the way, and what powers off by the tolerance add up to meanwhile."""

    @classmethod
    def of(cls, energies: Array, stored_start: float, stored_end: float, impulsive: float = 0.0) -> "Books":
        """Books from the four energies that solvers sum up, in the order of the fields."""
        supplied, dissipated, generated, modulation = energies.tolist()
        return cls(
            supplied, dissipated, generated, modulation, impulsive, stored_start=stored_start, stored_end=stored_end
        )

    @property
    def difference(self) -> float:
        """What is missing from the balance, in joule."""
        came = self.supplied + self.generated + self.modulation
        # Generated energy and work of modulation count as coming in, as supply does.
        return self.stored_end - self.stored_start + self.dissipated + self.impulsive - came

    @property
    def handled(self) -> float:
        """The energy that was at stake: the largest entry of the books, or what was stored on the way where that came back."""
        stored = (self.stored_start, self.stored_end, self.stored_most)
        return max(map(abs, (self.supplied, self.dissipated, self.generated, self.modulation, self.impulsive, *stored)))

    @property
    def residual(self) -> float:
        """The difference relative to the energy handled; zero where nothing happened."""
        handled = self.handled
        return self.difference / handled if handled > 0.0 else 0.0


@final
@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event: when, at which element, what."""

    t: float
    element: str
    what: str


@final
@dataclass(frozen=True, slots=True)
class Segment:
    """Rows from `start` on belong to this model: one segment for each stretch in one mode."""

    start: int
    model: NumericModel


def rows_of_segments(segments: Sequence[Segment], count: int) -> list[tuple[NumericModel, slice]]:
    """The model of each segment with its rows, of so many in all."""
    stops = [*(segment.start for segment in segments[1:]), count]
    return [(segment.model, slice(segment.start, stop)) for segment, stop in zip(segments, stops, strict=True)]


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """How much work a run was."""

    steps: int = 0
    rejected: int = 0
    rhs_calls: int = 0
    jacobians: int = 0
    factorisations: int = 0

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(
            self.steps + other.steps,
            self.rejected + other.rejected,
            self.rhs_calls + other.rhs_calls,
            self.jacobians + other.jacobians,
            self.factorisations + other.factorisations,
        )


class SignalHistory(Protocol):
    """What delayed signals were."""

    def tie(self, context: ModelContext, /) -> None:
        """Let a context read it."""
        ...


@final
@dataclass(frozen=True)
class Trajectory:
    """The variables y and their rates yp at times t (rows), and how they came about.

    A run that ended early keeps its rows; `status` and `finding` say why. Tolerances held for each variable in the maximum norm.
    """

    t: Array
    y: Array
    yp: Array
    segments: tuple[Segment, ...]
    solver: str
    reason: str
    books: Books | None = None
    events: tuple[RunEvent, ...] = ()
    effort: Effort = field(default_factory=Effort)
    setup_s: float = 0.0
    solve_s: float = 0.0
    status: Status = "finished"
    finding: Finding | None = None
    memory: HeldRows | None = None
    """What was held at each row (sampled signals), None where nothing is: observing a row needs it."""
    losses: Mapping[str, float] = field(default_factory=dict)
    """The energy lost in impacts and mode changes, by the elements that changed; their sum is `impulsive` of the books."""
    past: SignalHistory | None = None
    """What delayed signals were, at every step: observing a row needs it. None where nothing is delayed."""
    turns: int = 0
    """How often the variable that swings most has turned back; changes of mode count, too."""
    share: float = 1.0
    """Of the tolerance asked for, with which the run was made, because errors would have added up."""

    @property
    def parts(self) -> list[tuple[NumericModel, slice]]:
        """The model of each stretch with its rows."""
        return rows_of_segments(self.segments, len(self.t))

    @property
    def model(self) -> NumericModel:
        """The model of the first segment."""
        return self.segments[0].model

    @property
    def account(self) -> dict[str, object]:
        """What the run cost, as JSON tells it."""
        return {
            "solver": self.solver,
            "setup_s": self.setup_s,
            "solve_s": self.solve_s,
            "steps": self.steps,
            "rhs_calls": self.rhs_calls,
        }

    @property
    def steps(self) -> int:
        """Accepted steps."""
        return self.effort.steps

    @property
    def rhs_calls(self) -> int:
        """Evaluations of the right-hand side or the residual."""
        return self.effort.rhs_calls

    @property
    def jacobians(self) -> int:
        """Evaluations of the Jacobian."""
        return self.effort.jacobians

    def of(self, name: str) -> Array:
        """The values of one variable of the first segment's model, by name."""
        return self.y[:, self.model.names.index(name)]
