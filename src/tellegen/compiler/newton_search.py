"""The search for unknowns that are solved inside, for functions that Python runs: step for step that of `loops.h`."""

import math
import sys
from collections.abc import Iterable, MutableSequence, Sequence
from typing import Final, Literal, final

import numpy as np


class FailedSearchError(Exception):
    """A system without a solution; `place` is that of the unknown whose equation is furthest from closing."""

    def __init__(self, place: int = 0) -> None:
        super().__init__(place)
        self.place = place


def solution(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """x of matrix x = right. Raises FailedSearchError for a singular matrix."""
    if len(right) == 1:
        if matrix[0][0] == 0.0:
            raise FailedSearchError
        return [right[0] / matrix[0][0]]
    try:
        # A matrix that is nearly singular overflows: what is not finite is found by whoever called.
        with np.errstate(all="ignore"):
            found: list[float] = np.linalg.solve(np.array(matrix), np.array(right)).tolist()
    except np.linalg.LinAlgError as reason:
        raise FailedSearchError from reason
    return found


MOST_ROUNDS: Final = 40
MOST_HALVINGS: Final = 40
ROUNDS_ON_PATH: Final = 12
NEAR_TRIES: Final = 8
MOST_TRIES: Final = 24
MOST_CALLS: Final = 50_000
MOST_ENCLOSING: Final = 500
LEAST_LIMIT: Final = 20.0
MOST_LIMIT: Final = 640.0
ROUNDING: Final = 32 * sys.float_info.epsilon
_FAR: Final = (1e-3, 1.0, 1e-6)
_AROUND: Final = (1.0, 3.0, 0.3, 10.0)


@final
class NewtonSearch:
    """The search of `loops.h`, which tells how it goes, in the same order of steps."""

    def __init__(self, kept: Sequence[float], scratch: int, places: Sequence[int], linear: bool) -> None:
        self._scratch, self._linear, self._places = scratch, linear, places
        known = kept[scratch : scratch + len(places)]
        self._kept = [v if math.isfinite(v) else 0.0 for v in known]
        # A linear system is solved in one step from anywhere: from zero it is the same in every call.
        self.x = [0.0] * len(places) if linear else list(self._kept)
        self.limit = math.inf
        self._phase: Literal["near", "enclosed", "path", "lost"] = "near"
        self._failed = self._known = False
        self._total = self._tries = self._worst = 0
        self._low = self._high = (0.0, math.nan)
        self._step = [0.0] * len(places)
        self._anew()

    def _anew(self) -> None:
        self._rounds = self._halvings = 0
        self._in_doubt = self.asks = False
        self._before = self._earlier = math.inf

    @property
    def _is_last(self) -> bool:
        """Whether it is the equations themselves that are being solved."""
        return self._phase != "path" or (self._left <= 0.0 and self.limit == math.inf)

    # -- where to search -------------------------------------------------------------------------------------------------------

    def _give_up(self) -> None:
        self._anew()
        self._phase, self._failed, self.asks, self.limit = "lost", True, True, math.inf

    def _set_out(self) -> None:
        k, self._tries = self._tries, self._tries + 1
        if k >= MOST_TRIES or self._total > MOST_CALLS:
            self._give_up()
            return
        self._begin_path(LEAST_LIMIT)
        side = -1.0 if k % 2 else 1.0
        far = [side * _FAR[k // 2 % 3] * (0.1 + math.fmod(0.618 * (i + 1) * k, 1.0)) for i in range(len(self.x))]
        if k >= NEAR_TRIES:
            around, sides = _AROUND[(k - NEAR_TRIES) // 4], k - NEAR_TRIES
            far = [-around if sides >> i % 2 & 1 else around for i in range(len(self.x))]
        self.x = list(self._kept) if k == 0 else [0.0] * len(self.x) if k == 1 else far

    def _begin_path(self, limit: float) -> None:
        self._anew()
        self.limit = limit if limit < MOST_LIMIT else math.inf
        self._known, self._good, self._share = False, 1.0, 1.0

    def _retreat(self) -> None:
        self._share /= 8.0
        if not self._known or self._share < 1e-14 or self._total > MOST_CALLS:
            self._set_out()
            return
        self._anew()
        self._left = self._good - self._share
        self.x = list(self._last)

    def _go_on(self) -> None:
        longer = 4.0 if self._rounds < 3 else 2.0 if self._rounds < 5 else 1.0
        self._anew()
        self._good, self._last = self._left, list(self.x)
        self._share = min(longer * self._share, self._good)
        self._left = self._good - self._share

    def _stray(self) -> None:
        if self._phase == "path":
            self._retreat()
        elif self._phase != "near":
            self._give_up()
        elif len(self.x) > 1:
            self._phase = "path"
            self._set_out()
        else:
            self._anew()
            self._phase, self.x, self.limit = "enclosed", list(self._kept), MOST_LIMIT
            self._share = max(1e-15, 1e-7 * abs(self.x[0]))

    def _encloses(self, f: float) -> bool:
        k, base = self._rounds, self._kept[0]
        self._rounds += 1
        self._before = f * f
        if f == 0.0:
            return False
        here = self.x[0], f
        if self._known:
            if f * self._low[1] > 0.0:
                self._low = here
            elif f * self._high[1] > 0.0:
                self._high = here
            else:
                self._give_up()
                return True
        elif k == 0:
            self._low = self._high = here
        elif k % 2:
            if f * self._high[1] < 0.0:
                self._known, self._low = True, self._high
            self._high = self._high if math.isnan(f) else here
        else:
            if f * self._low[1] < 0.0:
                self._known, self._high = True, self._low
            self._low = self._low if math.isnan(f) else here
            self._share *= 4.0
        if not self._known:
            self.x = [base - self._share if k % 2 else base + self._share]
            if not math.isfinite(self._share * self._share):
                self.x = [base]
                self._give_up()
            return True
        if self._rounds % 2 and math.isfinite(f):
            return False
        middle = _middle(self._low[0], self._high[0])
        apart = self._low[0] < middle < self._high[0]
        self.x = [middle if apart else min(self._low, self._high, key=lambda end: abs(end[1]))[0]]
        if not apart or self._rounds > MOST_ENCLOSING:
            self._give_up()
        return True

    # -- what the loop calls ---------------------------------------------------------------------------------------------------

    def backs_up(self, residuals: list[float]) -> bool:
        """Take the residuals; whether they are to be evaluated at another point."""
        self._total += 1
        self._residuals = residuals
        if self._phase == "enclosed":
            return self._encloses(residuals[0])
        if self._phase == "path":
            return self._follows(residuals)
        if self._phase == "lost" or self._linear:
            return False
        norm = _square(residuals)
        if not math.isfinite(norm) and (not self._rounds or self._halvings >= MOST_HALVINGS):
            self._stray()
            return True
        if self._rounds and not norm <= self._before:
            return self._too_long(norm)
        # Two whole steps in a row are compared; one that was halved says nothing of how well they converge.
        self._earlier = self._before if self._halvings == 0 else math.inf
        self._before, self._halvings, self._in_doubt = norm, 0, False
        self.asks = self._rounds > 1 and self._before >= 1e-8 * self._earlier
        return False

    def _too_long(self, norm: float) -> bool:
        moved = any(abs(s) > 1e-11 * abs(v) for s, v in zip(self._step, self.x, strict=True))
        slight = self._rounds > 1 and self._halvings == 0 and norm <= 1e4 * self._before
        # A rise that may be rounding is in doubt until the terms are known.
        doubt = math.isfinite(norm) and (not moved or self._halvings >= MOST_HALVINGS or slight)
        self._in_doubt = self.asks = doubt
        if not doubt:
            self._halve()
        return not doubt

    def _follows(self, residuals: Sequence[float]) -> bool:
        begins = not self._known
        if begins:
            self._known, self._left = True, 0.0
            self._from, self._last, self._by = list(residuals), list(self.x), [1.0] * len(residuals)
        self._residuals = [r - self._left * first for r, first in zip(residuals, self._from, strict=True)]
        norm = _square(b * r for b, r in zip(self._by, self._residuals, strict=True))
        if not math.isfinite(norm):
            self._known = not begins
            if self._rounds and self._halvings < ROUNDS_ON_PATH:
                self._halve()
            else:
                self._stray()
            return True
        if self._rounds > 3 and norm >= self._before and norm > 1e-3:
            self._stray()
            return True
        if self._rounds and norm <= 1e-16 and not self._is_last:
            if self._left > 0.0:
                self._go_on()
            else:
                self._begin_path(2.0 * self.limit)
            return True
        self.asks = self._is_last and self._rounds > 1 and norm >= 1e-8 * self._before
        self._before, self._halvings = norm, 0
        return False

    def _halve(self) -> None:
        self._step = [0.5 * s for s in self._step]
        self.x = [v + s for v, s in zip(self.x, self._step, strict=True)]
        self._halvings += 1
        self._in_doubt = self.asks = False

    def measures(self, terms: Sequence[float]) -> None:
        """Take the terms, where they were asked for."""
        self._terms = terms

    def _closes(self) -> bool:
        shares = [
            0.0 if r == 0.0 else abs(r) / (ROUNDING * size) if size else math.inf
            for r, size in zip(self._residuals, self._terms, strict=True)
        ]
        self._worst = max(range(len(shares)), key=lambda i: math.inf if math.isnan(shares[i]) else shares[i])
        return shares[self._worst] <= 1.0

    def steps(self, jacobian: Sequence[Sequence[float]]) -> bool:
        """Take the slopes and make a step; whether it was the last."""
        if self._linear:
            self._step = solution(jacobian, self._residuals)
            self.x = [v - s for v, s in zip(self.x, self._step, strict=True)]
            return True
        if self.asks and self._closes():
            self._failed = False
            return True
        if self._phase == "lost":
            return True
        if self._in_doubt:
            if self._halvings >= MOST_HALVINGS:
                self._stray()
            else:
                self._halve()
            return False
        if self._before == 0.0 and self._is_last:
            return True
        if self._phase == "enclosed":
            slope = jacobian[0][0]
            there = self.x[0] - self._residuals[0] / slope if slope else math.nan
            if not self._low[0] < there < self._high[0]:
                self.x = [_middle(self._low[0], self._high[0])]
                return False
        return self._newton(jacobian)

    def _newton(self, jacobian: Sequence[Sequence[float]]) -> bool:
        if self._phase == "path":
            # What each residual is measured by: its terms by the unknowns.
            sizes = [
                max(abs(r), *(abs(e * v) for e, v in zip(row, self.x, strict=True)))
                for r, row in zip(self._residuals, jacobian, strict=True)
            ]
            self._by = [1.0 / size if size > 0.0 and math.isfinite(1.0 / size) else 1.0 for size in sizes]
        try:
            self._step = _solution_by_rows(jacobian, self._residuals)
        except FailedSearchError:
            self._stray()
            return False
        self.x = [v - s for v, s in zip(self.x, self._step, strict=True)]
        small = all(abs(s) <= max(1e-13 * abs(v), 1e-300) for s, v in zip(self._step, self.x, strict=True))
        if self._phase == "enclosed":
            return small
        self._rounds += 1
        if small and self._is_last:
            return True
        if self._rounds >= (ROUNDS_ON_PATH if self._phase == "path" else MOST_ROUNDS):
            self._stray()
        return False

    def found(self, kept: MutableSequence[float]) -> Sequence[float]:
        """The solution, which is kept for the next call. Raises FailedSearchError where there is none."""
        if self._failed or not all(map(math.isfinite, self.x)):
            raise FailedSearchError(self._places[self._worst])
        # The next call is a little later: from here Newton needs one or two rounds.
        kept[self._scratch : self._scratch + len(self.x)] = self.x
        return self.x


def _square(values: Iterable[float]) -> float:
    return sum(v * v for v in values)


def _middle(a: float, b: float) -> float:
    """A middle that finds any size in a few dozen rounds."""
    least, most = sorted((abs(a), abs(b)))
    if least == 0.0:
        return 1e-3 * (a + b)
    if (a < 0.0) != (b < 0.0):
        return 0.0
    return math.copysign(math.sqrt(most) * math.sqrt(least), a) if most > 4.0 * least else a + 0.5 * (b - a)


def _solution_by_rows(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """The same with rows as large as each other: pivots and rounding then do not depend on units."""
    sizes = [max(map(abs, row)) for row in matrix]
    if not all(0.0 < size < math.inf for size in sizes):
        raise FailedSearchError
    rows = [[e / size for e in row] for row, size in zip(matrix, sizes, strict=True)]
    found = solution(rows, [r / size for r, size in zip(right, sizes, strict=True)])
    if not all(map(math.isfinite, found)):
        raise FailedSearchError
    return found
