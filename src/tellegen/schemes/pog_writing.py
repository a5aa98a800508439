"""A POG in the notation of files: the entries of `pog:` and what stands under `elements:`.

Tree-like schemes are ladders with branches. Others are vector ladders where their lanes run side by side, and otherwise one or two
vector blocks, so that every scheme has a text.
"""

import re
from collections.abc import Mapping, Sequence

from tellegen.core.domains import Side, other_side
from tellegen.expressions import Expression, symbol, to_text
from tellegen.graph import Port, SourceLaw, StorageLaw
from tellegen.model.model import Model
from tellegen.notations.pog.ladder import (
    NONE,
    SWITCHING,
    LadderBlock,
    LadderBranch,
    LadderConnection,
    LadderElement,
    LadderField,
    LadderPart,
    LadderSection,
    LaneRow,
    given_side,
    taken_side,
)
from tellegen.notations.writing import file_with_notation, mode_settings
from tellegen.notations.yaml.writing import quoted
from tellegen.schemes import element_texts, rules
from tellegen.schemes.bond_graph_scheme import connected_parts
from tellegen.schemes.lanes import NoLanesError, lane_ladder
from tellegen.schemes.names import UniqueNames, plain_name, variable_name
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.written_ladders import Connection, Lanes, block_ladder, tree_ladder

LadderEntry = dict[str, object]
Details = dict[str, Mapping[str, str]]
Part = LadderPart[Expression]


