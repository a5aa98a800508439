"""The lines of a bond graph: items and half arrows as they are read and written, and vector bonds written out.

Sizes are said once, as in `1[3]:i`, and spread along bonds as domains do. `i[2]` is a component: a scalar item to whoever is bonded
to it. A two-port stays one item; its ports are counted on either side.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Place, TellegenError
from tellegen.core.files import clip
from tellegen.core.names import NAME, did_you_mean, is_dotted, is_name
from tellegen.expressions import RESERVED_WORDS
from tellegen.model.bond_graph import (
    DETECTORS,
    ITEMS,
    MOST_NUMBER,
    MOST_PORTS,
    BondGraph,
    BondItem,
    PowerBond,
    SignalBond,
    part_name,
)
from tellegen.notations import rules as notations_rules
from tellegen.notations.bond_graph import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode

_COUNT = r"\s*\[\s*(\w+)\s*\]"
_ITEM = re.compile(rf"(?:([A-Za-z0-9]+)(?:{_COUNT})?\s*:\s*)?({NAME.pattern})(?:{_COUNT})?\s*(?:\(([^()]*)\))?")

# Half arrows too, as people draw them: the barb of -7 stands on the side of the flow, and nothing follows from it. A number in the
# shaft is that of the bond: `-3->`, `-3-⇀`, `-3-7`; -37 would be both.
_ARROW = re.compile(r"(?:[-–]([0-9]+))?(?:->|[-–]?[→⇀⇁])|(?<=\s)(?:-([0-9]+))?-7(?=\s)")
_DRAWN_ARROW = re.compile("->|[→⇀⇁]")
_SIGNAL_ARROW = re.compile("=>")
_BOND_NUMBER = re.compile(r"\s[-–]\s*(\d+)\s*[-–]?$")
"""What is left before the head of an arrow whose number is not in its shaft, as `-3 ->`."""
_NUMBERED = re.compile(r"(?:([01])\s*:\s*)?\d+")


def read_lines(context: ReadingContext, node: Node) -> BondGraph | None:
    """The bond graph that a list of lines describes; None when errors were collected."""
    fix = "write a list of lines such as '- Se:V -> 1:i'"
    if not isinstance(node, SequenceNode):
        raise context.error(rules.BAD_BOND, node, "'bond graph' is not a list", fix=fix)
    if not node.items:
        raise context.error(rules.BAD_BOND, node, "the bond graph has no bonds", fix=fix)
    reader = _Reader(context)
    for line in node:
        try:
            reader.read(_text(context, line))
        except TellegenError as error:
            reader.failed = True
            context.collect(error)
    if not reader.failed:
        reader.refuse_unknown()
    if not reader.failed:
        return BondGraph(reader.items, tuple(reader.bonds), tuple(reader.signals))
    context.broken.update(reader.mentioned)
    return None


def _text(context: ReadingContext, line: Node) -> Scalar:
    if isinstance(line, Scalar):
        return line
    fix = "write it as one text, such as '- Se:V -> 1:i'"
    if isinstance(line, MappingNode) and line.keys and line.keys[0].text.partition("[")[0] in ITEMS:
        fix = f"put no space behind the colon: '{line.keys[0].text}:...'"
    raise context.error(rules.BAD_BOND, line, "a line of the bond graph is not a single text", fix=fix)


class _Mention(NamedTuple):
    """An item as one line writes it: `1[3]:i` says a size, `i[2]` a port."""

    name: str
    kind: str
    size: int
    port: int
    notes: str
    place: Place


class _Piece(NamedTuple):
    """What stands between two arrows."""

    text: str
    place: Place


class _Reader:
    """Collects what all mentions of an item say, and a bond for each arrow."""

    def __init__(self, context: ReadingContext) -> None:
        self.context = context
        self.items: dict[str, BondItem] = {}
        self.bonds: list[PowerBond] = []
        self.signals: list[SignalBond] = []
        self.numbers: dict[int, Place] = {}
        self.mentioned: dict[str, Place] = {}
        self.early: dict[str, list[_Mention]] = {}  # notes at a name whose kind comes later
        self.failed = False

    def read(self, line: Scalar) -> None:
        if "=>" in line.text:
            self._read_signal(line)
            return
        pieces = self._pieces(line, _ARROW)
        if len(pieces) < 2:
            shown = f"'{clip(line.text)}'" if line.text.strip() else "an empty line"
            fix = "write a bond such as 'Se:V -> 1:i'"
            raise self.context.error(rules.BAD_BOND, line, f"{shown} has no '->'", fix=fix)
        mentions = [self._mention(piece) for piece in pieces]
        for mention in mentions:
            self._take(mention)
        numbers = [self._number(line, arrow) for arrow in _ARROW.finditer(line.text)]
        self.bonds += [
            PowerBond(tail.name, head.name, tail.port, head.port, number, place=tail.place, numbered=number > 0)
            for (tail, head), number in zip(pairwise(mentions), numbers, strict=True)
        ]

    def _number(self, line: Scalar, arrow: re.Match[str]) -> int:
        """The number in the shaft of an arrow; 0 where there is none."""
        digits = arrow[1] or arrow[2]
        if digits is None:
            return 0
        place = self._place(line, arrow.start(), arrow[0])
        number = int(digits) if len(digits) < 10 else 0  # where there are more digits, their value is not asked for
        if not 1 <= number <= MOST_NUMBER:
            what = f"a bond has the number {clip(digits)}"
            raise rules.BAD_BOND_NUMBER.error(what, fix=f"choose one from 1 to {MOST_NUMBER}", place=place)
        if (other := self.numbers.setdefault(number, place)) is not place:
            what = f"two bonds have the number {number}: the other one is in line {other.line}, column {other.column}"
            fix = "give each bond a number of its own, or leave one out: it gets a number that is free"
            raise rules.BAD_BOND_NUMBER.error(what, fix=fix, place=place)
        return number

    def _pieces(self, line: Scalar, arrow: re.Pattern[str]) -> list[_Piece]:
        ends = [(0, 0), *(one.span() for one in arrow.finditer(line.text)), (len(line.text), len(line.text))]
        found = []
        for (_, start), (stop, _) in pairwise(ends):
            piece = line.text[start:stop]
            text = piece.strip()
            found.append(_Piece(text, self._place(line, start + len(piece) - len(piece.lstrip()), text)))
        return found

    def _place(self, line: Scalar, start: int, text: str) -> Place:
        # Where escapes hide the columns inside the text, everything is placed at its start.
        inside = self.context.document.place(line, 1, "").column - line.column
        shift = inside - 1 + start if inside else 0
        return Place(self.context.file, line.line, line.column + shift, clip(text))

    # -- signals ---------------------------------------------------------------------------------------------------------------

    def _read_signal(self, line: Scalar) -> None:
        """`v => 2 => MSe:V`: a signal, factors that it is multiplied by, and the source that follows the product."""
        *before, last = self._pieces(line, _SIGNAL_ARROW)
        has_power = _DRAWN_ARROW.search(line.text) is not None
        if has_power or not all(piece.text for piece in (*before, last)):
            fix = "write 'De:v => MSe:V' on a line of its own, with a signal before the arrow and a source behind it"
            what = (
                "a signal bond stands among bonds of power"
                if _DRAWN_ARROW.search(line.text)
                else "an arrow has nothing on one side"
            )
            raise self.context.error(rules.BAD_SIGNAL_BOND, line, what, fix=fix)
        first, target = before[0], self._mention(last)
        if target.port:
            what = f"'{last.place.text}' is one component of a source"
            raise rules.BAD_SIGNAL_BOND.error(what, fix="give each component a source of its own", place=last.place)
        named = _ITEM.fullmatch(first.text)
        if named is not None and named[1] is not None:
            source = self._mention(first)
            if source.kind not in DETECTORS:
                what = f"'{source.kind}:{source.name}' gives no signal"
                fix = "write '->' for a bond; a signal starts at a detector, De or Df, or at an expression of variables"
                raise rules.BAD_SIGNAL_BOND.error(what, fix=fix, place=first.place)
            self._take(source)
            first = first._replace(text=source.name)
        self._take(target)
        factors = [piece.text for piece in (first, *before[1:])]
        text = factors[0] if len(factors) == 1 else "*".join(f"({factor})" for factor in factors)
        self.signals.append(SignalBond(text, target.name, first.place))

    # -- items -----------------------------------------------------------------------------------------------------------------

    def _mention(self, piece: _Piece) -> _Mention:
        text, place = piece
        found = _ITEM.fullmatch(text)
        if found is None:
            what = f"'{place.text}' is not an item" if text else "an arrow has nothing on one side"
            fix = "write 'kind:name', a name used before, or 'kind:name (variable)'"
            if numbered := _NUMBERED.fullmatch(text):
                junction = f"{numbered[1] or text}:{'p' if text.startswith('0') else 'i'}"
                what = f"'{text}' is no name of a junction: it is a number"
                fix = f"a name is a letter, then letters and digits: write '{junction}' where it first stands, then its name"
            elif bond := _BOND_NUMBER.search(text):
                what = f"the number {bond[1]} behind '{clip(text[: bond.start()].strip())}' is not in the shaft of an arrow"
                fix = f"write '-{bond[1]}->'"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        kind, size, name, port, notes = found.groups()
        self.mentioned.setdefault(name, place)
        if kind is not None and kind not in ITEMS:
            fix = did_you_mean(kind, ITEMS) or f"the kinds are {', '.join(ITEMS)}"
            raise rules.UNKNOWN_ITEM_KIND.error(f"'{clip(kind)}' is no kind of a bond graph", fix=fix, place=place)
        mention = _Mention(name, kind or "", self._count(size, place), self._count(port, place), notes or "", place)
        if mention.size and kind and ITEMS[kind].role == "two-port":
            what = f"'{kind}[{size}]' says a size, and {name} has two sides"
            fix = "leave it out: the sizes follow from what it is bonded to"
            raise rules.WRONG_SIZE.error(what, fix=fix, place=place)
        return mention

    def _count(self, text: str | None, place: Place) -> int:
        """A number of components, written as a number or as the name of a whole parameter; 0 where there is none."""
        if text is None:
            return 0
        # Nine digits are too many components whatever follows them, and are a number in no time.
        count = int(text[:9]) if text.isascii() and text.isdigit() else self.context.counts.get(text, 0)
        self.context.counted |= {text} & self.context.counts.keys()
        if not 1 <= count <= MOST_PORTS:
            what = f"'[{clip(text)}]' is no number of components"
            fix = f"write a whole number from 1 to {MOST_PORTS}, or the name of a parameter that is one"
            raise rules.WRONG_SIZE.error(what, fix=fix, place=place)
        return count

    def _take(self, mention: _Mention) -> None:
        name = mention.name
        known = self.items.get(name)
        if mention.kind:
            if known is None:
                self._define(mention)
            elif known.letters != mention.kind:
                what = f"'{name}' is {known.letters} and {mention.kind}"
                raise rules.ITEM_TWICE.error(what, fix="give one of them another name", place=mention.place)
        if mention.size:
            self._size(mention)
        if not mention.notes.strip():
            return
        if name in self.items:
            self._note(mention)
        else:
            # A note may stand where a name is only used, before the line that says its kind.
            self.early.setdefault(name, []).append(mention)

    def _define(self, mention: _Mention) -> None:
        name, kind = mention.name, mention.kind
        junction = ITEMS[kind].role == "junction"
        # A junction becomes a node of its name, and the reference is a node already.
        if junction and name in REFERENCES:
            what = f"'{name}' cannot name a junction: it is the reference of a domain"
            fix = f"choose another name, such as '{kind}:{name}_1'"
            raise notations_rules.BAD_NAME.error(what, fix=fix, place=mention.place)
        if not junction and name in RESERVED_WORDS:
            what = f"'{name}' cannot name an element: it has a meaning of its own in formulas"
            raise notations_rules.BAD_NAME.error(what, fix="choose another name", place=mention.place)
        self.items[name] = BondItem(name, kind, place=mention.place)
        for early in self.early.pop(name, ()):
            self._note(early)

    def _size(self, mention: _Mention) -> None:
        item = self.items[mention.name]
        if item.size not in (0, mention.size):
            what = f"'{item.name}' has {item.size} components and {mention.size}"
            raise rules.WRONG_SIZE.error(what, fix="keep one of the two sizes", place=mention.place)
        self.items[item.name] = replace(item, size=mention.size)

    def _note(self, mention: _Mention) -> None:
        """Add what stands in parentheses: the names of variables, the word of a domain, or both."""
        words = [word.strip() for word in mention.notes.split(",") if word.strip()]
        domains = [word for word in words if word in DOMAINS]
        variables = tuple(word for word in words if word not in DOMAINS)
        item, place = self.items[mention.name], mention.place
        if (
            len(domains) > 1
            or len(variables) > max(item.size, 1)
            or not all(is_name(v) or is_dotted(v) for v in variables)
        ):
            fix = did_you_mean(variables[-1], DOMAINS) if variables and " " not in variables[-1] else ""
            fix = fix or f"write the name of a variable, one of {', '.join(DOMAINS)}, or both"
            what = f"'({clip(mention.notes)})' is not the name of a variable and the word of a domain"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        if item.role == "two-port" or (mention.port and variables):
            what = f"'({clip(mention.notes)})' stands behind {item.letters}:{item.name}, which has two sides"
            fix = "write it behind a junction or a one-port beside it"
            if mention.port and item.role != "two-port":
                what = f"'({clip(mention.notes)})' stands behind one component of {item.name}"
                fix = f"name all components behind '{item.name}', or under 'elements'"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        if reserved := [word for word in variables if word in RESERVED_WORDS]:
            what = f"'{reserved[0]}' cannot name a variable: it has a meaning of its own in formulas"
            raise notations_rules.BAD_NAME.error(what, fix="choose another name", place=place)
        said = ", ".join(item.variables)
        for old, new in ((said, ", ".join(variables)), (item.domain, "".join(domains))):
            if old and new and old != new:
                what = f"'{item.name}' is called {old} and {new}"
                raise rules.ITEM_TWICE.error(what, fix="keep one of them", place=place)
        self.items[item.name] = replace(
            item, variables=variables or item.variables, domain=(domains or [item.domain])[0]
        )

    def refuse_unknown(self) -> None:
        """Collect an error for each name without a kind."""
        unknown = [(name, place) for name, place in self.mentioned.items() if name not in self.items]
        known = list(self.items)[:2000]
        self.failed = bool(unknown)
        for name, place in unknown:
            fix = (
                did_you_mean(name, known)
                or f"write its kind where it stands first, such as '1:{clip(name)}' or 'R:{clip(name)}'"
            )
            self.context.collect(rules.UNKNOWN_ITEM.error(f"nothing says what '{clip(name)}' is", fix=fix, place=place))


SizedEnd = tuple[str, str]
"""An item, or one side of a two-port: "in" or "out"."""


def with_scalar_bonds(graph: BondGraph) -> BondGraph:
    """The scalar bond graph that a bond graph stands for. Bonds of two-ports say which port they are at.

    Raises: DescriptionError where two sizes meet.
    """
    sizes = _Sizes(graph).find()
    items: dict[str, BondItem] = {}
    for item in graph.items.values():
        if item.role == "two-port":
            items[item.name] = item
        else:
            items.update((part.name, part) for part in _parts(item, sizes[item.name, ""]))
    bonds = [part for bond in graph.bonds for part in _bonds(graph, bond, sizes)]
    return BondGraph(items, tuple(replace(bond, number=k) for k, bond in enumerate(bonds, 1)), graph.signals)


def _parts(item: BondItem, size: int) -> Iterator[BondItem]:
    if size == 1:
        yield replace(item, size=1)
        return
    if len(item.variables) not in (0, 1, size):
        what = f"'{item.name}' has {size} components and {len(item.variables)} names of variables"
        raise rules.WRONG_SIZE.error(what, where=item.name, fix=f"give one name, or {size}", place=item.place)
    for k in range(1, size + 1):
        names = item.variables[k - 1 : k] if len(item.variables) > 1 else [part_name(v, k) for v in item.variables]
        yield replace(item, name=part_name(item.name, k), variables=tuple(names), size=size)


def _bonds(graph: BondGraph, bond: PowerBond, sizes: dict[SizedEnd, int]) -> Iterator[PowerBond]:
    tail, head = _end(graph, bond.tail, "out"), _end(graph, bond.head, "in")
    size = 1 if bond.tail_port or bond.head_port else sizes[tail]
    for k in range(1, size + 1):
        one, two = bond.tail_port or k, bond.head_port or k
        names = _name(tail, sizes[tail], one), _name(head, sizes[head], two)
        yield PowerBond(*names, one if tail[1] else 0, two if head[1] else 0, place=bond.place)


def _name(end: SizedEnd, size: int, port: int) -> str:
    return end[0] if end[1] or size == 1 else part_name(end[0], port)


def _end(graph: BondGraph, name: str, side: str) -> SizedEnd:
    return (name, side if graph.items[name].role == "two-port" else "")


class _Sizes:
    """Spreads the sizes that are said along bonds of whole items."""

    def __init__(self, graph: BondGraph) -> None:
        self.graph = graph
        self.sizes: dict[SizedEnd, int] = {}
        self._neighbours: dict[SizedEnd, list[SizedEnd]] = {}
        self._parts: dict[SizedEnd, int] = {}  # the highest component that is mentioned
        for bond in graph.bonds:
            tail, head = _end(graph, bond.tail, "out"), _end(graph, bond.head, "in")
            for end, port in ((tail, bond.tail_port), (head, bond.head_port)):
                self._neighbours.setdefault(end, [])
                self._parts[end] = max(self._parts.get(end, 0), port)
            # A bond to one component says nothing about the size of the whole.
            if not (bond.tail_port or bond.head_port):
                self._neighbours[tail].append(head)
                self._neighbours[head].append(tail)

    def find(self) -> dict[SizedEnd, int]:
        """The size of every item and of both sides of every two-port."""
        for item in self.graph.items.values():
            if item.size:
                self._spread((item.name, ""), item.size)
        for bond in self.graph.bonds:  # a whole item beside a component is a scalar
            if bool(bond.tail_port) != bool(bond.head_port):
                end = _end(self.graph, bond.head, "in") if bond.tail_port else _end(self.graph, bond.tail, "out")
                self._spread(end, 1)
        for end, highest in self._parts.items():
            if highest and end not in self.sizes:
                self._spread(end, highest)
        for end in self._neighbours:
            self.sizes.setdefault(end, 1)
        for item in self.graph.items.values():  # what has no bond is reported later
            if item.role != "two-port":
                self.sizes.setdefault((item.name, ""), max(item.size, 1))
        self._refuse_missing_components()
        return self.sizes

    def _spread(self, start: SizedEnd, size: int) -> None:
        stack = [start]
        while stack:
            end = stack.pop()
            if end not in self.sizes:
                self.sizes[end] = size
                stack.extend(self._neighbours.get(end, ()))
            elif self.sizes[end] != size:
                raise self._two_sizes(end, size)

    def _two_sizes(self, end: SizedEnd, size: int) -> TellegenError:
        item = self.graph.items[end[0]]
        what = f"'{item.name}' would have {self.sizes[end]} components and {size}"
        fix = f"bond one component, such as '{part_name(item.name, 1)}', or put TF or GY with a matrix between the two sizes"
        return rules.WRONG_SIZE.error(what, where=item.name, fix=fix, place=item.place)

    def _refuse_missing_components(self) -> None:
        for end, highest in self._parts.items():
            if highest > self.sizes[end]:
                item, size = self.graph.items[end[0]], self.sizes[end]
                what = f"'{part_name(item.name, highest)}' is bonded, and '{item.name}' has {size} component{'s' * (size > 1)}"
                fix = f"write its size where it stands first, such as '{item.letters}[{highest}]:{item.name}'"
                if item.role == "two-port":
                    fix = "check the size of what its other bonds lead to"
                raise rules.WRONG_SIZE.error(what, where=item.name, fix=fix, place=item.place)


# As they stand in a file


def bond_graph_lines(graph: BondGraph) -> list[str]:
    """The lines of `bond graph:`: the bonds in their order, then the signals that sources follow."""
    return [*_Writer(graph).write(), *(f"{signal.expression} => {signal.target}" for signal in graph.signals)]


def _arrow(bond: PowerBond) -> str:
    return f"-{bond.number}->" if bond.numbered else "->"


class _Writer:
    """Writes each bond once, and the kind of each item where it stands first."""

    def __init__(self, graph: BondGraph) -> None:
        self.graph = graph
        self.said: set[str] = set()
        self.written: set[int] = set()

    def write(self) -> list[str]:
        lines = []
        for bond in self.graph.bonds:
            if bond.number not in self.written:
                chain = self._chain(bond)
                self.written.update(b.number for b in chain)
                first = self._item(chain[0].tail, chain[0].tail_port)
                lines.append(first + "".join(f" {_arrow(b)} {self._item(b.head, b.head_port)}" for b in chain))
        return lines

    def _chain(self, bond: PowerBond) -> list[PowerBond]:
        """A bond with the one behind its two-port, where that has no others and is not written yet: people write so."""
        around = self.graph.bonds_of(bond.head)
        if self.graph.items[bond.head].role == "two-port" and len(around) == 2:
            behind = next(b for b in around if b is not bond)
            if behind.number not in self.written and not (bond.head_port or behind.tail_port):
                return [bond, behind]
        return [bond]

    def _item(self, name: str, port: int) -> str:
        component = f"[{port}]" if port else ""
        if name in self.said:
            return name + component
        self.said.add(name)
        item = self.graph.items[name]
        junction = item.role == "junction"
        # The sizes of all other items follow from those of junctions along the bonds, and so do domains.
        size = f"[{item.size}]" if junction and item.size > 1 else ""
        note = item.domain if junction else item.variable
        return f"{item.letters}{size}:{name}{component}" + (f" ({note})" if note else "")
