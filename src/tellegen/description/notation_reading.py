"""The elements of a file from the notation it is in: network, bond graph or ladder."""

from collections.abc import Callable

from tellegen.core.errors import TellegenError
from tellegen.description import rules
from tellegen.description.bond_graphs import read_bond_graph
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node
from tellegen.description.emitting import emit_line
from tellegen.description.ladders import read_ladder
from tellegen.description.multiports import is_multiport, read_multiport
from tellegen.description.network import read_line
from tellegen.description.repeating import emit_block, is_block, read_block

NOTATIONS = ("network", "bond graph", "pog")
"""The keys under which a file describes its elements; it has one of them."""


def read_notation(context: Context, root: Mapping, settle_early: Callable[[], None]) -> None:
    """Read the elements of a file from its one notation.

    `settle_early` finds the units of parameters, by which bond graphs tell domains.
    """
    _refuse_two_notations(context, root)
    if (bonds := root.get("bond graph")) is not None:
        settle_early()
        read_bond_graph(context, bonds, root.get("elements"))
        return
    if (ladder := root.get("pog")) is not None:
        read_ladder(context, ladder, root.get("elements"))
        return
    node = root.get("network")
    if node is None and (root.get("parts") is not None or root.get("mechanism") is not None):
        return
    if node is None:
        fix = "add 'network:' with a line for each element, or 'bond graph:', or 'pog:'"
        raise context.error(rules.MISSING_KEY, root, "the file describes no network", fix=fix)
    _read_lines(context, node)


def _refuse_two_notations(context: Context, root: Mapping) -> None:
    notations = [word for word in NOTATIONS if root.get(word) is not None]
    if len(notations) > 1:
        fix = "keep one of them: each notation describes the whole system"
        what = f"the file describes the system twice: {' and '.join(notations)}"
        raise context.error(rules.VALUE_TWICE, root, what, fix=fix)
    if notations == ["network"] and (details := root.get("elements")) is not None:
        fix = "write its keys on the lines of the network"
        raise context.error(rules.WRONG_SHAPE, details, "'elements' goes with a bond graph or a ladder", fix=fix)


def _read_lines(context: Context, node: Node) -> None:
    mapping = context.mapping(node, "'network'")
    for key, value in zip(mapping.keys, mapping.values, strict=True):
        try:
            if isinstance(value, Mapping) and is_multiport(value):
                read_multiport(context, key, value)
            elif isinstance(value, Mapping) and is_block(value):
                emit_block(context, read_block(context, key, value, ()))
            else:
                emit_line(context, read_line(context, key, value, ()))
        except TellegenError as error:
            context.broken.add(key.text)
            context.collect(error)
