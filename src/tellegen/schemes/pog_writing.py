"""A POG in the notation of files: the entries of `pog:` and what stands under `elements:`.

Tree-like schemes are ladders with branches. Others are vector ladders where their lanes run side by side, and otherwise one or two
vector blocks, so that every scheme has a text.
"""

import re
from collections.abc import Mapping, Sequence

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.elements import ElementKind
from tellegen.expressions import symbol, to_text
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.model.model import Model
from tellegen.notations.pog.blocks import SWITCHING
from tellegen.notations.writing import file_with_notation, mode_settings
from tellegen.notations.yaml.quoting import quoted
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import OnePort, connected_parts
from tellegen.schemes.element_texts import (
    ModulusTexts,
    PlainYaml,
    details_text,
    element_details,
    element_kind,
    file_text,
    member_kind,
    with_ports,
)
from tellegen.schemes.lanes import NoLanesError, lane_ladder
from tellegen.schemes.names import UniqueNames, plain_name, variable_name
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.written_ladders import (
    LadderPart,
    LanePiece,
    LaneRow,
    WrittenBlock,
    WrittenBranch,
    WrittenConnection,
    WrittenField,
    WrittenLadder,
    WrittenSection,
    block_ladder,
    given_side,
    taken_side,
    tree_ladder,
)

LadderEntry = dict[str, object]
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


def letter_of(kind: ElementKind) -> str:
    """The letter of a ladder that stands for a kind."""
    domain = DOMAINS[kind.domains[0]]
    if kind.role == "storage":
        return (
            "K"
            if kind.inverse
            else _STORAGE_LETTERS.get((domain.name, kind.side), "C" if kind.side == domain.effort else "I")
        )
    mechanical = domain.effort == "through"
    if kind.side == "across":
        return "d" if mechanical else "R"
    return "b" if mechanical else "G"


