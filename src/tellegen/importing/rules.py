"""What can be wrong with a file of another tool, whatever the tool: its ending, the options asked for, what is in it."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")

UNKNOWN_ENDING = RULES.rule(
    "D309",
    "files of this kind are not read",
    meaning="The ending of the file belongs to none of the tools whose files are read.",
    why="the ending tells which tool wrote a file, and each has a grammar of its own",
)
UNKNOWN_OPTION = RULES.rule(
    "D311",
    "no such option for this file",
    meaning="An option was given that the reader of this kind of file does not know.",
    why="an option that is skipped in silence would change the model without a word",
)
CANNOT_READ = RULES.rule(
    "D312",
    "a file of another tool cannot be read",
    meaning="There is no such file, it is a folder or a device, it may not be opened, it is too large, or it is not what its ending says.",
    why="a file is read whole from an ordinary file of bounded size",
)
UNIT_TOLD = RULES.rule(
    "D325",
    "what a functional mock-up unit decides by itself",
    meaning="The unit is for co-simulation alone, so that it is asked at intervals; or it has more parameters than a model hands over.",
    why="a unit steps by itself between two exchanges, and what is not handed over keeps the value that the unit has",
    severity="notice",
)
