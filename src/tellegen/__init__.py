"""Tellegen."""
