"""The nodes that a schematic draws as rails: references, and one node of each network of wires or pipes that has none."""

from collections import Counter
from collections.abc import Iterable

from tellegen.core.domains import REFERENCES
from tellegen.core.union_find import UnionFind
from tellegen.description.model import Element
from tellegen.drawing.symbols_twoports import SHAFTS


def rails_of(elements: Iterable[Element]) -> frozenset[str]:
    """References, and for each sub-network of wires or pipes without one the node that most ports have as their second.

    People write the line at the bottom there. Among nodes with equally many it is the one with most ports, then that of the first
    source.
    """
    pairs = [(pair, element) for element in elements for pair in _wired(element)]
    nodes = list(dict.fromkeys(node for pair, _ in pairs for node in pair))
    number = {node: k for k, node in enumerate(nodes)}
    groups = UnionFind(len(nodes))
    degree: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    behind: dict[str, int] = {}
    for (first, second), element in pairs:
        groups.join(number[first], number[second])
        degree.update((first, second))
        lower[second] += 1
        if element.kind.role == "source":
            behind.setdefault(second, len(behind))
    members: dict[int, list[str]] = {}
    for node in nodes:
        members.setdefault(groups.find(number[node]), []).append(node)
    chosen = [
        min(group, key=lambda node: (-lower[node], -degree[node], behind.get(node, len(behind)), number[node]))
        for group in members.values()
        if REFERENCES.isdisjoint(group)
    ]
    return REFERENCES.union(chosen)


def _wired(element: Element) -> Iterable[tuple[str, str]]:
    """The pairs of nodes of its ports that are wires or pipes."""
    for port, domain in enumerate(element.kind.domains):
        if domain not in SHAFTS:
            yield element.nodes[2 * port], element.nodes[2 * port + 1]
