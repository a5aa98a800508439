"""A ladder with branches from a tree-like bond graph.

A parallel junction is a node of the ladder, a series junction a path between nodes. Half arrows need not point along the ladder, so
each junction has a sign: its shared variable is that sign times the variable of the ladder there. The sign of the next junction is
that of this one, times -1 where the bond between them points back.
"""

from typing import Literal

from tellegen.core.domains import DOMAINS, Side
from tellegen.expressions import ONE, Expression
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, Junction, TwoPort
from tellegen.schemes.trees import Part, heavy_children
from tellegen.schemes.written import (
    Piece,
    Way,
    WrittenBranch,
    WrittenLadder,
    WrittenSection,
    gives,
    scalar_connection,
    takes,
)


def tree_ladder(graph: BondGraphScheme, part: Part) -> WrittenLadder:
    """The ladder of a part of a bond graph without meshes."""
    return _TreeWriter(graph, part).ladder()


class _TreeWriter:
    """Walks from junction to junction, away from the start."""

    def __init__(self, graph: BondGraphScheme, part: Part) -> None:
        self.graph = graph
        self.start = part.start()
        self.away = heavy_children(part, self.start)

    def ladder(self) -> WrittenLadder:
        junction = self.graph.junctions[self.start]
        ladder = WrittenLadder((junction.domain,))
        sources = self._sources(self.start)
        used = None
        if sources:
            used = sources[0]
            item = self.graph.one_ports[used.other(self.start)]
            across, through = _signs(junction, 1, 1 if used.head == self.start else -1)
            ladder.parts.append(WrittenSection((Piece(item, across if item.decides == "across" else through),)))
        self._walk(ladder, self.start, 1, used)
        return ladder

    # -- junctions -------------------------------------------------------------------------------------------------------------

    def _way(self, junction: Junction) -> Way:
        return "series" if junction.series else "parallel"

    def _sources(self, name: str) -> list[Bond]:
        return [b for b in self._leaves(name) if self._is_source(b.other(name))]

    def _leaves(self, name: str) -> list[Bond]:
        return [b for b in self.graph.bonds_of(name) if b.other(name) in self.graph.one_ports]

    def _is_source(self, name: str) -> bool:
        return isinstance(self.graph.one_ports[name].port.law, SourceLaw)

    def _walk(self, ladder: WrittenLadder, name: str, sign: int, used: Bond | None) -> None:
        """Write the junction and what lies behind it; `used` is a source that is written already."""
        while True:
            junction = self.graph.junctions[name]
            way = self._way(junction)
            for bond in self._ordered(junction):
                item = self.graph.one_ports[bond.other(name)]
                ladder.add_row(way, (Piece(item, -sign if item.turned else sign),))
            away = self.away[name]
            sources = [b for b in self._sources(name) if b is not used]
            last = sources.pop() if sources and not away else None
            for bond in sources:
                section = WrittenSection((self._side_source(bond, junction, sign),))
                ladder.parts.append(WrittenBranch(way, WrittenLadder((junction.domain,), [section])))
            for bond in away[1:]:
                side = WrittenLadder((junction.domain,))
                self._follow(side, bond, junction, sign)
                ladder.parts.append(WrittenBranch(way, side))
            if last is not None:
                ladder.parts.append(WrittenSection((self._side_source(last, junction, sign),)))
            if not away:
                return
            following = self._step(ladder, away[0], junction, sign)
            name, sign, used = *following, None

    def _follow(self, ladder: WrittenLadder, bond: Bond, junction: Junction, sign: int) -> None:
        name, following = self._step(ladder, bond, junction, sign)
        self._walk(ladder, name, following, None)

    def _ordered(self, junction: Junction) -> list[Bond]:
        """The elements of a junction: the storage that decides, other storages, static elements."""
        name = junction.name
        found = [b for b in self._leaves(name) if not self._is_source(b.other(name))]

        def rank(bond: Bond) -> int:
            if not isinstance(self.graph.one_ports[bond.other(name)].port.law, StorageLaw):
                return 2
            return 0 if bond.receives(name) == junction.shares else 1

        return sorted(found, key=rank)

    def _side_source(self, bond: Bond, junction: Junction, sign: int) -> Piece:
        """A source behind the junction. By default its across variable is that of the ladder, its through variable comes in."""
        item = self.graph.one_ports[bond.other(junction.name)]
        across, through = _signs(junction, sign, 1 if bond.tail == junction.name else -1)
        return Piece(item, across if item.decides == "across" else -through)

    # -- from junction to junction ---------------------------------------------------------------------------------------------

    def _step(self, ladder: WrittenLadder, bond: Bond, junction: Junction, sign: int) -> tuple[str, int]:
        """Pass a bond, and the two-ports behind it; gives the next junction and its sign."""
        here = junction.name
        direction = 1 if bond.tail == here else -1
        there = bond.other(here)
        if there in self.graph.junctions:
            return there, sign * direction
        across = _signs(junction, sign, direction)[0]
        domain = bond.domain
        while there in self.graph.two_ports:
            item = self.graph.two_ports[there]
            kind, modulus = _relation(item, domain, along=direction > 0)
            (ahead,) = (b for b in self.graph.bonds_of(there) if b is not bond)
            bond, there, domain = ahead, ahead.other(there), ahead.domain
            if there in self.graph.junctions:
                across_2, through_2 = _signs(self.graph.junctions[there], 1, direction)
            else:
                across_2, through_2 = 1, direction
            signed = across * (across_2 if kind == "T" else through_2)
            sides: tuple[Side, Side] | None = None
            if there in self.graph.junctions:
                sides = (gives(self._way(junction)), takes(self._way(self.graph.junctions[there])))
            ladder.parts.append(scalar_connection(item.name, kind, modulus if signed > 0 else -modulus, sides, domain))
            across = across_2
        return there, 1


def _signs(junction: Junction, sign: int, direction: int) -> tuple[int, int]:
    """The across and the through variable of a bond over those of the ladder, away from the junction."""
    return (sign * direction, sign) if junction.series else (sign, sign * direction)


def _relation(item: TwoPort, domain: str, *, along: bool) -> tuple[Literal["T", "G"], Expression]:
    """A two-port in across and through variables, from the side met first; see `scalar_connection`."""
    one = DOMAINS[domain]
    two = DOMAINS[item.domains[1] if along else item.domains[0]]
    modulus = ONE / item.modulus if item.kind == "TF" and not along else item.modulus
    if one.effort == "through":
        modulus = ONE / modulus
    return ("T" if (item.kind == "TF") == (one.effort == two.effort) else "G"), modulus