class LadderFormat:
    """Turns the parts of a ladder into entries; `short` gives names to parts of long moduli, which are then `moduli.parts`."""

    def __init__(self, scheme: PogScheme, model: Model | None = None, *, short: bool = False) -> None:
        self.scheme = scheme
        self.model = model
        graph = scheme.causal.graph
        self.details: Details = {}
        # Where storages depend on each other, the file says which ones are states; else causality finds the same ones
        # again.
        self.ties = bool(scheme.causal.dependent)
        taken = [*graph.parameters, *graph.position_dependent, *graph.displacements, *scheme.elements]
        taken += [name for port in graph.ports for name in (port.element, port.across, port.through, port.state)]
        self.fresh = UniqueNames(taken)
        self.moduli = element_texts.ModulusTexts(model, taken if short else None)
        self.named: set[str] = set()
        self.scalars: dict[str, Port] = {}
        self.carried: set[str] = set()

    def write(self) -> tuple[list[LadderEntry], Details]:
        """The entries of `pog:`, and what stands under `elements:`, by element.

        Raises: GraphError (G204) for what the notation has no entry for, G230 for modes without a model.
        """
        entries = self._ladder(_written_ladder(self.scheme), branch=False)
        return entries, _settled(self.scheme, self.details, self.model)

    def _ladder(self, ladder: Lanes, *, branch: bool) -> list[LadderEntry]:
        # A branch is in the domain of the junction that it leaves, so only the main ladder says one.
        entries: list[LadderEntry] = [] if branch else [_domain(ladder.domains)]
        for k, part in enumerate(ladder.parts):
            if isinstance(part, LadderConnection):
                entries += [self._connection(ladder, k, part, branch=branch), _domain(part.domains)]
            elif isinstance(part, LadderSection):
                entries.append({"section": self._section(ladder.parts, k, part)})
            elif isinstance(part, LadderBranch):
                word = "branch" if part.way == "parallel" else "series branch"
                entries.append({word: self._ladder(part.ladder, branch=True)})
            elif isinstance(part, LadderBlock):
                entries.append(self._block(ladder.parts, k, part))
        return entries

    # An element of a ladder is known by its name: what it is physically, the scheme says.

    def _port(self, element: LadderElement) -> Port:
        return self.scheme.elements[element.name].port

    def _decides(self, element: LadderElement) -> Side:
        return self.scheme.elements[element.name].decides

    def _stores(self, field: LadderField[Expression]) -> bool:
        return any(isinstance(self._port(member).law, StorageLaw) for member in field.members[:1])

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _section(self, parts: Sequence[Part], k: int, section: LadderSection) -> object:
        if section.across:  # inside, where it has been given its names
            self.named |= {text.text for text in (*section.across, *section.through)}
            return [section.across[0].text, section.through[0].text]
        # The section at the left end belongs to the block behind it, every other one to the part before it.
        first = k == 0 and len(parts) > 1
        at = 1 if first else k - 1
        beside = parts[at] if at >= 0 else None
        rows: dict[Side, list[str]] = {"across": [], "through": []}
        given: list[str] = []
        usual = True
        for lane, piece in enumerate(section.sources or ()):
            names = self._lane_names(section, parts, at, lane)
            self.carried |= set(names.values())
            for side, row in rows.items():
                row.append(names[side])
            wanted = _taken(beside, lane)
            # A section in the short form has sources that decide what the block takes, all counted with the ladder.
            usual = usual and piece is not None and not piece.reversed and self._decides(piece) == wanted
            if piece is not None:
                given.append(("-" if piece.reversed else "") + names[self._decides(piece)])
        scalar = len(section.sources or ()) == 1
        across, through = ((row[0] if scalar else row) for row in (rows["across"], rows["through"]))
        if usual:
            return [across, through]
        return {"across": across, "through": through, "given": given[0] if scalar and given else given}

    def _lane_names(self, section: LadderSection, parts: Sequence[Part], at: int, lane: int) -> dict[Side, str]:
        """The names of a section beside the part `at`, which is the one behind it at the left end alone."""
        beside, first = parts[at] if at >= 0 else None, at == 1 and parts[0] is section
        piece = section.imposed(lane)
        names: dict[Side, str] = {}
        if piece is not None:
            decided, port = self._decides(piece), self._port(piece)
            names[decided] = variable_name(port.variable(decided))
            # At the left end the conjugate of the source is named by the block, as its shared variable, and not by the
            # section, unless that one is what the source imposes.
            if not first or (isinstance(beside, LadderBlock) and given_side(beside.ways[lane]) == decided):
                names[other_side(decided)] = variable_name(port.variable(other_side(decided)))
        if isinstance(beside, LadderBlock):
            owner, stores = self._owner(parts, at, lane)
            shared = given_side(beside.ways[lane])
            if owner is not None and (first or stores) and (piece is None or self._decides(piece) != shared):
                names[shared] = variable_name(self._port(owner).variable(shared))
        sides: tuple[Side, Side] = ("across", "through")
        for side in sides:
            names.setdefault(side, NONE)
        return names

    def _owner(self, parts: Sequence[Part], k: int, lane: int) -> tuple[LadderElement | None, bool]:
        """The element that a reader gives the name of the shared variable to: the first that decides it, else the first."""
        block = parts[k]
        assert isinstance(block, LadderBlock), "only blocks have elements"
        pieces, side = _pieces(block, lane), given_side(block.ways[lane])
        alike = (part for part in parts[slice(*_run(parts, k, lane))] if isinstance(part, LadderBlock))
        for piece in (piece for part in alike for piece in _pieces(part, lane)):
            law = self._port(piece).law
            # A reader names the shared variable after the state that decides it, as the equations do.
            if isinstance(law, StorageLaw) and law.side == side:
                return piece, True
        return (pieces[0] if pieces else None), False

    def _is_named(self, parts: Sequence[Part], k: int, lane: int, piece: LadderElement) -> bool:
        """Whether a section beside a block names the shared variable of an element."""
        block = parts[k]
        assert isinstance(block, LadderBlock), "only blocks have elements"
        owner, stores = self._owner(parts, k, lane)
        if owner is not piece:
            return False
        shared = given_side(block.ways[lane])
        begin, end = _run(parts, k, lane)
        for at, first in ((begin - 1, True), (end, False)):
            section = parts[at] if 0 <= at < len(parts) else None
            if isinstance(section, LadderSection) and not section.across and (first or stores):
                source = section.imposed(lane)
                if source is None or self._decides(source) != shared:
                    return True
        return False

    # -- blocks ----------------------------------------------------------------------------------------------------------------

    def _block(self, parts: Sequence[Part], k: int, block: LadderBlock[Expression]) -> LadderEntry:
        items: list[object] = []
        for item in block.items:
            if isinstance(item, LadderField):
                items.append(self._field(block, item))
            elif isinstance(item, tuple):
                items.append(self._row(parts, k, item))
        # One word where all lanes agree, as in ladders that people write.
        if len(set(block.ways)) == 1:
            return {block.ways[0]: items}
        return {"mixed": items, "ways": list(block.ways)}

    def _row(self, parts: Sequence[Part], k: int, row: LaneRow) -> object:
        block = parts[k]
        assert isinstance(block, LadderBlock), "only blocks have elements"
        texts = []
        for lane, piece in enumerate(row):
            if piece is None:
                texts.append("none")
                continue
            named = (given_side(block.ways[lane]),) if self._is_named(parts, k, lane, piece) else ()
            texts.append(("-" if piece.reversed else "") + self._element(piece, named))
        return texts[0] if len(texts) == 1 else texts

    def _element(self, element: LadderElement, named: tuple[Side, ...]) -> str:
        item = self.scheme.elements[element.name]
        self.scalars[element.name] = item.port
        kind = element_texts.element_kind(item.port)
        details = element_texts.element_details(
            item.port, item.name, item.decides, default=kind, ties=self.ties, named=named
        )
        if element.letter == SWITCHING:  # its law is that of a mode, and its settings say all modes
            unsaid = ("law", kind.quantity.key if kind.quantity else "")
            details = {key: text for key, text in details.items() if key not in unsaid}
        if details:
            self.details[item.name] = details
        return f"{element.letter}:{element.name}"

    def _field(self, block: LadderBlock[Expression], field: LadderField[Expression]) -> object:
        # A field without elements of the model is the connection part of a block, and its name is made up.
        members = [self.scheme.elements[member.name] for member in field.members]
        name = plain_name(field.name.text) if members else self.fresh.take(field.name.text)
        found: dict[str, object] = {self._field_word(block, field): name}
        if len(field.lanes) < len(block.ways):
            found["lanes"] = [str(lane + 1) for lane in field.lanes]
        if field.laws:
            found["law"] = [law.text for law in field.laws]
        else:
            found["matrix"] = _matrix(field.matrix)
        names = [item.port.variable(item.port.law.side) for item in members]
        if any("[" not in name for name in names):
            found["outputs"] = ["none" if "[" in name else name for name in names]
        if self.ties and self._stores(field):
            found["causality"] = [item.causality for item in members]
        if any(item.port.initial is not None for item in members):
            starts = [item.port.initial for item in members]
            found["initial"] = ["0" if start is None else to_text(start) for start in starts]
        return found

    def _field_word(self, block: LadderBlock[Expression], field: LadderField[Expression]) -> str:
        """The letter that all members have, else what the field is in its block."""
        letters = {member.letter for member in field.members}
        if len(letters) == 1:
            return letters.pop()
        given = {
            self._port(member).law.side == given_side(block.ways[lane])
            for lane, member in zip(field.lanes, field.members, strict=False)
        }
        # One word has to fit all ports: a reader gives all of them the same kind of causality.
        if len(given) > 1 or (self._stores(field) and False in given):
            what = f"the field '{field.name.text}' mixes kinds of elements and causalities"
            raise rules.NO_LADDER.error(what, where=field.name.text, fix="write it as a network")
        if self._stores(field):
            return "energy"
        return "static" if True in given else "power"

    # -- connections -----------------------------------------------------------------------------------------------------------

    def _connection(self, ladder: Lanes, k: int, part: Connection, *, branch: bool) -> LadderEntry:
        """The usual variables are those of the neighbours; others are said."""
        # The nearest part on either side that says anything decides what is usual for a connection.
        before = next((self._given(p) for p in reversed(ladder.parts[:k]) if self._given(p) is not None), None)
        after = next((self._received(p) for p in ladder.parts[k + 1 :] if self._received(p) is not None), None)
        name = self._connection_name(part)
        scalar = len(part.takes) == len(part.gives) == 1
        more: dict[str, object] = {}
        # A branch begins with a connection that has nothing before it in its own list, so it says what it takes.
        if before is None or not _fits(part.takes, before) or branch:
            more["takes"] = _sides(part.takes)
        if after is None or not _fits(part.gives, after):
            more["gives"] = _sides(part.gives)
        texts = self._moduli(ladder, k, part)
        # The short form: the modulus stands under `elements`, where its parameter is found like any other, and states can be read.
        moves = scalar and not part.K[0][0].free_symbols <= self.scheme.causal.graph.parameters.keys()
        if scalar and (moves or not more):
            modulus = {} if part.K[0][0] is symbol(name) else {"K": texts[0][0]}
            if modulus or part.names:
                self.details[name] = {**modulus, **part.names}
            self.named |= set(part.names.values())
            return {"connect": {"name": name, **more} if more else name}
        K: object = texts[0][0] if scalar else texts
        return {"connect": {"name": name, "K": K, **more}}

    def _given(self, part: Part) -> tuple[Side, ...] | None:
        """What a part gives to a connection behind it; for a connection itself, nothing that is known."""
        if isinstance(part, LadderBlock):
            return tuple(given_side(way) for way in part.ways)
        if isinstance(part, LadderBranch):
            return (given_side(part.way),)
        return self._imposed(part)

    def _received(self, part: Part) -> tuple[Side, ...] | None:
        if isinstance(part, LadderBlock):
            return tuple(taken_side(way) for way in part.ways)
        if isinstance(part, LadderBranch):
            return (taken_side(part.way),)
        return tuple(map(other_side, self._imposed(part)))

    def _imposed(self, part: Part) -> tuple[Side, ...]:
        """What the sources of a section decide, where every lane has one."""
        sources = (part.sources or ()) if isinstance(part, LadderSection) else ()
        return tuple(self._decides(source) for source in sources if source is not None) if all(sources) else ()

    def _moduli(self, ladder: Lanes, k: int, part: Connection) -> list[list[str]]:
        # Domains change at connections only, so the last one before says which they are here.
        connections = [p.domains for p in ladder.parts[:k] if isinstance(p, LadderConnection)]
        before = connections[-1] if connections else ladder.domains
        ends = list(zip(before, part.takes, strict=True))
        return [
            [self.moduli.text(e, one, two) for e, one in zip(row, ends, strict=True)]
            for row, two in zip(part.K, zip(part.domains, part.gives, strict=True), strict=True)
        ]

    def _connection_name(self, part: Connection) -> str:
        name = part.name.text
        # K alone is the default key of a connection, and would be read as such.
        return self.fresh.take(name) if name in self.scheme.elements or name == "K" else name


