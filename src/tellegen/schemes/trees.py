"""The graph of junctions and two-ports: its parts, whether they are trees, and where ladders run in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme

UNKNOWN = 10**9
"""The number of the ladder of what was not drawn before."""
SHAFTS = ("rotational", "translational")
"""Domains whose sources drive or load: those of the others supply."""


@final
@dataclass(frozen=True)
class Part:
    """A part of a bond graph that hangs together. `members` are junctions and two-ports.

    `earlier` are the places of elements in ladders drawn before, the number of the ladder and that of the column.
    """

    graph: BondGraphScheme = field(repr=False)
    members: tuple[str, ...]
    earlier: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    def bonds(self, name: str) -> list[Bond]:
        """The bonds of a member to other members."""
        return [b for b in self.graph.bonds_of(name) if b.other(name) not in self.graph.one_ports]

    def is_tree(self) -> bool:
        """Whether no mesh closes through its junctions."""
        return sum(len(self.bonds(name)) for name in self.members) == 2 * (len(self.members) - 1)

    def is_path(self) -> bool:
        """Whether no member has more than two neighbours."""
        return self.is_tree() and all(len(self.bonds(name)) <= 2 for name in self.members)

    def start(self) -> str:
        """Where the main ladder starts: at the first source, if it supplies wires or pipes, else at what is described first.

        That is the nearer end of a path; in a tree an end, or a junction with a source. A load or a drive that is taken away does
        so not turn the ladder round. A ladder that was drawn before starts where it did.
        """
        rank = self._ranks()
        known = {name: place for name in self.members if (place := self.place(name)) is not None}
        if known:
            near = self._distances(min(known, key=known.__getitem__))
            ends = [name for name in self._candidates() if not self.is_path() or len(self.bonds(name)) <= 1]
            return min(ends, key=lambda name: (near[name], rank[name]))
        first = self._supplied(rank) or min(self._candidates(), key=rank.__getitem__)
        if not self.is_path():
            return first
        ends = [name for name in self.members if len(self.bonds(name)) <= 1]
        distance = self._distances(first)
        return min(ends, key=lambda name: (distance[name], rank[name]))

    def place(self, name: str) -> tuple[int, int] | None:
        """Where a member stood in the ladders drawn before."""
        others = (bond.other(name) for bond in self.graph.bonds_of(name))
        own = (name, *(other for other in others if other in self.graph.one_ports))
        return min((self.earlier[item] for item in own if item in self.earlier), default=None)

    def _supplied(self, members: Mapping[str, int]) -> str:
        """The junction of the first source, where that decides what is across wires or pipes."""
        for item in self.graph.sources():
            (bond,) = self.graph.bonds_of(item.name)
            if bond.other(item.name) in members:
                supplies = item.decides == "across" and bond.domain not in SHAFTS
                return bond.other(item.name) if supplies else ""
        return ""

    def _candidates(self) -> Iterable[str]:
        if self.is_path() or not self.is_tree():
            return self.members
        sources = {self.graph.bonds_of(item.name)[0].other(item.name) for item in self.graph.sources()}
        return [name for name in self.members if name in sources or len(self.bonds(name)) <= 1]

    def _ranks(self) -> dict[str, int]:
        """For each member the number of the element at it that is described first."""
        found = dict.fromkeys(self.members, len(self.graph.one_ports))
        for k, name in enumerate(self.graph.one_ports):
            (bond,) = self.graph.bonds_of(name)
            junction = bond.other(name)
            if junction in found:
                found[junction] = min(found[junction], k)
        return found

    def _distances(self, start: str) -> dict[str, int]:
        found = {start: 0}
        queue = [start]
        for name in queue:
            for bond in self.bonds(name):
                other = bond.other(name)
                if other not in found:
                    found[other] = found[name] + 1
                    queue.append(other)
        return found


def parts(graph: BondGraphScheme, earlier: Sequence[Sequence[str]] = ()) -> list[Part]:
    """The parts of a bond graph, in the order of its bonds; `earlier` are the elements along ladders drawn before."""
    before = {name: (n, k) for n, line in enumerate(earlier) for k, name in enumerate(line)}
    found: list[Part] = []
    seen: set[str] = set()
    for name in graph.junctions:
        if name in seen:
            continue
        seen.add(name)
        queue = [name]
        for member in queue:
            for bond in graph.bonds_of(member):
                other = bond.other(member)
                if other not in seen and other not in graph.one_ports:
                    seen.add(other)
                    queue.append(other)
        found.append(Part(graph, tuple(queue), before))
    return sorted(found, key=_first_bond)


def _first_bond(part: Part) -> int:
    """The number of the first bond of a part: bonds follow the order of description."""
    return min((bond.number for name in part.members for bond in part.graph.bonds_of(name)), default=0)


def heavy_children(part: Part, root: str) -> dict[str, list[Bond]]:
    """For each member of a tree the bonds that lead away from the root, the one to the deepest subtree first.

    Where ladders were drawn before, what went on along the ladder does so again.
    """
    order, parent = [root], {root: ""}
    for name in order:
        for bond in part.bonds(name):
            other = bond.other(name)
            if other != parent[name]:
                parent[other] = name
                order.append(other)
    height = dict.fromkeys(order, 0)
    ladder = {name: UNKNOWN if (place := part.place(name)) is None else place[0] for name in order}
    found: dict[str, list[Bond]] = {}
    for name in reversed(order):
        away = [bond for bond in part.bonds(name) if bond.other(name) != parent[name]]
        away.sort(key=lambda bond, name=name: (ladder[bond.other(name)], -height[bond.other(name)]))  # type: ignore[misc]
        found[name] = away
        ladder[name] = min([ladder[name], *(ladder[bond.other(name)] for bond in away)])
        height[name] = 1 + max((height[bond.other(name)] for bond in away), default=0)
    return found
