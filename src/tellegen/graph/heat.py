"""Heat in the PowerGraph: what a capacity keeps, what conductors pass on, and dissipators whose heat goes into a thermal port."""

from collections.abc import Sequence
from dataclasses import replace

from tellegen.core.domains import DOMAINS, THERMAL_DOMAINS
from tellegen.elements import ElementKind
from tellegen.expressions import Expression, parse, symbol, total
from tellegen.expressions.polynomials import powers_of, sum_of_powers
from tellegen.graph import rules
from tellegen.graph.measurements import Measurements
from tellegen.graph.power_graph import ARGUMENT, Branch, Coupling, Node, Port, ResistiveLaw, StorageLaw, argument
from tellegen.model.model import Element, Model

POWER = "power."
"""Stands before the name of an element whose power a signal reads."""


def storage_of_energy(kind: ElementKind, value: Expression) -> StorageLaw:
    """The law of a storage whose kind says its energy."""
    assert kind.quantity is not None, "the energy of a kind depends on its parameter"
    letter = kind.domain.power(kind.side).letters[0]
    # The table of kinds writes the energy with the letter of the domain, as in 1/2 C T^2; the graph knows one argument
    # for all laws.
    energy = parse(kind.energy).substitute({kind.quantity.key: value, letter: argument()})
    return StorageLaw(kind.side, slope=slope_of_energy(energy), energy=energy)


def slope_of_energy(energy: Expression) -> Expression:
    """dq/dx = E'(x)/x, from dE = x dq; divided term by term where that avoids 0/0 at rest."""
    rate = energy.derivative(ARGUMENT)
    powers = powers_of(rate, ARGUMENT)
    # Divided term by term C T^2 / T is C T. Divided as a whole it would be 0/0 for a capacity at absolute zero.
    return rate / argument() if powers is None else sum_of_powers({n - 1: c for n, c in powers.items()}, ARGUMENT)


# Conductors


def with_heat_conduction(
    couplings: Sequence[Coupling], model: Model, nodes: Sequence[Node], ports: Sequence[Port]
) -> list[Coupling]:
    """Couplings that pass on heat get the modulus of their temperatures.

    Heat q leaves at T_1 with the entropy q/T_1 and arrives at T_2 with q/T_2: that is a gyrator of modulus q/(T_1 T_2).

    Raises: GraphError (G109) where nothing decides a temperature.
    """
    # Most models conduct no entropy, and walking all pairs of nodes for them would cost more than the rest of lowering.
    heats = {e.name: e for e in model.elements if e.kind.heat}
    if not heats:
        return list(couplings)
    measuring = Measurements(nodes, ports, couplings)
    return [_conducting(c, heats[c.element], measuring) if c.element in heats else c for c in couplings]


def _conducting(coupling: Coupling, element: Element, measuring: Measurements) -> Coupling:
    quantity = element.kind.quantity
    assert quantity is not None, "what passes on heat has a conductance"
    assert element.value is not None, "what passes on heat has a value"
    one, two = (_temperature(branch, element, measuring) for branch in (*coupling.side_1, *coupling.side_2))
    heat = parse(element.kind.heat).substitute({quantity.key: element.value, "T_1": one, "T_2": two})
    # A gyrator conserves power by its form: T_1 S_1 = T_2 S_2 holds whatever the conductance does, and entropy is made
    # because T_1 and T_2 differ.
    return replace(coupling, K=((heat / (one * two),),))


def _temperature(branch: Branch, element: Element, measuring: Measurements) -> Expression:
    found = measuring.difference(branch.plus, branch.minus)
    if found is None:
        node = measuring.nodes[branch.plus].name
        raise rules.NO_TEMPERATURE.error(
            f"nothing decides the temperature of '{node}', which the {element.kind.name} '{element.name}' needs",
            where=element.name,
            fix=f"put an entropy capacity or a temperature source at '{node}'",
            place=element.place,
        )
    return found


# Dissipators whose heat is used


def with_heat_transfers(ports: Sequence[Port], elements: Sequence[Element]) -> tuple[Port, ...]:
    """The ports, marked where the power that dissipators take is what thermal sources bring."""
    resistive = {port.element for port in ports if isinstance(port.law, ResistiveLaw)}
    marked: set[str] = set()
    for element in elements:
        names = _powers_read(element)
        # A power may be brought once. Where two sources claim the same loss, none is marked, and the books of energy
        # show what does not close.
        if names and resistive.issuperset(names) and marked.isdisjoint(names) and _brings_all(element, names, ports):
            marked |= {element.name, *names}
    return tuple(replace(p, transferred=True) if p.element in marked else p for p in ports)


def _brings_heat(element: Element) -> bool:
    """Whether an element is a source of heat or entropy that a signal drives."""
    through = element.kind.role == "source" and element.kind.side == "through"
    return element.signal is not None and through and element.kind.domains[0] in THERMAL_DOMAINS


def _powers_read(element: Element) -> list[str]:
    """The elements whose power drives a thermal source."""
    if element.signal is None or not _brings_heat(element):
        return []
    return sorted(n.removeprefix(POWER) for n in element.signal.free_symbols if n.startswith(POWER))


def _brings_all(element: Element, names: Sequence[str], ports: Sequence[Port]) -> bool:
    """Whether a source brings all the power of the elements named: as heat, or as entropy at its temperature."""
    assert element.signal is not None, "only sources with a signal read powers"
    powers = total(symbol(POWER + name) for name in names)
    if DOMAINS[element.kind.domains[0]].heat_books:
        # Identity is enough: equal formulas are one object.
        return element.signal is powers
    source = next(port for port in ports if port.element == element.name)
    # The source of entropy lies between the same nodes as the element that has the temperature, in the opposite
    # direction.
    there = [port.across for port in ports if (port.plus, port.minus) == (source.minus, source.plus)]
    return any(element.signal * symbol(temperature) is powers for temperature in there)
