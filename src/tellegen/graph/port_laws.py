"""Ports, couplings and fields of the power graph, with their laws and the names of their variables, from elements."""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from tellegen.core.domains import Domain, Side, other_side
from tellegen.core.errors import Finding
from tellegen.core.names import named_after, unused
from tellegen.elements import ACTS_ON
from tellegen.expressions import ONE, ZERO, Expression, symbol
from tellegen.expressions.polynomials import interpolated_integral
from tellegen.graph import rules
from tellegen.graph.heat import slope_of_energy, storage_of_energy
from tellegen.graph.power_graph import (
    ARGUMENT,
    Branch,
    Coupling,
    Field,
    Port,
    PortLaw,
    ResistiveLaw,
    SourceLaw,
    StorageLaw,
    argument,
)
from tellegen.graph.switching import switching_law
from tellegen.model.laws import Law, LawTable, MatrixField, Multiport
from tellegen.model.model import PART_OF, Element, Model


class VariableNames:
    """Hands out one name for each variable and watches that no name stands for two things."""

    def __init__(self, model: Model) -> None:
        self.findings: list[Finding] = []
        self._taken: dict[str, str] = {name: f"the parameter '{name}'" for name in model.parameters}
        for element in model.elements:
            chosen = dict(element.variables)
            if element.kind.role == "source":
                chosen.setdefault(element.kind.side, element.name)
            for name in chosen.values():
                self._choose(name, element)

    def of(self, element: Element, law: PortLaw) -> tuple[str, str, str]:
        """The names of the across and through variables, and of the state where the element stores energy."""
        kind, chosen = element.kind, element.variables
        domain = kind.domain
        across = chosen.get("across") or (
            element.name if _imposes(element, "across") else self._default(domain.across.symbol, element)
        )
        through = chosen.get("through") or (
            element.name if _imposes(element, "through") else self._default(domain.through.symbol, element)
        )
        if not isinstance(law, StorageLaw):
            return across, through, ""
        if law.keeps_energy_variable:
            return across, through, chosen.get("energy") or self._default(domain.energy(kind.side).symbol, element)
        return across, through, across if kind.side == "across" else through

    def input_of(self, element: Element) -> str:
        """The name of a source's input: the variable that it imposes."""
        return element.variables.get(element.kind.side, element.name)

    def _choose(self, name: str, element: Element) -> None:
        holder = self._taken.get(name)
        if holder is not None:
            own = f"{name}_{element.name.rpartition('.')[2]}"
            self.findings.append(
                rules.NAME_TAKEN.finding(
                    f"'{element.name}' names a variable '{name}', which is {holder}",
                    where=element.name,
                    fix=f"give the variable another name, such as '{own}'",
                    place=element.place,
                    members=[element.name],
                )
            )
        self._taken[name] = f"a variable of '{element.name}'"

    def _default(self, symbol: str, element: Element) -> str:
        name = unused(named_after(symbol, element.name), self._taken)
        self._taken[name] = f"a variable of '{element.name}'"
        return name


def _imposes(element: Element, side: str) -> bool:
    return element.kind.role == "source" and element.kind.side == side


_PROBES = [sign * 10.0**k for sign, ks in ((-1, range(3, -5, -1)), (1, range(-4, 4))) for k in ks]
_JUMP = 1e-9


def is_invertible(expression: Expression, parameters: Mapping[str, Expression | None]) -> bool:
    """Whether the law is continuous at zero and strictly monotonic where probed.

    Coulomb friction jumps and a diode saturates: neither can be solved for its argument. A probe is enough here because a wrong
    yes only turns the law into an algebraic equation that Newton's method solves, and a wrong no only fixes its causality.
    """
    numbers = _numbers(expression.free_symbols - {ARGUMENT}, parameters)
    try:
        values = [expression.evaluate(numbers | {ARGUMENT: x}) for x in _PROBES]
        left, right = (expression.evaluate(numbers | {ARGUMENT: x}) for x in (-_JUMP, _JUMP))
    except (ArithmeticError, ValueError):
        return False
    steps = [b - a for a, b in pairwise(values)]
    monotonic = all(s > 0 for s in steps) or all(s < 0 for s in steps)
    scale = max(map(abs, values))
    # A square root rises by 6e-5 over the jump interval; a jump by a fixed share of the scale.
    return monotonic and math.isfinite(scale) and abs(right - left) < 1e-3 * scale


