"""A model whose laws and fields are at their limit: some power variables vanish, some outputs freeze, the others keep a law.

A singular matrix does not see some x = V mu. With Q V = 0, every x is Q^T z + V mu, and the stored energy is that of fewer storages
with the matrix Q M Q^T. So the field becomes a smaller field behind a connection z = (Q Q^T)^-1 Q x, and mu is left to the rest of
the model: for a motor whose homopolar current stores nothing, z are the currents less their mean.

A storage without inertia asks for nothing: its input vanishes (a massless body: no force; a rigid spring: no velocity). One of
infinite inertia keeps its output. A resistance at zero or infinity lets one of its variables vanish.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, final

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import enumeration, listing, unused
from tellegen.elements import multiport_kind
from tellegen.equations.matrices import dot, product, solved_linear_system, transposed
from tellegen.expressions import ONE, ZERO, Expression, is_zero, to_text
from tellegen.expressions.elimination import Elimination, NamedEntries, with_definitions
from tellegen.expressions.simplification import shortened
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.model.laws import MatrixField, Multiport
from tellegen.model.model import Element, Model
from tellegen.reduction import rules
from tellegen.reduction.asymptotics import DependsOnRatioError, NoLimitError, limit_of
from tellegen.reduction.limits import Limit, LimitTargets, entry_name, find_limit_targets, without_index

Rows = Sequence[Sequence[Expression]]


@final
@dataclass(frozen=True)
class FieldLimit:
    """What a field becomes: elements, the field that is left of it, and which of its members vanish or freeze."""

    elements: tuple[Element, ...]
    fields: tuple[MatrixField, ...]
    vanishing: Mapping[str, Side]
    frozen: tuple[str, ...]


def field_at_limits(
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
    # Members may be of several kinds, each with a side of its own; all of them store, or none does.
    storage = members[0].kind.role == "storage"
    names = {m.name: without_index(m.name) for m in members}
    infinite = [k for k, row in enumerate(matrix) if row[k] is None]
    # Before anything else: with an infinite mutual term no row can be taken out by itself.
    _refuse_infinite_mutual(owner, matrix, infinite, limits)
    finite = [k for k in range(len(members)) if k not in infinite]
    rest = [[_finite(matrix[i][j]) for j in finite] for i in finite]
    # A zero on the diagonal of an energy matrix needs a zero row, or the energy could be negative.
    empty = [k for i, k in enumerate(finite) if is_zero(rest[i][i])]
    for i, k in enumerate(finite):
        if k in empty and storage and any(not is_zero(e) for e in rest[i]):
            _refuse_mutual(owner, members[k].name, limits)
    # A resistive matrix may have gyrator entries beside a zero diagonal: a row is empty only where nothing at all is left.
    if not storage:
        empty = [k for i, k in enumerate(finite) if all(is_zero(e) for e in (*rest[i], *(r[i] for r in rest)))]
    kept = [k for k in finite if k not in empty]
    left = [[rest[finite.index(i)][finite.index(j)] for j in kept] for i in kept]
    # Members that stand alone now lose their index, which would name an entry of a field that is gone.
    gone = {k: replace(members[k], name=names[members[k].name]) for k in (*infinite, *empty)}
    whole = _Whole(owner, [members[k] for k in kept], left, set(taken))
    sides = {k: member.kind.side for k, member in enumerate(members)}
    vanishing: dict[str, Side] = {gone[k].name: other_side(sides[k]) if storage else sides[k] for k in empty}
    if not storage:
        vanishing |= {gone[k].name: other_side(sides[k]) for k in infinite}
    frozen = tuple(gone[k].name for k in infinite) if storage else ()
    # Only an energy can be singular without harm: a loss of lower rank is a loss like any other.
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
        # Regular in general, but the values may make it singular: `M = L` is given as a limit by its value.
        if len(independent) == len(self.members) and given:
            numbers = [[with_definitions(e, given) for e in row] for row in self.matrix]
            again, fewer = _row_space(numbers)
            if len(fewer) < len(independent):
                self.matrix, seen, independent = numbers, again, fewer
        if len(independent) == len(self.members):
            return self.regular()
        return self._behind_connection(seen, independent)

    def _behind_connection(self, Q: Rows, independent: list[int]) -> FieldLimit:
        name, count = self.owner.name, len(independent)
        meters, nodes = self._meters()
        # The smaller storages stand at nodes of their own, behind the connection that takes the seen part of x.
        ends = [self._fresh(f"{name}_{k + 1}") for k in range(count)]
        kinds = [member.kind for member in self.members]
        references = [kinds[i].domain.reference for i in independent]
        nodes += [node for pair in zip(ends, references, strict=True) for node in pair]
        n = len(self.members)
        given, gives = tuple(range(n)), tuple(range(n, n + count))
        sides = tuple(kind.side for kind in kinds)
        relation = Multiport(given, gives, sides, tuple(sides[i] for i in independent), _rows(_without_hidden_part(Q)))
        made = multiport_kind(tuple(kind.domains[0] for kind in (*kinds, *(kinds[i] for i in independent))))
        connection = Element(self._fresh(f"{name}_map"), made, tuple(nodes), multiport=relation, place=self.owner.place)
        block = _block(Q, self.matrix)
        smaller = [
            replace(
                self.members[i],
                name=f"{name}[{k + 1}]",
                nodes=(ends[k], references[k]),
                value=block[k][k],
                variables={
                    sides[i]: self._fresh(
                        f"{self.members[i].variables.get(sides[i], without_index(self.members[i].name))}_r"
                    )
                },
            )
            for k, i in enumerate(independent)
        ]
        left = _Whole(replace(self.owner, name=name), smaller, block, self.taken)
        # One storage is left: it takes the name of the field, which users know.
        if count == 1:
            left.members = [replace(smaller[0], name=name)]
        found = left.regular() if count else FieldLimit((), (), {}, ())
        vanishing: dict[str, Side] = {e.name: other_side(e.kind.side) for e in meters}
        return FieldLimit((*meters, connection, *found.elements), found.fields, vanishing, ())

    def _meters(self) -> tuple[list[Element], list[str]]:
        """The members as elements whose input vanishes: they show the old outputs, and what stands behind them at which nodes."""
        meters, nodes = [], []
        for element in self.members:
            name, side = without_index(element.name), element.kind.side
            plus, minus = element.nodes
            # A meter of a through variable stands in series, one of an across variable beside.
            between = self._fresh(f"{name}_end") if side == "through" else plus
            at = (plus, between) if side == "through" else (plus, minus)
            meters.append(replace(element, name=name, nodes=at))
            nodes += [between, minus]
        return meters, nodes

    def _fresh(self, name: str) -> str:
        name = unused(name, self.taken)
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
            # Q has ones at the independent columns, so that old outputs keep their meaning there.
            entry = found[i].get(j)
            row.append(ONE if i == j else ZERO if entry is None else -with_definitions(entry.expression, field.where))
        Q.append(row)
    return Q, independent


def _without_hidden_part(Q: Rows) -> Rows:
    """(Q Q^T)^-1 Q: the coordinates z of x = Q^T z + V mu, where V is what the field does not see."""
    columns = len(Q[0])
    # Q Q^T is regular, since the rows of a basis are independent.
    found = solved_linear_system(product(_rows(Q), transposed(_rows(Q), columns), len(Q)), _rows(Q), columns, {})
    assert found is not None, "rows of a basis are independent"
    return [[shortened(e) for e in row] for row in found]


def _block(Q: Rows, matrix: Rows) -> list[list[Expression]]:
    """Q M Q^T, the matrix of the storages that are left."""
    seen = [[dot(row, line) for line in matrix] for row in Q]
    return [[shortened(dot(row, other)) for other in Q] for row in seen]


@final
@dataclass(frozen=True)
class ModelAtLimits:
    """The model with its laws at the limit.

    `vanishing` gives for an element the power variable that is zero, `frozen` lists the storages that keep their output. These
    elements still stand in the model as they were described. `causes` names the limits behind each.
    """

    model: Model
    vanishing: Mapping[str, Side]
    frozen: tuple[str, ...]
    causes: Mapping[str, tuple[str, ...]]
    findings: tuple[Finding, ...]


def model_at_limits(model: Model, graph: PowerGraph, limits: tuple[Limit, ...]) -> ModelAtLimits:
    """Put the laws of a model at their limits; `graph` is the model's own.

    Raises: ReductionError when a limit names nothing, removes nothing, does not exist or depends on a ratio.
    """
    return _Limiter(model, graph, find_limit_targets(model, limits)).limited()


class _Limiter:
    def __init__(self, model: Model, graph: PowerGraph, targets: LimitTargets) -> None:
        self.model = model
        self.targets = targets
        self.laws = {port.element: port.law for port in graph.ports}
        self.vanishing: dict[str, Side] = {}
        self.frozen: list[str] = []
        self.given = {name: p.expression for name, p in model.parameters.items() if p.expression is not None}

    def limited(self) -> ModelAtLimits:
        elements: list[Element] = []
        fields: list[MatrixField] = []
        first = {f.members[0]: f for f in self.model.fields}
        # Fields are treated once, at their first member, and stand where that stood.
        inside = {m: f for f in self.model.fields for m in f.members}
        for element in self.model.elements:
            owner = inside.get(element.name)
            if owner is None or owner.name not in self.targets.acting:
                elements.append(self._element(element) if element.name in self.targets.acting else element)
                fields += [first[element.name]] if element.name in first else []
            elif element.name in first:
                found = self._field(owner)
                elements += found.elements
                fields += found.fields
                self.vanishing |= found.vanishing
                self.frozen += found.frozen
        members = self._owners()
        causes = {
            name: tuple(limit.name for limit in self.targets.acting.get(members.get(name, name), ()))
            for name in (*self.vanishing, *self.frozen)
        }
        model = replace(self.model, elements=tuple(elements), fields=tuple(fields))
        self._refuse_idle_limits(model)
        return ModelAtLimits(model, self.vanishing, tuple(self.frozen), causes, tuple(self._other_places()))

    # -- one element -----------------------------------------------------------------------------------------------------------

    def _element(self, element: Element) -> Element:
        if element.kind.role == "coupling":
            return self._coupling(element)
        if element.law is not None:
            return self._law(element)
        assert element.value is not None, "an element without law has a value"
        value = self._limit(element.name, self.targets.value(element.name, element.value))
        if element.kind.role == "storage":
            # A stiffness to infinity is an inertia to zero: what vanishes or freezes is decided by the inertia.
            inertia = _reciprocal(value) if element.kind.inverse else value
            return self._storage(element, inertia, value)
        # A conductance without bound lets no difference stand, a resistance without bound no flow.
        if value is None:
            self.vanishing[element.name] = other_side(element.kind.side)
        elif is_zero(value):
            self.vanishing[element.name] = element.kind.side
        return replace(element, value=value) if value is not None else element

    def _storage(self, element: Element, inertia: Expression | None, value: Expression | None) -> Element:
        if inertia is None:
            self.frozen.append(element.name)
        elif is_zero(inertia):
            self.vanishing[element.name] = other_side(element.kind.side)
        return replace(element, value=value) if value is not None else element

    def _law(self, element: Element) -> Element:
        """A law that the user wrote: it vanishes, grows without bound, or goes over into another one."""
        law, side = element.law, element.kind.side
        assert law is not None, "asked for elements with a law only"
        expression = self._limit(element.name, self.targets.value(element.name, law.expression))
        # A law may be written for either variable, and the one that it gives is the one that vanishes with it.
        gives = law.gives if law.form == "resistive" else side
        of_energy = isinstance(self.laws[element.name], StorageLaw) and self.laws[element.name].output is not None  # type: ignore[union-attr]
        # The law goes over into another one: nothing vanishes, and the element stays.
        if expression is not None and not is_zero(expression):
            return replace(element, law=replace(law, expression=expression, text=to_text(expression)))
        grows = expression is None
        if element.kind.role == "resistive" or of_energy:
            self.vanishing[element.name] = other_side(gives) if grows else gives
        elif grows:
            self.frozen.append(element.name)
        else:
            self.vanishing[element.name] = other_side(side)
        return element

    def _coupling(self, element: Element) -> Element:
        if element.multiport is None:
            assert element.value is not None, "a coupling of two ports has a modulus"
            return replace(element, value=self._modulus(element, element.value))
        K = tuple(tuple(self._modulus(element, e) for e in row) for row in element.multiport.K)
        return replace(element, multiport=replace(element.multiport, K=K))

    def _modulus(self, element: Element, entry: Expression) -> Expression:
        found = self._limit(element.name, self.targets.value(element.name, entry))
        if found is None:
            raise rules.NO_LIMIT.error(
                f"a modulus of '{element.name}' would be infinite",
                where=element.name,
                why="a coupling with an infinite modulus stops one side and passes nothing: no finite power is left",
                fix=f"keep {listing(limit.name for limit in self.targets.acting[element.name])}",
                place=element.place,
                members=[element.name],
            )
        return found

    def _limit(self, name: str, expression: Expression, owner: str = "") -> Expression | None:
        acting = self.targets.on(owner or name)
        # Limits to a value are substituted first; what is left tends to zero or to infinity.
        values = {n: limit.to for n, limit in acting.items() if limit.order == 0 and limit.to is not None}
        orders = {n: limit.order for n, limit in acting.items() if limit.order}
        try:
            return limit_of(with_definitions(expression, values), orders)
        # Two parallel springs to infinity: how they share a force depends on their ratio, which a limit does not say.
        except DependsOnRatioError as ratio:
            names = [str(n).removeprefix("@") for n in ratio.args]
            raise self._ratio(owner or name, names) from ratio
        except NoLimitError as reason:
            raise rules.NO_LIMIT.error(
                f"'{reason}' in '{owner or name}' has no limit",
                where=owner or name,
                fix=f"keep {listing(limit.name for limit in acting.values())}",
            ) from reason

    def _ratio(self, where: str, names: list[str]) -> TellegenError:
        ratio = "/".join(names[:2])
        return rules.RATIO_OF_LIMITS.error(
            f"'{where}' depends on the ratio {ratio} of the limits",
            where=where,
            fix=f"keep one of {listing(names)}, or say how they are related ('{names[0]}={names[-1]}')",
            members=[where],
        )

    # -- fields ----------------------------------------------------------------------------------------------------------------

    def _field(self, owner: MatrixField) -> FieldLimit:
        limits = [limit.name for limit in self.targets.acting[owner.name]]
        if owner.energy is not None:
            raise rules.NO_LIMIT.error(
                f"'{owner.name}' is given by its energy, which has no limit of a known form",
                where=owner.name,
                why="where an energy of several variables vanishes or grows without bound, its laws do not say what is left",
                fix=f"give '{owner.name}' by a matrix, or keep {listing(limits)}",
                place=owner.place,
                members=owner.members,
            )
        members = [e for m in owner.members for e in self.model.elements if e.name == m]
        matrix = [
            [
                self._limit(
                    entry_name(owner.name, i, j), self.targets.value(entry_name(owner.name, i, j), e), owner.name
                )
                for j, e in enumerate(row)
            ]
            for i, row in enumerate(owner.matrix)
        ]
        taken = {e.name for e in self.model.elements} | {n for e in self.model.elements for n in e.nodes}
        given = self.given if any(limit.order == 0 for limit in self.targets.acting[owner.name]) else {}
        return field_at_limits(owner, members, matrix, taken, limits, given)

    # -- what to say -----------------------------------------------------------------------------------------------------------

    def _owners(self) -> dict[str, str]:
        """The field of each member, which loses its index where the field is broken up."""
        return {name: f.name for f in self.model.fields for m in f.members for name in (m, without_index(m))}

    def _refuse_idle_limits(self, model: Model) -> None:
        """A value that makes nothing singular is no limit."""
        changed = {*self.vanishing, *self.frozen}
        inside = self._owners()
        acted = {inside.get(name, name) for name in changed}
        couplings = {e.name for e in model.elements if e.kind.role == "coupling" and _has_zero(e)}
        for name, limits in self.targets.acting.items():
            for limit in limits:
                # A value that leaves the matrix regular changes a number only, which is no reduction.
                if limit.order == 0 and name not in acted and name not in couplings:
                    raise rules.NOT_SINGULAR.error(
                        f"'{limit}' leaves '{name}' a storage or element like any other",
                        where=name,
                        fix=f"set the value in the file, or give a limit such as '{limit.name}=0'",
                        members=[name],
                    )

    def _other_places(self) -> Iterable[Finding]:
        for name, kept in self.targets.keeping.items():
            if kept:
                yield rules.OTHER_PLACES.finding(
                    f"'{name}' keeps its value in {enumeration(kept)}",
                    where=name,
                    fix="give the other place a parameter of its own if it should follow the limit",
                )


def _reciprocal(value: Expression | None) -> Expression | None:
    # Of a storage given by its stiffness, whose inertia this is: infinite stiffness is no inertia.
    if value is None:
        return ZERO
    return None if is_zero(value) else ONE / value


def _has_zero(element: Element) -> bool:
    entries = [element.value] if element.multiport is None else [e for row in element.multiport.K for e in row]
    return any(e is not None and is_zero(e) for e in entries)
