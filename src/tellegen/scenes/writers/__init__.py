"""Scenes as files: SVG, PDF and PNG, TikZ and JSON, all showing the same picture."""
