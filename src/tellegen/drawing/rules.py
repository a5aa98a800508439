"""The rules of figures (codes F)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("F")

NO_SUCH_OPTION = RULES.rule(
    "F101",
    "no such option of a figure",
    meaning="A figure was asked for with an option that does not exist.",
    why="an option that is misspelt would be ignored, and the figure would not be the one asked for",
)
BAD_OPTION = RULES.rule(
    "F102",
    "bad value of an option of a figure",
    meaning="An option of a figure was given a value that it does not have.",
    why="options are words of a short list, yes or no, or positive sizes",
)
NO_SUCH_NOTATION = RULES.rule(
    "F103",
    "no such kind of figure",
    meaning="A model was to be drawn in a way that does not exist.",
    why="a model is drawn as a bond graph ('bond'), as a Power-Oriented Graph ('pog') or as its equations ('equations')",
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
NO_LADDER_PICTURE = RULES.rule(
    "F150",
    "POG whose ladder does not fit its summations",
    meaning="The columns of a scheme and its summations say different things about where variables go.",
    why="a figure that shows a sum which the scheme does not have would be wrong",
)
WRONG_SIGNS = RULES.rule(
    "F151",
    "POG whose signs do not conserve power",
    meaning="The signs of a scheme were checked before it was drawn, and power would appear or vanish in it.",
    why="a scheme with a wrong sign is another system: its loops would not be those of the equations",
)
