"""The lanes of a ladder between two connections: how many there are, and which domain each belongs to."""

from dataclasses import dataclass, field
from typing import final

from tellegen.core.domains import DOMAINS, Domain
from tellegen.description.context import Context
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import (
    MATRICES,
    SWITCHING,
    Block,
    FieldItem,
    Item,
    TransferItem,
    described,
    lanes_of,
)
from tellegen.description.ladders.letters import domains_of


@final
@dataclass(slots=True, eq=False)
class Stage:
    """The blocks between two connections; a side ladder begins in the stage that it leaves."""

    blocks: list[Block] = field(default_factory=list)
    widths: list[tuple[int, str, Block]] = field(default_factory=list)
    found: list[tuple[Domain, str] | None] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The number of lanes."""
        return len(self.found)

    def domain(self, lane: int) -> Domain:
        """The domain of a lane."""
        known = self.found[lane]
        assert known is not None, "a stage without a domain was refused"
        return known[0]


class Stages:
    """Which stage each block belongs to, and the stage behind each connection. Blocks are known by identity."""

    def __init__(self, context: Context, blocks: list[Block]) -> None:
        self.context = context
        self._stage: dict[int, Stage] = {}
        self._behind: dict[int, Stage] = {}
        self._all: list[Stage] = []
        self._walk(blocks, self._new())
        for stage in self._all:
            self._settle_width(stage)
        for stage in self._all:
            self._settle_domains(stage)

    def of(self, block: Block) -> Stage:
        """The stage of a block; of a connection, the one before it."""
        return self._stage[id(block)]

    def behind(self, block: Block) -> Stage:
        """The stage behind a connection."""
        return self._behind[id(block)]

    def _new(self) -> Stage:
        self._all.append(Stage())
        return self._all[-1]

    def _walk(self, blocks: list[Block], stage: Stage) -> None:
        for block in blocks:
            self._stage[id(block)] = stage
            stage.blocks.append(block)
            stage.widths += [(n, reason, block) for n, reason in block.widths()]
            if block.word == "connect":
                assert block.name is not None, "a connection has a name"
                stage, before = self._new(), stage
                self._behind[id(block)] = stage
                rows, columns = (len(block.matrix), len(block.matrix[0])) if block.matrix else (1, 1)
                shape = (
                    f"'{block.name.text}' with {rows} x {columns} entries" if block.matrix else f"'{block.name.text}'"
                )
                before.widths.append((columns, shape, block))
                stage.widths.append((rows, shape, block))
            elif block.side_ladder:
                self._walk(block.side_ladder, stage)

    def _settle_width(self, stage: Stage) -> None:
        known: tuple[int, str, Block] | None = None
        for n, reason, block in stage.widths:
            if known is not None and n != known[0]:
                lanes = "1 lane" if n == 1 else f"{n} lanes"
                what = f"{reason} fits {lanes}, but {known[1]} fits {known[0]}"
                fix = (
                    "give every block as many lanes as the section before it; the rows and columns of K count lanes too"
                )
                raise self.context.error(rules.WRONG_WIDTH, block.node, what, fix=fix)
            known = known or (n, reason, block)
        stage.found = [None] * (1 if known is None else known[0])
        for block in stage.blocks:
            for item in block.items:
                if max(lanes_of(item)) >= stage.width:
                    what = f"{described(item)} stands in lane {max(lanes_of(item)) + 1} of {stage.width}"
                    raise self.context.error(rules.WRONG_WIDTH, block.node, what, fix="number its lanes from 1")

    def _settle_domains(self, stage: Stage) -> None:
        for block in stage.blocks:
            for lane, domain, reason in self._evidence(block, stage.width):
                known = stage.found[lane]
                if known is not None and not known[0].told_by_units:
                    continue  # a unit that two domains share does not speak against the one that was named
                if known is not None and known[0] is not domain:
                    what = f"the blocks would be {known[0].name} and {domain.name}: {known[1]}, but {reason}"
                    fix = "put a 'connect' between the two domains"
                    raise self.context.error(rules.TWO_DOMAINS, block.node, what, fix=fix)
                stage.found[lane] = known or (domain, reason)
        lanes = [k + 1 for k, known in enumerate(stage.found) if known is None]
        if lanes:
            block = next((b for b in stage.blocks if b.word != "connect"), stage.blocks[0])
            fix = f"add '- domain: electrical' (or {', '.join(list(DOMAINS)[1:])}) before it, or give parameters their units"
            what = "the domain of this block is not known"
            if stage.width > 1:
                what = f"the domain of lane {lanes[0]} of this block is not known"
                fix = "add '- domain: [electrical, ...]' with a word for each lane before it, or give parameters their units"
            raise self.context.error(rules.NO_DOMAIN, block.node, what, fix=fix)

    def _evidence(self, block: Block, width: int) -> list[tuple[int, Domain, str]]:
        if block.domains:
            words = block.domains if len(block.domains) > 1 else block.domains * width
            return [(lane, DOMAINS[word], f"the ladder says {word}") for lane, word in enumerate(words)]
        return [found for item in block.items for found in self._of_item(item)]

    def _of_item(self, item: Item) -> list[tuple[int, Domain, str]]:
        if isinstance(item, TransferItem):
            return []
        if isinstance(item, FieldItem):
            rows = enumerate(zip(lanes_of(item), item.matrix, strict=False))  # laws have no entry whose unit would tell
            named = [(lane, item.word, row[k].text) for k, (lane, row) in rows]
        else:
            named = [(lane, entry.letter, entry.name) for lane, entry in enumerate(item) if entry is not None]
        found = []
        for lane, letter, name in named:
            parameter = self.context.parameters.get(name)
            if parameter is None or parameter.dimension is None or letter in (*MATRICES, SWITCHING):
                continue
            fitting = [d for d in domains_of(letter, parameter.dimension) if DOMAINS[d].told_by_units]
            if len(fitting) == 1:
                found.append((lane, DOMAINS[fitting[0]], f"'{name}' is given in {parameter.unit}"))
        return found
