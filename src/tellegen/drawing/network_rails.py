"""The nodes that a schematic draws as rails: references, and one node of each network of wires or pipes that has none."""

from collections import Counter
from collections.abc import Iterable, Mapping

from tellegen.core.domains import REFERENCES
from tellegen.description.model import Element
from tellegen.drawing.symbols_twoports import SHAFTS

SWITCHED = ("switch", "one way")
"""How the elements of a leg behave."""


def rails_of(elements: Iterable[Element]) -> frozenset[str]:
    """References, and for each sub-network of wires or pipes without one the node that most ports have as their second.

    People write the line at the bottom there. Among nodes with equally many it is the one with most ports, then that of the first
    source. Without the node the rest must still hang together, or the figure would fall apart.
    """
    near: dict[str, list[str]] = {}
    tied: dict[str, list[str]] = {}
    lower: Counter[str] = Counter()
    behind: dict[str, int] = {}
    for element in elements:
        ends = [node for pair in _wired(element) for node in pair]
        for node in ends:
            tied.setdefault(node, []).extend(ends)  # an element holds together what is at its ports
        for first, second in _wired(element):
            near.setdefault(first, []).append(second)
            near.setdefault(second, []).append(first)
            lower[lower_end(element, first, second)] += 1
            if element.kind.role == "source":
                behind.setdefault(second, len(behind))
    rank = {node: (-lower[node], -len(ends), behind.get(node, len(behind))) for node, ends in near.items()}
    chosen: list[str] = []
    for group in _groups(near):
        if REFERENCES.isdisjoint(group):
            ordered = sorted(group, key=rank.__getitem__)
            chosen.append(next((node for node in ordered if _hold_together(group, tied, node)), ordered[0]))
    return REFERENCES.union(chosen)


def lower_end(element: Element, first: str, second: str) -> str:
    """The node of a port that people draw below: the second, but what passes in one direction only leads up from the first."""
    return first if element.kind.behaviour == "one way" else second


def returns_of(elements: Iterable[Element]) -> dict[str, int]:
    """Nodes that are drawn as lines below all references, at depth 0: two machines or more have their second terminal there.

    The return line of a closed circuit is one: it has its own elements to the reference. Nothing has its first terminal there that
    has several ports, and a one-port leads from there to a reference or to the first terminal of such an element.
    """
    described = tuple(elements)
    ends = [pair for element in described if len(element.nodes) == 4 for pair in _wired(element)]
    firsts, seconds = {first for first, _ in ends}, Counter(second for _, second in ends)
    known = REFERENCES | firsts
    found = {node for node, count in seconds.items() if count > 1 and node not in known}
    found -= {second for first, second in ends if first in REFERENCES}
    for element in described:
        if len(element.nodes) == 2:
            first, second = element.nodes
            found -= {a for a, b in ((first, second), (second, first)) if b not in known}
    return dict.fromkeys(sorted(found), 0)


def legs_of(elements: Iterable[Element], rails: frozenset[str]) -> dict[str, int]:
    """The middles of legs of switches between an upper line and a rail, as lines at depth 0; none where there are no such legs.

    All that is joined to a middle leads up to the line or down to the rail.
    """
    described = tuple(elements)
    near: dict[str, set[str]] = {}
    switched: dict[str, set[str]] = {}
    held = {node for element in described if len(element.nodes) != 2 for node in element.nodes}
    for element in described:
        if len(element.nodes) == 2 and element.kind.domains[0] not in SHAFTS:
            for one, two in (element.nodes, element.nodes[::-1]):
                near.setdefault(one, set()).add(two)
                if element.kind.behaviour in SWITCHED:
                    switched.setdefault(one, set()).add(two)
    middles = {
        node: next(iter(others - rails))
        for node, others in near.items()
        if node not in rails | held
        and len(others - rails) == len(others & rails) == 1
        and others == switched.get(node, set())
    }
    tops = {top for top in middles.values() if top not in middles}
    return {node: 0 for node, top in middles.items() if top in tops}


def _groups(near: Mapping[str, list[str]]) -> list[list[str]]:
    """The nodes that hang together, in the order of description."""
    number: dict[str, int] = {}
    count = 0
    for node in near:
        if node not in number:
            number |= dict.fromkeys(_reached(node, near, ""), count)
            count += 1
    groups: list[list[str]] = [[] for _ in range(count)]
    for node in near:
        groups[number[node]].append(node)
    return groups


def _hold_together(group: list[str], near: Mapping[str, list[str]], without: str) -> bool:
    start = next((node for node in group if node != without), None)
    return start is None or {*group} - {without} <= _reached(start, near, without)


def _reached(start: str, near: Mapping[str, list[str]], without: str) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for node in near[waiting.pop()]:
            if node != without and node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def _wired(element: Element) -> Iterable[tuple[str, str]]:
    """The pairs of nodes of its ports that are wires or pipes."""
    for port, domain in enumerate(element.kind.domains):
        if domain not in SHAFTS:
            yield element.nodes[2 * port], element.nodes[2 * port + 1]
