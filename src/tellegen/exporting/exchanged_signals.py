"""Signals of a model beside its power: those that come from outside, and the controller without what it controls."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tellegen.core.names import TIME, did_you_mean
from tellegen.exporting import rules
from tellegen.expressions import Symbol
from tellegen.graph import PowerGraph, SourceLaw
from tellegen.graph.power_graph import Node, Port
from tellegen.graph.signals import SignalLaw, Value, expressions_of

NOWHERE = "electrical"
"""The domain of a source that stands for a measured value: any will do, for nothing flows through it."""


def with_signals_from_outside(graph: PowerGraph, names: Sequence[str]) -> PowerGraph:
    """The graph with some of its signals as inputs.

    Raises: ExportError (X407) for a name that is no signal.
    """
    known = [law.name for law in graph.signals]
    for name in names:
        if name not in known:
            fix = did_you_mean(name, known) or "an input beside the sources is a signal of the model"
            raise rules.UNKNOWN_OPTION.error(f"'{name}' is no signal of '{graph.name}'", fix=fix)
    kept = tuple(law for law in graph.signals if law.name not in names)
    return _with_inputs(replace(graph, signals=kept), names)


def controller_alone(graph: PowerGraph, wanted: Iterable[str]) -> tuple[PowerGraph, tuple[str, ...]]:
    """The signals that drive the power part, or are wanted, alone, and the names of those that drive.

    What they read of the power part are inputs.

    Raises: ExportError (X407) where no signal acts on the model.
    """
    signals = {law.name: law for law in graph.signals}
    driving: dict[str, None] = {}
    moving = (*(c.free_symbols for c in graph.couplings), *(e.free_symbols for e in graph.displacements.values()))
    driving.update(dict.fromkeys(name for names in moving for name in sorted(names & signals.keys())))
    for port in graph.ports:
        law = port.law
        if isinstance(law, SourceLaw) and law.signal is not None and law.signal.free_symbols & signals.keys():
            if isinstance(law.signal, Symbol):
                driving[law.signal.name] = None
            else:
                # What the formula of a source makes of signals is computed by the controller, too.
                signals[law.input] = Value(law.input, law.signal, place=port.place)
                driving[law.input] = None
        else:
            driving.update(dict.fromkeys(sorted(_read_by(port, graph) & signals.keys())))
    if not driving:
        raise rules.UNKNOWN_OPTION.error(
            f"'controller' was asked for, and no signal acts on '{graph.name}'",
            where=graph.name,
            fix="export the whole model, or drive a source by a signal",
        )
    kept = _needed(signals, [*driving, *(name for name in wanted if name in signals)])
    measured = dict.fromkeys(name for law in kept for name in sorted(_measured_by(law, graph) - signals.keys()))
    alone = replace(
        graph, nodes=(), ports=(), couplings=(), fields=(), displacements={}, switching={}, now={}, signals=tuple(kept)
    )
    return _with_inputs(alone, measured), tuple(driving)


def _read_by(port: Port, graph: PowerGraph) -> set[str]:
    """The names that the law of a port reads, in all of its modes."""
    law, read = port.law, set[str]()
    laws = [law]
    switching = graph.switching.get(graph.ports.index(port))
    if switching is not None:
        laws += switching.modes.values()
        read |= {n for ways in switching.transitions.values() for way in ways for n in way.guard.free_symbols}
    for one in laws:
        for word in ("inertia", "content", "slope", "output", "coefficient", "expression"):
            formula = getattr(one, word, None)
            read |= formula.free_symbols if formula is not None else set()
    return read


def _needed(signals: dict[str, SignalLaw], wanted: Sequence[str]) -> list[SignalLaw]:
    """The signals that some need, in their order."""
    found, waiting = set[str](), list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in found and name in signals:
            found.add(name)
            waiting += _names_in(signals[name])
    return [law for name, law in signals.items() if name in found]


def _measured_by(law: SignalLaw, graph: PowerGraph) -> set[str]:
    """The names in a signal that are neither time nor parameters; those that move with a displacement are formulas of it."""
    found = _names_in(law)
    while moving := found & graph.position_dependent.keys():
        found = (found - moving).union(*(graph.position_dependent[name].free_symbols for name in moving))
    return found - {TIME, *graph.parameters}


def _names_in(law: SignalLaw) -> set[str]:
    return {name for e in expressions_of(law) for name in e.free_symbols}


def _with_inputs(graph: PowerGraph, names: Iterable[str]) -> PowerGraph:
    """The graph with a source for each name: an input under this name, through which nothing flows."""
    nodes, ports = list(graph.nodes), list(graph.ports)
    for name in names:
        plus = len(nodes)
        nodes += [Node(f"{name} from outside", NOWHERE, reference=False), Node("nothing", NOWHERE, reference=True)]
        # No name of a model has a space: what flows there is no variable that anybody is shown.
        through = f"flow of {name}"
        ports.append(Port(name, NOWHERE, plus, plus + 1, SourceLaw("across", name), across=name, through=through))
    return replace(graph, nodes=tuple(nodes), ports=tuple(ports))
