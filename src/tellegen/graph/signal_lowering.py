"""Signals of a model as the six primitives of the graph, each after those it reads at the same time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.core.memory import remembered
from tellegen.core.names import did_you_mean, listing, unused
from tellegen.core.union_find import UnionFind
from tellegen.core.units import describe
from tellegen.expressions import ZERO, Expression, Number, Symbol, as_expression, number, symbol
from tellegen.graph import rules
from tellegen.graph.heat import POWER, with_heat_transfers
from tellegen.graph.measurements import Measurements
from tellegen.graph.power_graph import Port, PowerGraph, SourceLaw
from tellegen.graph.signals import (
    Break,
    Delayed,
    External,
    Integral,
    Interpolation,
    Sampled,
    SignalLaw,
    Table,
    Value,
    breaks_of,
)
from tellegen.model.model import Element, Model
from tellegen.model.signals import Points, Signal, SignalDefinition, order_signals
from tellegen.notations.signals.blocks import FORMULA, expand_signal
from tellegen.notations.signals.formulas import names_a_shape

NO_TEXTS: Mapping[str, str] = {}


def with_signals(graph: PowerGraph, model: Model) -> PowerGraph:
    """The graph with the signals of its model, in order, and with those that drive sources."""
    # Most networks have no signals, and need no table of what can be measured.
    named = any(coupling.names for coupling in graph.couplings)
    if not named and not model.signals and not any(element.signal is not None for element in model.elements):
        return graph
    return _Lowering(graph, model).graph()


def joined_by_signals(
    model: Model,
    ports: Sequence[Port],
    terminals: Sequence[Sequence[int]],
    nodes: Sequence[str],
    moving: Mapping[str, Expression],
) -> Iterator[tuple[int, int]]:
    """Pairs of nodes that hang together without a bond: an element reads what another one, a signal or a displacement tells.

    Values of elements, laws, moduli and courses may all read. Of parameters only the `moving` ones tell of anyone.
    """
    told = {element.name: {POWER + element.name, *element.variables.values()} for element in model.elements}
    for port in ports:
        told[port.element] |= {port.across, port.through, port.state}
    every = zip(model.elements, terminals, strict=True)
    things = [([ends[0]], told[element.name] | _read_by(element)) for element, ends in every]
    things += [([], {name, *rate.free_symbols}) for name, rate in model.displacements.items()]
    for name, signal in model.signals.items():
        sensed = signal.settings.get("across", ()) if signal.block == "across" else ()
        ends = [nodes.index(end) for end in cast(tuple[str, ...], sensed) if end in nodes]
        things.append((ends, {name}.union(*(formula.free_symbols for formula in signal.formulas()))))
    things += [([], {name, *value.free_symbols}) for name, value in moving.items()]
    names = set().union(*(read for _, read in things)) - (model.parameters.keys() - moving.keys()) - {"t", ""}
    number_of = {name: len(nodes) + k for k, name in enumerate(sorted(names))}
    groups = UnionFind(len(nodes) + len(names))
    for ends, read in things:
        members = [*ends, *(number_of[name] for name in read & names)]
        for one, two in pairwise(members):
            groups.join(one, two)
    first: dict[int, int] = {}
    for node in range(len(nodes)):
        yield first.setdefault(groups.find(node), node), node


def _read_by(element: Element) -> frozenset[str]:
    """The names in all formulas of an element."""
    read = [element.value, element.signal, *(element.switching.settings.values() if element.switching else ())]
    read += [] if element.law is None else [element.law.expression]
    read += [] if element.multiport is None else [entry for row in element.multiport.K for entry in row]
    return frozenset().union(*(formula.free_symbols for formula in read if formula is not None))


class _Lowering:
    """Turns definitions into signals over the variables of ports."""

    def __init__(self, graph: PowerGraph, model: Model) -> None:
        self.power = graph
        self.model = model
        self.measuring = Measurements(graph.nodes, graph.ports, graph.couplings, model.elements)
        self.taken = taken_names(graph) | model.signals.keys()

    def graph(self) -> PowerGraph:
        # A controller becomes primitives with names of their own; only then is the order of evaluation known.
        written: dict[str, SignalDefinition] = {}
        parts: list[SignalDefinition] = []
        for definition in self.model.signals.values():
            made = expand_signal(definition, self._fresh)
            parts += made
            if len(made) > 1 or names_a_shape(definition):
                written |= dict.fromkeys((part.name for part in made), definition)
        ordered = order_signals(self._reachable(parts)).signals
        signals = [self._law(part, written.get(part.name)) for part in ordered]
        driven = [element for element in self.model.elements if element.signal is not None]
        source_signals = {e.name: self._written(cast(Expression, e.signal), e.name) for e in driven}
        # Marked before courses are written in: the formula of the source must still read powers by their names.
        ports = with_heat_transfers(self.power.ports, self.model.elements)
        return _with_source_signals(
            replace(self.power, ports=ports, signals=(*signals, *self._named(), *self.power.signals)),
            source_signals,
            {e.name: e.signal_text for e in driven},
        )

    def _law(self, part: SignalDefinition, written: SignalDefinition | None) -> SignalLaw:
        return replace(_PRIMITIVES[part.block](self, part), unit=_unit_of(part), definition=written)

    def _reachable(self, parts: list[SignalDefinition]) -> list[SignalDefinition]:
        """The signals without variables of sections that only the equations would tell and nobody reads."""
        if all(part.between is None for part in parts):
            return parts
        formulas = [e for part in parts for e in part.formulas()]
        formulas += [e for one in self.model.elements for e in (one.signal, one.value) if e is not None]
        read = {name for e in (*formulas, *self.model.displacements.values()) for name in e.free_symbols}
        return [part for part in parts if part.between is None or part.name in read or self._is_reachable(part)]

    def _is_reachable(self, part: SignalDefinition) -> bool:
        return not any(self.measuring.unreachable(e.free_symbols) for e in part.formulas())

    def _named(self) -> list[Value]:
        """The variables of couplings that have names of their own: no port tells them."""
        found = []
        for coupling in self.power.couplings:
            for key, name in coupling.names.items():
                side, _, port = key.partition("_")
                expression = self.measuring.replacements(frozenset([name])).get(name)
                # One that only the equations would tell is known to runs all the same.
                if expression is not None and name not in self.model.signals:
                    branch = (coupling.side_1 if port == "1" else coupling.side_2)[0]
                    unit = DOMAINS[branch.domain].power("across" if side == "across" else "through").unit
                    found.append(Value(name, expression, place=coupling.place, unit=unit, named=True))
        return found

    def _fresh(self, wanted: str) -> str:
        name = unused(wanted, self.taken)
        self.taken.add(name)
        return name

    def _written(self, expression: Expression, where: str) -> Expression:
        """A formula over variables of ports."""
        read = frozenset(name for name in expression.free_symbols if name not in self.model.signals)
        # A variable of a coupling that Kirchhoff's laws do not give would need the equations, which are derived later
        # from this graph.
        if unreachable := self.measuring.unreachable(read):
            raise _not_reached(unreachable[0], where)
        found = self.measuring.replacements(read)
        # A parameter may have the name that a content would get; what the user named is meant.
        found = {name: e for name, e in found.items() if name not in self.model.parameters}
        return expression.substitute(found) if found else expression

    def _formula(self, part: SignalDefinition, key: str, default: Expression = ZERO) -> Expression:
        return self._written(cast(Expression, part.settings.get(key, default)), part.name)

    def _value(self, part: SignalDefinition) -> SignalLaw:
        expression = self._formula(part, "formula")
        breaks = breaks_of(expression, self.power.parameters)
        named = part.between is not None
        return Value(part.name, expression, breaks, part.place, named=named, between=part.between)

    def _across(self, part: SignalDefinition) -> SignalLaw:
        nodes = cast(tuple[str, ...], part.settings["across"])
        domain = next((d for n in nodes if (d := self._domain(n)) is not None), None)
        # A sensor with one node measures against the reference, as a voltmeter with one probe on ground; there it reads zero.
        ends = nodes if len(nodes) == 2 else (nodes[0], self._reference(domain) if domain else nodes[0])
        found = self.measuring.between(ends[0], ends[1], domain)
        if found is None:
            raise _not_reached(f"{ends[0]} to {ends[1]}", part.name, "the across variable from ")
        return Value(part.name, found, (), part.place)

    def _domain(self, node: str) -> str | None:
        """The domain of a node that only one domain can have."""
        # `frame` is the reference of two domains; the other node of the sensor tells which is meant.
        return None if any(n.name == node and n.reference for n in self.power.nodes) else self.measuring.domain_of(node)

    def _reference(self, domain: str | None) -> str:
        return next((n.name for n in self.power.nodes if n.reference and n.domain == domain), "")

    def _integral(self, part: SignalDefinition) -> SignalLaw:
        rate, initial = self._formula(part, "integral"), self._formula(part, "initial")
        return Integral(part.name, rate, initial, part.place)

    def _sampled(self, part: SignalDefinition) -> SignalLaw:
        keys = ("sample", "every", "offset", "initial")
        expression, period, offset, initial = (self._formula(part, key) for key in keys)
        return Sampled(part.name, expression, period, offset, initial, part.place)

    def _latched(self, part: SignalDefinition) -> SignalLaw:
        expression, initial = self._formula(part, "latch"), self._formula(part, "initial")
        return Sampled(part.name, expression, ZERO, ZERO, initial, part.place)

    def _delayed(self, part: SignalDefinition) -> SignalLaw:
        expression, by, initial = (self._formula(part, key) for key in ("delay", "by", "initial"))
        return Delayed(part.name, expression, by, initial, part.place)

    def _table(self, part: SignalDefinition) -> SignalLaw:
        points = cast(Points, part.settings["table"])
        how = cast(Interpolation, part.settings["interpolation"])
        return Table(part.name, self._formula(part, "at"), points.points, points.values, how, part.place)

    def _external(self, part: SignalDefinition) -> SignalLaw:
        arguments = cast(tuple[Expression, ...], part.settings["python"])
        function = cast(Callable[..., float], part.settings["function"])
        written = tuple(self._written(argument, part.name) for argument in arguments)
        breaks = tuple(Break(number(t)) for t in getattr(function, "breaks", ()))
        return External(part.name, written, function, part.place, breaks=breaks)


def _unit_of(part: SignalDefinition) -> str:
    return part.unit or ("" if part.dimension is None else describe(part.dimension).split(" ", 1)[0])


_PRIMITIVES: Mapping[str, Callable[[_Lowering, SignalDefinition], SignalLaw]] = {
    "formula": _Lowering._value,
    "across": _Lowering._across,
    "integral": _Lowering._integral,
    "sample": _Lowering._sampled,
    "latch": _Lowering._latched,
    "delay": _Lowering._delayed,
    "table": _Lowering._table,
    "python": _Lowering._external,
}


def named_variables(graph: PowerGraph) -> tuple[str, ...]:
    """The variables of couplings and sections to which the author gave names."""
    return tuple(signal.name for signal in graph.signals if isinstance(signal, Value) and signal.named)


@remembered
def named_between(graph: PowerGraph) -> Mapping[tuple[str, str, str], str]:
    """The variables of sections that no element has, by the elements that they lie between and their unit."""
    named = (signal for signal in graph.signals if isinstance(signal, Value))
    return {(*signal.between, signal.unit): signal.name for signal in named if signal.between is not None}


def taken_names(graph: PowerGraph) -> set[str]:
    """Every name that means something in a graph."""
    variables = {name for port in graph.ports for name in (port.across, port.through, port.state)}
    inputs = {port.law.input for port in graph.ports if isinstance(port.law, SourceLaw)}
    variables |= {name for coupling in graph.couplings for name in coupling.names.values()}
    signals = {signal.name for signal in graph.signals}
    return variables | inputs | signals | {*graph.parameters, *graph.position_dependent, *graph.displacements}


def _not_reached(name: str, where: str, before: str = "") -> TellegenError:
    what = f"'{where}' reads {before}'{name}', which does not follow from the variables of elements"
    return rules.NOT_REACHED.error(
        what, where=where, fix="read a variable of a storage, a resistive element or a source"
    )


# What drives sources


def drive(graph: PowerGraph, inputs: Mapping[str, Signal | Expression | float]) -> PowerGraph:
    """The graph with a course for every input: those of `inputs`, else the signal that the model gives, else zero with a notice.

    A course is a `Signal` of an experiment, an expression of time, signals, variables and parameters, or a number.

    Raises: GraphError for a name that is no input, or an input that a signal of the model drives already.
    """
    sources = _sources(graph)
    graph = drive_given_inputs(graph, inputs)
    # A run needs a number at every time, so zero is taken and said, rather than an error for a model that is only
    # looked at.
    idle = [name for name, port in _sources(graph).items() if _signal_of_source(port) is None]
    notices = [
        rules.IDLE_INPUT.finding(
            f"nothing drives the input '{name}': it is zero",
            where=sources[name].element,
            fix=f"give its course, as 'inputs: {{{name}: ...}}' in the experiment",
            place=sources[name].place,
        )
        for name in idle
    ]
    driven = _with_source_signals(graph, {sources[name].element: ZERO for name in idle})
    return replace(driven, findings=(*driven.findings, *notices))


def drive_given_inputs(graph: PowerGraph, inputs: Mapping[str, Signal | Expression | float]) -> PowerGraph:
    """The graph with a course for each of `inputs`; the others stay free.

    Raises: GraphError for a name that is no input, or an input that a signal of the model drives already.
    """
    sources = _sources(graph)
    for name in inputs:
        if name not in sources:
            fix = did_you_mean(name, sources) or f"the inputs are {listing(sources, 20)}"
            raise rules.NO_SUCH_INPUT.error(f"'{name}' is not an input of '{graph.name}'", fix=fix)
        if _signal_of_source(sources[name]) is not None:
            what = f"the input '{name}' is driven by a signal of the model already"
            raise rules.DRIVEN_TWICE.error(what, where=sources[name].element, fix="leave one of the two out")
    # Inputs of an experiment may read what signals may, but the elements are not at hand here: variables of couplings
    # keep no names of their own.
    measuring = Measurements(graph.nodes, graph.ports, graph.couplings)
    known = taken_names(graph)
    source_signals: dict[str, Expression] = {}
    for name, course in inputs.items():
        expression = _expression(course)
        found = measuring.replacements(expression.free_symbols - known)
        source_signals[sources[name].element] = expression.substitute(found) if found else expression
    return _with_source_signals(graph, source_signals) if source_signals else graph


def _sources(graph: PowerGraph) -> dict[str, Port]:
    return {port.law.input: port for port in graph.ports if isinstance(port.law, SourceLaw)}


def _signal_of_source(port: Port) -> Expression | None:
    return port.law.signal if isinstance(port.law, SourceLaw) else None


def _expression(course: Signal | Expression | float) -> Expression:
    if isinstance(course, Signal):
        assert course.expression is not None, "the signals of an experiment say what they are over time"
        return course.expression
    return course if isinstance(course, Expression) else as_expression(course)


def _with_source_signals(
    graph: PowerGraph, source_signals: Mapping[str, Expression], texts: Mapping[str, str] = NO_TEXTS
) -> PowerGraph:
    """Sources with what they give over time, by element; `texts` tell how that was written.

    What jumps or bends at known times is a signal of its own, which tells when.
    """
    taken = taken_names(graph)
    signals = list(graph.signals)
    ports: list[Port] = []
    for port in graph.ports:
        course = source_signals.get(port.element)
        if course is None or not isinstance(port.law, SourceLaw):
            ports.append(port)
            continue
        # A solver must not step over a jump. As a signal of its own the course tells beforehand when it jumps.
        breaks = () if isinstance(course, Symbol | Number) else breaks_of(course, graph.parameters)
        if breaks:
            name = unused(f"{port.law.input}_course", taken)
            taken.add(name)
            # It is shown as what the input is, for its own name is one that nobody chose.
            texts_of = {FORMULA: texts.get(port.element, "")}
            definition = SignalDefinition(port.law.input, FORMULA, {FORMULA: course}, texts=texts_of)
            signals.append(Value(name, course, breaks, port.place, definition=definition))
            course = symbol(name)
        ports.append(replace(port, law=replace(port.law, signal=course)))
    return replace(graph, ports=tuple(ports), signals=tuple(signals))


def algebraic_signals(signals: Sequence[SignalLaw]) -> tuple[str, ...]:
    """The signals that others read before they are computed: unknowns of loops without a state."""
    later = {signal.name for signal in signals}
    torn: dict[str, None] = {}
    for signal in signals:
        # Signals stand in order, so one that is read before its turn closes a loop.
        torn |= dict.fromkeys(sorted(_reads_now(signal) & later))
        later.discard(signal.name)
    return tuple(torn)


def _reads_now(signal: SignalLaw) -> frozenset[str]:
    """The names whose values a signal needs at the same time."""
    if isinstance(signal, Value):
        return signal.expression.free_symbols
    # Samples, delays and integrals have a memory: what they read counts later, and closes no loop.
    if isinstance(signal, Table):
        return signal.argument.free_symbols
    if isinstance(signal, External):
        return frozenset().union(*(argument.free_symbols for argument in signal.arguments))
    return frozenset()
