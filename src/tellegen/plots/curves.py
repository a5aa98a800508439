"""Curves with as many points as can be seen: peaks stay, and what oscillates faster than the eye can tell becomes a band.

Everything here is in places on the page; a column is as wide as what an eye or a printer tells apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.plots.axes import Array
from tellegen.scenes.geometry import Point

COLUMN = 0.5
"""The width of a column, in units of a scene: an eighth of a millimetre."""
TOLERANCE = 0.06
"""A curve is drawn so near to its points: a tenth of its width."""
ABOUT, TURNS = 2.0, 4
"""Where a curve turns so often within such a distance to either side, its line would be an area, and it is drawn as one."""
VISIBLE = 1.0
"""Turns within so small a height are the thickness of a line."""
SHORTEST, LONGEST_GAP = 12, 8
"""A band has so many columns at least, and goes on over so many in which the curve is slow."""
PERIODS = 4
"""So many periods are shown at the end of what oscillates too fast."""


@final
@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn for a curve: lines, single points, and bands from its least to its largest values."""

    lines: tuple[tuple[Point, ...], ...]
    dots: tuple[Point, ...] = ()
    bands: tuple[tuple[Point, ...], ...] = ()

    @property
    def banded(self) -> float:
        """The width of its bands."""
        return sum(max(x for x, _ in band) - min(x for x, _ in band) for band in self.bands)


def drawn_curve(x: Array, y: Array) -> Drawn:
    """The lines of a curve through places on the page; where there is no number it is interrupted."""
    lines: list[tuple[Point, ...]] = []
    dots: list[Point] = []
    bands: list[tuple[Point, ...]] = []
    for a, b in _whole_parts(x, y):
        if len(a) == 1:
            dots.append((float(a[0]), float(b[0])))
        elif len(a) > SHORTEST and bool(np.all(np.diff(a) >= 0)):
            _add_parts(a, b, lines, bands)
        else:
            lines.append(thinned(a, b))
    return Drawn(tuple(lines), tuple(dots), tuple(bands))