class LadderFormat:
    """Turns the parts of a ladder into entries; `short` gives names to parts of long moduli, which are then `moduli.parts`."""

    def __init__(self, scheme: PogScheme, model: Model | None = None, *, short: bool = False) -> None:
        self.scheme = scheme
        graph = scheme.causal.graph
        self.details: Details = {}
        self.ties = bool(scheme.causal.dependent)
        taken = [*graph.parameters, *graph.moving, *graph.displacements, *scheme.elements]
        taken += [name for port in graph.ports for name in (port.element, port.across, port.through, port.state)]
        self.fresh = UniqueNames(taken)
        self.moduli = ModulusTexts(model, taken if short else None)

    def write(self, ladder: WrittenLadder) -> tuple[list[LadderEntry], Details]:
        """The entries, and the details of elements."""
        return self._ladder(ladder, branch=False), self.details

    def _ladder(self, ladder: WrittenLadder, *, branch: bool) -> list[LadderEntry]:
        entries: list[LadderEntry] = [] if branch else [_domain(ladder.domains)]
        for k, part in enumerate(ladder.parts):
            if isinstance(part, WrittenConnection):
                entries += [self._connection(ladder, k, part, branch=branch), _domain(part.domains)]
            elif isinstance(part, WrittenSection):
                entries.append({"section": self._section(ladder.parts, k, part)})
            elif isinstance(part, WrittenBranch):
                word = "branch" if part.way == "parallel" else "series branch"
                entries.append({word: self._ladder(part.ladder, branch=True)})
            else:
                entries.append(self._block(ladder.parts, k, part))
        return entries

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _section(self, parts: Sequence[LadderPart], k: int, section: WrittenSection) -> object:
        first = k == 0 and len(parts) > 1
        beside = parts[1] if first else parts[k - 1] if k else None
        rows: dict[Side, list[str]] = {"across": [], "through": []}
        given: list[str] = []
        usual = True
        for lane, piece in enumerate(section.lanes):
            names = self._lane_names(section, beside, lane, first=first)
            for side, row in rows.items():
                row.append(names[side])
            wanted = _taken(beside, lane)
            usual = usual and piece is not None and piece.sign > 0 and piece.item.decides == wanted
            if piece is not None:
                given.append(("-" if piece.sign < 0 else "") + names[piece.item.decides])
        scalar = len(section.lanes) == 1
        across, through = ((row[0] if scalar else row) for row in (rows["across"], rows["through"]))
        if usual:
            return [across, through]
        return {"across": across, "through": through, "given": given[0] if scalar and given else given}

    def _lane_names(
        self, section: WrittenSection, beside: LadderPart | None, lane: int, *, first: bool
    ) -> dict[Side, str]:
        piece = section.lanes[lane]
        names: dict[Side, str] = {}
        if piece is not None:
            decided = piece.item.decides
            names[decided] = variable_name(piece.item.port.variable(decided))
            if not first:
                names[other_side(decided)] = variable_name(piece.item.port.variable(other_side(decided)))
        if isinstance(beside, WrittenBlock):
            owner, stores = self._owner(beside, lane)
            shared = given_side(beside.ways[lane])
            if owner is not None and (first or stores) and (piece is None or piece.item.decides != shared):
                names[shared] = variable_name(owner.item.port.variable(shared))
        sides: tuple[Side, Side] = ("across", "through")
        for side in sides:
            if side not in names:
                names[side] = self.fresh.take(f"{side}_{lane + 1}")
        return names

    def _owner(self, block: WrittenBlock, lane: int) -> tuple[LanePiece | None, bool]:
        """The element that a reader gives the name of the shared variable to: the first that decides it, else the first."""
        pieces = list(_pieces(block, lane))
        side = given_side(block.ways[lane])
        for piece in pieces:
            if isinstance(piece.item.port.law, StorageLaw) and piece.item.port.law.side == side:
                return piece, True
        return (pieces[0] if pieces else None), False

    def _is_named(self, parts: Sequence[LadderPart], k: int, lane: int, piece: LanePiece) -> bool:
        """Whether a section beside a block names the shared variable of an element."""
        block = parts[k]
        assert isinstance(block, WrittenBlock), "only blocks have elements"
        owner, stores = self._owner(block, lane)
        if owner is not piece:
            return False
        shared = given_side(block.ways[lane])
        for at, first in ((k - 1, True), (k + 1, False)):
            section = parts[at] if 0 <= at < len(parts) else None
            if isinstance(section, WrittenSection) and (first or stores):
                source = section.lanes[lane]
                if source is None or source.item.decides != shared:
                    return True
        return False

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def _block(self, parts: Sequence[LadderPart], k: int, block: WrittenBlock) -> LadderEntry:
        items: list[object] = []
        for item in block.items:
            if isinstance(item, WrittenField):
                items.append(self._field(block, item))
            else:
                items.append(self._row(parts, k, item))
        if len(set(block.ways)) == 1:
            return {block.ways[0]: items}
        return {"mixed": items, "ways": list(block.ways)}

    def _row(self, parts: Sequence[LadderPart], k: int, row: LaneRow) -> object:
        block = parts[k]
        assert isinstance(block, WrittenBlock), "only blocks have elements"
        texts = []
        for lane, piece in enumerate(row):
            if piece is None:
                texts.append("none")
                continue
            named = (given_side(block.ways[lane]),) if self._is_named(parts, k, lane, piece) else ()
            texts.append(("-" if piece.sign < 0 else "") + self._element(piece.item, named))
        return texts[0] if len(texts) == 1 else texts

    def _element(self, item: OnePort, named: tuple[Side, ...]) -> str:
        kind = element_kind(item.port)
        details = element_details(item.port, item.name, item.decides, default=kind, ties=self.ties, named=named)
        if item.letters == SWITCHING:  # its law is that of a mode, and its settings say all modes
            unsaid = ("law", kind.quantity.key if kind.quantity else "")
            details = {key: text for key, text in details.items() if key not in unsaid}
        if details:
            self.details[item.name] = details
        return f"{SWITCHING if item.letters == SWITCHING else letter_of(kind)}:{item.name}"

    def _field(self, block: WrittenBlock, field: WrittenField) -> object:
        # A field without elements of the model is the connection part of a block, and its name is made up.
        name = plain_name(field.name) if field.pieces else self.fresh.take(field.name)
        found: dict[str, object] = {self._field_word(block, field): name}
        if len(field.lanes) < len(block.ways):
            found["lanes"] = [str(lane + 1) for lane in field.lanes]
        if field.laws:
            found["law"] = list(field.laws)
        else:
            found["matrix"] = _matrix(field.matrix)
        names = [piece.item.port.variable(piece.item.port.law.side) for piece in field.pieces]
        if any("[" not in name for name in names):
            found["outputs"] = ["none" if "[" in name else name for name in names]
        if self.ties and field.energy:
            found["causality"] = [piece.item.causality for piece in field.pieces]
        if any(piece.item.port.initial is not None for piece in field.pieces):
            starts = [piece.item.port.initial for piece in field.pieces]
            found["initial"] = ["0" if start is None else to_text(start) for start in starts]
        return found

    def _field_word(self, block: WrittenBlock, field: WrittenField) -> str:
        """The letter that all members have, else what the field is in its block."""
        letters = {letter_of(member_kind(piece.item.port, stiff=field.stiff)) for piece in field.pieces}
        if len(letters) == 1:
            return letters.pop()
        given = {
            piece.item.port.law.side == given_side(block.ways[lane])
            for lane, piece in zip(field.lanes, field.pieces, strict=False)
        }
        if len(given) > 1 or (field.energy and False in given):
            what = f"the field '{field.name}' mixes kinds of elements and causalities"
            raise rules.NO_LADDER.error(what, where=field.name, fix="write it as a network")
        if field.energy:
            return "energy"
        return "static" if True in given else "power"

    # -- connections -----------------------------------------------------------------------------------------------------------

    def _connection(self, ladder: WrittenLadder, k: int, part: WrittenConnection, *, branch: bool) -> LadderEntry:
        """The usual variables are those of the neighbours; others are said."""
        before = next((_given(p) for p in reversed(ladder.parts[:k]) if _given(p) is not None), None)
        after = next((_received(p) for p in ladder.parts[k + 1 :] if _received(p) is not None), None)
        name = self._connection_name(part)
        scalar = len(part.takes) == len(part.gives) == 1
        more: dict[str, object] = {}
        if before is None or not _fits(part.takes, before) or branch:
            more["takes"] = _sides(part.takes)
        if after is None or not _fits(part.gives, after):
            more["gives"] = _sides(part.gives)
        texts = self._moduli(ladder, k, part)
        if scalar and not more:
            if part.K[0][0] is not symbol(name):
                self.details[name] = {"K": texts[0][0]}
            return {"connect": name}
        K: object = texts[0][0] if scalar else texts
        return {"connect": {"name": name, "K": K, **more}}

    def _moduli(self, ladder: WrittenLadder, k: int, part: WrittenConnection) -> list[list[str]]:
        connections = [p.domains for p in ladder.parts[:k] if isinstance(p, WrittenConnection)]
        before = connections[-1] if connections else ladder.domains
        ends = list(zip(before, part.takes, strict=True))
        return [
            [self.moduli.text(e, one, two) for e, one in zip(row, ends, strict=True)]
            for row, two in zip(part.K, zip(part.domains, part.gives, strict=True), strict=True)
        ]

    def _connection_name(self, part: WrittenConnection) -> str:
        if part.name in self.scheme.elements or part.name == "K":
            return self.fresh.take(part.name)
        return part.name


