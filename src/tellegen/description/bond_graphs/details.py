"""The `elements` part: laws, values and initial values of elements whose kinds a bond graph or a ladder decides."""

from collections.abc import Iterable
from dataclasses import replace

from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node
from tellegen.description.keys import CONNECTION, make_form
from tellegen.description.network import Line, read_details


def read_elements(context: Context, node: Node | None, known: Iterable[str], subject: str) -> dict[str, Mapping]:
    """What is said about each element. `subject` names the whole in messages.

    Raises: DescriptionError for an element that is not there.
    """
    if node is None:
        return {}
    names = dict.fromkeys(known)
    found = {}
    for key, value in context.mapping(node, "'elements'").items():
        if key.text not in names:
            raise context.unknown_key(key, list(names)[:2000], f"'elements': {subject} has no such element")
        found[key.text] = context.mapping(value, f"the element '{key.text}'")
    return found


def add_details(context: Context, line: Line, node: Mapping) -> None:
    """Read what is said about one element; the relation of a connection is known already."""
    form = line.form
    if form.kind.name == CONNECTION:
        line.form = make_form(replace(form.kind, name="two-port"))
    read_details(context, line, node)
    line.form = form
