"""Bond graphs and Power-Oriented Graphs as values, raised from any causal model."""

from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, Junction, OnePort, TwoPort
from tellegen.schemes.bond_lines import bond_graph_text, to_details, to_lines
from tellegen.schemes.gains import PathGains, path_gains
from tellegen.schemes.inversion import invert_path
from tellegen.schemes.joining import join_in_chain, join_side_by_side
from tellegen.schemes.ladder_text import ladder_text, to_ladder, to_ladder_details
from tellegen.schemes.loops import Loop, elementary_loops
from tellegen.schemes.mason import reduce_loop
from tellegen.schemes.networks import NetworkScheme, network_of
from tellegen.schemes.orientations import Orientation, flip, orientations, switch_signs
from tellegen.schemes.pog_raising import pog
from tellegen.schemes.pog_scheme import Block, Column, Ladder, Output, PogScheme, Section, Summation, VectorBlock
from tellegen.schemes.raising import bond_graph
from tellegen.schemes.reduction_pictures import ReductionPictures, cut_pictures, frozen_pictures, reduction_pictures
from tellegen.schemes.rewriting import Rewriting
from tellegen.schemes.scheme_matrices import SchemeMatrices, scheme_matrices
from tellegen.schemes.sign_changes import change_sign
from tellegen.schemes.signal_paths import SignalPath, lightest_path, port_paths, read_path
from tellegen.schemes.signs import SectionParity, SignCheck, check_signs, section_parity
from tellegen.schemes.simplification import simplification_table
from tellegen.schemes.vector_blocks import merge_blocks, merge_scheme, split_block, split_scheme

__all__ = [
    "Block",
    "Bond",
    "BondGraphScheme",
    "Column",
    "Junction",
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
