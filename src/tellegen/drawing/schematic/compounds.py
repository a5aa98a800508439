"""Several elements that engineers draw as one symbol: two pistons on a rod are a double-acting cylinder, four edges
a directional valve.

What is drawn in their place is an element of the schematic alone, with the name of its first member; their labels stay.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.elements import KINDS
from tellegen.model.model import Element

VALVE, CYLINDER = "directional valve", "double-acting cylinder"
FLUIDS = frozenset({"hydraulic", "pneumatic"})


@final
@dataclass(frozen=True, slots=True)
class Compound:
    """What is drawn in the place of its members."""

    element: Element
    members: tuple[Element, ...]


def with_compounds(elements: Sequence[Element], constants: Container[str]) -> tuple[Element, ...]:
    """The elements with one in the place of the members of each compound, where the first of them was."""
    found = compounds(elements, constants)
    drawn = {compound.members[0].name: compound.element for compound in found}
    gone = {member.name for compound in found for member in compound.members[1:]}
    return tuple(drawn.get(element.name, element) for element in elements if element.name not in gone)


def compounds(elements: Sequence[Element], constants: Container[str]) -> tuple[Compound, ...]:
    """The cylinders and the valves of a network; `constants` are the names of what moves no spool."""
    return (*_cylinders(elements), *_valves(elements, constants))


def _cylinders(elements: Iterable[Element]) -> Iterator[Compound]:
    """Two pistons against the frame on one rod, which push it to opposite sides."""
    pistons = [
        e for e in elements if e.kind.name == "piston" and e.nodes[0] not in REFERENCES and e.nodes[1] in REFERENCES
    ]
    pulling = {e.nodes[3]: e for e in pistons if e.nodes[2] in REFERENCES}
    for head in pistons:
        ring = pulling.get(head.nodes[2])
        # A rod with a chamber on each side has two pressures; the area of each is another label.
        if head.nodes[3] in REFERENCES and ring is not None and ring.nodes[0] != head.nodes[0]:
            del pulling[head.nodes[2]]
            nodes = head.nodes[0], ring.nodes[0], *head.nodes[2:]
            yield Compound(replace(head, kind=replace(head.kind, name=CYLINDER), nodes=nodes), (head, ring))


def _valves(elements: Iterable[Element], constants: Container[str]) -> Iterator[Compound]:
    """Four restrictions round a ring of four nodes, which open in pairs as a signal says: P to A with B to T, P to B with A to T.

    Four that nothing moves are a bridge of restrictions and no valve.
    """
    edges = [e for e in elements if _is_edge(e, constants)]
    leaving: dict[str, list[Element]] = {}
    for edge in edges:
        leaving.setdefault(edge.nodes[0], []).append(edge)
    taken: set[str] = set()
    for supply, supplied in leaving.items():
        for to_a, to_b in permutations(supplied, 2):
            found = [
                (from_a, from_b)
                for from_a in leaving.get(to_a.nodes[1], ())
                for from_b in leaving.get(to_b.nodes[1], ())
                if from_a.nodes[1] == from_b.nodes[1] != supply
                and _law(to_a) is _law(from_b)
                and _law(to_b) is _law(from_a) is not _law(to_a)
            ]
            if found and to_a.nodes[1] != to_b.nodes[1]:
                members = to_a, to_b, *found[0]
                if taken.isdisjoint(member.name for member in members):
                    taken |= {member.name for member in members}
                    nodes = supply, found[0][0].nodes[1], to_a.nodes[1], to_b.nodes[1]
                    kind = replace(KINDS["pressure intensifier"], name=VALVE)
                    yield Compound(replace(to_a, kind=kind, nodes=nodes, law=None), members)


def _is_edge(element: Element, constants: Container[str]) -> bool:
    kind, law = element.kind, element.law
    if kind.role != "resistive" or len(element.nodes) != 2 or kind.domains[0] not in FLUIDS or law is None:
        return False
    return any(name not in constants for name in law.expression.free_symbols - {law.variable})


def _law(edge: Element) -> object:
    return None if edge.law is None else edge.law.expression


def common_name(members: Sequence[Element]) -> str:
    """The part that members belong to, or the words that all their names begin with; the first name where there is neither."""
    owners = {member.name.rpartition(".")[0] for member in members}
    if len(owners) == 1 and "" not in owners:
        return owners.pop()
    words = [member.name.split("_") for member in members]
    shared = [first for first, *others in zip(*words, strict=False) if set(others) <= {first}]
    return "_".join(shared) or members[0].name
