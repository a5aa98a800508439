"""Elements with several ports in a schematic: which side of the symbol each terminal is on, and where."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from tellegen.description.model import Element
from tellegen.drawing.geometry import Point
from tellegen.drawing.network_plan import Link, Station
from tellegen.drawing.symbols_twoports import BOTTOM, MID, RAIL, ROW, TOP, TwoPort, box_of

LANE = 14.0
"""Between wires that run beside each other."""

Edge = Literal["left", "right", "crown"]


@final
@dataclass(frozen=True, slots=True)
class Pin:
    """A terminal: where it is about the middle of the symbol, where its wire meets the line of nodes, and on which side."""

    at: Point
    meets: Point
    edge: Edge


@final
@dataclass(frozen=True, slots=True)
class Box:
    """An element with several ports about its middle; `pins` by terminal, `rails` the terminals at the reference."""

    element: Element
    symbol: TwoPort
    mirrored: bool
    pins: Mapping[int, Pin]
    rails: Mapping[int, Pin]

    @property
    def left(self) -> float:
        """From its middle to the left end of its ink."""
        return self.symbol.right if self.mirrored else self.symbol.left

    @property
    def right(self) -> float:
        """From its middle to the right end of its ink."""
        return self.symbol.left if self.mirrored else self.symbol.right


def make_box(station: Station, links: list[Link], place: Mapping[str, int], rows: Mapping[str, float], width: float) -> Box:
    """The box of a station; `place` and `rows` are the number and the height of each station, `width` is that of the label."""
    assert station.element is not None, "a node has no ports"
    if station.symbol is not None:
        return _with_symbol(station.element, station.symbol, place)
    return _plain(station, links, place, rows, width)


def _with_symbol(element: Element, symbol: TwoPort, place: Mapping[str, int]) -> Box:
    mirrored = place[element.nodes[0]] > place[element.nodes[2]]
    pins: dict[int, Pin] = {}
    rails: dict[int, Pin] = {}
    for terminal, (node, pin) in enumerate(zip(element.nodes, symbol.pins, strict=True)):
        if pin is None:
            continue
        x, y = (-pin[0], pin[1]) if mirrored else pin
        meets = x, {TOP: ROW, BOTTOM: RAIL}.get(y, y)
        edge: Edge = "left" if (terminal < 2) != mirrored else "right"  # noqa: PLR2004
        (pins if node in place else rails)[terminal] = Pin((x, y), meets, edge)
    return Box(element, symbol, mirrored, pins, rails)


def _plain(station: Station, links: list[Link], place: Mapping[str, int], rows: Mapping[str, float], width: float) -> Box:
    """A box: the nearest node on each side at its own height, the others from the top."""
    own = place[station.key]
    before = [link for link in links if place[link.second] < own]
    after = [link for link in links if place[link.second] > own]
    sides = [
        [max(before, key=lambda link: place[link.second])] if before else [],
        [min(after, key=lambda link: place[link.second])] if after else [],
    ]
    beside = [link for side in sides for link in side]
    crown = [link for link in links if link not in beside]
    crown.sort(key=lambda link: (place[link.second] > own, place[link.second] if place[link.second] > own else -place[link.second]))
    crown.sort(key=lambda link: place[link.second] > own)
    left, right = ([rows[link.second] for link in side] for side in sides)
    half = max(24.0, width / 2 + 8, (len(crown) + 1) * LANE / 2)
    symbol = box_of((tuple(left), tuple(right)), half, len(crown), LANE)
    pins: dict[int, Pin] = {}
    edges: list[Edge] = [*("left" for _ in left), *("right" for _ in right), *("crown" for _ in crown)]
    for link, at, edge in zip([*beside, *crown], symbol.pins, edges, strict=True):
        assert at is not None, "all terminals of a plain box are drawn"
        pins[link.terminal] = Pin(at, at, edge)
    assert station.element is not None, "a node has no ports"
    return Box(station.element, symbol, False, pins, {})


MIDDLE = MID
"""The height of the middle of a box."""
