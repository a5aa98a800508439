"""Whether every item of a bond graph has the bonds that it needs, before anything is made of it."""

from collections.abc import Iterator, Sequence

from tellegen.core.errors import Finding
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import DETECTORS, JUNCTIONS, TWO_PORTS, Bond, BondGraph, Item
from tellegen.description.files import clip


def check_bonds(graph: BondGraph) -> list[Finding]:
    """A finding for each item with too few or too many bonds."""
    return [
        rules.WRONG_BONDS.finding(
            f"'{item.kind}:{clip(item.name)}' {what}", where=clip(item.name), fix=fix, place=item.place
        )
        for item in graph.items.values()
        for what, fix in _wrong_bonds(item, graph.bonds_of(item.name))
    ] + [finding for item in graph.items.values() if item.kind in DETECTORS for finding in _disturbing(item, graph)]


def _disturbing(item: Item, graph: BondGraph) -> Iterator[Finding]:
    """A detector of effort stands on a 0-junction, one of flow on a 1-junction: elsewhere it would stop the power."""
    junction = "0" if item.kind == "De" else "1"
    for bond in graph.bonds_of(item.name):
        other = graph.items[bond.head if bond.tail == item.name else bond.tail]
        if other.kind != junction:
            word = "effort" if item.kind == "De" else "flow"
            what = f"'{item.kind}:{clip(item.name)}' is bonded to '{other.kind}:{clip(other.name)}'"
            fix = f"bond it to a {junction}-junction, whose bonds share the {word}"
            yield rules.DISTURBING_DETECTOR.finding(what, where=clip(item.name), fix=fix, place=item.place)


def _ports_of(name: str, bonds: Sequence[Bond]) -> tuple[list[int], list[int]]:
    """The ports at which bonds come in, and those at which they go out."""
    return [b.head_port for b in bonds if b.head == name], [b.tail_port for b in bonds if b.tail == name]


def _wrong_bonds(item: Item, bonds: Sequence[Bond]) -> Iterator[tuple[str, str]]:
    """What is wrong with the bonds of an item, and its repair."""
    if item.kind in JUNCTIONS:
        if len(bonds) < 2:
            yield "has only one bond", "remove the junction, or bond something else to it"
    elif any(bond.tail == bond.head for bond in bonds):
        yield "is bonded to itself", "bond it to a junction"
    elif item.kind not in TWO_PORTS:
        if len(bonds) != 1:
            one = "a component" if item.part else "a one-port"
            yield f"has {len(bonds)} bonds", f"{one} has one: join it through a junction"
    else:
        into, out = (sorted(set(ports)) for ports in _ports_of(item.name, bonds))
        if not into or not out or len(into) + len(out) < len(bonds):
            fix = f"write 'a -> {item.kind}:{clip(item.name)} -> b': the half arrows pass through it"
            counts = [len(ports) for ports in _ports_of(item.name, bonds)]
            yield f"has {counts[0]} bond{'' if counts[0] == 1 else 's'} in and {counts[1]} out, not one and one", fix
        for ports, side in ((into, "in"), (out, "out")):
            if ports and ports[-1] != len(ports):
                missing = min(set(range(1, ports[-1])) - set(ports))
                yield f"has no bond {side} at its port {missing}", "bond all its ports"
