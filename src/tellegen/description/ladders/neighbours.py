"""What stands beside what in a ladder: the sides that connections relate, the variables that sections impose and name."""

from collections.abc import Iterator
from itertools import pairwise

from tellegen.core.domains import Side, other_side
from tellegen.description.context import Context
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import Block, gives, takes

SIDES: tuple[Side, Side] = ("across", "through")


def check_neighbours(context: Context, blocks: list[Block], entry: Block | None = None) -> None:
    """Connections stand between blocks, sections apart from each other; `entry` is the branch of a side ladder.

    Raises: DescriptionError for the first one out of place.
    """
    work = [block for block in blocks if block.word != "domain"]
    for one, two in pairwise(work):
        if one.word == two.word == "section":
            fix = "remove one of them: nothing stands between them"
            raise context.error(rules.LOOSE_CONNECTION, two.node, "two sections follow each other", fix=fix)
    strong = [block for block in work if block.word != "section"]
    for one, two in pairwise(strong):
        if one.word == two.word == "connect" and not (one.gives and two.takes):
            what = "two connections follow each other"
            fix = "put a series or parallel block between them, or write their product as one modulus"
            raise context.error(rules.LOOSE_CONNECTION, two.node, what, fix=fix)
    _check_ends(context, work, strong, entry)
    for block in work:
        if block.side_ladder:
            check_neighbours(context, block.side_ladder, block)


def _check_ends(context: Context, work: list[Block], strong: list[Block], entry: Block | None) -> None:
    if not strong:
        section = work[-1] if work else None
        if section is None or section.given is None:
            node = entry.node if entry is not None else work[0].node
            fix = "say which variable is given: 'section: {across: v, through: F, given: F}'"
            raise context.error(rules.LOOSE_CONNECTION, node, "a branch has no block and no given variable", fix=fix)
        return
    ends = [(strong[-1], work[-1])] + ([(strong[0], work[0])] if entry is None else [])
    if entry is not None and work[0].word == "section" and len(work) > 1:
        fix = "remove it: the branch shares the variables of the section that it leaves"
        raise context.error(rules.LOOSE_CONNECTION, work[0].node, "a section begins a branch", fix=fix)
    for block, end in reversed(ends):
        if block.word == "connect" and (end.word != "section" or end.given is None):
            fix = "write it between a series or parallel block and another one"
            if end.word == "section":
                fix += ", or say which variable of the section is given: 'section: {across: v, through: F, given: v}'"
            raise context.error(rules.LOOSE_CONNECTION, block.node, "a connection has nothing on one side", fix=fix)


def imposed(section: Block, beside: Block | None, lane: int) -> Side | None:
    """The variable of a section that a source imposes in a lane, None without a source: as given, else what the block takes."""
    if section.given is None:
        assert beside is not None, "a section without a given variable stands beside a block"
        return takes(beside.way(lane))
    given = section.given
    return next((side for side in SIDES if section.variable(side, lane).text in given), None)


def source_names(blocks: list[Block], *, branch: bool = False) -> Iterator[str]:
    """The variables that the sections at the ends of a ladder and of its branches impose."""
    work = [block for block in blocks if block.word != "domain"]
    strong = [block for block in work if block.word != "section"]
    ends = [(work[0], strong[0])] if strong and not branch else []
    ends.append((work[-1], strong[-1] if strong else work[-1]))
    for section, beside in ends:
        if section.word == "section":
            for lane in range(len(section.across)):
                side = imposed(section, beside, lane)
                if side is not None:
                    yield section.variable(side, lane).text
    for block in work:
        if block.side_ladder:
            yield from source_names(block.side_ladder, branch=True)


# -- connections ---------------------------------------------------------------------------------------------------------------


def sides_before(
    context: Context, work: list[Block], position: int, entry: Block | None, width: int
) -> tuple[Side, ...]:
    """The variables x_1 of a connection: what the block, the source or the branch before it gives."""
    block = work[position]
    if block.takes:
        return _spread(context, block, block.takes, width, "takes")
    for k in range(position - 1, -1, -1):
        if work[k].joins:
            return tuple(gives(work[k].way(lane)) for lane in range(width))
    if entry is not None:
        return tuple(gives(entry.way(lane)) for lane in range(width))
    return tuple(imposed(work[0], None, lane) or "through" for lane in range(width))


def sides_after(context: Context, work: list[Block], position: int, width: int) -> tuple[Side, ...]:
    """The variables x_2 of a connection: what the block behind it takes, or what a source behind it is told."""
    block = work[position]
    if block.gives:
        return _spread(context, block, block.gives, width, "gives")
    for k in range(position + 1, len(work)):
        if work[k].joins:
            return tuple(takes(work[k].way(lane)) for lane in range(width))
    return tuple(other_side(imposed(work[-1], None, lane) or "across") for lane in range(width))


def _spread(context: Context, block: Block, sides: tuple[Side, ...], width: int, word: str) -> tuple[Side, ...]:
    if len(sides) not in (1, width):
        assert block.name is not None, "a connection has a name"
        what = f"'{word}' of '{block.name.text}' has {len(sides)} words for {width} lanes"
        raise context.error(rules.WRONG_WIDTH, block.node, what, fix="give one word, or one for each lane")
    return sides if len(sides) == width else sides * width


# -- names ---------------------------------------------------------------------------------------------------------------------


def section_names(work: list[Block], stores: dict[tuple[int, int], bool]) -> dict[tuple[int, int], str]:
    """The names that sections give to the variables which blocks beside them share, by number of the block and lane.

    `stores` tells for the blocks beside the last section whether an element decides that variable; else the source there takes
    the name. Blocks are numbered without sections; equal ones in a row share one name.
    """
    strong = [block for block in work if block.word != "section"]
    names: dict[tuple[int, int], str] = {}
    named: set[tuple[int, int]] = set()
    position = 0
    for section in work:
        if section.word != "section":
            position += 1
            continue
        for beside in (position - 1, position):
            block = strong[beside] if 0 <= beside < len(strong) else None
            if block is None or not block.elaborates:
                continue
            for lane in range(len(section.across)):
                run = _run(strong, beside, lane)
                if (run, lane) in named or (section is work[-1] and not stores[beside, lane]):
                    continue
                name = section.variable(gives(block.way(lane)), lane).text
                if name not in (section.given or ()):  # else the source has it
                    names[beside, lane] = name
                    named.add((run, lane))
    return names


def _run(strong: list[Block], position: int, lane: int) -> int:
    """The first of the blocks in a row that share a variable in this lane."""
    while (
        position > 0
        and strong[position - 1].elaborates
        and strong[position - 1].way(lane) == strong[position].way(lane)
    ):
        position -= 1
    return position
