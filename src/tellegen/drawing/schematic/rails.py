"""The nodes that a schematic draws as lines below the others: rails of references, return lines of machines and of switching legs.

A line at depth 0 is below the references of the line of nodes, one at depth 1 below those of what hangs from such a line.
"""

from collections import Counter, deque
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from tellegen.core.domains import REFERENCES
from tellegen.drawing.schematic.symbols import MECHANICAL_DOMAINS, RETURN, ROW
from tellegen.model.model import Element

SWITCHED = ("switch", "one way")
"""How the elements of a leg behave."""


def rails_of(elements: tuple[Element, ...]) -> frozenset[str]:
    """References, and for each sub-network of wires or pipes without one the node that most ports have as their second.

    People write the line at the bottom there. Among nodes with equally many it is the one with most ports, then that of the first
    source. Without the node the rest must still hang together, or the figure would fall apart.
    """
    # Only wires and pipes have a line at the bottom: rods end at walls of their own.
    near = neighbours(pair for element in elements for pair in _wired(element))
    tied: dict[str, list[str]] = {}
    lower: Counter[str] = Counter()
    behind: dict[str, int] = {}
    for element in elements:
        ends = [node for pair in _wired(element) for node in pair]
        for node in ends:
            tied.setdefault(node, []).extend(ends)  # an element holds together what is at its ports
        for first, second in _wired(element):
            lower[lower_node(element, first, second)] += 1
            if element.kind.role == "source":
                behind.setdefault(second, len(behind))
    rank = {node: (-lower[node], -len(ends), behind.get(node, len(behind))) for node, ends in near.items()}
    chosen: list[str] = []
    for group in connected_groups(near):
        if REFERENCES.isdisjoint(group):
            ordered = sorted(group, key=rank.__getitem__)
            # The best node whose removal leaves one piece; where every one tears the rest apart, the best all the same.
            chosen.append(next((node for node in ordered if _hold_together(group, tied, node)), ordered[0]))
    return REFERENCES.union(chosen)


def lower_node(element: Element, first: str, second: str) -> str:
    """The node of a port that people draw below: the second, but what passes in one direction only leads up from the first."""
    return first if element.kind.behaviour == "one way" else second


def common_return_lines(elements: tuple[Element, ...]) -> dict[str, int]:
    """Nodes that are drawn as lines below all references, at depth 0: two machines or more have their second terminal there.

    The return line of a closed circuit is one: it has its own elements to the reference. Nothing has its first terminal there that
    has several ports, and a one-port leads from there to a reference or to the first terminal of such an element.
    """
    ends = [pair for element in elements if len(element.nodes) == 4 for pair in _wired(element)]
    firsts, seconds = {first for first, _ in ends}, Counter(second for _, second in ends)
    known = REFERENCES | firsts
    # At a first terminal the line would have to be above the machine and below it.
    found = {node for node, count in seconds.items() if count > 1 and node not in known}
    # A machine at the reference with its first terminal has its second one above the rail already.
    found -= {second for first, second in ends if first in REFERENCES}
    for element in elements:
        if len(element.nodes) == 2:
            first, second = element.nodes
            found -= {a for a, b in ((first, second), (second, first)) if b not in known}
    return dict.fromkeys(sorted(found), 0)


def switching_leg_nodes(elements: tuple[Element, ...], rails: frozenset[str]) -> dict[str, int]:
    """The middles of legs of switches between an upper line and a rail, as lines at depth 0; none where there are no such legs.

    All that is joined to a middle leads up to the line or down to the rail.
    """
    near: dict[str, set[str]] = {}
    switched: dict[str, set[str]] = {}
    # Machines pull their node up to their terminals: no line below can stand for it.
    held = {node for element in elements if len(element.nodes) != 2 for node in element.nodes}
    for element in elements:
        if len(element.nodes) == 2 and element.kind.domains[0] not in MECHANICAL_DOMAINS:
            for one, two in (element.nodes, element.nodes[::-1]):
                near.setdefault(one, set()).add(two)
                if element.kind.behaviour in SWITCHED:
                    switched.setdefault(one, set()).add(two)
    middles = {
        node: next(iter(others - rails))
        for node, others in near.items()
        # Everything at the middle switches, and leads to one node above and one rail: a leg and nothing else.
        if node not in rails | held
        and len(others - rails) == len(others & rails) == 1
        and others == switched.get(node, set())
    }
    # Two switches in series are no two legs: the upper end must be a line, not another middle.
    tops = {top for top in middles.values() if top not in middles}
    return {node: 0 for node, top in middles.items() if top in tops}


Node = TypeVar("Node", bound=Hashable)
"""Nodes of a network by their names, or points of a figure by their places."""


def neighbours(pairs: Iterable[tuple[Node, Node]], nodes: Iterable[Node] = ()) -> dict[Node, list[Node]]:
    """The nodes beside each node, once for every pair, in the order of the pairs; `nodes` are there even without any."""
    near: dict[Node, list[Node]] = {node: [] for node in nodes}
    for one, two in pairs:
        near.setdefault(one, []).append(two)
        near.setdefault(two, []).append(one)
    return near


