"""Which states remain: those asked for, else those without state-dependent denominators, else the earliest in state order."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import CausalGraph, assign_causality
from tellegen.causality.demands import Demand, demands
from tellegen.causality.exact import exact_causality, generic_residue
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.equations.structure import CausalStructure, causal_structure
from tellegen.expressions import Expression, Mul, Number, Pow
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.graph import PowerGraph, SourceLaw, StorageLaw
from tellegen.reduction import rules
from tellegen.reduction.sources import Sources


@final
@dataclass(frozen=True)
class Choice:
    """The causality of the limit with the states chosen, and the causal interconnection with symbols."""

    causal: CausalGraph
    structure: CausalStructure
    field: NamedEntries

    @property
    def states(self) -> list[str]:
        """The elements that keep a state."""
        return [self.causal.graph.ports[k].element for k in self.causal.integral]


def choose_states(sources: Sources, order: Sequence[str], keep: Sequence[str]) -> Choice:
    """Choose among the storages of the limit; `order` and `keep` name elements.

    Raises: ReductionError (T108) when what is to be kept cannot be.
    """
    graph = sources.graph
    waiting = [*keep, *(name for name in order if name not in keep)]
    tried: set[frozenset[str]] = set()
    best: Choice | None = None
    while True:
        states = _independent(sources, waiting)
        _refuse_lost(graph, keep, states)
        if best is not None and frozenset(states) in tried:
            return best
        tried.add(frozenset(states))
        found = _with_states(graph, states)
        late = [name for name in _behind_moving_denominators(found) if name not in keep]
        if best is None or not late:
            best = found
        if not late:
            return best
        waiting = [*(n for n in waiting if n not in late), *late]


def _independent(sources: Sources, waiting: Sequence[str]) -> list[str]:
    """The storages that can be states together, greedily in the order given."""
    graph = sources.graph
    asked = demands(graph)
    rank = {name: k for k, name in enumerate(waiting)}
    storages = [d for d in asked if isinstance(graph.ports[d.port].law, StorageLaw) and not d.must]
    storages.sort(key=lambda d: rank.get(graph.ports[d.port].element, len(rank)))
    first = [d for d in asked if d.must]
    last = [d for d in asked if not d.must and not isinstance(graph.ports[d.port].law, StorageLaw)]
    order: list[Demand] = [*first, *storages, *last]
    decides = exact_causality(graph, order, generic_residue).decides
    return [
        port.element
        for port, side in zip(graph.ports, decides, strict=True)
        if isinstance(port.law, StorageLaw) and side == port.law.side
    ]


def _with_states(graph: PowerGraph, states: Iterable[str]) -> Choice:
    chosen = set(states)
    ports = tuple(
        replace(p, prefer=p.law.side if p.element in chosen else None)
        if isinstance(p.law, StorageLaw) and not p.forced
        else p
        for p in graph.ports
    )
    causal = assign_causality(replace(graph, ports=ports))
    variables = (name for p in graph.ports for name in (p.across, p.through, p.state))
    field = NamedEntries(graph.parameters, (*variables, *graph.moving, *graph.displacements), prefix="r")
    return Choice(causal, causal_structure(causal, field), field)


def _refuse_lost(graph: PowerGraph, keep: Sequence[str], states: Sequence[str]) -> None:
    lost = [name for name in keep if name not in states]
    if lost:
        raise rules.CANNOT_KEEP.error(
            f"{listing(lost)} cannot be kept: the limit leaves the states of {listing(states)}",
            where=lost[0],
            fix="keep fewer, or others",
            members=lost,
        )


def kept_elements(graph: PowerGraph, keep: Sequence[str], gone: Iterable[str]) -> list[str]:
    """The elements of the states that are to be kept, given by the names of the states or of the elements.

    Raises: ReductionError (T108) for a name that is no state, or that the limit removes.
    """
    states = {p.state: p.element for p in graph.ports if isinstance(p.law, StorageLaw)}
    elements = set(states.values())
    removed = set(gone)
    found = []
    for name in keep:
        element = states.get(name) or (name if name in elements else None)
        if element is None:
            fix = did_you_mean(name, states) or f"the states are {listing(states)}"
            raise rules.CANNOT_KEEP.error(f"'{name}' is not a state", where=name, fix=fix)
        if element in removed:
            raise _removed(name)
        found.append(element)
    return found


def _removed(name: str) -> TellegenError:
    return rules.CANNOT_KEEP.error(
        f"'{name}' cannot be kept: its own storage is at the limit", where=name, fix="keep another state"
    )


def _behind_moving_denominators(choice: Choice) -> list[str]:
    """States through which a dependent variable has a denominator that moves: it may vanish along the way."""
    causal, ports = choice.causal, choice.causal.graph.ports
    moving = _moving_names(causal.graph)
    if not moving:
        return []
    asked = (*causal.derivative, *causal.sources)
    late = {
        j
        for k in asked
        for j, gain in choice.structure.gains[k].items()
        if j in set(causal.integral) and divides_by(substituted(gain.expression, choice.field.where), moving)
    }
    return [ports[j].element for j in sorted(late)]


def _moving_names(graph: PowerGraph) -> set[str]:
    states = {p.state for p in graph.ports if p.state}
    inputs = {p.law.input for p in graph.ports if isinstance(p.law, SourceLaw)}
    return {*graph.displacements, *graph.moving, *states, *inputs} if graph.displacements else set()


def divides_by(expression: Expression, names: Mapping[str, object] | set[str]) -> bool:
    """Whether a denominator of the expression contains one of the names."""
    stack = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, Mul) and any(q < 0 and not base.free_symbols.isdisjoint(names) for base, q in node.factors):
            return True
        below = isinstance(node, Pow) and isinstance(node.exponent, Number) and node.exponent.rational < 0
        if below and not node.args[0].free_symbols.isdisjoint(names):
            return True
        stack.extend(node.args)
    return False