def _pieces(block: WrittenBlock, lane: int) -> list[LanePiece]:
    found = []
    for item in block.items:
        if isinstance(item, WrittenField):
            found += [piece for at, piece in zip(item.lanes, item.pieces, strict=False) if at == lane]
        elif (piece := item[lane]) is not None:
            found.append(piece)
    return found


def _taken(part: LadderPart | None, lane: int) -> Side | None:
    """What the part beside a section takes from it."""
    if isinstance(part, WrittenBlock):
        return taken_side(part.ways[lane])
    return taken_side(part.way) if isinstance(part, WrittenBranch) else None


def _given(part: LadderPart) -> tuple[Side, ...] | None:
    """What a part gives to a connection behind it; for a connection itself, nothing that is known."""
    if isinstance(part, WrittenBlock):
        return tuple(given_side(way) for way in part.ways)
    if isinstance(part, WrittenBranch):
        return (given_side(part.way),)
    if isinstance(part, WrittenSection) and all(part.lanes):
        return tuple(piece.item.decides for piece in part.lanes if piece is not None)
    return ()


def _received(part: LadderPart) -> tuple[Side, ...] | None:
    """What a part takes from a connection before it."""
    if isinstance(part, WrittenBlock):
        return tuple(taken_side(way) for way in part.ways)
    if isinstance(part, WrittenBranch):
        return (taken_side(part.way),)
    if isinstance(part, WrittenSection) and all(part.lanes):
        return tuple(other_side(piece.item.decides) for piece in part.lanes if piece is not None)
    return ()


def _fits(sides: tuple[Side, ...], usual: tuple[Side, ...]) -> bool:
    return bool(usual) and sides == (usual if len(usual) == len(sides) else usual * len(sides))


def _sides(sides: tuple[Side, ...]) -> object:
    return sides[0] if len(set(sides)) == 1 else list(sides)


