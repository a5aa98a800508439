"""The network of elements between nodes that a bond graph stands for.

A junction that shares an across variable (0 in the electrical and hydraulic domains, 1 in mechanics) is a node against the
reference. A junction that shares a through variable is a path: its bonds follow each other round a ring in which that variable
flows. A bond between the two kinds joins an end of the path to the node; where a path would need a third end, the bond becomes a
connection of modulus one. Equal junctions bonded to each other are one.
"""

from dataclasses import dataclass, field
from typing import final

from tellegen.core.domains import Domain, Side
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.domains import Domains
from tellegen.description.bond_graphs.graph import JUNCTIONS, ONE_PORTS, TWO_PORTS, Bond, BondGraph
from tellegen.elements import CouplingType


@final
@dataclass(slots=True)
class End:
    """One bond at a junction. Power leaves the junction through it when `leaves`; `item` stands at its other end.

    `plus` and `minus` are the nodes between which the across variable of the bond counts.
    """

    item: str
    leaves: bool
    plus: str = ""
    minus: str = ""


@final
@dataclass(slots=True)
class Group:
    """Equal junctions bonded to each other, which are one junction."""

    name: str
    domain: Domain
    shares: Side
    variable: str
    ends: list[End] = field(default_factory=list)


_RELATED: dict[tuple[Side, Side], tuple[CouplingType, bool]] = {
    ("across", "across"): ("transformer", False),
    ("through", "through"): ("transformer", True),
    ("across", "through"): ("gyrator", True),
    ("through", "across"): ("gyrator", False),
}
"""The connection whose law is: this variable of side 1 = K times that variable of side 2."""


def connection_type(kind: str, tail: Domain, head: Domain) -> tuple[CouplingType, bool]:
    """How a two-port reads across / through: TF gives e_a = m e_b, GY e_a = r f_b."""
    return _RELATED[tail.effort, head.effort if kind == "TF" else head.flow]


