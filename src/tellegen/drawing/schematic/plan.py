"""What a schematic shows before anything has a place: its elements and their labels, stations on a line, shunts at them and
links between them.

A station is a node, or an element with several ports. Elements between a node and its reference hang from the station of the node;
elements between two nodes link two stations, and so do the terminals of elements with several ports.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.domains import REFERENCES
from tellegen.core.errors import TellegenError
from tellegen.drawing import rules
from tellegen.drawing.formulas import ParameterValues, parameter_latex
from tellegen.drawing.memory import LadderNames
from tellegen.drawing.options import Options
from tellegen.drawing.schematic.compounds import VALVE, common_name, compounds, with_compounds
from tellegen.drawing.schematic.rails import NO_RETURN_LINES, ReturnDepths, distances, neighbours, rails_of
from tellegen.drawing.schematic.symbols import (
    MECHANICAL_DOMAINS,
    OnePortSymbol,
    TwoPortSymbol,
    can_turn,
    is_feed,
    one_port_symbol,
    turned_symbol,
    two_port_symbol,
    upside_down,
)
from tellegen.expressions import ONE
from tellegen.graph import lower
from tellegen.model.model import NOTHING, Element, Model
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.typesetting import set_math
from tellegen.schemes import network_of


def schematic_elements(model: Model) -> tuple[Element, ...]:
    """The elements of a model; those of a bond graph or a POG with a node in the place of each bond that is a wire.

    Coils that share their flux, generators and synchronous machines are of kinds of their own, as they have other symbols; so have
    double-acting cylinders and directional valves, which take the places of their pistons and edges.

    Raises: FigureError (F180) where a law has no letters in a network.
    """
    elements = _network_elements(model)
    words = {name: "coupled coil" for field in model.fields for name in field.members}
    machines = [element for element in elements if _is_machine(element)]
    words |= {machine.name: _machine_word(machine, elements, model) for machine in machines}
    named = tuple(
        replace(element, kind=replace(element.kind, name=word))
        if (word := words.get(element.name, "")) and (element.kind.name == "inductor") == (word == "coupled coil")
        else element
        for element in elements
    )
    return with_compounds(named, model.parameters)


def _network_elements(model: Model) -> tuple[Element, ...]:
    # A network is drawn as it was described: a way round through causality could rename its nodes.
    if not any(map(_is_bond, model.elements)):
        return model.elements
    causal = assign_causality(lower(model))
    try:
        return network_of(causal, model=model).elements
    except TellegenError as error:
        what = f"'{model.name}' has no schematic: {error.finding.what}"
        fix = "draw it as a bond graph: draw(model, 'bond')"
        raise rules.NO_SCHEMATIC.error(what, where=error.finding.where, fix=fix) from error


def _is_machine(element: Element) -> bool:
    """Whether windings turn one shaft."""
    domains = Counter(element.kind.domains)
    return domains.keys() == {"electrical", "rotational"} and domains["rotational"] == 1


def _machine_word(machine: Element, elements: tuple[Element, ...], model: Model) -> str:
    """What a machine is drawn as: a generator where its shaft alone is driven, a synchronous one where its gains turn with it."""
    others = [element for element in elements if element is not machine]
    # Two parts that meet only at a reference do not drive each other.
    near = neighbours((one, two) for e in others for one, two in pairwise(n for n in e.nodes if n not in REFERENCES))
    ports = list(zip(machine.kind.domains, machine.nodes[::2], machine.nodes[1::2], strict=True))
    driven = {}
    for side in ("electrical", "rotational"):
        reached = distances((node for domain, *ends in ports if domain == side for node in ends), near, REFERENCES)
        driven[side] = any(e.kind.role == "source" and not reached.keys().isdisjoint(e.nodes) for e in others)
    if driven["rotational"] and not driven["electrical"]:
        return "generator"
    rows = machine.multiport.K if machine.multiport is not None else ()
    read = {name for row in rows for entry in row for name in entry.free_symbols}
    # Gains are often parameters with names of their own.
    formulas = {name: p.expression.free_symbols for name, p in model.parameters.items() if p.expression is not None}
    while further := {name for known in read & formulas.keys() for name in formulas[known]} - read:
        read |= further
    return "" if read.isdisjoint(model.displacements) else "synchronous machine"


def _is_bond(element: Element) -> bool:
    """Whether an element passes power on unchanged within a domain, as bonds and sections do."""
    kind = element.kind
    return kind.role == "coupling" and len(kind.domains) == 2 and len(set(kind.domains)) == 1 and element.value is ONE


LABEL_SIZE = 15.0
"""Of the labels of a schematic."""
WIDEST = 80.0
"""A formula that is wider than this is replaced by the name of its element."""


@final
class SchematicLabels:
    """Texts of one schematic. Where it is drawn level and stood up afterwards, `upright` ones lie across its line."""

    def __init__(self, model: Model, options: Options, *, upright: bool = False) -> None:
        self.model, self.options, self.upright = model, options, upright
        self._values = None if options.labels == "symbols" else ParameterValues(lower(model))
        self._compounds = {c.element.name: c for c in compounds(model.elements, model.parameters)}

    def of(self, element: Element) -> str:
        """The label of an element, as LaTeX; a cylinder has those of both pistons, a valve what all names of edges begin with."""
        compound = self._compounds.get(element.name)
        if compound is None:
            return self._of(element)
        if element.kind.name == VALVE:
            return name_latex(common_name(compound.members))
        return r",\ ".join(map(self._of, compound.members))

    def _of(self, element: Element) -> str:
        value = None
        if self._values is not None and element.value is not None:
            unit = element.kind.quantity.unit if element.kind.quantity else ""
            value = self._values.latex(element.value, "" if unit == "1" else unit)
        return parameter_latex(element.name, element.value, value, self.options.labels, LABEL_SIZE, WIDEST)

    def symbol(self, element: Element) -> OnePortSymbol:
        """The symbol of a one-port, across its line where the file says so."""
        usual, angle = one_port_symbol(element.kind), self.model.turned.get(element.name)
        return usual if angle is None or not can_turn(element.kind) else turned_symbol(usual, angle)

    def extent(self, text: str) -> tuple[float, float]:
        """The extent of the ink of a label along the line of nodes and across it."""
        box = set_math(text, LABEL_SIZE).box
        return (box.height, box.width) if self.upright else (box.width, box.height)


StationOrder = tuple[str, ...]


def ordered_like_earlier(
    orders: Sequence[StationOrder], near: Mapping[str, Sequence[str]], earlier: Sequence[StationOrder]
) -> list[StationOrder]:
    """The connected parts with their stations in the order that an earlier figure had, and the parts themselves in that order.

    `near` are the neighbours of each station.
    """
    number = {key: k for k, key in enumerate(key for line in earlier for key in line)}
    found = [_ordered_like(order, near, number) for order in orders]
    return sorted(found, key=lambda order: min((number[key] for key in order if key in number), default=inf))


def _ordered_like(order: StationOrder, near: Mapping[str, Sequence[str]], number: Mapping[str, int]) -> StationOrder:
    line = sorted((key for key in order if key in number), key=number.__getitem__)
    # New stations are fitted between old ones, never the other way round: what a reader knows stays where it was.
    waiting = [key for key in order if key not in number]
    if not line:
        return order
    usual = {key: k for k, key in enumerate(order)}
    while waiting:
        # Neighbours of what is there come first: each has something to stand beside then.
        key = next((key for key in waiting if any(other in line for other in near[key])), waiting[0])
        waiting.remove(key)
        line.insert(_new_station_index(key, line, near, usual), key)
    return tuple(line)


def _new_station_index(
    key: str, line: Sequence[str], near: Mapping[str, Sequence[str]], usual: Mapping[str, int]
) -> int:
    """Where a new station goes: between its neighbours, else on that side of one on which it would usually be."""
    places = [line.index(other) for other in near[key] if other in line]
    if not places:
        return len(line)
    first = min(places)
    return first + 1 if len(places) > 1 or usual[line[first]] < usual[key] else first


@final
@dataclass(frozen=True, slots=True)
class Shunt:
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
class SchematicLink:
    """A line between two stations, with a one-port in it or none. A terminal counts from 0 at a station with ports: the first."""

    first: str
    second: str
    element: Element | None = None
    terminal: int = -1


@final
@dataclass(slots=True)
class Station:
    """A node (`element` is None) or an element with several ports; `symbol` is its own, or none for a plain box.

    `before` and `after` are the letters at a node that comes from another row or goes on in one, `port` is the name of the port at
    which others are joined to it.
    """

    key: str
    domain: str
    element: Element | None = None
    symbol: TwoPortSymbol | None = None
    hanging: list[Shunt] = field(default_factory=list)
    before: str = ""
    after: str = ""
    port: str = ""

    @property
    def is_shaft(self) -> bool:
        """Whether it is a node of mechanics."""
        return self.element is None and self.domain in MECHANICAL_DOMAINS


@final
@dataclass(frozen=True, slots=True, eq=False)
class SchematicPlan:
    """The stations of one connected part from left to right, and their links; `rail_ports` are words at nodes drawn as rails.

    `returns` are the return lines, rails below the references, with their depths.
    """

    stations: tuple[Station, ...]
    links: tuple[SchematicLink, ...]
    rail_ports: Mapping[str, str] = field(default_factory=dict)
    returns: ReturnDepths = field(default_factory=dict)


def plan_schematic(
    elements: Iterable[Element],
    ports: Mapping[str, str] = NOTHING,
    returns: ReturnDepths = NO_RETURN_LINES,
    order: LadderNames = (),
) -> list[SchematicPlan]:
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


def _circuits(elements: tuple[Element, ...], lines: ReturnDepths) -> dict[str, str]:
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
    def __init__(self, rails: frozenset[str], circuits: Mapping[str, str], depths: ReturnDepths) -> None:
        self.rails, self.circuits, self.depths = rails, circuits, depths
        self.stations: dict[str, Station] = {}
        self.links: list[SchematicLink] = []
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
        # The upper line first: between two return lines an element hangs from the upper one down to the lower.
        for line, reference in sorted(ends, key=lambda pair: self.depths.get(pair[0], 0)):
            if line in self.circuits and reference in self.rails:
                hanging = Shunt(element, line == first, reference, line, self.depths[line])
                self._node(self.circuits[line], domain).hanging.append(hanging)
                return
        if first in self.rails and second in self.rails:
            # Both ends on rails: there is no node to hang from.
            # A loop through the reference alone still needs a place: a node of its own, tied to the reference by a wire.
            first = self._own_node(element, domain)
            self.stations[first].hanging.append(Shunt(None, True, second))
        # A one-port that is shorted has two ends all the same: its second one is tied to the node by a wire.
        if first == second:
            second = self._own_node(element, domain)
            self.links.append(SchematicLink(first, second))
        if first in self.rails or second in self.rails:
            away = second in self.rails
            node, reference = (first, second) if away else (second, first)
            self._node(node, domain).hanging.append(Shunt(element, away, reference))
            # People read from supply to load: a line begins where a source holds the voltage or the pressure.
            if is_feed(element.kind):
                self.feeds.add(node)
            return
        self._node(first, domain)
        self._node(second, domain)
        self.links.append(SchematicLink(first, second, element))

    def _several_ports(self, element: Element) -> None:
        key = f"#{element.name}"
        station = Station(key, element.kind.domains[0], element, _own_symbol(element, self.rails))
        self.stations[key] = station
        for terminal, node in enumerate(element.nodes):
            if node not in self.rails:
                self._node(node, element.kind.domains[terminal // 2])
                self.links.append(SchematicLink(key, node, None, terminal))

    def _own_node(self, element: Element, domain: str) -> str:
        key = f"#{element.name}"
        self._node(key, domain)
        return key

    def _node(self, node: str, domain: str) -> Station:
        return self.stations.setdefault(node, Station(node, domain))

    # -- order -----------------------------------------------------------------------------------------------------------------

    def plans(self, earlier: LadderNames) -> list[SchematicPlan]:
        near = neighbours(((link.first, link.second) for link in self.links), self.stations)
        # Fed nodes start lines; what is not reached from them starts where it was described first.
        starts = [*(key for key in self.stations if key in self.feeds), *self.stations]
        placed: dict[str, int] = {}
        plans: list[tuple[str, ...]] = []
        for start in starts:
            if start not in placed:
                order = _line(start, near)
                placed |= dict.fromkeys(order, len(plans))
                plans.append(order)
        if earlier:
            plans = ordered_like_earlier(plans, near, earlier)
            placed = {key: k for k, order in enumerate(plans) for key in order}
        links: list[list[SchematicLink]] = [[] for _ in plans]
        for link in self.links:
            links[placed[link.first]].append(link)
        return [
            SchematicPlan(tuple(self.stations[k] for k in order), tuple(own))
            for order, own in zip(plans, links, strict=True)
        ]


def _own_symbol(element: Element, rails: frozenset[str]) -> TwoPortSymbol | None:
    """The symbol of a two-port whose terminals it can show: references where it has no terminal, nodes where it has one.

    It is upside down where the first node of its wires or pipes is a rail and the second is none.
    """
    symbol = two_port_symbol(element.kind)
    if symbol is None or len(element.nodes) != 4:
        return None
    # Pressure that pulls the rod back stands on the other side of the piston.
    if symbol.pulling is not None and element.nodes[2] in rails and element.nodes[3] not in rails:
        symbol = symbol.pulling
    ports = list(zip(element.nodes[::2], element.nodes[1::2], symbol.pins[::2], symbol.pins[1::2], strict=True))
    wired = [(first, second) for first, second, *pins in ports if None not in pins]
    shafts = [end for first, second, one, two in ports if None in (one, two) for end in ((first, one), (second, two))]
    # A shaft against a moving frame is not what the symbol says.
    if any((node in rails) != (pin is None) for node, pin in shafts):
        return None
    if not any(first in rails for first, _ in wired):
        return symbol
    # Upside down the symbol has its first terminal below, where the rail is.
    return upside_down(symbol) if len(wired) == 1 and wired[0][1] not in rails else None


def _line(start: str, near: dict[str, list[str]]) -> tuple[str, ...]:
    """The stations that hang together, on a line: a depth-first search, so that most neighbours are next to each other.

    Small branches come before large ones; the second largest branch of the start goes to its left.
    """
    children = _branches(start, near)
    first = children[start]
    # With branches on both sides of the start fewer links have to go over others.
    left = [first.pop(-2)] if len(first) > 1 else []
    before = [key for branch in left for key in _preorder(branch, children)]
    return (*reversed(before), *_preorder(start, children))


def stations_between(
    links: Iterable[SchematicLink], ends: tuple[str, str], stations: list[str]
) -> tuple[str, ...] | None:
    """Stations on a line from one end to another, either of which may be open (''); None where an end is not at the end."""
    near = neighbours(((link.first, link.second) for link in links), stations)
    left, right = ends
    # The branch that leads to the other end is visited last, so that this end is the last station.
    line = tuple(_preorder(left or right, _branches(left or right, near, right)))
    if not left:
        return line[::-1]
    return line if not right or line[-1] == right else None


def _branches(start: str, near: dict[str, list[str]], end: str = "") -> dict[str, list[str]]:
    """The tree of a depth-first search: at each station small branches before large ones, that which leads to `end` last."""
    children: dict[str, list[str]] = {start: []}
    order = [start]
    # A stack of its own: a chain of thousands of elements is deeper than Python may call itself.
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
    size, leads = dict.fromkeys(order, 1), {end}
    for key in reversed(order):
        size[key] += sum(size[child] for child in children[key])
        leads |= {key} if leads & {*children[key]} else set()
        children[key].sort(key=lambda child: (child in leads, size[child]))
    return children


def _preorder(root: str, children: dict[str, list[str]]) -> list[str]:
    found: list[str] = []
    stack = [root]
    while stack:
        key = stack.pop()
        found.append(key)
        stack += reversed(children[key])
    return found
