"""The pattern of dF/dy + dF/dyp, and a colouring of its columns so that few tangents give the whole Jacobian."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from tellegen.compiler.context import Integers


@final
@dataclass(frozen=True, eq=False)
class Pattern:
    """Nonzero places of a square matrix by columns (CSC): rows of column j are indices[indptr[j]:indptr[j + 1]], in order."""

    indptr: Integers
    indices: Integers

    @property
    def size(self) -> int:
        """How many columns."""
        return len(self.indptr) - 1


def dense_pattern(size: int) -> Pattern:
    """The pattern without zeros."""
    return Pattern(
        np.arange(0, size * size + 1, max(size, 1), dtype=np.int32)[: size + 1],
        np.tile(np.arange(size, dtype=np.int32), size),
    )


def pattern_of_rows(rows: Sequence[Sequence[int]], size: int) -> Pattern:
    """The pattern whose row i has the columns rows[i]."""
    counts = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    columns = np.fromiter((j for row in rows for j in row), dtype=np.int64, count=int(counts.sum()))
    row_of = np.repeat(np.arange(len(rows)), counts)
    order = np.lexsort((row_of, columns))
    indptr = np.zeros(size + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=size), out=indptr[1:])
    return Pattern(indptr, row_of[order].astype(np.int32))


def colouring(pattern: Pattern) -> Integers:
    """A colour for each column so that no two columns of one colour share a row: greedy, widest columns first (Curtis, Powell
    and Reid 1974; the order by degree keeps the count near the widest row).
    """
    size = pattern.size
    indptr, indices = pattern.indptr.tolist(), pattern.indices.tolist()
    colours = [-1] * size
    taken_in_row: list[set[int]] = [set() for _ in range(size)]
    widths = np.diff(pattern.indptr)
    # Columns are taken in their own order where they are about equally wide: a band then needs no more colours than its width.
    order = np.argsort(-np.minimum(widths // 64, 1), kind="stable").tolist()
    for j in order:
        rows = indices[indptr[j] : indptr[j + 1]]
        colour = 0
        while any(colour in taken_in_row[i] for i in rows):
            colour += 1
        colours[j] = colour
        for i in rows:
            taken_in_row[i].add(colour)
    return np.array(colours, dtype=np.int32)
