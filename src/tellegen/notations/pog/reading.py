"""The elements of a ladder, from its part of a model file: a walk from node to node, lane by lane.

Series blocks take an across variable and give a through variable: their elements follow each other from node to node.
Parallel blocks take a through variable and give an across variable: their elements lie between the node and the reference.
A connection block takes the output x_1 of the block before it and gives the input x_2 = K x_1 of the block behind it, so its
neighbours say which power variables its matrix relates. A section at an end is a source of the variable that the block beside it
takes, unless it says which one is given; where an end has no section, that variable is zero. A side ladder starts at a branch.

A section cuts a ladder in two. When all elements are there, those beside it, or a connection, take its names; what no single
element has, such as the voltage behind an inductor, is a sum of their variables and becomes a signal of its name.
"""

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from tellegen.core.domains import REFERENCES, Domain, Side, other_side
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.units import parse_unit
from tellegen.elements import COUPLING_OF, ElementKind, connection, kinds_of
from tellegen.expressions import ONE, symbol, to_text, total
from tellegen.model.model import SIDES, Element, input_name, known_variables, side_names, variable_name
from tellegen.model.signals import SignalDefinition
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.elements import ElementLine, add_element_of_line, allow_variables
from tellegen.notations.network.keys import kind_that_fits, make_form
from tellegen.notations.network.lines import add_details, read_elements, switching_kind
from tellegen.notations.pog import ladder, lanes, matrices, rules
from tellegen.notations.pog.ladder import NONE, LadderSection
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.yaml.document import Node, Scalar


@final
@dataclass(slots=True, eq=False)
class _NamedSection:
    """A section between elements: the nodes and domains of its lanes, and which elements lie behind it, by their numbers.

    `taken` are the names that the blocks beside it have from it already, lane by lane.
    """

    section: LadderSection
    nodes: tuple[str, ...]
    domains: tuple[Domain, ...]
    begin: int
    taken: tuple[tuple[str, ...], ...] = ()
    end: int = 0


class _End(NamedTuple):
    """An end of an element, or a port of a connection: its variables times the signs count from plus to minus, and into plus."""

    number: int
    name: str
    port: int
    plus: str
    minus: str
    across: int
    through: int

    def sign(self, side: Side) -> int:
        """The sign of one of its variables."""
        return self.across if side == "across" else self.through


class _Term(NamedTuple):
    """A variable of an end, with the sign that it has in the variable of a section."""

    end: _End
    sign: int


def _name_sections(context: ReadingContext, sections: Iterable[_NamedSection], grounded: Mapping[str, str]) -> None:
    """Give the names of sections to what has them, and make signals of sums; `grounded` nodes turned out to be references."""
    listed = list(sections)
    if listed:
        _Naming(context, grounded).name(listed)


