"""Curves and bars with units as scenes."""
