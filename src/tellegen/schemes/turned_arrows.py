"""Half arrows turned round: what counts the other way so that no junction only changes signs."""

from tellegen.expressions import ZERO
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw
from tellegen.schemes.draft import Draft, DraftItem, Key, Touched


def turned_resistor(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """Turn the bonds between the junction of a linear resistive element and its nodes, where arrows then go through."""
    if item.key[0] != "path of port" or item.shares != "through":
        return []
    port = graph.ports[item.key[1]]
    if not isinstance(port.law, ResistiveLaw) or not port.law.linear or port.law.coefficient is ZERO:
        return []  # a sensor reads its variable in one direction
    if any(item.key[1] in field.ports for field in graph.fields):
        return []  # what couples it to the other ports of its field would change its sign
    joints = [bond for bond in item.bonds.values() if bond.other(item.key)[0] == "node"]
    if len(joints) + 1 != len(item.bonds):  # joined with other paths: they would turn too
        return []
    around = [item, *(draft.items[bond.other(item.key)] for bond in joints)]
    before = sum(_inverts(other) for other in around)
    for bond in joints:
        draft.turn(bond)
    if sum(_inverts(other) for other in around) >= before:
        for bond in joints:
            draft.turn(bond)
        return []
    draft.items["port", item.key[1]].turned ^= True
    return [other.key for other in around]


def _inverts(item: DraftItem) -> bool:
    return len(item.bonds) == 2 and not item.grounded and not item.through_going


def turned_source(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """A source of a through variable that draws from its node hangs on it with the arrow towards the source."""
    if item.key[0] != "path of port" or len(item.bonds) != 2 or item.through_going:
        return []
    law = graph.ports[item.key[1]].law
    if not isinstance(law, SourceLaw) or law.side != "through":
        return []
    source: Key = ("port", item.key[1])
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
        turning = draft.items[bond.other(item.key)]
        if turning.role != "junction" or not _inverts(turning):
            continue
        beyond = next(other for other in turning.bonds.values() if other is not bond).other(turning.key)
        # Between junctions of one kind nothing is turned: there it is joined with its neighbour.
        if draft.items[beyond].role == "junction" and draft.items[beyond].shares != turning.shares:
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
