"""Figures of models: scenes laid out here, drawn alike as SVG, PDF, PNG, TikZ and JSON."""
