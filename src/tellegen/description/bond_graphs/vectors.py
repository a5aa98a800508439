"""What stands under `elements` for a vector item: lists with an entry for each component, and matrices."""

from tellegen.description import rules as common_rules
from tellegen.description.bond_graphs.graph import Item, part_name
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.keys import make_form
from tellegen.elements import ElementKind

PORTS = "ports"
KIND = "kind"


def is_matrix(node: Node | None) -> bool:
    """Whether a value is a list of lists."""
    return isinstance(node, Sequence) and any(isinstance(row, Sequence) for row in node)


def part_details(context: Context, item: Item, kind: ElementKind, node: Mapping, law: Scalar | None) -> Mapping:
    """What is said about one component: its entry of each list, and all that is the same for every one.

    `law` is the key that says the law of the whole field.
    """
    keys, values = [], []
    form = make_form(kind)
    for key, value in node.items():
        if key is law or key.text == PORTS or (key.text == KIND and item.kind == "Sw"):
            continue
        keys.append(key)
        meaning = form.keys.get(key.text, ("", ""))[0]
        values.append(_part(context, item, key, value, numbered=meaning == "variable") if item.part else value)
    return Mapping(tuple(keys), tuple(values), node.line, node.column, node.length)


def _part(context: Context, item: Item, key: Scalar, value: Node, *, numbered: bool) -> Node:
    if isinstance(value, Sequence):
        entries = list(value)
        if len(entries) != item.size:
            what = f"'{key.text}' of {item.origin} has {len(entries)} entries, and {item.origin} has {item.size} components"
            raise context.error(common_rules.WRONG_SHAPE, value, what, fix=f"give {item.size}, or one for all")
        return entries[item.part - 1]
    if isinstance(value, Scalar) and numbered:
        return Scalar(part_name(value.text, item.part), value.line, value.column, value.length, value.quoted)
    return value
