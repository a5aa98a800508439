"""The elements between nodes that a schematic shows, whatever a model was described as."""

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.description.model import Element, Model
from tellegen.drawing import rules
from tellegen.expressions import ONE
from tellegen.graph import lower
from tellegen.schemes import network_of


def elements_of(model: Model) -> tuple[Element, ...]:
    """The elements of a model; those of a bond graph or a POG with a node in the place of each bond that is a wire.

    Raises: FigureError (F180) where such a bond is no wire.
    """
    if not any(map(_is_bond, model.elements)):
        return model.elements
    causal = assign_causality(lower(model))
    try:
        return network_of(causal, model=model).elements
    except TellegenError as error:
        what = f"'{model.name}' has no schematic: {error.finding.what}"
        fix = "draw it as a bond graph: draw(model, 'bond')"
        raise rules.NO_SCHEMATIC.error(what, where=error.finding.where, fix=fix) from error


def _is_bond(element: Element) -> bool:
    """Whether an element passes power on unchanged within a domain, as bonds and sections do."""
    kind = element.kind
    return kind.role == "coupling" and len(kind.domains) == 2 and len(set(kind.domains)) == 1 and element.value is ONE
