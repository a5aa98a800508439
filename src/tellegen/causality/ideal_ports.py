"""Ideal elements among each other: those that repeat what others impose, and modes that cannot be.

An open switch in series with open switches imposes nothing new: closed, it would leave everything as it is. So would a closed one
in parallel with closed ones, if it were open. Such a port gets the other ideal law; it then takes no share of the load.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tellegen.causality import rules
from tellegen.core.domains import other_side
from tellegen.core.errors import Finding
from tellegen.core.names import listing
from tellegen.expressions import ZERO
from tellegen.graph import PowerGraph, ResistiveLaw


def with_idle_ports(graph: PowerGraph, idle: Sequence[int]) -> PowerGraph:
    """The graph in which ideal ports that repeat others take no share."""
    if not idle:
        return graph
    ports = list(graph.ports)
    for k in idle:
        ports[k] = replace(ports[k], law=ResistiveLaw(other_side(ports[k].law.side), ZERO, invertible=False))
    return replace(graph, ports=tuple(ports))


def idle_notices(graph: PowerGraph, idle: Iterable[int]) -> Iterable[Finding]:
    """A notice for each port that takes no share."""
    for k in idle:
        port = graph.ports[k]
        word = graph.domain_of(k).power(port.law.side).word
        yield rules.IDLE_ELEMENT.finding(
            f"'{port.element}' repeats what others impose: it takes no {word}",
            where=port.element,
            fix="give one of them a resistance if the share matters",
            place=port.place,
            members=[port.element],
        )


def mode_conflict(graph: PowerGraph, port: int, others: Sequence[str], variable: str) -> Finding:
    """The error for a mode in which an element would impose what others decide."""
    me = graph.ports[port]
    mode = graph.mode_of(port)
    decide = "decides" if len(others) == 1 else "decide"
    return rules.LOCKED_MODE.finding(
        f"'{me.element}' cannot be '{mode}': {listing(others)} {decide} its {variable}",
        where=me.element,
        fix=f"put a resistive element or a storage between '{me.element}' and {listing(others)}",
        place=me.place,
        members=[me.element, *others],
    )
