"""What a schematic shows, before anything has a place: stations on a line, what hangs from them, and what links them.

A station is a node, or an element with several ports. Elements between a node and its reference hang from the station of the node;
elements between two nodes link two stations, and so do the terminals of elements with several ports.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.description.model import NOTHING, Element
from tellegen.drawing.memories import Lines
from tellegen.drawing.network_lows import NO_LINES, Depths
from tellegen.drawing.network_orders import like_earlier
from tellegen.drawing.network_rails import rails_of
from tellegen.drawing.symbols_twoports import SHAFTS, TwoPort, flipped, two_port_of
from tellegen.elements import KINDS, ElementKind

MACHINES = ("dc machine", "voice coil", "pump", "hydraulic motor", "piston")
"""What a connection between their domains is drawn as."""


@final
@dataclass(frozen=True, slots=True)
class Hanging:
    """A one-port between a node and the reference. `away` says whether its first terminal is at the node; no element: a wire.

    Where it hangs from a return line, `line` is that, at `depth`, and it stands below the node in whose circuit the line is.
    """

    element: Element | None
    away: bool
    reference: str
    line: str = ""
    depth: int = 0


@final
@dataclass(frozen=True, slots=True)
class Link:
    """A line between two stations, with a one-port in it or none. A terminal counts from 0 at a station with ports."""

    first: str
    second: str
    element: Element | None = None
    terminal: int = -1

    # A link with a terminal begins at the station with ports.


@final
@dataclass(slots=True)
class Station:
    """A node (`element` is None) or an element with several ports; `symbol` is its own, or none for a plain box."""

    key: str
    domain: str
    element: Element | None = None
    symbol: TwoPort | None = None
    hanging: list[Hanging] = field(default_factory=list)
    before: str = ""
    after: str = ""
    port: str = ""

    # `port` is the name of the port at which others are joined to the node.
    # `before` and `after` are the letters at a node that comes from another row or goes on in one.

    @property
    def is_shaft(self) -> bool:
        """Whether it is a node of mechanics."""
        return self.element is None and self.domain in SHAFTS


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """The stations of one connected part from left to right, and their links; `rail_ports` are words at nodes drawn as rails.

    `returns` are the return lines, rails below the references, with their depths.
    """

    stations: tuple[Station, ...]
    links: tuple[Link, ...]
    rail_ports: Mapping[str, str] = field(default_factory=dict)
    returns: Depths = field(default_factory=dict)


def plan_network(
    elements: Iterable[Element], ports: Mapping[str, str] = NOTHING, returns: Depths = NO_LINES, order: Lines = ()
) -> list[Plan]:
    """The connected parts of a network, in the order of description; `ports` are names of ports by their nodes.

    The nodes in `returns` are rails too, at the depths that it says. `order` are the stations of an earlier figure: those that are
    still there keep their order.
    """
    described = tuple(elements)
    lines = returns
    planner = _Planner(rails_of(described) | lines.keys(), _circuits(described, lines), lines)
    for element in described:
        planner.add(element)
    for node in ports.keys() & planner.stations.keys():
        planner.stations[node].port = ports[node]
    hidden = {node: word for node, word in ports.items() if node in planner.rails}
    return [replace(plan, rail_ports=hidden, returns=lines) for plan in planner.plans(order)]


def _circuits(elements: tuple[Element, ...], lines: Depths) -> dict[str, str]:
    """For each return line the node below which it has its elements: that of its first machine, or of what it hangs from.

    A line without a machine is below the first node from which a one-port leads to it.
    """
    found: dict[str, str] = {}
    for element in elements:
        if len(element.nodes) == 4:
            for first, second in (element.nodes[:2], element.nodes[2:]):
                if second in lines:
                    found.setdefault(second, first)
    for line in sorted(lines, key=lines.__getitem__):
        for element in elements if line not in found else ():
            if line in element.nodes and len(element.nodes) == 2:
                other = next(node for node in element.nodes if node != line)
                if lines.get(other, -1) == lines[line] - 1:
                    found.setdefault(line, found.get(other, other))
    return found


class _Planner:
    def __init__(self, rails: frozenset[str], circuits: Mapping[str, str], depths: Depths) -> None:
        self.rails, self.circuits, self.depths = rails, circuits, depths
        self.stations: dict[str, Station] = {}
        self.links: list[Link] = []
        self.feeds: set[str] = set()
        """The nodes of wires and pipes that a source feeds: the line begins there, else at what is described first."""

    def add(self, element: Element) -> None:
        if len(element.nodes) == 2:
            self._one_port(element)
        else:
            self._several_ports(element)

    def _one_port(self, element: Element) -> None:
        first, second = element.nodes
        domain = element.kind.domains[0]
        ends = ((first, second), (second, first))
        for line, reference in sorted(ends, key=lambda pair: self.depths.get(pair[0], 0)):
            if line in self.circuits and reference in self.rails:
                hanging = Hanging(element, line == first, reference, line, self.depths[line])
                self._node(self.circuits[line], domain).hanging.append(hanging)
                return
        if first in self.rails and second in self.rails:
            # A loop through the reference alone still needs a place: a node of its own, tied to the reference by a wire.
            first = self._own_node(element, domain)
            self.stations[first].hanging.append(Hanging(None, True, second))
        if first == second:
            second = self._own_node(element, domain)
            self.links.append(Link(first, second))
        if first in self.rails or second in self.rails:
            away = second in self.rails
            node, reference = (first, second) if away else (second, first)
            self._node(node, domain).hanging.append(Hanging(element, away, reference))
            if element.kind.role == "source" and element.kind.side == "across" and domain not in SHAFTS:
                self.feeds.add(node)
            return
        self._node(first, domain)
        self._node(second, domain)
        self.links.append(Link(first, second, element))

    def _several_ports(self, element: Element) -> None:
        key = f"#{element.name}"
        station = Station(key, element.kind.domains[0], element, _own_symbol(element, self.rails))
        self.stations[key] = station
        for terminal, node in enumerate(element.nodes):
            if node not in self.rails:
                self._node(node, element.kind.domains[terminal // 2])
                self.links.append(Link(key, node, None, terminal))

    def _own_node(self, element: Element, domain: str) -> str:
        key = f"#{element.name}"
        self._node(key, domain)
        return key

    def _node(self, node: str, domain: str) -> Station:
        return self.stations.setdefault(node, Station(node, domain))

    # -- order -----------------------------------------------------------------------------------------------------------------

    def plans(self, earlier: Lines) -> list[Plan]:
        near: dict[str, list[str]] = {key: [] for key in self.stations}
        for link in self.links:
            near[link.first].append(link.second)
            near[link.second].append(link.first)
        starts = [*(key for key in self.stations if key in self.feeds), *self.stations]
        placed: dict[str, int] = {}
        plans: list[tuple[str, ...]] = []
        for start in starts:
            if start not in placed:
                order = _line(start, near)
                placed |= dict.fromkeys(order, len(plans))
                plans.append(order)
        if earlier:
            plans = like_earlier(plans, near, earlier)
            placed = {key: k for k, order in enumerate(plans) for key in order}
        links: list[list[Link]] = [[] for _ in plans]
        for link in self.links:
            links[placed[link.first]].append(link)
        return [
            Plan(tuple(self.stations[k] for k in order), tuple(own)) for order, own in zip(plans, links, strict=True)
        ]


def _own_symbol(element: Element, rails: frozenset[str]) -> TwoPort | None:
    """The symbol of a two-port whose terminals it can show: references where it has no terminal, nodes where it has one.

    It is upside down where the first node of its wires or pipes is a rail and the second is none.
    """
    symbol = two_port_of(_usual(element.kind))
    if symbol is None or len(element.nodes) != 4:
        return None
    ports = list(zip(element.nodes[::2], element.nodes[1::2], symbol.pins[1::2], strict=True))
    wired = [(first, second) for first, second, pin in ports if pin is not None]
    if len(wired) == 1 and wired[0][0] in rails and wired[0][1] not in rails:
        (shaft,) = [pair for pair in ports if pair[2] is None]
        return flipped(symbol) if shaft[0] not in rails and shaft[1] in rails else None
    for terminal, (node, pin) in enumerate(zip(element.nodes, symbol.pins, strict=True)):
        if (pin is None and node not in rails) or (terminal % 2 == 0 and node in rails):
            return None
    return symbol


def _usual(kind: ElementKind) -> str:
    """The name of a kind; for a connection between machines and wires or pipes that of the machine that does the same."""
    machines = (KINDS[name] for name in MACHINES)
    same = (m.name for m in machines if (m.domains, m.coupling) == (kind.domains, kind.coupling))
    return kind.name if two_port_of(kind.name) is not None else next(same, kind.name)


def _line(start: str, near: dict[str, list[str]]) -> tuple[str, ...]:
    """The stations that hang together, on a line: a depth-first search, so that most neighbours are next to each other.

    Small branches come before large ones; the second largest branch of the start goes to its left.
    """
    children, order = _search(start, near)
    size = dict.fromkeys(order, 1)
    for key in reversed(order):
        size[key] += sum(size[child] for child in children[key])
        children[key].sort(key=size.__getitem__)
    first = children[start]
    left = [first.pop(-2)] if len(first) > 1 else []
    before = [key for branch in left for key in _preorder(branch, children)]
    return (*reversed(before), *_preorder(start, children))


def line_between(links: Iterable[Link], ends: tuple[str, str], stations: list[str]) -> tuple[str, ...] | None:
    """Stations on a line from one end to another, either of which may be open (''); None where an end is not at the end."""
    near: dict[str, list[str]] = {key: [] for key in stations}
    for link in links:
        near[link.first].append(link.second)
        near[link.second].append(link.first)
    left, right = ends
    children, order = _search(left or right, near)
    size = dict.fromkeys(order, 1)
    leads = {right}
    for key in reversed(order):
        size[key] += sum(size[child] for child in children[key])
        leads |= {key} if leads & {*children[key]} else set()
        children[key].sort(key=lambda child: (left != "" and child in leads, size[child]))
    line = tuple(_preorder(left or right, children))
    if not left:
        return line[::-1]
    return line if not right or line[-1] == right else None


def _search(start: str, near: dict[str, list[str]]) -> tuple[dict[str, list[str]], list[str]]:
    """The tree of a depth-first search, and the order in which it met the stations."""
    children: dict[str, list[str]] = {start: []}
    order = [start]
    stack: list[tuple[str, Iterator[str]]] = [(start, iter(near[start]))]
    while stack:
        key, rest = stack[-1]
        following = next((other for other in rest if other not in children), None)
        if following is None:
            stack.pop()
            continue
        children[key].append(following)
        children[following] = []
        order.append(following)
        stack.append((following, iter(near[following])))
    return children, order


def _preorder(root: str, children: dict[str, list[str]]) -> list[str]:
    found: list[str] = []
    stack = [root]
    while stack:
        key = stack.pop()
        found.append(key)
        stack += reversed(children[key])
    return found
