"""What in a bond graph belongs to which body, joint or machine: the pieces in which a mechanism is read.

Elements and two-ports say it by their names, junctions by the node that they stand for or by what hangs on them. What a network
adds is a machine of its own; a single source acts on the body or joint at which it is.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, final

from tellegen.drawing.bond.parting import parted
from tellegen.model.mechanism import GROUND, Joint, Mechanism
from tellegen.schemes.bond_graph_scheme import BondGraphScheme
from tellegen.schemes.names import plain_name

PieceKind = Literal["body", "joint", "machine", "multiport", "field"]
ENTRY = re.compile(r"(.*)\[(\d+),(\d+)\]")
"""The name of an entry of a matrix that was opened: its coupling, row and column."""
LEAST_ROWS, LEAST_COLUMNS = 2, 3
"""A multiport of a network has a piece of its own from this size on."""


@final
@dataclass(frozen=True)
class Piece:
    """A body, a joint, a machine or a multiport, with the items of the bond graph that belong to it."""

    name: str
    kind: PieceKind
    items: tuple[str, ...]


@final
class Owners:
    """Which piece each item belongs to."""

    def __init__(self, scheme: BondGraphScheme, mechanism: Mechanism | None) -> None:
        self.scheme, self.mechanism = scheme, mechanism
        self.kinds: dict[str, PieceKind] = {}
        self.nodes = _nodes_of(scheme)
        """The node of each junction that is the velocity of one."""
        self.of: dict[str, str] = {}
        if mechanism is not None:
            self.kinds |= {name: "body" for name in mechanism.bodies if name != GROUND}
            self.kinds |= dict.fromkeys(mechanism.joints, "joint")
            self._named()
            self._junctions()
            self._machines()
        else:
            self.kinds |= dict.fromkeys(multiports_of(scheme), "multiport")
            if self.kinds:
                self._nearest()
            else:
                self._parts()
        self._fields()
        self.scheme, copies = parted(scheme, self.of, self._leads_to, self._fields_of)
        self.of |= copies
        self.pieces = tuple(self._pieces())

    def _fields(self) -> None:
        """What holds energy together is a piece of its own, to which bonds lead from many."""
        for name, item in self.scheme.one_ports.items():
            if item.field and sum(other.field == item.field for other in self.scheme.one_ports.values()) > 1:
                self.kinds[item.field] = "field"
                self.of[name] = item.field

    @property
    def _fields_of(self) -> frozenset[str]:
        return frozenset(name for name, kind in self.kinds.items() if kind == "field")

    def _leads_to(self, joint: str, body: str) -> bool:
        """Whether a joint holds a body."""
        held = None if self.mechanism is None else self.mechanism.joints.get(joint)
        return held is not None and body in (held.first.body, held.second.body)

    def joint_of(self, item: str) -> Joint | None:
        """The joint that an item belongs to; none for the others."""
        return None if self.mechanism is None else self.mechanism.joints.get(self.path(item).partition(".")[0])

    def path(self, item: str) -> str:
        """The path of an element or of a coupling; empty for a junction."""
        if item in self.scheme.one_ports:
            return self.scheme.one_ports[item].port.element
        return self.scheme.two_ports[item].origins[0] if item in self.scheme.two_ports else ""

    def _pieces(self) -> Iterator[Piece]:
        found: dict[str, list[str]] = {name: [] for name in self.kinds}
        for item in (*self.scheme.junctions, *self.scheme.two_ports, *self.scheme.one_ports):
            found[self.of[item]].append(item)
        for name, items in found.items():
            if items:
                yield Piece(name, self.kinds[name], tuple(items))

    # -- of mechanisms ---------------------------------------------------------------------------------------------------------

    def _owner(self, path: str) -> str:
        head, dot, _ = path.partition(".")
        return head if dot and head in self.kinds else ""

    def _named(self) -> None:
        for item in (*self.scheme.two_ports, *self.scheme.one_ports):
            if owner := self._owner(self.path(item)):
                self.of[item] = owner

    def _junctions(self) -> None:
        """Those of nodes of bodies and joints, then those at which only their items hang."""
        for name in self.scheme.junctions:
            node = self.nodes.get(name, "")
            if owner := node if node in self.kinds else self._owner(node):
                self.of[name] = owner
        self._by_votes()
        # A junction without any elements belongs to the joint that it leads to: friction and a drive beside each other.
        for name in self.scheme.junctions:
            if name not in self.of and all(other in self.scheme.junctions for other in self._beside(name)):
                near = [self.of[other] for other in self._beside(name) if other in self.of]
                joints = [owner for owner in near if self.kinds[owner] == "joint"]
                if near:
                    self.of[name] = (joints or near)[0]

    def _by_votes(self) -> None:
        """A junction belongs to what hangs on it."""
        # What stands between a body and a joint belongs to the elements at it first: a reaction is that of its joint.
        for roles in (self.scheme.one_ports, self.scheme.two_ports):
            for name in self.scheme.junctions:
                if name not in self.of:
                    votes = Counter(self.of[o] for o in self._beside(name) if o in roles and o in self.of)
                    if votes:
                        self.of[name] = self._between(list(votes)) or votes.most_common(1)[0][0]

    def _between(self, joints: list[str]) -> str:
        """The body that two joints hold: the force that one passes on to the other goes through it."""
        if self.mechanism is None or len(joints) < 2 or any(name not in self.mechanism.joints for name in joints):
            return ""
        held = [{self.mechanism.joints[n].first.body, self.mechanism.joints[n].second.body} - {GROUND} for n in joints]
        return min(set.intersection(*held), default="")

    def _beside(self, name: str) -> Iterator[str]:
        return (bond.other(name) for bond in self.scheme.bonds_of(name))

    def _machines(self) -> None:
        """What is left hangs together in machines; a lone source is one of what it acts on."""
        for start in (*self.scheme.two_ports, *self.scheme.junctions, *self.scheme.one_ports):
            if start in self.of:
                continue
            members = [start]
            for member in members:
                members += (o for o in dict.fromkeys(self._beside(member)) if o not in self.of and o not in members)
            named = next((m for m in members if m not in self.scheme.junctions), start)
            others = list(dict.fromkeys(self.of[o] for m in members for o in self._beside(m) if o in self.of))
            alone = len(members) == 1 and start in self.scheme.one_ports and len(others) == 1
            word = ENTRY.sub(r"\1", self.path(named)) or named
            word = "network" if self.mechanism is None and "network" not in self.kinds else word
            owner = others[0] if alone else self._machine(word)
            self.of |= dict.fromkeys(members, owner)

    def _machine(self, name: str) -> str:
        while name in self.kinds:
            name += "_"
        self.kinds[name] = "machine"
        return name

    # -- of networks -----------------------------------------------------------------------------------------------------------

    def _parts(self) -> None:
        """A network without large multiports is read part by part; what stands between its parts is a piece too."""
        for item in (*self.scheme.two_ports, *self.scheme.one_ports):
            part, dot, _ = self.path(item).partition(".")
            if dot:
                self.kinds[part] = "machine"
                self.of[item] = part
        self._by_votes()
        self._machines()

    def _nearest(self) -> None:
        """Every item belongs to the nearest multiport, that which is described first where two are as near."""
        queue: list[str] = []
        for name in self.kinds:
            for item in self.scheme.two_ports:
                if self.path(item).partition("[")[0] == name:
                    self.of[item] = name
                    queue.append(item)
        for item in queue:
            for other in self._beside(item):
                if other not in self.of:
                    self.of[other] = self.of[item]
                    queue.append(other)
        left = [item for item in self.scheme.graph.items if item not in self.of]
        if left:
            self.of |= dict.fromkeys(left, self._machine("network"))


def _nodes_of(scheme: BondGraphScheme) -> dict[str, str]:
    """The names of nodes by their junctions: those of the description, and those at which an opened matrix begins."""
    graph = scheme.causal.graph
    plain = {plain_name(node.name): node.name for node in graph.nodes}
    found = {name: plain[name] for name in scheme.junctions if name in plain}
    couplings = {coupling.element: coupling for coupling in graph.couplings}
    for name, two_port in scheme.two_ports.items():
        entry = ENTRY.fullmatch(two_port.origins[0])
        if entry is None or entry[1] not in couplings:
            continue
        given = couplings[entry[1]].side_1
        for bond in scheme.bonds_of(name)[:1]:
            other = bond.other(name)
            if other in scheme.junctions and scheme.kind_of(other) == "1" and len(given) >= int(entry[3]):
                found.setdefault(other, graph.nodes[given[int(entry[3]) - 1].plus].name)
    return found


def multiports_of(scheme: BondGraphScheme) -> list[str]:
    """The couplings of a network that join many bonds, by name."""
    return [
        coupling.element
        for coupling in scheme.causal.graph.couplings
        if len(coupling.side_2) >= LEAST_ROWS and len(coupling.side_1) >= LEAST_COLUMNS
    ]
