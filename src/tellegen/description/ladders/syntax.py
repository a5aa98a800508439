"""Reads the entries of a POG ladder: what stands in one, and whether its words, rows and names are right."""

from tellegen.core.domains import DOMAINS, Side
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.files import clip
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import BLOCKS, Block, Way
from tellegen.description.ladders.items import ItemReader, read_matrix, read_name

DEEPEST = 20
"""Branches may be nested so deep."""


def read_blocks(context: Context, node: Node, subject: str = "'pog'", depth: int = 0) -> list[Block] | None:
    """The blocks of a ladder, or None when errors were collected."""
    if not isinstance(node, Sequence):
        fix = "write a list such as '- section: [V, I]', '- series: [L:L_a]'"
        raise context.error(rules.BAD_BLOCK, node, f"{subject} is not a list", fix=fix)
    if depth > DEEPEST:
        fix = "start the side ladder from a section of the main ladder"
        raise context.error(rules.BAD_BLOCK, node, f"branches are nested deeper than {DEEPEST}", fix=fix)
    blocks: list[Block] = []
    failed = False
    for entry in node:
        try:
            block = _BlockReader(context, entry, depth).read()
            failed = failed or block is None
            blocks += [] if block is None else [block]
        except TellegenError as error:
            failed = True
            context.collect(error)
    if failed:
        context.broken.update(name for block in blocks for name in block.names())
        return None
    return blocks


