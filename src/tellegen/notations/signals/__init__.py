"""Signals in a file: formulas, shapes over time, tables and blocks."""
