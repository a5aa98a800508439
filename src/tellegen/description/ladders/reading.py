"""The elements of a POG ladder, from its part of a model file.

Series blocks take an across variable and give a through variable: their elements follow each other from node to node.
Parallel blocks take a through variable and give an across variable: their elements lie between the node and the reference.
A connection block takes the output x_1 of the block before it and gives the input x_2 = K x_1 of the block behind it, so its
neighbours say which power variables its matrix relates. A section at an end is a source of the variable that the block beside it
takes; where an end has no section, that variable is zero.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.core.units import Dimension, parse_unit
from tellegen.description.bond_graphs.details import add_details, read_elements
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.files import clip
from tellegen.description.keys import make_form
from tellegen.description.ladders import rules
from tellegen.description.network import Line, emit_line, reserved
from tellegen.elements import COUPLING_OF, ElementKind, Role, connection, kinds_of
from tellegen.expressions import RESERVED_WORDS

BLOCKS = {
    "section": "the across and the through variable of a power section",
    "series": "elements that share the through variable, such as [L:L_a, R:R_a]",
    "parallel": "elements that share the across variable, such as [C:C_0, G:G_0]",
    "connect": "the modulus of a connection block",
    "domain": "the domain of the blocks up to the next connection",
}
STORAGES = ("C", "L", "M", "m", "J", "E", "K", "I")
RESISTIVE = ("R", "G", "b", "B", "d", "D")
_MECHANICS = ("translational", "rotational")
_AT_HOME = {
    "L": ("electrical", "hydraulic"),
    "M": ("translational",),
    "m": ("translational",),
    "J": ("rotational",),
    "E": _MECHANICS,
    "K": (*_MECHANICS, "hydraulic"),
}
"""The domains of letters that do not mean something everywhere."""


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """An element of a block: its letter and its name."""

    letter: str
    name: str
    text: Scalar


@final
@dataclass(slots=True, eq=False)
class Block:
    """One entry of a ladder; `stage` counts the connections before it."""

    word: str
    node: Node
    texts: list[Scalar]
    entries: list[Entry]
    stage: int = 0

    @property
    def takes(self) -> Side:
        """Series blocks take the across variable, parallel blocks the through variable."""
        return "across" if self.word == "series" else "through"

    @property
    def gives(self) -> Side:
        """The variable that the elements of the block share."""
        return other_side(self.takes)

    @property
    def elaborates(self) -> bool:
        """Whether elements stand in the block."""
        return self.word in ("series", "parallel")

    def name_of(self, side: Side) -> Scalar:
        """The variable of a section."""
        return self.texts[0 if side == "across" else 1]


def read_ladder(context: Context, node: Node, details: Node | None) -> None:
    """Add the elements of a ladder to the model; `details` holds laws, values and initial values by element."""
    blocks = _blocks(context, node)
    if blocks is None:
        return
    try:
        _check_neighbours(context, blocks)
        _Emitter(context, blocks, _stages(context, blocks), details).emit()
    except TellegenError:
        context.broken.update(_names(blocks))  # so that the experiment does not call them unknown
        raise


def _names(blocks: list[Block]) -> list[str]:
    entries = [entry.name for block in blocks for entry in block.entries]
    return entries + [text.text for block in blocks if block.word in ("section", "connect") for text in block.texts]


# -- blocks --------------------------------------------------------------------------------------------------------------------


def _blocks(context: Context, node: Node) -> list[Block] | None:
    """The blocks of a ladder, or None when errors were collected."""
    if not isinstance(node, Sequence):
        fix = "write a list such as '- section: [V, I]', '- series: [L:L_a]'"
        raise context.error(rules.BAD_BLOCK, node, "'pog' is not a list", fix=fix)
    blocks, failed = [], False
    for entry in node:
        try:
            blocks.append(_block(context, entry))
        except TellegenError as error:
            failed = True
            context.collect(error)
    if failed:
        context.broken.update(_names(blocks))
        return None
    if not any(block.elaborates for block in blocks):
        fix = "add a series or parallel block"
        raise context.error(rules.EMPTY_LADDER, node, "the ladder has no elaboration block", fix=fix)
    return blocks


def _block(context: Context, node: Node) -> Block:
    mapping = context.mapping(node, "an entry of the ladder")
    if len(mapping.keys) > 1:
        words = ", ".join(clip(key.text) for key in mapping.keys[:4])
        fix = "start a line with '-' for each block"
        raise context.error(rules.BAD_BLOCK, node, f"an entry of the ladder has several keys: {words}", fix=fix)
    word = mapping.keys[0].text if mapping.keys else ""
    if word not in BLOCKS:
        fix = did_you_mean(word, BLOCKS) or f"the entries are {', '.join(BLOCKS)}"
        raise context.error(rules.BAD_BLOCK, node, f"'{clip(word)}' is no block of a ladder", fix=fix)
    given = mapping.values[0]
    for item in given.items if isinstance(given, Sequence) else (given,):
        if isinstance(item, Mapping):
            fix = "put no space behind the colon: 'L:L_a'"
            raise context.error(rules.BAD_BLOCK, item, f"an entry of '{word}' is not a single text", fix=fix)
    texts = context.texts(given, f"'{word}'")
    block = Block(word, node, texts, [])
    if word == "section":
        if len(texts) != 2:
            fix = "write the across variable, then the through variable: 'section: [V_a, I_a]'"
            raise context.error(rules.BAD_BLOCK, node, "a section has two power variables", fix=fix)
        for text in texts:
            _name(context, text, "a variable")
    elif word == "connect":
        if len(texts) != 1:
            raise context.error(rules.BAD_BLOCK, node, "a connection has one modulus", fix="write 'connect: K'")
        _name(context, texts[0], "a connection")
    elif word == "domain":
        if len(texts) != 1 or texts[0].text not in DOMAINS:
            said = ", ".join(text.text for text in texts)
            fix = did_you_mean(said, DOMAINS) or f"the domains are {', '.join(DOMAINS)}"
            raise context.error(rules.BAD_BLOCK, node, f"'{clip(said)}' is no domain", fix=fix)
    else:
        block.entries = [_entry(context, text) for text in texts]
        if not texts:
            fix = f"write its elements, such as '{word}: [R:R_a]', or remove it"
            raise context.error(rules.BAD_BLOCK, node, f"the {word} block is empty", fix=fix)
    return block


def _name(context: Context, text: Scalar, subject: str) -> str:
    if text.text in RESERVED_WORDS:
        raise reserved(context, text, subject)
    return context.name(text, subject)


def _entry(context: Context, text: Scalar) -> Entry:
    letter, colon, name = (part.strip() for part in text.text.partition(":"))
    if not colon or letter not in (*STORAGES, *RESISTIVE):
        fix = "write a letter, a colon and a name, such as 'L:L_a' or 'R:R_a'"
        raise context.error(rules.BAD_LETTER, text, f"'{clip(text.text)}' is no element of a ladder", fix=fix)
    at = Scalar(name, text.line, text.column, text.length, text.quoted)
    return Entry(letter, _name(context, at, "an element"), text)


def _check_neighbours(context: Context, blocks: list[Block]) -> None:
    work = [block for block in blocks if block.word != "domain"]
    for one, two in pairwise(work):
        if one.word == two.word == "section":
            fix = "remove one of them: nothing stands between them"
            raise context.error(rules.LOOSE_CONNECTION, two.node, "two sections follow each other", fix=fix)
    strong = [block for block in work if block.word != "section"]
    for one, two in pairwise(strong):
        if one.word == two.word == "connect":
            what = "two connections follow each other"
            fix = "put a series or parallel block between them, or write their product as one modulus"
            raise context.error(rules.LOOSE_CONNECTION, two.node, what, fix=fix)
    for block in (strong[0], strong[-1]):
        if block.word == "connect":
            fix = "write it between a series or parallel block and another one"
            raise context.error(rules.LOOSE_CONNECTION, block.node, "a connection has nothing on one side", fix=fix)


# -- domains -------------------------------------------------------------------------------------------------------------------


def _stages(context: Context, blocks: list[Block]) -> list[Domain]:
    """Count the connections passed, and find the domain of the blocks between them."""
    found: list[tuple[Domain, str] | None] = [None]
    for block in blocks:
        if block.word == "connect":
            found.append(None)
        block.stage = len(found) - 1
        for domain, reason in _evidence(context, block):
            known = found[-1]
            if known is not None and known[0] is not domain:
                what = f"the blocks would be {known[0].name} and {domain.name}: {known[1]}, but {reason}"
                fix = "put a 'connect' between the two domains"
                raise context.error(rules.TWO_DOMAINS, block.node, what, fix=fix)
            found[-1] = known or (domain, reason)
    for block in blocks:
        if found[block.stage] is None and block.word != "connect":
            fix = f"add '- domain: electrical' (or {', '.join(list(DOMAINS)[1:])}) before it, or give parameters their units"
            raise context.error(rules.NO_DOMAIN, block.node, "the domain of this block is not known", fix=fix)
    return [stage[0] for stage in found if stage is not None]


def _evidence(context: Context, block: Block) -> list[tuple[Domain, str]]:
    if block.word == "domain":
        word = block.texts[0].text
        return [(DOMAINS[word], f"the ladder says {word}")]
    found = []
    for entry in block.entries:
        parameter = context.parameters.get(entry.name)
        if parameter is not None and parameter.dimension is not None:
            fitting = _domains_of(entry.letter, parameter.dimension)
            if len(fitting) == 1:
                found.append((DOMAINS[fitting[0]], f"'{entry.name}' is given in {parameter.unit}"))
    return found


@cache
def _domains_of(letter: str, dimension: Dimension) -> tuple[str, ...]:
    return tuple(d.name for d in DOMAINS.values() if any(_has_dimension(k, dimension) for k in _kinds(letter, d)))


def _has_dimension(kind: ElementKind, dimension: Dimension | None) -> bool:
    return kind.quantity is not None and parse_unit(kind.quantity.unit).dimension == dimension


@cache
def _kinds(letter: str, domain: Domain) -> tuple[ElementKind, ...]:
    """The kinds that a letter can stand for in a domain, the one that a bare number means first."""
    if domain.name not in _AT_HOME.get(letter, DOMAINS):
        return ()
    role: Role = "storage" if letter in STORAGES else "resistive"
    kinds = kinds_of(domain.name, role)
    if role == "storage":
        fitting = [k for k in kinds if k.side == _storage_side(letter, domain)]
        return tuple(sorted(fitting, key=lambda k: k.inverse != (letter == "K")))
    sides: dict[str, Side] = {"R": domain.effort, "d": "across", "D": "across"}
    return tuple(sorted(kinds, key=lambda k: k.side != sides.get(letter, "through")))


def _storage_side(letter: str, domain: Domain) -> Side:
    if letter == "I":
        return domain.flow
    if letter in ("C", "K"):  # a stiffness is the reciprocal of a compliance
        return domain.effort
    return "across" if letter in ("M", "m", "J") else "through"


# -- elements ------------------------------------------------------------------------------------------------------------------


class _Emitter:
    """Walks along the ladder from node to node."""

    def __init__(self, context: Context, blocks: list[Block], domains: list[Domain], details: Node | None) -> None:
        self.context = context
        self.work = [block for block in blocks if block.word != "domain"]
        self.strong = [block for block in self.work if block.word != "section"]
        self.domains = domains
        self.more = read_elements(context, details, self._elements(), "the ladder")
        self.count = 0
        self.node = ""

    def _elements(self) -> list[str]:
        names = [entry.name for block in self.work for entry in block.entries]
        names += [block.texts[0].text for block in self.work if block.word == "connect"]
        for section, beside in ((self.work[0], self.strong[0]), (self.work[-1], self.strong[-1])):
            if section.word == "section":
                names.append(section.name_of(beside.takes).text)
        return names

    def _fresh(self) -> str:
        self.count += 1
        return f"s{self.count}"

    def _domain(self, block: Block) -> Domain:
        return self.domains[block.stage]

    def emit(self) -> None:
        begin, end = self.work[0].word == "section", self.work[-1].word == "section"
        first, last = self.strong[0], self.strong[-1]
        grounded = first.word == "series" and not begin
        self.node = self._domain(first).reference if grounded else self._fresh()
        if begin:
            self._source(self.work[0], first, {})
        sections = self._sections()
        for position, block in enumerate(self.strong):
            if block.elaborates:
                self._elaborate(block, sections[position], grounded=block is last and not end)
            else:
                self._connect(block, self.strong[position - 1], self.strong[position + 1])
        if end:
            section = self.work[-1]
            conjugate = section.name_of(last.gives).text
            free = conjugate not in self.context.variables
            self._source(section, last, {last.gives: conjugate} if free else {})

    def _sections(self) -> list[str]:
        """The name that a section beside each block gives to the variable which its elements share, if any."""
        names, runs, position = [""] * len(self.strong), self._runs(), 0
        named: set[int] = set()
        for section in self.work:
            if section.word != "section":
                position += 1
                continue
            for beside in (position - 1, position):
                block = self.strong[beside] if 0 <= beside < len(self.strong) else None
                if block is None or not block.elaborates or runs[beside] in named:
                    continue
                if section is not self.work[-1] or self._stores(block):  # at the end a source is there to take the name
                    names[beside] = section.name_of(block.gives).text
                    named.add(runs[beside])
        return names

    def _runs(self) -> list[int]:
        """Equal blocks in a row share a variable: they get the same number."""
        runs = list(range(len(self.strong)))
        for k in range(1, len(runs)):
            if self.strong[k].word == self.strong[k - 1].word:
                runs[k] = runs[k - 1]
        return runs

    def _stores(self, block: Block) -> bool:
        """Whether an element of the block decides what the block gives."""
        return any(self._decides(self._kind(entry, self._domain(block)), block) for entry in block.entries)

    @staticmethod
    def _decides(kind: ElementKind, block: Block) -> bool:
        return kind.role == "storage" and kind.side == block.gives

    def _elaborate(self, block: Block, name: str, *, grounded: bool) -> None:
        domain = self._domain(block)
        kinds = [self._kind(entry, domain) for entry in block.entries]
        owner = next((k for k, kind in enumerate(kinds) if self._decides(kind, block)), 0)
        for k, (entry, kind) in enumerate(zip(block.entries, kinds, strict=True)):
            there = domain.reference
            if block.word == "series" and not (grounded and k == len(kinds) - 1):
                there = self._fresh()
            self._add(
                entry.text, entry.name, kind, (self.node, there), {block.gives: name} if name and k == owner else {}
            )
            if block.word == "series":
                self.node = there

    def _kind(self, entry: Entry, domain: Domain) -> ElementKind:
        kinds = _kinds(entry.letter, domain)
        if not kinds:
            what = f"'{entry.letter}' stands for no {domain.name} element"
            fix = f"'{entry.letter}' belongs to {' and '.join(_AT_HOME[entry.letter])}; write C or I for what stores energy"
            raise self.context.error(rules.BAD_LETTER, entry.text, what, fix=fix, where=entry.name)
        parameter = self.context.parameters.get(entry.name)
        dimension = None if parameter is None else parameter.dimension
        keys = [key.text for key in self.more[entry.name].keys] if entry.name in self.more else []
        fitting = [k for k in kinds if _has_dimension(k, dimension)]
        keyed = [k for k in kinds if k.quantity is not None and k.quantity.key in keys]
        return (*fitting, *keyed, *kinds)[0]

    def _connect(self, block: Block, before: Block, after: Block) -> None:
        coupling, reciprocal = COUPLING_OF[before.gives, after.takes]
        one, two = self._domain(before), self._domain(after)
        kind = connection((one.name, two.name), coupling, reciprocal=reciprocal)
        here, self.node = self.node, self._fresh()
        text = block.texts[0]
        self._add(text, text.text, kind, (here, one.reference, self.node, two.reference), {})

    def _source(self, section: Block, beside: Block, variables: dict[str, str]) -> None:
        domain, side = self._domain(beside), beside.takes
        kind = next(k for k in kinds_of(domain.name, "source") if k.side == side)
        text = section.name_of(side)
        nodes = (self.node, domain.reference) if side == "across" else (domain.reference, self.node)
        self._add(text, text.text, kind, nodes, variables)

    def _add(
        self, text: Scalar, name: str, kind: ElementKind, nodes: tuple[str, ...], variables: dict[str, str]
    ) -> None:
        key = Scalar(name, text.line, text.column, text.length, text.quoted)
        line = Line(key, self.context.place(text), make_form(kind), name, nodes, variables=dict(variables))
        try:
            if name in self.more:
                add_details(self.context, line, self.more[name])
            emit_line(self.context, line)
        except TellegenError as error:
            self.context.broken.add(name)
            self.context.collect(error)
