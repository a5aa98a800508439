"""Small linear systems of expressions."""

from collections.abc import Iterable, Mapping

from tellegen.equations.matrices import Matrix
from tellegen.expressions import ZERO, Expression, is_zero
from tellegen.expressions.elimination import solve
from tellegen.expressions.entries import NamedEntries, substituted


def solved(
    left: Matrix, right: Matrix, columns: int, parameters: Mapping[str, Expression | None], taken: Iterable[str] = ()
) -> Matrix | None:
    """left^-1 right, written out; None where `left` is singular. `columns` is the width of `right`, `taken` names in use."""
    field = NamedEntries(parameters, taken)
    n = len(left)
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in left]
    known = [{n + j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in right]
    found, missing = solve(rows, known, list(range(n)), field)
    if missing:
        return None

    def entry(i: int, j: int) -> Expression:
        share = found.get(i, {}).get(n + j)
        return ZERO if share is None else substituted(share.expression, field.where)

    return tuple(tuple(entry(i, j) for j in range(columns)) for i in range(n))
