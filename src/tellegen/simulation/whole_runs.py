"""Runs with modes, samples or delays keep their tolerance, too: whole runs at other tolerances show how far errors add up.

Every run meets changes of mode and impacts at times of its own, a little apart from those of another run: between the two instants
their variables cannot be compared, and such rows are passed over.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.simulation.error_growth import (
    AIM,
    ALLOWED,
    FINEST,
    GROWTH,
    LESS_FINE,
    UNSURE,
    error_of_finer,
    finer_share,
    is_finest,
    missed_tolerance,
)
from tellegen.simulation.problem import FINEST_RTOL, Problem
from tellegen.simulation.second_run import (
    AIM_AT_ONCE,
    COARSER,
    COARSEST_RTOL,
    EARLY,
    MORE_STEPS,
    MOST_RUNS,
    SAME_STEPS,
    compared_rows,
    least_turns,
    tightened,
)
from tellegen.simulation.trajectory import Trajectory

Array = NDArray[np.float64]
Integrate = Callable[[Problem], Trajectory]

MORE_STEPS_DELAYED: Final = 10
"""A finer run with delays that takes so many times the steps is given up."""
MANY_EVENTS: Final = 500
"""Runs with more events than this are looked at early: where errors stay small up to there, that is all."""
FINER: Final = 1.0 / 30.0
"""The share of the tolerance of a run to compare with, where a coarser one fails or takes as many steps."""
NO_FINER: Final = 0.5
"""Such a share tells nothing."""


def keeping_tolerance_throughout(problem: Problem, integrate: Integrate) -> Trajectory:
    """A run at the tolerance asked for, or at a finer one where errors would add up to more than twenty tolerances.

    `integrate` makes one run from the start to the end. Runs that end early are left alone. Set-up is what comes before the first
    step of the first run; all that follows, other runs included, is solving.
    """
    setups, seconds = list[float](), 0.0

    def timed(asked: Problem) -> Trajectory:
        nonlocal seconds
        made = integrate(asked)
        setups.append(made.setup_s)
        seconds += made.setup_s + made.solve_s
        return made

    made = _kept(problem, timed)
    return replace(made, setup_s=setups[0], solve_s=seconds - setups[0])


def _kept(problem: Problem, integrate: Integrate) -> Trajectory:
    made = integrate(problem)
    if not _may_add_up(made, problem.rtol):
        return made
    over, times = _over(made), _times(problem)
    runs = _Runs(problem, integrate, times, _seen(times, made), _sizes(problem, made), len(made.events))
    error, factor, seen = runs.first_error(), 1.0, runs.first
    solver, more = made.solver, MORE_STEPS_DELAYED if problem.model.delays else MORE_STEPS
    most = min(problem.max_steps, more * (runs.first.steps + MANY_EVENTS))
    for _ in range(MOST_RUNS):
        if error <= ALLOWED or is_finest(solver, factor * problem.rtol):
            break
        aimed = finer_share(solver, error * (AIM / AIM_AT_ONCE if runs.seen_early and factor == 1.0 else 1.0))
        finer = max(factor * aimed, FINEST[solver] / problem.rtol)
        del made  # the rows of one run at a time
        made = integrate(replace(_scaled(problem, finer), max_steps=most))
        if made.status == "failed":
            made = integrate(_scaled(problem, factor))  # what could be done before can be done again
            break
        if made.status == "cancelled":
            return made
        now = _seen(times, made)
        error = error_of_finer(solver, finer / factor, runs.difference(now, seen))
        seen, factor = now, finer
        if error > UNSURE and is_finest(solver, factor * problem.rtol):
            error = runs.error_of_finest(seen, LESS_FINE * factor)
    if made.finding is None:
        made = replace(made, finding=missed_tolerance(solver, problem.rtol, error, made.model.name))
    return made if factor == 1.0 else replace(made, reason=tightened(made.reason, over, factor))


def _over(first: Trajectory) -> str:
    events = sum(1 for event in first.events if event.element)
    return f"over {events} events" if events else f"over {first.turns // 2} oscillations"


def _may_add_up(first: Trajectory, rtol: float) -> bool:
    if first.status != "finished" or first.solver not in ("runge-kutta", "cvode", "ida"):
        return False
    return first.turns >= least_turns(first.solver, first.reason, rtol)


@final
@dataclass(frozen=True)
class _Seen:
    """What is compared of a run: some of its rows, which variables it has there, and when elements had events."""

    t: Array
    y: Array
    names: list[tuple[str, ...]]
    events: Array
    steps: int
    status: str


def _times(problem: Problem) -> Array:
    return problem.output_times(compared_rows)


def _seen(times: Array, run: Trajectory) -> _Seen:
    times = times[times <= run.t[-1]] if len(run.t) else times[:0]
    rows = np.searchsorted(run.t, times)
    starts = [segment.start for segment in run.segments]
    names = [run.segments[k].model.names for k in np.searchsorted(starts, rows, side="right") - 1]
    events = np.array([event.t for event in run.events if event.element])
    return _Seen(times, run.y[rows], names, events, run.steps, run.status)


@final
@dataclass(frozen=True)
class _Runs:
    """A run, and coarser ones to compare with at `times`; `size` is one tolerance of each variable."""

    problem: Problem
    integrate: Integrate
    times: Array
    first: _Seen
    size: Mapping[str, float]
    events: int

    @property
    def seen_early(self) -> bool:
        """Whether only the first part of the run is compared: what that shows of its end is rough."""
        return self.events > MANY_EVENTS

    def first_error(self) -> float:
        """The error of the first run in tolerances; of one with many events, if it grows with time as it does in its first part."""
        share = EARLY if self.seen_early else 1.0
        return self._error_up_to(self.problem.t0 + share * (self.problem.until - self.problem.t0), share) / share

    def _error_up_to(self, until: float, share: float) -> float:
        """The error in tolerances up to a time, as a coarser run shows, or a finer one where that tells nothing."""
        by = min(COARSER, COARSEST_RTOL / self.problem.rtol)
        rough = self._compared(by, until)
        if rough.status == "finished" and rough.steps <= SAME_STEPS * share * self.first.steps:
            return GROWTH / by * self.difference(rough, self.first)
        finer = max(FINER, FINEST_RTOL / self.problem.rtol)
        if finer > NO_FINER:
            return 0.0
        fine = rough if rough.status == "cancelled" else self._compared(finer, until)
        return self.difference(fine, self.first) if fine.status == "finished" else 0.0

    def error_of_finest(self, found: _Seen, by: float) -> float:
        """The error in tolerances where no run can be finer: how far one that is a little less fine is apart."""
        return self.difference(self._compared(by, self.problem.until), found)

    def _compared(self, by: float, until: float) -> _Seen:
        asked = replace(_scaled(self.problem, by), until=until, times=self.times[self.times <= until])
        return _seen(self.times, self.integrate(replace(asked, books=False, rows_at_changes=False)))

    def difference(self, one: _Seen, other: _Seen) -> float:
        """How far two runs are apart at most, in tolerances."""
        count, most = min(len(one.t), len(other.t)), 0.0
        for k in np.flatnonzero(_agree(one, other, one.t[:count])):
            names = one.names[k]
            if names == other.names[k]:
                off = np.abs(one.y[k, : len(names)] - other.y[k, : len(names)])
                size = np.array(
                    [self.size.get(name, np.inf) for name in names]
                )  # none of modes that the first run has not met
                most = max(most, float(np.max(off / size, initial=0.0)))
        return most


def _agree(one: _Seen, other: _Seen, times: Array) -> NDArray[np.bool_]:
    """Whether both runs stand between the same two events at a time, or none of them is near one."""
    aside = float(np.max(np.diff(times), initial=0.0))
    quiet = np.ones(len(times), dtype=np.bool_)
    for events in (one.events, other.events):
        quiet &= np.searchsorted(events, times - aside) == np.searchsorted(events, times + aside, side="right")
    return np.asarray((np.searchsorted(one.events, times) == np.searchsorted(other.events, times)) | quiet)


def _sizes(problem: Problem, run: Trajectory) -> dict[str, float]:
    """One tolerance of each variable: beside the largest value that it has."""
    largest: dict[str, float] = {}
    stops = [*(segment.start for segment in run.segments[1:]), len(run.t)]
    for segment, stop in zip(run.segments, stops, strict=True):
        values = run.y[segment.start : stop, : segment.model.size]
        most = np.maximum(np.max(values, axis=0, initial=0.0), -np.min(values, axis=0, initial=0.0))
        for name, value in zip(segment.model.names, most.tolist(), strict=True):
            largest[name] = max(value, largest.get(name, 0.0))
    return {name: problem.absolute_tolerance(name) + problem.rtol * value for name, value in largest.items()}


def _scaled(problem: Problem, by: float) -> Problem:
    """The same problem with all tolerances multiplied."""
    if isinstance(problem.atol, float | int):
        return replace(problem, rtol=by * problem.rtol, atol=by * problem.atol)
    atol = None if problem.atol is None else {name: by * value for name, value in problem.atol.items()}
    return replace(problem, rtol=by * problem.rtol, atol=atol)
