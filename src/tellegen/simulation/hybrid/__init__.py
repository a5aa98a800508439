"""Runs through several modes: one compiled model for each, the choice of the next one, and states handed over between them."""
