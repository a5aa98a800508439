"""Bridges such as inverters and rectifiers: legs between two lines, how they are found in a network, and the sketch that places
them.

A leg is a node with elements to both lines; it is called its middle. What else is there leads from a middle to the next one, joins
all of them in a star, or stands between the lines.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise, permutations
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.drawing.schematic.plan import SchematicLabels, SchematicPlan
from tellegen.drawing.schematic.rails import SWITCHED, neighbours, rails_of
from tellegen.drawing.schematic.sketch import AbstractSketchMaker, has_one_ports_alone, one_ports, sketch_shapes
from tellegen.drawing.schematic.symbols import MECHANICAL_DOMAINS
from tellegen.model.model import Element, Sketch
from tellegen.scenes.ink import ink_box
from tellegen.scenes.scene import Shape

ENDS, MOST = 2, 4
"""The lines of a bridge, and how many pairs of nodes are tried as these."""


@final
@dataclass(frozen=True, slots=True)
class SeriesElement:
    """A one-port on the way from a node to another."""

    element: Element
    start: str
    end: str


SeriesChain = tuple[SeriesElement, ...]
"""One-ports in series."""


BridgeSide = tuple[SeriesChain | SeriesElement, ...]
"""What follows along the line above, away from the legs: rungs, which are chains down to the line below, and steps in it."""


@final
@dataclass(frozen=True, slots=True)
class Leg:
    """A middle with what leads up and down from there."""

    middle: str
    upper: tuple[Element, ...]
    lower: tuple[Element, ...]


BridgeLines = tuple[str, str, tuple[Leg, ...]]
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
    joined: tuple[SeriesChain, ...] = ()
    star: tuple[SeriesChain, ...] = ()
    left: BridgeSide = ()
    right: BridgeSide = ()
    fed: bool = False

    @property
    def is_diamond(self) -> bool:
        """Whether it is a rectifier of four diodes with what feeds it between the middles, none of which is a reference."""
        arms = [arm for leg in self.legs for arm in (leg.upper, leg.lower)]
        single = all(len(arm) == 1 and arm[0].kind.behaviour == "one way" for arm in arms)
        middles = {leg.middle for leg in self.legs}
        return single and len(arms) == 4 and len(self.joined) == 1 and not self.star and middles.isdisjoint(REFERENCES)


def lines_of_switches(elements: tuple[Element, ...]) -> list[BridgeLines]:
    """The nodes that may be the lines above and below, with the legs of switches between them; those with most legs come first."""
    near = neighbours((e.nodes[0], e.nodes[1]) for e in elements if e.kind.behaviour in SWITCHED)
    # A middle has switches to two nodes; the pair of nodes that most middles share are the lines.
    counts = Counter(pair for others in near.values() if len(pair := frozenset(others)) == ENDS)
    # Both ways round: which of the two is above is asked of diodes and rails afterwards.
    pairs = [ends for pair, _ in counts.most_common(MOST) for ends in permutations(sorted(pair))]
    rails = rails_of(elements)
    found = [
        (above, below, legs)
        for above, below in pairs
        if (legs := tuple(leg for leg in legs_between(elements, above, below) if _switches(leg)))
        and _stands(legs, above, below, rails)
    ]
    # Most legs first; of equal ones a line below that is a reference.
    return sorted(found, key=lambda lines: (-len(lines[2]), lines[1] not in REFERENCES))


def lines_of_sources(elements: tuple[Element, ...]) -> list[BridgeLines]:
    """The nodes of sources that stand on a rail: legs between them need no switches."""
    rails = rails_of(elements)
    ends = dict.fromkeys((e.nodes[0], e.nodes[1]) for e in elements if e.kind.role == "source")
    fed: list[BridgeLines] = [(above, below, ()) for above, below in ends if above not in rails and below in rails]
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
    # Current through a bridge falls on the page: a diode that led down would stand against its own symbol.
    return all(ways) and above not in REFERENCES and (bool(ways) or below in rails)


FEWEST = 2
"""Legs that make a bridge."""
TALLEST = 2
"""Elements over each other between the lines."""


def find_bridge(elements: Iterable[Element]) -> Bridge | None:
    """The bridge that one-ports of wires or pipes form; None where they do not, or where something else is tied to it."""
    described = tuple(elements)
    if any(len(e.nodes) != 2 or e.nodes[0] == e.nodes[1] or e.kind.domains[0] in MECHANICAL_DOMAINS for e in described):
        return None
    for above, below, switched in (*lines_of_switches(described), *lines_of_sources(described)):
        # The legs of switches alone, then every node between the lines as a leg, such as that of a divided capacitor.
        for legs in (switched, legs_between(described, above, below)):
            bridge = _BridgeFinder(described, (above, below), legs).bridge() if len(legs) >= FEWEST else None
            # A bridge of four single resistors is a mesh like others; only what is compound gains by lines.
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
class _BridgeFinder:
    def __init__(self, elements: tuple[Element, ...], lines: tuple[str, str], legs: tuple[Leg, ...]) -> None:
        self.lines, self.legs = lines, legs
        own = {element.name for leg in legs for element in (*leg.upper, *leg.lower)}
        self.rest = [element for element in elements if element.name not in own]
        self.middles = {leg.middle: leg for leg in legs}
        self.joined: tuple[SeriesChain, ...] = ()
        self.star: tuple[SeriesChain, ...] = ()
        self.sides: tuple[list[BridgeSide], list[BridgeSide]] = ([], [])
        self.fed = False

    def _parts(self) -> list[_Part]:
        closed = {*self.lines, *self.middles}
        parts: list[_Part] = []
        # What is left falls into parts that touch each other at lines and middles alone.
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
        # Anything else, such as a part from a middle to a line, has no place in this picture.
        between = [part for part in parts if part.ends.keys() <= self.middles.keys()]
        across = [part for part in parts if part.ends.keys() == {*self.lines}]
        one_way = all(e.kind.behaviour == "one way" for leg in self.legs for e in (*leg.upper, *leg.lower))
        # Diodes only pass on what comes from somewhere: a source between the middles feeds them.
        fed = any(part.has_source for part in between)
        self.fed = fed and (one_way or not any(part.has_source for part in across))
        if not between or len(between) + len(across) < len(parts):
            return None
        placed = self._star(between[0]) if len(between) == 1 and len(between[0].ends) > FEWEST else self._join(between)
        if not (placed and self._stand(across)):
            return None
        left, right = (tuple(item for ladder in side for item in ladder) for side in self.sides)
        above, below = self.lines
        return Bridge(above, below, self.legs, joined=self.joined, star=self.star, left=left, right=right, fed=self.fed)

    def _star(self, part: _Part) -> bool:
        """A chain from each middle to the node that all share."""
        chains = [_chain(part.elements, leg.middle) for leg in self.legs]
        centres = {chain[-1].end for chain in chains if chain}
        self.star = tuple(chains)
        whole = sum(map(len, chains)) == len(part.elements)
        # A reference in the star would need its mark in the middle of the wires.
        marked = REFERENCES & (centres | self.middles.keys())
        return all(chains) and whole and len(centres) == 1 and not marked

    def _join(self, parts: list[_Part]) -> bool:
        """Chains between middles, with the legs in the order in which they follow each other; whether there is one."""
        near: dict[str, dict[str, _Part]] = {middle: {} for middle in self.middles}
        for part in parts:
            # A part at three middles is no way from one leg to the next.
            if len(part.ends) != FEWEST:
                return False
            one, two = part.ends
            if two in near[one]:
                return False
            near[one][two] = near[two][one] = part
        order: list[str] = []
        joined: list[SeriesChain] = []
        # From an end of a row of legs: started in the middle, half of the row would be left over.
        for start in sorted(near, key=lambda middle: (len(near[middle]), middle in REFERENCES)):
            node: str | None = start if start not in order else None
            joined += [()] if node and order else []
            while node is not None:
                order.append(node)
                onward = [other for other in near[node] if other not in order]
                joined += (_chain(near[node][other].elements, node) for other in onward[:1])
                node = next(iter(onward), None)
        self.legs, self.joined = tuple(self.middles[node] for node in order), tuple(joined)
        # Nothing may be left over: a ring of legs has one part too many for a row.
        return sum(map(len, joined)) == sum(len(part.elements) for part in parts)

    def _stand(self, parts: list[_Part]) -> bool:
        """What is between the lines: what feeds them on the left, with what is beside it; all else on the right."""
        ladders = [(_ladder(part.elements, *self.lines), part.has_source and not self.fed) for part in parts]
        is_fed = any(feeds for _, feeds in ladders)
        # From the legs outwards: single rungs, sources, then what leads on.
        for ladder, feeds in sorted(ladders, key=lambda pair: (len(pair[0]) > 1, pair[1], _height(pair[0]))):
            self.sides[not (feeds or (is_fed and len(ladder) == 1))].append(ladder)
        # The line above can lead on to one ladder on each side, and no further.
        longer = [sum(len(ladder) > 1 for ladder in side) for side in self.sides]
        return all(ladder for ladder, _ in ladders) and max(longer) <= 1


def _chain(elements: list[Element], start: str) -> SeriesChain:
    """The one-ports that follow each other from a node on, up to one where not exactly one goes on."""
    steps: list[SeriesElement] = []
    node = start
    while len(onward := [e for e in elements if node in e.nodes and (not steps or e is not steps[-1].element)]) == 1:
        (element,) = onward
        # Round in a circle.
        if any(element is step.element for step in steps):
            break
        steps.append(SeriesElement(element, node, _other(element, node)))
        node = steps[-1].end
    return tuple(steps)


def _ladder(elements: list[Element], above: str, below: str) -> BridgeSide:
    """Rungs and steps away from the line above; none where more than one step leads on from a node."""
    chain = _chain(elements, above)
    # A source in series with something leads into the line: it is a step there, not the top of a rung.
    if len(chain) == len(elements) <= TALLEST and (
        len(chain) == 1 or not any(step.element.kind.role == "source" for step in chain)
    ):
        return (chain,)
    found: list[SeriesChain | SeriesElement] = []
    left, node = list(elements), above
    while left:
        found += ((SeriesElement(element, node, below),) for element in left if {*element.nodes} == {node, below})
        left = [element for element in left if {*element.nodes} != {node, below}]
        onward = [element for element in left if node in element.nodes]
        # The line above would have to fork.
        if len(onward) != min(1, len(left)):
            return ()
        for element in onward:
            step = SeriesElement(element, node, _other(element, node))
            found.append(step)
            left, node = [other for other in left if other is not element], step.end
    return tuple(found)


def _other(element: Element, node: str) -> str:
    return element.nodes[0] if element.nodes[1] == node else element.nodes[1]


def _height(ladder: BridgeSide) -> int:
    return max((len(item) for item in ladder if isinstance(item, tuple)), default=0)


ARM = 1.05
"""The height of a switch with its wires."""
BESIDE = 0.62
"""Between elements of one arm."""
RUNG, STEP = 0.75, 0.88
"""From a leg or a rung to the next, and the length of an element in a line."""
APART, SPARE = 0.55, 0.15
"""Between the lines to a star, and between the outer ones and the switches."""

DIAMOND = 1.25
"""Half the width and half the height of a rectifier at least, which has a diode in each side."""
MARK = 0.4, 0.55
"""From a leg whose middle is a reference to the wire of the mark, and how far above the line below this ends."""


@final
class _BridgeSketch(AbstractSketchMaker):
    """Where everything in a bridge stands. A star stands on the right of all legs, or on their left where it feeds them."""

    def __init__(self, bridge: Bridge) -> None:
        super().__init__()
        self.bridge = bridge
        self.low = ARM
        # Between the arms there is room for the lines to a star, one for each leg and apart from each other.
        self.high = ARM + (2 * SPARE + APART * (len(bridge.star) - 1) if bridge.star else 0.0)
        self.top = self.high + ARM
        self.last = ""
        """The end of the line above so far."""
        self.feet: list[str] = []
        self.x = 0.0

    def sketch(self) -> Sketch:
        bridge = self.bridge
        if bridge.is_diamond:
            return self._diamond()
        star_leads = bool(bridge.star) and bridge.fed
        self._ladder(_reversed(bridge.left))
        ends: list[str] = []
        if star_leads:
            self.x += self._reach() + RUNG
        for k, leg in enumerate(bridge.legs):
            start, end = self._leg(leg, k)
            # A chain is drawn when both of its ends have places.
            if k and bridge.joined and bridge.joined[k - 1]:
                self._chain(bridge.joined[k - 1], ends[-1], start)
            ends.append(end)
            chain = bridge.joined[k] if k < len(bridge.joined) else ()
            self.x += len(chain) * STEP + (RUNG - STEP / 2 if chain else RUNG)
        if bridge.star:
            self._star(ends, self.points[ends[0]].real - self._reach() - RUNG if star_leads else self.x + self._reach())
            self.x += 0.0 if star_leads else self._reach() + RUNG / 2
        return self._finished()

    def _finished(self) -> Sketch:
        self._ladder(self.bridge.right)
        # The line below is drawn last: only now is known what all stands on it, from left to right.
        self.wires += pairwise(sorted(self.feet, key=lambda foot: self.points[foot].real))
        return self.made()

    def _diamond(self) -> Sketch:
        """A rectifier as books draw it: a diode in each side, what feeds it across, the lines from the corners above and below."""
        (left, right), (chain,) = self.bridge.legs, self.bridge.joined
        rise = max(DIAMOND, (len(chain) * STEP + 2 * SPARE) / 2)
        self.top = 2 * rise
        self._ladder(_reversed(self.bridge.left))
        upper = self._hold(self.bridge.above, self.x + rise)
        lower = self._foot(self.x + rise)
        corners = [self._point(leg.middle, x, rise) for leg, x in ((left, self.x), (right, self.x + 2 * rise))]
        # Labels stand outside, on the left of the left corner and on the right of the right one.
        for leg, corner, side in zip((left, right), corners, (1, -1), strict=True):
            self.element(leg.upper[0], corner, upper, side)
            self.element(leg.lower[0], corner, lower, side)
        self._chain(chain, *corners)
        self.x += 2 * rise + RUNG / 2
        return self._finished()

    def _reach(self) -> float:
        return STEP * max(map(len, self.bridge.star))

    def _point(self, node: str, x: float, y: float) -> str:
        return self.point(f"{node}|{len(self.points)}", complex(x, y), node)

    # -- along the lines -------------------------------------------------------------------------------------------------------

    def _hold(self, node: str, x: float) -> str:
        """A point of the line above, joined to the one before it."""
        point = self._point(node, x, self.top)
        if self.last:
            self.wires.append((self.last, point))
        self.last = point
        return point

    def _foot(self, x: float) -> str:
        self.feet.append(self._point(self.bridge.below, x, 0.0))
        return self.feet[-1]

    def _ladder(self, ladder: BridgeSide) -> None:
        for k, item in enumerate(ladder):
            following = ladder[k + 1] if k + 1 < len(ladder) else None
            if isinstance(item, tuple):
                self._rung(item)
                self.x += RUNG if not isinstance(following, SeriesElement) else 0.0
            else:
                start = self.last or self._hold(item.start, self.x)
                # Beyond a star, where there is one.
                self.x = max(self.points[start].real + STEP, self.x)  # beyond a star, where there is one
                self.last = self._point(item.end, self.x, self.top)
                self.element(item.element, start, self.last)
                self.x += RUNG / 2 if following is None else 0.0

    def _rung(self, chain: SeriesChain) -> None:
        point = self._hold(chain[0].start, self.x)
        for k, step in enumerate(chain, 1):
            lower = self._point(step.end, self.x, self.top * (1 - k / len(chain))) if k < len(chain) else ""
            lower = lower or self._foot(self.x)
            self.element(step.element, point, lower, -1)
            point = lower

    # -- legs ------------------------------------------------------------------------------------------------------------------

    def _leg(self, leg: Leg, k: int) -> tuple[str, str]:
        """A leg with the elements of each arm side by side; gives the points at its middle, on the left and on the right."""
        uppers, lowers = [], []
        for j, element in enumerate(leg.upper):
            top = self._hold(self.bridge.above, self.x + j * BESIDE)
            uppers.append(self._point(leg.middle, self.x + j * BESIDE, self.high))
            self.element(element, top, uppers[-1])
        for j, element in enumerate(leg.lower):
            lowers.append(self._point(leg.middle, self.x + j * BESIDE, self.low))
            self.element(element, lowers[-1], self._foot(self.x + j * BESIDE))
        self.wires += (*pairwise(uppers), *pairwise(lowers))
        if self.bridge.star:
            # Each leg has its tap lower than the one before, so that the lines to the star run beside each other.
            tap = self._point(leg.middle, self.x, self.high - SPARE - k * APART)
            self.wires += (uppers[0], tap), (tap, lowers[0])
            start = end = tap
        else:
            start, end = uppers[0], max(uppers[-1], lowers[-1], key=lambda point: self.points[point].real)
        # Switches with their diodes stand side by side: the next leg begins behind the widest arm.
        self.x += BESIDE * (max(len(uppers), len(lowers)) - 1)
        if leg.middle in REFERENCES:
            self._mark(leg.middle, end)
        return start, end

    def _mark(self, reference: str, end: str) -> None:
        """A wire down beside a leg whose middle is a reference, for its mark."""
        self.x += MARK[0]
        corner = self._point(reference, self.x, self.points[end].imag)
        self.wires += (end, corner), (corner, self._point(reference, self.x, MARK[1]))

    def _chain(self, chain: SeriesChain, start: str, end: str) -> None:
        """One-ports on a level line between two points."""
        one, two = self.points[start], self.points[end]
        point = start
        for k, step in enumerate(chain, 1):
            share = k / len(chain)
            place = one + share * (two - one)
            following = end if k == len(chain) else self._point(step.end, place.real, place.imag)
            self.element(step.element, point, following)
            point = following

    def _star(self, taps: list[str], x: float) -> None:
        """Chains from the middles to a line at `x`, which all share."""
        # A star on the left feeds the legs, and its chains read from right to left.
        way = 1 if x > self.points[taps[0]].real else -1
        ends = []
        for chain, tap in zip(self.bridge.star, taps, strict=True):
            y = self.points[tap].imag
            start = self._point(chain[0].start, x - way * self._reach(), y)
            ends.append(self._point(chain[-1].end, x, y))
            self.wires.append((tap, start))
            self._chain(chain, start, ends[-1])
        self.wires += pairwise(ends)


def _reversed(ladder: BridgeSide) -> BridgeSide:
    """A ladder from its far end."""
    return tuple(
        SeriesElement(item.element, item.end, item.start) if isinstance(item, SeriesElement) else item
        for item in reversed(ladder)
    )


def bridge_shapes(plan: SchematicPlan, texts: SchematicLabels, room: float) -> list[Shape]:
    """A part that is a bridge of legs between two lines; nothing where it is none, or where that would be too wide."""
    hanging, linking = one_ports(plan)
    elements = linking + hanging
    bridge = find_bridge(elements) if has_one_ports_alone(plan) else None
    shapes = sketch_shapes(elements, _BridgeSketch(bridge).sketch(), texts) if bridge is not None else []
    return shapes if shapes and ink_box(shapes).width <= room else []
