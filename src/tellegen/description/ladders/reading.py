"""The elements of a POG ladder, from its part of a model file.

Series blocks take an across variable and give a through variable: their elements follow each other from node to node.
Parallel blocks take a through variable and give an across variable: their elements lie between the node and the reference.
A connection block takes the output x_1 of the block before it and gives the input x_2 = K x_1 of the block behind it, so its
neighbours say which power variables its matrix relates. A section at an end is a source of the variable that the block beside it
takes, unless it says which one is given; where an end has no section, that variable is zero. A side ladder starts at a branch.
"""

from tellegen.core.errors import TellegenError
from tellegen.description.context import Context
from tellegen.description.document import Node
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import Block
from tellegen.description.ladders.emitting import Emitter
from tellegen.description.ladders.neighbours import check_neighbours
from tellegen.description.ladders.stages import Stages
from tellegen.description.ladders.syntax import read_blocks


def read_ladder(context: Context, node: Node, details: Node | None) -> None:
    """Add the elements of a ladder to the model; `details` holds laws, values and initial values by element."""
    blocks = read_blocks(context, node)
    if blocks is None:
        return
    if not _elaborates(blocks):
        fix = "add a series or parallel block"
        raise context.error(rules.EMPTY_LADDER, node, "the ladder has no elaboration block", fix=fix)
    try:
        check_neighbours(context, blocks)
        Emitter(context, blocks, Stages(context, blocks), details).emit()
    except TellegenError:
        # so that the experiment does not call them unknown
        context.broken.update(name for block in blocks for name in block.names())
        raise


def _elaborates(blocks: list[Block]) -> bool:
    return any(block.elaborates or _elaborates(block.side_ladder) for block in blocks)
