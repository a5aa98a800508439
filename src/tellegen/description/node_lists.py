"""The nodes of a line: one for each terminal, or one for each port where the other is the reference."""

from tellegen.core.domains import DOMAINS
from tellegen.core.names import NAME
from tellegen.description import rules
from tellegen.description.context import Context
from tellegen.description.document import Node, Scalar, Sequence
from tellegen.description.indexing import Pattern, read_node
from tellegen.description.keys import (
    with_article,
)
from tellegen.description.lines import Indices
from tellegen.elements import ElementKind

_REASON = "what it keeps follows from its own variable, not from a difference of two"


def read_nodes(
    context: Context, key: Scalar, node: Node, kind: ElementKind, indices: Indices
) -> tuple[str | Pattern, ...]:
    """The nodes of an element of this kind, one for each terminal.

    Raises: DescriptionError for a name that is none, a wrong number of nodes, or a storage that is not against its reference.
    """
    items = node.items if isinstance(node, Sequence) else context.texts(node, f"the nodes of {key.text}")
    names: list[str | Pattern] = []
    for item in items:
        if type(item) is Scalar and NAME.fullmatch(item.text):
            names.append(item.text)
        else:
            names.append(read_node(context, context.scalar(item, f"a node of {key.text}"), indices))
    if len(names) != kind.terminals:
        names = _with_references(context, key, node, kind, names)
    if kind.grounded and names[1] != kind.domain.reference:
        what = f"the {kind.name} {key.text} has '{_shown(names[1])}' as its second node"
        why = f"{with_article(kind.name)} stores {kind.domain.energy(kind.side).word} against '{kind.domain.reference}': {_REASON}"
        moving = [name for name in names if name != kind.domain.reference]
        fix = f"write '{kind.name}: [{_shown(moving[0])}]'"
        raise context.error(rules.AGAINST_FRAME, node, what, why=why, fix=fix, where=key.text)
    return tuple(names)


def _with_references(
    context: Context, key: Scalar, node: Node, kind: ElementKind, names: list[str | Pattern]
) -> list[str | Pattern]:
    """One node a port means that the other is the reference; a through source then pushes into the node."""
    if len(names) != len(kind.domains):
        ports = len(kind.domains)
        what = f"the {kind.name} {key.text} has {len(names)} node{'' if len(names) == 1 else 's'}, not {kind.terminals}"
        fix = f"give {kind.terminals} nodes, or {ports} to put the other{'' if ports == 1 else 's'} at the reference"
        raise context.error(rules.WRONG_NODES, node, what, fix=fix, where=key.text)
    if kind.role == "source" and kind.side == "through":
        return [kind.domain.reference, names[0]]
    return [end for name, domain in zip(names, kind.domains, strict=True) for end in (name, DOMAINS[domain].reference)]


def _shown(name: str | Pattern) -> str:
    return name if isinstance(name, str) else name.text
