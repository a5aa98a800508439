"""How the elements of a network form a bridge: what joins the middles of its legs, and what stands between its lines."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.description.model import Element
from tellegen.drawing.network_legs import (
    Bridge,
    Chain,
    Ladder,
    Leg,
    Rung,
    Step,
    fed_lines,
    legs_between,
    switched_lines,
)
from tellegen.drawing.symbols_twoports import SHAFTS

FEWEST = 2
"""Legs that make a bridge."""
TALLEST = 2
"""Elements over each other between the lines."""


def bridge_of(elements: Iterable[Element]) -> Bridge | None:
    """The bridge that one-ports of wires or pipes form; None where they do not, or where something else is tied to it."""
    described = tuple(elements)
    if any(len(e.nodes) != 2 or e.nodes[0] == e.nodes[1] or e.kind.domains[0] in SHAFTS for e in described):
        return None
    for above, below, switched in (*switched_lines(described), *fed_lines(described)):
        for legs in (switched, legs_between(described, above, below)):
            bridge = _Sorter(described, (above, below), legs).bridge() if len(legs) >= FEWEST else None
            if bridge is not None and (switched or _is_compound(bridge)):
                return bridge
    return None


def _is_compound(bridge: Bridge) -> bool:
    """Whether something is in series or parallel in it: a bridge of single elements that do not switch is a plain grid."""
    chains, arms = (*bridge.joined, *bridge.star), (arm for leg in bridge.legs for arm in (leg.upper, leg.lower))
    return any(len(chain) > 1 for chain in chains) or any(len(arm) > 1 for arm in arms)


@final
@dataclass(slots=True)
class _Part:
    """What hangs together without the lines and the middles, and those of these that it is tied to."""

    elements: list[Element] = field(default_factory=list)
    ends: dict[str, None] = field(default_factory=dict)

    @property
    def has_source(self) -> bool:
        return any(element.kind.role == "source" for element in self.elements)


@final
class _Sorter:
    def __init__(self, elements: tuple[Element, ...], lines: tuple[str, str], legs: tuple[Leg, ...]) -> None:
        self.lines, self.legs = lines, legs
        own = {element.name for leg in legs for element in (*leg.upper, *leg.lower)}
        self.rest = [element for element in elements if element.name not in own]
        self.middles = {leg.middle: leg for leg in legs}
        self.joined: tuple[Chain, ...] = ()
        self.star: tuple[Chain, ...] = ()
        self.sides: tuple[list[Ladder], list[Ladder]] = ([], [])
        self.fed = False

    def _parts(self) -> list[_Part]:
        closed = {*self.lines, *self.middles}
        parts: list[_Part] = []
        waiting = list(self.rest)
        while waiting:
            part, frontier = _Part([waiting.pop(0)]), 0
            while frontier < len(part.elements):
                element, frontier = part.elements[frontier], frontier + 1
                part.ends |= dict.fromkeys(node for node in element.nodes if node in closed)
                inner = {*element.nodes} - closed
                part.elements += (other for other in waiting if not inner.isdisjoint(other.nodes))
                waiting = [other for other in waiting if inner.isdisjoint(other.nodes)]
            parts.append(part)
        return parts

    def bridge(self) -> Bridge | None:
        """The bridge with all that is tied to it; None where something has no place."""
        parts = self._parts()
        between = [part for part in parts if part.ends.keys() <= self.middles.keys()]
        across = [part for part in parts if part.ends.keys() == {*self.lines}]
        one_way = all(e.kind.behaviour == "one way" for leg in self.legs for e in (*leg.upper, *leg.lower))
        fed = any(part.has_source for part in between)
        self.fed = fed and (one_way or not any(part.has_source for part in across))
        if not between or len(between) + len(across) < len(parts):
            return None
        placed = self._star(between[0]) if len(between) == 1 and len(between[0].ends) > FEWEST else self._join(between)
        if not (placed and self._stand(across)):
            return None
        left, right = (tuple(item for ladder in side for item in ladder) for side in self.sides)
        return Bridge(*self.lines, self.legs, self.joined, self.star, left, right, self.fed)

    def _star(self, part: _Part) -> bool:
        """A chain from each middle to the node that all share."""
        chains = [_chain(part.elements, leg.middle) for leg in self.legs]
        centres = {chain[-1].end for chain in chains if chain}
        self.star = tuple(chains)
        whole = sum(map(len, chains)) == len(part.elements)
        marked = REFERENCES & (centres | self.middles.keys())
        return all(chains) and whole and len(centres) == 1 and not marked

    def _join(self, parts: list[_Part]) -> bool:
        """Chains between middles, with the legs in the order in which they follow each other; whether there is one."""
        near: dict[str, dict[str, _Part]] = {middle: {} for middle in self.middles}
        for part in parts:
            if len(part.ends) != FEWEST:
                return False
            one, two = part.ends
            if two in near[one]:
                return False
            near[one][two] = near[two][one] = part
        order: list[str] = []
        joined: list[Chain] = []
        for start in sorted(near, key=lambda middle: (len(near[middle]), middle in REFERENCES)):
            node: str | None = start if start not in order else None
            joined += [()] if node and order else []
            while node is not None:
                order.append(node)
                onward = [other for other in near[node] if other not in order]
                joined += (_chain(near[node][other].elements, node) for other in onward[:1])
                node = next(iter(onward), None)
        self.legs, self.joined = tuple(self.middles[node] for node in order), tuple(joined)
        return sum(map(len, joined)) == sum(len(part.elements) for part in parts)

    def _stand(self, parts: list[_Part]) -> bool:
        """What is between the lines: what feeds them on the left, with what is beside it; all else on the right."""
        ladders = [(_ladder(part.elements, *self.lines), part.has_source and not self.fed) for part in parts]
        is_fed = any(feeds for _, feeds in ladders)
        # From the legs outwards: single rungs, sources, then what leads on.
        for ladder, feeds in sorted(ladders, key=lambda pair: (len(pair[0]) > 1, pair[1], _height(pair[0]))):
            self.sides[not (feeds or (is_fed and len(ladder) == 1))].append(ladder)
        longer = [sum(len(ladder) > 1 for ladder in side) for side in self.sides]
        return all(ladder for ladder, _ in ladders) and max(longer) <= 1


def _chain(elements: list[Element], start: str) -> Chain:
    """The one-ports that follow each other from a node on, up to one where not exactly one goes on."""
    steps: list[Step] = []
    node = start
    while len(onward := [e for e in elements if node in e.nodes and (not steps or e is not steps[-1].element)]) == 1:
        (element,) = onward
        if any(element is step.element for step in steps):
            break
        steps.append(Step(element, node, _other(element, node)))
        node = steps[-1].end
    return tuple(steps)


def _ladder(elements: list[Element], above: str, below: str) -> Ladder:
    """Rungs and steps away from the line above; none where more than one step leads on from a node."""
    chain = _chain(elements, above)
    if len(chain) == len(elements) <= TALLEST and (
        len(chain) == 1 or not any(step.element.kind.role == "source" for step in chain)
    ):
        return (Rung(chain),)
    found: list[Rung | Step] = []
    left, node = list(elements), above
    while left:
        found += (Rung((Step(element, node, below),)) for element in left if {*element.nodes} == {node, below})
        left = [element for element in left if {*element.nodes} != {node, below}]
        onward = [element for element in left if node in element.nodes]
        if len(onward) != min(1, len(left)):
            return ()
        for element in onward:
            step = Step(element, node, _other(element, node))
            found.append(step)
            left, node = [other for other in left if other is not element], step.end
    return tuple(found)


def _other(element: Element, node: str) -> str:
    return element.nodes[0] if element.nodes[1] == node else element.nodes[1]


def _height(ladder: Ladder) -> int:
    return max((len(item.chain) for item in ladder if isinstance(item, Rung)), default=0)
