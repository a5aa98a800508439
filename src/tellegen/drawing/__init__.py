"""Figures of models: scenes laid out here, drawn alike as SVG, PDF, PNG, TikZ and JSON."""

from tellegen.drawing.figures import Figure, draw, keep_layout
from tellegen.drawing.options import Options
from tellegen.drawing.overlay.animation import Animation, animate
from tellegen.drawing.stages import Stages, stages
from tellegen.scenes.ink import FigureProblem, check_scene
from tellegen.scenes.scene import Scene

__all__ = [
    "Animation", "Figure", "FigureProblem", "Options", "Scene", "Stages", "animate", "check_scene", "draw", "keep_layout",
    "stages",
]  # fmt: skip
