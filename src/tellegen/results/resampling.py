"""Values between the rows of a run, by the cubic polynomials that rows and their rates decide."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tellegen.results.observing import segments
from tellegen.simulation.trajectory import Segment, Trajectory

Array = NDArray[np.float64]


def hermite(t: Array, y: Array, yp: Array, at: Array, *, smooth: int) -> tuple[Array, Array]:
    """Values and rates at other times; the first `smooth` columns have rates, the others (algebraic unknowns) go straight."""
    place = np.clip(np.searchsorted(t, at, side="right") - 1, 0, max(len(t) - 2, 0))
    if len(t) < 2:
        return np.repeat(y[:1], len(at), axis=0), np.repeat(yp[:1], len(at), axis=0)
    after = place + 1
    step = t[after] - t[place]
    step = np.where(step > 0, step, 1.0)[:, None]
    s = (at - t[place])[:, None] / step
    y0, y1, d0, d1 = y[place], y[after], step * yp[place], step * yp[after]
    rise = y1 - y0
    value = y0 + s * (d0 + s * ((3 * rise - 2 * d0 - d1) + s * (d0 + d1 - 2 * rise)))
    rate = (d0 + s * (2 * (3 * rise - 2 * d0 - d1) + 3 * s * (d0 + d1 - 2 * rise))) / step
    value[:, smooth:] = (y0 + s * rise)[:, smooth:]
    rate[:, smooth:] = 0.0
    return value, rate


def interpolated(old: Trajectory, at: Array) -> Trajectory:
    """The trajectory at other times, each stretch by itself."""
    y, yp = np.full((len(at), old.y.shape[1]), np.nan), np.full((len(at), old.y.shape[1]), np.nan)
    kept: list[Segment] = []
    for model, rows in segments(old):
        mine = (at >= old.t[rows][0]) & ((at < old.t[rows.stop]) if rows.stop < len(old.t) else True)
        if not mine.any():
            continue
        smooth = model.size - len(model.unknowns)
        y[mine], yp[mine] = hermite(old.t[rows], old.y[rows], old.yp[rows], at[mine], smooth=smooth)
        kept.append(Segment(int(np.flatnonzero(mine)[0]), model))
    memory = None if old.memory is None else old.memory.chosen(np.searchsorted(old.t, at, side="right") - 1)
    return replace(old, t=at, y=y, yp=yp, segments=tuple(kept), memory=memory, sensitivities=None)
