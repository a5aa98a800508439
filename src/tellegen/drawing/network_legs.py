"""Bridges of a schematic: legs of switches between a line above and one below, with loads or sources between their middles.

A leg is a node with elements to both lines; it is called its middle. What else is there leads from a middle to the next one, joins
all of them in a star, or stands between the lines.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.description.model import Element
from tellegen.drawing.network_rails import SWITCHED, rails_of

ENDS, MOST = 2, 4
"""The lines of a bridge, and how many pairs of nodes are tried as these."""


@final
@dataclass(frozen=True, slots=True)
class Step:
    """A one-port on the way from a node to another."""

    element: Element
    start: str
    end: str

    @property
    def reversed(self) -> "Step":
        """The same on the way back."""
        return Step(self.element, self.end, self.start)


Chain = tuple[Step, ...]
"""One-ports in series."""


@final
@dataclass(frozen=True, slots=True)
class Rung:
    """What stands between a node of the line above and the line below."""

    chain: Chain


Ladder = tuple[Rung | Step, ...]
"""What follows along the line above, away from the legs: rungs below it and steps in it."""


@final
@dataclass(frozen=True, slots=True)
class Leg:
    """A middle with what leads up and down from there."""

    middle: str
    upper: tuple[Element, ...]
    lower: tuple[Element, ...]


Lines = tuple[str, str, tuple[Leg, ...]]
"""The nodes of a line above and one below, with the legs of switches between them."""


@final
@dataclass(frozen=True, slots=True)
class Bridge:
    """Legs from left to right between two lines; `joined` are the chains from the middle of each to that of the next, or nothing.

    `star` has a chain for each leg, from its middle to the node that all share; none where there is no star.
    `fed` says whether sources between the middles feed it, as in a rectifier.
    """

    above: str
    below: str
    legs: tuple[Leg, ...]
    joined: tuple[Chain, ...] = ()
    star: tuple[Chain, ...] = ()
    left: Ladder = ()
    right: Ladder = ()
    fed: bool = False


def switched_lines(elements: tuple[Element, ...]) -> list[Lines]:
    """The nodes that may be the lines above and below, with the legs of switches between them; those with most legs come first."""
    near: dict[str, dict[str, None]] = {}
    for element in elements:
        if element.kind.behaviour in SWITCHED:
            for one, two in (element.nodes, element.nodes[::-1]):
                near.setdefault(one, {})[two] = None
    counts = Counter(frozenset(others) for others in near.values() if len(others) == ENDS)
    pairs = [ends for pair, _ in counts.most_common(MOST) for ends in permutations(sorted(pair))]
    rails = rails_of(elements)
    found = [
        (above, below, legs)
        for above, below in pairs
        if (legs := tuple(leg for leg in legs_between(elements, above, below) if _switches(leg)))
        and _stands(legs, above, below, rails)
    ]
    return sorted(found, key=lambda lines: (-len(lines[2]), lines[1] not in REFERENCES))


def fed_lines(elements: tuple[Element, ...]) -> list[Lines]:
    """The nodes of sources that stand on a rail: legs between them need no switches."""
    rails = rails_of(elements)
    ends = dict.fromkeys((e.nodes[0], e.nodes[1]) for e in elements if e.kind.role == "source")
    fed: list[Lines] = [(above, below, ()) for above, below in ends if above not in rails and below in rails]
    return fed[:MOST]


def legs_between(elements: tuple[Element, ...], above: str, below: str) -> tuple[Leg, ...]:
    """The nodes from which elements lead to both lines."""
    arms: dict[str, tuple[list[Element], list[Element]]] = {}
    for element in elements:
        for node, line in (element.nodes, element.nodes[::-1]):
            if line in (above, below) and node not in (above, below):
                arms.setdefault(node, ([], []))[line == below].append(element)
    return tuple(Leg(node, tuple(up), tuple(down)) for node, (up, down) in arms.items() if up and down)


def _switches(leg: Leg) -> bool:
    return all(any(element.kind.behaviour in SWITCHED for element in arm) for arm in (leg.upper, leg.lower))


def _stands(legs: tuple[Leg, ...], above: str, below: str, rails: frozenset[str]) -> bool:
    """Whether the right line is above: what passes in one direction only leads up; where there is no such thing a rail is below."""
    ways = [
        element.nodes == ends
        for leg in legs
        for arm, ends in ((leg.upper, (leg.middle, above)), (leg.lower, (below, leg.middle)))
        for element in arm
        if element.kind.behaviour == "one way"
    ]
    return all(ways) and above not in REFERENCES and (bool(ways) or below in rails)
