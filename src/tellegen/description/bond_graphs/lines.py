"""Lines of a bond graph: `Se:V_a -> 1:i (I_a)`, `i -> GY:K_m -> 1:w`, `1[3]:i -> I:coils`, `De:v => MSe:V`."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, cast

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import NAME, did_you_mean, is_dotted, is_name
from tellegen.description import rules as common_rules
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import (
    DETECTORS,
    JUNCTIONS,
    KINDS,
    MOST_PORTS,
    TWO_PORTS,
    Bond,
    BondGraph,
    Item,
    ItemKind,
    SignalBond,
)
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.files import clip
from tellegen.expressions import RESERVED_WORDS

_COUNT = r"\s*\[\s*(\w+)\s*\]"
_ITEM = re.compile(rf"(?:([A-Za-z0-9]+)(?:{_COUNT})?\s*:\s*)?({NAME.pattern})(?:{_COUNT})?\s*(?:\(([^()]*)\))?")


def read_lines(context: Context, node: Node) -> BondGraph | None:
    """The bond graph that a list of lines describes; None when errors were collected."""
    fix = "write a list of lines such as '- Se:V -> 1:i'"
    if not isinstance(node, Sequence):
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


def _text(context: Context, line: Node) -> Scalar:
    if isinstance(line, Scalar):
        return line
    fix = "write it as one text, such as '- Se:V -> 1:i'"
    if isinstance(line, Mapping) and line.keys and line.keys[0].text.partition("[")[0] in KINDS:
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

    def __init__(self, context: Context) -> None:
        self.context = context
        self.items: dict[str, Item] = {}
        self.bonds: list[Bond] = []
        self.signals: list[SignalBond] = []
        self.mentioned: dict[str, Place] = {}
        self.early: dict[str, list[_Mention]] = {}  # notes at a name whose kind comes later
        self.failed = False

    def read(self, line: Scalar) -> None:
        if "=>" in line.text:
            self._read_signal(line)
            return
        pieces = self._pieces(line, "->")
        if len(pieces) < 2:
            shown = f"'{clip(line.text)}'" if line.text.strip() else "an empty line"
            fix = "write a bond such as 'Se:V -> 1:i'"
            raise self.context.error(rules.BAD_BOND, line, f"{shown} has no '->'", fix=fix)
        mentions = [self._mention(piece) for piece in pieces]
        for mention in mentions:
            self._take(mention)
        self.bonds += [
            Bond(tail.name, head.name, tail.place, tail.port, head.port) for tail, head in pairwise(mentions)
        ]

    def _pieces(self, line: Scalar, arrow: str) -> list[_Piece]:
        # Where escapes hide the columns inside the text, everything is placed at its start.
        inside = self.context.document.place(line, 1, "").column - line.column
        at, found = inside - 1, []
        for piece in line.text.split(arrow):
            shift = at + len(piece) - len(piece.lstrip()) if inside else 0
            text = piece.strip()
            found.append(_Piece(text, Place(self.context.file, line.line, line.column + shift, clip(text))))
            at += len(piece) + len(arrow)
        return found

    # -- signals ---------------------------------------------------------------------------------------------------------------

    def _read_signal(self, line: Scalar) -> None:
        """`v => 2 => MSe:V`: a signal, factors that it is multiplied by, and the source that follows the product."""
        *before, last = self._pieces(line, "=>")
        if "->" in line.text or not all(piece.text for piece in (*before, last)):
            fix = "write 'De:v => MSe:V' on a line of its own, with a signal before the arrow and a source behind it"
            what = (
                "a signal bond stands among bonds of power" if "->" in line.text else "an arrow has nothing on one side"
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
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        kind, size, name, port, notes = found.groups()
        self.mentioned.setdefault(name, place)
        if kind is not None and kind not in KINDS:
            fix = did_you_mean(kind, KINDS) or f"the kinds are {', '.join(KINDS)}"
            raise rules.UNKNOWN_ITEM_KIND.error(f"'{clip(kind)}' is no kind of a bond graph", fix=fix, place=place)
        mention = _Mention(name, kind or "", self._count(size, place), self._count(port, place), notes or "", place)
        if mention.size and kind in TWO_PORTS:
            what = f"'{kind}[{size}]' says a size, and {name} has two sides"
            fix = "leave it out: the sizes follow from what it is bonded to"
            raise rules.WRONG_SIZE.error(what, fix=fix, place=place)
        return mention

    def _count(self, text: str | None, place: Place) -> int:
        """A number of components, written as a number or as the name of a whole parameter; 0 where there is none."""
        if text is None:
            return 0
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
            elif known.kind != mention.kind:
                what = f"'{name}' is {known.kind} and {mention.kind}"
                raise rules.ITEM_TWICE.error(what, fix="give one of them another name", place=mention.place)
        if mention.size:
            self._size(mention)
        if not mention.notes.strip():
            return
        if name in self.items:
            self._note(mention)
        else:
            self.early.setdefault(name, []).append(mention)

    def _define(self, mention: _Mention) -> None:
        name, kind = mention.name, cast("ItemKind", mention.kind)
        if kind in JUNCTIONS and name in REFERENCES:
            what = f"'{name}' cannot name a junction: it is the reference of a domain"
            fix = f"choose another name, such as '{kind}:{name}_1'"
            raise common_rules.BAD_NAME.error(what, fix=fix, place=mention.place)
        if kind not in JUNCTIONS and name in RESERVED_WORDS:
            what = f"'{name}' cannot name an element: it has a meaning of its own in formulas"
            raise common_rules.BAD_NAME.error(what, fix="choose another name", place=mention.place)
        self.items[name] = Item(name, kind, place=mention.place)
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
        if len(domains) > 1 or len(variables) > max(item.size, 1) or not all(map(_is_variable, variables)):
            fix = did_you_mean(variables[-1], DOMAINS) if variables and " " not in variables[-1] else ""
            fix = fix or f"write the name of a variable, one of {', '.join(DOMAINS)}, or both"
            what = f"'({clip(mention.notes)})' is not the name of a variable and the word of a domain"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        if item.kind in TWO_PORTS or (mention.port and variables):
            what = f"'({clip(mention.notes)})' stands behind {item.kind}:{item.name}, which has two sides"
            fix = "write it behind a junction or a one-port beside it"
            if mention.port and item.kind not in TWO_PORTS:
                what = f"'({clip(mention.notes)})' stands behind one component of {item.name}"
                fix = f"name all components behind '{item.name}', or under 'elements'"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        if reserved := [word for word in variables if word in RESERVED_WORDS]:
            what = f"'{reserved[0]}' cannot name a variable: it has a meaning of its own in formulas"
            raise common_rules.BAD_NAME.error(what, fix="choose another name", place=place)
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


def _is_variable(word: str) -> bool:
    return is_name(word) or is_dotted(word)