def _matrix(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    return [[to_text(entry) for entry in row] for row in rows]  # type: ignore[arg-type]


def _domain(domains: Sequence[str]) -> LadderEntry:
    return {"domain": domains[0] if len(set(domains)) == 1 else list(domains)}


_ELEMENT = re.compile(r"-?(?:[A-Za-z]|Sw):[A-Za-z][A-Za-z0-9_]*")


def ladder_lines(entries: Sequence[LadderEntry], indent: str = "  ") -> str:
    """One line an entry; side ladders are indented."""
    lines = []
    for entry in entries:
        bullet = f"{indent}- "
        for word, value in entry.items():
            if word in ("branch", "series branch"):
                lines.append(f"{bullet}{word}:\n{ladder_lines(value, indent + '    ')}")  # type: ignore[arg-type]
            else:
                lines.append(f"{bullet}{word}: {_flow(value)}\n")
            bullet = f"{indent}  "
    return "".join(lines)


def _flow(value: object) -> str:
    if isinstance(value, str):
        return value if _ELEMENT.fullmatch(value) else quoted(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(text)}" for key, text in value.items()) + "}"
    assert isinstance(value, Sequence), "an entry is a text, a list or a mapping"
    return "[" + ", ".join(map(_flow, value)) + "]"


def to_ladder(scheme: PogScheme) -> list[LadderEntry]:
    """The entries of `pog:`. `to_ladder_details` says the rest.

    Raises: GraphError (G204) for what the notation has no entry for.
    """
    return LadderFormat(scheme).write(_ladder(scheme))[0]


def to_ladder_details(scheme: PogScheme, model: Model | None = None) -> Details:
    """What stands under `elements:`, by element. The settings of elements with modes are those of the `model`.

    Raises: GraphError (G230) for modes without a model.
    """
    return _settled(scheme, LadderFormat(scheme).write(_ladder(scheme))[1], model)


def ladder_text(scheme: PogScheme, parameters: Mapping[str, str] | None = None, *, model: Model | None = None) -> str:
    """The scheme as the text of a model file.

    Parameters are plain numbers in SI units, or as `parameters` gives them. With the `model` that the scheme was raised from, its
    parameters with their units, its signals and its experiment are part of the file; without, what signals drive is an input.

    Raises: GraphError (G204) for what the notation has no entry for, G230 for modes, and for moduli and laws that read signals,
    without the model; G240 for ports of the model at nodes that belong to no element.
    """
    if all(isinstance(port.law, SourceLaw) for port in scheme.causal.graph.ports):
        what = "nothing stores or loses energy, so that the ladder would have no elaboration block"
        raise rules.NO_LADDER.error(what, where=scheme.causal.graph.name, fix="add a storage or a resistive element")
    writing = LadderFormat(scheme, model, short=True)
    entries, details = writing.write(_ladder(scheme))
    parts = writing.moduli.parts
    details = _settled(scheme, details, model)
    lines = "pog:\n" + ladder_lines(entries)
    if model is not None:
        return file_with_notation(
            with_ports(model, (), "ladder"), lines, details_text({**details, **_driven(scheme)}), parts
        )
    _refuse_signals(scheme)
    return file_text(scheme.causal.graph, lines, details, {**(parameters or {}), **parts})


def _settled(scheme: PogScheme, details: Details, model: Model | None) -> Details:
    """The details, with the settings of elements with modes."""
    graph = scheme.causal.graph
    modes = {} if model is None else mode_settings(model)
    found = dict(details)
    for element in (graph.ports[k].element for k in graph.switching):
        if element not in modes:
            what = f"'{element}' has modes, and the scheme does not know their settings"
            fix = "give the model that the scheme was raised from: 'model=...'"
            raise rules.NO_MODES.error(what, where=element, fix=fix)
        name = plain_name(element)
        found[name] = {key: PlainYaml(text) for key, text in modes[element].items()} | dict(found.get(name, {}))
    return found


def _driven(scheme: PogScheme) -> Details:
    """What drives the sources that follow signals."""
    found: Details = {}
    for item in scheme.sources():
        law = item.port.law
        if isinstance(law, SourceLaw) and law.signal is not None:
            found[variable_name(law.input)] = {"signal": to_text(law.signal)}
    return found


def _refuse_signals(scheme: PogScheme) -> None:
    graph = scheme.causal.graph
    names = {signal.name for signal in graph.signals}
    entries = [e for c in graph.couplings for row in c.K for e in row]
    entries += [e for field in graph.fields for row in field.matrix for e in row]
    entries += [b.gain for b in scheme.blocks.values() if b.gain is not None]
    read = sorted(names & {name for e in entries for name in e.free_symbols})
    if read:
        what = f"a modulus or a law reads the signal '{read[0]}', and the scheme does not have its block"
        raise rules.NO_MODES.error(
            what, where=read[0], fix="give the model that the scheme was raised from", members=read
        )


def _ladder(scheme: PogScheme) -> WrittenLadder:
    graph = scheme.bond_graph
    if graph is not None and not scheme.causal.graph.fields:
        found = connected_parts(graph)
        if len(found) == 1 and found[0].is_tree():
            return tree_ladder(graph, found[0])
    try:
        return lane_ladder(scheme)
    except NoLanesError:
        return block_ladder(scheme)
