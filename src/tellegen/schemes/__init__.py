"""Bond graphs and Power-Oriented Graphs as values: how they are made and written, and the operations on them."""

from tellegen.schemes.algebra.checks import check_signs, section_parity
from tellegen.schemes.algebra.equivalent_schemes import (
    Orientation,
    change_sign,
    flip,
    invert_path,
    orientations,
    switch_signs,
)
from tellegen.schemes.algebra.joining import join_in_chain, join_side_by_side
from tellegen.schemes.algebra.reduction_pictures import ReductionPictures, reduction_pictures
from tellegen.schemes.algebra.signal_paths import elementary_loops, reduce_loop
from tellegen.schemes.algebra.vector_blocks import merge_blocks, merge_scheme, split_block, split_scheme
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.bond_graph_draft import simplification_table
from tellegen.schemes.bond_graph_scheme import BondGraphScheme
from tellegen.schemes.bond_graph_writing import bond_graph_text
from tellegen.schemes.gains import path_gains
from tellegen.schemes.pog_construction import pog
from tellegen.schemes.pog_scheme import PogScheme, Rewriting, SchemeBlock, Summation
from tellegen.schemes.pog_writing import ladder_text
from tellegen.schemes.translation import network_of

__all__ = [
    "BondGraphScheme",
    "Orientation",
    "PogScheme",
    "ReductionPictures",
    "Rewriting",
    "SchemeBlock",
    "Summation",
    "bond_graph",
    "bond_graph_text",
    "change_sign",
    "check_signs",
    "elementary_loops",
    "flip",
    "invert_path",
    "join_in_chain",
    "join_side_by_side",
    "ladder_text",
    "merge_blocks",
    "merge_scheme",
    "network_of",
    "orientations",
    "path_gains",
    "pog",
    "reduce_loop",
    "reduction_pictures",
    "section_parity",
    "simplification_table",
    "split_block",
    "split_scheme",
    "switch_signs",
]
