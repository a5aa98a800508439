"""The rules of pictures, whatever they show (codes F)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("F")

BAD_OPTION = RULES.rule(
    "F102",
    "bad value of an option of a figure",
    meaning="An option of a figure was given a value that it does not have.",
    why="options are words of a short list, yes or no, or positive sizes",
)
BAD_SUFFIX = RULES.rule(
    "F104",
    "unknown kind of figure file",
    meaning="The name of a file does not end in a suffix that says how to draw into it.",
    why="the suffix chooses the format: .svg, .pdf, .png, .tex (TikZ) or .json (the scene)",
)
NOT_WRITTEN = RULES.rule(
    "F105",
    "figure that cannot be written",
    meaning="The system refused to write the file of a figure.",
    why="the folder is missing, or writing there is not allowed; a file that was there is untouched",
)
NOT_A_SCENE = RULES.rule(
    "F106",
    "text that is no scene",
    meaning="A text was read as the scene of a figure and holds something else.",
    why="a scene is JSON with title, about, box and shapes, as `Figure.json()` writes it",
)
TOO_LARGE = RULES.rule(
    "F107",
    "figure with too many pixels",
    meaning="A PNG was asked for with more pixels than a picture of a sensible size has.",
    why="every pixel takes memory; a PDF or an SVG is sharp at any size",
)
