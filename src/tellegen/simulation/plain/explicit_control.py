"""How long the next explicit step is, and whether steps are limited by stability."""

import math
from typing import Final, final

import numpy as np

from tellegen.simulation.plain.explicit_step import ExplicitStep
from tellegen.simulation.plain.halts import gap
from tellegen.simulation.plain.job_view import Array, JobView, StoppedError

SMALL_ERROR: Final = math.log(1e-4)
"""Below that an error says no more of the next one."""

_CAUTION: Final = 0.8
_PI_SHARE: Final = 0.04
_SUSPICIONS: Final = 15
_CLEAR: Final = 6


def first_step(view: JobView, rates: Array) -> float:
    """The step to try after a start or a break, from rates there and a little later."""
    job = view.job
    span = job.until - job.t
    scale = view.atol + job.rtol * np.abs(view.y)
    size, slope = (float(np.max(np.abs(v) / scale, initial=0.0)) for v in (view.y, rates))
    h = 1e-6 * span if size < 1e-5 or slope < 1e-5 else 0.01 * size / slope
    h = min(max(h, 1e3 * gap(job.t)), span)  # a state that begins at rounding errors must not set the pace
    try:
        moved = view.rhs(job.t + h, view.y + h * rates)
    except StoppedError:
        return float(h / 100.0)
    most = max(slope, float(np.max(np.abs(moved - rates) / scale / h, initial=0.0)))
    following = max(1e-6 * span, h * 1e-3) if most <= 1e-15 else (0.01 / most) ** (1.0 / ExplicitStep.order)
    return float(min(100.0 * h, following, span))


def shorter_step(h: float, error: float) -> float:
    """After a step whose error was too large, or infinite where it led beyond the domain of a law."""
    return h * (max(0.2, _CAUTION * error ** (-1.0 / ExplicitStep.order)) if math.isfinite(error) else 0.25)


def next_step(h: float, error: float, before: float, *, rejected: bool) -> tuple[float, float]:
    """After a step that was accepted; gives the logarithm of its error, too, which is `before` for the next one.

    By a proportional and an integral part of the error, as for steps limited now by accuracy, now by stability.
    """
    now = math.log(max(error, 1e-10))
    factor = _CAUTION * math.exp(_PI_SHARE * before - (1.0 / ExplicitStep.order - 0.2 * _PI_SHARE) * now)
    return h * min(max(factor, 0.333), 1.0 if rejected else 6.0), max(now, SMALL_ERROR)


@final
class Stiffness:
    """Whether steps are limited by stability (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.2)."""

    def __init__(self) -> None:
        self._suspicions = self._clear = 0

    def shows(self, radians: float) -> bool:
        """Look at a step that is so many of its fastest motion long."""
        if radians > ExplicitStep.stability:
            self._clear, self._suspicions = 0, self._suspicions + 1
            return self._suspicions >= _SUSPICIONS
        self._clear += 1
        if self._clear >= _CLEAR:
            self._suspicions = 0
        return False
