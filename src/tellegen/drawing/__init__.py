"""Figures of models: scenes laid out here, drawn alike as SVG, PDF, PNG, TikZ and JSON."""

from tellegen.drawing.checks import Problem, check_scene
from tellegen.drawing.figures import Figure
from tellegen.drawing.notations import draw
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Scene

__all__ = ["Figure", "Options", "Problem", "Scene", "check_scene", "draw"]
