"""The inverse of the inertias of storages: reciprocals, and the inverses of blocks where storages share a field."""

from collections.abc import Iterable, Mapping, Sequence

from tellegen.equations.matrices import Matrix
from tellegen.equations.solving import solved
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import Field

Rows = tuple[Mapping[int, Expression], ...]
"""The entries of each row of a matrix, by column."""


def inverse_inertias(L: Matrix, parameters: Mapping[str, Expression | None]) -> Rows | None:
    """L^-1 row by row, block by block; states without inertia have an empty row. None where a block is singular."""
    rows: list[Mapping[int, Expression]] = [{} for _ in L]
    for block in coupled_blocks(L):
        if len(block) == 1:
            (i,) = block
            rows[i] = {} if L[i][i] is ZERO else {i: ONE / L[i][i]}
            continue
        unit = tuple(tuple(ONE if i == j else ZERO for j in block) for i in block)
        found = solved(tuple(tuple(L[i][j] for j in block) for i in block), unit, len(block), parameters)
        if found is None:
            return None
        for i, row in zip(block, found, strict=True):
            rows[i] = {j: e for j, e in zip(block, row, strict=True) if e is not ZERO}
    return tuple(rows)


def inertias_of_fields(own: Sequence[Expression], fields: Iterable[Field], ports: Sequence[int]) -> Matrix:
    """The inertias of the storages at some ports: their own, and what fields have beside their diagonals."""
    place = {k: i for i, k in enumerate(ports)}
    rows = [[e if i == j else ZERO for j in range(len(own))] for i, e in enumerate(own)]
    for field in fields:
        for k, row in zip(field.ports, field.matrix, strict=True):
            for j, e in zip(field.ports, row, strict=True):
                if k != j and k in place and j in place:
                    rows[place[k]][place[j]] = e
    return tuple(map(tuple, rows))


def coupled_blocks(L: Matrix) -> list[list[int]]:
    """The places of states that share entries of L, directly or through others."""
    near = [{j for j, e in enumerate(row) if e is not ZERO} for row in L]
    seen: set[int] = set()
    found: list[list[int]] = []
    for start in range(len(near)):
        if start in seen:
            continue
        reached, ahead = {start}, [start]
        while ahead:
            fresh = near[ahead.pop()] - reached
            reached |= fresh
            ahead.extend(fresh)
        seen |= reached
        found.append(sorted(reached))
    return found