def _numbers(names: frozenset[str], parameters: Mapping[str, Expression | None]) -> dict[str, float]:
    """Values of the parameters in a law; one where a value is missing."""
    found: dict[str, float] = {}

    def value(name: str) -> float:
        if name not in found:
            expression = parameters.get(name)
            found[name] = (
                1.0 if expression is None else expression.evaluate({n: value(n) for n in expression.free_symbols})
            )
        return found[name]

    try:
        return {name: value(name) for name in names}
    except (ArithmeticError, ValueError):
        return dict.fromkeys(names, 1.0)


def energy_of_output_table(table: LawTable) -> Expression:
    """The energy of the energy variable: the integral of the output."""
    return interpolated_integral(table.points, argument(), smooth=table.smooth)


def energy_of_content_table(table: LawTable, content: Expression) -> Expression:
    """The energy of the output x: x q(x) less the integral of q, which is the co-energy."""
    return argument() * content - interpolated_integral(table.points, argument(), smooth=table.smooth)


def port_of(
    element: Element, ends: tuple[int, ...], names: VariableNames, parameters: Mapping[str, Expression | None]
) -> Port:
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


def _law(element: Element, names: VariableNames, parameters: Mapping[str, Expression | None]) -> PortLaw:
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
            side, content=written, energy=None if law.table is None else energy_of_content_table(law.table, written)
        )
    if law.form == "output":
        return StorageLaw(side, output=written, energy=None if law.table is None else energy_of_output_table(law.table))
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


def power_fields(model: Model, ports: list[Port]) -> tuple[Field, ...]:
    """The fields of a model; the ports that belong to them are changed where their laws read each other."""
    at = {port.element: k for k, port in enumerate(ports)} if model.fields else {}
    return tuple(_field(f, [at[member] for member in f.members], ports) for f in model.fields)


def _field(field: MatrixField, members: list[int], ports: list[Port]) -> Field:
    """A field; the laws of its ports, which read all its energy variables, get the names of the states for them."""
    if field.energy is None and field.letters:
        _read_each_other(field, members, ports)
        return Field(field.name, tuple(members), field.matrix, by_laws=True)
    if field.energy is None:
        _couple(field, members, ports)
        return Field(field.name, tuple(members), field.matrix, stiffness=field.stiffness)
    states = {letter: symbol(ports[k].state) for letter, k in zip(field.letters, members, strict=True)}
    for k, letter in zip(members, field.letters, strict=True):
        others = {name: state for name, state in states.items() if name != letter}
        law = ports[k].law
        assert isinstance(law, StorageLaw), "only storages have an energy"
        assert law.output is not None, "the law of such a port gives its output"
        share = field.energy.substitute({**others, letter: argument()}) if k == members[0] else ZERO
        ports[k] = replace(ports[k], law=replace(law, output=law.output.substitute(others), energy=share))
    return Field(field.name, tuple(members), field.matrix, field.energy.substitute(states))


def _read_each_other(field: MatrixField, members: list[int], ports: list[Port]) -> None:
    """Laws of a resistive field get the names of what the other ports are told."""
    told = {
        letter: symbol(ports[k].variable(other_side(ports[k].law.side)))
        for letter, k in zip(field.letters, members, strict=True)
    }
    for k, letter in zip(members, field.letters, strict=True):
        law = ports[k].law
        assert isinstance(law, ResistiveLaw), "only resistive laws are told something"
        assert law.expression is not None, "a port of such a field has a law"
        others = {name: e for name, e in told.items() if name != letter}
        expression = law.expression.substitute(others)
        reads = expression is not law.expression
        ports[k] = replace(ports[k], law=replace(law, expression=expression, coupled=reads))


def _couple(field: MatrixField, members: list[int], ports: list[Port]) -> None:
    """Tell the laws of resistive ports that their variable also follows other ports."""
    for i, (k, row) in enumerate(zip(members, field.matrix, strict=True)):
        law = ports[k].law
        if isinstance(law, ResistiveLaw) and any(e is not ZERO for j, e in enumerate(row) if j != i):
            ports[k] = replace(ports[k], law=replace(law, invertible=True, coupled=True))
