"""The modes of an exchanged model: code for each of them, and where its variables stand among those of all."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import prod
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler.code import Code, Sloped, exchanged_code, outputs_of
from tellegen.compiler.program import Program
from tellegen.core.errors import CausalityError
from tellegen.core.names import listing
from tellegen.exporting import rules
from tellegen.exporting.mode_diagrams import MOST_MODES, Words, inertia_matrix
from tellegen.expressions import ZERO, Expression
from tellegen.graph import PowerGraph
from tellegen.graph.power_graph import Transition
from tellegen.graph.signals import Break

MOST_CHANGES = 31
"""Changes that may end one mode: an importer's copy of them is a number with so many bits."""


@final
@dataclass(frozen=True)
class ExchangedChange:
    """A change that ends a mode: its event function, the element, the word it goes to, and the observable of an impact's speed."""

    event: int
    element: int
    to: str
    impact: bool
    speed: int


@final
@dataclass(frozen=True)
class ExchangedMode:
    """One mode; `code` is None where physics forbids it.

    `places` tells where each of y stands among the states of all modes, `observables` where each observable of the first mode
    stands here (-1: nowhere), `following` the storages that follow others, `told` the observables that tell them.
    """

    words: Words
    code: Code | None
    places: tuple[int, ...] = ()
    observables: tuple[int, ...] = ()
    following: tuple[int, ...] = ()
    told: tuple[int, ...] = ()
    changes: tuple[ExchangedChange, ...] = ()


def only_mode(code: Code) -> ExchangedMode:
    """The mode of a model that has no others."""
    return ExchangedMode((), code, tuple(range(len(code.y))), tuple(range(len(code.program.observables))))


def mode_choices(graph: PowerGraph) -> list[Words]:
    """Every combination of modes.

    Raises: ExportError (X401) for too many.
    """
    choices = [tuple(law.modes) for law in graph.switching.values()]
    if prod(map(len, choices)) > MOST_MODES:
        names = listing([graph.ports[k].element for k in graph.switching])
        what = f"{names} have {prod(map(len, choices))} modes together, and at most {MOST_MODES} are exported"
        fix = "export a part of the model, or replace some by resistances"
        raise rules.MODES.error(what, where=graph.name, fix=fix)
    return list(product(*choices))


def causal_in_mode(graph: PowerGraph, words: Words) -> CausalGraph:
    """The causal graph of one mode. Raises: CausalityError where physics forbids it."""
    elements = [graph.ports[k].element for k in graph.switching]
    return assign_causality(graph.in_mode(dict(zip(elements, words, strict=True))))


def exchanged_modes(
    graph: PowerGraph, first: Code, states: Sequence[str], shown: Sequence[str]
) -> tuple[ExchangedMode, ...]:
    """All modes of a graph; `states` are the names of the states that they share, `shown` further outputs.

    Raises: ExportError (X401) for a mode whose parameters, inputs or samples are not those of the others, or that has no rates.
    """
    found = []
    names = outputs_of(first.program, shown)
    outputs = [k for k, (o, _) in enumerate(first.program.observables) if o.name in names]
    for words in mode_choices(graph):
        try:
            causal = causal_in_mode(graph, words)
        except CausalityError:
            found.append(ExchangedMode(words, None))
            continue
        sloped = partial(_sloped, causal, first.program, outputs)
        code = exchanged_code(causal, [], sloped, more={"restitutions": _restitutions(graph, words)})
        _check_alike(first, code, words, graph)
        found.append(_mode(graph, causal, code, words, first, states))
    return tuple(found)


def _check_alike(first: Code, code: Code, words: Words, graph: PowerGraph) -> None:
    programs = first.program, code.program
    said = [
        ([p.names[k] for k in p.inputs], [law.name for law, _ in p.signals.samples], list(p.formulas)) for p in programs
    ]
    if said[0] == said[1] and first.base == code.base and code.explicit:
        return
    what = f"the mode ({', '.join(words)}) has no rates of its own, or other inputs and parameters than the first one"
    raise rules.MODES.error(what, where=graph.name, fix="export it to simulink, or replace an element by a resistance")


