"""The rules of results: what cannot be asked of a run (codes S, from 200 on) and files of runs (codes X, from 200 on)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("S")
FILES = Rulebook("X")

NO_SUCH_CHANNEL = RULES.rule(
    "S201",
    "no such variable in a run",
    meaning="A run was asked for a variable or an element that its model does not have.",
    why="a run knows states, displacements, signals, power variables, and powers and energies by element",
)
NOT_IN_FILE = RULES.rule(
    "S202",
    "run without its model",
    meaning="A run that was read from a file was asked for something that only its model can compute.",
    why="a file holds the variables that were saved, and nothing else",
)
NO_SEPARATE_SIDES = RULES.rule(
    "S203",
    "power through a coupling that others bypass",
    meaning="The power that passes a coupling was asked for, both its sides are joined by another way too, and nothing beside it tells what flows through it.",
    why="where only couplings meet, what goes round among them follows from no element",
)
NOTHING_IN_COMMON = RULES.rule(
    "S204",
    "runs with nothing in common",
    meaning="Two runs were compared that share no variable, or no time.",
    why="only what both have can be compared",
)
BAD_RESAMPLING = RULES.rule(
    "S205",
    "times outside the run",
    meaning="Values were asked for before the start or after the end of a run, or at times that are not numbers in order.",
    why="a run says nothing about times that it did not reach",
)
MIXED_PANEL = RULES.rule(
    "S210",
    "panel of different quantities",
    meaning="Variables of different quantities were to stand in one panel of a plot.",
    why="a panel has one axis, and numbers of different units have no common one",
)
BAD_SUFFIX = FILES.rule(
    "X201",
    "unknown kind of file",
    meaning="The name of a file does not end in a suffix that says how to write or read it.",
    why="the suffix chooses the format: .csv, .nc (netCDF), .parquet or .mat (MATLAB)",
)
NOT_WRITTEN = FILES.rule(
    "X202",
    "file that cannot be written",
    meaning="The system refused to write the file.",
    why="the folder is missing, or writing there is not allowed; a file that was there is untouched",
)
NOT_A_RUN = FILES.rule(
    "X203",
    "file that is no run",
    meaning="A file was opened as a run and holds something else.",
    why="a run is a table with a column t of increasing times and columns of numbers",
)
SEVERAL_PORTS = RULES.rule(
    "S206",
    "element without a single effort and flow",
    meaning="The effort or flow of an element was asked for, and it has several ports.",
    why="each port has an effort and a flow of its own; the power of the whole element is still one number",
)
NO_SUCH_SECTION = RULES.rule(
    "S207",
    "no such power section",
    meaning="The power through a section of the POG scheme was asked for, and the scheme has no section of this number.",
    why="sections are numbered along the ladders of a scheme; a meshed model is one vector block",
)
NOTHING_MOVES = RULES.rule(
    "S209",
    "run in which nothing moves",
    meaning="A run started at rest, and its inputs were zero throughout.",
    why="an input that is not given is zero",
    severity="notice",
)
NO_SECTION_POWER = RULES.rule(
    "S208",
    "section whose power is not known",
    meaning="A variable of a section of the POG scheme follows neither from variables of elements nor from gains of the model.",
    why="the power through a section is the product of its two variables",
)
