"""A bond graph in the making: items and bonds that may still be moved, joined and removed, and the table of rules that simplify
it.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.memory import remembered
from tellegen.core.names import named_after
from tellegen.elements import kinds_of
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.signals import expressions_of
from tellegen.model.bond_graph import ItemRole, PowerBond
from tellegen.model.model import SIDES
from tellegen.schemes.bond_graph_scheme import Matrix, TwoPortKind

Key = str
"""The provisional name of an item, until all rules were applied and names are given: "node 3", "path of port 0"."""

Touched = list[Key]
"""The items that a rewriting has changed, which may make room for others; empty where it did not fit."""


@final
@dataclass(eq=False, slots=True)
class DraftItem:
    """An item with its bonds by number, in order. `grounded` marks a junction whose shared variable is zero.

    `origin` and `index` say where it comes from: node 3 or port 0 of the power graph, the path of a port, or a coupling, a side of
    one or a bridge that was made on the way.

    A two-port has a modulus, or a matrix with a column for each bond in and a row for each bond out.
    """

    origin: str
    index: int
    role: ItemRole
    domain: str
    shares: Side = "across"
    grounded: bool = False
    kind: TwoPortKind = "TF"
    modulus: Expression | None = None
    matrix: Matrix = ()
    domains: tuple[str, str] = ("", "")
    origins: tuple[str, ...] = ()
    turned: bool = False
    bonds: dict[int, PowerBond] = field(default_factory=dict)
    key: Key = field(init=False)

    def __post_init__(self) -> None:
        self.key = f"{self.origin} {self.index}"

    @property
    def through_going(self) -> bool:
        """Whether it has one bond in and one out."""
        if len(self.bonds) != 2:
            return False
        one, two = self.bonds.values()
        return (one.head == self.key) != (two.head == self.key)


class Draft:
    """Items by key and their bonds."""

    def __init__(self) -> None:
        self.items: dict[Key, DraftItem] = {}
        self._count = self._bonds = 0

    def add(self, item: DraftItem) -> DraftItem:
        """Add an item."""
        self.items[item.key] = item
        return item

    def made(self, origin: str, role: ItemRole, domain: str, shares: Side = "across") -> DraftItem:
        """Add an item that stands for no node and no port, under a number of its own."""
        self._count += 1
        return self.add(DraftItem(origin, self._count, role, domain, shares))

    def bond(self, tail: Key, head: Key, tail_port: int = 0, head_port: int = 0) -> None:
        """Join two items."""
        self._bonds += 1
        self._put(PowerBond(tail, head, tail_port, head_port, self._bonds))

    def _put(self, bond: PowerBond) -> PowerBond:
        """Let both ends know a bond; one that they know already keeps its place in their order."""
        # Each end keeps its bonds in a dictionary by number: moving one end does not change the order in which the
        # others are drawn.
        self.items[bond.tail].bonds[bond.number] = bond
        self.items[bond.head].bonds[bond.number] = bond
        return bond

    def cut(self, bond: PowerBond) -> None:
        """Remove a bond."""
        self.items[bond.tail].bonds.pop(bond.number, None)
        self.items[bond.head].bonds.pop(bond.number, None)

    def remove(self, key: Key) -> None:
        """Remove an item with its bonds."""
        for bond in list(self.items[key].bonds.values()):
            self.cut(bond)
        del self.items[key]

    def move(self, bond: PowerBond, old: Key, new: Key) -> None:
        """Let one end of a bond hang on another item."""
        self.items[old].bonds.pop(bond.number)
        self._put(replace(bond, tail=new) if bond.tail == old else replace(bond, head=new))

    def turn(self, bond: PowerBond) -> PowerBond:
        """Reverse the half arrow."""
        return self._put(replace(bond, tail=bond.head, head=bond.tail))

    def neighbours(self, item: DraftItem) -> Iterator[DraftItem]:
        """The items at the other ends of its bonds."""
        return (self.items[bond.other(item.key)] for bond in item.bonds.values())

    def replaced_by_bond(self, item: DraftItem) -> None:
        """Remove an item with one bond in and one out, and join its neighbours."""
        one, two = item.bonds.values()
        into, out = (one, two) if one.head == item.key else (two, one)
        ends = (into.tail, out.head, into.tail_port, out.head_port)
        # The bond of a one-port keeps its identity, so that bonds stay in the order of description.
        # Removal before the new bond: the ends are known by then, and the old bonds must not count among those of the neighbours.
        self.remove(item.key)
        self.bond(*ends)


def port_key(k: int) -> Key:
    """The key of the one-port of a port of the power graph."""
    return f"port {k}"


def turned_resistor(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """Turn the bonds between the junction of a linear resistive element and its nodes, where arrows then go through."""
    if item.origin != "path of port" or item.shares != "through":
        return []
    port = graph.ports[item.index]
    if not isinstance(port.law, ResistiveLaw) or not port.law.linear or port.law.coefficient is ZERO:
        return []  # a sensor reads its variable in one direction
    if any(item.index in field.ports for field in graph.fields):
        return []  # what couples it to the other ports of its field would change its sign
    if not _fixed_variables(graph).isdisjoint((port.across, port.through)):
        return []  # a name that the author gave, and what a signal reads, keeps its sign
    # Only the bonds between the path and its nodes turn; the bond of the element itself stays, and its law sees both signs change.
    joints = [bond for bond in item.bonds.values() if draft.items[bond.other(item.key)].origin == "node"]
    if len(joints) + 1 != len(item.bonds):  # joined with other paths: they would turn too
        return []
    around = [item, *(draft.items[bond.other(item.key)] for bond in joints)]
    # A turn that cures one junction and spoils another one would be undone by the next visit: it has to win, or the
    # loop would never end.
    before = sum(_inverts(other) for other in around)
    turned = [draft.turn(bond) for bond in joints]
    if sum(_inverts(other) for other in around) >= before:
        for bond in turned:
            draft.turn(bond)
        return []
    # Remembered, because a file has to say that the variables of this element count the other way.
    draft.items[port_key(item.index)].turned ^= True
    return [other.key for other in around]


@remembered
def _fixed_variables(graph: PowerGraph) -> frozenset[str]:
    """The variables of resistive elements that have names of their own, or that signals read."""
    read = frozenset[str]().union(*(e.free_symbols for law in graph.signals for e in expressions_of(law)))
    named = (
        port.variable(side)
        for port in graph.ports
        if isinstance(port.law, ResistiveLaw)
        for side in SIDES
        if port.variable(side) != named_after(DOMAINS[port.domain].power(side).symbol, port.element)
    )
    return read.union(named)


def _inverts(item: DraftItem) -> bool:
    return len(item.bonds) == 2 and not item.grounded and not item.through_going


def turned_source(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """A source of a through variable that draws from its node hangs on it with the arrow towards the source."""
    if item.origin != "path of port" or len(item.bonds) != 2 or item.through_going:
        return []
    law = graph.ports[item.index].law
    if not isinstance(law, SourceLaw) or law.side != "through":
        return []
    # A source of flow draws or supplies whatever the arrow says, so its junction with two bonds of one direction is not needed.
    source = port_key(item.index)
    node = next(bond.other(item.key) for bond in item.bonds.values() if bond.other(item.key) != source)
    if draft.items[node].role != "junction":
        return []
    draft.remove(item.key)
    draft.bond(node, source)
    return [node]


def turned_two_port(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """A junction that only turns signs goes into the modulus of the two-port beside it."""
    if item.role != "two-port":
        return []
    for bond in item.bonds.values():
        # A junction with two bonds in or two out only changes signs; TF and GY can say that by a negative modulus.
        turning = draft.items[bond.other(item.key)]
        if turning.role != "junction" or not _inverts(turning):
            continue
        beyond = next(other for other in turning.bonds.values() if other is not bond).other(turning.key)
        # Between junctions of one kind nothing is turned: there it is joined with its neighbour.
        if draft.items[beyond].role == "junction" and draft.items[beyond].shares != turning.shares:
            # Scalars have the port number zero on both sides; a matrix two-port keeps the port at which the junction stood.
            into, port = bond.head == item.key, bond.head_port or bond.tail_port
            draft.remove(turning.key)
            draft.bond(*((beyond, item.key, 0, port) if into else (item.key, beyond, port, 0)))
            _turn_port(item, port, into)
            return [beyond, item.key]
    return []


def _turn_port(item: DraftItem, port: int, into: bool) -> None:
    """Change the sign of the modulus, or of the column or row of one port."""
    if item.modulus is not None:
        item.modulus = -item.modulus
    item.matrix = tuple(
        tuple(-e if (j if into else i) == port else e for j, e in enumerate(row, 1))
        for i, row in enumerate(item.matrix, 1)
    )


def parallel_paths(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """Two junctions between the same two neighbours hang on one junction of the other kind, behind one path."""
    ends = _ends(draft, item)
    if ends is None:
        return []
    # The neighbour with fewer bonds is searched: both have the path, and a bus of thousands of bonds would make each step as slow.
    narrow = min(ends, key=lambda key: len(draft.items[key].bonds))
    others = [other for other in draft.neighbours(draft.items[narrow]) if other is not item]
    # A common path that exists already is used before a new one is made, so that three branches share one, not two.
    for path in others:
        spot = _spot(draft, path, ends)
        if spot is not None:
            _hang(draft, item.key, *spot, ends)
            return [spot[0], item.key, *ends]
    for twin in others:
        found = _ends(draft, twin)
        if found is not None and set(found) == set(ends):
            return _bridge(draft, {item.key: True, twin.key: found == ends}, ends)
    return []


def _ends(draft: Draft, item: DraftItem) -> tuple[Key, Key] | None:
    """The two different junctions of the other kind that a junction stands between, against and along its arrows."""
    if item.role != "junction" or item.grounded or len(item.bonds) < 3:
        return None
    joints = [bond for bond in item.bonds.values() if draft.items[bond.other(item.key)].role == "junction"]
    # One arrow in and one out: else the junction adds where a difference is meant.
    if len(joints) != 2 or (joints[0].head == item.key) == (joints[1].head == item.key):
        return None
    into, out = joints if joints[0].head == item.key else (joints[1], joints[0])
    one, two = draft.items[into.tail], draft.items[out.head]
    plain = one is not two and item.shares not in (one.shares, two.shares) and not (one.grounded or two.grounded)
    # With nothing else at one end the path would carry the power of the two alone, and the figure would only grow.
    plain = plain and min(len(one.bonds), len(two.bonds)) > 2  # else nothing could pass through a common path
    return (one.key, two.key) if plain else None


def _bridge(draft: Draft, twins: dict[Key, bool], ends: tuple[Key, Key]) -> Touched:
    """`twins` tells whether each junction counts along or against the new path."""
    # The common path is a junction of the kind of the twins; what hangs behind it is of the other kind and sees the difference.
    first = draft.items[next(iter(twins))]
    path = draft.made("bridge", "junction", first.domain, first.shares).key
    spot = draft.made("bridge", "junction", first.domain, draft.items[ends[0]].shares).key
    for twin, along in twins.items():
        _hang(draft, twin, spot, along, ends)
    draft.bond(ends[0], path)
    draft.bond(path, ends[1])
    draft.bond(path, spot)
    return [path, spot, *twins, *ends]


def _hang(draft: Draft, twin: Key, spot: Key, along: bool, ends: tuple[Key, Key]) -> None:
    """Take a junction from between its neighbours, and bond it to the one that has their difference."""
    for bond in [b for b in draft.items[twin].bonds.values() if b.other(twin) in ends]:
        draft.cut(bond)
    draft.bond(*((spot, twin) if along else (twin, spot)))


def _spot(draft: Draft, path: DraftItem, ends: tuple[Key, Key]) -> tuple[Key, bool] | None:
    """The junction behind a common path between two others, and whether it counts from the first of them to the second."""
    bonds = {bond.other(path.key): bond for bond in path.bonds.values()}
    if path.role != "junction" or path.grounded or len(path.bonds) != 3 or not bonds.keys() > set(ends):
        return None
    # A common path has three bonds: two to the ends and one to the junction behind it.
    (spot,) = bonds.keys() - set(ends)
    found, into = draft.items[spot], bonds[ends[0]].head == path.key
    plain = found.role == "junction" and found.shares == draft.items[ends[0]].shares and not found.grounded
    if not plain or into != (bonds[ends[1]].tail == path.key):
        return None
    return spot, into == (bonds[spot].head == spot)


@final
@dataclass(frozen=True)
class SimplificationRule:
    """A rewriting of the items around one item: its name, what it does, and why nothing is lost."""

    name: str
    does: str
    why: str
    apply: Callable[[Draft, DraftItem, PowerGraph], Touched]


def _grounded(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    if not item.grounded:
        return []
    # Neighbours are named before the removal takes the bonds away by which they are found.
    touched = [other.key for other in draft.neighbours(item)]
    draft.remove(item.key)
    return touched


def _unit_transformer(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    # A gyrator of modulus one still exchanges effort and flow, and a transformer between domains changes the unit: both stay.
    plain = item.role == "two-port" and item.kind == "TF" and item.modulus is ONE
    if not plain or item.domains[0] != item.domains[1]:
        return []
    touched = [other.key for other in draft.neighbours(item)]
    draft.replaced_by_bond(item)
    return touched


def _through_junction(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    if item.role != "junction" or not item.through_going:
        return []
    one, two = draft.neighbours(item)
    if one is two or "junction" not in (one.role, two.role):
        return []
    # The 1-junction of a velocity is what an engineer looks for first in mechanics, even where it has two bonds only.
    if item.origin == "node" and any(_moves_with(other, graph) for other in (one, two)):
        return []
    draft.replaced_by_bond(item)
    return [one.key, two.key]


def _moves_with(item: DraftItem, graph: PowerGraph) -> bool:
    """Whether a one-port is a mass or an inertia, whose velocity deserves a junction of its own."""
    if item.role != "one-port" or not isinstance(graph.ports[item.index].law, StorageLaw):
        return False
    kinds = kinds_of(item.domain, "storage")
    return any(kind.grounded and kind.side == graph.ports[item.index].law.side for kind in kinds)


def _equal_junctions(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    if item.role != "junction" or item.grounded:
        return []
    for bond in item.bonds.values():
        other = draft.items[bond.other(item.key)]
        if other.role == "junction" and other.shares == item.shares and not other.grounded:
            # Two bonds between the junctions form a loop; joined, it would hang on the junction as a bond to itself.
            parallel = sum(b.other(item.key) == other.key for b in item.bonds.values())
            if parallel == 1 and other is not item:
                return _merge(draft, item, other)
    return []


def _merge(draft: Draft, one: DraftItem, two: DraftItem) -> Touched:
    # The junction of a node keeps its name, since users know it; of two nodes the one that was described first.
    first, second = (one, two) if _rank(one) <= _rank(two) else (two, one)
    for bond in list(second.bonds.values()):
        if bond.other(second.key) == first.key:
            draft.cut(bond)
        else:
            draft.move(bond, second.key, first.key)
    draft.remove(second.key)
    return [first.key, *(other.key for other in draft.neighbours(first) if other.role == "junction")]


def _rank(item: DraftItem) -> tuple[int, int]:
    return (item.origin != "node", item.index)


def _opposite_bonds(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """A loop that hangs on one junction takes nothing from it."""
    if item.role != "junction" or len(item.bonds) < 4:
        return []
    out = {bond.head: bond for bond in item.bonds.values() if bond.tail == item.key}
    for bond in item.bonds.values():
        # Equal variables go round such a loop of two bonds, so that its power is zero whatever flows.
        back = out.get(bond.tail) if bond.head == item.key else None
        other = draft.items[bond.tail]
        if back is not None and other.role == "junction" and len(other.bonds) >= 4:
            draft.cut(bond)
            draft.cut(back)
            return [other.key]
    return []


def _two_ports(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """TF.TF and GY.GY become TF, TF.GY and GY.TF become GY."""
    if item.role != "junction" or not item.through_going:
        return []
    one, two = item.bonds.values()
    into, out = (one, two) if one.head == item.key else (two, one)
    first, second = draft.items[into.tail], draft.items[out.head]
    # A loop through one two-port is no chain: joined, it would be a two-port from a junction to itself.
    if first is second or first.role != "two-port" or second.role != "two-port":
        return []
    if first.modulus is None or second.modulus is None:
        return []
    # e_a = r_1 f_b and e_b = r_2 f_c, e_c = r_2 f_b give e_a = (r_1/r_2) e_c
    divides = first.kind == "GY"
    first.modulus = first.modulus / second.modulus if divides else first.modulus * second.modulus
    first.kind = "TF" if first.kind == second.kind else "GY"
    first.domains = (first.domains[0], second.domains[1])
    first.origins = (*first.origins, *second.origins)
    after = next(bond for bond in second.bonds.values() if bond.tail == second.key).head
    draft.remove(item.key)
    draft.remove(second.key)
    draft.bond(first.key, after)
    return [first.key, after, *(other.key for other in draft.neighbours(first))]


GROUNDS = SimplificationRule(
    "grounds",
    "a junction whose variable is zero is removed with its bonds",
    "no power passes where one of the two variables is zero",
    _grounded,
)
SIMPLIFICATIONS = (
    GROUNDS,
    SimplificationRule(
        "unit transformers",
        "a transformer of modulus one within a domain becomes a bond",
        "it changes neither effort nor flow",
        _unit_transformer,
    ),
    SimplificationRule(
        "turned resistors",
        "a linear resistive element is counted the other way where half arrows then go through",
        "R f stays R f when both variables change their sign",
        turned_resistor,
    ),
    SimplificationRule(
        "turned sources",
        "a source that draws a through variable from its node is bonded to it directly, with the arrow into the source",
        "the source imposes the variable whatever the direction of the power",
        turned_source,
    ),
    SimplificationRule(
        "turned two-ports",
        "a junction with two bonds in or two out beside a two-port goes into the sign of its modulus",
        "it turns the signs of both variables",
        turned_two_port,
    ),
    SimplificationRule(
        "through junctions",
        "a junction with one bond in and one out becomes a bond, unless it is the velocity of a mass or the only junction there",
        "both its bonds have the same effort and the same flow",
        _through_junction,
    ),
    SimplificationRule(
        "equal junctions",
        "neighbouring junctions of one kind are joined",
        "what one shares the other shares too",
        _equal_junctions,
    ),
    SimplificationRule(
        "opposite bonds",
        "two bonds between the same junctions, one each way, are removed where both junctions keep two others",
        "what passes one way comes back the other",
        _opposite_bonds,
    ),
    SimplificationRule(
        "parallel paths",
        "junctions between the same two neighbours are hung on one junction behind a common path",
        "they see the same difference of what the neighbours share",
        parallel_paths,
    ),
)
"""The rules in the order in which they are tried at an item."""

MERGED_TWO_PORTS = SimplificationRule(
    "two-ports",
    "TF.TF and GY.GY become TF; TF.GY and GY.TF become GY",
    "their moduli multiply or divide",
    _two_ports,
)


def simplification_table() -> str:
    """The rules as a text, one a line."""
    return "\n".join(f"{rule.name}: {rule.does}; {rule.why}" for rule in (*SIMPLIFICATIONS, MERGED_TWO_PORTS))


def simplify(draft: Draft, graph: PowerGraph, *, everything: bool = True, merge_two_ports: bool = False) -> None:
    """Apply the rules until none fits; without `everything`, remove grounds alone."""
    rules = SIMPLIFICATIONS if everything else (GROUNDS,)
    if merge_two_ports:
        rules = (*rules, MERGED_TWO_PORTS)
    # A worklist: only neighbours of what has changed are looked at again, so that large meshes take linear time.
    queue = deque(draft.items)
    waiting = set(queue)
    while queue:
        key = queue.popleft()
        waiting.discard(key)
        if key not in draft.items:
            continue
        for rule in rules:
            touched = rule.apply(draft, draft.items[key], graph)
            if touched:
                # The item itself is looked at once more, because several rules may fit it one after the other.
                fresh = [k for k in dict.fromkeys([*touched, key]) if k not in waiting]
                queue.extend(fresh)
                waiting.update(fresh)
                # One rule at a time, and from the first again: rules further down rely on what the earlier ones have left.
                break
