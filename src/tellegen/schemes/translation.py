"""A model as the text of a file in another notation: network, bond graph or POG."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from tellegen.causality import CausalGraph, assign_causality
from tellegen.description import to_yaml
from tellegen.description.model import Model
from tellegen.graph import lower
from tellegen.schemes.bond_lines import bond_graph_text
from tellegen.schemes.ladder_text import ladder_text
from tellegen.schemes.networks import network_of
from tellegen.schemes.pog_raising import pog
from tellegen.schemes.raising import bond_graph

Notation = Literal["network", "bond", "pog"]


def translation(model: Model, notation: Notation) -> str:
    """The text of a file that describes the same model in a notation; its equations are the same.

    Raises: GraphError for a network where the junction structure is no graph, and for what another notation has no place for.
    """
    return _WRITERS[notation](model, assign_causality(lower(model)))


def _network(model: Model, causal: CausalGraph) -> str:
    found = network_of(causal, model=model)
    return to_yaml(replace(model, elements=found.elements, fields=found.fields, source="", parts=()))


def _bond_graph(model: Model, causal: CausalGraph) -> str:
    return bond_graph_text(bond_graph(causal, vectors=True), model=model)


def _pog(model: Model, causal: CausalGraph) -> str:
    return ladder_text(pog(causal), model=model)


_WRITERS: dict[Notation, Callable[[Model, CausalGraph], str]] = {
    "network": _network,
    "bond": _bond_graph,
    "pog": _pog,
}
NOTATIONS: tuple[Notation, ...] = tuple(_WRITERS)
