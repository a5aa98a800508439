"""Ports written once and repeated: `phases: {repeat: {k: 1..m}, ports: {"phase[k]": "a[k]"}}`."""

from collections.abc import Iterator
from typing import NamedTuple, final

from tellegen.core.errors import TellegenError
from tellegen.description import rules as common_rules
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar
from tellegen.description.indexing import Copy, NotWholeError, name_at, not_whole, read_name, read_node
from tellegen.description.repeating import Block, copies, read_ranges


@final
class PortEntry(NamedTuple):
    """One port of a `ports` mapping: its name, the words that say it, and the values of the indices around it."""

    name: str
    key: Scalar
    value: Node
    indices: tuple[str, ...]
    copy: Copy

    def node(self, context: Context, text: Scalar) -> str:
        """A node that the entry names, in this copy."""
        try:
            return name_at(read_node(context, text, self.indices), self.copy)
        except NotWholeError as problem:
            raise not_whole(context, text, problem, _shown(self.indices, self.copy)) from None


def port_entries(
    context: Context, node: Node, subject: str, indices: tuple[str, ...] = (), copy: Copy = ()
) -> Iterator[PortEntry]:
    """Every port of a mapping, those of repeated blocks one by one; what is wrong with a block is collected."""
    for key, value in context.mapping(node, subject).items():
        try:
            if isinstance(value, Mapping) and "repeat" in value:
                yield from _repeated(context, key, value, indices, copy)
            else:
                yield PortEntry(_name(context, key, indices, copy), key, value, indices, copy)
        except TellegenError as error:
            context.collect(error)


def _repeated(context: Context, key: Scalar, node: Mapping, outer: tuple[str, ...], copy: Copy) -> Iterator[PortEntry]:
    context.check_keys(node, ("repeat", "ports"), f"the repeated ports {key.text}")
    ranges, indices = read_ranges(context, key, node, outer)
    inner = node.get("ports")
    if inner is None:
        what = f"the repeated block {key.text} has no ports"
        raise context.error(common_rules.MISSING_KEY, node, what, fix="add 'ports: {...}'")
    for each in copies(context, Block(key, indices, ranges, []), ranges, copy):
        yield from port_entries(context, inner, f"the ports of {key.text}", indices, each)


def _name(context: Context, key: Scalar, indices: tuple[str, ...], copy: Copy) -> str:
    try:
        return name_at(read_name(context, key, indices, "a port"), copy)
    except NotWholeError as problem:
        raise not_whole(context, key, problem, _shown(indices, copy)) from None


def _shown(indices: tuple[str, ...], copy: Copy) -> str:
    return ", ".join(f"{index} = {value}" for index, value in zip(indices, copy, strict=True))
