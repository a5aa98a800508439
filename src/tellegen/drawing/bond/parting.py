"""A bond graph made ready to be read in pieces: junctions that only pass a variable on are gone, shared ones stand in each piece.

Both keep what the graph says. A junction of two bonds whose half arrows disagree turns a sign; without it the element behind it has
the opposite force, which is then written with a minus. A junction at which elements of several pieces hang is one in each of them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tellegen.graph import ResistiveLaw, StorageLaw
from tellegen.model.bond_graph import BondEnd, BondItem, PowerBond
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort, graph_of

COPY = "@"
"""Between the name of a junction and the piece that has its own copy of it."""


def collapsed(scheme: BondGraphScheme) -> tuple[BondGraphScheme, frozenset[str]]:
    """The scheme without junctions between one linear element and another junction; the elements that are turned by that."""
    bonds = {bond.number: bond for bond in scheme.bonds}
    turned: set[str] = set()
    gone: set[str] = set()
    for name in scheme.junctions:
        own = scheme.bonds_of(name)
        if len(own) != 2:
            continue
        first, second = own
        leaf = next((b.other(name) for b in own if b.other(name) in scheme.one_ports), "")
        onward = second if first.other(name) == leaf else first
        beside = onward.other(name)
        # A second junction that is gone already cannot hold the element.
        if not leaf or beside not in scheme.junctions or beside in gone or not _is_odd(scheme.one_ports[leaf]):
            continue
        at_leaf = first if onward is second else second
        receives = at_leaf.stroke == ("tail" if at_leaf.tail == leaf else "head")
        outwards = at_leaf.head == leaf
        ends = (beside, leaf) if outwards else (leaf, beside)
        stroke: BondEnd = "head" if receives == outwards else "tail"
        bonds[at_leaf.number] = replace(at_leaf, tail=ends[0], head=ends[1], tail_port=0, head_port=0, stroke=stroke)
        del bonds[onward.number]
        gone.add(name)
        if (onward.tail == name) == (at_leaf.tail == name):
            turned.add(leaf)
    if not gone:
        return scheme, frozenset()
    others = [item for item in scheme.graph.items.values() if item.role != "one-port" and item.name not in gone]
    return replace(scheme, graph=graph_of(others, scheme.one_ports, list(bonds.values()))), frozenset(turned)


def _is_odd(item: OnePort) -> bool:
    """Whether a law does not see the sign of its variable, so that it can be turned."""
    law = item.port.law
    if item.parts or item.field:
        return False
    if isinstance(law, StorageLaw):
        # The junction of an inertia is its velocity, which the figure shows.
        return item.kind == "C" and law.inertia is not None and not law.keeps_energy_variable
    return isinstance(law, ResistiveLaw) and law.coefficient is not None and law.potential is None


def parted(
    scheme: BondGraphScheme, owner_of: Mapping[str, str], leads_to: Callable[[str, str], bool], apart: Collection[str]
) -> tuple[BondGraphScheme, dict[str, str]]:
    """The scheme in which no element hangs at a junction of another piece, with the owners of the copies of junctions.

    `leads_to` tells whether the way from a junction of one piece to another goes through a third: crank, pin, rod. Bonds to pieces
    that stand `apart` lead there from where they are.
    """
    copies: dict[str, str] = {}
    items: list[BondItem] = []
    bonds = list(scheme.bonds)
    for name, junction in scheme.junctions.items():
        home = owner_of[name]
        guests = dict.fromkeys(
            owner_of[other] for bond in scheme.bonds_of(name) if (other := bond.other(name)) in scheme.one_ports
        )
        for guest in guests:
            if guest == home or guest in apart:
                continue
            copy = f"{name}{COPY}{guest}"
            copies[copy] = guest
            items.append(replace(junction, name=copy))
            ends = {bond.number: owner_of[bond.other(name)] for bond in scheme.bonds_of(name)}
            moving = [b for b in scheme.bonds_of(name) if ends[b.number] == guest or leads_to(guest, ends[b.number])]
            moving = [b for b in moving if owner_of[b.other(name)] != home]
            decides = any(bond.brings(bond.other(name)) == junction.shares for bond in moving)
            numbers = {bond.number for bond in moving}
            bonds = [_moved(bond, name, copy) if bond.number in numbers else bond for bond in bonds]
            bonds.append(_joint(scheme, junction, copy, decides, len(bonds) + 1))
    if not copies:
        return scheme, copies
    others = [item for item in scheme.graph.items.values() if item.role != "one-port"]
    return replace(scheme, graph=graph_of([*others, *items], scheme.one_ports, bonds)), copies


def _moved(bond: PowerBond, name: str, copy: str) -> PowerBond:
    return replace(bond, tail=copy) if bond.tail == name else replace(bond, head=copy)


def _joint(scheme: BondGraphScheme, junction: BondItem, copy: str, decides: bool, number: int) -> PowerBond:
    """The bond from a junction to its copy; `decides` tells that a bond of the copy brings what they share."""
    told = junction.name if decides else copy
    other = copy if decides else junction.name
    # Who is told an effort has the stroke; who tells a flow has it.
    stroke = told if junction.letters == "0" else other
    number = max(number, 1 + max((bond.number for bond in scheme.bonds), default=0) + number)
    across, through = (junction.variable if junction.shares == side else "" for side in ("across", "through"))
    end: BondEnd = "head" if stroke == copy else "tail"
    return PowerBond(
        junction.name, copy, number=number, domain=junction.domain, across=across, through=through, stroke=end
    )


def base_name(name: str) -> str:
    """The name of a junction without the piece that has a copy of it."""
    return name.partition(COPY)[0]
