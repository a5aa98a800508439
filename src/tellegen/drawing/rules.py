"""The rules of figures (codes F)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("F")

NO_SUCH_OPTION = RULES.rule(
    "F101",
    "no such option of a figure",
    meaning="A figure was asked for with an option that does not exist.",
    why="an option that is misspelt would be ignored, and the figure would not be the one asked for",
)
NO_SUCH_NOTATION = RULES.rule(
    "F103",
    "no such kind of figure",
    meaning="A model was to be drawn in a way that does not exist.",
    why="a model is drawn as a bond graph ('bond'), a Power-Oriented Graph ('pog'), a schematic ('network'), its bodies "
    "('mechanism'), its equations ('equations'), the energy of its experiment ('sankey') or its reduction ('steps')",
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
WRONG_GAINS = RULES.rule(
    "F152",
    "POG whose path gains are not those of the model",
    meaning="The paths of a scheme were followed before it was drawn, and they bring something else to an element than the model does.",
    why="the entries of A and B are the gains of these paths: the figure would show another system than its equations",
)
NO_LANES = RULES.rule(
    "F153",
    "model without a vector bond graph",
    meaning="A bond graph of vectors was asked for, and the branches of the model do not run side by side from its sources.",
    why="a vector bond stands for like bonds that go from the same items to the same items, in one causality",
)
NO_SUCH_ITEM = RULES.rule(
    "F160",
    "place of an item that is not there",
    meaning="The layout of a file, or the option `places`, says where an item of a figure shall stand, and there is no such item.",
    why="a place under a misspelt name would be ignored, and the item would stand elsewhere",
)
NO_LAYOUT = RULES.rule(
    "F161",
    "file without a layout",
    meaning="The places of a figure were to be kept in a file that has no part for them, or in none at all.",
    why="a layout is a part of a YAML file; built-in examples stay as they are, and netlists have a geometry of their own",
)
NOT_LIKE = RULES.rule(
    "F162",
    "no earlier figure to be like",
    meaning="A figure was to be drawn like an earlier one, and what was given is no figure and no file, or figures of this kind have "
    "no places to keep.",
    why="bond graphs, POGs and schematics remember where everything stands; a file that is not there was misspelt",
)
NO_SCHEMATIC = RULES.rule(
    "F180",
    "model without a schematic",
    meaning="A schematic was asked for, and an element of the model cannot be written as one between nodes.",
    why="the elements of a schematic are those of a network, whose laws are written in the letters of their domain",
)
NO_OVERLAY = RULES.rule(
    "F200",
    "figure that shows no result",
    meaning="A result was to be laid over a kind of figure that has no place for it, or a time was given without use.",
    why="powers stand at the sections of a POG ('pog'), on the bonds of a bond graph ('bond') and beside the elements of a schematic "
    "('network') or a mechanism ('mechanism')",
)
OTHER_RUN = RULES.rule(
    "F201",
    "run of another model",
    meaning="The run that was to be laid over a figure has not the elements of the model that is drawn.",
    why="an arrow stands for the power of an element of the run; a figure of another model has no place for it",
)
BAD_ANIMATION_FILE = RULES.rule(
    "F202",
    "unknown kind of animation file",
    meaning="The name of a file does not end in a suffix that says how to write an animation into it.",
    why="the suffix chooses the format: .gif, .svg, .html (with a slider) or .mp4",
)
NO_VIDEO = RULES.rule(
    "F203",
    "no program that writes videos",
    meaning="An animation was to be written as MP4, and the program ffmpeg is not on this machine.",
    why="videos are compressed by ffmpeg, which is not part of Python; GIF, SVG and HTML need nothing else",
)
BAD_FRAMES = RULES.rule(
    "F204",
    "animation without a sensible number of frames",
    meaning="An animation was asked for with a number of frames or of seconds that makes no film.",
    why="an animation has from 2 to 1000 frames and lasts some seconds; every frame takes memory",
)
NOT_A_RUN = RULES.rule(
    "F205",
    "something else than a run",
    meaning="A Sankey diagram or an overlay was asked for of something that is no result of a simulation.",
    why="energies and powers are measured in a run; a model is simulated first, with the experiment it describes",
)
NO_ENERGY = RULES.rule(
    "F206",
    "run without energy to draw",
    meaning="A Sankey diagram was asked for of a run in which no energy moved.",
    why="the width of a stream is its energy, and there is none",
)
NO_STEPS = RULES.rule(
    "F190",
    "no steps to draw",
    meaning="Steps were to be drawn side by side of something that has none.",
    why="a reduction has steps, and so has a list of a scheme and of what operations on it gave back; a model alone has none",
)
NO_STAGES = RULES.rule(
    "F191",
    "no stages to draw",
    meaning="A figure was to be drawn stage by stage, and this kind of figure does not come about in stages, or not in this language.",
    why="strokes are put on a bond graph ('bond') one after the other, a POG ('pog') grows by columns, and a reduction ('steps') has steps; "
    "their reasons are told in English, Italian, German and French",
)
NO_MECHANISM = RULES.rule(
    "F181",
    "model without a mechanism",
    meaning="The drawing of a mechanism was asked for, and the model has no bodies and joints.",
    why="only 'mechanism:' or 'geometry:' in a file says where points of bodies are; a network does not",
)
TORN_GEOMETRY = RULES.rule(
    "F183",
    "geometry that does not fit",
    meaning="A pin or a weld of a geometry holds two points that are not at one place.",
    why="the formulas of 'geometry:' say where bodies are, and what a pin holds together is at one place",
)
NO_LENGTH = RULES.rule(
    "F182",
    "mechanism with a length that has no value",
    meaning="A mechanism was to be drawn, and something that its geometry depends on has no value.",
    why="a drawing shows bodies at their places, and these are numbers",
)
