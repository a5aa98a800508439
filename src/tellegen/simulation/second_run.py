"""Does a run keep its tolerance to the end? Errors of steps add up while it swings or grows: a coarser run shows by how much."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.numeric_model import NumericModel
from tellegen.simulation import jobs
from tellegen.simulation.choice import Choice
from tellegen.simulation.stretch import Rows, Settings, StretchEnd

Array = NDArray[np.float64]

TURNS: Final = 10
"""So many turns of one variable leave no doubt that a run swings; before, what adds up is small."""
STIFF_TURNS: Final = 20
"""The same where an implicit solver was chosen, not asked for: what decays fast forgets its errors."""

GROWN: Final = 1000.0
COARSER: Final = 100.0
COARSEST_RTOL: Final = 0.02
FINEST_RTOL: Final = 1e-13
ALLOWED: Final = 6.0
AIM: Final = 3.0
"""Errors in tolerances: what is left alone, and what a finer run aims at. Estimates may be three times off: twenty is promised."""

GROWTH: Final = 2.5
"""Of the error in tolerances from the coarser run to the finer, which takes more steps: two to three on test problems."""

SAME_STEPS: Final = 0.8
UNTOLD: Final = 30.0 * AIM
"""A coarser run with as many steps was limited by stability and shows nothing: one with a thirtieth of the tolerance does."""

MOST_RUNS: Final = 3
MOST_ROWS: Final = 1001


@final
@dataclass(frozen=True)
class Attempt:
    """One way through a run: its stretches, and the solver that was used in the end."""

    ends: list[StretchEnd]
    choice: Choice

    @property
    def turns(self) -> int:
        """How often the variable that swings most has turned back."""
        return max(end.turns for end in self.ends)

    @property
    def steps(self) -> int:
        """Accepted steps."""
        return sum(end.effort.steps for end in self.ends)


Attempting = Callable[[Settings, Rows], Attempt]


def keeping_tolerance(
    model: NumericModel, first: Attempt, attempt: Attempting, settings: Settings, rows: Rows
) -> Attempt:
    """The attempt, or one with a finer tolerance where errors would add up to more than twenty tolerances.

    Left alone are runs that end early, and models with events, samples or delays, where every run meets them at other times.
    """
    if not _may_add_up(model, first, settings, rows):
        return first
    index = np.unique(np.linspace(0, rows.done - 1, min(rows.done, MOST_ROWS)).astype(int))
    before = rows.y[index]
    size = settings.atol + settings.rtol * np.max(np.abs(before), axis=0)
    error = _error_shown_by_coarser(attempt, settings, rows.t[index], before, size, first.steps)
    made, factor = first, 1.0
    for _ in range(MOST_RUNS):
        if error <= ALLOWED or factor * settings.rtol <= FINEST_RTOL:
            break
        finer = max(factor * AIM / error, FINEST_RTOL / settings.rtol)
        made = _again(attempt, _scaled(settings, finer), rows)
        if made.ends[-1].status == jobs.CANCELLED:
            break
        if made.ends[-1].status != jobs.FINISHED:
            return _again(attempt, settings, rows)  # what could be done before can be done again
        now = rows.y[index]
        error = GROWTH * finer / factor * float(np.max(np.abs(now - before) / size))
        before, factor = now, finer
    return made if factor == 1.0 else replace(made, choice=_told(made.choice, first.turns, factor))


def _may_add_up(model: NumericModel, first: Attempt, settings: Settings, rows: Rows) -> bool:
    if model.events or model.sample_groups or model.delays or first.ends[-1].status != jobs.FINISHED:
        return False
    solver, asked = first.choice.solver, first.choice.reason == "asked for"
    least = TURNS if asked or solver == "runge-kutta" else STIFF_TURNS
    return solver in ("runge-kutta", "cvode", "ida") and (first.turns >= least or _grows(settings, rows))


def _grows(settings: Settings, rows: Rows) -> bool:
    """Whether a variable has grown far beyond all that it was in the first half of the run: its errors grow with it."""
    half = rows.y[: rows.done // 2 + 1 : max(1, rows.done // MOST_ROWS)]
    early, late = np.max(np.abs(half), axis=0), np.abs(rows.y[rows.done - 1])
    return bool(np.any(late > GROWN * (early + settings.atol / settings.rtol)))


def _error_shown_by_coarser(
    attempt: Attempting, settings: Settings, times: Array, found: Array, size: Array, steps: int
) -> float:
    """The error of what was found, in tolerances, as far as a coarser run tells; 0 where it does not reach the end."""
    ratio = min(COARSER, COARSEST_RTOL / settings.rtol)
    if ratio < 2.0:
        return 0.0
    rough = Rows.at(times, found.shape[1])
    coarser = attempt(replace(_scaled(settings, ratio), keep_books=False), rough)
    if rough.done < len(times):
        return 0.0
    if coarser.steps > SAME_STEPS * steps:
        return UNTOLD
    return GROWTH / ratio * float(np.max(np.abs(rough.y - found) / size))


def _scaled(settings: Settings, by: float) -> Settings:
    return replace(settings, rtol=by * settings.rtol, atol=by * settings.atol)


def _again(attempt: Attempting, settings: Settings, rows: Rows) -> Attempt:
    rows.done, rows.samples = 0, []
    return attempt(settings, rows)


def _told(choice: Choice, turns: int, factor: float) -> Choice:
    over = f"over {turns // 2} oscillations" if turns > 1 else "where variables grow"
    word = f"tolerance tightened {1.0 / factor:.2g} times, because errors add up {over}"
    return replace(choice, reason=f"{choice.reason}; {word}")
