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
