"""A chained POG in the notation of files: the entries of `pog:` and what stands under `elements:`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.description.writing import quoted
from tellegen.elements import ElementKind
from tellegen.expressions import ONE, Expression, symbol, to_text
from tellegen.graph import StorageLaw
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.element_texts import element_details, element_kind
from tellegen.schemes.file_text import file_text
from tellegen.schemes.names import plain_name
from tellegen.schemes.pog_scheme import PogScheme, Section

Entry = dict[str, list[str]]
Details = dict[str, Mapping[str, str]]

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


@final
@dataclass(frozen=True, slots=True)
class _Group:
    """The elements of one series or parallel block."""

    series: bool
    domain: str
    names: tuple[str, ...]

    @property
    def gives(self) -> Side:
        return "through" if self.series else "across"

    @property
    def takes(self) -> Side:
        return other_side(self.gives)


_Piece = _Group | Section | str
"""A block, a section, or the name of a connection."""


def to_ladder(scheme: PogScheme) -> list[Entry]:
    """The entries of `pog:` for a chained scheme. `to_ladder_details` says the rest.

    Raises: GraphError (G204) for a scheme that is no ladder, or counts power against it.
    """
    return _written(scheme)[0]


def to_ladder_details(scheme: PogScheme) -> Details:
    """What stands under `elements:`, by element."""
    return _written(scheme)[1]


def ladder_text(scheme: PogScheme, parameters: Mapping[str, str] | None = None) -> str:
    """The scheme as the text of a model file; `parameters` gives texts with units, which are plain SI numbers otherwise."""
    entries, details = _written(scheme)
    lines = []
    for entry in entries:
        ((word, texts),) = entry.items()
        text = quoted(texts[0]) if word in ("connect", "domain") else f"[{', '.join(map(quoted, texts))}]"
        lines.append(f"  - {word}: {text}\n")
    return file_text(scheme.bond_graph.causal.graph, "pog:\n" + "".join(lines), details, parameters)


def _written(scheme: PogScheme) -> tuple[list[Entry], Details]:
    if not scheme.chained:
        what = "meshed" if scheme.vectorial else "in several ladders" if len(scheme.ladders) > 1 else "branched"
        raise _no_ladder(f"the scheme is {what}", scheme)
    pieces = _pieces(scheme)
    try:
        return _Writer(scheme, pieces).write()
    except TellegenError as error:
        try:
            return _Writer(scheme, [_mirrored(piece) for piece in reversed(pieces)]).write()
        except TellegenError:
            raise error from None


def _no_ladder(what: str, scheme: PogScheme) -> TellegenError:
    return rules.NO_LADDER.error(what, where=scheme.name, fix="write it as a bond graph")


def _pieces(scheme: PogScheme) -> list[_Piece]:
    """Sections, blocks and connections from left to right; sections inside a block are left out."""
    (ladder,) = scheme.ladders
    pieces: list[_Piece] = [scheme.sections[ladder.entry]] if ladder.entry else []
    columns = ladder.columns
    for k, column in enumerate(columns):
        if column.kind == "connection":
            pieces.append(column.name)
        else:
            names = (column.name,) if column.name else ()
            last = pieces[-1] if pieces else None
            same = k > 0 and columns[k - 1].kind == column.kind and columns[k - 1].junction == column.junction
            if same and isinstance(last, _Group):
                pieces[-1] = replace(last, names=(*last.names, *names))
            else:
                domain = scheme.bond_graph.junctions[column.junction].domain
                pieces.append(_Group(column.kind == "series", domain, names))
        inside = k + 1 < len(columns) and column.junction and columns[k + 1].junction == column.junction
        if column.right and not inside:
            pieces.append(scheme.sections[column.right])
    return pieces


def _mirrored(piece: _Piece) -> _Piece:
    if not isinstance(piece, Section):
        return piece
    return replace(
        piece, left=piece.right, right=piece.left, direction="left" if piece.direction == "right" else "right"
    )


class _Writer:
    """Writes the pieces of a ladder in one direction."""

    def __init__(self, scheme: PogScheme, pieces: list[_Piece]) -> None:
        self.scheme = scheme
        self.items = scheme.bond_graph.one_ports
        self.pieces = pieces
        self.details: Details = {}
        self.ties = any(item.causality == "derivative" for item in self.items.values())

    def write(self) -> tuple[list[Entry], Details]:
        self._drop_empty_ends()
        entries: list[Entry] = []
        domain = ""
        for k, piece in enumerate(self.pieces):
            if isinstance(piece, str):
                self._connection(k, piece)
                entries.append({"connect": [piece]})
                domain = ""
                continue
            if piece.domain != domain:
                domain = piece.domain
                entries.append({"domain": [domain]})
            if isinstance(piece, Section):
                if k in (0, len(self.pieces) - 1):
                    self._source(piece, first=k == 0)
                    entries.append({"section": self._section_names(piece, first=k == 0)})
            else:
                self._directions(k, piece)
                entries.append(
                    {"series" if piece.series else "parallel": [self._element(piece, n) for n in piece.names]}
                )
        return entries, self.details

    def _drop_empty_ends(self) -> None:
        """A source that imposes the across variable of a node with nothing else on it stands beside the next block."""
        for _ in range(2):
            self.pieces.reverse()
            if len(self.pieces) < 4:
                continue
            end, group, _, behind = self.pieces[:4]
            empty = isinstance(group, _Group) and not group.names and not group.series
            if isinstance(end, Section) and empty and isinstance(behind, _Group) and self._imposes_across(end):
                self.pieces = self.pieces[2:]

    def _imposes_across(self, section: Section) -> bool:
        return any(item.decides == "across" and self._feeds(item, section) for item in self.scheme.bond_graph.sources())

    def _directions(self, k: int, group: _Group) -> None:
        if not group.names:
            raise _no_ladder("a junction of the chain has no elements", self.scheme)
        if not group.series:
            return
        for beside in (k - 1, k + 1):
            if not 0 <= beside < len(self.pieces):
                continue
            section = self.pieces[beside]
            assert isinstance(section, Section), "a block stands between sections"
            if section.direction == "left":
                names = ", ".join(group.names)
                raise _no_ladder(f"{names} count against the direction of the ladder", self.scheme)

    def _section_names(self, section: Section, *, first: bool) -> list[str]:
        """The variables of a section at an end. What its block shares takes the name of the element that a reader gives it to."""
        group = self.pieces[1 if first else -2]
        assert isinstance(group, _Group), "a source stands beside a block"
        names = {"across": section.across, "through": section.through}
        owner = self._owner(group)
        if owner is not None and (first or self._stores(group)):
            names[group.gives] = self.items[owner].port.variable(group.gives)
        return [plain_name(names["across"]), plain_name(names["through"])]

    def _stores(self, group: _Group) -> bool:
        laws = [self.items[name].port.law for name in group.names]
        return any(isinstance(law, StorageLaw) and law.side == group.gives for law in laws)

    def _owner(self, group: _Group) -> str | None:
        """The element that gets the name which a section gives to the shared variable of its block."""
        laws = {name: self.items[name].port.law for name in group.names}
        stores = [name for name, law in laws.items() if isinstance(law, StorageLaw) and law.side == group.gives]
        return next(iter([*stores, *group.names]), None)

    def _named_by_section(self, group: _Group, name: str) -> bool:
        ends = (self.pieces[0], self.pieces[-1])
        beside = [g for g, end in zip((self.pieces[1], self.pieces[-2]), ends, strict=True) if isinstance(end, Section)]
        at_left = isinstance(ends[0], Section) and group is self.pieces[1]
        return name == self._owner(group) and any(g is group for g in beside) and (at_left or self._stores(group))

    def _element(self, group: _Group, name: str) -> str:
        item: OnePort = self.items[name]
        kind = element_kind(item.port)
        named = (group.gives,) if len(self.pieces) > 1 and self._named_by_section(group, name) else ()
        details = element_details(item.port, name, item.decides, default=kind, ties=self.ties, named=named)
        if details:
            self.details[name] = details
        return f"{_letter(kind)}:{name}"

    def _source(self, section: Section, *, first: bool) -> None:
        beside = self.pieces[1 if first else -2]
        if not isinstance(beside, _Group):
            raise _no_ladder("a source stands beside a connection", self.scheme)
        source = next(item for item in self.scheme.bond_graph.sources() if self._feeds(item, section))
        law = source.port.law
        # At the right end a series meets an imposed across variable, while a through variable comes in from the right.
        wanted = "right" if first or beside.series else "left"
        if law.side != beside.takes or section.direction != wanted:
            raise _no_ladder(f"'{source.name}' is not a source that the block beside it takes", self.scheme)

    @staticmethod
    def _feeds(item: OnePort, section: Section) -> bool:
        return item.port.variable(item.decides) == section.variable(item.decides)

    def _connection(self, k: int, name: str) -> None:
        """The modulus K of x_2 = K x_1, where x_1 is what the block before gives and x_2 what the block behind takes."""
        before, section, after = self.pieces[k - 2], self.pieces[k - 1], self.pieces[k + 2]
        assert isinstance(before, _Group), "a connection stands between blocks"
        assert isinstance(after, _Group), "a connection stands between blocks"
        item = self.scheme.bond_graph.two_ports[name]
        assert isinstance(section, Section), "a block stands between sections"
        along = section.direction == "right"
        left, right = DOMAINS[before.domain], DOMAINS[after.domain]
        effort = before.gives == left.effort
        related = right.effort if effort == (item.kind == "TF") else right.flow
        if related != after.takes:
            raise _no_ladder(f"'{name}' does not give what the block behind it takes", self.scheme)
        modulus = _forward(item.kind, item.modulus, effort=effort, along=along)
        if not along:  # between parallel blocks: the through variable changes its sign, the across variables do not
            modulus = -modulus
        if modulus is not symbol(name):
            self.details[name] = {"K": to_text(modulus)}


def _forward(kind: str, modulus: Expression, *, effort: bool, along: bool) -> Expression:
    """The gain from the effort or flow before a two-port to the related variable behind it."""
    # TF: e_b = e_a/m and f_b = m f_a, against the arrows e_a = m e_b and f_a = f_b/m; GY: f = e/r and e = r f both ways.
    inverse = effort if along or kind == "GY" else not effort
    return ONE / modulus if inverse else modulus


def _letter(kind: ElementKind) -> str:
    domain = DOMAINS[kind.domains[0]]
    if kind.role == "storage":
        return "K" if kind.inverse else _STORAGE_LETTERS[domain.name, kind.side]
    mechanical = domain.effort == "through"
    if kind.side == "across":
        return "d" if mechanical else "R"
    return "b" if mechanical else "G"