class _Naming:
    def __init__(self, context: ReadingContext, grounded: Mapping[str, str]) -> None:
        self.context, self.grounded = context, grounded
        self.names = list(context.elements)
        self.at: dict[str, list[_End]] = {}
        for number, element in enumerate(context.elements.values()):
            for end in _ends(number, element):
                for node in {end.plus, end.minus}:
                    self.at.setdefault(node, []).append(end)
        chosen = {name: e.name for e in context.elements.values() for name in e.variables.values()}
        self.owners = chosen | {input_name(e): e.name for e in context.elements.values() if e.kind.role == "source"}

    def name(self, sections: list[_NamedSection]) -> None:
        """Go through the sections from left to right: what elements have is named before sums of it are written."""
        sums: list[tuple[Scalar, _Place, list[_Term]]] = []
        for named in sections:
            for lane, (node, domain) in enumerate(zip(named.nodes, named.domains, strict=True)):
                for side in SIDES:
                    text, place = named.section.variable(side, lane), _Place(named, self._settled(node), domain, side)
                    # At an end that is a reference no path leads back to the block that took the name.
                    if text.text == NONE or (place.node in REFERENCES and text.text in named.taken[lane]):
                        continue
                    terms = self._equal(place)
                    if text.text in self.owners:
                        self._check(text, place, terms)
                    elif (best := self._best(terms, side)) is not None:
                        self._give(text, best, side)
                    else:
                        sums.append((text, place, terms[:1]))
        for text, place, terms in sums:
            with self.context.collecting(text.text):
                self._define(text, place, terms or self._sum(place))

    def _settled(self, node: str) -> str:
        return self.grounded.get(node, node)

    def _check(self, text: Scalar, place: "_Place", terms: list[_Term]) -> None:
        """A name that something has already means the same variable here."""
        for term in terms:
            element = self.context.elements[term.end.name]
            # What a source imposes or answers counts as its section says: into the ladder from both ends.
            at_end = element.kind.role == "source" and place.node in (term.end.plus, term.end.minus)
            if (term.sign > 0 or at_end) and self._variable(term.end, place.side) == text.text:
                return
        self._tell(text, f"which is another variable at '{self.owners[text.text]}'", place)

    # -- elements --------------------------------------------------------------------------------------------------------------

    def _variable(self, end: _End, side: Side) -> str:
        element = self.context.elements[end.name]
        # The name without a number means the first port alone that has such a variable.
        return side_names(element, end.port, side)[-1] if _is_coupling(element) else variable_name(element, side)

    def _best(self, terms: list[_Term], side: Side) -> _Term | None:
        """Who takes the name: a storage that decides the variable, then connections, which have no others, then elements."""
        free = [term for term in terms if term.sign > 0 and self._takes_name(term.end, side)]
        return min(free, key=lambda term: self._importance(term.end, side), default=None)

    def _takes_name(self, end: _End, side: Side) -> bool:
        """Whether its variable may still be named; connections of several lanes keep no names."""
        element = self.context.elements[end.name]
        imposed = element.kind.role == "source" and element.kind.side == side
        return not imposed and element.multiport is None and _key(element, end.port, side) not in element.variables

    def _importance(self, end: _End, side: Side) -> tuple[int, int]:
        element = self.context.elements[end.name]
        decides = element.kind.role == "storage" and element.kind.side == side
        return 0 if decides else 1 if _is_coupling(element) else 2, end.number

    def _give(self, text: Scalar, term: _Term, side: Side) -> None:
        element = self.context.elements[term.end.name]
        variables = {**element.variables, _key(element, term.end.port, side): text.text}
        self.context.elements[element.name] = replace(element, variables=variables)
        self.context.variables.setdefault(text.text, element.name)
        self.owners[text.text] = element.name

    # -- what equals the variable of a section ---------------------------------------------------------------------------------

    def _equal(self, place: "_Place") -> list[_Term]:
        """The variables that are that of a section up to their sign: those of elements with both its nodes, or in its path."""
        node = place.node
        if place.side == "across":
            return [
                _Term(end, end.across if end.plus == node else -end.across)
                for end in self.at.get(node, ())
                if node not in REFERENCES and (end.plus in REFERENCES) != (end.minus in REFERENCES)
            ]
        behind, before = self._parted(place)
        return [*self._path(behind, node), *(_Term(t.end, -t.sign) for t in self._path(before, node))]

    def _parted(self, place: "_Place") -> tuple[list[_End], list[_End]]:
        """The ends at the node of a section that lie behind it, and those before it."""
        named = place.named
        ends = [end for end in self.at.get(place.node, ()) if end.plus != end.minus]
        behind = [end for end in ends if named.begin <= end.number < named.end]
        return behind, [end for end in ends if not named.begin <= end.number < named.end]

    def _path(self, ends: list[_End], node: str) -> Iterator[_Term]:
        """The elements in a row through which all flows that leaves a node into `ends`."""
        seen = set[str]()
        while len(ends) == 1 and node not in seen and node not in REFERENCES:
            seen.add(node)
            (end,) = ends
            yield _leaving(end, node)
            node = end.minus if end.plus == node else end.plus
            ends = [other for other in self.at[node] if other is not end and other.plus != other.minus]

    # -- sums ------------------------------------------------------------------------------------------------------------------

    def _sum(self, place: "_Place") -> list[_Term]:
        """The variables that add up to that of a section; none where it is zero."""
        if place.side == "across":
            return self._way(place.node)
        behind, before = self._parted(place)
        # The side with fewer elements says it shorter: what leaves the one comes from the other.
        if len(before) < len(behind):
            return [_Term(end, -_leaving(end, place.node).sign) for end in before]
        return [_leaving(end, place.node) for end in behind]

    def _way(self, node: str) -> list[_Term]:
        """The shortest way from a node to a reference."""
        came: dict[str, tuple[str, _Term]] = {}
        queue = deque([node])
        while queue:
            here = queue.popleft()
            if here in REFERENCES:
                found: list[_Term] = []
                while here != node:
                    here, term = came[here]
                    found.append(term)
                return found[::-1]
            for end in self.at.get(here, ()):
                there, sign = (end.minus, 1) if end.plus == here else (end.plus, -1)
                if there not in came and there != node:
                    came[there] = here, _Term(end, end.across * sign)
                    queue.append(there)
        return []

    def _define(self, text: Scalar, place: "_Place", terms: list[_Term]) -> None:
        """A signal of the name; one that is there already says the same."""
        context, name = self.context, text.text
        formula = total((ONE if t.sign > 0 else -ONE) * symbol(self._variable(t.end, place.side)) for t in terms)
        known = context.signals.get(name)
        if known is not None and known.between:
            if known.settings[FORMULA] is not formula:
                self._tell(text, f"which is another variable behind '{known.between[0]}'", place)
            return
        described: dict[str, Container[str]] = {
            "signal": context.signals,
            "parameter": context.parameters,
            "displacement": context.displacements,
            "variable of an element": known_variables(context.elements.values()),
        }
        for word, names in described.items():
            if name in names:
                what = f"the section calls its {place.side} variable '{name}', which is the name of a {word}"
                raise context.error(rules.SECTION_NAME_TAKEN, text, what, fix="give it a name of its own")
        begin = place.named.begin
        between = tuple(self.names[k] if 0 <= k < len(self.names) else "" for k in (begin - 1, begin))
        unit = place.domain.power(place.side).unit
        dimension = parse_unit(unit).dimension
        context.signals[name] = SignalDefinition(
            name=name,
            block=FORMULA,
            settings={FORMULA: formula},
            dimension=dimension,
            place=context.place(text),
            texts={FORMULA: to_text(formula)},
            unit=unit,
            between=(between[0], between[1]),
        )
        context.signal_measures[name] = dimension

    def _tell(self, text: Scalar, whose: str, place: "_Place") -> None:
        what = f"the section calls its {place.side} variable '{text.text}', {whose}"
        found = rules.SECTION_NAME_TWICE.finding(
            what, fix="give it a name of its own; until then it has none", place=self.context.place(text)
        )
        self.context.notes.append(found)


