"""The limit as a change of laws on the graph: what vanishes or freezes becomes a source.

A rigid spring imposes the velocity zero, a massless body the force zero, a frozen storage the output that it started with. So
causality and equations follow as for any model, and the sources show the variables that the limit removes: the force in the rigid
spring, the velocity of the massless body.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from tellegen.causality.demands import Demand, demands
from tellegen.causality.exact import ExactCausality, exact_causality, generic_residue
from tellegen.core.domains import Side, other_side
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import listing
from tellegen.description.model import Element, Model
from tellegen.elements import ElementKind, kinds_of
from tellegen.graph import Port, PowerGraph, StorageLaw, lower
from tellegen.reduction import rules
from tellegen.reduction.limited import Limited
from tellegen.reduction.naming import without_index


@final
@dataclass(frozen=True)
class Sources:
    """The model and the graph in which elements at their limit are sources.

    `zero` are the ports of elements of which a variable vanishes, `frozen` those of frozen storages. `indeterminate` names the
    elements whose constraint held already: they are left out, and nothing determines their other variable.
    """

    model: Model
    graph: PowerGraph
    zero: tuple[int, ...]
    frozen: tuple[int, ...]
    indeterminate: tuple[str, ...]
    findings: tuple[Finding, ...]


def with_sources(limited: Limited, base: PowerGraph, following: Iterable[str]) -> Sources:
    """Replace what vanishes or freezes by sources.

    `base` is the graph of the full model and `following` names its dependent storages. Constraints that hold already are left out.

    Raises: ReductionError when a constraint has no solution, or depends on a ratio of limits.
    """
    replaced = {*limited.vanishing, *limited.frozen}
    names = _variable_names(base)
    elements = [_source(e, limited, names) if e.name in replaced else e for e in limited.model.elements]
    model = replace(limited.model, elements=tuple(elements))
    return _Conflicts(model, limited, frozenset(following)).settled()


def _variable_names(graph: PowerGraph) -> dict[str, Port]:
    return {without_index(port.element): port for port in graph.ports}


def source_kind(domain: str, side: Side) -> ElementKind:
    """The kind of source that imposes a variable."""
    return next(k for k in kinds_of(domain, "source") if k.side == side)


def _source(element: Element, limited: Limited, ports: Mapping[str, Port]) -> Element:
    side = limited.vanishing.get(element.name) or element.kind.side
    port = ports[without_index(element.name)]
    variables: dict[str, str] = {s: without_index(port.variable(s)) for s in ("across", "through")}
    if element.name in limited.vanishing:
        variables[side] = f"zero_{without_index(element.name)}".replace(".", "_")
    return Element(
        element.name,
        source_kind(element.kind.domains[0], side),
        element.nodes,
        variables=variables,
        place=element.place,
    )


class _Conflicts:
    """Finds the constraints that cannot be imposed because others decide the variable already."""

    def __init__(self, model: Model, limited: Limited, following: frozenset[str]) -> None:
        self.model = model
        self.limited = limited
        self.following = following
        self.findings: list[Finding] = []
        self.indeterminate: list[str] = []

    def settled(self) -> Sources:
        """The graph without redundant constraints."""
        graph = lower(self.model)
        while True:
            ports = {port.element: k for k, port in enumerate(graph.ports)}
            zero = tuple(ports[n] for n in self.limited.vanishing if n in ports)
            frozen = tuple(ports[n] for n in self.limited.frozen if n in ports)
            denied = self._denied(graph, zero, frozen)
            if denied is None:
                return Sources(self.model, graph, zero, frozen, tuple(self.indeterminate), tuple(self.findings))
            graph = _without(graph, ports[denied])

    def _denied(self, graph: PowerGraph, zero: Sequence[int], frozen: Sequence[int]) -> str | None:
        """The first constraint that is not free, and redundant; None where all are free."""
        limits = {*zero, *frozen}
        order = demands(graph)
        given = [d for d in order if d.port not in limits and d.must]
        true = [d for d in given if d.port in set(graph.sources())]
        wanted = [Demand(k, _side(graph.ports[k]), True) for k in (*frozen, *zero)]
        found = exact_causality(
            graph, [*true, *wanted, *(d for d in order if d not in true and d.port not in limits)], generic_residue
        )
        for demand in wanted:
            if found.decides[demand.port] != demand.wants:
                return self._judged(graph, demand.port, found, limits)
        return None

    def _judged(self, graph: PowerGraph, port: int, found: ExactCausality, limits: set[int]) -> str:
        """The name of a redundant constraint; raises for one that contradicts others."""
        name = graph.ports[port].element
        partners = found.partners(port)
        names = [graph.ports[k].element for k in partners]
        is_frozen = name in self.limited.frozen
        if any(k not in limits for k in partners):
            raise self._unsolvable(graph, port, [n for k, n in zip(partners, names, strict=True) if k not in limits])
        frozen = [n for n in names if n in self.limited.frozen]
        if is_frozen and name in self.following and len(frozen) == len(names):
            return name
        if frozen or is_frozen:
            raise self._contradiction(name, names)
        if names:
            raise self._ratio(graph, [name, *names])
        self.indeterminate.append(name)
        variable = graph.ports[port].variable(other_side(_side(graph.ports[port])))
        self.findings.append(
            rules.INDETERMINATE.finding(
                f"{variable} of '{name}' is indeterminate: its constraint holds already",
                where=name,
                fix=f"keep {listing(self.limited.causes[name])} if {variable} is wanted",
                members=[name],
            )
        )
        return name

    def _limits_of(self, names: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(n for name in names for n in self.limited.causes.get(name, ())))

    def _unsolvable(self, graph: PowerGraph, port: int, others: list[str]) -> TellegenError:
        me = graph.ports[port]
        word = graph.domain_of(port).power(_side(me)).word
        held = "be zero" if me.element in self.limited.vanishing else "stay as it is"
        decide = "decides" if len(others) == 1 else "decide"
        return rules.UNSOLVABLE.error(
            f"the {word} of '{me.element}' would have to {held}, but {listing(others)} {decide} it",
            where=me.element,
            fix=f"keep {listing(self._limits_of([me.element]))}, or put an element between '{me.element}' and {listing(others)}",
            place=me.place,
            members=[me.element, *others],
        )

    def _contradiction(self, name: str, others: Sequence[str]) -> TellegenError:
        limits = self._limits_of([name, *others])
        return rules.CONTRADICTING_LIMITS.error(
            f"the limits of {listing(limits)} hold {listing([name, *others])} at values that need not agree",
            where=name,
            fix=f"keep one of {listing(limits)}",
            members=[name, *others],
        )

    def _ratio(self, graph: PowerGraph, names: Sequence[str]) -> TellegenError:
        limits = self._limits_of(names)
        variables = [p.variable(other_side(_side(p))) for p in graph.ports if p.element in names]
        ratio = "/".join(limits[:2]) if len(limits) > 1 else f"between {listing(names)}"
        return rules.RATIO_OF_LIMITS.error(
            f"{listing(variables)} depend on the ratio {ratio} of the limits",
            where=names[0],
            fix=f"take only one of {listing(limits)} to its limit: the others are idle then",
            members=names,
        )


def _without(graph: PowerGraph, port: int) -> PowerGraph:
    """The graph without one port."""
    moved = {k: k - (k > port) for k in range(len(graph.ports)) if k != port}
    fields = tuple(replace(f, ports=tuple(moved[k] for k in f.ports)) for f in graph.fields)
    switching = {moved[k]: law for k, law in graph.switching.items()}
    ports = tuple(p for k, p in enumerate(graph.ports) if k != port)
    now = {moved[k]: mode for k, mode in graph.now.items()}
    return replace(graph, ports=ports, fields=fields, switching=switching, now=now)


def _side(port: Port) -> Side:
    assert not isinstance(port.law, StorageLaw), "asked for sources only"
    return port.law.side
