"""Storage fields given by the matrix of stiffnesses: what they store is kept as its inverse, the matrix of compliances.

braces: {spring field: [a, frame, b, frame], matrix: [[k_1 + k_2, -k_2], [-k_2, k_2]]}
"""

from collections.abc import Sequence

from tellegen.core.units import Dimension, parse_unit
from tellegen.description import field_rules as rules
from tellegen.description.context import Context
from tellegen.description.document import Scalar
from tellegen.elements import ElementKind, kinds_of
from tellegen.expressions import ONE, ZERO, Expression, is_zero, to_text, total
from tellegen.expressions.elimination import Elimination, solve
from tellegen.expressions.entries import Entry, NamedEntries, leaves, substituted
from tellegen.expressions.rational import shortened

Rows = tuple[tuple[Expression, ...], ...]
_SHORT = 48
_BY_MINORS = 3


def direct_kind(kind: ElementKind) -> ElementKind:
    """The kind of the same storage whose parameter multiplies: a compliance for a spring."""
    if not kind.inverse:
        return kind
    return next(k for k in kinds_of(kind.domain.name, "storage") if k.side == kind.side and not k.inverse)


def stiff_kind(kind: ElementKind) -> ElementKind:
    """The kind of the same storage whose parameter divides, where there is one: a spring for a compliance."""
    return next((k for k in kinds_of(kind.domain.name, "storage") if k.side == kind.side and k.inverse), kind)


def stiffness_dimension(row: ElementKind, column: ElementKind) -> Dimension:
    """What an entry is measured in: output over energy variable."""
    output = parse_unit(row.domain.power(row.side).unit).dimension
    return output.over(parse_unit(column.domain.energy(column.side).unit).dimension)


def by_stiffness(context: Context, key: Scalar, kinds: Sequence[ElementKind]) -> bool:
    """Whether the matrix of a field holds stiffnesses.

    Raises: DescriptionError (D470) for a field of both.
    """
    inverse = {kind.inverse for kind in kinds}
    if len(inverse) > 1:
        names = [kind.name for kind in kinds if kind.inverse]
        what = f"the matrix of '{key.text}' holds stiffnesses for {' and '.join(dict.fromkeys(names))} and the inverse for others"
        others = dict.fromkeys(direct_kind(kind).name for kind in kinds if kind.inverse)
        fix = f"write {' and '.join(others)} in their place, or springs everywhere"
        raise context.error(rules.NO_STIFFNESS, key, what, fix=fix, where=key.text)
    return inverse == {True}


def compliances(context: Context, key: Scalar, kinds: Sequence[ElementKind], matrix: Rows) -> Rows:
    """The inverse of a matrix of stiffnesses.

    Raises: DescriptionError (D470) where it is singular, naming the motion that no force resists.
    """
    n = len(matrix)
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
    found, left = solve(rows, [{n + i: field.entry(ONE)} for i in range(n)], list(range(n)), field)
    if left:
        raise _singular(context, key, kinds, _free_motion(matrix))

    def entry(i: int, j: int) -> Expression:
        if n <= _BY_MINORS:  # the form of textbooks, and the one whose fractions cancel
            written = (-1) ** (i + j) * determinant(_minor(matrix, i, j)) / determinant(matrix)
        else:
            share = found.get(i, {}).get(n + j)
            written = ZERO if share is None else substituted(share.expression, field.where)
        return shortened(written) if leaves(written) <= _SHORT else written

    upper = {(i, j): entry(i, j) for i in range(n) for j in range(i, n)}  # symmetric to the letter
    return tuple(tuple(upper[min(i, j), max(i, j)] for j in range(n)) for i in range(n))


def determinant(matrix: Rows) -> Expression:
    """The determinant of a small matrix, by the minors of its first row."""
    if not matrix:
        return ONE
    return total((-1) ** j * e * determinant(_minor(matrix, 0, j)) for j, e in enumerate(matrix[0]) if e is not ZERO)


def _minor(matrix: Rows, row: int, column: int) -> Rows:
    return tuple(tuple(e for j, e in enumerate(line) if j != column) for i, line in enumerate(matrix) if i != row)


def _free_motion(matrix: Rows) -> list[Expression]:
    """A direction in which a singular matrix gives nothing."""
    n = len(matrix)
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
    elimination: Elimination[Entry] = Elimination(rows, field)
    free = elimination.eliminate_all(range(n))
    found = elimination.express(range(n))
    one = free[-1]
    motion = [found.get(k, {}).get(one) for k in range(n)]
    return [
        ONE if k == one else ZERO if e is None else substituted(e.expression, field.where) for k, e in enumerate(motion)
    ]


def _singular(context: Context, key: Scalar, kinds: Sequence[ElementKind], motion: Sequence[Expression]) -> Exception:
    moved = [(k, e) for k, e in enumerate(motion) if e is not ZERO]
    letters = {k: kinds[k].domain.energy(kinds[k].side).letters[0] for k, _ in moved}
    shown = ", ".join(f"{letters[k]}_{k + 1} = {to_text(e)}" for k, e in moved)
    kind = kinds[moved[0][0]]
    what = f"the matrix of '{key.text}' is singular: it gives no {kind.domain.power(kind.side).word} when {shown}"
    fix = f"describe what resists by fewer ports: a {kind.name} between two nodes feels only their difference"
    return context.error(rules.NO_STIFFNESS, key, what, fix=fix, where=key.text)
