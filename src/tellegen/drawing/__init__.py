"""Figures of models: scenes laid out here, drawn alike as SVG, PDF, PNG, TikZ and JSON."""

from tellegen.drawing.animation import Animation
from tellegen.drawing.animation_making import animate
from tellegen.drawing.checks import Problem, check_scene
from tellegen.drawing.figures import Figure
from tellegen.drawing.keeping import keep_layout
from tellegen.drawing.notations import draw
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Scene

__all__ = ["Animation", "Figure", "Options", "Problem", "Scene", "animate", "check_scene", "draw", "keep_layout"]
