"""Hierarchy: a system used as a part of another through its ports, flattened into one network with dotted names."""