def _pieces(block: LadderBlock[Expression], lane: int) -> list[LadderElement]:
    found = []
    for item in block.items:
        if isinstance(item, LadderField):
            found += [piece for at, piece in zip(item.lanes, item.members, strict=False) if at == lane]
        elif isinstance(item, tuple) and (piece := item[lane]) is not None:
            found.append(piece)
    return found


def _run(parts: Sequence[Part], k: int, lane: int) -> tuple[int, int]:
    """The first of the blocks that share a variable in a lane, and what comes behind the last; only sections inside part them."""

    def goes_on(at: int) -> bool:
        if not 0 <= at < len(parts):
            return False
        part, block = parts[at], parts[k]
        if isinstance(part, LadderSection):
            return bool(part.across)
        return isinstance(part, LadderBlock) and isinstance(block, LadderBlock) and part.ways[lane] == block.ways[lane]

    begin, end = k, k + 1
    while goes_on(begin - 1):
        begin -= 1
    while goes_on(end):
        end += 1
    return begin, end


def _taken(part: Part | None, lane: int) -> Side | None:
    if isinstance(part, LadderBlock):
        return taken_side(part.ways[lane])
    return taken_side(part.way) if isinstance(part, LadderBranch) else None


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


def ladder_text(scheme: PogScheme, *, model: Model | None = None) -> str:
    """The scheme as the text of a model file.

    Parameters are plain numbers in SI units. With the `model` that the scheme was raised from, its
    parameters with their units, its signals and its experiment are part of the file; without, what signals drive is an input.

    Raises: GraphError (G204) for what the notation has no entry for, G230 for modes, and for moduli and laws that read signals,
    without the model; G240 for ports of the model at nodes that belong to no element.
    """
    graph = scheme.causal.graph
    element_texts.refuse_loose_ends(graph)
    # Refused here and not while parts are written: the message can then speak of the model as a whole.
    if all(isinstance(port.law, SourceLaw) for port in scheme.causal.graph.ports):
        what = "nothing stores or loses energy, so that the ladder would have no elaboration block"
        raise rules.NO_LADDER.error(what, where=scheme.causal.graph.name, fix="add a storage or a resistive element")
    writing = LadderFormat(scheme, model, short=True)
    entries, details = writing.write()
    parts = writing.moduli.parts
    lines = "pog:\n" + ladder_lines(entries)
    if model is not None:
        renamed = element_texts.without_index(writing.scalars, writing.carried)
        sources = (graph.ports[k].source.input for k in graph.sources())
        renamed |= {name: made for name in sources if "[" in name and (made := variable_name(name)) in writing.carried}
        named = element_texts.with_named_variables(model, scheme.causal.graph, writing.named, renamed)
        return file_with_notation(
            element_texts.with_ports(named, (), "ladder"),
            lines,
            element_texts.details_text({**details, **_driven(scheme)}),
            parts,
        )
    # Without the model there are no blocks to write, and their names would be free symbols in the file.
    _refuse_signals(scheme)
    return element_texts.file_text(scheme.causal.graph, lines, details, parts)


