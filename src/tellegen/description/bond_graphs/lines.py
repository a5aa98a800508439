"""Lines of a bond graph: `Se:V_a -> 1:i (I_a)`, `i -> GY:K_m -> 1:w`."""

import re
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, cast

from tellegen.core.domains import DOMAINS, REFERENCES
from tellegen.core.errors import Place, TellegenError
from tellegen.core.names import NAME, did_you_mean, is_name
from tellegen.description import rules as common_rules
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import JUNCTIONS, KINDS, TWO_PORTS, Bond, BondGraph, Item, ItemKind
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.files import clip
from tellegen.expressions import RESERVED_WORDS

_ITEM = re.compile(rf"(?:([A-Za-z0-9]+)\s*:\s*)?({NAME.pattern})\s*(?:\(([^()]*)\))?")


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
        return BondGraph(reader.items, tuple(reader.bonds))
    context.broken.update(reader.mentioned)
    return None


def _text(context: Context, line: Node) -> Scalar:
    if isinstance(line, Scalar):
        return line
    fix = "write it as one text, such as '- Se:V -> 1:i'"
    if isinstance(line, Mapping) and line.keys and line.keys[0].text in KINDS:
        fix = f"put no space behind the colon: '{line.keys[0].text}:...'"
    raise context.error(rules.BAD_BOND, line, "a line of the bond graph is not a single text", fix=fix)


class _Mention(NamedTuple):
    """An item as one line writes it."""

    name: str
    kind: str
    notes: str
    place: Place


class _Reader:
    """Collects what all mentions of an item say, and a bond for each arrow."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.items: dict[str, Item] = {}
        self.bonds: list[Bond] = []
        self.mentioned: dict[str, Place] = {}
        self.early: dict[str, list[_Mention]] = {}  # notes at a name whose kind comes later
        self.failed = False

    def read(self, line: Scalar) -> None:
        pieces = line.text.split("->")
        if len(pieces) < 2:
            shown = f"'{clip(line.text)}'" if line.text.strip() else "an empty line"
            fix = "write a bond such as 'Se:V -> 1:i'"
            raise self.context.error(rules.BAD_BOND, line, f"{shown} has no '->'", fix=fix)
        # Where escapes hide the columns inside the text, everything is placed at its start.
        inside = self.context.document.place(line, 1, "").column - line.column
        at, mentions = inside - 1, []
        for piece in pieces:
            shift = at + len(piece) - len(piece.lstrip()) if inside else 0
            text = piece.strip()
            mentions.append(self._mention(text, Place(self.context.file, line.line, line.column + shift, clip(text))))
            at += len(piece) + 2
        for mention in mentions:
            self._take(mention)
        self.bonds += [Bond(tail.name, head.name, tail.place) for tail, head in pairwise(mentions)]

    def _mention(self, text: str, place: Place) -> _Mention:
        found = _ITEM.fullmatch(text)
        if found is None:
            what = f"'{place.text}' is not an item" if text else "an arrow has nothing on one side"
            fix = "write 'kind:name', a name used before, or 'kind:name (variable)'"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        kind, name, notes = found.groups()
        self.mentioned.setdefault(name, place)
        if kind is not None and kind not in KINDS:
            fix = did_you_mean(kind, KINDS) or f"the kinds are {', '.join(KINDS)}"
            raise rules.UNKNOWN_ITEM_KIND.error(f"'{clip(kind)}' is no kind of a bond graph", fix=fix, place=place)
        return _Mention(name, kind or "", notes or "", place)

    def _take(self, mention: _Mention) -> None:
        name = mention.name
        known = self.items.get(name)
        if mention.kind:
            if known is None:
                self._define(mention)
            elif known.kind != mention.kind:
                what = f"'{name}' is {known.kind} and {mention.kind}"
                raise rules.ITEM_TWICE.error(what, fix="give one of them another name", place=mention.place)
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

    def _note(self, mention: _Mention) -> None:
        """Add what stands in parentheses: the name of a variable, the word of a domain, or both."""
        words = [word.strip() for word in mention.notes.split(",") if word.strip()]
        domains = [word for word in words if word in DOMAINS]
        variables = [word for word in words if word not in DOMAINS]
        item, place = self.items[mention.name], mention.place
        if len(domains) > 1 or len(variables) > 1 or not all(is_name(word) for word in variables):
            fix = did_you_mean(variables[-1], DOMAINS) if variables and " " not in variables[-1] else ""
            fix = fix or f"write the name of a variable, one of {', '.join(DOMAINS)}, or both"
            what = f"'({clip(mention.notes)})' is not the name of a variable and the word of a domain"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        if item.kind in TWO_PORTS:
            what = f"'({clip(mention.notes)})' stands behind {item.kind}:{item.name}, which has two sides"
            fix = "write it behind a junction or a one-port beside it"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        if variables and variables[0] in RESERVED_WORDS:
            what = f"'{variables[0]}' cannot name a variable: it has a meaning of its own in formulas"
            raise common_rules.BAD_NAME.error(what, fix="choose another name", place=place)
        for said, new in ((item.variable, variables), (item.domain, domains)):
            if said and new and said != new[0]:
                what = f"'{item.name}' is called {said} and {new[0]}"
                raise rules.ITEM_TWICE.error(what, fix="keep one of them", place=place)
        self.items[item.name] = replace(
            item, variable=(variables or [item.variable])[0], domain=(domains or [item.domain])[0]
        )

    def refuse_unknown(self) -> None:
        """Collect an error for each name without a kind."""
        unknown = [(name, place) for name, place in self.mentioned.items() if name not in self.items]
        known = list(self.items)[:2000]
        self.failed = bool(unknown)
        for name, place in unknown:
            fix = did_you_mean(name, known) or f"write its kind where it stands first, such as 'R:{clip(name)}'"
            self.context.collect(rules.UNKNOWN_ITEM.error(f"nothing says what '{clip(name)}' is", fix=fix, place=place))
