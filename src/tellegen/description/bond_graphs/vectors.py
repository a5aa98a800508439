"""What stands under `elements` for a vector item: lists with an entry for each component, and matrices."""

from collections.abc import Iterable

from tellegen.core.names import did_you_mean, listing
from tellegen.description import rules as common_rules
from tellegen.description.bond_graphs.details import KIND
from tellegen.description.bond_graphs.graph import Item, part_name
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.keys import make_form
from tellegen.elements import ElementKind

PORTS = "ports"
KINDS = "kinds"
"""The kind of each port of a field, where its matrix gives efforts for some and flows for others."""
NONE = "none"
"""The entry of a list for a component about which nothing is said."""


def is_matrix(node: Node | None) -> bool:
    """Whether a value is a list of lists."""
    return isinstance(node, Sequence) and any(isinstance(row, Sequence) for row in node)


def part_details(context: Context, item: Item, kind: ElementKind, node: Mapping, law: Scalar | None) -> Mapping:
    """What is said about one component: its entry of each list unless that is `none`, and all that is the same for every one.

    `law` is the key that says the law of the whole field.
    """
    keys, values = [], []
    form = make_form(kind)
    for key, value in node.items():
        if (
            key is law
            or key.text == PORTS
            or (law is not None and key.text == KINDS)
            or (key.text == KIND and item.kind == "Sw")
        ):
            continue
        meaning = form.keys.get(key.text, ("", ""))[0]
        said = _part(context, item, key, value, numbered=meaning == "variable") if item.part else value
        if said is not None:
            keys.append(key)
            values.append(said)
    return Mapping(tuple(keys), tuple(values), node.line, node.column, node.length)


def listed_kind(context: Context, item: Item, node: Node, kinds: Iterable[ElementKind]) -> ElementKind:
    """The kind that a list of kinds names for one component, among those that it can be."""
    at = _part(context, item, Scalar(KINDS, node.line, node.column, node.length, False), node, numbered=False)
    text = context.scalar(at or node, f"the kind of {item.name}")
    names = {name: kind for kind in kinds for name in (kind.name, *kind.aliases)}
    if text.text not in names:
        fix = did_you_mean(text.text, names) or f"write one of {listing(names, 12)}"
        what = f"'{text.text}' is no kind of element that '{item.name}' can be"
        raise context.error(common_rules.UNKNOWN_KIND, text, what, fix=fix, where=item.origin)
    return names[text.text]


def _part(context: Context, item: Item, key: Scalar, value: Node, *, numbered: bool) -> Node | None:
    if isinstance(value, Sequence):
        entries = list(value)
        if len(entries) != item.size:
            what = f"'{key.text}' of {item.origin} has {len(entries)} entries, and {item.origin} has {item.size} components"
            raise context.error(common_rules.WRONG_SHAPE, value, what, fix=f"give {item.size}, or one for all")
        entry = entries[item.part - 1]
        return None if isinstance(entry, Scalar) and entry.text == NONE else entry
    if isinstance(value, Scalar) and numbered:
        return Scalar(part_name(value.text, item.part), value.line, value.column, value.length, value.quoted)
    return value
