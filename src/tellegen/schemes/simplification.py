"""Simplify a bond graph as an engineer would: a table of rules that one can print, applied until none fits."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from tellegen.elements import kinds_of
from tellegen.expressions import ONE
from tellegen.graph import PowerGraph, StorageLaw
from tellegen.schemes.draft import Draft, DraftItem, Touched
from tellegen.schemes.parallel_paths import parallel_paths
from tellegen.schemes.turned_arrows import turned_resistor, turned_source, turned_two_port


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
    touched = [other.key for other in draft.neighbours(item)]
    draft.remove(item.key)
    return touched


def _unit_transformer(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
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
    if item.key[0] == "node" and any(_moves_with(other, graph) for other in (one, two)):
        return []
    draft.replaced_by_bond(item)
    return [one.key, two.key]


def _moves_with(item: DraftItem, graph: PowerGraph) -> bool:
    """Whether a one-port is a mass or an inertia, whose velocity deserves a junction of its own."""
    if item.role != "one-port" or not isinstance(graph.ports[item.key[1]].law, StorageLaw):
        return False
    kinds = kinds_of(item.domain, "storage")
    return any(kind.grounded and kind.side == graph.ports[item.key[1]].law.side for kind in kinds)


def _equal_junctions(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    if item.role != "junction" or item.grounded:
        return []
    for bond in item.bonds.values():
        other = draft.items[bond.other(item.key)]
        if other.role == "junction" and other.shares == item.shares and not other.grounded:
            parallel = sum(b.other(item.key) == other.key for b in item.bonds.values())
            if parallel == 1 and other is not item:
                return _merge(draft, item, other)
    return []


def _merge(draft: Draft, one: DraftItem, two: DraftItem) -> Touched:
    first, second = (one, two) if _rank(one) <= _rank(two) else (two, one)
    for bond in list(second.bonds.values()):
        if bond.other(second.key) == first.key:
            draft.cut(bond)
        else:
            draft.move(bond, second.key, first.key)
    draft.remove(second.key)
    return [first.key, *(other.key for other in draft.neighbours(first) if other.role == "junction")]


def _rank(item: DraftItem) -> tuple[int, int]:
    return (item.key[0] != "node", item.key[1])


def _opposite_bonds(draft: Draft, item: DraftItem, graph: PowerGraph) -> Touched:
    """A loop that hangs on one junction takes nothing from it."""
    if item.role != "junction" or len(item.bonds) < 4:
        return []
    out = {bond.head: bond for bond in item.bonds.values() if bond.tail == item.key}
    for bond in item.bonds.values():
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

TWO_PORTS = SimplificationRule(
    "two-ports",
    "TF.TF and GY.GY become TF; TF.GY and GY.TF become GY",
    "their moduli multiply or divide",
    _two_ports,
)


def simplification_table() -> str:
    """The rules as a text, one a line."""
    return "\n".join(f"{rule.name}: {rule.does}; {rule.why}" for rule in (*SIMPLIFICATIONS, TWO_PORTS))


def simplify(draft: Draft, graph: PowerGraph, *, everything: bool = True, merge_two_ports: bool = False) -> None:
    """Apply the rules until none fits; without `everything`, remove grounds alone."""
    rules = SIMPLIFICATIONS if everything else (GROUNDS,)
    if merge_two_ports:
        rules = (*rules, TWO_PORTS)
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
                fresh = [k for k in dict.fromkeys([*touched, key]) if k not in waiting]
                queue.extend(fresh)
                waiting.update(fresh)
                break
