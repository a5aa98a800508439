"""What sections name, once all elements of a ladder are there.

A section cuts a ladder in two. Its variables are those of an element or a connection beside it, which take the names; what no
single element has, such as the voltage behind an inductor, is a sum of their variables and becomes a signal of its name.
"""

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, final

from tellegen.core.domains import REFERENCES, Domain, Side, other_side
from tellegen.core.units import parse_unit
from tellegen.expressions import ONE, symbol, to_text, total
from tellegen.model.model import SIDES, Element, input_name, known_variables, side_names, variable_name
from tellegen.model.signals import SignalDefinition
from tellegen.notations.context import ReadingContext
from tellegen.notations.pog import rules
from tellegen.notations.pog.ladder import NONE, LadderSection
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.yaml.document import Scalar


@final
@dataclass(slots=True, eq=False)
class NamedSection:
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


def name_sections(context: ReadingContext, sections: Iterable[NamedSection], grounded: Mapping[str, str]) -> None:
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

    def name(self, sections: list[NamedSection]) -> None:
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

    named: NamedSection
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
