"""What cannot be written for other tools."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("X")

MODES = RULES.rule(
    "X401",
    "modes that cannot be exported",
    meaning="A model with switches, diodes, clutches, stiction or stops has a mode, or too many of them, that the export cannot hold.",
    why="each combination of modes has its own causality and so its own diagram, and contents are handed over between them",
)
SIGNALS = RULES.rule(
    "X402",
    "signal that cannot be exported",
    meaning="A signal of the model has no block in the other tool.",
    why="a Python function lives in this process only, what a signal remembers needs someone who finds its instants, and loops of signals need a state",
)
UNKNOWN_TARGET = RULES.rule(
    "X403",
    "export to an unknown format",
    meaning="A model was to be exported to a format that there is not.",
    why="each tool has its own writer",
)
NOT_WRITTEN = RULES.rule(
    "X404",
    "export that cannot be written",
    meaning="The system refused to write a file of the export.",
    why="the folder may be missing, full or not yours",
)
WOULD_OVERWRITE = RULES.rule(
    "X405",
    "export over files that exist",
    meaning="A file of the export is there already.",
    why="what is in it would be lost",
)
ONE_NAME = RULES.rule(
    "X406",
    "two names that become one",
    meaning="Two variables or parameters of the model would have one name in MATLAB.",
    why="words of MATLAB get an underscore at their end, and names longer than 63 characters are cut there",
)
UNKNOWN_OPTION = RULES.rule(
    "X407",
    "option that the export does not know",
    meaning="An option was given that the writer for this tool does not have, or a value of it that it does not know.",
    why="what is not understood would be left out of the file without a word",
)
DELAYED = RULES.rule(
    "X408",
    "delayed signal that cannot be exported",
    meaning="A model with delayed signals was to be given to a tool that asks for rates at any time and in any order.",
    why="a delay reads what was remembered of the steps before, and only who makes the steps knows them",
)
NOT_EXPLICIT = RULES.rule(
    "X409",
    "model without explicit rates",
    meaning="The rates of the model follow from equations that only a solver of its own solves, or it is too large to be written out.",
    why="another tool gives states and asks for their rates",
)
RATE_OF_INPUT = RULES.rule(
    "X410",
    "input whose rate matters",
    meaning="A storage follows a source that would become an input of the exported model.",
    why="the storage takes the rate of the input, and a tool that sets inputs gives values alone",
)
PLATFORM = RULES.rule(
    "X411",
    "platform that cannot be compiled for",
    meaning="A binary was asked for a platform, and there is no compiler for it.",
    why="each system has machine code of its own",
)
STEP = RULES.rule(
    "X412",
    "step that samples do not fit",
    meaning="The period of a sampled signal is no multiple of the step that was asked for, or that step is no time.",
    why="a controller takes its samples at steps, and between two of them there is nothing",
)
STEP_METHOD = RULES.rule(
    "X413",
    "method that does not fit the model",
    meaning="Exact steps were asked for a model that is not linear, or steps of an explicit method that are too long for it.",
    why="an explicit method whose step is longer than the fastest part of the model lets errors grow from step to step",
)
NO_SUCH_BLOCK = RULES.rule(
    "X414",
    "law that no block holds",
    meaning="A model was to be written as a file of Simulink, and a law of it is none of the blocks that such a file is given.",
    why="the file is given blocks of one line alone, because programs in blocks need parts that only MATLAB writes",
)
