"""Mechanisms: bodies, joints and what acts on them, at one configuration or in motion."""
