"""A mesh as a ladder: a bond that closes it is cut, and both ends carry the same letter (a and a')."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.graph import Port, SourceLaw
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, OnePort
from tellegen.schemes.flow import Flow
from tellegen.schemes.ladders import LadderBuilder
from tellegen.schemes.names import UniqueNames
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.trees import Part, parts

FEW = 2
"""So many cuts a reader follows without effort."""


@final
@dataclass(frozen=True, slots=True)
class LinkedLadders:
    """A meshed scheme as ladders; `links` gives the letters of the sections at cuts."""

    scheme: PogScheme
    links: Mapping[str, str]


def linked_ladders(scheme: PogScheme, most: int, earlier: Sequence[Sequence[str]] = ()) -> LinkedLadders | None:
    """The ladders of a meshed scheme with at most so many cuts; None where there is no such ladder.

    `earlier` are the elements along the ladders of a figure drawn before.
    """
    graph = scheme.bond_graph
    if graph is None or scheme.causal.derivative or any(item.matrix for item in graph.two_ports.values()):
        return None
    cuts: list[Bond] = []
    for part in parts(graph, earlier):
        found = _closing(part)
        if found is None:
            return None
        cuts += found
    if not cuts or len(cuts) > min(most, len(ascii_lowercase)):
        return None
    opened, letters = _opened(graph, cuts)
    flow = Flow(opened)
    builder = LadderBuilder(opened, flow)
    ladders = tuple(builder.ladder_of(part) for part in parts(opened, earlier))
    laddered = replace(
        scheme,
        ladders=ladders,
        sections=builder.sections,
        blocks=flow.blocks,
        summations=flow.summations,
        vector=None,
    )
    return LinkedLadders(laddered, _sections_at(opened, builder, letters))


def _closing(part: Part) -> list[Bond] | None:
    """The bonds that close the meshes of a part: those furthest from its start, and none at a two-port."""
    root: dict[str, str] = {name: name for name in part.members}

    def find(name: str) -> str:
        while root[name] != name:
            root[name] = name = root[root[name]]
        return name

    def joined(bond: Bond) -> bool:
        one, two = find(bond.tail), find(bond.head)
        root[one] = two
        return one != two

    bonds = _from_the_start(part)
    two_ports = part.graph.two_ports
    at_two_ports = [b for b in bonds if b.tail in two_ports or b.head in two_ports]
    if sum(map(joined, at_two_ports)) < len(at_two_ports):
        return None
    return [bond for bond in bonds if bond not in at_two_ports and not joined(bond)]


def _from_the_start(part: Part) -> list[Bond]:
    """The bonds between the members of a part, the nearest to its start first."""
    start = part.start()
    seen, queue = {start}, [start]
    found: dict[int, Bond] = {}
    for name in queue:
        for bond in part.bonds(name):
            found[bond.number] = bond
            other = bond.other(name)
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return list(found.values())


def _opened(graph: BondGraphScheme, cuts: list[Bond]) -> tuple[BondGraphScheme, dict[str, str]]:
    """The bond graph with a pair of sources in the place of each cut bond, and their letters."""
    names = UniqueNames((*graph.junctions, *graph.one_ports, *graph.two_ports))
    bonds = [bond for bond in graph.bonds if bond not in cuts]
    one_ports, letters = dict(graph.one_ports), {}
    for bond, letter in zip(cuts, ascii_lowercase, strict=False):
        for end, mark in ((bond.tail, letter), (bond.head, f"{letter}'")):
            item = _stand_in(names.take(f"link_{letter}"), bond, end)
            one_ports[item.name] = item
            letters[item.name] = mark
            bonds.append(
                replace(bond, head=item.name, head_port=0)
                if end == bond.tail
                else replace(bond, tail=item.name, tail_port=0)
            )
    return replace(graph, one_ports=one_ports, bonds=tuple(bonds)), letters


def _stand_in(name: str, bond: Bond, end: str) -> OnePort:
    """A source that tells one end of a cut bond what the other end would."""
    side = bond.receives(end)
    port = Port(name, bond.domain, 0, 0, SourceLaw(side, bond.variable(side)), bond.across, bond.through)
    return OnePort(name, "Se" if side == DOMAINS[bond.domain].effort else "Sf", port, side)


def _sections_at(graph: BondGraphScheme, builder: LadderBuilder, letters: Mapping[str, str]) -> dict[str, str]:
    """The letters of the sections behind which a cut bond goes on."""
    found: dict[str, str] = {}
    for name, letter in letters.items():
        (bond,) = graph.bonds_of(name)
        near = bond.other(name)
        outside = (s for s in builder.sections.values() if _ends(s.left, s.right, near))
        found |= {s.name: letter for s in outside if (s.across, s.through) == (bond.across, bond.through)}
    return found


def _ends(left: str, right: str, near: str) -> bool:
    return (not left and right == near) or (not right and left == near)
