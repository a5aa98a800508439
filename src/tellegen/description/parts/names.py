"""What a part's elements, variables, parameters, displacements and signals are called in the whole: `names: {I_1: I_e1}`."""

from collections.abc import Collection, Iterable, Mapping

from tellegen.core.names import did_you_mean, listing
from tellegen.description.context import Context
from tellegen.description.document import Mapping as Entries
from tellegen.description.document import Node, Scalar
from tellegen.description.indexing import Copy, name_at, read_name
from tellegen.description.model import Element, Model, Part
from tellegen.description.parts import rules
from tellegen.description.variables import variable_name

OWN = "own"
"""`names: own`: all that is inside keeps its name, for a part that is used once."""


def read_names(
    context: Context,
    who: tuple[str, str],
    known: Mapping[str, bool],
    node: Node | None,
    indices: tuple[str, ...],
    copy: Copy,
) -> dict[str, str]:
    """New names by those inside a part: from a mapping, a list of names that stay, or the word `own`.

    `who` names the part and its system, `known` is what the part has to name, and whether that follows from another name.
    """
    if node is None:
        return {}
    if isinstance(node, Scalar) and node.text == OWN:
        return {name: name for name, follows in known.items() if not follows}
    part, system = who
    if isinstance(node, Entries):
        pairs = [(key, context.scalar(value, f"the name of {key.text} of {part}")) for key, value in node.items()]
    else:
        pairs = [(text, text) for text in context.texts(node, f"the names of {part}")]
    found: dict[str, str] = {}
    for inside, outside in pairs:
        if inside.text not in known:
            fix = did_you_mean(inside.text, known) or f"its names are {listing(known, 20)}"
            what = f"nothing in the part {part} ({system}) is called '{inside.text}'"
            raise context.error(rules.UNKNOWN_NAME, inside, what, fix=fix, where=part)
        new = name_at(read_name(context, outside, indices, "something in a part"), copy)
        if new in found.values():
            what = f"'{new}' would name two things of the part {part}"
            raise context.error(rules.NAME_TAKEN, outside, what, fix="give each its own name", where=part)
        found[inside.text] = new
    return found


def names_inside(model: Model, gone: Collection[str] = ()) -> dict[str, bool]:
    """All that can be named anew, and whether it is called after an element; `gone` are sources that something else replaces."""
    found: dict[str, bool] = {}
    for element in model.elements:
        if element.name not in gone:
            found |= dict.fromkeys(default_variables(element).values(), True)
            found |= dict.fromkeys((element.name, *element.variables.values()), False)
    fields = (field.name for field in model.fields)
    others = (*model.parameters, *model.displacements, *model.signals, *fields, *model.vectors)
    return found | dict.fromkeys(others, False)


def written_names(part: Part) -> str | list[str] | dict[str, str]:
    """The names of a part as its line has them."""
    names = part.names
    if any(inside != outside for inside, outside in names.items()):
        return dict(names)
    gone = {port.source for name, port in part.model.ports.items() if name in part.ports}
    own = {name for name, follows in names_inside(part.model, gone).items() if not follows}
    return OWN if names.keys() == own else list(names)


def default_variables(element: Element) -> dict[str, str]:
    """The power variables of a one-port that are called after it, by side."""
    if element.kind.role == "coupling":
        return {}
    input_side = element.kind.side if element.kind.role == "source" else ""
    return {
        side: variable_name(element, side)
        for side in ("across", "through")
        if side not in element.variables and side != input_side
    }


def check_names(context: Context, part: str, names: Iterable[str], key: Scalar) -> None:
    """Names that a part brings into the whole are new there."""
    taken: dict[str, Collection[str]] = {
        "an element": context.elements,
        "a parameter": context.parameters,
        "a displacement": context.displacements,
        "a signal": context.signals,
        "a variable": {v for element in context.elements.values() for v in element.variables.values()},
    }
    for name in names:
        for word, there in taken.items():
            if name in there:
                what = f"the part {part} calls something '{name}', which names {word} of the whole"
                fix = f"choose another name on the line of {part}"
                raise context.error(rules.NAME_TAKEN, key, what, fix=fix, where=part)
