"""Fields at a limit: entries that vanish, storages that freeze, and matrices that lose rank.

A singular matrix does not see some x = V mu. With Q V = 0, every x is Q^T z + V mu, and the stored energy is that of fewer storages
with the matrix Q M Q^T. So the field becomes a smaller field behind a connection z = (Q Q^T)^-1 Q x, and mu is left to the rest of
the model: for a motor whose homopolar current stores nothing, z are the currents less their mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, final

from tellegen.core.domains import Side, other_side
from tellegen.core.names import listing
from tellegen.description.model import Element
from tellegen.description.multiports import MULTIPORT
from tellegen.description.relations import MatrixField, Multiport
from tellegen.elements import ElementKind
from tellegen.equations.matrices import dot
from tellegen.expressions import ONE, ZERO, Expression, is_zero
from tellegen.expressions.elimination import Elimination, solve
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.expressions.rational import shortened
from tellegen.reduction import rules
from tellegen.reduction.naming import without_index

Rows = Sequence[Sequence[Expression]]


@final
@dataclass(frozen=True)
class FieldLimit:
    """What a field becomes: elements, the field that is left of it, and which of its members vanish or freeze."""

    elements: tuple[Element, ...]
    fields: tuple[MatrixField, ...]
    vanishing: Mapping[str, Side]
    frozen: tuple[str, ...]


def limited_field(
    owner: MatrixField,
    members: Sequence[Element],
    matrix: Sequence[Sequence[Expression | None]],
    taken: Iterable[str],
    limits: Sequence[str],
    given: Mapping[str, Expression],
) -> FieldLimit:
    """A field whose entries are at their limits; None stands for infinity.

    `given` are values of parameters at which the matrix may be singular although it is not in general.

    Raises: ReductionError when the entries cannot belong to a storage.
    """
    kind = members[0].kind
    names = {m.name: without_index(m.name) for m in members}
    infinite = [k for k, row in enumerate(matrix) if row[k] is None]
    _refuse_infinite_mutual(owner, matrix, infinite, limits)
    finite = [k for k in range(len(members)) if k not in infinite]
    rest = [[_finite(matrix[i][j]) for j in finite] for i in finite]
    empty = [k for i, k in enumerate(finite) if is_zero(rest[i][i])]
    for i, k in enumerate(finite):
        if k in empty and kind.role == "storage" and any(not is_zero(e) for e in rest[i]):
            _refuse_mutual(owner, members[k].name, limits)
    if kind.role == "resistive":
        empty = [k for i, k in enumerate(finite) if all(is_zero(e) for e in (*rest[i], *(r[i] for r in rest)))]
    kept = [k for k in finite if k not in empty]
    left = [[rest[finite.index(i)][finite.index(j)] for j in kept] for i in kept]
    gone = {k: replace(members[k], name=names[members[k].name]) for k in (*infinite, *empty)}
    whole = _Whole(owner, [members[k] for k in kept], left, set(taken))
    storage = kind.role == "storage"
    vanishing: dict[str, Side] = {gone[k].name: other_side(kind.side) if storage else kind.side for k in empty}
    if not storage:
        vanishing |= {gone[k].name: other_side(kind.side) for k in infinite}
    frozen = tuple(gone[k].name for k in infinite) if storage else ()
    made = whole.regular() if not storage else whole.of_full_rank(given)
    return FieldLimit(
        (*gone.values(), *made.elements), made.fields, {**vanishing, **made.vanishing}, (*frozen, *made.frozen)
    )


def _finite(entry: Expression | None) -> Expression:
    assert entry is not None, "infinite entries were refused or belong to frozen storages"
    return entry


def _refuse_infinite_mutual(
    owner: MatrixField, matrix: Sequence[Sequence[Expression | None]], infinite: list[int], limits: Sequence[str]
) -> None:
    for i, row in enumerate(matrix):
        for j, e in enumerate(row):
            if e is None and i != j:
                rule = rules.RATIO_OF_LIMITS if i in infinite and j in infinite else rules.NO_LIMIT
                raise rule.error(
                    f"the entry ({i + 1},{j + 1}) of '{owner.name}' would be infinite",
                    where=owner.name,
                    why="a mutual term is at most the geometric mean of the two storages that it joins",
                    fix=f"keep {listing(limits)}",
                    place=owner.place,
                    members=owner.members,
                )


def _refuse_mutual(owner: MatrixField, member: str, limits: Sequence[str]) -> NoReturn:
    raise rules.NO_LIMIT.error(
        f"'{member}' would store nothing by itself, but still share energy with others of '{owner.name}'",
        where=owner.name,
        why="stored energy would be negative: a mutual term is at most the geometric mean of the two storages that it joins",
        fix=f"let its mutual terms vanish too, or keep {listing(limits)}",
        place=owner.place,
        members=owner.members,
    )


class _Whole:
    """What is left of a field once rows that vanish or freeze are taken out."""

    def __init__(self, owner: MatrixField, members: list[Element], matrix: Rows, taken: set[str]) -> None:
        self.owner = owner
        self.members = members
        self.matrix = matrix
        self.taken = taken

    def regular(self) -> FieldLimit:
        """The members with their part of the matrix; one alone is no field."""
        if len(self.members) == 1:
            alone = self.members[0]
            name = without_index(alone.name)
            return FieldLimit((replace(alone, name=name, value=self.matrix[0][0]),), (), {}, ())
        elements = tuple(replace(e, value=self.matrix[k][k]) for k, e in enumerate(self.members))
        members = tuple(e.name for e in elements)
        fields = (replace(self.owner, members=members, matrix=_rows(self.matrix), stiffness=None),)
        return FieldLimit(elements, fields if elements else (), {}, ())

    def of_full_rank(self, given: Mapping[str, Expression]) -> FieldLimit:
        """The field itself where its matrix is regular; else a smaller field behind a connection."""
        seen, independent = _row_space(self.matrix)
        if len(independent) == len(self.members) and given:
            numbers = [[substituted(e, given) for e in row] for row in self.matrix]
            again, fewer = _row_space(numbers)
            if len(fewer) < len(independent):
                self.matrix, seen, independent = numbers, again, fewer
        if len(independent) == len(self.members):
            return self.regular()
        return self._behind_connection(seen, independent)

    def _behind_connection(self, Q: Rows, independent: list[int]) -> FieldLimit:
        kind, name = self.members[0].kind, self.owner.name
        side, count = kind.side, len(independent)
        meters, nodes = self._meters(side)
        ends = [self._fresh(f"{name}_{k + 1}") for k in range(count)]
        reference = kind.domain.reference
        nodes += [node for end in ends for node in (end, reference)]
        n = len(self.members)
        given, gives = tuple(range(n)), tuple(range(n, n + count))
        relation = Multiport(given, gives, (side,) * n, (side,) * count, _rows(_without_hidden_part(Q)))
        domains = (kind.domains[0],) * (n + count)
        made = ElementKind(
            MULTIPORT, "coupling", domains, "passes power between several ports", "", coupling="transformer"
        )
        connection = Element(self._fresh(f"{name}_map"), made, tuple(nodes), multiport=relation, place=self.owner.place)
        block = _block(Q, self.matrix)
        smaller = [
            replace(
                self.members[i],
                name=f"{name}[{k + 1}]",
                nodes=(ends[k], reference),
                value=block[k][k],
                variables={
                    side: self._fresh(f"{self.members[i].variables.get(side, without_index(self.members[i].name))}_r")
                },
            )
            for k, i in enumerate(independent)
        ]
        left = _Whole(replace(self.owner, name=name), smaller, block, self.taken)
        if count == 1:
            left.members = [replace(smaller[0], name=name)]
        found = left.regular() if count else FieldLimit((), (), {}, ())
        vanishing: dict[str, Side] = {e.name: other_side(side) for e in meters}
        return FieldLimit((*meters, connection, *found.elements), found.fields, vanishing, ())

    def _meters(self, side: Side) -> tuple[list[Element], list[str]]:
        """The members as elements whose input vanishes: they show the old outputs, and what stands behind them at which nodes."""
        meters, nodes = [], []
        for element in self.members:
            name = without_index(element.name)
            plus, minus = element.nodes
            between = self._fresh(f"{name}_end") if side == "through" else plus
            at = (plus, between) if side == "through" else (plus, minus)
            meters.append(replace(element, name=name, nodes=at))
            nodes += [between, minus]
        return meters, nodes

    def _fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name


def _rows(matrix: Rows) -> tuple[tuple[Expression, ...], ...]:
    return tuple(tuple(row) for row in matrix)


def _row_space(matrix: Rows) -> tuple[Rows, list[int]]:
    """Columns that are independent, the first ones first, and Q with ones for these, so that M x = 0 where Q x = 0."""
    field = NamedEntries({})
    rows = [{j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in matrix]
    elimination = Elimination(rows, field)
    independent = [j for j in range(len(matrix)) if elimination.eliminate(j)]
    found = elimination.express(independent)
    Q = []
    for i in independent:
        row = []
        for j in range(len(matrix)):
            entry = found[i].get(j)
            row.append(ONE if i == j else ZERO if entry is None else -substituted(entry.expression, field.where))
        Q.append(row)
    return Q, independent


def _without_hidden_part(Q: Rows) -> Rows:
    """(Q Q^T)^-1 Q: the coordinates z of x = Q^T z + V mu, where V is what the field does not see."""
    field = NamedEntries({})
    count = len(Q)
    square = [{j: field.entry(e) for j, other in enumerate(Q) if not is_zero(e := dot(row, other))} for row in Q]
    right = [{count + j: field.entry(e) for j, e in enumerate(row) if not is_zero(e)} for row in Q]
    found, left = solve(square, right, list(range(count)), field)
    assert not left, "rows of a basis are independent"
    shares = [[found[i].get(count + j) for j in range(len(Q[0]))] for i in range(count)]
    return [[ZERO if s is None else shortened(substituted(s.expression, field.where)) for s in row] for row in shares]


def _block(Q: Rows, matrix: Rows) -> list[list[Expression]]:
    """Q M Q^T, the matrix of the storages that are left."""
    seen = [[dot(row, line) for line in matrix] for row in Q]
    return [[shortened(dot(row, other)) for other in Q] for row in seen]
