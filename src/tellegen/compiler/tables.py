"""Tables of signals as one array of numbers."""

from collections.abc import Sequence

import numpy as np

from tellegen.compiler.context import Array
from tellegen.graph.signals import Table

KINDS = {"linear": 0.0, "previous": 1.0, "cubic": 2.0}


def packed_tables(tables: Sequence[Table]) -> tuple[Array, list[int]]:
    """Kind, count, points, values and slopes of each table, and where each begins."""
    parts: list[Array] = []
    places: list[int] = []
    size = 0
    for table in tables:
        points, values = np.array(table.points, dtype=float), np.array(table.values, dtype=float)
        places.append(size)
        parts.append(
            np.concatenate([[KINDS[table.interpolation], len(points)], points, values, monotone_slopes(points, values)])
        )
        size += len(parts[-1])
    return (np.concatenate(parts) if parts else np.zeros(1)), places


def monotone_slopes(points: Array, values: Array) -> Array:
    """Slopes that keep a cubic monotonic where the points are (Fritsch and Butland 1984): no overshoot between them."""
    if len(points) < 2:
        return np.zeros(len(points))
    h, rise = np.diff(points), np.diff(values) / np.diff(points)
    slopes = np.zeros(len(points))
    slopes[0], slopes[-1] = rise[0], rise[-1]
    left, right = rise[:-1], rise[1:]
    w_left, w_right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = left * right > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (w_left + w_right) / (w_left / left + w_right / right)
    slopes[1:-1] = np.where(same, inner, 0.0)
    return slopes
