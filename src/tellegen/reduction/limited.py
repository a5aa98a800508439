"""A model whose laws are at their limit: some power variables vanish, some outputs freeze, the others keep a law.

A storage without inertia asks for nothing: its input vanishes (a massless body: no force; a rigid spring: no velocity). One of
infinite inertia keeps its output. A resistance at zero or infinity lets one of its variables vanish.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import enumeration, listing
from tellegen.description.model import Element, Model
from tellegen.description.relations import MatrixField
from tellegen.expressions import ONE, ZERO, Expression, is_zero, to_text
from tellegen.expressions.entries import substituted
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.reduction import rules
from tellegen.reduction.asymptotics import DependsOnRatioError, NoLimitError, limit_of
from tellegen.reduction.limits import Limit
from tellegen.reduction.matrix_fields import FieldLimit, limited_field
from tellegen.reduction.naming import without_index
from tellegen.reduction.places import Places, entry_name, find_places


@final
@dataclass(frozen=True)
class Limited:
    """The model with its laws at the limit.

    `vanishing` gives for an element the power variable that is zero, `frozen` lists the storages that keep their output. These
    elements still stand in the model as they were described. `causes` names the limits behind each.
    """

    model: Model
    vanishing: Mapping[str, Side]
    frozen: tuple[str, ...]
    causes: Mapping[str, tuple[str, ...]]
    findings: tuple[Finding, ...]


def at_limits(model: Model, graph: PowerGraph, limits: tuple[Limit, ...]) -> Limited:
    """Put the laws of a model at their limits; `graph` is the model's own.

    Raises: ReductionError when a limit names nothing, removes nothing, does not exist or depends on a ratio.
    """
    return _Limiter(model, graph, find_places(model, limits)).limited()


class _Limiter:
    def __init__(self, model: Model, graph: PowerGraph, places: Places) -> None:
        self.model = model
        self.places = places
        self.laws = {port.element: port.law for port in graph.ports}
        self.vanishing: dict[str, Side] = {}
        self.frozen: list[str] = []
        self.given = {name: p.expression for name, p in model.parameters.items() if p.expression is not None}

    def limited(self) -> Limited:
        """The model with every law at its limit."""
        elements: list[Element] = []
        fields: list[MatrixField] = []
        first = {f.members[0]: f for f in self.model.fields}
        inside = {m: f for f in self.model.fields for m in f.members}
        for element in self.model.elements:
            owner = inside.get(element.name)
            if owner is None or owner.name not in self.places.acting:
                elements.append(self._element(element) if element.name in self.places.acting else element)
                fields += [first[element.name]] if element.name in first else []
            elif element.name in first:
                found = self._field(owner)
                elements += found.elements
                fields += found.fields
                self.vanishing |= found.vanishing
                self.frozen += found.frozen
        members = self._owners()
        causes = {
            name: tuple(limit.name for limit in self.places.acting.get(members.get(name, name), ()))
            for name in (*self.vanishing, *self.frozen)
        }
        model = replace(self.model, elements=tuple(elements), fields=tuple(fields))
        self._refuse_idle_limits(model)
        return Limited(model, self.vanishing, tuple(self.frozen), causes, tuple(self._other_places()))

    # -- one element -----------------------------------------------------------------------------------------------------------

    def _element(self, element: Element) -> Element:
        if element.kind.role == "coupling":
            return self._coupling(element)
        if element.law is not None:
            return self._law(element)
        assert element.value is not None, "an element without law has a value"
        value = self._limit(element.name, self.places.value(element.name, element.value))
        if element.kind.role == "storage":
            inertia = _reciprocal(value) if element.kind.inverse else value
            return self._storage(element, inertia, value)
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
        expression = self._limit(element.name, self.places.value(element.name, law.expression))
        gives = law.gives if law.form == "resistive" else side
        of_energy = isinstance(self.laws[element.name], StorageLaw) and self.laws[element.name].output is not None  # type: ignore[union-attr]
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
        found = self._limit(element.name, self.places.value(element.name, entry))
        if found is None:
            raise rules.NO_LIMIT.error(
                f"a modulus of '{element.name}' would be infinite",
                where=element.name,
                why="a coupling with an infinite modulus stops one side and passes nothing: no finite power is left",
                fix=f"keep {listing(limit.name for limit in self.places.acting[element.name])}",
                place=element.place,
                members=[element.name],
            )
        return found

    def _limit(self, name: str, expression: Expression, owner: str = "") -> Expression | None:
        """The limit of an expression of an element."""
        acting = self.places.on(owner or name)
        values = {n: limit.to for n, limit in acting.items() if limit.order == 0 and limit.to is not None}
        orders = {n: limit.order for n, limit in acting.items() if limit.order}
        try:
            return limit_of(substituted(expression, values), orders)
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
        limits = [limit.name for limit in self.places.acting[owner.name]]
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
                    entry_name(owner.name, i, j), self.places.value(entry_name(owner.name, i, j), e), owner.name
                )
                for j, e in enumerate(row)
            ]
            for i, row in enumerate(owner.matrix)
        ]
        taken = {e.name for e in self.model.elements} | {n for e in self.model.elements for n in e.nodes}
        given = self.given if any(limit.order == 0 for limit in self.places.acting[owner.name]) else {}
        return limited_field(owner, members, matrix, taken, limits, given)

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
        for name, limits in self.places.acting.items():
            for limit in limits:
                if limit.order == 0 and name not in acted and name not in couplings:
                    raise rules.NOT_SINGULAR.error(
                        f"'{limit}' leaves '{name}' a storage or element like any other",
                        where=name,
                        fix=f"set the value in the file, or give a limit such as '{limit.name}=0'",
                        members=[name],
                    )

    def _other_places(self) -> Iterable[Finding]:
        for name, kept in self.places.keeping.items():
            if kept:
                yield rules.OTHER_PLACES.finding(
                    f"'{name}' keeps its value in {enumeration(kept)}",
                    where=name,
                    fix="give the other place a parameter of its own if it should follow the limit",
                )


def _reciprocal(value: Expression | None) -> Expression | None:
    if value is None:
        return ZERO
    return None if is_zero(value) else ONE / value


def _has_zero(element: Element) -> bool:
    entries = [element.value] if element.multiport is None else [e for row in element.multiport.K for e in row]
    return any(e is not None and is_zero(e) for e in entries)