class _Place(NamedTuple):
    """One variable of a section: that of a lane, where the lane is at a node."""

    named: _NamedSection
    node: str
    domain: Domain
    side: Side


def _is_coupling(element: Element) -> bool:
    return element.kind.role == "coupling"


def _key(element: Element, port: int, side: Side) -> str:
    """Where an element keeps the name of a variable."""
    return f"{side}_{port + 1}" if _is_coupling(element) else side


def _ends(number: int, element: Element) -> Iterator[_End]:
    if not _is_coupling(element):
        # What a source answers counts out of it.
        answer = other_side(element.kind.side) if element.kind.role == "source" else None
        across, through = (-1 if side == answer else 1 for side in SIDES)
        yield _End(
            number=number,
            name=element.name,
            port=0,
            plus=element.nodes[0],
            minus=element.nodes[1],
            across=across,
            through=through,
        )
        return
    given = {0} if element.multiport is None else set(element.multiport.given)
    for port in range(len(element.nodes) // 2):
        # Power enters at side 1 and leaves at side 2, where the through variable counts out of the coupling.
        plus, minus = element.nodes[2 * port : 2 * port + 2]
        yield _End(
            number=number,
            name=element.name,
            port=port,
            plus=plus,
            minus=minus,
            across=1,
            through=1 if port in given else -1,
        )


def _leaving(end: _End, node: str) -> _Term:
    """What flows from a node into an end."""
    return _Term(end, end.through if end.plus == node else -end.through)


class LadderEmitter:
    """Adds the elements of a ladder to the model. A node that turns out to be at the reference is renamed at the end."""

    def __init__(
        self, context: ReadingContext, parts: list[ladder.ReadPart], stages: lanes.LaneStages, details: Node | None
    ) -> None:
        self.context, self.parts, self.stages = context, parts, stages
        self.more = read_elements(context, details, [*_elements(parts), *lanes.source_names(parts)], "the ladder")
        self.count = self.links = 0
        self.grounded: dict[str, str] = {}
        self.sections: list[_NamedSection] = []

    def emit(self) -> None:
        """Walk along the ladder and its branches."""
        before = set(self.context.elements)
        _Walk(self, self.parts, None).run()
        # An end without a section has the reference behind it; that is known only when the walk has got there.
        if self.grounded:
            for name, element in self.context.elements.items():
                if name not in before and self.grounded.keys() & set(element.nodes):
                    nodes = tuple(self.grounded.get(node, node) for node in element.nodes)
                    self.context.elements[name] = replace(element, nodes=nodes)
                    if element.kind.role != "coupling" and nodes[0] == nodes[1]:
                        self.context.add_errors([_shorted(element, nodes[0])])
        if not self.context.errors:  # what is missing would be missing in sums, too
            _name_sections(self.context, self.sections, self.grounded)

    def fresh(self) -> str:
        """The name of a new node."""
        self.count += 1
        return f"s{self.count}"

    def link_name(self) -> str:
        """The name of the connection that joins a side ladder in series."""
        self.links += 1
        while f"branch_{self.links}" in self.context.elements:
            self.links += 1
        return f"branch_{self.links}"

    def kind_of(self, entry: ladder.LadderElement, domain: Domain) -> ElementKind:
        """The kind of an element: by its letter, then by the unit of its parameter or the key that gives its value."""
        if entry.letter == ladder.SWITCHING:
            place = self.context.place(entry.text)
            return switching_kind(self.context, entry.name, domain, self.more.get(entry.name), place)
        found = lanes.letter_kinds(entry.letter, domain)
        if not found:
            what = f"'{entry.letter}' stands for no {domain.name} element"
            fix = f"'{entry.letter}' belongs to {lanes.domain_words(entry.letter)}; write C or I for what stores energy"
            raise self.context.error(rules.BAD_LETTER, entry.text, what, fix=fix, where=entry.name)
        parameter = self.context.parameters.get(entry.name)
        dimension = None if parameter is None else parameter.dimension
        keys = [key.text for key in self.more[entry.name].keys] if entry.name in self.more else []
        return kind_that_fits(found, dimension, keys)

    def add(
        self, text: Scalar, name: str, kind: ElementKind, nodes: tuple[str, ...], variables: dict[str, str]
    ) -> None:
        """Add an element with what `elements` says about it; errors are collected."""
        key = Scalar(name, text.line, text.column, text.length, text.quoted)
        line = ElementLine(key, self.context.place(text), make_form(kind), name, nodes, variables=dict(variables))
        first = len(self.context.pending)
        with self.context.collecting(name):
            add_details(self.context, line, self.more.get(name))
            if kind.role in ("coupling", "resistive"):
                allow_variables(self.context, first)
            add_element_of_line(self.context, line)

    def connect_by_modulus(
        self, part: ladder.LadderConnection[Scalar], value: Scalar, kind: ElementKind, nodes: tuple[str, ...]
    ) -> None:
        """Add a scalar connection whose modulus stands in the ladder."""
        name, form = part.name, make_form(kind)
        subject = f"the modulus of {name.text}"
        modulus = self.context.checked_quantity(value, form.dimension, subject).expression
        self.context.require_new(name)
        self.context.elements[name.text] = Element(name.text, kind, nodes, modulus, place=self.context.place(name))


def _elements(parts: list[ladder.ReadPart]) -> Iterator[str]:
    """The elements and connections of a ladder and its branches about which `elements` may say more."""
    for part in parts:
        if isinstance(part, ladder.LadderBlock):
            yield from (name for item in part.items if isinstance(item, tuple) for name in ladder.item_names(item))
        elif isinstance(part, ladder.LadderConnection) and part.value is None and not part.K:
            yield part.name.text
        elif isinstance(part, ladder.LadderBranch):
            yield from _elements(part.ladder.parts)


def _shorted(element: Element, node: str) -> Finding:
    what = f"both ends of the {element.kind.name} {element.name} are at '{node}'"
    fix = "give its end of the ladder a section, or remove it"
    return notations_rules.SHORTED.finding(what, where=element.name, fix=fix, place=element.place)


class _Walk:
    """One ladder, or one side ladder, from left to right. `lanes` are the nodes that a side ladder starts from."""

    def __init__(
        self,
        emitter: LadderEmitter,
        parts: list[ladder.ReadPart],
        entry: tuple[list[str], ladder.LadderBranch[Scalar]] | None,
    ) -> None:
        self.emitter = emitter
        self.context = emitter.context
        self.stages = emitter.stages
        self.work = lanes.working_parts(parts)
        self.strong = lanes.strong_parts(parts)
        self.place = {id(part): k for k, part in enumerate(self.work)}
        self.lanes = [] if entry is None else list(entry[0])
        self.entry = None if entry is None else entry[1]
        self.names = lanes.section_names(self.work, self._stores)

    def run(self) -> None:
        first, last = self.work[0], self.work[-1]
        begin = first if isinstance(first, ladder.LadderSection) and self.entry is None else None
        if self.entry is None:
            self._start(begin)
        named: list[_NamedSection] = []
        position = 0
        for part in self.work:
            if isinstance(part, ladder.LadderSection):
                named.append(self._named_section(part, position))
                continue
            if isinstance(part, ladder.LadderBlock):
                self._elaborate(part, position)
            elif isinstance(part, ladder.LadderConnection):
                self._connect(part)
            elif isinstance(part, ladder.LadderBranch):
                self._branch(part)
            position += 1
        self._finish(last if isinstance(last, ladder.LadderSection) and last is not begin else None)
        for section in named:
            section.end = len(self.context.elements)

    def _named_section(self, section: ladder.LadderSection, position: int) -> _NamedSection:
        """A section where the walk has got to, for its names when all elements are there."""
        place = self.place[id(section)]
        near = next((p for p in (*self.work[place + 1 :], *self.work[:place][::-1]) if p in self.strong), section)
        before = isinstance(near, ladder.LadderConnection) and near in self.work[:place]
        stage = self.stages.behind(near) if before else self.stages.of(near)  # type: ignore[arg-type]
        domains = tuple(stage.domain(lane) for lane in range(stage.width))
        beside = (position - 1, position)
        taken = tuple(tuple(self.names.get((at, lane), "") for at in beside) for lane in range(stage.width))
        found = _NamedSection(section, tuple(self.lanes), domains, len(self.context.elements), taken)
        self.emitter.sections.append(found)
        return found

    def _stores(self, position: int, lane: int) -> bool:
        """Whether an element decides what a block gives in a lane."""
        block = self.strong[position]
        return isinstance(block, ladder.LadderBlock) and self._owner(block, lane)[1]

    def _owner(self, block: ladder.LadderBlock[Scalar], lane: int) -> tuple[int, bool]:
        """Which element takes the name of the shared variable, and whether it decides it: the first that does, else the first."""
        domain, way = self.stages.of(block).domain(lane), block.lane_way(lane)
        first = -1
        for number, item in enumerate(block.items):
            kind: ElementKind | None = None
            if isinstance(item, ladder.LadderField) and lane in ladder.lanes_of(item):
                kind = lanes.field_kind(item.word, domain, way)
            elif isinstance(item, tuple) and (entry := item[lane]) is not None:
                kind = self.emitter.kind_of(entry, domain)
            if kind is not None:
                if kind.role == "storage" and kind.side == ladder.given_side(way):
                    return number, True
                first = number if first < 0 else first
        return first, False

    # -- ends ------------------------------------------------------------------------------------------------------------------

    def _start(self, section: ladder.LadderSection | None) -> None:
        first = self.strong[0]
        stage = self.stages.of(first)
        for lane in range(stage.width):
            side = None if section is None else lanes.imposed_side(section, first, lane)
            series = isinstance(first, ladder.LadderBlock | ladder.LadderBranch) and first.lane_way(lane) == "series"
            self.lanes.append(stage.domain(lane).reference if side is None and series else self.emitter.fresh())
            if side is not None and section is not None:
                # The block names its shared variable; where a source imposes that one, the other name is the source's.
                shared = isinstance(first, ladder.LadderBlock) and side == ladder.given_side(first.lane_way(lane))
                self._source(section, side, stage, lane, self._conjugate(section, side, lane) if shared else {})

    def _finish(self, section: ladder.LadderSection | None) -> None:
        last = self.strong[-1] if self.strong else None
        if last is not None:
            stage = self.stages.behind(last) if isinstance(last, ladder.LadderConnection) else self.stages.of(last)
        else:
            assert section is not None, "a side ladder without blocks has a section"
            stage = self.stages.of(section)
        for lane in range(stage.width):
            side = None if section is None else lanes.imposed_side(section, last, lane)
            if side is not None and section is not None:
                self._source(section, side, stage, lane, self._conjugate(section, side, lane))
            elif isinstance(last, ladder.LadderBlock | ladder.LadderBranch) and last.lane_way(lane) == "series":
                self.emitter.grounded[self.lanes[lane]] = stage.domain(lane).reference

    def _conjugate(self, section: ladder.LadderSection, side: Side, lane: int) -> dict[str, str]:
        """The name of what answers a source, where nothing else has it."""
        name = section.variable(other_side(side), lane).text
        free = name not in self.context.variables and name != ladder.NONE
        return {other_side(side): name} if free else {}

    def _source(
        self, section: ladder.LadderSection, side: Side, stage: lanes.LaneStage, lane: int, variables: dict[str, str]
    ) -> None:
        domain, text, node = stage.domain(lane), section.variable(side, lane), self.lanes[lane]
        if text.text == ladder.NONE:
            what = f"the section imposes its {side} variable, which has no name"
            raise self.context.error(rules.BAD_BLOCK, text, what, fix="name it: a source has the name of its variable")
        kind = next(k for k in kinds_of(domain.name, "source") if k.side == side)
        source = section.imposed(lane)
        # An across variable falls from the node to the reference, a through variable flows into the node.
        falls = (side == "across") != (source is not None and source.reversed)
        nodes = (node, domain.reference) if falls else (domain.reference, node)
        self.emitter.add(text, text.text, kind, nodes, dict(variables))

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def _elaborate(self, block: ladder.LadderBlock[Scalar], position: int) -> None:
        for number, item in enumerate(block.items):
            ends = self._ends(block, item)
            variables = [self._named(block, position, lane, number) for lane in range(len(ends))]
            with self.context.collecting(*ladder.item_names(item)):
                self._emit(block, item, ends, variables)

    def _named(self, block: ladder.LadderBlock[Scalar], position: int, lane: int, number: int) -> dict[str, str]:
        """The name that a section gives to the shared variable of a lane, for the element that takes it."""
        name = self.names.get((position, lane))
        if name is None or self._owner(block, lane)[0] != number:
            return {}
        return {ladder.given_side(block.lane_way(lane)): name}

    def _ends(self, block: ladder.LadderBlock[Scalar], item: ladder.BlockItem[Scalar]) -> list[tuple[str, str]]:
        """The nodes of an element in each lane; series elements move the lane on to the next node."""
        stage, ends, used = self.stages.of(block), [], set(ladder.lanes_of(item))
        for lane, here in enumerate(self.lanes):
            present = lane in used
            if block.lane_way(lane) == "parallel" or not present:
                ends.append((here, stage.domain(lane).reference))
            else:
                self.lanes[lane] = self.emitter.fresh()
                ends.append((here, self.lanes[lane]))
        return ends

    def _emit(
        self,
        block: ladder.LadderBlock[Scalar],
        item: ladder.BlockItem[Scalar],
        ends: list[tuple[str, str]],
        variables: list[dict[str, str]],
    ) -> None:
        stage = self.stages.of(block)
        domains = [stage.domain(lane) for lane in range(stage.width)]
        ways = [block.lane_way(lane) for lane in range(stage.width)]
        if isinstance(item, ladder.LadderField):
            at, first = ladder.lanes_of(item), len(self.context.pending)
            parts = ([values[lane] for lane in at] for values in (domains, ways, ends, variables))
            matrices.FieldEmitter(self.context, item).emit(*parts)  # type: ignore[arg-type]
            # What stores nothing may move with states and signals; storages are constant.
            if item.word in (*ladder.RESISTIVE, "power", "static"):
                allow_variables(self.context, first)
        elif isinstance(item, ladder.LadderTransfer):
            matrices.TransferEmitter(self.context, item, domains, ways, ends).emit()
        else:
            for lane, entry in enumerate(item):
                if entry is not None:
                    nodes = ends[lane][::-1] if entry.reversed else ends[lane]
                    kind = self.emitter.kind_of(entry, domains[lane])
                    self.emitter.add(entry.text, entry.name, kind, nodes, variables[lane])

    def _branch(self, branch: ladder.LadderBranch[Scalar]) -> None:
        parts = branch.ladder.parts
        if branch.way == "parallel":
            _Walk(self.emitter, parts, (list(self.lanes), branch)).run()
            return
        stage, starts = self.stages.of(branch), []
        for lane, here in enumerate(self.lanes):
            self.lanes[lane], start = self.emitter.fresh(), self.emitter.fresh()
            domain = stage.domain(lane)
            # The side ladder stands in the path of the main one: a connection of modulus one carries it to its own
            # reference.
            coupling, reciprocal = COUPLING_OF["through", "through"]
            kind = connection((domain.name, domain.name), coupling, reciprocal=reciprocal)
            name, nodes = self.emitter.link_name(), (here, self.lanes[lane], start, domain.reference)
            self.context.elements[name] = Element(name, kind, nodes, ONE, place=self.context.place(branch.node))
            starts.append(start)
        _Walk(self.emitter, parts, (starts, branch)).run()

    def _connect(self, part: ladder.LadderConnection[Scalar]) -> None:
        """x_2 = K x_1, where x_1 is what the block before gives and x_2 what the block behind takes."""
        before, after = self.stages.of(part), self.stages.behind(part)
        place = lanes.ConnectionPlace(part, self.work, self.place[id(part)], self.entry)
        given = place.sides_before(self.context, before.width)
        found = place.sides_after(self.context, after.width)
        left = [before.domain(lane) for lane in range(before.width)]
        right = [after.domain(lane) for lane in range(after.width)]
        here, first = self.lanes, len(self.context.pending)
        self.lanes = [self.emitter.fresh() for _ in right]
        if not part.K:
            coupling, reciprocal = COUPLING_OF[given[0], found[0]]
            kind = connection((left[0].name, right[0].name), coupling, reciprocal=reciprocal)
            nodes = (here[0], left[0].reference, self.lanes[0], right[0].reference)
            if part.value is None:
                self.emitter.add(part.name, part.name.text, kind, nodes, {})
            else:
                self.emitter.connect_by_modulus(part, part.value, kind, nodes)
        else:
            self._connect_lanes(part, (left, given, here), (right, found, self.lanes))
        allow_variables(self.context, first)

    def _connect_lanes(
        self, block: ladder.LadderConnection[Scalar], left: matrices.LaneEnds, right: matrices.LaneEnds
    ) -> None:
        K = matrices.read_connection(self.context, block, left, right)
        for lane, row in enumerate(K):
            # A row of zeros imposes a zero: an across variable of zero is the reference itself.
            if matrices.is_zero_row(row) and right[1][lane] == "across":
                self.lanes[lane] = right[0][lane].reference
        for lane, here in enumerate(left[2]):
            if matrices.is_zero_row([row[lane] for row in K]) and left[1][lane] == "through":
                self.emitter.grounded[here] = left[0][lane].reference
        matrices.emit_connection(self.context, block, left, right, K)


def read_ladder(context: ReadingContext, node: Node, details: Node | None) -> None:
    """Add the elements of a ladder to the model; `details` holds laws, values and initial values by element."""
    parts = ladder.read_parts(context, node)
    if parts is None:
        return
    if not _elaborates(parts):
        fix = "add a series or parallel block"
        raise context.error(rules.EMPTY_LADDER, node, "the ladder has no elaboration block", fix=fix)
    try:
        lanes.check_neighbours(context, parts)
        LadderEmitter(context, parts, lanes.LaneStages(context, parts), details).emit()
    except TellegenError:
        # so that the experiment does not call them unknown
        context.broken.update(ladder.part_names(parts))
        raise


def _elaborates(parts: list[ladder.ReadPart]) -> bool:
    return any(
        isinstance(p, ladder.LadderBlock) or (isinstance(p, ladder.LadderBranch) and _elaborates(p.ladder.parts))
        for p in parts
    )
