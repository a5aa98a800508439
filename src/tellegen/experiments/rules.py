"""The rules of experiments (codes S, from 300 on): what is asked of a simulation."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("S")

NO_DURATION = RULES.rule(
    "S301",
    "no duration",
    meaning="Neither the call nor the experiment of the model says how long to run.",
    why="a simulation ends at some time",
)
NO_SUCH_SETTING = RULES.rule(
    "S302",
    "nothing to set",
    meaning="A value was given to a name that is no parameter, no input and no initial value of the model.",
    why="what has no place in the model would be ignored without a word",
)
BAD_SETTING = RULES.rule(
    "S303",
    "value that cannot be used",
    meaning="A value is not a finite number, not a quantity, or of another unit than what it is for.",
    why="a value has a size, in the unit of what it is given to",
)
BAD_COURSE = RULES.rule(
    "S304",
    "course of an input that cannot be used",
    meaning="What was given for an input is not a number, a quantity, a shape such as step(24 V), a formula or a Python function.",
    why="an input is a number at every time",
)
FOLLOWS = RULES.rule(
    "S305",
    "initial value of what follows others",
    meaning="An initial value was given to a storage whose output others decide, and it is not the one that these have.",
    why="a storage in derivative causality has no state of its own",
)
BAD_CHOICE = RULES.rule(
    "S306",
    "no such choice",
    meaning="A word was given where one of a few others is expected.",
    why="the words are listed in the message",
)
OPEN_START = RULES.rule(
    "S177",
    "start that is left open",
    meaning="An initial value is given to a storage that follows several others, and nothing says how these share in it.",
    why="one value does not decide several states",
)
SLOPES_FROM_REST = RULES.rule(
    "S178",
    "slopes of a start at rest",
    meaning="Sensitivities are asked of a run that begins in a steady state found by trying modes, or with a past.",
    why="how such a state changes with a parameter is not followed: another mode may keep it",
)
NO_SUCH_OUTPUT = RULES.rule(
    "S176",
    "no such variable to follow",
    meaning="Sensitivities are asked of a name that is no variable of the model.",
    why="what changes with a parameter has to be something that a run knows",
)
APART = RULES.rule(
    "S340",
    "loop that fits nowhere near the start",
    meaning="No values of the displacements that a loop decides solve its equations, with the parameters and initial values given.",
    why="the parts of a mechanism must reach each other where the run begins",
)
CHOSEN_START = RULES.rule(
    "S342",
    "speeds of a mechanism that follow from another one",
    meaning="An initial value is given to a speed that others decide: they start such that it has this value, and bodies with them.",
    why="a mechanism has as many speeds of its own as it has ways to move; all others follow from these",
    severity="warning",
)
LEFT_OUT = RULES.rule(
    "S343",
    "start that is left out behind an element with modes",
    meaning="A storage has no initial value, and whether others decide it depends on the mode in which the run begins.",
    why="what is left out is zero, or what is rigidly connected there makes it",
    severity="warning",
)
SINGULAR_POSITION = RULES.rule(
    "S341",
    "singular position of a loop",
    meaning="A run met a position in which a loop no longer decides the displacements that follow from it.",
    why="there the links of the loop are in line: speeds grow without bound, or the motion may go on in two ways",
)
BLIND_SPOTS = RULES.rule(
    "S307",
    "Python function that does not tell where it jumps",
    meaning="An input is a Python function without `breaks`: it was looked at at even times before the run.",
    why="a formula can be searched for every jump and pulse, a function only where it is asked",
    severity="notice",
)
SWITCHES_UNKNOWN = RULES.rule(
    "S308",
    "formula that switches too often to be followed",
    meaning="A formula of time switches so often in a run that solvers are told where to stop in the first part only.",
    why="places where a formula switches are searched for before the run, up to a million pieces of it at a time",
    severity="warning",
)
SEVERAL_STARTS = RULES.rule(
    "S309",
    "start with several solutions",
    meaning="Elements that decide each other at once allow several values at the start; the run begins with one of them.",
    why="a law that falls where it is told more may be met at several points, and without a storage nothing says which",
    severity="warning",
)
