"""The elements of a POG ladder, from its part of a model file.

Series blocks take an across variable and give a through variable: their elements follow each other from node to node.
Parallel blocks take a through variable and give an across variable: their elements lie between the node and the reference.
A connection block takes the output x_1 of the block before it and gives the input x_2 = K x_1 of the block behind it, so its
neighbours say which power variables its matrix relates. A section at an end is a source of the variable that the block beside it takes.
"""

from dataclasses import dataclass, field
from typing import final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.names import did_you_mean
from tellegen.core.units import parse_unit
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.keys import make_form
from tellegen.description.ladders import rules
from tellegen.description.network import Line, emit_line, read_details
from tellegen.elements import CouplingType, ElementKind, Role, connection, kinds_of

BLOCKS = ("section", "series", "parallel", "connect", "domain")
STORAGES = ("C", "L", "M", "m", "J", "E", "K", "I")
RESISTIVE = ("R", "G", "b", "B", "d", "D")

_RELATED: dict[tuple[Side, Side], tuple[CouplingType, bool]] = {
    ("through", "through"): ("transformer", False),
    ("across", "across"): ("transformer", True),
    ("across", "through"): ("gyrator", False),
    ("through", "across"): ("gyrator", True),
}
"""The connection with x_2 = K x_1, by the power variables x_1 and x_2."""


@final
@dataclass(slots=True)
class Block:
    """One entry of a ladder. `takes` is the power variable that an elaboration block takes from its neighbours."""

    word: str
    node: Node
    texts: list[Scalar]
    stage: int = 0

    @property
    def takes(self) -> Side:
        """Series blocks take the across variable, parallel blocks the through variable."""
        return "across" if self.word == "series" else "through"

    @property
    def elaborates(self) -> bool:
        """Whether elements stand in the block."""
        return self.word in ("series", "parallel")


@final
@dataclass(slots=True)
class Stage:
    """The blocks between two connections: one domain."""

    domain: Domain | None = None
    because: str = ""
    names: dict[Side, str] = field(default_factory=dict)


def read_ladder(context: Context, node: Node, details: Node | None) -> None:
    """Add the elements of a ladder to the model; `details` holds laws, values and initial values by element."""
    blocks = _blocks(context, node)
    stages = _stages(context, blocks)
    _Emitter(context, blocks, stages, details).emit()


def _blocks(context: Context, node: Node) -> list[Block]:
    if not isinstance(node, Sequence):
        fix = "write a list such as '- section: [V, I]', '- series: [L:L_a]'"
        raise context.error(rules.BAD_BLOCK, node, "'pog' is not a list", fix=fix)
    blocks = []
    for entry in node:
        mapping = context.mapping(entry, "an entry of the ladder")
        if len(mapping.keys) != 1 or mapping.keys[0].text not in BLOCKS:
            word = mapping.keys[0].text if mapping.keys else ""
            fix = did_you_mean(word, BLOCKS) or f"the entries are {', '.join(BLOCKS)}"
            raise context.error(rules.BAD_BLOCK, entry, f"'{word}' is no block of a ladder", fix=fix)
        word = mapping.keys[0].text
        texts = context.texts(mapping.values[0], f"'{word}'")
        if word == "section" and len(texts) != 2:
            fix = "write the across variable, then the through variable: 'section: [V_a, I_a]'"
            raise context.error(rules.BAD_BLOCK, entry, "a section has two power variables", fix=fix)
        blocks.append(Block(word, entry, texts))
    if not any(block.elaborates for block in blocks):
        raise context.error(
            rules.SECTION_INSIDE, node, "the ladder has no elaboration block", fix="add a series or parallel block"
        )
    return blocks


