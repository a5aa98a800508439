"""A POG ladder on its way to a file (sections, blocks, connections, branches), from a tree-like bond graph or as one vector
block or two.

A parallel junction is a node of the ladder, a series junction a path between nodes. Half arrows need not point along the ladder, so
each junction has a sign: its shared variable is that sign times the variable of the ladder there. The sign of the next junction is
that of this one, times -1 where the bond between them points back.

The gains form a skew matrix S. Where the elements fall into two groups that speak only to each other, S is one connection block
between two vector blocks; otherwise it is the power matrix of a single one, which loses nothing because it is skew.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.union_find import UnionFind
from tellegen.elements import ElementKind
from tellegen.expressions import ONE, ZERO, Expression
from tellegen.graph import Field, PowerGraph, ResistiveLaw, SourceLaw
from tellegen.graph.signal_lowering import named_between, named_variables
from tellegen.model.bond_graph import BondItem, PowerBond
from tellegen.notations.network.fields import energy_text
from tellegen.notations.pog.ladder import (
    NONE,
    SWITCHING,
    LadderBlock,
    LadderBranch,
    LadderConnection,
    LadderElement,
    LadderField,
    LadderSection,
    LaneRow,
    Way,
    WrittenLadder,
    given_side,
    taken_side,
    unplaced,
)
from tellegen.notations.pog.lanes import field_kind
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, ConnectedPart, OnePort, TwoPort, heavy_children
from tellegen.schemes.element_texts import element_kind, field_energy, field_laws, member_kind
from tellegen.schemes.pog_construction import port_gains
from tellegen.schemes.pog_scheme import PogScheme

Lanes = WrittenLadder[Expression]
Connection = LadderConnection[Expression]

_STORAGE_LETTERS = {
    ("electrical", "across"): "C",
    ("hydraulic", "across"): "C",
    ("translational", "across"): "M",
    ("rotational", "across"): "J",
    ("electrical", "through"): "L",
    ("hydraulic", "through"): "L",
    ("translational", "through"): "E",
    ("rotational", "through"): "E",
}


def _letter_of(kind: ElementKind) -> str:
    """The letter of a ladder that stands for a kind."""
    domain = DOMAINS[kind.domains[0]]
    if kind.role in ("storage", "potential"):
        usual = "C" if kind.side == domain.effort else "I"
        # K is written for a stiffness whatever the domain.
        return "K" if kind.inverse else _STORAGE_LETTERS.get((domain.name, kind.side), usual)
    mechanical = domain.effort == "through"
    if kind.side == "across":
        return "d" if mechanical else "R"
    return "b" if mechanical else "G"


def lane_element(item: OnePort, sign: int = 1) -> LadderElement:
    """An element of a scheme in a lane; with sign -1 it counts against the ladder."""
    # A source stands in a section, which names its variables: it needs no letter.
    if isinstance(item.port.law, SourceLaw):
        letter = ""
    else:
        letter = item.letters if item.letters == SWITCHING else _letter_of(element_kind(item.port))
    return LadderElement(letter, item.name, unplaced(item.name), sign < 0)


def lane_field(
    field: Field, graph: PowerGraph, items: Sequence[OnePort], lanes: Sequence[int]
) -> LadderField[Expression]:
    """A field of a scheme, its ports in the lanes given (counted from 0): with its laws or its matrix."""
    stiff, energy = field.stiffness is not None, field_energy(field, graph.ports)
    # Laws cannot always be integrated again, so an energy is written itself.
    laws = [law.text for law in field_laws(field, graph.ports)] if energy is None else [energy_text(energy)]
    letters = (_letter_of(member_kind(item.port, stiff=stiff)) for item in items)
    return LadderField(
        "",
        unplaced(field.element),
        field.stiffness or field.matrix,
        lanes=tuple(lanes),
        laws=tuple(map(unplaced, laws)),
        members=tuple(
            LadderElement(letter, item.name, unplaced(item.name)) for letter, item in zip(letters, items, strict=True)
        ),
    )


def scalar_connection(
    name: str, kind: Literal["T", "G"], modulus: Expression, sides: tuple[Side, Side] | None, domain: str
) -> Connection:
    """A connection of one lane in the variables asked for, else in the ones that its neighbours suggest.

    T: across_1 = m*across_2, through_2 = m*through_1. G: across_1 = m*through_2, across_2 = m*through_1.
    """
    # A transformer keeps the kind of variable and a gyrator changes it: neighbours that ask for anything else get the default.
    fitting = sides is not None and (sides[0] == sides[1]) == (kind == "T")
    one, two = (
        sides if sides is not None and fitting else (("through", "through") if kind == "T" else ("through", "across"))
    )
    K = modulus if one == "through" else 1 / modulus
    return Connection(unplaced(name), ((K,),), None, (one,), (two,), (domain,))


def tree_ladder(graph: BondGraphScheme, part: ConnectedPart) -> Lanes:
    """The ladder of a part of a bond graph without meshes."""
    return _TreeWriter(graph, part).ladder()


class _TreeWriter:
    """Walks from junction to junction, away from the start."""

    def __init__(self, graph: BondGraphScheme, part: ConnectedPart) -> None:
        self.graph = graph
        self.chosen = set(named_variables(graph.causal.graph))
        self.between = named_between(graph.causal.graph)
        self.start = part.start()
        self.away = heavy_children(part, self.start)

    def ladder(self) -> Lanes:
        junction = self.graph.junctions[self.start]
        ladder = Lanes((junction.domain,))
        sources = self.graph.sources_at(junction)
        used = None
        # A ladder begins with the section of its first source; what follows further sources branches off.
        if sources:
            used = sources[0]
            item = self.graph.one_ports[used.other(self.start)]
            across, through = _signs(junction, 1, 1 if used.head == self.start else -1)
            source = lane_element(item, across if item.decides == "across" else through)
            ladder.parts.append(LadderSection(sources=(source,)))
        self._walk(ladder, self.start, 1, used)
        return ladder

    # -- junctions -------------------------------------------------------------------------------------------------------------

    def _way(self, junction: BondItem) -> Way:
        return "series" if junction.series else "parallel"

    def _walk(self, ladder: Lanes, name: str, sign: int, used: PowerBond | None) -> None:
        """Write the junction and what lies behind it; `used` is a source that is written already."""
        while True:
            junction = self.graph.junctions[name]
            way = self._way(junction)
            before: OnePort | None = None
            # Side ladders and sources come behind the elements, wherever they were described.
            sources = [b for b in self.graph.sources_at(junction) if b is not used]
            sections = sign > 0 and len(self.away[name]) + len(sources) < 2
            for bond in self.graph.elements_at(junction):
                item = self.graph.one_ports[bond.other(name)]
                if not isinstance(item.port.law, SourceLaw):
                    if before is not None and sections:
                        ladder.parts += self._section(before, item, way)
                    ladder.add_row(way, (lane_element(item, -sign if item.turned else sign),))
                    before = item
            # The first branch goes on along the ladder, the others become side ladders, as in the figure.
            away = self.away[name]
            # Only at the end of a ladder can a source be the right section.
            last = sources.pop() if sources and not away else None
            for bond in sources:
                section = LadderSection(sources=(self._side_source(bond, junction, sign),))
                ladder.parts.append(LadderBranch(way, Lanes((junction.domain,), [section])))
            # Side ladders are written before the walk goes on, since a reader meets them in this order.
            for bond in away[1:]:
                side = Lanes((junction.domain,))
                self._follow(side, bond, junction, sign)
                ladder.parts.append(LadderBranch(way, side))
            if last is not None:
                ladder.parts.append(LadderSection(sources=(self._side_source(last, junction, sign),)))
            if not away:
                return
            following = self._step(ladder, away[0], junction, sign)
            name, sign, used = *following, None

    def _section(self, one: OnePort, two: OnePort, way: Way) -> list[LadderSection]:
        """The section between two elements of a junction that the author named."""
        unit = DOMAINS[two.domain].power(taken_side(way)).unit
        name = self.between.get((one.port.element, two.port.element, unit))
        if name is None:
            return []
        given, none = (unplaced(name),), (unplaced(NONE),)
        return [LadderSection(given, none) if taken_side(way) == "across" else LadderSection(none, given)]

    def _follow(self, ladder: Lanes, bond: PowerBond, junction: BondItem, sign: int) -> None:
        name, following = self._step(ladder, bond, junction, sign)
        self._walk(ladder, name, following, None)

    def _names(self, ends: list[tuple[PowerBond, int, int]]) -> Iterator[tuple[str, str]]:
        """The names of the variables of a connection that count along the ladder."""
        for port, (bond, across, through) in enumerate(ends, 1):
            for side, name, sign in (("across", bond.across, across), ("through", bond.through, through)):
                if name in self.chosen and sign > 0:
                    yield f"{side}_{port}", name

    def _side_source(self, bond: PowerBond, junction: BondItem, sign: int) -> LadderElement:
        """A source behind the junction. By default its across variable is that of the ladder, its through variable comes in."""
        item = self.graph.one_ports[bond.other(junction.name)]
        across, through = _signs(junction, sign, 1 if bond.tail == junction.name else -1)
        # At the far end a through variable counts into the ladder, against the direction of the walk.
        return lane_element(item, across if item.decides == "across" else -through)

    # -- from junction to junction ---------------------------------------------------------------------------------------------

    def _step(self, ladder: Lanes, bond: PowerBond, junction: BondItem, sign: int) -> tuple[str, int]:
        """Pass a bond, and the two-ports behind it; gives the next junction and its sign."""
        here = junction.name
        direction = 1 if bond.tail == here else -1
        there = bond.other(here)
        # Between two junctions only the direction of the half arrow can change the sign.
        if there in self.graph.junctions:
            return there, sign * direction
        across, through = _signs(junction, sign, direction)
        domain = bond.domain
        # Two-ports that follow each other share variables in between, which have no junction and so no sign of their own.
        while there in self.graph.two_ports:
            item = self.graph.two_ports[there]
            kind, modulus = _relation(item, domain, along=direction > 0)
            (ahead,) = (b for b in self.graph.bonds_of(there) if b is not bond)
            ends = [(bond, across, through)]
            bond, there, domain = ahead, ahead.other(there), ahead.domain
            if there in self.graph.junctions:
                across_2, through_2 = _signs(self.graph.junctions[there], 1, direction)
            else:
                across_2, through_2 = 1, direction
            signed = across * (across_2 if kind == "T" else through_2)
            sides: tuple[Side, Side] | None = None
            if there in self.graph.junctions:
                sides = (given_side(self._way(junction)), taken_side(self._way(self.graph.junctions[there])))
            made = scalar_connection(item.name, kind, modulus if signed > 0 else -modulus, sides, domain)
            ends.append((bond, across_2, through_2))
            made.names = dict(self._names(ends)) if sides is not None else {}
            ladder.parts.append(made)
            across, through = across_2, through_2
        return there, 1


def _signs(junction: BondItem, sign: int, direction: int) -> tuple[int, int]:
    """The across and the through variable of a bond over those of the ladder, away from the junction."""
    # A series junction shares the through variable, so the direction acts on the across one; a parallel junction the
    # other way round.
    return (sign * direction, sign) if junction.series else (sign, sign * direction)


def _relation(item: TwoPort, domain: str, *, along: bool) -> tuple[Literal["T", "G"], Expression]:
    """A two-port in across and through variables, from the side met first; see `scalar_connection`."""
    one = DOMAINS[domain]
    # TF and GY relate efforts and flows; whether that is T or G in across and through depends on both domains.
    two = DOMAINS[item.domains[1] if along else item.domains[0]]
    modulus = ONE / item.modulus if item.kind == "TF" and not along else item.modulus
    if one.effort == "through":
        modulus = ONE / modulus
    return ("T" if (item.kind == "TF") == (one.effort == two.effort) else "G"), modulus


def block_ladder(scheme: PogScheme) -> Lanes:
    """The ladder of one or two vector blocks.

    Raises: GraphError (G204) where no two groups exist and storages depend on each other.
    """
    by_port = {id(item.port): item for item in scheme.elements.values()}
    items = [by_port[id(port)] for port in scheme.causal.graph.ports]
    gains = port_gains(scheme.causal)
    fields = [field.ports for field in scheme.causal.graph.fields]
    groups = _groups(gains, len(items), fields)
    # Refused instead of written: the file would have the states of another choice.
    if groups is None and any(dependence.on for dependence in scheme.causal.dependent):
        # A power matrix would hide what the dependent storages depend on.
        names = ", ".join(f"'{items[k].port.element}'" for k in scheme.causal.derivative[:4])
        what = f"its elements fall into no two groups of lanes, and {names} depends on others"
        raise rules.NO_LADDER.error(what, where=scheme.name, fix="write it as a network or as a bond graph")
    if groups is None:
        return _single(scheme, items, gains)
    left, right = groups
    # One half of the skew matrix says all: the other one is its negative transpose.
    K = tuple(tuple(gains[i].get(j, ZERO) for j in left) for i in right)
    told = {k for k in gains if gains[k]}.union(*(f.ports for f in scheme.causal.graph.fields if _is_zero(f, items)))
    ladder = _begin(scheme, items, left, idle=not told.issuperset(left))
    ways = tuple(_way(items[k]) for k in right)
    domains = tuple(items[k].domain for k in right)
    sides = tuple(given_side(_way(items[k])) for k in left), tuple(taken_side(way) for way in ways)
    ladder.parts.append(Connection(unplaced("K"), K, None, *sides, domains))
    # Lanes between which a locked part lets no power pass would be two systems.
    block = _block(scheme, items, right, idle=not told.issuperset(right) or not _hangs_together(gains, fields))
    if block.items:
        ladder.parts.append(block)
    # At this end a through variable comes in by default, and is decided going out.
    # A section at the right end counts power outwards.
    sources = tuple(_source(items[k], -1 if items[k].decides == "through" else 1) for k in right)
    if any(sources):
        ladder.parts.append(LadderSection(sources=sources))
    return ladder


def _begin(scheme: PogScheme, items: Sequence[OnePort], lanes: Sequence[int], *, idle: bool = False) -> Lanes:
    ladder = Lanes(tuple(items[k].domain for k in lanes))
    sources = tuple(_source(items[k], 1) for k in lanes)
    if any(sources):
        ladder.parts.append(LadderSection(sources=sources))
    if any(not _is_source(items[k]) for k in lanes):
        ladder.parts.append(_block(scheme, items, lanes, idle=idle))
    return ladder


def _single(scheme: PogScheme, items: Sequence[OnePort], gains: dict[int, dict[int, Expression]]) -> Lanes:
    lanes = range(len(items))
    ladder = _begin(scheme, items, lanes)
    # The static field of a block takes power; a skew one takes none, so that it can stand for the connections.
    matrix = tuple(tuple(-gains[i].get(j, ZERO) for j in lanes) for i in lanes)
    block = next(part for part in ladder.parts if isinstance(part, LadderBlock))
    block.items.append(_static_field(lanes, matrix))
    return ladder


def _static_field(lanes: Sequence[int], matrix: tuple[tuple[Expression, ...], ...]) -> LadderField[Expression]:
    return LadderField("", unplaced("S"), matrix, lanes=tuple(lanes))


def _way(item: OnePort) -> Way:
    return "parallel" if item.decides == "across" else "series"


def _is_source(item: OnePort) -> bool:
    return item.kind in ("Se", "Sf")


def _source(item: OnePort, sign: int) -> LadderElement | None:
    return lane_element(item, sign) if _is_source(item) else None


def _block(scheme: PogScheme, items: Sequence[OnePort], lanes: Sequence[int], *, idle: bool) -> LadderBlock[Expression]:
    """The elements of lanes; where some are `idle`, with a field of zeros.

    A lane that is tied to nothing would be shorted or open. The field tells it that it is told zero, and changes nothing in others.
    """
    fields = {k: field for field in scheme.causal.graph.fields for k in field.ports}
    plain: LaneRow = tuple(None if _is_source(items[k]) or k in fields else lane_element(items[k]) for k in lanes)
    block = LadderBlock[Expression](tuple(_way(items[k]) for k in lanes), [plain] if any(plain) else [])
    for member in scheme.causal.graph.fields:
        if member.ports[0] in lanes:
            places = [lanes.index(k) for k in member.ports]
            block.items.append(lane_field(member, scheme.causal.graph, [items[k] for k in member.ports], places))
    if idle:
        # Where nothing loses energy, as in the thermal domain, there is nothing that a field of zeros could stand for.
        pairs = zip(block.ways, (DOMAINS[items[k].domain] for k in lanes), strict=True)
        places = [n for n, (way, domain) in enumerate(pairs) if field_kind("power", domain, way) is not None]
        if places:
            block.items.append(_static_field(places, ((ZERO,) * len(places),) * len(places)))
    return block


def _is_zero(field: Field, items: Sequence[OnePort]) -> bool:
    """Whether it is a field of zeros, as an earlier ladder has one."""
    static = isinstance(items[field.ports[0]].port.law, ResistiveLaw)
    return static and all(entry is ZERO for row in field.matrix for entry in row)


def _hangs_together(gains: Mapping[int, Iterable[int]], fields: Iterable[Sequence[int]]) -> bool:
    groups = UnionFind(len(gains))
    for one, others in (*gains.items(), *((ports[0], ports[1:]) for ports in fields)):
        for two in others:
            groups.join(one, two)
    return all(groups.find(k) == groups.find(0) for k in gains)


def _groups(
    gains: dict[int, dict[int, Expression]], count: int, fields: Sequence[Sequence[int]]
) -> tuple[list[int], list[int]] | None:
    """Two groups that speak only to each other; the ports of a field stay together. None where there are none."""
    side: dict[int, int] = {}
    mates = {k: ports for ports in fields for k in ports}
    for start in sorted(range(count), key=lambda k: not gains[k]):
        if start in side:
            continue
        # What is told nothing stands together, at the right.
        side[start] = 0 if gains[start] else 1
        queue = [start]
        for k in queue:
            # Two colours of a graph: who gives and who is told are on different sides, ports of one field on the same side.
            near = [(j, 1 - side[k]) for j in gains[k]] + [(j, side[k]) for j in mates.get(k, ())]
            for j, wanted in near:
                if side.setdefault(j, wanted) != wanted:
                    return None
                if j not in queue:
                    queue.append(j)
    left = [k for k in range(count) if side[k] == 0]
    right = [k for k in range(count) if side[k] == 1]
    return (left, right) if left and right else None
