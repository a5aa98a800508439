"""Ports and couplings of the power graph, with their laws, from elements."""

from collections.abc import Mapping

from tellegen.core.domains import Domain, Side
from tellegen.description.model import PART_OF, Element
from tellegen.description.relations import Law, Multiport
from tellegen.elements import ACTS_ON
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.graph.heat import slope_of_energy, storage_of_energy
from tellegen.graph.invertibility import is_invertible
from tellegen.graph.law_tables import content_energy, output_energy
from tellegen.graph.laws import ARGUMENT, PortLaw, ResistiveLaw, SourceLaw, StorageLaw, argument
from tellegen.graph.naming import Names
from tellegen.graph.power_graph import Branch, Coupling, Port
from tellegen.graph.switching import switching_law


def port_of(element: Element, ends: tuple[int, ...], names: Names, parameters: Mapping[str, Expression | None]) -> Port:
    """The port of an element, with its law and the names of its variables."""
    law = _law(element, names, parameters)
    across, through, state = names.of(element, law)
    return Port(
        element.name,
        element.kind.domains[0],
        ends[0],
        ends[1],
        law,
        across,
        through,
        state,
        element.initial,
        element.prefer,
        element.forced,
        element.place,
        part_of=element.notes.get(PART_OF, ""),
    )


def _law(element: Element, names: Names, parameters: Mapping[str, Expression | None]) -> PortLaw:
    kind = element.kind
    if kind.role == "switching":
        law = switching_law(element, parameters)
        return law.modes[law.start]
    if kind.role == "source":
        return SourceLaw(kind.side, names.input_of(element))
    if element.law is not None:
        if kind.role == "storage":
            return _storage_law(element.law, element)
        expression = _of_argument(element.law, element.law.expression)
        return ResistiveLaw(element.law.gives, None, expression, is_invertible(expression, parameters))
    if kind.weightless:
        return StorageLaw(kind.side, ZERO)
    assert element.value is not None, f"'{element.name}' has neither a value nor a law"
    if kind.energy:
        return storage_of_energy(kind, element.value)
    if kind.role == "storage":
        return StorageLaw(kind.side, ONE / element.value if kind.inverse else element.value)
    # What is zero by its nature (an ideal sensor) can only be told the other variable.
    return ResistiveLaw(kind.side, element.value, invertible=element.value is not ZERO)


def _of_argument(law: Law, expression: Expression) -> Expression:
    return expression.substitute({law.variable: argument()})


def _storage_law(law: Law, element: Element) -> StorageLaw:
    side = element.kind.side
    written = _of_argument(law, law.expression)
    if law.form == "content":
        return StorageLaw(
            side, content=written, energy=None if law.table is None else content_energy(law.table, written)
        )
    if law.form == "output":
        return StorageLaw(side, output=written, energy=None if law.table is None else output_energy(law.table))
    if law.form == "coenergy":  # the derivative of the co-energy with respect to the output is the energy variable
        return StorageLaw(side, content=written.derivative(ARGUMENT))
    if _is_energy_letter(law, element):
        return StorageLaw(side, output=written.derivative(ARGUMENT), energy=written)
    return StorageLaw(side, slope=slope_of_energy(written), energy=written)


def _is_energy_letter(law: Law, element: Element) -> bool:
    domain: Domain = element.kind.domain
    return law.variable in domain.energy(element.kind.side).letters or law.variable == element.variables.get("energy")


def coupling_of(element: Element, ends: tuple[int, ...]) -> Coupling:
    """The coupling of an element of two ports or more."""
    kind = element.kind
    if element.multiport is not None:
        return _multiport(element, element.multiport, ends)
    assert kind.coupling is not None, "a coupling says which variables it relates"
    modulus = element.value if element.value is not None else symbol(element.name)
    one, two = ACTS_ON[kind.coupling, kind.reciprocal]
    side_1 = Branch(ends[0], ends[1], kind.domains[0], one)
    side_2 = Branch(ends[2], ends[3], kind.domains[1], two)
    return Coupling(element.name, (side_1,), (side_2,), ((modulus,),), element.place, dict(element.variables))


def _multiport(element: Element, relation: Multiport, ends: tuple[int, ...]) -> Coupling:
    def branches(ports: tuple[int, ...], sides: tuple[Side, ...]) -> tuple[Branch, ...]:
        domains = element.kind.domains
        return tuple(
            Branch(ends[2 * k], ends[2 * k + 1], domains[k], side) for k, side in zip(ports, sides, strict=True)
        )

    side_1 = branches(relation.given, relation.given_sides)
    side_2 = branches(relation.gives, relation.gives_sides)
    return Coupling(element.name, side_1, side_2, relation.K, element.place)
