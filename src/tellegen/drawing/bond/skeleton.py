"""The skeleton of a bond graph as rows: a trunk from the main source, branches, and bonds that close meshes."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

from tellegen.drawing.bond.plan import BondLink, BondPlan

FED = ("electrical", "hydraulic")
"""What sources of effort feed from the left."""
MOST_CHILDREN = 3
"""Links of a junction away from the start: along the row, below and above."""


@final
@dataclass
class BondRow:
    """Nodes side by side, joined by links; `branches` are the rows that hang at each of them, with the link to their first node."""

    nodes: list[str]
    links: list[BondLink]
    branches: dict[str, list[tuple[BondLink, "BondRow"]]] = field(default_factory=dict)


@final
@dataclass(frozen=True)
class Skeleton:
    """The trunk of each connected part, and the links that are in no row."""

    trunks: tuple[BondRow, ...]
    closing: tuple[BondLink, ...]


def skeleton_of(plan: BondPlan) -> Skeleton:
    """The rows of a plan. The first row of a part begins at its first source."""
    used: set[str] = set()
    seen: set[int] = set()  # links of the trees, by identity
    trunks: list[BondRow] = []
    for start in _starts(plan):
        if start not in used:
            tree = _tree(plan, start, used)
            trunks += [tree.row(tree.start), *tree.apart]
            seen |= tree.taken
    closing = {id(link): link for links in plan.edges.values() for link in links if id(link) not in seen}
    return Skeleton(tuple(trunks), tuple(sorted(closing.values(), key=_order)))


def _tree(plan: BondPlan, start: str, used: set[str]) -> "_Tree":
    """The tree of a part, from the end of its trunk that is described first, unless wires or pipes are fed at the start.

    So a figure is not turned round when the first of several sources is taken away. Meshes have no such ends.
    """
    tree = _Tree(plan, start, set(used))
    end = tree.row(start).nodes[-1]
    if tree.is_whole and not _is_fed(plan, start) and _first_bond(plan, end) < _first_bond(plan, start):
        other = _Tree(plan, end, set(used))
        if other.row(end).nodes[-1] == start:
            start = end
    return _Tree(plan, start, used)


def _is_fed(plan: BondPlan, name: str) -> bool:
    """Whether a source of wires or pipes decides the effort at a node: it stands on the left."""
    leaves = ((plan.nodes[link.other(name)], link) for link in plan.leaves[name])
    return any(leaf.text.letters.endswith("Se") and link.domain in FED for leaf, link in leaves)


def _first_bond(plan: BondPlan, name: str) -> int:
    """The number of the first bond at a node, which follows the order of description."""
    return min((link.number for link in (*plan.leaves[name], *plan.edges[name]) if link.number), default=0)


def _order(link: BondLink) -> tuple[int, str, str]:
    return link.number, link.tail, link.head


def _starts(plan: BondPlan) -> Iterator[str]:
    """Where rows may begin: at the sources, then at what has one neighbour, then anywhere."""
    for link in plan.links:
        for leaf, node in ((link.tail, link.head), (link.head, link.tail)):
            if plan.nodes[leaf].role == "leaf" and plan.nodes[leaf].text.letters.lstrip("Mr")[:1] == "S":
                yield node
    yield from (name for name, links in plan.edges.items() if len(links) == 1)
    yield from plan.edges


class _Tree:
    """A spanning tree from a start, cut into longest paths."""

    def __init__(self, plan: BondPlan, start: str, used: set[str]) -> None:
        self.plan, self.start = plan, start
        self.taken: set[int] = set()
        self.apart: list[BondRow] = []
        self.children: dict[str, list[tuple[BondLink, str]]] = {}
        order = self._grow(start, used)
        self.height: dict[str, tuple[int, bool]] = {}
        for name in reversed(order):
            below = [self.height[child] for _, child in self.children[name]]
            length, stored = max(below, default=(0, False))
            self.height[name] = (length + 1, stored or self._stores(name))

    @property
    def is_whole(self) -> bool:
        """Whether no bond closes a mesh."""
        return all(id(link) in self.taken for name in self.children for link in self.plan.edges[name])

    def _grow(self, start: str, used: set[str]) -> list[str]:
        order, queue = [], deque([start])
        used.add(start)
        while queue:
            name = queue.popleft()
            order.append(name)
            self.children[name] = []
            is_junction = self.plan.nodes[name].role == "junction"
            for link in self.plan.edges[name]:
                other = link.other(name)
                if other not in used and not (is_junction and len(self.children[name]) == MOST_CHILDREN):
                    used.add(other)
                    self.taken.add(id(link))
                    self.children[name].append((link, other))
                    queue.append(other)
        return order

    def _stores(self, name: str) -> bool:
        links = self.plan.leaves[name]
        return any(self.plan.nodes[link.other(name)].text.letters in ("I", "C", "IC") for link in links)

    def row(self, start: str, *, hangs: bool = False) -> BondRow:
        """The longest path from a node on, with the rest as branches.

        A row that hangs has its parent above or below its first node. Where that leaves no room for a second branch of a junction,
        the branch becomes a row apart, and its link closes the mesh between them.
        """
        row, name = BondRow([start], []), start
        while children := self.children[name]:
            # A path of the same length with a storage goes on, however many it has; then the order of description.
            best = max(range(len(children)), key=lambda k: (self.height[children[k][1]], -k))
            rest = [child for k, child in enumerate(children) if k != best]
            if hangs and name == start and self.plan.nodes[name].role == "junction":
                for link, child in rest[1:]:
                    self.taken.discard(id(link))
                    self.apart.append(self.row(child))
                rest = rest[:1]
            if rest:
                row.branches[name] = [(link, self.row(child, hangs=True)) for link, child in rest]
            link, name = children[best]
            row.nodes.append(name)
            row.links.append(link)
        return row
