"""Junctions that stand side by side between the same two neighbours, hung on one common path."""

from tellegen.graph import PowerGraph
from tellegen.schemes.draft import Draft, DraftItem, Key, Touched


def parallel_paths(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """Two junctions between the same two neighbours hang on one junction of the other kind, behind one path."""
    ends = _ends(draft, item)
    if ends is None:
        return []
    narrow = min(ends, key=lambda key: len(draft.items[key].bonds))
    others = [other for other in draft.neighbours(draft.items[narrow]) if other is not item]
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
    if len(joints) != 2 or (joints[0].head == item.key) == (joints[1].head == item.key):
        return None
    into, out = joints if joints[0].head == item.key else (joints[1], joints[0])
    one, two = draft.items[into.tail], draft.items[out.head]
    plain = one is not two and item.shares not in (one.shares, two.shares) and not (one.grounded or two.grounded)
    plain = plain and min(len(one.bonds), len(two.bonds)) > 2  # else nothing could pass through a common path
    return (one.key, two.key) if plain else None


def _bridge(draft: Draft, twins: dict[Key, bool], ends: tuple[Key, Key]) -> Touched:
    """`twins` tells whether each junction counts along or against the new path."""
    first = draft.items[next(iter(twins))]
    path, spot = draft.fresh("bridge"), draft.fresh("bridge")
    draft.add(DraftItem(path, "junction", first.domain, first.shares))
    draft.add(DraftItem(spot, "junction", first.domain, draft.items[ends[0]].shares))
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
    (spot,) = bonds.keys() - set(ends)
    found, into = draft.items[spot], bonds[ends[0]].head == path.key
    plain = found.role == "junction" and found.shares == draft.items[ends[0]].shares and not found.grounded
    if not plain or into != (bonds[ends[1]].tail == path.key):
        return None
    return spot, into == (bonds[spot].head == spot)
