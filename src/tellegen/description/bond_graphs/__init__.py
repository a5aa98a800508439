"""Bond graphs as the user writes them, and the elements between nodes that they stand for."""

from tellegen.description.bond_graphs.graph import Bond, BondGraph, Item
from tellegen.description.bond_graphs.reading import read_bond_graph

__all__ = ["Bond", "BondGraph", "Item", "read_bond_graph"]
