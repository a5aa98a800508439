"""Lines of a bond graph: `Se:V_a -> 1:i (I_a)`, `i -> GY:K_m -> 1:w`."""

import re
from itertools import pairwise

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import Place
from tellegen.core.names import NAME, did_you_mean, is_name
from tellegen.description.bond_graphs import rules
from tellegen.description.bond_graphs.graph import KINDS, Bond, BondGraph, Item, ItemKind
from tellegen.description.context import Context
from tellegen.description.document import Node, Scalar, Sequence

_ITEM = re.compile(rf"(?:([A-Za-z0-9]+)\s*:\s*)?({NAME.pattern})\s*(?:\(([^()]*)\))?")


def read_lines(context: Context, node: Node) -> BondGraph:
    """The bond graph that a list of lines describes."""
    reader = _Reader(context)
    if not isinstance(node, Sequence):
        fix = "write a list of lines such as '- Se:V -> 1:i'"
        raise context.error(rules.BAD_BOND, node, "'bond graph' is not a list", fix=fix)
    for line in node:
        reader.read(context.scalar(line, "a line of the bond graph"))
    reader.refuse_unknown()
    return BondGraph(reader.items, tuple(reader.bonds))


class _Reader:
    """Collects items at their first mention and a bond for each arrow."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.items: dict[str, Item] = {}
        self.bonds: list[Bond] = []
        self.mentioned: dict[str, tuple[Scalar, int]] = {}

    def read(self, line: Scalar) -> None:
        pieces = line.text.split("->")
        if len(pieces) < 2:
            fix = "write a bond such as 'Se:V -> 1:i'"
            raise self.context.error(rules.BAD_BOND, line, f"'{line.text}' has no '->'", fix=fix)
        at, names = 0, []
        for piece in pieces:
            names.append(self._item(line, piece, at))
            at += len(piece) + 2
        place = self.context.place(line)
        self.bonds += [Bond(tail, head, place) for tail, head in pairwise(names)]

    def _item(self, line: Scalar, piece: str, at: int) -> str:
        found = _ITEM.fullmatch(piece.strip())
        place = self.context.text_place(line, at + len(piece) - len(piece.lstrip()))
        if found is None:
            what = f"'{piece.strip()}' is not an item" if piece.strip() else "an arrow has nothing on one side"
            fix = "write 'kind:name', a name used before, or 'kind:name (variable)'"
            raise rules.BAD_BOND.error(what, fix=fix, place=place)
        kind, name, more = found.groups()
        self.mentioned.setdefault(name, (line, at))
        if kind is not None:
            self._define(Item(name, self._kind(kind, place), *self._notes(more, line), place))
        elif more is not None and name in self.items:
            known = self.items[name]
            variable, domain = self._notes(more, line)
            self.items[name] = Item(name, known.kind, variable or known.variable, domain or known.domain, known.place)
        return str(name)

    def _kind(self, kind: str, place: Place) -> ItemKind:
        if kind not in KINDS:
            fix = did_you_mean(kind, KINDS) or "the kinds are 0, 1, Se, Sf, C, I, R, TF, GY"
            raise rules.UNKNOWN_ITEM_KIND.error(f"'{kind}' is no kind of a bond graph", fix=fix, place=place)
        return kind  # type: ignore[return-value]

    def _notes(self, text: str | None, line: Scalar) -> tuple[str, str]:
        """What stands in parentheses: the name of a variable, the word of a domain, or both."""
        words = [word.strip() for word in (text or "").split(",") if word.strip()]
        domains = [word for word in words if word in DOMAINS]
        variables = [word for word in words if word not in DOMAINS]
        if len(domains) > 1 or len(variables) > 1 or not all(is_name(word) for word in variables):
            fix = f"write the name of a variable, one of {', '.join(DOMAINS)}, or both"
            raise self.context.error(rules.BAD_BOND, line, f"'({text})' names neither a variable nor a domain", fix=fix)
        return (variables or [""])[0], (domains or [""])[0]

    def _define(self, item: Item) -> None:
        known = self.items.get(item.name)
        if known is not None and known.kind != item.kind:
            what = f"'{item.name}' is {known.kind} and {item.kind}"
            raise rules.ITEM_TWICE.error(what, fix="give one of them another name", place=item.place)
        if known is None or item.variable or item.domain:
            self.items[item.name] = item

    def refuse_unknown(self) -> None:
        """Raises: DescriptionError for the first name without a kind."""
        for name, (line, at) in self.mentioned.items():
            if name not in self.items:
                close = did_you_mean(name, self.items)
                fix = close or f"write its kind where it stands first, such as 'R:{name}' or '1:{name}'"
                place = self.context.text_place(line, at + len(line.text[at:]) - len(line.text[at:].lstrip()))
                raise rules.UNKNOWN_ITEM.error(f"nothing says what '{name}' is", fix=fix, place=place)
