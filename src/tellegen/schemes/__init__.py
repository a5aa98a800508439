"""Bond graphs and Power-Oriented Graphs as values, raised from any causal model."""

from tellegen.schemes.algebra.checks import SectionParity, SignCheck, check_signs, section_parity
from tellegen.schemes.algebra.inversion import invert_path
from tellegen.schemes.algebra.joining import join_in_chain, join_side_by_side
from tellegen.schemes.algebra.mason import reduce_loop
from tellegen.schemes.algebra.orientations import Orientation, change_sign, flip, orientations, switch_signs
from tellegen.schemes.algebra.reduction_pictures import (
    ReductionPictures,
    cut_pictures,
    frozen_pictures,
    reduction_pictures,
)
from tellegen.schemes.algebra.signal_paths import (
    Loop,
    SignalPath,
    elementary_loops,
    lightest_path,
    port_paths,
    read_path,
)
from tellegen.schemes.algebra.vector_blocks import (
    SchemeMatrices,
    merge_blocks,
    merge_scheme,
    scheme_matrices,
    split_block,
    split_scheme,
)
from tellegen.schemes.bond_graph_construction import bond_graph
from tellegen.schemes.bond_graph_draft import simplification_table
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort, TwoPort
from tellegen.schemes.bond_graph_writing import bond_graph_text, to_details, to_lines
from tellegen.schemes.gains import PathGains, path_gains
from tellegen.schemes.pog_construction import pog
from tellegen.schemes.pog_scheme import (
    Block,
    Column,
    Ladder,
    Output,
    PogScheme,
    Rewriting,
    Section,
    Summation,
    VectorBlock,
)
from tellegen.schemes.pog_writing import ladder_text, to_ladder, to_ladder_details
from tellegen.schemes.translation import NetworkScheme, network_of

__all__ = [
    "Block",
    "BondGraphScheme",
    "Column",
    "Ladder",
    "Loop",
    "NetworkScheme",
    "OnePort",
    "Orientation",
    "Output",
    "PathGains",
    "PogScheme",
    "ReductionPictures",
    "Rewriting",
    "SchemeMatrices",
    "Section",
    "SectionParity",
    "SignCheck",
    "SignalPath",
    "Summation",
    "TwoPort",
    "VectorBlock",
    "bond_graph",
    "bond_graph_text",
    "change_sign",
    "check_signs",
    "cut_pictures",
    "elementary_loops",
    "flip",
    "frozen_pictures",
    "invert_path",
    "join_in_chain",
    "join_side_by_side",
    "ladder_text",
    "lightest_path",
    "merge_blocks",
    "merge_scheme",
    "network_of",
    "orientations",
    "path_gains",
    "pog",
    "port_paths",
    "read_path",
    "reduce_loop",
    "reduction_pictures",
    "scheme_matrices",
    "section_parity",
    "simplification_table",
    "split_block",
    "split_scheme",
    "switch_signs",
    "to_details",
    "to_ladder",
    "to_ladder_details",
    "to_lines",
]
