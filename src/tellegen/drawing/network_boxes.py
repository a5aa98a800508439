"""Elements with several ports in a schematic: which side of the symbol each terminal is on, and where its label stands."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.domains import REFERENCES
from tellegen.description.model import Element
from tellegen.drawing.geometry import Point
from tellegen.drawing.network_bodies import CLEAR
from tellegen.drawing.network_plan import Link, Station
from tellegen.drawing.symbols_twoports import BOTTOM, MID, RAIL, ROW, TOP, TwoPort, box_of, epicyclic

LANE = 14.0
"""Between wires that run beside each other."""

Edge = Literal["left", "right", "crown"]
EDGES: tuple[Edge, ...] = ("left", "right", "crown")


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
    """An element with several ports about its middle; `pins` by terminal, `rails` the terminals at the reference.

    It takes `before` and `after` of the line of nodes, and reaches up to `top`, label included.
    """

    element: Element
    symbol: TwoPort
    mirrored: bool
    pins: Mapping[int, Pin]
    rails: Mapping[int, Pin]
    text: str
    text_at: Point
    before: float
    after: float
    top: float


Places = Mapping[str, int]
"""The number of each station on the line."""


def make_box(
    station: Station, links: list[Link], place: Places, rows: Mapping[str, float], label: tuple[str, float, float]
) -> Box:
    """The box of a station. `rows` are the heights of nodes; `label` is its text with its extent along the line and across."""
    assert station.element is not None, "a node has no ports"
    if station.symbol is not None:
        left, right = (next(node for node in pair if node in place) for pair in _pairs(station.element))
        # Between its nodes each side faces its own; with both on one side, the nearer one is faced.
        own = place[station.key]
        between = (place[left] < own) != (place[right] < own)
        mirrored = place[left] > place[right] if between else place[left] < place[right]
        symbol = (station.symbol.mirrored or station.symbol) if mirrored else station.symbol
        pins, rails = _pins(station.element, symbol, place, mirrored=mirrored)
        return _labelled(station.element, symbol, mirrored, pins, rails, label)
    symbol, pins = _plain(station, links, place, rows, label[1])
    return _labelled(station.element, symbol, False, pins, _feet(station.element, symbol, place), label)


def _pairs(element: Element) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return element.nodes[:2], element.nodes[2:]


def _labelled(
    element: Element,
    symbol: TwoPort,
    mirrored: bool,
    pins: dict[int, Pin],
    rails: dict[int, Pin],
    label: tuple[str, float, float],
) -> Box:
    text, along, across = label
    before, after = (symbol.right, symbol.left) if mirrored else (symbol.left, symbol.right)
    top, at = -symbol.up, (0.0, MID)
    match symbol.caption:
        case (x, y):
            before, after = (max(before, x + along), after) if mirrored else (before, max(after, x + along))
            at, top = ((-1 if mirrored else 1) * (x + along / 2), y - CLEAR - across / 2), min(top, y - CLEAR - across)
        case "above":
            before, after = max(before, along / 2), max(after, along / 2)
            at, top = (0.0, top - CLEAR - across / 2), top - CLEAR - across
            if top > ROW - CLEAR - across and symbol.up > -TOP - 1:
                at, top = (0.0, ROW - CLEAR - across / 2), ROW - CLEAR - across
        case "left" | "right":
            if (symbol.caption == "left") != mirrored:
                at, before = (-before - CLEAR - along / 2, MID), before + CLEAR + along
            else:
                at, after = (after + CLEAR + along / 2, MID), after + CLEAR + along
    return Box(element, symbol, mirrored, pins, rails, text, at, before, after, min(top, _highest(pins)))


def _highest(pins: dict[int, Pin]) -> float:
    return min((pin.meets[1] for pin in pins.values()), default=MID)


def _pins(element: Element, symbol: TwoPort, place: Places, *, mirrored: bool) -> tuple[dict[int, Pin], dict[int, Pin]]:
    pins: dict[int, Pin] = {}
    rails: dict[int, Pin] = {}
    for terminal, (node, pin) in enumerate(zip(element.nodes, symbol.pins, strict=True)):
        if pin is None:
            continue
        x, y = (-pin[0], pin[1]) if mirrored else pin
        meets = x, {TOP: ROW, BOTTOM: RAIL}.get(y, y)
        edge: Edge = "left" if (terminal // 2 == 0) != mirrored else "right"
        (pins if node in place else rails)[terminal] = Pin((x, y), meets, edge)
    return pins, rails


def _plain(
    station: Station, links: list[Link], place: Places, rows: Mapping[str, float], width: float
) -> tuple[TwoPort, dict[int, Pin]]:
    """A box: the nearest node on each side at its own height, the others from the top, the far ones inside."""
    own = place[station.key]
    before = sorted((link for link in links if place[link.second] < own), key=lambda link: -place[link.second])
    after = sorted((link for link in links if place[link.second] > own), key=lambda link: place[link.second])
    beside = [*before[:1], *after[:1]]
    crown = [*before[1:], *reversed(after[1:])]
    left, right = ([rows[link.second] for link in side[:1]] for side in (before, after))
    feet = sum(node not in place for node in station.element.nodes) if station.element is not None else 0
    half = max(24.0, width / 2 + 8, (max(len(crown), feet) + 1) * LANE / 2)
    symbol = box_of((tuple(left), tuple(right)), half, len(crown), LANE)
    if is_epicyclic(station.element) and left and right and len(crown) == 1:
        symbol = epicyclic()
    edges: list[Edge] = []
    for edge, count in zip(EDGES, (len(left), len(right), len(crown)), strict=True):
        edges += [edge] * count
    pins: dict[int, Pin] = {}
    for link, at, side in zip([*beside, *crown], symbol.pins, edges, strict=True):
        assert at is not None, "all terminals of a plain box are drawn"
        pins[link.terminal] = Pin(at, at, side)
    return symbol, pins


def _feet(element: Element, symbol: TwoPort, place: Places) -> dict[int, Pin]:
    """Terminals below a plain box, to nodes that are drawn as rails; what a reference means for a box needs no wire."""
    terminals = [k for k, node in enumerate(element.nodes) if node not in place and node not in REFERENCES]
    found: dict[int, Pin] = {}
    for k, terminal in enumerate(terminals):
        x = (k - (len(terminals) - 1) / 2) * LANE
        found[terminal] = Pin((x, symbol.down), (x, RAIL), "left")
    return found


def is_epicyclic(element: Element | None) -> bool:
    """Whether one relation binds the speeds of three shafts: two of them decide the third."""
    if element is None or element.multiport is None or set(element.kind.domains) != {"rotational"}:
        return False
    relation = element.multiport
    sides = {*relation.given_sides, *relation.gives_sides}
    counts = len(relation.given), len(relation.gives)
    return (sides == {"across"} and counts == (2, 1)) or (sides == {"through"} and counts == (1, 2))
