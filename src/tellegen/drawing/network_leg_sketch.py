"""Sketches of bridges: legs side by side between two lines, what joins their middles at half height, sources on the left."""

from itertools import pairwise
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.description.model import Element
from tellegen.description.sketches import Sketch, SketchedBranch
from tellegen.drawing.network_legs import Bridge, Chain, Ladder, Leg, Rung, Step

ARM = 1.05
"""The height of a switch with its wires."""
BESIDE = 0.62
"""Between elements of one arm."""
RUNG, STEP = 0.75, 0.88
"""From a leg or a rung to the next, and the length of an element in a line."""
APART, SPARE = 0.55, 0.15
"""Between the lines to a star, and between the outer ones and the switches."""

MARK = 0.4, 0.55
"""From a leg whose middle is a reference to the wire of the mark, and how far above the line below this ends."""


def bridge_sketch(bridge: Bridge) -> Sketch:
    """Where everything in a bridge stands. A star stands on the right of all legs, or on their left where it feeds them."""
    return _Sketcher(bridge).sketch()


@final
class _Sketcher:
    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.points: dict[str, complex] = {}
        self.nodes: dict[str, str] = {}
        self.wires: list[tuple[str, str]] = []
        self.branches: dict[str, SketchedBranch] = {}
        self.low = ARM
        self.high = ARM + (2 * SPARE + APART * (len(bridge.star) - 1) if bridge.star else 0.0)
        self.top = self.high + ARM
        self.last = ""
        """The end of the line above so far."""
        self.feet: list[str] = []
        self.x = 0.0

    def sketch(self) -> Sketch:
        bridge = self.bridge
        star_leads = bool(bridge.star) and bridge.fed
        self._ladder(_reversed(bridge.left))
        ends: list[str] = []
        if star_leads:
            self.x += self._reach() + RUNG
        for k, leg in enumerate(bridge.legs):
            start, end = self._leg(leg, k)
            if k and bridge.joined and bridge.joined[k - 1]:
                self._chain(bridge.joined[k - 1], ends[-1], start)
            ends.append(end)
            chain = bridge.joined[k] if k < len(bridge.joined) else ()
            self.x += len(chain) * STEP + (RUNG - STEP / 2 if chain else RUNG)
        if bridge.star:
            self._star(ends, self.points[ends[0]].real - self._reach() - RUNG if star_leads else self.x + self._reach())
            self.x += 0.0 if star_leads else self._reach() + RUNG / 2
        self._ladder(bridge.right)
        self.wires += pairwise(sorted(self.feet, key=lambda foot: self.points[foot].real))
        return Sketch(self.points, self.nodes, tuple(self.wires), self.branches)

    def _reach(self) -> float:
        return STEP * max(map(len, self.bridge.star))

    def _point(self, node: str, x: float, y: float) -> str:
        label = f"{node}|{len(self.points)}"
        self.points[label], self.nodes[label] = complex(x, y), node
        return label

    def _element(self, element: Element, one: str, two: str, side: int = 1) -> None:
        """An element between points; its label is above it or, where it is upright, on its left (side 1) or right (-1)."""
        first, second = (one, two) if self.nodes[one] == element.nodes[0] else (two, one)
        way = self.points[second] - self.points[first]
        ahead = 1 if way.real > 1e-9 or way.imag > 1e-9 else -1
        self.branches[element.name] = SketchedBranch((first, second), (0.0,), ahead * side, drawn=True)

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

    def _ladder(self, ladder: Ladder) -> None:
        for k, item in enumerate(ladder):
            following = ladder[k + 1] if k + 1 < len(ladder) else None
            if isinstance(item, Rung):
                self._rung(item.chain)
                self.x += RUNG if not isinstance(following, Step) else 0.0
            else:
                start = self.last or self._hold(item.start, self.x)
                self.x = max(self.points[start].real + STEP, self.x)  # beyond a star, where there is one
                self.last = self._point(item.end, self.x, self.top)
                self._element(item.element, start, self.last)
                self.x += RUNG / 2 if following is None else 0.0

    def _rung(self, chain: Chain) -> None:
        point = self._hold(chain[0].start, self.x)
        for k, step in enumerate(chain, 1):
            lower = self._point(step.end, self.x, self.top * (1 - k / len(chain))) if k < len(chain) else ""
            lower = lower or self._foot(self.x)
            self._element(step.element, point, lower, -1)
            point = lower

    # -- legs ------------------------------------------------------------------------------------------------------------------

    def _leg(self, leg: Leg, k: int) -> tuple[str, str]:
        """A leg with the elements of each arm side by side; gives the points at its middle, on the left and on the right."""
        uppers, lowers = [], []
        for j, element in enumerate(leg.upper):
            top = self._hold(self.bridge.above, self.x + j * BESIDE)
            uppers.append(self._point(leg.middle, self.x + j * BESIDE, self.high))
            self._element(element, top, uppers[-1])
        for j, element in enumerate(leg.lower):
            lowers.append(self._point(leg.middle, self.x + j * BESIDE, self.low))
            self._element(element, lowers[-1], self._foot(self.x + j * BESIDE))
        self.wires += (*pairwise(uppers), *pairwise(lowers))
        if self.bridge.star:
            tap = self._point(leg.middle, self.x, self.high - SPARE - k * APART)
            self.wires += (uppers[0], tap), (tap, lowers[0])
            start = end = tap
        else:
            start, end = uppers[0], max(uppers[-1], lowers[-1], key=lambda point: self.points[point].real)
        self.x += BESIDE * (max(len(uppers), len(lowers)) - 1)
        if leg.middle in REFERENCES:
            self._mark(leg.middle, end)
        return start, end

    def _mark(self, reference: str, end: str) -> None:
        """A wire down beside a leg whose middle is a reference, for its mark."""
        self.x += MARK[0]
        corner = self._point(reference, self.x, self.points[end].imag)
        self.wires += (end, corner), (corner, self._point(reference, self.x, MARK[1]))

    def _chain(self, chain: Chain, start: str, end: str) -> None:
        """One-ports on a level line between two points."""
        one, two = self.points[start], self.points[end]
        point = start
        for k, step in enumerate(chain, 1):
            share = k / len(chain)
            place = one + share * (two - one)
            following = end if k == len(chain) else self._point(step.end, place.real, place.imag)
            self._element(step.element, point, following)
            point = following

    def _star(self, taps: list[str], x: float) -> None:
        """Chains from the middles to a line at `x`, which all share."""
        way = 1 if x > self.points[taps[0]].real else -1
        ends = []
        for chain, tap in zip(self.bridge.star, taps, strict=True):
            y = self.points[tap].imag
            start = self._point(chain[0].start, x - way * self._reach(), y)
            ends.append(self._point(chain[-1].end, x, y))
            self.wires.append((tap, start))
            self._chain(chain, start, ends[-1])
        self.wires += pairwise(ends)


def _reversed(ladder: Ladder) -> Ladder:
    """A ladder from its far end."""
    return tuple(item.reversed if isinstance(item, Step) else item for item in reversed(ladder))
