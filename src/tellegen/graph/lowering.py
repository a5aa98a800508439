"""From a described model to its PowerGraph: nodes are numbered, references found, loose ends refused, laws brought into one
form, variables named.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from string import digits

from tellegen.core.domains import DOMAINS, REFERENCES, Domain, Side, other_side
from tellegen.core.errors import Finding, GraphError
from tellegen.core.memory import carry_over, remembered, without_collector
from tellegen.core.names import listing, named_after, nearest, unused
from tellegen.core.union_find import UnionFind
from tellegen.core.units import Dimension
from tellegen.elements import ACTS_ON, KINDS
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.elimination import with_definitions
from tellegen.expressions.polynomials import interpolated_integral
from tellegen.graph import power_graph, rules
from tellegen.graph.heat import slope_of_energy, storage_of_energy, with_heat_conduction
from tellegen.graph.signal_lowering import joined_by_signals, with_signals
from tellegen.graph.switching import command_signals, switching_law
from tellegen.model.laws import Law, MatrixField, Multiport
from tellegen.model.model import MECHANISM, PART_OF, Element, Experiment, Model


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

    def of(self, element: Element, law: power_graph.PortLaw) -> tuple[str, str, str]:
        """The names of the across and through variables, and of the state where the element stores energy."""
        kind, chosen = element.kind, element.variables
        domain = kind.domain
        across = chosen.get("across") or (
            element.name if _imposes(element, "across") else self._default(domain.across.symbol, element)
        )
        through = chosen.get("through") or (
            element.name if _imposes(element, "through") else self._default(domain.through.symbol, element)
        )
        # Only storages have a state; its name is that of the variable they decide, or of the energy variable where the
        # law keeps that.
        if not isinstance(law, power_graph.StorageLaw):
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
            fix = f"give the variable another name, such as '{own}'"
            if element.kind.role == "source" and name == element.name and holder.startswith("the parameter"):
                fix = (
                    f"a source gives its name to its input: rename the parameter, and write 'signal: {name}_0' on the line of "
                    f"'{name}', or take the parameter away and give its value under 'experiment: inputs:'"
                )
            self.findings.append(
                rules.NAME_TAKEN.finding(
                    f"'{element.name}' names a variable '{name}', which is {holder}",
                    where=element.name,
                    fix=fix,
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


# From 1e-4 to 1e3 on both sides: wide enough for laws in SI units to show where they saturate, few enough for thousands
# of elements.
_PROBES = [sign * 10.0**k for sign, ks in ((-1, range(3, -5, -1)), (1, range(-4, 4))) for k in ks]
_JUMP = 1e-9


def _is_invertible(expression: Expression, parameters: Mapping[str, Expression | None]) -> bool:
    """Whether the law is continuous at zero and strictly monotonic where probed.

    Coulomb friction jumps and a diode saturates: neither can be solved for its argument. A probe is enough here because a wrong
    yes only turns the law into an algebraic equation that Newton's method solves, and a wrong no only fixes its causality.
    """
    # A law is judged at its values: whether a friction a + b*v^2 turns back depends on a and b.
    numbers = _numbers(expression.free_symbols - {power_graph.ARGUMENT}, parameters)

    try:
        values = [_sized(expression, numbers | {power_graph.ARGUMENT: x}) for x in _PROBES]
        left, right = (_sized(expression, numbers | {power_graph.ARGUMENT: x}) for x in (-_JUMP, _JUMP))
    except (ArithmeticError, ValueError):
        return False
    # An exponential is too large for a number at the outer probes: it is judged by what lies between.
    inner = [value for value in values if math.isfinite(value)]
    # Rising or falling everywhere, never level: a diode law is level to the last bit on one side, so it is found
    # out here.
    steps = [b - a for a, b in pairwise(inner)]
    monotonic = all(s > 0 for s in steps) or all(s < 0 for s in steps)
    # The law is compared with its own size, so that units do not decide.
    scale = max(map(abs, inner), default=0.0)
    # A square root rises by 6e-5 over the jump interval; a jump by a fixed share of the scale.
    return monotonic and abs(right - left) < 1e-3 * scale


def _sized(expression: Expression, values: Mapping[str, float]) -> float:
    """The value of a formula, infinite where it is too large for a number."""
    try:
        return expression.evaluate(values)
    except OverflowError:
        return math.inf


def _numbers(names: frozenset[str], parameters: Mapping[str, Expression | None]) -> dict[str, float]:
    """Values of the parameters in a law; one where a value is missing."""
    found: dict[str, float] = {}

    def value(name: str) -> float:
        if name not in found:
            expression = parameters.get(name)
            # A parameter without a value counts as one: then the form of the law decides, not a number that is not
            # there yet.
            found[name] = (
                1.0 if expression is None else expression.evaluate({n: value(n) for n in expression.free_symbols})
            )
        return found[name]

    try:
        return {name: value(name) for name in names}
    except (ArithmeticError, ValueError):
        return dict.fromkeys(names, 1.0)


def _port_of(
    element: Element, ends: tuple[int, ...], names: VariableNames, parameters: Mapping[str, Expression | None]
) -> power_graph.Port:
    """The port of an element, with its law and the names of its variables."""
    law = _law(element, names, parameters)
    across, through, state = names.of(element, law)
    return power_graph.Port(
        element=element.name,
        domain=element.kind.domains[0],
        plus=ends[0],
        minus=ends[1],
        law=law,
        across=across,
        through=through,
        state=state,
        initial=element.initial,
        prefer=element.prefer,
        forced=element.forced,
        place=element.place,
        part_of=element.notes.get(PART_OF, ""),
        initial_content=element.initial_content,
    )


def _law(element: Element, names: VariableNames, parameters: Mapping[str, Expression | None]) -> power_graph.PortLaw:
    kind = element.kind
    if kind.role == "switching":
        # The graph holds the laws of the mode in which a run begins; `in_mode` puts others in.
        law = switching_law(element, parameters)
        return law.modes[law.start]
    if kind.role == "source":
        return power_graph.SourceLaw(kind.side, names.input_of(element))
    if kind.role == "potential":
        assert element.law is not None, f"'{element.name}' has an energy"
        # A pull that nobody gave follows from the energy, when all ports are known.
        pull = ZERO if element.value is None else element.value
        return power_graph.ResistiveLaw(kind.side, None, pull, invertible=False, potential=element.law.expression)
    if element.law is not None:
        if kind.role == "storage":
            return replace(_storage_law(element.law, element), text=element.law.text)
        # Laws are over one argument whatever letter the user took, so that two equal laws are one object.
        expression = _of_argument(element.law, element.law.expression)
        invertible = _is_invertible(expression, parameters)
        return power_graph.ResistiveLaw(element.law.gives, None, expression, invertible, text=element.law.text)
    # A body without inertia still has a speed, which constraints may need: it is a storage of zero.
    if kind.weightless:
        return power_graph.StorageLaw(kind.side, ZERO)
    assert element.value is not None, f"'{element.name}' has neither a value nor a law"
    if kind.energy:
        return storage_of_energy(kind, element.value)
    if kind.role == "storage":
        # A spring is given by its stiffness, and energy variable = inertia * output needs the compliance.
        return power_graph.StorageLaw(kind.side, ONE / element.value if kind.inverse else element.value)
    # What is zero by its nature (an ideal sensor) can only be told the other variable.
    return power_graph.ResistiveLaw(kind.side, element.value, invertible=element.value is not ZERO)


def _of_argument(law: Law, expression: Expression) -> Expression:
    return expression.substitute({law.variable: power_graph.argument()})


def _storage_law(law: Law, element: Element) -> power_graph.StorageLaw:
    side = element.kind.side
    written = _of_argument(law, law.expression)
    integral = (
        interpolated_integral(law.table.points, power_graph.argument(), smooth=law.table.smooth) if law.table else None
    )
    if law.form == "content":
        # x q(x) less the integral of q, which is the co-energy.
        return power_graph.StorageLaw(
            side, content=written, energy=None if integral is None else power_graph.argument() * written - integral
        )
    if law.form == "output":
        return power_graph.StorageLaw(side, output=written, energy=integral)
    # Co-energy is a function of the output, and its slope is the energy variable (Legendre's transformation).
    if law.form == "coenergy":  # the derivative of the co-energy with respect to the output is the energy variable
        return power_graph.StorageLaw(side, content=written.derivative(power_graph.ARGUMENT))
    # With the letter of the energy variable its slope is the output; with that of the output only dq/dx = E'(x)/x is
    # known.
    if _is_energy_letter(law, element):
        return power_graph.StorageLaw(side, output=written.derivative(power_graph.ARGUMENT), energy=written)
    return power_graph.StorageLaw(side, slope=slope_of_energy(written), energy=written)


def _is_energy_letter(law: Law, element: Element) -> bool:
    domain: Domain = element.kind.domain
    return law.variable in domain.energy(element.kind.side).letters or law.variable == element.variables.get("energy")


def _coupling_of(element: Element, ends: tuple[int, ...]) -> power_graph.Coupling:
    kind = element.kind
    if element.multiport is not None:
        return _multiport(element, element.multiport, ends)
    assert kind.coupling is not None, "a coupling says which variables it relates"
    modulus = element.value if element.value is not None else symbol(element.name)
    # A gyrator is a transformer between an across and a through variable; so one matrix K writes both.
    one, two = ACTS_ON[kind.coupling, kind.reciprocal]
    side_1 = power_graph.Branch(ends[0], ends[1], kind.domains[0], one)
    side_2 = power_graph.Branch(ends[2], ends[3], kind.domains[1], two)
    return power_graph.Coupling(
        element.name, (side_1,), (side_2,), ((modulus,),), element.place, dict(element.variables)
    )


def _multiport(element: Element, relation: Multiport, ends: tuple[int, ...]) -> power_graph.Coupling:
    def branches(ports: tuple[int, ...], sides: tuple[Side, ...]) -> tuple[power_graph.Branch, ...]:
        domains = element.kind.domains
        return tuple(
            power_graph.Branch(ends[2 * k], ends[2 * k + 1], domains[k], side)
            for k, side in zip(ports, sides, strict=True)
        )

    side_1 = branches(relation.given, relation.given_sides)
    side_2 = branches(relation.gives, relation.gives_sides)
    return power_graph.Coupling(element.name, side_1, side_2, relation.K, element.place)


def _power_fields(model: Model, ports: list[power_graph.Port]) -> tuple[power_graph.Field, ...]:
    """The fields of a model; the ports that belong to them are changed where their laws read each other."""
    at = {port.element: k for k, port in enumerate(ports)} if model.fields else {}
    return tuple(_field(f, [at[member] for member in f.members], ports) for f in model.fields)


def _field(field: MatrixField, members: list[int], ports: list[power_graph.Port]) -> power_graph.Field:
    """A field; the laws of its ports, which read all its energy variables, get the names of the states for them."""
    if field.energy is None and field.letters:
        _read_each_other(field, members, ports)
        return power_graph.Field(field.name, tuple(members), field.matrix, by_laws=True)
    if field.energy is None:
        _couple(field, members, ports)
        return power_graph.Field(field.name, tuple(members), field.matrix, stiffness=field.stiffness)
    states = {letter: symbol(ports[k].state) for letter, k in zip(field.letters, members, strict=True)}
    for k, letter in zip(members, field.letters, strict=True):
        others = {name: state for name, state in states.items() if name != letter}
        law = ports[k].law
        assert isinstance(law, power_graph.StorageLaw), "only storages have an energy"
        assert law.output is not None, "the law of such a port gives its output"
        # The energy of a field is one number for all its ports; held by each it would be counted as often.
        share = field.energy.substitute({**others, letter: power_graph.argument()}) if k == members[0] else ZERO
        ports[k] = replace(ports[k], law=replace(law, output=law.output.substitute(others), energy=share))
    return power_graph.Field(field.name, tuple(members), field.matrix, field.energy.substitute(states))


def _read_each_other(field: MatrixField, members: list[int], ports: list[power_graph.Port]) -> None:
    """Laws of a resistive field get the names of what the other ports are told."""
    # A law of a resistive field reads what the other ports are told: their names stand in the formula as those of any
    # measured variable do.
    told = {
        letter: symbol(ports[k].variable(other_side(ports[k].law.side)))
        for letter, k in zip(field.letters, members, strict=True)
    }
    for k, letter in zip(members, field.letters, strict=True):
        law = ports[k].law
        assert isinstance(law, power_graph.ResistiveLaw), "only resistive laws are told something"
        assert law.expression is not None, "a port of such a field has a law"
        others = {name: e for name, e in told.items() if name != letter}
        expression = law.expression.substitute(others)
        reads = expression is not law.expression
        ports[k] = replace(ports[k], law=replace(law, expression=expression, coupled=reads))


def _couple(field: MatrixField, members: list[int], ports: list[power_graph.Port]) -> None:
    """Tell the laws of resistive ports that their variable also follows other ports."""
    for i, (k, row) in enumerate(zip(members, field.matrix, strict=True)):
        law = ports[k].law
        # With something beside the diagonal a coefficient of zero does not make the variable zero, and the row may be
        # solved for its argument.
        if isinstance(law, power_graph.ResistiveLaw) and any(e is not ZERO for j, e in enumerate(row) if j != i):
            ports[k] = replace(ports[k], law=replace(law, invertible=True, coupled=True))


class NodeTable:
    """Numbers nodes in order of first use and watches over their domains."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.domains: list[str] = []
        self.first_user: list[str] = []
        self.findings: list[Finding] = []
        self._number: dict[str | tuple[str, str], int] = {}

    def terminals_of(self, element: Element) -> tuple[int, ...]:
        """The numbers of the nodes that an element joins."""
        domains = element.kind.domains
        if len(domains) == 1:
            domain = domains[0]
            return tuple([self._node(name, domain, element) for name in element.nodes])
        return tuple([self._node(name, domains[k // 2], element) for k, name in enumerate(element.nodes)])

    def _node(self, name: str, domain: str, element: Element) -> int:
        key = (domain, name) if name in REFERENCES else name
        number = self._number.get(key)
        if number is None:
            if name in REFERENCES and name != DOMAINS[domain].reference:
                self.findings.append(_wrong_reference(name, domain, element))
            number = self._number[key] = len(self.names)
            self.names.append(name)
            self.domains.append(domain)
            self.first_user.append(element.name)
        elif self.domains[number] != domain:
            self.findings.append(self._mixed(number, domain, element))
        return number

    def _mixed(self, node: int, domain: str, element: Element) -> Finding:
        mine, theirs = DOMAINS[domain], DOMAINS[self.domains[node]]
        couplings = _couplings_between(mine.name, theirs.name)
        what = (
            f"node '{self.names[node]}' is {theirs.name} for '{self.first_user[node]}' and {mine.name} for '{element.name}' "
            f"({element.kind.name})"
        )
        fix = f"join the domains through a coupling ({couplings}), or use an element of the {theirs.name} domain"
        return rules.MIXED_DOMAINS.finding(
            what, where=element.name, fix=fix, place=element.place, members=[element.name]
        )


def _wrong_reference(name: str, domain: str, element: Element) -> Finding:
    right = DOMAINS[domain].reference
    what = f"'{element.name}' ({element.kind.name}) is {domain}, but '{name}' is the reference of another domain"
    return rules.WRONG_REFERENCE.finding(
        what, where=element.name, fix=f"write '{right}'", place=element.place, members=[element.name]
    )


def _couplings_between(one: str, two: str) -> str:
    names = {kind.name for kind in KINDS.values() if kind.role == "coupling" and set(kind.domains) == {one, two}}
    return listing(sorted(names)) if names else "'connection'"


LIKE_REFERENCES = frozenset({"ground", "earth", "reference"})
"""What other tools call a reference."""
MOST_COMPARED = 200
"""The names of nodes are compared in networks of so many at most: larger ones are seldom written by hand."""


def _dangling_nodes(model: Model, terminals: list[tuple[int, ...]], nodes: NodeTable) -> Iterable[Finding]:
    degree = [0] * len(nodes.names)
    for ends in terminals:
        for node in ends:
            degree[node] += 1
    lonely = {k for k, d in enumerate(degree) if d == 1 and nodes.names[k] not in REFERENCES}
    if not lonely:
        return
    offered = {node: port.name for port in model.ports.values() for node in port.nodes}
    for element, ends in zip(model.elements, terminals, strict=True):
        for node in lonely.intersection(ends):
            name = nodes.names[node]
            domain = DOMAINS[nodes.domains[node]]
            flowing, reference = domain.through.word, domain.reference
            fix = f"join '{name}' to another element or to '{reference}', or remove '{element.name}'"
            if (meant := _spelt_alike(name, nodes.names)) is not None:
                fix = f"did you mean '{meant}'? Else {fix}"
            if name in offered:
                fix = f"join the port '{offered[name]}': use this system as a part of another"
            yield rules.DANGLING_NODE.finding(
                f"node '{name}' joins only '{element.name}': no {flowing} can pass",
                where=element.name,
                fix=fix,
                place=element.place,
                members=[element.name],
            )


def _spelt_alike(name: str, names: Sequence[str]) -> str | None:
    """The node that a lonely one was meant to be, where a slip of the pen may have parted them: `a1` is not `a2` misspelt."""
    if len(names) > MOST_COMPARED:
        return None
    letters = name.rstrip(digits)
    return nearest(name, [other for other in names if other.rstrip(digits) != letters])


def _branches(terminals: list[tuple[int, ...]]) -> Iterable[tuple[int, int]]:
    for ends in terminals:
        yield ends[0], ends[1]
        for k in range(2, len(ends), 2):
            yield ends[k], ends[k + 1]


def _references_of(terminals: list[tuple[int, ...]], nodes: NodeTable) -> tuple[set[int], list[Finding]]:
    """The reference nodes: those named so, and one for each part that has none (the node met first), with a notice."""
    groups = UnionFind(len(nodes.names))
    for plus, minus in _branches(terminals):
        groups.join(plus, minus)
    references = {k for k, name in enumerate(nodes.names) if name in REFERENCES}
    settled = {groups.find(k) for k in references}
    notices = []
    # The second node of the first element met is taken: people draw a source from reference to node or node to
    # reference, and read answers against its far end.
    last_of: dict[int, int] = {}
    for plus, minus in _branches(terminals):
        last_of.setdefault(groups.find(plus), minus)
    for root, node in last_of.items():
        # Any node of the part would do, for across variables are differences; the choice changes no equation between
        # elements.
        if root not in settled:
            references.add(node)
            domain = nodes.domains[node]
            notices.append(
                rules.NO_REFERENCE.finding(
                    f"the {domain} part with '{nodes.first_user[node]}' has no reference: node '{nodes.names[node]}' was taken",
                    fix=f"tie a node to '{DOMAINS[domain].reference}' if the part is grounded",
                )
            )
    return references, [*notices, *_misnamed(nodes, references)]


def _misnamed(nodes: NodeTable, references: set[int]) -> Iterable[Finding]:
    """Nodes that a reader takes for a reference."""
    for k, name in enumerate(nodes.names):
        if name.casefold() in LIKE_REFERENCES and k not in references:
            reference = DOMAINS[nodes.domains[k]].reference
            yield rules.NOT_THE_REFERENCE.finding(
                f"node '{name}' is not the reference: '{reference}' is",
                where=nodes.first_user[k],
                fix=f"write '{reference}' instead of '{name}', or give the node another name",
            )


def _unconnected_parts(
    model: Model,
    ports: Sequence[power_graph.Port],
    terminals: list[tuple[int, ...]],
    nodes: NodeTable,
    moving: Mapping[str, Expression],
) -> Iterable[Finding]:
    elements = model.elements
    groups = UnionFind(len(nodes.names))
    for ends in terminals:
        for node in ends[1:]:
            groups.join(ends[0], node)
    if model.fields:  # a matrix passes power between its ports
        first = {element.name: ends[0] for element, ends in zip(elements, terminals, strict=True)}
        for coupled in model.fields:
            for member in coupled.members[1:]:
                groups.join(first[coupled.members[0]], first[member])
    bodies = [ends[0] for element, ends in zip(elements, terminals, strict=True) if MECHANISM in element.notes]
    # Bodies of one mechanism hang together by their joints even where no bond is left between them, as in a fixed
    # joint.
    for node in bodies[1:]:
        groups.join(bodies[0], node)
    if len({groups.find(ends[0]) for ends in terminals}) > 1:
        # What a signal carries joins parts without a bond: a motor and the thermal model of its housing are one system.
        for one, two in joined_by_signals(model, ports, terminals, nodes.names, moving):
            groups.join(one, two)
    members: dict[int, list[Element]] = {}
    for element, ends in zip(elements, terminals, strict=True):
        members.setdefault(groups.find(ends[0]), []).append(element)
    # The part of the first element is what the model is about; the others are told against it.
    for part in list(members.values())[1:]:
        names = [element.name for element in part]
        yield rules.UNCONNECTED.finding(
            f"{listing(names, 4)} {'are' if len(names) > 1 else 'is'} not connected to '{elements[0].name}'",
            where=names[0],
            fix="join the parts at a node or through a coupling, or describe them in two files",
            place=part[0].place,
            members=names[:50],
        )


@remembered
def lower(model: Model) -> power_graph.PowerGraph:
    """The PowerGraph of a model, which is lowered once.

    Raises: GraphError with everything found, when nodes dangle, domains mix or parts do not hang together.
    """
    with without_collector():
        return _lowered(model)


def with_experiment(model: Model, experiment: Experiment) -> Model:
    """The model with another experiment, and the same graph: nothing in it follows from what is done with the model."""
    return carry_over(lower, model, replace(model, experiment=experiment))


def _lowered(model: Model) -> power_graph.PowerGraph:
    if not model.signals and not any(element.kind.role != "coupling" for element in model.elements):
        raise rules.EMPTY.error(f"'{model.name}' has no element to connect", fix="add elements under 'network'")
    nodes = NodeTable()
    terminals = [nodes.terminals_of(element) for element in model.elements]
    names = VariableNames(model)
    # Parameters that read displacements are no parameters of a run: they change while it goes on.
    position_dependent = _position_dependent_parameters(model)
    parameters = {name: p.expression for name, p in model.parameters.items() if name not in position_dependent}
    ports: list[power_graph.Port] = []
    couplings: list[power_graph.Coupling] = []
    switching: dict[int, power_graph.SwitchingLaw] = {}
    commands = [s for e in model.elements if e.switching is not None for s in command_signals(e, parameters).values()]
    for element, ends in zip(model.elements, terminals, strict=True):
        if element.kind.role == "coupling":
            couplings.append(_coupling_of(element, ends))
        else:
            if element.switching is not None:
                switching[len(ports)] = switching_law(element, parameters)
            ports.append(_port_of(element, ends, names, parameters))
    heights = _check_heights(model, position_dependent)
    for element, k in _without_pull(model, ports) if not heights else ():
        pull = _pull(element, ports, k, model.displacements, position_dependent)
        ports[k] = replace(ports[k], law=replace(ports[k].resistive, expression=pull))
    findings = [*nodes.findings, *names.findings, *heights, *_dangling_nodes(model, terminals, nodes)]
    references, notices = _references_of(terminals, nodes)
    # All findings are collected before one is raised, so that a file is mended in one go.
    findings += _unconnected_parts(model, ports, terminals, nodes, position_dependent)
    if any(finding.severity == "error" for finding in findings):
        raise GraphError([finding for finding in findings if finding.severity == "error"])
    listed = tuple(
        power_graph.Node(name, domain, k in references)
        for k, (name, domain) in enumerate(zip(nodes.names, nodes.domains, strict=True))
    )
    # Moduli of temperatures can be written once ports are there to measure them at.
    couplings = with_heat_conduction(couplings, model, listed, ports)
    fields = _power_fields(model, ports)
    graph = power_graph.PowerGraph(
        name=model.name,
        nodes=listed,
        ports=tuple(ports),
        couplings=tuple(couplings),
        parameters=parameters,
        findings=(*model.findings, *findings, *notices),
        displacements=model.displacements,
        position_dependent=position_dependent,
        fields=fields,
        vectors=model.vectors,
        bond_numbers=model.bond_numbers,
        dimensions=_dimensions(model) if model.signals or model.displacements else {},
        signals=tuple(commands),
        switching=switching,
        symbols=model.symbols,
        counted_symbols=model.counted_symbols,
    )
    return with_signals(graph, model)


def _check_heights(model: Model, moving: Mapping[str, Expression]) -> Iterable[Finding]:
    """Energies of weights that read anything but displacements and parameters."""
    known = {*model.parameters, *model.displacements, *moving}
    found = []
    for element in model.elements:
        law = element.law if element.kind.role == "potential" else None
        if law is not None and (other := sorted(law.expression.free_symbols - known)):
            what = f"the energy of '{element.name}' reads '{other[0]}', which is no displacement"
            fix = "write it with displacements and parameters alone"
            found.append(
                rules.NO_HEIGHT.finding(what, where=element.name, fix=fix, place=element.place, members=[element.name])
            )
    return found


def _without_pull(model: Model, ports: Sequence[power_graph.Port]) -> list[tuple[Element, int]]:
    """The weights that give an energy alone, each with its port."""
    weights = {e.name: e for e in model.elements if e.kind.role == "potential" and e.value is None}
    return [(weights[port.element], k) for k, port in enumerate(ports) if port.element in weights] if weights else []


def _pull(
    element: Element,
    ports: Sequence[power_graph.Port],
    k: int,
    displacements: Mapping[str, Expression],
    moving: Mapping[str, Expression],
) -> Expression:
    """What a weight pulls with: the rate of its energy over the rate of its own motion.

    Raises: GraphError (G111) where the energy moves with other than the nodes of the weight.
    """
    assert element.law is not None, "weights have an energy"
    energy, ends = with_definitions(element.law.expression, moving), (ports[k].plus, ports[k].minus)
    # Whatever lies between the same nodes has the same velocity, under its own name.
    speed = power_graph.argument()
    own = {p.across: speed for p in ports if (p.plus, p.minus) == ends}
    own |= {p.across: -speed for p in ports if (p.minus, p.plus) == ends}
    rates = {q: rate.substitute(own) for q, rate in displacements.items() if q in energy.free_symbols}
    rate = total(energy.derivative(q) * e for q, e in rates.items())
    pull = rate.derivative(power_graph.ARGUMENT)
    if not rates or not is_zero(rate - pull * speed):
        others = sorted({n for e in rates.values() for n in e.free_symbols} - {power_graph.ARGUMENT})
        moved = f"moves with {listing(others)}" if others else "does not move"
        key = element.kind.quantity.key if element.kind.quantity else "F"
        raise rules.NO_PULL.error(
            f"the energy of '{element.name}' {moved}, which is not the velocity of its nodes",
            where=element.name,
            fix=f"use a displacement whose rate is that velocity, '{ports[k].across}', or give the pull: '{key}: ...'",
            place=element.place,
        )
    return pull


def _dimensions(model: Model) -> dict[str, Dimension]:
    """What is known of the units of parameters: those of formulas follow from them."""
    return {name: given.dimension for name, given in model.parameters.items() if given.dimension is not None}


def _position_dependent_parameters(model: Model) -> dict[str, Expression]:
    """Parameters that depend on displacements and so change along the motion, each after those it uses."""
    position_dependent: dict[str, Expression] = {}
    waiting = {name: p.expression for name, p in model.parameters.items() if p.expression is not None}
    found = bool(model.displacements)
    while found:
        # Each round finds those one step further from the displacements, which puts every parameter behind those it
        # uses.
        reach = position_dependent.keys() | model.displacements.keys()
        new = {name: e for name, e in waiting.items() if reach & e.free_symbols and name not in position_dependent}
        position_dependent |= new
        found = bool(new)
    return position_dependent
