"""Planar mechanisms: bodies, joints, wheels and contacts of a file, lowered to elements of the network beside them."""
