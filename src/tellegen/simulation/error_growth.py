"""How errors follow the tolerance: what a finer run brings, how fine one can be, and what is said when that is not enough."""

from typing import Final

from tellegen.core.errors import Finding
from tellegen.simulation import rules

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
