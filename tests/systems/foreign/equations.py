"""What a system that others described is: its model in a file beside, and its equations by hand, from first principles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Literal, final

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.optimize import root

Array = NDArray[np.float64]
Rates = Callable[[float, Array], Sequence[float] | Array]
HERE = Path(__file__).parent


@final
@dataclass(frozen=True)
class ByHand:
    """Equations on paper: `states` are names of the model, in the order of the vector; a course may jump at `breaks`.

    `also` are further variables of the model by time and vector; `rest` is near a state of rest under the inputs of the end, where
    there is one, `settles` says that it is where a run with constant inputs ends. Where `event` falls
    through zero, `turned` gives the vector behind it.
    """

    name: str
    states: str
    rates: Rates
    start: Sequence[float]
    also: Mapping[str, Callable[[Array, Array], Array]] = field(default_factory=dict)
    breaks: Sequence[float] = ()
    event: Callable[[float, Array], float] | None = None
    turned: Callable[[Array], Sequence[float]] | None = None
    rest: Sequence[float] | None = None
    settles: bool = True
    stiff: bool = False
    scale: float = 1.0

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.yaml"

    @cached_property
    def names(self) -> list[str]:
        return self.states.split()

    def course(self, t: Array, rtol: float = 1e-11) -> dict[str, Array]:
        """The variables at given times, by a method of SciPy, piece by piece between jumps."""
        ends = np.unique([*t, *(b for b in self.breaks if t[0] < b < t[-1])])
        found = {t[0]: np.array(self.start, dtype=float)}
        # Every interval has steps of its own: between steps the formulas of SciPy are less exact than the steps themselves.
        for begin, end in pairwise(ends):
            found[end] = self._interval(begin, end, found[begin], rtol)
        vectors = np.array([found[time] for time in t]).T
        named = {name: row for name, row in zip(self.names, vectors, strict=True) if name != "-"}
        return named | {name: np.asarray(of(t, vectors), dtype=float) for name, of in self.also.items()}

    def _interval(self, begin: float, end: float, y: Array, rtol: float) -> Array:
        # Not one stage of a step may lie on the other side of a jump.
        inner = begin + 1e-12 * (end - begin), end - 1e-12 * (end - begin)

        def rates(time: float, y: Array) -> Array:
            return np.asarray(self.rates(min(max(time, inner[0]), inner[1]), y), dtype=float)

        def falls(time: float, y: Array) -> float:
            return 1.0 if self.event is None else self.event(time, y)

        falls.terminal, falls.direction = True, -1  # type: ignore[attr-defined]
        while True:
            method: Literal["Radau", "DOP853"] = "Radau" if self.stiff else "DOP853"
            solved = solve_ivp(
                rates,
                (begin, end),
                y,
                method,
                events=falls,
                rtol=rtol,
                atol=1e-13 * self.scale,
                first_step=1e-6 * (end - begin),
            )
            assert solved.success, solved.message
            if solved.status == 0:
                return np.asarray(solved.y[:, -1])
            assert self.turned is not None
            assert solved.t_events is not None
            assert solved.y_events is not None
            begin, y = float(solved.t_events[0][0]), np.asarray(self.turned(solved.y_events[0][0]), dtype=np.float64)

    def at_rest(self, t: float) -> Array:
        """The state of rest, by Newton's method."""
        assert self.rest is not None
        size = np.maximum(np.abs(self.rest), 1e-3 * self.scale)

        def missing(z: Array) -> Array:
            return np.asarray(self.rates(t, z * size), dtype=float) / size

        return np.asarray(root(missing, np.array(self.rest) / size, tol=1e-13).x * size)

    def slopes(self, t: float, y: Array) -> Array:
        """The derivatives of the rates by the states, from differences of two widths: errors of fourth order are left."""
        columns = []
        for k in range(len(y)):
            step = np.zeros(len(y))
            step[k] = 1e-4 * max(abs(y[k]), 1e-2 * self.scale)
            one, two = (
                (np.asarray(self.rates(t, y + n * step)) - np.asarray(self.rates(t, y - n * step))) / (2 * n * step[k])
                for n in (1, 2)
            )
            columns.append((4 * one - two) / 3)
        return np.array(columns).T
