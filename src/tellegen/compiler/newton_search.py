"""Small systems inside a model, solved by Python with the steps that the C code takes."""

import math
from collections.abc import MutableSequence, Sequence
from typing import Final, final

import numpy as np

MOST_ROUNDS: Final = 60
MOST_HALVINGS: Final = 40
_SAME: Final = 1e-9


class FailedSearchError(Exception):
    """A system without a solution."""


def solution(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """x of matrix x = right. Raises FailedSearchError for a singular matrix."""
    if len(right) == 1:
        if matrix[0][0] == 0.0:
            raise FailedSearchError
        return [right[0] / matrix[0][0]]
    try:
        with np.errstate(all="ignore"):
            found: list[float] = np.linalg.solve(np.array(matrix), np.array(right)).tolist()
    except np.linalg.LinAlgError as reason:
        raise FailedSearchError from reason
    return found


@final
class NewtonSearch:
    """Newton's method from where the last call found its solution; a linear system takes one step from zero.

    A step that makes the residual larger is halved. Where the slopes stay as they are, a whole step should leave nothing: what
    it leaves is rounding, and nothing better can be found. So a step that makes the residual a little larger is in doubt until
    the slopes behind it are known.
    """

    def __init__(self, kept: Sequence[float], scratch: int, count: int, linear: bool) -> None:
        self._scratch, self._linear = scratch, linear
        known = kept[scratch : scratch + count]
        self.x = [0.0] * count if linear else [v if math.isfinite(v) else 0.0 for v in known]
        self._step = [0.0] * count
        self._residuals: Sequence[float] = ()
        self._rounds = self._halvings = 0
        self._before = self._earlier = math.inf
        self._slopes: Sequence[float] = ()
        self._in_doubt = False

    def backs_up(self, residuals: Sequence[float]) -> bool:
        """Whether the last step was too long: x is then one of half its length."""
        norm = sum(r * r for r in residuals)
        if self._rounds and not norm <= self._before and self._halvings < MOST_HALVINGS:
            moved = any(abs(s) > 1e-11 * abs(v) for s, v in zip(self._step, self.x, strict=True))
            if moved or not math.isfinite(norm):
                self._in_doubt = self._rounds > 1 and self._halvings == 0 and norm <= 1e4 * self._before
                if not self._in_doubt:
                    self._halve()
                return not self._in_doubt
        self._residuals = residuals
        self._earlier = self._before if self._halvings == 0 else math.inf
        self._before, self._halvings = norm, 0
        return False

    def steps(self, jacobian: Sequence[Sequence[float]]) -> bool:
        """Make a step; whether it was the last. Raises FailedSearchError where there is no solution."""
        if not self._linear and self._is_rounding(jacobian):
            return True
        if self._in_doubt:
            self._halve()
            return False
        self._step = solution(jacobian, self._residuals)
        self.x = [v - s for v, s in zip(self.x, self._step, strict=True)]
        self._rounds += 1
        small = all(abs(s) <= max(1e-13 * abs(v), 1e-300) for s, v in zip(self._step, self.x, strict=True))
        if self._linear or small or self._before == 0.0:
            return True
        if self._rounds < MOST_ROUNDS:
            return False
        if not all(abs(s) <= 1e-9 * abs(v) for s, v in zip(self._step, self.x, strict=True)):
            raise FailedSearchError
        return True

    def found(self, kept: MutableSequence[float]) -> Sequence[float]:
        """The solution, which is kept for the next call."""
        if not all(map(math.isfinite, self.x)):
            raise FailedSearchError
        kept[self._scratch : self._scratch + len(self.x)] = self.x
        return self.x

    def _halve(self) -> None:
        self._step = [0.5 * s for s in self._step]
        self.x = [v + s for v, s in zip(self.x, self._step, strict=True)]
        self._halvings += 1
        self._in_doubt = False

    def _is_rounding(self, jacobian: Sequence[Sequence[float]]) -> bool:
        slopes = [e for row in jacobian for e in row]
        apart = sum(abs(a - b) for a, b in zip(slopes, self._slopes, strict=False))
        same = self._rounds > 1 and apart <= _SAME * sum(map(abs, slopes))
        if not self._in_doubt:
            self._slopes = slopes
        return same and (self._in_doubt or self._before >= 1e-8 * self._earlier)
