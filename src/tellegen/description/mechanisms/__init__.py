"""Planar mechanisms: bodies, joints, wheels and contacts of a file, lowered to elements of the network beside them."""

from tellegen.description.mechanisms.lowering import Lowering
from tellegen.description.mechanisms.reading import read_mechanism

__all__ = ["Lowering", "read_mechanism"]