def _settled(scheme: PogScheme, details: Details, model: Model | None) -> Details:
    """The details, with the settings of elements with modes."""
    graph = scheme.causal.graph
    modes = {} if model is None else mode_settings(model)
    found = dict(details)
    for element in (graph.ports[k].element for k in graph.switching):
        name = plain_name(element)
        # Settings of the model stand before what the scheme adds, which is about names and causality only.
        found[name] = element_texts.mode_details(element, modes) | dict(found.get(name, {}))
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
    # Everything that could read a signal: moduli, entries of fields, gains of blocks.
    entries = [e for c in graph.couplings for row in c.K for e in row]
    entries += [e for field in graph.fields for row in field.matrix for e in row]
    entries += [b.gain for b in scheme.blocks.values() if b.gain is not None]
    read = sorted(names & {name for e in entries for name in e.free_symbols})
    if read:
        what = f"a modulus or a law reads the signal '{read[0]}', and the scheme does not have its block"
        raise rules.NO_MODES.error(
            what, where=read[0], fix="give the model that the scheme was raised from", members=read
        )


def _written_ladder(scheme: PogScheme) -> Lanes:
    graph = scheme.bond_graph
    # A tree without fields is a ladder as people draw it; lanes come next, and the vector block takes what is left.
    if graph is not None and not scheme.causal.graph.fields:
        found = connected_parts(graph)
        if len(found) == 1 and found[0].is_tree():
            return tree_ladder(graph, found[0])
    try:
        return lane_ladder(scheme)
    except NoLanesError:
        return block_ladder(scheme)
