"""When energy books are open: where they miss more than errors of steps and tolerances explain.

A capacitor that rests at its source for days takes a current of a thousandth of its tolerance all the time, and that adds up. So
what books miss is compared with what powers change by where every variable is off by its tolerance, for as long as the run lasts.
That counts only where laws keep the balance, at every row that is looked at: no tolerance excuses a law that loses energy.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from tellegen.compiler.context import Array, ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.core.errors import Finding
from tellegen.simulation import rules
from tellegen.simulation.global_error import has_memory
from tellegen.simulation.trajectory import Books

CLOSED: Final = 1e-6
CLOSED_TOLERANCES: Final = 1000.0
"""Books are open when they miss this share of the energy, and so many tolerances: errors of steps add up in them."""
THERMAL_ENERGY: Final = 4e-21
"""In J, k T at room temperature: less than this is at play in a part that rests, and books of it say nothing."""

MOST_POINTS: Final = 100
FEWEST_ROWS: Final = 30
"""From fewer rows nothing is known of most of the run: they excuse no gap."""
BALANCED: Final = 1e-3
"""Laws keep the balance where powers and the change of what is stored differ by no more than this share of them."""
SHORT: Final = 1e-3
"""The share of a variable by which it moves while the stored energy is watched."""


@final
@dataclass(frozen=True)
class ModelRows:
    """Rows of one model: times, variables and rates; and its tolerances."""

    model: NumericModel
    context: ModelContext
    atol: Array
    t: Array
    y: Array
    yp: Array


def checked_books(
    account: Books | None, rtol: float, name: str, parts: Callable[[], Sequence[ModelRows]]
) -> tuple[Books | None, Finding | None]:
    """Books with what the tolerance explains of their gap, and a warning when they are off by more than that.

    `parts` gives the rows of the run, which are looked at only where there is a gap.
    """
    allowed = max(CLOSED, CLOSED_TOLERANCES * rtol)
    # Rows are asked for only beyond this: nearly every run ends here, at no cost.
    if account is None or abs(account.residual) <= allowed or abs(account.difference) <= THERMAL_ENERGY:
        return account, None
    rows = parts()
    # First the cheap excuse: more energy was at stake than the ends show.
    account = replace(account, stored_most=max((_most_stored(part) for part in rows), default=0.0))
    if abs(account.residual) <= allowed:
        return account, None
    # Then the dear one: what powers off by the tolerance add up to.
    account = replace(account, explained=_explained(rows, rtol))
    if abs(account.difference) <= account.explained:
        return account, None
    return account, rules.OPEN_BOOKS.finding(
        f"the energy books are off by {account.difference:.3g} J, {abs(account.residual):.2g} of the energy handled",
        where=name,
        fix="ask for a finer tolerance; if that does not help, a law of an element is not the derivative of its energy",
    )


def _most_stored(part: ModelRows) -> float:
    """The largest energy that was stored or moved at a row: a swing that starts and ends at rest has handled it, though no book
    shows it, and what falls keeps the sum of its energies.
    """
    model, context = part.model, part.context
    if "balance" not in model.addresses or has_memory(model):
        return 0.0
    columns = [k for k, shown in enumerate(model.observables) if shown.kind == "energy"]
    most, first = 0.0, None
    with suppress(FloatingPointError):
        for k in _looked_at(part):
            at = float(part.t[k]), part.y[k], part.yp[k], context
            held = model.observe(*at)[columns] if columns else np.zeros(0)
            first = held if first is None else first
            most = max(most, abs(float(model.balance(*at)[4])), float(np.sum(np.abs(held - first))) / 2)
    return most


def _looked_at(part: ModelRows) -> list[int]:
    """Some rows of a part, its first and last ones among them."""
    found: list[int] = (
        np.unique(np.linspace(0, len(part.t) - 1, MOST_POINTS).astype(int)).tolist() if len(part.t) else []
    )
    return found


def _explained(parts: Sequence[ModelRows], rtol: float) -> float:
    """The energy that powers off by the tolerance add up to; zero where laws do not keep the balance."""
    if sum(len(part.t) for part in parts) < FEWEST_ROWS:
        return 0.0
    total = 0.0
    try:
        for part in parts:
            total += sum(_open_energies(part, rtol))
    except (FloatingPointError, _LossError):
        return 0.0
    return total


class _LossError(Exception):
    """At a row the powers do not balance."""


def _open_energies(part: ModelRows, rtol: float) -> Iterator[float]:
    """For each row that is looked at: how far powers are open, for the time that it stands for."""
    if "balance" not in part.model.addresses or has_memory(part.model) or len(part.t) < 2:
        return
    rows = _looked_at(part)
    # Of the whole part: a variable that passes zero moves by a share of its largest value.
    size = np.max(np.abs(part.y), axis=0)
    for k, last in zip(rows, np.gradient(part.t[rows]).tolist(), strict=True):
        t, y, yp = float(part.t[k]), part.y[k], part.yp[k]
        off = _open_power(part, t, y, yp, rtol)
        # A law that loses energy is no error of a solver: no tolerance may explain it.
        if not _keeps_balance(part, t, y, yp, size, off):
            raise _LossError
        yield last * off


def _open_power(part: ModelRows, t: float, y: Array, yp: Array, rtol: float) -> float:
    """By how much the power that comes in changes where every variable is off by its tolerance."""
    model, context = part.model, part.context
    # All variables at once, to one side: by how much exactly they are off nobody knows.
    moved = y + part.atol[: len(y)] + rtol * np.abs(y)
    rates = model.rhs(t, moved, context) if model.explicit else yp
    return abs(_net(model.balance(t, moved, rates, context)) - _net(model.balance(t, y, yp, context)))


def _keeps_balance(part: ModelRows, t: float, y: Array, yp: Array, size: Array, off: float) -> bool:
    """Whether the power that comes in is the change of what is stored, along the motion."""
    model, context = part.model, part.context
    # How often in a second the fastest variable moves by its own size.
    pace = float(np.max(np.abs(yp) / np.where(size > 0.0, size, 1.0), initial=0.0))
    powers = model.balance(t, y, yp, context)
    if pace == 0.0:
        return True
    span = SHORT / pace
    # Central, so that the curvature of the stored energy cancels.
    before, after = (float(model.balance(t + s * span, y + s * span * yp, yp, context)[4]) for s in (-0.5, 0.5))
    # A large energy that hardly changes: its difference is rounding, divided by a short time.
    rounding = 16.0 * np.finfo(float).eps * (abs(before) + abs(after)) / span
    share = BALANCED * float(np.max(np.abs(powers[:4])))
    return bool(abs(_net(powers) - (after - before) / span) <= share + off + rounding)


def _net(powers: Array) -> float:
    supplied, dissipated, generated, modulation = powers[:4].tolist()
    return float(supplied + generated + modulation - dissipated)
