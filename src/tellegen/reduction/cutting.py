"""Rigid connections: a storage among others, or a node at which some elements part from others."""

from dataclasses import dataclass
from typing import final

from tellegen.core.domains import REFERENCES
from tellegen.core.names import did_you_mean, listing
from tellegen.description.model import Element, Model
from tellegen.reduction import rules


@final
@dataclass(frozen=True)
class Cut:
    """Elements that are parted from the node they share with others, or an element that gets a storage beside it."""

    name: str
    elements: tuple[Element, ...]
    node: str
    domain: str
    series: bool
    storage: Element | None


def cut_of(model: Model, connection: str, apart: tuple[str, ...]) -> Cut:
    """Where a model is cut: at a storage, or at a node between the elements of `apart` and the others.

    Raises: ReductionError (T111) when there is nothing to cut.
    """
    element = next((e for e in model.elements if e.name == connection), None)
    if element is not None and not apart:
        if element.kind.role != "storage":
            raise rules.NOT_RIGID.error(
                f"'{connection}' is no storage",
                where=connection,
                fix="name a storage, or a node and what is to be parted",
            )
        node = next((n for n in element.nodes if n not in REFERENCES), element.nodes[0])
        return Cut(connection, (element,), node, element.kind.domains[0], element.kind.side == "across", element)
    return _node_cut(model, connection, apart)


def _node_cut(model: Model, node: str, apart: tuple[str, ...]) -> Cut:
    joined = {e.name: e for e in model.elements if node in e.nodes}
    if not joined or node in REFERENCES:
        known = [*(e.name for e in model.elements if e.kind.role == "storage"), *_free_nodes(model)]
        fix = did_you_mean(node, known) or f"some that are: {listing(known)}"
        raise rules.NOT_RIGID.error(f"'{node}' is neither a storage nor a node", where=model.name, fix=fix)
    unknown = [name for name in apart if name not in joined]
    if unknown or not apart or len(set(apart)) == len(joined):
        what = f"'{unknown[0]}' is not at the node '{node}'" if unknown else f"the node '{node}' is not parted by this"
        raise rules.NOT_RIGID.error(what, where=node, fix=f"choose some, not all, of {listing(joined)}")
    elements = tuple(joined[name] for name in dict.fromkeys(apart))
    first = elements[0]
    domain = first.kind.domains[min(first.nodes.index(node) // 2, len(first.kind.domains) - 1)]
    storages = [e for e in joined.values() if e.kind.role == "storage" and e.kind.side == "across"]
    parted = [e for e in storages if e in elements]
    return Cut(node, elements, node, domain, True, next(iter([*parted, *storages]), None))


def _free_nodes(model: Model) -> list[str]:
    return list(dict.fromkeys(n for e in model.elements for n in e.nodes if n not in REFERENCES))