def _mode(
    graph: PowerGraph, causal: CausalGraph, code: Code, words: Words, first: Code, states: Sequence[str]
) -> ExchangedMode:
    program, place = code.program, {name: k for k, name in enumerate(states)}
    by_name = _by_name(program)
    observables = _observables(program, first.program)
    following = [causal.graph.ports[k].state for k in causal.derivative]
    told = _told(causal, program)
    changes = []
    events = [e for e, _ in program.events]
    for event, (e, element, transition) in enumerate(_transitions(graph, words)):
        assert events[event].kind == "transition", "guards come before other events"
        changes.append(
            ExchangedChange(event, e, transition.to, transition.restitution is not None, by_name[element, "across", ""])
        )
    if len(changes) > MOST_CHANGES:
        what = f"the mode ({', '.join(words)}) has {len(changes)} ways out, and at most {MOST_CHANGES} are exported"
        raise rules.MODES.error(what, where=graph.name, fix="export a part of the model")
    names = [program.names[k] for k in code.y]
    return ExchangedMode(
        words=words,
        code=code,
        places=tuple(place[name] for name in names),
        observables=tuple(observables),
        following=tuple(place[name] for name in following),
        told=tuple(told),
        changes=tuple(changes),
    )


def _by_name(program: Program) -> dict[tuple[str, str, str], int]:
    """The place of each observable by element, kind and name."""
    found: dict[tuple[str, str, str], int] = {}
    for k, (o, _) in enumerate(program.observables):
        found.setdefault((o.element, o.kind, o.name), k)
        # Conjugates are named after states, which differ: they are told by their element.
        found.setdefault((o.element, o.kind, ""), k)
    return found


def _observables(program: Program, first: Program) -> list[int]:
    """Where each observable of the first mode stands in this one; -1 where it does not."""
    found = _by_name(program)
    return [
        found.get((o.element, o.kind, o.name), found.get((o.element, o.kind, ""), -1)) for o, _ in first.observables
    ]


def _told(causal: CausalGraph, program: Program) -> list[int]:
    """The observables that tell the storages which follow others."""
    found, ports = _by_name(program), [causal.graph.ports[k] for k in causal.derivative]
    return [found[port.element, port.storage.side, ""] for port in ports]


def _sloped(causal: CausalGraph, first: Program, outputs: Sequence[int], program: Program) -> Sloped:
    """The outputs of the first mode that this one has, and what tells the storages that follow others."""
    here = _observables(program, first)
    return [here[k] for k in outputs if here[k] >= 0], _told(causal, program)


def _transitions(graph: PowerGraph, words: Words) -> list[tuple[int, str, Transition]]:
    """The element by number and by name, and each of its transitions, in the order of the event functions."""
    return [
        (e, graph.ports[k].element, transition)
        for e, ((k, law), word) in enumerate(zip(graph.switching.items(), words, strict=True))
        for transition in law.transitions.get(word, ())
    ]


def _restitutions(graph: PowerGraph, words: Words) -> list[Expression]:
    found = [transition.restitution or ZERO for _, _, transition in _transitions(graph, words)]
    for e in found:
        _check_constant(graph, e, "a restitution")
    return found


def contents(graph: PowerGraph) -> list[Expression]:
    """The matrix that gives contents of storages by their outputs, row by row, as formulas of parameters.

    Raises: ExportError (X401) for storages that are not linear.
    """
    rows = [e for row in inertia_matrix(graph) for e in row]
    for e in rows:
        _check_constant(graph, e, "a storage")
    return rows


def _check_constant(graph: PowerGraph, e: Expression, word: str) -> None:
    moving = e.free_symbols - graph.parameters.keys()
    if moving:
        what = f"{word} follows {listing(sorted(moving))}, and a change of mode would hand it over"
        raise rules.MODES.error(what, where=graph.name, fix="replace it by a constant near its operating point")


def all_breaks(modes: Sequence[ExchangedMode]) -> tuple[Break, ...]:
    """The known times of all modes."""
    codes = [mode.code for mode in modes if mode.code is not None]
    return tuple(dict.fromkeys(known for code in codes for known in code.program.signals.breaks))
