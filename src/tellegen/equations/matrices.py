"""Small matrices of expressions, as tuples of rows, and small linear systems of them."""

from collections.abc import Iterable, Mapping
from typing import Final

from tellegen.expressions import ZERO, Expression, is_zero, total
from tellegen.expressions.elimination import Entry, NamedEntries, solve, with_definitions

LEAST: Final = 1e-4
"""Beside the largest of its row and column, an entry of 1e-13 (this times ROUNDING) may be what is left of a zero."""

Matrix = tuple[tuple[Expression, ...], ...]
Vector = tuple[Expression, ...]


def zeros(rows: int, columns: int) -> Matrix:
    """A matrix of zeros."""
    return ((ZERO,) * columns,) * rows


def negative(matrix: Matrix) -> Matrix:
    """The matrix with every sign changed."""
    return tuple(tuple(ZERO if e is ZERO else -e for e in row) for row in matrix)


def scaled(matrix: Matrix, factor: Expression) -> Matrix:
    """The matrix times a scalar."""
    return tuple(tuple(e * factor for e in row) for row in matrix)


def plus(a: Matrix, b: Matrix) -> Matrix:
    """The sum of two matrices."""
    return tuple(tuple(_sum(x, y) for x, y in zip(p, q, strict=True)) for p, q in zip(a, b, strict=True))


def _sum(x: Expression, y: Expression) -> Expression:
    """Large matrices are nearly empty, and adding zeros would take most of the time."""
    return y if x is ZERO else x if y is ZERO else x + y


def dot(a: Iterable[Expression], b: Iterable[Expression]) -> Expression:
    """The sum of the products of two vectors."""
    return total(x * y for x, y in zip(a, b, strict=True) if x is not ZERO and y is not ZERO)


def product(a: Matrix, b: Matrix, columns: int) -> Matrix:
    """The product of two matrices; `columns` is the width of `b`, which may have no rows."""
    return tuple(tuple(dot(row, [line[j] for line in b]) for j in range(columns)) for row in a)


def transposed(matrix: Matrix, columns: int) -> Matrix:
    """The transpose; `columns` is the width of the matrix, which may have no rows."""
    return tuple(tuple(row[j] for row in matrix) for j in range(columns))


Sparse = Mapping[tuple[int, int], Expression]
"""Nonzero entries by row and column."""


def congruent(left: Matrix, middle: Sparse, right: Matrix, rows: int, columns: int) -> Matrix:
    """left^T middle right, by the few nonzero entries of each."""
    # T has about one entry a row, so the product of three matrices is written by its few terms, in linear time.
    filled_left = [[(i, e) for i, e in enumerate(row) if e is not ZERO] for row in left]
    filled_right = [[(j, e) for j, e in enumerate(row) if e is not ZERO] for row in right]
    terms: dict[tuple[int, int], list[Expression]] = {}
    for (k, m), share in middle.items():
        for i, a in filled_left[k]:
            for j, b in filled_right[m]:
                terms.setdefault((i, j), []).append(a * share * b)
    filled: list[list[Expression]] = [[ZERO] * columns for _ in range(rows)]
    for (i, j), shares in terms.items():
        filled[i][j] = total(shares)
    return tuple(map(tuple, filled))


def solved(left: Matrix, right: Matrix, columns: int, field: NamedEntries) -> Matrix | None:
    """left^-1 right, over the names that `field` gives; None where `left` is singular. `columns` is the width of `right`."""
    n = len(left)
    rows = [{j: field.entry(e) for j, e in enumerate(row) if e is not ZERO} for row in left]
    if field.at is not None:
        rows = _measured(rows, field.at)
    known = [{n + j: field.entry(e) for j, e in enumerate(row) if e is not ZERO} for row in right]
    found, missing = solve(rows, known, range(n), field)
    if missing:
        return None
    return tuple(
        tuple(found[i][n + j].expression if n + j in found[i] else ZERO for j in range(columns)) for i in range(n)
    )


def _measured(rows: list[dict[int, Entry]], at: Mapping[str, float]) -> list[dict[int, Entry]]:
    """Entries with their values, each beside the largest of its row and its column, of which it may be rounding."""
    values = [{j: abs(e.expression.evaluate(at)) for j, e in row.items()} for row in rows]
    across = [max(row.values(), default=0.0) for row in values]
    down = dict[int, float]()
    for row in values:
        for j, v in row.items():
            down[j] = max(down.get(j, 0.0), v)
    return [
        {
            j: e._replace(measure=(e.expression.evaluate(at), max(values[i][j], LEAST * min(across[i], down[j]))))
            for j, e in row.items()
        }
        for i, row in enumerate(rows)
    ]


def solved_linear_system(
    left: Matrix, right: Matrix, columns: int, parameters: Mapping[str, Expression | None], taken: Iterable[str] = ()
) -> Matrix | None:
    """left^-1 right, written out; None where `left` is singular. `columns` is the width of `right`, `taken` names in use."""
    field = NamedEntries(parameters, taken)
    # Terms that cancel are no pivots, though no rule may see it: their residues do.
    found = solved(_without_hidden_zeros(left), _without_hidden_zeros(right), columns, field)
    return None if found is None else tuple(tuple(with_definitions(e, field.where) for e in row) for row in found)


def _without_hidden_zeros(matrix: Matrix) -> Matrix:
    return tuple(tuple(ZERO if is_zero(e) else e for e in row) for row in matrix)