class Layout:
    """Groups the junctions of a bond graph and gives the ends of all bonds their nodes."""

    def __init__(self, graph: BondGraph, domains: Domains) -> None:
        self.graph = graph
        self.domains = domains
        self.taken: set[str] = set()
        self._group_of: dict[str, Group] = {}
        self.at: dict[tuple[str, str], End] = {}  # the end that a one-port or a side of a two-port hangs on
        self.rigid: list[tuple[Bond, End, End]] = []  # bonds between junctions that need a connection of modulus one
        self._straight: list[End] = []  # ends of bonds that became a common node instead

    def settle(self) -> None:
        """Find groups, hang everything on them, and number the nodes."""
        self._check_bonds()
        self._find_groups()
        for bond in self.graph.bonds:
            self._hang(bond)
        for group in self._groups():
            if group.shares == "through":
                self._lay_path(group)

    def group(self, name: str) -> Group:
        """The group of a junction."""
        return self._group_of[name]

    # -- groups ----------------------------------------------------------------------------------------------------------------

    def _check_bonds(self) -> None:
        for item in self.graph.items.values():
            bonds = self.graph.bonds_of(item.name)
            into = sum(bond.head == item.name for bond in bonds)
            if item.kind in ONE_PORTS and len(bonds) != 1:
                self._wrong_bonds(
                    item.name, f"has {len(bonds)} bonds", "a one-port has one: join it through a junction"
                )
            if item.kind in TWO_PORTS and (len(bonds) != 2 or into != 1):
                self._wrong_bonds(item.name, "has not one bond in and one out", "write 'a -> TF:m -> b'")
            if item.kind in JUNCTIONS and len(bonds) < 2:
                self._wrong_bonds(item.name, "has only one bond", "remove the junction, or bond something else to it")

    def _wrong_bonds(self, name: str, what: str, fix: str) -> None:
        item = self.graph.items[name]
        raise rules.WRONG_BONDS.error(f"'{item.kind}:{name}' {what}", where=name, fix=fix, place=item.place)

    def _shares(self, name: str) -> Side:
        domain = self.domains.domain(name)
        return domain.effort if self.graph.items[name].kind == "0" else domain.flow

    def _find_groups(self) -> None:
        for item in self.graph.items.values():
            if item.kind in JUNCTIONS:
                domain = self.domains.domain(item.name)
                self._group_of[item.name] = Group(item.name, domain, self._shares(item.name), item.variable)
        for bond in self.graph.bonds:
            if bond.tail in self._group_of and bond.head in self._group_of:
                one, two = self._group_of[bond.tail], self._group_of[bond.head]
                if self._same_kind(bond):
                    if one is two:
                        raise rules.RING_OF_JUNCTIONS.error(
                            f"'{bond.tail} -> {bond.head}' closes a ring of equal junctions",
                            where=bond.tail,
                            fix="remove the bond: the junctions are one without it",
                            place=bond.place,
                        )
                    self._merge(one, two)

    def _same_kind(self, bond: Bond) -> bool:
        return self.graph.items[bond.tail].kind == self.graph.items[bond.head].kind

    def _merge(self, one: Group, two: Group) -> None:
        one.variable = one.variable or two.variable
        for name, group in self._group_of.items():
            if group is two:
                self._group_of[name] = one

    def _groups(self) -> list[Group]:
        return list({id(group): group for group in self._group_of.values()}.values())

    # -- ends ------------------------------------------------------------------------------------------------------------------

    def _hang(self, bond: Bond) -> None:
        tail, head = self._group_of.get(bond.tail), self._group_of.get(bond.head)
        if tail is not None and head is not None:
            if not self._same_kind(bond):
                self.rigid.append((bond, self._end(tail, bond.head, True), self._end(head, bond.tail, False)))
            return
        if tail is None and head is None:  # two items bonded directly share both variables: a node of their own
            node = self._name(f"{bond.tail}_{bond.head}")
            domain = self.domains.domain(bond.tail, "out")
            for name, direction, leaves in ((bond.tail, "out", False), (bond.head, "in", True)):
                self.at[self.domains.end(name, direction)] = End(name, leaves, node, domain.reference)
            return
        if tail is not None:
            self.at[self.domains.end(bond.head, "in")] = self._end(tail, bond.head, True)
        elif head is not None:
            self.at[self.domains.end(bond.tail, "out")] = self._end(head, bond.tail, False)

    def _end(self, group: Group, item: str, leaves: bool) -> End:
        end = End(item, leaves)
        if group.shares == "across":
            end.plus, end.minus = self._node_of(group), group.domain.reference
        group.ends.append(end)
        return end

    def _node_of(self, group: Group) -> str:
        return group.name

    def _name(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self.taken or name in self._group_of:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name

    # -- paths -----------------------------------------------------------------------------------------------------------------

    def _lay_path(self, group: Group) -> None:
        """Lay the ends of a group along a path that starts and stops at nodes of its neighbours, or at the reference."""
        start = self._joined(group, leaves=False)
        stop = self._joined(group, leaves=True)
        first = start.plus if start else group.domain.reference
        last = stop.plus if stop else group.domain.reference
        self.rigid = [r for r in self.rigid if not any(end is r[1] or end is r[2] for end in self._straight)]
        own = [end for end in group.ends if not end.plus and not any(end is used for used in self._straight)]
        nodes = [first, *(self._name(f"{group.name}_{k}") for k in range(1, len(own))), last]
        for end, here, there in zip(own, nodes, nodes[1:], strict=False):
            end.plus, end.minus = (here, there) if end.leaves else (there, here)

    def _joined(self, group: Group, *, leaves: bool) -> End | None:
        """The other end of the first bond to a node junction in the given direction, which the path can be joined to."""
        for _, tail, head in self.rigid:
            mine, other = (tail, head) if leaves else (head, tail)
            if any(mine is end for end in group.ends) and other.plus and other.plus != group.domain.reference:
                self._straight += [mine, other]
                return other
        return None


def oriented(end: End, decides: Side) -> tuple[str, str]:
    """The nodes of a one-port at an end of a bond.

    The across variable of the bond is that of `plus` against `minus`. A bond that points away from its element turns the through
    variable round: an element whose own variable is the through one is turned instead, so that it counts as the bond does.
    """
    turned = not end.leaves and decides == "through"
    return (end.minus, end.plus) if turned else (end.plus, end.minus)
