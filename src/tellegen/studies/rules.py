"""The rules of studies of reductions (codes T3)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("T")

NOT_APART = RULES.rule(
    "T301",
    "time scales that are not apart",
    meaning="What a reduction removes is hardly faster than what it keeps.",
    why="a removed pole stays invisible only where it settles long before the others move",
    severity="warning",
)
JUMPS = RULES.rule(
    "T302",
    "jump that excites what was removed",
    meaning="At the start, or where an input jumps, the reduced model asks a removed variable to jump. In the full model it cannot.",
    why="a storage needs time to take up or to give back energy, and its own poles tell how long",
    severity="warning",
)
NOTHING_TO_COMPARE = RULES.rule(
    "T303",
    "nothing to compare",
    meaning="The full and the reduced model have no variable in common.",
    why="a loss is the difference of two records of one variable",
)
BAD_FACTORS = RULES.rule(
    "T304",
    "factors that lead nowhere",
    meaning="The factors of a study are not at least two positive numbers, each smaller than the one before.",
    why="an order of convergence is the slope of the loss on the way to the limit",
)
NOT_ON_THE_WAY = RULES.rule(
    "T305",
    "limit without a way to it",
    meaning="A study needs models on the way to a limit, and the element at the limit has no number that could be scaled.",
    why="the order of convergence is measured on models with parameters closer and closer to their limit",
)
NOT_PROJECTABLE = RULES.rule(
    "T306",
    "model that cannot be projected",
    meaning="A projection needs a linear model with numbers, without rates of inputs, and fewer states are asked for than it has.",
    why="V^T L V, V^T A V and V^T B are the equations of a smaller model where L, A and B are constant",
)

INVERSES = Rulebook("S")

WRONG_INVERSE = INVERSES.rule(
    "S451",
    "inverse that is not asked for rightly",
    meaning="An inverse was asked for from as many inputs as there are outputs with a course, and a name or their number is wrong.",
    why="each course is one equation, and each input one unknown",
)
ROUGH_COURSE = INVERSES.rule(
    "S452",
    "course that is not smooth enough",
    meaning="An output was given a course that has fewer continuous derivatives than storages lie between the input and the output.",
    why="each storage takes one integration, so that the input follows from a derivative of the course: a jump of it takes an impulse",
)
INVERSE_OF_MODES = INVERSES.rule(
    "S453",
    "inverse of a model with modes",
    meaning="An inverse was asked for of a model with switches, diodes, clutches, stops or dry friction.",
    why="each mode has another causality, and so another relative degree",
)
NO_START_ON_COURSE = INVERSES.rule(
    "S454",
    "course that cannot be begun",
    meaning="No values of the states give the outputs, and the derivatives in which no input acts, what their courses say at the start.",
    why="no finite input brings an output onto a course at once: a run has to begin on it",
)
LEFT_COURSE = INVERSES.rule(
    "S455",
    "output that leaves its course",
    meaning="Along the run an output is farther from its course than the tolerance explains.",
    why="where a law between input and output jumps, or an input no longer acts, no finite input keeps the output on its course",
)
UNSTABLE_REST = INVERSES.rule(
    "S456",
    "states that move away by themselves",
    meaning="""With the outputs on their courses, some states are left to themselves, and their equations have poles in the right half
plane where the run begins.""",
    why="an inverse exchanges zeros and poles: a zero of the model in the right half plane is an unstable pole of its inverse",
    severity="warning",
)

WRONG_DESIGN = INVERSES.rule(
    "S461",
    "controller that is not asked for rightly",
    meaning="A design was asked for with a name that the linear model does not have, or something that it needs is missing.",
    why="gains follow from a channel with a crossover and a margin, from sizes, or from poles",
)
OUT_OF_REACH = INVERSES.rule(
    "S462",
    "loop that cannot be",
    meaning="No controller of this kind reaches the crossover with the phase margin, and holds the loop stable.",
    why="at the crossover a controller turns the phase by an angle that its kind limits, and each crossover has a margin of its own",
)
MODE_OUT_OF_REACH = INVERSES.rule(
    "S463",
    "mode that is out of reach",
    meaning="A mode is not moved by the inputs of a state feedback, or not seen in what an observer measures.",
    why="no gain changes a pole that no input moves, or that no output shows",
)
