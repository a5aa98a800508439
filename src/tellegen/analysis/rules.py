"""The rules of analysis (codes E, from 200 on): what cannot be asked of a model."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("E")

NO_STEADY_STATE = RULES.rule(
    "E201",
    "no steady state",
    meaning="A steady state was asked for, and under these inputs something keeps moving.",
    why="in a steady state every rate vanishes, so every input must be held by a loss or by a storage that is full",
)
SINGULAR_STORAGE = RULES.rule(
    "E202",
    "energy matrix that cannot be inverted",
    meaning="At the operating point a state has no inertia, so its rate is not decided.",
    why="poles, zeros and responses need x' = -L^-1 A x + L^-1 B u",
)
IMPROPER = RULES.rule(
    "E203",
    "response that contains derivatives of the input",
    meaning="An output holds the derivative of an input (D_1 is not zero), and a state-space form without it was asked for.",
    why="a source meets a storage, so a step would need an infinite power",
)
NO_SUCH_CHANNEL = RULES.rule(
    "E204",
    "no such input or output",
    meaning="A response was asked for between variables that the model does not have as input and output.",
    why="a response goes from an input to an output",
)
NO_CONVERGENCE = RULES.rule(
    "E205",
    "poles not found",
    meaning="The search for the poles nearest to a point did not converge, or the point is itself a pole.",
    why="the search solves with the matrix F - s E at the point, which must not be singular",
)
