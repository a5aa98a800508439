"""The part `elements` of a file: laws, values and initial values of elements whose kinds a bond graph or a ladder decides."""

from collections.abc import Iterable
from dataclasses import replace

from tellegen.core.domains import Domain
from tellegen.core.errors import Place
from tellegen.core.names import did_you_mean, listing
from tellegen.elements import ElementKind, kinds_of
from tellegen.notations import rules
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.elements import ElementLine
from tellegen.notations.network.keys import CONNECTION, make_form
from tellegen.notations.network.lines import read_details
from tellegen.notations.yaml.document import MappingNode, Node

KIND = "kind"
"""The key that says the kind of an element with modes."""


def read_elements(
    context: ReadingContext, node: Node | None, known: Iterable[str], subject: str
) -> dict[str, MappingNode]:
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


def switching_kind(
    context: ReadingContext, name: str, domain: Domain, given: MappingNode | None, place: Place | None
) -> ElementKind:
    """The kind that `kind` under `elements` names; the first one of the domain where nothing is said.

    Raises: DescriptionError for a word that is no such kind.
    """
    kinds = list(kinds_of(domain.name, "switching"))
    word = None if given is None else given.get(KIND)
    if word is None and kinds:
        return kinds[0]
    names = {name: kind for kind in kinds for name in (kind.name, *kind.aliases)}
    text = "" if word is None else context.scalar(word, f"the kind of {name}").text
    if text not in names:
        fix = did_you_mean(text, names) or f"write one of {listing(names, 12)}" if names else "use another element"
        what = f"'{text or name}' is no kind of element with modes in the {domain.name} domain"
        raise rules.UNKNOWN_KIND.error(what, where=name, fix=fix, place=place)
    return names[text]


def without_kind(node: MappingNode) -> MappingNode:
    """What is said about an element with modes beside its kind."""
    left = [(key, value) for key, value in node.items() if key.text != KIND]
    keys, values = tuple(key for key, _ in left), tuple(value for _, value in left)
    return MappingNode(keys, values, node.line, node.column, node.length)


def add_details(context: ReadingContext, line: ElementLine, node: MappingNode) -> None:
    """Read what is said about one element; the relation of a connection is known already."""
    form = line.form
    if form.kind.name == CONNECTION:
        line.form = make_form(replace(form.kind, name="two-port"))
    read_details(context, line, node)
    line.form = form
