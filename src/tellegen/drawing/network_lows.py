"""What a schematic draws below its references: return lines of machines, and what hangs from these.

A line at depth 0 is below the references of the line of nodes, one at depth 1 below those of what hangs from such a line.
"""

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tellegen.core.domains import REFERENCES
from tellegen.description.model import Element
from tellegen.drawing.network_rails import lower_end
from tellegen.drawing.symbols_twoports import RAIL, RETURN, ROW, SHAFTS

Depths = Mapping[str, int]
"""How far down the line of a node is."""
NO_LINES: Depths = MappingProxyType({})


BUSY, MOST_BUSY = 3, 3
"""How many one-ports meet at a node that may be drawn as a line by itself, and how many such nodes are tried."""


def level_of(depth: int) -> float:
    """The height of a return line."""
    return RETURN + depth * (RETURN - ROW)


def hang_to(level: float) -> float:
    """The height of the references of what hangs from a line."""
    return level + RAIL - ROW


def low_lines(elements: Iterable[Element], rails: frozenset[str]) -> Depths:
    """The nodes below machines that may be drawn as return lines, with their depths; none where that cannot be done.

    They begin at the second terminals of machines and include all that is tied to the rest by these alone: the field winding of a
    series motor, the valve in the return line of a cylinder.
    """
    described = [element for element in elements if any(domain not in SHAFTS for domain in element.kind.domains)]
    near = _near(element for element in described if len(element.nodes) == 2)
    upper, roots = _ends(described, rails)
    above = _reached(upper, near, REFERENCES | rails | {*roots})
    depths: dict[str, int] = {}
    for root in roots:
        if root not in above | depths.keys():
            depths |= _spread(root, near, depths, REFERENCES | rails | above)
    return depths if _is_drawable(depths, near, above) else NO_LINES


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
            if first in rails or domain in SHAFTS:
                upper.add(second)
            else:
                lower[second] = None
    return upper - REFERENCES - rails, [node for node in lower if node not in upper | REFERENCES | rails]


def _near(one_ports: Iterable[Element]) -> dict[str, list[str]]:
    near: dict[str, list[str]] = {}
    for element in one_ports:
        first, second = element.nodes
        near.setdefault(first, []).append(second)
        near.setdefault(second, []).append(first)
    return near


def _reached(starts: Iterable[str], near: Mapping[str, list[str]], without: Iterable[str]) -> set[str]:
    closed = {*without}
    reached = {node for node in starts if node not in closed}
    waiting = list(reached)
    while waiting:
        for node in near.get(waiting.pop(), ()):
            if node not in closed and node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def _spread(root: str, near: Mapping[str, list[str]], known: Depths, closed: Iterable[str]) -> dict[str, int]:
    """The depths of what hangs from a line."""
    shut = {*closed} | known.keys()
    depths = {root: 0}
    queue = deque([root])
    while queue:
        node = queue.popleft()
        for other in near.get(node, ()):
            if other not in shut and other not in depths:
                depths[other] = depths[node] + 1
                queue.append(other)
    return depths


def _is_drawable(depths: Depths, near: Mapping[str, list[str]], above: set[str]) -> bool:
    """Whether every one-port stands between a line and the next one below it."""
    for node, depth in depths.items():
        for other in near.get(node, ()):
            if (other in above and depth) or (other in depths and abs(depths[other] - depth) != 1):
                return False
    return True


def busy_nodes(elements: Iterable[Element], rails: frozenset[str]) -> list[str]:
    """The nodes of wires and pipes at which most one-ports meet and no machine does: a common line below all others suits them."""
    described = [element for element in elements if any(domain not in SHAFTS for domain in element.kind.domains)]
    near = _near(element for element in described if len(element.nodes) == 2)
    held = rails.union(*(element.nodes for element in described if len(element.nodes) > 2))
    busy = [
        node for node, others in near.items() if node not in held and len(others) >= BUSY and rails.isdisjoint(others)
    ]
    lower = Counter(lower_end(element, *element.nodes) for element in described if len(element.nodes) == 2)
    return sorted(busy, key=lambda node: (-lower[node], -len(near[node])))[:MOST_BUSY]