def _stages(context: Context, blocks: list[Block]) -> list[Stage]:
    """Count the connections passed, and find the domain of the blocks between them."""
    stages = [Stage()]
    for block in blocks:
        if block.word == "connect":
            stages.append(Stage())
        block.stage = len(stages) - 1
        for domain, reason in _evidence(context, block):
            stage = stages[-1]
            if stage.domain is not None and stage.domain is not domain:
                what = f"the blocks would be {stage.domain.name} and {domain.name}: {stage.because}, but {reason}"
                fix = "put a 'connect' between the two domains"
                raise context.error(rules.TWO_DOMAINS, block.node, what, fix=fix)
            stage.domain, stage.because = domain, reason
    for block in blocks:
        if stages[block.stage].domain is None and block.word != "connect":
            fix = f"add '- domain: electrical' (or {', '.join(list(DOMAINS)[1:])}) before it, or give parameters their units"
            raise context.error(rules.NO_DOMAIN, block.node, "the domain of this block is not known", fix=fix)
    return stages


def _evidence(context: Context, block: Block) -> list[tuple[Domain, str]]:
    if block.word == "domain":
        word = block.texts[0].text if block.texts else ""
        if word not in DOMAINS:
            fix = did_you_mean(word, DOMAINS) or f"the domains are {', '.join(DOMAINS)}"
            raise context.error(rules.BAD_BLOCK, block.node, f"'{word}' is no domain", fix=fix)
        return [(DOMAINS[word], f"the ladder says {word}")]
    if not block.elaborates:
        return []
    found = []
    for text in block.texts:
        letter, name = _split(context, text)
        parameter = context.parameters.get(name)
        if parameter is not None and parameter.dimension is not None:
            fitting = [
                d
                for d in DOMAINS.values()
                if any(
                    k.quantity and parse_unit(k.quantity.unit).dimension == parameter.dimension
                    for k in _kinds(letter, d)
                )
            ]
            if len(fitting) == 1:
                found.append((fitting[0], f"'{name}' is given in {parameter.unit}"))
    return found


def _split(context: Context, text: Scalar) -> tuple[str, str]:
    letter, colon, name = text.text.partition(":")
    letter, name = letter.strip(), name.strip()
    if not colon or letter not in (*STORAGES, *RESISTIVE):
        fix = "write a letter, a colon and a name, such as 'L:L_a' or 'R:R_a'"
        raise context.error(rules.BAD_LETTER, text, f"'{text.text}' is no element of a ladder", fix=fix)
    return letter, name


def _kinds(letter: str, domain: Domain) -> list[ElementKind]:
    """The kinds that a letter can stand for in a domain, the one that a bare number means first."""
    role: Role = "storage" if letter in STORAGES else "resistive"
    kinds = kinds_of(domain.name, role)
    if role == "storage":
        fitting = [k for k in kinds if k.side == _storage_side(letter, domain)]
        return sorted(fitting, key=lambda k: k.inverse != (letter == "K"))
    sides: dict[str, Side] = {"R": domain.effort, "d": "across", "D": "across"}
    return sorted(kinds, key=lambda k: k.side != sides.get(letter, "through"))


def _storage_side(letter: str, domain: Domain) -> Side:
    if letter == "I":
        return domain.flow
    if letter == "C":
        return domain.effort
    if letter == "K":
        return "across" if domain.effort == "across" else "through"
    return "across" if letter in ("M", "m", "J") else "through"