def distances(
    starts: Iterable[Node], near: Mapping[Node, Sequence[Node]], without: Container[Node] = frozenset()
) -> dict[Node, int]:
    """How many steps away from the starts each node is that can be reached, the nearest first; not through those `without`."""
    found = {node: 0 for node in starts if node not in without}
    # Breadth first: the first way to a node is a shortest one.
    queue = deque(found)
    while queue:
        node = queue.popleft()
        for other in near.get(node, ()):
            if other not in without and other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found


def connected_groups(near: Mapping[Node, Sequence[Node]]) -> list[list[Node]]:
    """The nodes that hang together, in the order of description."""
    number: dict[Node, int] = {}
    groups: list[list[Node]] = []
    for node in near:
        if node not in number:
            number |= dict.fromkeys(distances([node], near), len(groups))
            groups.append([])
        groups[number[node]].append(node)
    return groups


def _hold_together(group: list[str], near: Mapping[str, list[str]], without: str) -> bool:
    rest = [node for node in group if node != without]
    return {*rest} <= distances(rest[:1], near, {without}).keys()


def _wired(element: Element) -> Iterable[tuple[str, str]]:
    """The pairs of nodes of its ports that are wires or pipes."""
    for port, domain in enumerate(element.kind.domains):
        if domain not in MECHANICAL_DOMAINS:
            yield element.nodes[2 * port], element.nodes[2 * port + 1]


ReturnDepths = Mapping[str, int]
"""How far down the line of a node is."""
NO_RETURN_LINES: ReturnDepths = MappingProxyType({})


BUSY, MOST_BUSY = 3, 3
"""How many one-ports meet at a node that may be drawn as a line by itself, and how many such nodes are tried."""


def return_line_height(depth: int) -> float:
    """The height of a return line."""
    return RETURN + depth * (RETURN - ROW)


def return_lines_behind_machines(elements: tuple[Element, ...], rails: frozenset[str]) -> ReturnDepths:
    """The nodes below machines that may be drawn as return lines, with their depths; none where that cannot be done.

    They begin at the second terminals of machines and include all that is tied to the rest by these alone: the field winding of a
    series motor, the valve in the return line of a cylinder.
    """
    described, near = _wires(elements)
    # What can be reached from upper terminals without machines is in the forward line, not in the return.
    upper, roots = _ends(described, rails)
    above = distances(upper, near, REFERENCES | rails | {*roots}).keys()
    depths: dict[str, int] = {}
    for root in roots:
        if root not in above | depths.keys():
            # Each element further from the machine hangs one line deeper: no line has to pass beside it.
            depths |= distances([root], near, REFERENCES | rails | above | depths.keys())
    return depths if _is_drawable(depths, near, above) else NO_RETURN_LINES


def _wires(elements: tuple[Element, ...]) -> tuple[list[Element], dict[str, list[str]]]:
    """The elements with wires or pipes, and the nodes beside each other by one-ports of these."""
    described = [e for e in elements if any(domain not in MECHANICAL_DOMAINS for domain in e.kind.domains)]
    return described, neighbours((e.nodes[0], e.nodes[1]) for e in described if len(e.nodes) == 2)


def _ends(elements: Iterable[Element], rails: frozenset[str]) -> tuple[set[str], list[str]]:
    """The nodes at upper terminals of elements with several ports, and the others at lower ones."""
    upper: set[str] = set()
    lower: dict[str, None] = {}
    for element in elements:
        if len(element.nodes) != 4:
            upper |= set() if len(element.nodes) == 2 else {*element.nodes}
            continue
        for domain, first, second in zip(element.kind.domains, element.nodes[::2], element.nodes[1::2], strict=True):
            upper.add(first)
            if first in rails or domain in MECHANICAL_DOMAINS:
                upper.add(second)
            else:
                lower[second] = None
    return upper - REFERENCES - rails, [node for node in lower if node not in upper | REFERENCES | rails]


def _is_drawable(depths: ReturnDepths, near: Mapping[str, list[str]], above: Container[str]) -> bool:
    """Whether every one-port stands between a line and the next one below it."""
    for node, depth in depths.items():
        for other in near.get(node, ()):
            # A one-port is one symbol high: it can only lead to the line next below or next above.
            if (other in above and depth) or (other in depths and abs(depths[other] - depth) != 1):
                return False
    return True


def crowded_nodes(elements: tuple[Element, ...], rails: frozenset[str]) -> list[str]:
    """The nodes of wires and pipes at which most one-ports meet and no machine does: a common line below all others suits them."""
    described, near = _wires(elements)
    # As for legs: machines hold their nodes at the height of their terminals.
    held = rails.union(*(element.nodes for element in described if len(element.nodes) > 2))
    busy = [
        node for node, others in near.items() if node not in held and len(others) >= BUSY and rails.isdisjoint(others)
    ]
    lower = Counter(lower_node(element, *element.nodes) for element in described if len(element.nodes) == 2)
    # First where most one-ports have the terminal that people draw below.
    return sorted(busy, key=lambda node: (-lower[node], -len(near[node])))[:MOST_BUSY]
