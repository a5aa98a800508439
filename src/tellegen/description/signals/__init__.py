"""Signals as they are described: formulas and blocks that are causal and carry no power."""
