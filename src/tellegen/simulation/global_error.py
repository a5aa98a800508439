"""Does a run keep its tolerance to the end? Coarser and finer runs show how far errors of steps add up.

Every run meets changes of mode and impacts at times of its own, a little apart from those of another run: between the two instants
their variables cannot be compared, and such rows are passed over.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Protocol, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding
from tellegen.simulation import rules
from tellegen.simulation.problem import FINEST_RTOL, Problem
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.choice import SolverChoice
from tellegen.simulation.solvers.stretch import RunRows, SolverSettings, StretchEnd
from tellegen.simulation.trajectory import Trajectory

PROMISED: Final = 20.0
"""Errors at the end of a run, in tolerances: beyond this a run says that it has missed its tolerance."""
ALLOWED: Final = 6.0
AIM: Final = 3.0
"""What is left alone, and what a finer run aims at. Estimates may be three times off."""

GROWTH: Final = 2.5
"""Of the error in tolerances from the coarser run to the finer, which takes more steps: two to three on test problems."""

FINEST: Final = {"runge-kutta": 1e-14, "cvode": 1e-14, "ida": 1e-14}
"""Beyond these relative tolerances rounding decides."""
AS_FINE: Final = 1.001
"""A tolerance so many times the finest is the finest, but for rounding."""

LESS_FINE: Final = 3.0
UNSURE: Final = 1.0
"""A run with the finest tolerance is compared with one so many times less fine, where its error seems to be more than this."""

FOLLOWS: Final = {"runge-kutta": 1.0, "cvode": 5.0 / 6.0, "ida": 5.0 / 6.0}
"""The power of the tolerance that errors at the end follow: a step of order five keeps its own error, but steps grow in number."""


def is_finest(solver: str, rtol: float) -> bool:
    """Whether a solver cannot be given a finer tolerance than this."""
    return rtol <= AS_FINE * FINEST[solver]


def finer_share(solver: str, error: float) -> float:
    """The share of the tolerance that brings an error, in tolerances, down to what is aimed at."""
    return float((AIM / error) ** (1.0 / FOLLOWS[solver]))


def error_of_finer(solver: str, share: float, apart: float) -> float:
    """The error of a run with a share of the tolerance of another one, from which it is `apart`; both in the same tolerances."""
    return max(GROWTH * share, GROWTH / 2.0 * float(share ** FOLLOWS[solver])) * apart


def missed_tolerance(solver: str, rtol: float, error: float, name: str) -> Finding | None:
    """A warning where an error, in tolerances, is more than is promised."""
    if error <= PROMISED:
        return None
    better = "" if solver == "runge-kutta" else "let 'auto' choose the solver, or "
    return rules.MISSED_TOLERANCE.finding(
        f"the relative tolerance {rtol:.2g} is not kept: errors add up to about {error * rtol:.1g} of the largest values",
        where=name,
        fix=f"{better}ask for a coarser tolerance, or for a shorter run",
    )


TURNS: Final = 3
"""From so many turns of one variable on errors are looked at: an orbit that passes close to its centre magnifies them each time."""
EARLY_TURNS: Final = 10
"""So many leave no doubt that a run swings on: it is looked at before its end."""
STIFF_TURNS: Final = 20
FINE_RTOL: Final = 1e-9
"""The same where an implicit solver was chosen for a linear model, not asked for: what decays fast forgets its errors. At
tolerances finer than this errors of its many steps add up sooner."""

GROWN: Final = 1000.0
COARSER: Final = 100.0
COARSEST_RTOL: Final = 0.02
MORE_STEPS: Final = 100
ANYWAY_STEPS: Final = 500
"""A finer run that takes so many times the steps, and a few, is given up."""

SAME_STEPS: Final = 0.8
HELD_BACK: Final = 3.0
UNTOLD: Final = 30.0 * AIM
"""A coarser run that fails shows nothing, and none does whose steps are as many, or not many times as many as the longest step asks
for: one with a thirtieth of the tolerance does."""

EARLY: Final = 0.125
"""The share of a run after which one that swings is looked at, so that a tolerance that will not do is given up soon."""
EARLY_ROWS: Final = 5
HOPELESS: Final = 2.0 * ALLOWED
"""Errors that grow with time to so many tolerances, judging by that share, ask for a finer run at once."""

AIM_AT_ONCE: Final = 0.3
"""What a finer run aims at then: an early estimate is rough, and another run costs more than a third more steps."""

LOOKS: Final = (0.25, 0.5, 1.0)
"""The shares of a run after which a coarser one is looked at: one that has lost its phase need not go on."""
ENOUGH: Final = 0.5
SMALL: Final = 0.25 * ALLOWED
FASTER: Final = 1.5
"""Nor need one go on from here that shows small errors at the end, where no variable changes so many times faster later on."""

PHASE_LOST: Final = 0.1
"""The share of a variable beyond which a difference says nothing of how errors grow: they cannot exceed the swing."""
LOST: Final = 1000.0 * AIM
"""What is taken for the error of a run that has lost the one before it: on one attractor two runs are no farther apart, however
wrong both are. The next one is a thousand times finer."""
BESIDE: Final = 30.0
"""A run whose error no other one tells is compared with one so many times less fine, at half of its cost."""

MOST_RUNS: Final = 5
MOST_ROWS: Final = 1001


@final
@dataclass(frozen=True)
class Attempt:
    """One way through a run: its stretches, and the solver that was used in the end."""

    ends: list[StretchEnd]
    choice: SolverChoice
    error: float = 0.0
    """At the end, in the tolerances asked for, as far as it is known to be large."""
    share: float = 1.0
    """Of the tolerance asked for, with which it was made."""

    @property
    def turns(self) -> int:
        """How often the variable that swings most has turned back."""
        return max(end.turns for end in self.ends)

    @property
    def steps(self) -> int:
        """Accepted steps."""
        return sum(end.effort.steps for end in self.ends)


class AttemptFunction(Protocol):
    """Goes from the start, or from where an attempt paused, to the end of the run, or to another time."""

    def __call__(
        self, settings: SolverSettings, rows: RunRows, /, *, until: float | None = None, after: Attempt | None = None
    ) -> Attempt:
        """The way that was gone; its rows are written."""
        ...


def run_within_tolerance(
    model: NumericModel, attempt: AttemptFunction, settings: SolverSettings, rows: RunRows, solver: str
) -> Attempt:
    """A run at the tolerance asked for, or at a finer one where errors would add up to more than twenty tolerances.

    An explicit run that swings is looked at early, so that a tolerance that will not do is given up soon. Left alone are runs that
    end early, and models with samples or delays, whose runs are compared as a whole.
    """
    # Most runs end with this: only one that swings or grows is compared with another.
    first = attempt(_pausing(model, settings, rows, solver), rows)
    # Nothing is run here yet; it is made once, so that the early look and the late one share its way.
    coarser = _Coarser(attempt, settings, rows)
    if first.ends[-1].status == jobs.PAUSED:
        try:
            expected = _expected_at_end(coarser, settings, rows, first)
        except _CancelledError:
            *others, last = first.ends
            return replace(first, ends=[*others, replace(last, status=jobs.CANCELLED)])
        # Ending what will not do saves seven eighths of its cost.
        if expected > HOPELESS:
            return _finer_at_once(attempt, coarser, settings, rows, first, expected)
        # Good so far: it goes on from the pause, at no loss.
        first = attempt(settings, rows, after=first)
    if not _may_add_up(model, first, settings, rows):
        return first
    try:
        error = coarser.error_of(settings, rows, first)
    except _CancelledError:
        return first
    return _corrected(attempt, settings, rows, first, 1.0, error)


def compared_rows(count: int) -> NDArray[np.int64]:
    """Of so many rows, some that are enough to compare runs by."""
    if count <= MOST_ROWS:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MOST_ROWS).astype(np.int64))


def _corrected(
    attempt: AttemptFunction, settings: SolverSettings, rows: RunRows, made: Attempt, factor: float, error: float
) -> Attempt:
    """What was made with `factor` times the tolerance, or a finer run where its error is too large; both in tolerances."""
    turns, index = made.turns, compared_rows(rows.done)
    before = rows.y[index]
    size = _size(settings, before)
    solver = made.choice.solver
    # A finer run that meets a singular motion may take steps without end.
    most = min(settings.max_steps, MORE_STEPS * (made.steps + ANYWAY_STEPS))
    for _ in range(MOST_RUNS):
        if error <= ALLOWED or is_finest(solver, factor * settings.rtol):
            break
        finer = _finer(settings, solver, factor * finer_share(solver, error))
        made = _again(attempt, replace(_settings_scaled(settings, finer), max_steps=most), rows)
        if made.ends[-1].status == jobs.CANCELLED:
            return made
        if made.ends[-1].status != jobs.FINISHED:
            made = _again(
                attempt, _settings_scaled(settings, factor), rows
            )  # what could be done before can be done again
            break
        now = rows.y[index]
        # Judged by the run before, not by the coarser one: how far two runs are apart shows whether errors fall at all.
        lost = _have_parted(now, before, size)
        error = LOST if lost else error_of_finer(solver, finer / factor, float(np.max(np.abs(now - before) / size)))
        before, factor = now, finer
        # The rule says how errors fall with the tolerance; at the finest one rounding decides, and they may not.
        if error > UNSURE and is_finest(solver, factor * settings.rtol):
            error = _error_of_finest(attempt, _settings_scaled(settings, LESS_FINE * factor), rows, size)
    made = replace(made, error=0.0 if error == UNTOLD else error)
    return made if factor == 1.0 else _told(made, turns, factor)


def _have_parted(one: Array, other: Array, size: Array) -> bool:
    """Whether two runs are so far apart somewhere on the way that how far says nothing of their errors."""
    return bool(np.any(np.abs(one - other) > PHASE_LOST * np.max(np.abs(one), axis=0) + size))


def _error_of_finest(attempt: AttemptFunction, settings: SolverSettings, rows: RunRows, size: Array) -> float:
    """The error in tolerances where no run can be finer: how far one that is a little less fine is apart.

    A far coarser one tells nothing here, where rounding decides.
    """
    _, index, beside = _run_beside(attempt, settings, rows)
    return float(np.max(np.abs(beside - rows.y[index]) / size, initial=0.0))


def _error_beside(attempt: AttemptFunction, settings: SolverSettings, rows: RunRows, size: Array) -> float:
    """The error in tolerances of what was made with these settings, as one that is less fine all the way shows."""
    made, index, beside = _run_beside(attempt, _settings_scaled(settings, BESIDE), rows)
    if made.ends[-1].status == jobs.CANCELLED:
        raise _CancelledError
    if len(index) < len(compared_rows(rows.done)) or _have_parted(rows.y[index], beside, size):
        return LOST
    return GROWTH / BESIDE * float(np.max(np.abs(beside - rows.y[index]) / size, initial=0.0))


def _run_beside(
    attempt: AttemptFunction, settings: SolverSettings, rows: RunRows
) -> tuple[Attempt, NDArray[np.int64], Array]:
    """A run with other settings, at some of the rows, as far as it came."""
    index = compared_rows(rows.done)
    beside = RunRows.at(rows.t[index], rows.y.shape[1])
    made = attempt(replace(settings, keep_books=False), beside)
    return made, index[: beside.done], beside.y[: beside.done]


# -- looking at a run early ----------------------------------------------------------------------------------------------------


def _pausing(model: NumericModel, settings: SolverSettings, rows: RunRows, solver: str) -> SolverSettings:
    """The settings of a first attempt, which pauses early where it swings and there are rows to judge by."""
    if solver != "runge-kutta" or has_memory(model):
        return settings
    # A run can be judged at its rows only: with few of them it is left until its end.
    early = int(np.searchsorted(rows.t, rows.t[0] + EARLY * (rows.t[-1] - rows.t[0])))
    if early < EARLY_ROWS:
        return settings
    return replace(settings, pause_at=float(rows.t[early]), pause_turns=EARLY_TURNS)


def _expected_at_end(coarser: "_Coarser", settings: SolverSettings, rows: RunRows, paused: Attempt) -> float:
    """The error at the end in tolerances, if it grows with time as it did up to the pause."""
    error = coarser.error_of(settings, rows, paused, paused.ends[-1].standing.t)
    return error * float((rows.t[-1] - rows.t[0]) / (rows.t[rows.done - 1] - rows.t[0]))


def _finer_at_once(
    attempt: AttemptFunction,
    coarser: "_Coarser",
    settings: SolverSettings,
    rows: RunRows,
    paused: Attempt,
    expected: float,
) -> Attempt:
    """A finer run in place of one that was paused; how its error grows after the pause shows in a coarser run."""
    factor = _finer(settings, "runge-kutta", AIM_AT_ONCE / expected)
    # Rows of the run that is given up: their difference from the finer one is its error so far.
    count, index = rows.done, compared_rows(rows.done)
    early = rows.y[index]
    made = _again(attempt, _settings_scaled(settings, factor), rows)
    if made.ends[-1].status == jobs.CANCELLED:
        return made
    if made.ends[-1].status != jobs.FINISHED:
        return _again(attempt, settings, rows)
    size = _size(settings, rows.y[compared_rows(rows.done)])
    shown = GROWTH * float(np.max(np.abs(rows.y[index] - early) / size))
    error = factor * max(shown, expected * EARLY)  # two estimates: errors that happen to cancel fool one of them
    try:
        growth = _growth_after(coarser, rows, count, size, error)
        # Nothing was seen of the rest: in a chaotic motion errors grow by a factor in each turn, and no power of time tells.
        error = (
            _error_beside(attempt, _settings_scaled(settings, factor), rows, size) if growth is None else error * growth
        )
    except _CancelledError:
        return made
    return _corrected(attempt, settings, rows, made, factor, error)


def _growth_after(coarser: "_Coarser", rows: RunRows, early: int, size: Array, error: float) -> float | None:
    """How many times larger errors are at the end than among the first rows, where they are `error`, as a coarser run shows.

    None where that has lost its phase: it shows no more.
    """
    whole, rough, found = float(rows.t[-1] - rows.t[0]), coarser.rows, rows.y[coarser.index]
    swing = np.max(np.abs(found), axis=0) + size
    early = int(np.searchsorted(coarser.index, early))
    # Step by step: where the coarser run has lost its phase early, the rest of it would tell nothing.
    for share in LOOKS:
        coarser.go_on(float(rows.t[0] + share * whole) if share < 1.0 else None)
        off = np.abs(rough.y[: rough.done] - found[: rough.done])
        if np.any(off > PHASE_LOST * swing):
            return None
        growth = _extrapolated(rough.t[: rough.done] - rough.t[0], off / size, early, len(off) - 1, whole)
        if share >= ENOUGH and error * growth <= SMALL and _goes_on_alike(rows, share):
            break
    return growth


def _goes_on_alike(rows: RunRows, share: float) -> bool:
    """Whether no variable changes much faster after a share of the run than before."""
    index = compared_rows(rows.done)
    half = int(np.searchsorted(rows.t[index], rows.t[0] + share * (rows.t[-1] - rows.t[0])))
    # What moves faster later may lose more there than the look has shown.
    early, late = (np.max(np.abs(rows.yp[part]), axis=0, initial=0.0) for part in (index[:half], index[half:]))
    return bool(np.all(late <= FASTER * early))


def _extrapolated(passed: Array, off: Array, early: int, last: int, whole: float) -> float:
    """The growth of errors over the whole run from the first rows on, judging by rows up to the last that tells something."""
    # Too little to see how errors grow: then by the square of time, as those of a phase may.
    if last < early or passed[last] < 2.0 * passed[early - 1]:
        return float((whole / passed[early - 1]) ** 2)
    # The largest so far: the error of a swing passes through zero twice a period.
    errors = np.maximum.accumulate(np.max(off, axis=1))
    growth = float(errors[last] / max(float(errors[early - 1]), 1e-300))
    # Between linear and cubic: a power fitted to few points may be anything.
    power = float(np.clip(np.log(growth) / np.log(passed[last] / passed[early - 1]), 1.0, 3.0))
    return float(growth * (whole / float(passed[last])) ** power)


# -- estimates ---------------------------------------------------------------------------------------------------------------


def _may_add_up(model: NumericModel, first: Attempt, settings: SolverSettings, rows: RunRows) -> bool:
    if has_memory(model) or first.ends[-1].status != jobs.FINISHED:
        return False
    solver, least = first.choice.solver, fewest_oscillations(first.choice.solver, first.choice.reason, settings.rtol)
    if solver not in FINEST:
        return False
    return first.turns >= least or _may_magnify(solver, model) or _grows(settings, rows)


def _may_magnify(solver: str, model: NumericModel) -> bool:
    """Whether errors of a stiff run may grow where nothing turns: on leaving a steep part of a law.

    A storage that has been charged along a steep law, such as an exponential or a saturated coil, keeps an error of its charge when
    the law gets flat: there it is an error of its voltage as many times larger as the slopes differ. No books show it.
    """
    return solver != "runge-kutta" and not model.linear


def fewest_oscillations(solver: str, reason: str, rtol: float) -> int:
    """From how many turns of one variable on errors of a run are looked at."""
    return TURNS if solver == "runge-kutta" or reason == "asked for" or rtol < FINE_RTOL else STIFF_TURNS


def has_memory(model: NumericModel) -> bool:
    """Whether a run leaves more than where it stands: what is sampled, and the past of what is delayed."""
    return bool(model.sample_groups or model.delays)


def _grows(settings: SolverSettings, rows: RunRows) -> bool:
    """Whether a variable has grown far beyond all that it was in the first half of the run: its errors grow with it."""
    # Some rows are enough: it is a question of powers of ten.
    half = rows.y[: rows.done // 2 + 1 : max(1, rows.done // MOST_ROWS)]
    early, late = np.max(np.abs(half), axis=0), np.abs(rows.y[rows.done - 1])
    return bool(np.any(late > GROWN * (early + settings.atol / settings.rtol)))


class _CancelledError(Exception):
    """Somebody stopped a run to compare with, and so the whole."""


@final
class _Coarser:
    """A coarser run to compare with. It goes as far as it is asked to, and goes on from there: nothing is computed twice."""

    def __init__(self, attempt: AttemptFunction, settings: SolverSettings, rows: RunRows) -> None:
        self._attempt, self._asked, self._of = attempt, settings, rows
        self._made: Attempt | None = None

    @cached_property
    def index(self) -> NDArray[np.int64]:
        """Which rows of the run that it is compared with: some of the first ones, some of all."""
        times = self._of.t
        if len(times) <= MOST_ROWS:
            return compared_rows(len(times))
        # Enough of the first ones too, for the early look compares these alone.
        early = int(np.searchsorted(times, times[0] + EARLY * (times[-1] - times[0]))) + 1
        return np.union1d(compared_rows(early), compared_rows(len(times)))

    @cached_property
    def rows(self) -> RunRows:
        """Its own rows."""
        return RunRows.at(self._of.t[self.index], self._of.y.shape[1])

    @cached_property
    def _settings(self) -> SolverSettings:
        by = min(COARSER, COARSEST_RTOL / self._asked.rtol)
        return replace(_settings_scaled(self._asked, by), keep_books=False)

    def go_on(self, until: float | None = None) -> Attempt:
        """The run up to a time, or to its end."""
        if self._made is None or self._made.ends[-1].status == jobs.FINISHED:
            self._made = self._attempt(self._settings, self.rows, until=until, after=self._made)
        if self._made.ends[-1].status == jobs.CANCELLED:
            raise _CancelledError
        return self._made

    def _is_held_back(self, made: Attempt) -> bool:
        """Whether a longest step, and not the tolerance, decides many of its steps: it is better than its tolerance says."""
        passed = made.ends[-1].standing.t - float(self._of.t[0])
        return made.steps * self._settings.max_step < HELD_BACK * passed

    def error_of(self, settings: SolverSettings, found: RunRows, of: Attempt, until: float | None = None) -> float:
        """The error of what was found, in tolerances, as far as this run tells."""
        ratio = self._settings.rtol / settings.rtol
        # A run asked for at nearly the coarsest tolerance has no coarser one to be compared with.
        if ratio < 2.0:
            return 0.0
        made = self.go_on(until)
        index = self.index[self.index < found.done]
        if self.rows.done < len(index) or made.steps > SAME_STEPS * of.steps or self._is_held_back(made):
            return UNTOLD
        y = found.y[index]
        apart = float(np.max(np.abs(self.rows.y[: len(index)] - y) / _size(settings, y)))
        # Another solver may be the better one at a coarser tolerance: then all of the difference is an error of what was found.
        return GROWTH / ratio * apart if made.choice.solver == of.choice.solver else min(apart, UNTOLD)


def _size(settings: SolverSettings, found: Array) -> Array:
    """One tolerance of each variable."""
    size: Array = settings.atol + settings.rtol * np.max(np.abs(found), axis=0)
    return size


def _finer(settings: SolverSettings, solver: str, factor: float) -> float:
    return max(factor, FINEST[solver] / settings.rtol)


def _settings_scaled(settings: SolverSettings, by: float) -> SolverSettings:
    return replace(settings, rtol=by * settings.rtol, atol=by * settings.atol)


def _again(attempt: AttemptFunction, settings: SolverSettings, rows: RunRows) -> Attempt:
    rows.done, rows.samples = 0, []
    return attempt(settings, rows)


def _told(made: Attempt, turns: int, factor: float) -> Attempt:
    over = f"over {turns // 2} oscillations" if turns > TURNS else "where small errors grow"
    told = replace(made.choice, reason=tightened(made.choice.reason, over, factor))
    return replace(made, choice=told, share=factor)


def tightened(reason: str, over: str, factor: float) -> str:
    """The reason for a solver, and that it was given a share of the tolerance."""
    return f"{reason}; tolerance tightened {1.0 / factor:.2g} times, because errors add up {over}"


Integrate = Callable[[Problem], Trajectory]

MORE_STEPS_DELAYED: Final = 10
"""A finer run with delays that takes so many times the steps is given up."""
MANY_EVENTS: Final = 500
"""Runs with more events than this are looked at early: where errors stay small up to there, that is all."""
FINER: Final = 1.0 / 30.0
"""The share of the tolerance of a run to compare with, where a coarser one fails or takes as many steps."""
NO_FINER: Final = 0.5
"""Such a share tells nothing."""
CHAOTIC: Final = 20.0
"""Errors of a phase grow with a small power of time: where the second half of the first part shows so many times those of the first
half, the rest is looked at."""


def whole_run_within_tolerance(problem: Problem, integrate: Integrate) -> Trajectory:
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
    if not _whole_run_may_add_up(made, problem.rtol):
        return made
    # Before the run is let go: its rows may fill the memory.
    over, times = _over(made), problem.output_times(compared_rows)
    runs = _Runs(problem, integrate, times, _compared_part(times, made), _sizes(problem, made), len(made.events))
    error, factor, seen = runs.first_error(), 1.0, runs.first
    solver, more = made.solver, MORE_STEPS_DELAYED if problem.model.delays else MORE_STEPS
    most = min(problem.max_steps, more * (runs.first.steps + MANY_EVENTS))
    for _ in range(MOST_RUNS):
        if error <= ALLOWED or is_finest(solver, factor * problem.rtol):
            break
        aimed = finer_share(solver, error * (AIM / AIM_AT_ONCE if runs.seen_early and factor == 1.0 else 1.0))
        finer = max(factor * aimed, FINEST[solver] / problem.rtol)
        del made  # the rows of one run at a time
        made = integrate(replace(_with_tolerances_scaled(problem, finer), max_steps=most))
        if made.status == "failed":
            made = integrate(_with_tolerances_scaled(problem, factor))  # what could be done before can be done again
            break
        if made.status == "cancelled":
            return made
        now = _compared_part(times, made)
        apart = runs.difference(now, seen)
        error = LOST if runs.have_parted(now, seen) else error_of_finer(solver, finer / factor, apart)
        seen, factor = now, finer
        if error > UNSURE and is_finest(solver, factor * problem.rtol):
            error = runs.error_of_finest(seen, LESS_FINE * factor)
    if made.finding is None:
        made = replace(made, finding=missed_tolerance(solver, problem.rtol, error, made.model.name))
    return made if factor == 1.0 else replace(made, reason=tightened(made.reason, over, factor), share=factor)


def _over(first: Trajectory) -> str:
    events = sum(1 for event in first.events if event.element)
    return f"over {events} events" if events else f"over {first.turns // 2} oscillations"


def _whole_run_may_add_up(first: Trajectory, rtol: float) -> bool:
    if first.status != "finished" or first.solver not in FINEST:
        return False
    if first.turns >= fewest_oscillations(first.solver, first.reason, rtol):
        return True
    return any(_may_magnify(first.solver, segment.model) for segment in first.segments)


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


def _compared_part(times: Array, run: Trajectory) -> _Seen:
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
        if not self.seen_early:
            return self._error_up_to(1.0)[0]
        error, before = self._error_up_to(EARLY)
        # What grows faster than any error of a phase does not stay small because it is.
        return self._error_up_to(1.0)[0] if error > CHAOTIC * before else error / EARLY

    def _error_up_to(self, share: float) -> tuple[float, float]:
        """The error in tolerances up to a share of the run, and up to half of that, as a coarser run shows, or a finer one where
        that tells nothing.
        """
        by = min(COARSER, COARSEST_RTOL / self.problem.rtol)
        until = self.problem.t0 + share * (self.problem.until - self.problem.t0)
        # The cheap way first: a coarser run costs a third to a half of the steps.
        rough = self._compared(by, until)
        # With as many steps it is not coarser at all: something else than the tolerance decides them.
        if rough.status == "finished" and rough.steps <= SAME_STEPS * share * self.first.steps:
            return GROWTH / by * self.difference(rough, self.first), GROWTH / by * self.difference(
                rough, self.first, 0.5
            )
        finer = max(FINER, FINEST_RTOL / self.problem.rtol)
        if finer > NO_FINER:
            return 0.0, 0.0
        # Who has cancelled the run does not want another one.
        fine = rough if rough.status == "cancelled" else self._compared(finer, until)
        if fine.status != "finished":
            return 0.0, 0.0
        return self.difference(fine, self.first), self.difference(fine, self.first, 0.5)

    def error_of_finest(self, found: _Seen, by: float) -> float:
        """The error in tolerances where no run can be finer: how far one that is a little less fine is apart."""
        return self.difference(self._compared(by, self.problem.until), found)

    def _compared(self, by: float, until: float) -> _Seen:
        asked = replace(_with_tolerances_scaled(self.problem, by), until=until, times=self.times[self.times <= until])
        return _compared_part(self.times, self.integrate(replace(asked, books=False, rows_at_changes=False)))

    def difference(self, one: _Seen, other: _Seen, share: float = 1.0) -> float:
        """How far two runs are apart at most, in tolerances, in a share of the rows that both have."""
        count = int(share * min(len(one.t), len(other.t)))
        return max((float(np.max(off)) for _, off in self._apart(one, other, count)), default=0.0)

    def have_parted(self, one: _Seen, other: _Seen) -> bool:
        """Whether two runs are so far apart somewhere on the way that how far says nothing of their errors."""
        # A tolerance of each variable, and the part of the largest value in it.
        most = {
            name: 1.0 + PHASE_LOST * (1.0 - self.problem.absolute_tolerance(name) / size) / self.problem.rtol
            for name, size in self.size.items()
        }
        count = min(len(one.t), len(other.t))
        return any(
            bool(np.any(off > [most.get(name, np.inf) for name in names]))
            for names, off in self._apart(one, other, count)
        )

    def _apart(self, one: _Seen, other: _Seen, count: int) -> Iterator[tuple[tuple[str, ...], Array]]:
        """How far two runs are apart in each variable, in tolerances, at rows where they are in the same mode."""
        for k in np.flatnonzero(_agree(one, other, one.t[:count])):
            names = one.names[k]
            # In another mode y holds other variables.
            if names and names == other.names[k]:
                # Modes that the first run has not met have no sizes.
                size = np.array([self.size.get(name, np.inf) for name in names])
                yield names, np.abs(one.y[k, : len(names)] - other.y[k, : len(names)]) / size


def _agree(one: _Seen, other: _Seen, times: Array) -> NDArray[np.bool_]:
    """Whether both runs stand between the same two events at a time, or none of them is near one."""
    # One row to either side: two runs meet the same event at slightly different times.
    aside = float(np.max(np.diff(times), initial=0.0))
    quiet = np.ones(len(times), dtype=np.bool_)
    for events in (one.events, other.events):
        quiet &= np.searchsorted(events, times - aside) == np.searchsorted(events, times + aside, side="right")
    return np.asarray((np.searchsorted(one.events, times) == np.searchsorted(other.events, times)) | quiet)


def _sizes(problem: Problem, run: Trajectory) -> dict[str, float]:
    """One tolerance of each variable: beside the largest value that it has."""
    largest: dict[str, float] = {}
    for model, rows in run.parts:
        values = run.y[rows, : model.size]
        # Without a copy of absolute values: rows may fill the memory.
        most = np.maximum(np.max(values, axis=0, initial=0.0), -np.min(values, axis=0, initial=0.0))
        for name, value in zip(model.names, most.tolist(), strict=True):
            largest[name] = max(value, largest.get(name, 0.0))
    return {name: problem.absolute_tolerance(name) + problem.rtol * value for name, value in largest.items()}


def _with_tolerances_scaled(problem: Problem, by: float) -> Problem:
    """The same problem with all tolerances multiplied."""
    if isinstance(problem.atol, float | int):
        return replace(problem, rtol=by * problem.rtol, atol=by * problem.atol)
    atol = None if problem.atol is None else {name: by * value for name, value in problem.atol.items()}
    return replace(problem, rtol=by * problem.rtol, atol=atol)