def _whole_parts(x: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    good = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        yield x[first:last], y[first:last]


def _add_parts(x: Array, y: Array, lines: list[tuple[Point, ...]], bands: list[tuple[Point, ...]]) -> None:
    """Bands where a curve turns too often, and lines elsewhere."""
    turns = _turns(x, y)
    centres = np.arange(x[0], x[-1] + COLUMN, COLUMN)
    near = np.searchsorted(turns, centres + ABOUT) - np.searchsorted(turns, centres - ABOUT)
    here = 0
    for first, last in _runs(near >= TURNS):
        inside = centres[first:last]
        start, end = np.searchsorted(x, [inside[0], inside[-1]])
        low, high, mean = _envelope(x, y, inside, 4 * ABOUT / np.maximum(near[first:last], TURNS))
        if start > here:
            lines.append(thinned(*_extremes(x[here : start + 1], y[here : start + 1])))
        bands.append((*thinned(inside, low, 0.2), *reversed(thinned(inside, high, 0.2))))
        lines.append(thinned(inside, mean, 0.2))
        here = int(end)
    if here < len(x) - 1:
        lines.append(thinned(*_extremes(x[here:], y[here:])))


def _turns(x: Array, y: Array) -> Array:
    """Where a curve turns so far that it can be seen."""
    way = np.sign(np.diff(y))
    moving = np.flatnonzero(way)
    # Across level parts too.
    turning = moving[1:][way[moving[1:]] != way[moving[:-1]]]
    far = np.abs(np.diff(y[turning])) > VISIBLE
    return np.asarray(x[turning[1:][far]])


def _runs(dense: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """From where to where columns are dense, over short gaps, and no shorter than can be seen."""
    places = np.flatnonzero(dense)
    if not len(places):
        return []
    cuts = np.flatnonzero(np.diff(places) > LONGEST_GAP)
    firsts, lasts = places[np.concatenate([[0], cuts + 1])], places[np.concatenate([cuts, [len(places) - 1]])]
    return [(int(a), int(b) + 1) for a, b in zip(firsts, lasts, strict=True) if b + 1 - a >= SHORTEST]


def _envelope(x: Array, y: Array, centres: Array, periods: Array) -> tuple[Array, Array, Array]:
    """The least and the largest values in about a period, and the mean over some, straight between points."""
    starts, ends = _within(x, centres, np.maximum(periods, COLUMN))
    # Pairs of where to begin and to end: what lies between two pairs is not looked at.
    pairs = np.column_stack([starts, np.minimum(ends, len(x) - 1)]).ravel()
    low, high = np.minimum.reduceat(y, pairs)[::2], np.maximum.reduceat(y, pairs)[::2]
    area = np.concatenate([[0.0], np.cumsum(np.diff(x) * (y[1:] + y[:-1]) / 2)])
    starts, ends = _within(x, centres, np.maximum(3 * periods, COLUMN))
    first, last = x[starts], x[ends - 1]
    width = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(width > 0, (area[ends - 1] - area[starts]) / width, y[starts])
    return low, high, mean


def _within(x: Array, centres: Array, reach: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The first point about each centre, and the one behind the last."""
    starts = np.minimum(np.searchsorted(x, centres - reach), len(x) - 1)
    return starts, np.clip(np.searchsorted(x, centres + reach, side="right"), starts + 1, len(x))


def _extremes(x: Array, y: Array) -> tuple[Array, Array]:
    """First, least, largest and last point of every column, where they hold more."""
    column = np.floor((x - x[0]) / COLUMN).astype(int)
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    if len(x) <= 4 * len(starts):
        return x, y
    chosen: list[int] = []
    for first, last in pairwise([*starts.tolist(), len(x)]):
        within = y[first:last]
        chosen += sorted({first, first + int(within.argmin()), first + int(within.argmax()), last - 1})
    return x[chosen], y[chosen]


def thinned(x: Array, y: Array, tolerance: float = TOLERANCE) -> tuple[Point, ...]:
    """The points that a polyline needs to pass all of them within a tolerance (Douglas and Peucker 1973)."""
    keep = np.zeros(len(x), dtype=bool)
    keep[[0, -1]] = True
    waiting = [(0, len(x) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        dx, dy = x[last] - x[first], y[last] - y[first]
        u, v = x[first + 1 : last] - x[first], y[first + 1 : last] - y[first]
        length = float(np.hypot(dx, dy))
        # From the piece itself where it goes back over its own line, as an orbit does.
        along = np.clip((u * dx + v * dy) / (length * length), 0.0, 1.0) if length else np.zeros(len(u))
        away = np.hypot(u - along * dx, v - along * dy)
        worst = int(away.argmax())
        if away[worst] > tolerance:
            middle = first + 1 + worst
            keep[middle] = True
            waiting += [(first, middle), (middle, last)]
    return tuple(zip(x[keep].tolist(), y[keep].tolist(), strict=True))


def last_periods(t: Array, y: Array) -> tuple[float, float] | None:
    """The time of the last few periods of what oscillates, by its way through the middle; None where it does not."""
    good = np.isfinite(y)
    t, y = t[good], y[good]
    # The end alone: a start may be slower, and a mean elsewhere.
    tail = slice(max(0, len(t) - max(400, len(t) // 20)), len(t))
    t, y = t[tail], y[tail]
    if len(t) < 3 or not (span := float(y.max() - y.min())):
        return None
    above = y > y.min() + span / 2
    crossings = t[1:][above[1:] & ~above[:-1]]
    gaps = [b - a for a, b in pairwise(crossings.tolist())]
    if len(gaps) < PERIODS:
        return None
    period = sorted(gaps)[len(gaps) // 2]
    return max(float(t[0]), float(t[-1]) - PERIODS * period), float(t[-1])
