"""What a run gives back: rows of the variables at the output times, the energy books and an account of the work."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Context
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding
from tellegen.simulation.held_rows import HeldRows

Array = NDArray[np.float64]
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

    @property
    def difference(self) -> float:
        """What is missing from the balance, in joule."""
        came = self.supplied + self.generated + self.modulation
        return self.stored_end - self.stored_start + self.dissipated + self.impulsive - came

    @property
    def handled(self) -> float:
        """The energy that was at stake: the largest entry of the books, or what was stored on the way where that came back."""
        return max(
            abs(self.supplied),
            abs(self.dissipated),
            abs(self.generated),
            abs(self.modulation),
            abs(self.impulsive),
            abs(self.stored_start),
            abs(self.stored_end),
            abs(self.stored_most),
        )

    @property
    def residual(self) -> float:
        """The difference relative to the energy handled; zero where nothing happened."""
        handled = self.handled
        return self.difference / handled if handled > 0.0 else 0.0


@final
@dataclass(frozen=True, slots=True)
class Happening:
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


class TellsPast(Protocol):
    """What delayed signals were."""

    def tie(self, context: Context, /) -> None:
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
    events: tuple[Happening, ...] = ()
    effort: Effort = field(default_factory=Effort)
    setup_s: float = 0.0
    solve_s: float = 0.0
    status: Status = "finished"
    finding: Finding | None = None
    sensitivities: Array | None = None
    """dy/dp: rows, variables, parameters asked for."""
    memory: HeldRows | None = None
    """What was held at each row (sampled signals), None where nothing is: observing a row needs it."""
    losses: Mapping[str, float] = field(default_factory=dict)
    """The energy lost in impacts and mode changes, by the elements that changed; their sum is `impulsive` of the books."""
    past: TellsPast | None = None
    """What delayed signals were, at every step: observing a row needs it. None where nothing is delayed."""
    turns: int = 0
    """How often the variable that swings most has turned back; changes of mode count, too."""

    @property
    def model(self) -> NumericModel:
        """The model of the first segment."""
        return self.segments[0].model

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