class _Emitter:
    """Walks along the ladder from node to node."""

    def __init__(self, context: Context, blocks: list[Block], stages: list[Stage], details: Node | None) -> None:
        self.context = context
        self.blocks = blocks
        self.stages = stages
        self.details: dict[str, Node] = {}
        if details is not None:
            self.details = {key.text: value for key, value in context.mapping(details, "'elements'").items()}
        self.count = 0
        self.node = self._fresh()

    def _fresh(self) -> str:
        self.count += 1
        return f"s{self.count}"

    def emit(self) -> None:
        work = [block for block in self.blocks if block.word != "domain"]
        for position, block in enumerate(work):
            before = next((b for b in reversed(work[:position]) if b.word != "section"), None)
            after = next((b for b in work[position + 1 :] if b.word != "section"), None)
            if block.elaborates:
                last = not any(b.elaborates or b.word in ("connect", "section") for b in work[position + 1 :])
                self._elaborate(block, self._names_beside(work, position), last)
            elif block.word == "connect":
                self._connect(block, before, after)
            elif before is None or after is None:
                self._source(block, after or before, begins=before is None)

    def _domain(self, block: Block) -> Domain:
        domain = self.stages[block.stage].domain
        assert domain is not None, "every stage has a domain by now"
        return domain

    def _names_beside(self, work: list[Block], position: int) -> dict[Side, str]:
        """The names that sections beside a block give to the variable that the block decides."""
        gives = other_side(work[position].takes)
        for other in (position - 1, position + 1):
            if 0 <= other < len(work) and work[other].word == "section":
                across, through = (text.text for text in work[other].texts)
                return {gives: across if gives == "across" else through}
        return {}

    def _elaborate(self, block: Block, names: dict[Side, str], last: bool) -> None:
        domain = self._domain(block)
        for k, text in enumerate(block.texts):
            letter, name = _split(self.context, text)
            kind = self._kind(letter, name, domain)
            if block.word == "series":
                ends = last and k == len(block.texts) - 1
                there = domain.reference if ends else self._fresh()
                nodes = (self.node, there)
                self.node = there
            else:
                nodes = (self.node, domain.reference)
            variables: dict[str, str] = {}
            if kind.role == "storage" and kind.side in names:
                variables = {kind.side: names.pop(kind.side)}
            self._add(text, name, kind, nodes, variables)

    def _kind(self, letter: str, name: str, domain: Domain) -> ElementKind:
        kinds = _kinds(letter, domain)
        parameter = self.context.parameters.get(name)
        dimension = None if parameter is None else parameter.dimension
        fitting = [k for k in kinds if k.quantity is not None and parse_unit(k.quantity.unit).dimension == dimension]
        return (fitting or kinds)[0]

    def _connect(self, block: Block, before: Block | None, after: Block | None) -> None:
        if before is None or after is None or not before.elaborates or not after.elaborates:
            fix = "write it between a series or parallel block and another one"
            raise self.context.error(
                rules.LOOSE_CONNECTION, block.node, "a connection has nothing on one side", fix=fix
            )
        coupling, reciprocal = _RELATED[other_side(before.takes), after.takes]
        one, two = self._domain(before), self._domain(after)
        kind = connection((one.name, two.name), coupling, reciprocal=reciprocal)
        here, self.node = self.node, self._fresh()
        text = block.texts[0]
        self._add(text, text.text, kind, (here, one.reference, self.node, two.reference), {})

    def _source(self, block: Block, beside: Block | None, *, begins: bool) -> None:
        if beside is None or not beside.elaborates:
            fix = "put a series or parallel block beside the section"
            raise self.context.error(
                rules.LOOSE_CONNECTION, block.node, "a section stands beside no elaboration block", fix=fix
            )
        domain, side = self._domain(beside), beside.takes
        kind = next(k for k in kinds_of(domain.name, "source") if k.side == side)
        text = block.texts[0 if side == "across" else 1]
        nodes = (self.node, domain.reference) if side == "across" else (domain.reference, self.node)
        conjugate = block.texts[1 if side == "across" else 0].text
        taken = conjugate in self.context.variables or begins
        self._add(text, text.text, kind, nodes, {} if taken else {other_side(side): conjugate})

    def _add(
        self, text: Scalar, name: str, kind: ElementKind, nodes: tuple[str, ...], variables: dict[str, str]
    ) -> None:
        place = self.context.place(text)
        key = Scalar(name, text.line, text.column, text.length, text.quoted)
        line = Line(key, place, make_form(kind), name, nodes, variables=dict(variables))
        if name in self.details:
            more = self.context.mapping(self.details[name], f"the element '{name}'")
            assert isinstance(more, Mapping)
            read_details(self.context, line, more)
        emit_line(self.context, line)
