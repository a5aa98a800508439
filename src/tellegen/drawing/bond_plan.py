"""A bond graph as what a figure has to place: nodes with a text, and links between them.

Elements with one bond are leaves; everything else is the skeleton. A junction with more bonds than fit round it becomes several
equal ones in a row.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from tellegen.core.domains import DOMAINS
from tellegen.drawing.bond_conflicts import Warnings
from tellegen.drawing.bond_texts import BondTexts, ItemText
from tellegen.drawing.options import Options
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme

Role = Literal["junction", "multiport", "leaf"]

MOST_LEAVES = 6
MOST_LINKS = 4
"""Of the skeleton, at one junction: one on each side."""
MOST_BONDS = 8


@final
@dataclass(frozen=True, slots=True)
class Node:
    """Something that a figure shows as a text. `name` is unique; `element` is the item that it stands for."""

    name: str
    element: str
    role: Role
    text: ItemText
    domain: str


@final
@dataclass(frozen=True, slots=True)
class Link:
    """A bond of the figure, from tail to head. `stroke` is the name of the node that receives the effort.

    A link between two halves of a split junction has no bond of its own: `number` is 0. `sink` is one to a residual sink, which
    stands out though nothing is wrong with it.
    """

    number: int
    tail: str
    head: str
    stroke: str
    domain: str
    effort: str
    flow: str
    size: int = 1
    warned: bool = False
    sink: bool = False

    def other(self, name: str) -> str:
        """The node at the other end."""
        return self.head if self.tail == name else self.tail


@final
@dataclass(frozen=True)
class Plan:
    """Nodes by name and links in order; `leaves` and `edges` list the links of each node of the skeleton."""

    nodes: Mapping[str, Node]
    links: tuple[Link, ...]
    leaves: Mapping[str, tuple[Link, ...]] = field(repr=False)
    edges: Mapping[str, tuple[Link, ...]] = field(repr=False)


def plan_bonds(scheme: BondGraphScheme, options: Options) -> Plan:
    """What a figure of a bond graph has to place."""
    return _Planner(scheme, options).plan()


class _Planner:
    """Collects nodes and links."""

    def __init__(self, scheme: BondGraphScheme, options: Options) -> None:
        self.scheme = scheme
        self.texts = BondTexts(scheme, options)
        self.warnings = Warnings(scheme)
        self.nodes: dict[str, Node] = {}
        self.home: dict[tuple[str, int], str] = {}  # the node that a bond of a split junction ends at
        self.joints: list[Link] = []

    def plan(self) -> Plan:
        scheme = self.scheme
        skeleton = [*scheme.junctions, *scheme.two_ports]
        self.skeleton = {*skeleton, *filter(self._holds_others, scheme.one_ports)}
        for name in (*scheme.junctions, *scheme.two_ports, *scheme.one_ports):
            self._node(name)
        links = [self._link(bond) for bond in scheme.bonds] + self.joints
        leaves: dict[str, list[Link]] = {name: [] for name, node in self.nodes.items() if node.role != "leaf"}
        edges: dict[str, list[Link]] = {name: [] for name in leaves}
        for link in links:
            for name in (link.tail, link.head):
                if name in leaves:
                    other = self.nodes[link.other(name)]
                    (leaves if other.role == "leaf" else edges)[name].append(link)
        return Plan(
            self.nodes,
            tuple(links),
            {name: tuple(found) for name, found in leaves.items()},
            {name: tuple(found) for name, found in edges.items()},
        )

    def _holds_others(self, name: str) -> bool:
        """Whether a one-port belongs to the skeleton: a field with several bonds, or the first of a pair without a junction."""
        bonds = self.scheme.bonds_of(name)
        return len(bonds) != 1 or (bonds[0].tail == name and bonds[0].head in self.scheme.one_ports)

    def _node(self, name: str) -> None:
        bonds = self.scheme.bonds_of(name)
        if name not in self.skeleton:
            self._add(name, name, "leaf")
            return
        if name not in self.scheme.junctions:
            self._add(name, name, "multiport")
            return
        groups = self._groups(name, bonds)
        for k, group in enumerate(groups):
            own = name if k == 0 else f"{name}#{k + 1}"
            self._add(own, name, "junction")
            for bond in group:
                self.home[name, bond.number] = own
        self._join(name, groups)

    def _add(self, own: str, element: str, role: Role) -> None:
        text = self.texts.item(element, named=own == element)
        self.nodes[own] = Node(own, element, role, text, self.texts.domain(element))

    def _groups(self, name: str, bonds: tuple[Bond, ...]) -> list[list[Bond]]:
        """The bonds of a junction, in groups that fit round one text each."""
        links = [bond for bond in bonds if bond.other(name) in self.skeleton]
        leaves = [bond for bond in bonds if bond.other(name) not in self.skeleton]
        if len(links) <= MOST_LINKS and len(leaves) <= MOST_LEAVES and len(bonds) <= MOST_BONDS:
            return [list(bonds)]
        # Each of several has one or two links to its like, so two links of its own, and leaves on the corners and a side.
        count = max(1, -(-len(links) // 2), -(-len(leaves) // 4))
        groups: list[list[Bond]] = [[] for _ in range(count)]
        for items in (links, leaves):
            share = -(-len(items) // count) if items else 1
            for k, bond in enumerate(items):
                groups[min(k // share, count - 1)].append(bond)
        return [sorted(group, key=lambda bond: bond.number) for group in groups if group]

    def _join(self, name: str, groups: list[list[Bond]]) -> None:
        """Bonds between the equal junctions: what one bond decides for all runs away from its group."""
        junction = self.scheme.junctions[name]
        effort_shared = DOMAINS[junction.domain].effort == junction.shares
        deciding = next(
            (k for k, group in enumerate(groups) for bond in group if bond.brings(bond.other(name)) == junction.shares),
            0,
        )
        shared = self.texts.shared(name)
        size = self.scheme.size_of(name)
        for k in range(len(groups) - 1):
            first, second = (name if n == 0 else f"{name}#{n + 1}" for n in (k, k + 1))
            told = second if deciding <= k else first  # the one that is told the shared variable
            stroke = told if effort_shared else (first if told == second else second)
            effort, flow = (shared, "") if effort_shared else ("", shared)
            self.joints.append(Link(0, first, second, stroke, junction.domain, effort, flow, size))

    def _link(self, bond: Bond) -> Link:
        tail = self.home.get((bond.tail, bond.number), bond.tail)
        head = self.home.get((bond.head, bond.number), bond.head)
        effort, flow = self.texts.variables(bond)
        stroke = head if bond.stroke == "head" else tail
        marked = self.warnings.marks(bond), self.warnings.is_sink(bond)
        return Link(bond.number, tail, head, stroke, bond.domain, effort, flow, bond.size, *marked)
