"""The network that a bond graph stands for: the domain of every bond, and the nodes that junctions become.

A junction that shares an across variable (0 in the electrical and hydraulic domains, 1 in mechanics) is a node against the
reference. A junction that shares a through variable is a path: its bonds follow each other round a ring in which that variable
flows. A bond between the two kinds joins an end of the path to the node. Where a path would need a third end, a node with no other
such bond becomes two points of the path, and for any other node the bond becomes a connection of modulus one. Equal junctions
bonded to each other are one, also through a junction that holds nothing else. Masses and inertias stay against the frame.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import joined
from tellegen.core.union_find import UnionFind
from tellegen.core.units import Dimension
from tellegen.elements import COUPLING_OF, CouplingType, ElementKind, kinds_of
from tellegen.model.bond_graph import ITEMS, BondGraph, BondItem, PowerBond, plain_kind
from tellegen.notations.bond_graph import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.keys import has_dimension, kind_that_fits

BondPlace = tuple[str, str, int]
"""An item as seen from one of its bonds: a two-port has two sides with a port for each bond, any other item only one place."""


@cache
def one_port_kinds(letters: str, domain: Domain) -> tuple[ElementKind, ...]:
    """The kinds of element that a one-port can be in a domain, the one that a bare number means first."""
    row = ITEMS[letters]
    assert row.element, "junctions and two-ports are no elements of one port"
    kinds = list(kinds_of(domain.name, row.element))
    if row.gives:
        side = domain.effort if row.gives == "effort" else domain.flow
        kinds = [kind for kind in kinds if kind.side == side]
    if row.element == "resistive":  # e = R f unless the unit says otherwise
        kinds.sort(key=lambda kind: kind.side != domain.effort)
    if row.element == "storage":  # a bare number is a compliance, not a stiffness
        kinds.sort(key=lambda kind: kind.inverse)
        # What keeps its energy by a height stores nothing else: a bare number never means it.
        kinds += [kind for kind in kinds_of(domain.name, "potential") if row.gives == "effort"]
    return tuple(kinds)


def element_kind_of(
    item: BondItem, domain: Domain, dimension: Dimension | None, keys: Iterable[str] = ()
) -> ElementKind:
    """The kind of element that a one-port is: the one whose parameter has the dimension given, or whose keys are used."""
    kinds = one_port_kinds(item.letters, domain)
    if not kinds:
        raise no_such_element(item, domain)
    return kind_that_fits(kinds, dimension, keys)


def no_such_element(item: BondItem, domain: Domain) -> TellegenError:
    """The error for a one-port that a domain does not have."""
    fix = "keep to C, Se and Sf there; heat passes through an entropy conductor of a network"
    if domain.heat_books or kinds_of(domain.name, "resistive"):
        fix = "keep to C, R, Se and Sf there"
    what = f"'{item.letters}:{item.name}' is {domain.name}, and that domain has no such element"
    return rules.NO_SUCH_ELEMENT.error(what, where=item.name, fix=fix, place=item.place)


@cache
def _domains_of(letters: str, dimension: Dimension) -> tuple[Domain, ...]:
    """The domains in which a one-port can have a parameter of the dimension."""
    return tuple(d for d in DOMAINS.values() if any(has_dimension(k, dimension) for k in one_port_kinds(letters, d)))


class BondDomains:
    """Spreads what is known about domains along the bonds of a graph."""

    def __init__(self, context: ReadingContext, graph: BondGraph) -> None:
        self.context, self.graph = context, graph
        self.known: dict[BondPlace, str] = {}
        self.because: dict[BondPlace, str] = {}
        self._neighbours: dict[BondPlace, list[BondPlace]] = {}
        for bond in graph.bonds:
            tail, head = self.end(bond.tail, "out", bond.tail_port), self.end(bond.head, "in", bond.head_port)
            self._neighbours.setdefault(tail, []).append(head)
            self._neighbours.setdefault(head, []).append(tail)

    def end(self, name: str, direction: str, port: int) -> BondPlace:
        """The end of a bond at an item: two-ports tell the bonds that come in from those that go out, and count both."""
        return (name, direction, port) if self.graph.items[name].role == "two-port" else (name, "", 0)

    def find(self) -> None:
        """Settle the domain of every end.

        Raises: DescriptionError where two domains meet, or nothing is known.
        """
        # First what names a domain or has a unit of its own; only where nothing else is known, units that two domains
        # share.
        for item in self.graph.items.values():
            for domain, reason in self._evidence(item):
                self._spread((item.name, "", 0), domain, reason)
        for item in self.graph.items.values():
            end = (item.name, "", 0)
            fitting = [d.name for d in self._fitting(item)[0]]
            if self.known.get(end) not in fitting and (hint := self._hint(item)) is not None:
                self._spread(end, *hint)
        unknown = [end for end in self._neighbours if end not in self.known]
        if unknown:
            raise self._no_domain(unknown)

    def domain(self, name: str, direction: str = "", port: int = 0) -> Domain:
        """The domain of an item, or of one port of a two-port."""
        return DOMAINS[self.known[self.end(name, direction, port)]]

    def _evidence(self, item: BondItem) -> Iterable[tuple[str, str]]:
        if item.domain:
            yield item.domain, f"'{item.name}' is called {item.domain}"
        fitting, unit = self._fitting(item)
        if len(fitting) == 1:
            yield fitting[0].name, f"'{item.name}' is given in {unit}"

    def _hint(self, item: BondItem) -> tuple[str, str] | None:
        """What a unit says that two domains share, where nothing else is known: the one that is told by its units."""
        fitting, unit = self._fitting(item)
        told = [d for d in fitting if d.told_by_units]
        return (told[0].name, f"'{item.name}' is given in {unit}") if len(told) == 1 else None

    def _fitting(self, item: BondItem) -> tuple[tuple[Domain, ...], str]:
        """The domains that the unit of a parameter fits."""
        parameter = self.context.parameters.get(item.origin)
        if item.letters not in ("C", "I", "R", "MR") or parameter is None or parameter.dimension is None:
            return (), ""
        return _domains_of(item.letters, parameter.dimension), parameter.unit

    def _spread(self, start: BondPlace, domain: str, reason: str) -> None:
        stack = [start]
        while stack:
            end = stack.pop()
            if end not in self.known:
                self.known[end], self.because[end] = domain, reason
                stack.extend(self._neighbours.get(end, ()))
            elif self.known[end] != domain:
                raise self._two_domains(end, domain, reason)

    def _two_domains(self, end: BondPlace, domain: str, reason: str) -> TellegenError:
        item = self.graph.items[end[0]]
        what = f"'{item.name}' would be {self.known[end]} and {domain}: {self.because[end]}, but {reason}"
        fix = "put TF or GY between the two domains"
        return rules.TWO_DOMAINS.error(what, where=item.name, fix=fix, place=item.place)

    def _no_domain(self, unknown: list[BondPlace]) -> TellegenError:
        items = [self.graph.items[name] for name, _, _ in unknown]
        item = next((item for item in items if item.role != "two-port"), items[0])
        words = ", ".join(DOMAINS)
        if item.role == "two-port":
            fix = f"put a junction with a domain beside it, such as '1:j (electrical)' (one of {words})"
        else:
            shown = f"{item.letters}:{item.name} (electrical)"
            fix = f"write a domain behind it, such as '{shown}' (one of {words}), or give units"
        what = f"the domain of '{item.name}' is not known"
        return rules.NO_DOMAIN.error(what, where=item.name, fix=fix, place=item.place)


_NEVER = 9


@final
@dataclass(slots=True, eq=False)
class JunctionEnd:
    """One bond at a junction. Power leaves the junction through it when `leaves`; `item` stands at its other end.

    `plus` and `minus` are the nodes between which the across variable of the bond counts.
    """

    item: str
    leaves: bool
    plus: str = ""
    minus: str = ""


@final
@dataclass(slots=True, eq=False)
class PathJoint:
    """A bond between a path and a node; `settled` when the path ends at the node or the node lies in the path."""

    bond: PowerBond
    path: JunctionEnd
    node: "JunctionGroup"
    settled: bool = False


@final
@dataclass(slots=True, eq=False)
class JunctionGroup:
    """Equal junctions bonded to each other, which are one junction."""

    name: str
    domain: Domain
    shares: Side
    variable: str
    ends: list[JunctionEnd] = field(default_factory=list)
    joints: list[PathJoint] = field(default_factory=list)
    has_inertia: bool = False


def connection_type(kind: str, tail: Domain, head: Domain) -> tuple[CouplingType, bool]:
    """How a two-port reads across / through: TF gives e_a = m e_b, GY e_a = r f_b."""
    given = head.effort if plain_kind(kind) == "TF" else head.flow
    return COUPLING_OF[other_side(tail.effort), other_side(given)]  # the conjugates run the other way


def _claim(item: BondItem, kind: ElementKind, group: JunctionGroup, into: bool) -> int:
    """How well an element can carry the name of what its junction shares; the least number is the best.

    First comes a storage that decides it, then a resistive element, then the output of a source, whose half arrow counts it in the
    same direction. An element that has a name of its own for it takes no other.
    """
    if item.variable and kind.side == group.shares:
        return -1 if item.variable == group.variable else _NEVER
    if kind.role == "storage" and kind.side == group.shares:
        return 0
    if kind.role == "resistive" and into:
        return 1
    return 2 if kind.role == "source" and kind.side != group.shares and not into else _NEVER


class JunctionNodes:
    """Groups the junctions of a bond graph and gives the ends of all bonds their nodes."""

    def __init__(self, graph: BondGraph, domains: BondDomains) -> None:
        self.graph, self.domains = graph, domains
        self.at: dict[BondPlace, JunctionEnd] = {}  # the end that a one-port or a port of a two-port hangs on
        self.joints: list[PathJoint] = []
        self.named: dict[str, JunctionGroup] = {}  # the elements that take the name of what their junction shares
        self.probes: list[JunctionGroup] = []  # the junctions whose name no element can take
        junctions = [item.name for item in graph.of_role("junction")]
        self._number = {name: k for k, name in enumerate(junctions)}
        self._joined = UnionFind(len(junctions))
        self._group: dict[int, JunctionGroup] = {}
        self._left_out: set[int] = set()  # bonds of junctions that hold nothing
        self._taken: set[str] = set()

    @property
    def rigid(self) -> list[PathJoint]:
        """The bonds between junctions that need a connection of modulus one."""
        return [joint for joint in self.joints if not joint.settled]

    def settle(self, kinds: Mapping[str, ElementKind]) -> None:
        """Find groups, hang everything on them, and number the nodes. `kinds` are those of the one-ports."""
        self._find_groups()
        for bond in self.graph.bonds:
            self._hang(bond)
        for group in list(self._group.values()):
            if group.variable:
                self._give_name(group, kinds)
        for group in self._group.values():
            if group.shares == "through" and group.ends:
                self._lay_path(group)

    def group(self, name: str) -> JunctionGroup:
        """The group of a junction."""
        return self._group[self._find(name)]

    # -- groups ----------------------------------------------------------------------------------------------------------------

    def _find_groups(self) -> None:
        items = self.graph.items
        for bond in self.graph.bonds:
            if self._inside(bond):
                self._join(bond.tail, bond.head, bond)
        self._leave_out_empty_junctions()
        for name in self._number:
            item, leader = items[name], self._find(name)
            group = self._group.get(leader)
            if group is None:
                domain = self.domains.domain(name)
                shares = domain.effort if item.letters == "0" else domain.flow
                self._group[leader] = JunctionGroup(name, domain, shares, item.variable)
            elif not group.variable:
                group.variable = item.variable

    def _leave_out_empty_junctions(self) -> None:
        """A junction that only passes power on from one junction to another makes those two one, and is not there itself."""
        outside: dict[int, list[PowerBond]] = {self._find(name): [] for name in self._number}
        for bond in self.graph.bonds:
            if not self._inside(bond):
                for name in (bond.tail, bond.head):
                    if name in self._number:
                        outside[self._find(name)].append(bond)
        count = {leader: len(bonds) for leader, bonds in outside.items()}
        waiting = list(outside)[::-1]
        while waiting:
            leader = waiting.pop()
            if count.get(leader) != 2:
                continue
            one, two = outside[leader] = [bond for bond in outside[leader] if bond.number not in self._left_out]
            coming, going = (one, two) if self._ends_at(one.head, leader) else (two, one)
            if not (self._ends_at(coming.head, leader) and self._ends_at(going.tail, leader)):
                continue
            if coming.tail not in self._number or going.head not in self._number:
                continue
            before, behind = self._find(coming.tail), self._find(going.head)
            self._join(coming.tail, going.head, going)
            self._left_out |= {coming.number, going.number}
            count[leader] = 0
            whole = self._joined.find(before)
            # The shorter list joins the longer one: a chain of a thousand junctions is then no square of steps.
            lists = sorted((outside.pop(before), outside.pop(behind)), key=len)
            lists[1].extend(lists[0])
            outside[whole] = lists[1]
            count[whole] = count.pop(before) + count.pop(behind) - 2
            waiting.append(whole)

    def _ends_at(self, name: str, leader: int) -> bool:
        return name in self._number and self._find(name) == leader

    def _same_kind(self, bond: PowerBond) -> bool:
        return self.graph.items[bond.tail].letters == self.graph.items[bond.head].letters

    def _inside(self, bond: PowerBond) -> bool:
        return bond.tail in self._number and bond.head in self._number and self._same_kind(bond)

    def _find(self, name: str) -> int:
        return self._joined.find(self._number[name])

    def _join(self, one: str, two: str, bond: PowerBond) -> None:
        if not self._joined.join(self._number[one], self._number[two]):
            what = f"'{bond.tail} -> {bond.head}' closes a ring of junctions with nothing in it"
            fix = "remove the bond: the junctions are one without it"
            raise rules.RING_OF_JUNCTIONS.error(what, where=bond.tail, fix=fix, place=bond.place)

    # -- ends ------------------------------------------------------------------------------------------------------------------

    def _hang(self, bond: PowerBond) -> None:
        tail = self.group(bond.tail) if bond.tail in self._number else None
        head = self.group(bond.head) if bond.head in self._number else None
        if tail is not None and head is not None:
            if not self._same_kind(bond) and bond.number not in self._left_out:
                self._join_path(bond, tail, head)
        elif tail is not None:
            self.at[self.domains.end(bond.head, "in", bond.head_port)] = self._hang_element(bond, tail, bond.head, True)
        elif head is not None:
            self.at[self.domains.end(bond.tail, "out", bond.tail_port)] = self._hang_element(
                bond, head, bond.tail, False
            )
        else:  # two items bonded directly share both variables: a node of their own
            node = self._name(joined(bond.tail, bond.head))
            domain = self.domains.domain(bond.tail, "out", bond.tail_port)
            ends = ((bond.tail, "out", bond.tail_port, False), (bond.head, "in", bond.head_port, True))
            for name, direction, port, leaves in ends:
                self.at[self.domains.end(name, direction, port)] = JunctionEnd(name, leaves, node, domain.reference)

    def _hang_element(self, bond: PowerBond, group: JunctionGroup, item: str, leaves: bool) -> JunctionEnd:
        # A mass keeps momentum against the frame, so it cannot lie in a path between two moving points.
        if self.graph.items[item].letters == "I" and group.domain.flow == "across":
            if group.shares == "through":  # a node of its own, because its speed counts against the frame
                node = JunctionGroup(self._name(joined(group.name, item)), group.domain, "across", "")
                self._join_path(bond, *((group, node) if leaves else (node, group)))
                group = node
            group.has_inertia = True
        return self._end(group, item, leaves)

    def _join_path(self, bond: PowerBond, tail: JunctionGroup, head: JunctionGroup) -> None:
        leaves = tail.shares == "through"
        path, node = (tail, head) if leaves else (head, tail)
        joint = PathJoint(bond, self._end(path, node.name, leaves), node)
        path.joints.append(joint)
        node.joints.append(joint)
        self.joints.append(joint)

    def _end(self, group: JunctionGroup, item: str, leaves: bool) -> JunctionEnd:
        end = JunctionEnd(item, leaves)
        if group.shares == "across":
            end.plus, end.minus = group.name, group.domain.reference
        group.ends.append(end)
        return end

    def _name(self, wanted: str) -> str:
        """A name for a node that no junction has."""
        name, count = wanted, 1
        while name in self._taken or name in self._number:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        return name

    def _give_name(self, group: JunctionGroup, kinds: Mapping[str, ElementKind]) -> None:
        """The name that a junction gives to what it shares goes to an element, or to a sensor that is added for it."""
        items = self.graph.items
        ranks = {e.item: _claim(items[e.item], kinds[e.item], group, e.leaves) for e in group.ends if e.item in kinds}
        order = {name: k for k, name in enumerate(kinds)} if len(ranks) > 1 else {}
        best = min(ranks, key=lambda name: (ranks[name], order.get(name, 0)), default="")
        if best and ranks[best] < _NEVER:
            self.named[best] = group
        else:
            self.at[group.name, "", 0] = self._end(group, group.name, True)
            self.probes.append(group)

    # -- paths -----------------------------------------------------------------------------------------------------------------

    def _lay_path(self, group: JunctionGroup) -> None:
        """Lay the ends of a group along a path that starts and stops at nodes of its neighbours, or at the reference.

        Of equal neighbours the first is the start and the last the stop: people write along a chain.
        """
        start = self._best([joint for joint in group.joints if not joint.path.leaves])
        ways = [j for j in group.joints if j.path.leaves and (start is None or j.node is not start.node)]
        stop = self._best(ways[::-1])
        if start is not None and len(group.ends) == 2:
            stop = None  # something must lie in the path
        for joint in (start, stop):
            if joint is not None:
                joint.settled = True
        first = start.node.name if start else group.domain.reference
        last = stop.node.name if stop else group.domain.reference
        used = {id(joint.path) for joint in (start, stop) if joint is not None}
        own = [end for end in group.ends if id(end) not in used]
        nodes = [first, *(self._name(joined(group.name, str(k))) for k in range(1, len(own))), last]
        for end, here, there in zip(own, nodes, nodes[1:], strict=False):
            end.plus, end.minus = (here, there) if end.leaves else (there, here)
        for joint in group.joints:
            if not joint.settled and len(joint.node.joints) == 1 and not joint.node.has_inertia:
                joint.settled = True
                for end in joint.node.ends:
                    end.plus, end.minus = joint.path.plus, joint.path.minus

    @staticmethod
    def _best(joints: list[PathJoint]) -> PathJoint | None:
        """The joint where the path shall end: at a node that cannot lie in the path, as far as there is one."""
        return min(joints, key=lambda j: (not j.node.has_inertia, len(j.node.joints) == 1), default=None)


def oriented_nodes(end: JunctionEnd, decides: Side) -> tuple[str, str]:
    """The nodes of a one-port at an end of a bond.

    The across variable of the bond is that of `plus` against `minus`. A bond that points away from its element turns the through
    variable round: an element whose own variable is the through one is turned instead, so that it counts as the bond does.
    """
    turned = not end.leaves and decides == "through"
    return (end.minus, end.plus) if turned else (end.plus, end.minus)