class _BlockReader:
    """Reads one entry."""

    def __init__(self, context: Context, node: Node, depth: int) -> None:
        self.context = context
        self.node = node
        self.depth = depth

    def _refuse(self, what: str, fix: str, node: Node | None = None) -> TellegenError:
        return self.context.error(rules.BAD_BLOCK, self.node if node is None else node, what, fix=fix)

    def read(self) -> Block | None:
        """The block, or None where errors inside it were collected."""
        mapping = self.context.mapping(self.node, "an entry of the ladder")
        word = mapping.keys[0].text if mapping.keys else ""
        others = mapping.keys[1:]
        if len(others) > (word == "mixed"):
            words = ", ".join(clip(key.text) for key in mapping.keys[:4])
            raise self._refuse(
                f"an entry of the ladder has several keys: {words}", "start a line with '-' for each block"
            )
        if word not in BLOCKS:
            fix = did_you_mean(word, BLOCKS) or f"the entries are {', '.join(BLOCKS)}"
            raise self._refuse(f"'{clip(word)}' is no block of a ladder", fix)
        block, given = Block(word, self.node), mapping.values[0]
        if word == "section":
            self._section(block, given)
        elif word == "connect":
            self._connection(block, given)
        elif word == "domain":
            self._domain(block, given)
        elif block.elaborates:
            block.items = ItemReader(self.context, block.word).read(self.node, given)
            if word == "mixed":
                self._ways(block, mapping)
        else:
            return self._branch(block, given)
        return block

    def _branch(self, block: Block, given: Node) -> Block | None:
        found = read_blocks(self.context, given, f"'{block.word}'", self.depth + 1)
        if found is None:
            return None
        block.side_ladder = found
        if not found:
            raise self._refuse(f"the {block.word} is empty", "write its blocks, or a section with a given variable")
        return block

    # -- sections --------------------------------------------------------------------------------------------------------------

    def _section(self, block: Block, given: Node) -> None:
        if isinstance(given, Mapping):
            self.context.check_keys(given, ("across", "through", "given"), "a section")
            rows = [given.get("across"), given.get("through")]
            if rows[0] is None or rows[1] is None:
                raise self._refuse(
                    "a section has two power variables", "write 'section: {across: V_a, through: I_a, given: V_a}'"
                )
            block.across, block.through = (self._row(row) for row in rows if row is not None)
            self._given(block, given)
        elif isinstance(given, Sequence) and any(isinstance(item, Sequence) for item in given):
            rows_ = list(given)
            if len(rows_) != 2:
                raise self._refuse(
                    "a section has two rows of power variables",
                    "write the across variables, then the through variables: 'section: [[V_1, V_2], [I_1, I_2]]'",
                )
            block.across, block.through = self._row(rows_[0]), self._row(rows_[1])
        else:
            texts = self.context.texts(given, "'section'")
            if len(texts) != 2:
                raise self._refuse(
                    "a section has two power variables",
                    "write the across variable, then the through variable: 'section: [V_a, I_a]'",
                )
            block.across, block.through = (texts[0],), (texts[1],)
        if len(block.across) != len(block.through):
            what = f"a section has {len(block.across)} across and {len(block.through)} through variables"
            raise self.context.error(rules.WRONG_WIDTH, self.node, what, fix="give one of each for every lane")
        for text in (*block.across, *block.through):
            read_name(self.context, text, "a variable")

    def _row(self, node: Node) -> tuple[Scalar, ...]:
        return tuple(self.context.texts(node, "'section'"))

    def _given(self, block: Block, mapping: Mapping) -> None:
        node = mapping.get("given")
        if node is None:
            return
        known = [text.text for text in (*block.across, *block.through)]
        block.given = {}
        for text in self.context.texts(node, "'given'"):
            name = text.text.removeprefix("-").strip()
            if name not in known:
                fix = did_you_mean(name, known) or f"its variables are {', '.join(known)}"
                raise self._refuse(f"'{clip(name)}' is no variable of this section", fix, text)
            block.given[name] = text.text.startswith("-")
        for across, through in zip(block.across, block.through, strict=True):
            if across.text in block.given and through.text in block.given:
                what = f"both '{across.text}' and '{through.text}' are given"
                raise self._refuse(what, "a source imposes one of the two; the other answers it", node)

    # -- connections, domains, ways --------------------------------------------------------------------------------------------

    def _connection(self, block: Block, given: Node) -> None:
        if not isinstance(given, Mapping):
            texts = self.context.texts(given, "'connect'")
            if len(texts) != 1:
                raise self._refuse("a connection has one modulus", "write 'connect: K'")
            block.name = texts[0]
            read_name(self.context, texts[0], "a connection")
            return
        self.context.check_keys(given, ("name", "K", "takes", "gives"), "a connection")
        name = given.get("name")
        if name is None:
            raise self._refuse("a connection has no name", "write 'connect: {name: gear, K: [[2, 1], [0, 1]]}'")
        block.name = self.context.scalar(name, "the name of a connection")
        read_name(self.context, block.name, "a connection")
        K = given.get("K")
        if isinstance(K, Sequence):
            block.matrix = read_matrix(self.context, K, f"the matrix of '{block.name.text}'")
        elif K is not None:
            block.value = self.context.formula(K, f"the modulus of {block.name.text}")
        block.takes, block.gives = self._sides(given, "takes"), self._sides(given, "gives")

    def _sides(self, mapping: Mapping, key: str) -> tuple[Side, ...]:
        node = mapping.get(key)
        found: list[Side] = []
        for text in [] if node is None else self.context.texts(node, f"'{key}'"):
            if text.text not in ("across", "through"):
                fix = did_you_mean(text.text, ("across", "through")) or "write 'across' or 'through'"
                raise self._refuse(f"'{clip(text.text)}' is no power variable", fix, text)
            found.append("across" if text.text == "across" else "through")
        return tuple(found)

    def _domain(self, block: Block, given: Node) -> None:
        texts = self.context.texts(given, "'domain'")
        for text in texts:
            if text.text not in DOMAINS:
                fix = did_you_mean(text.text, DOMAINS) or f"the domains are {', '.join(DOMAINS)}"
                raise self._refuse(f"'{clip(text.text)}' is no domain", fix)
        if not texts:
            raise self._refuse("'' is no domain", f"the domains are {', '.join(DOMAINS)}")
        block.domains = tuple(text.text for text in texts)

    def _ways(self, block: Block, mapping: Mapping) -> None:
        node = mapping.get("ways")
        if node is None:
            fix = "add 'ways: [series, parallel]' to the entry, one word for each lane"
            raise self._refuse("a mixed block does not say how its lanes are joined", fix)
        found: list[Way] = []
        for text in self.context.texts(node, "'ways'"):
            if text.text not in ("series", "parallel"):
                fix = did_you_mean(text.text, ("series", "parallel")) or "write 'series' or 'parallel'"
                raise self._refuse(f"'{clip(text.text)}' is no way to join a lane", fix, text)
            found.append("series" if text.text == "series" else "parallel")
        block.ways = tuple(found)
