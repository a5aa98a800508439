"""The rules of conditioning (codes C)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("C")

NO_SUCH_FORM = RULES.rule(
    "C101",
    "no such way to treat dependent storages",
    meaning="A model was asked for in a form that does not exist.",
    why="the forms are derivative, residual, parasitic, field, lagrange and hamilton",
)
NOTHING_DEPENDS = RULES.rule(
    "C102",
    "no storage depends on others",
    meaning="A form that breaks or merges the constraints between storages was asked of a model that has none.",
    why="all storages have integral causality already, so that there is no constraint to open, to stiffen or to merge",
)
FOLLOWS_A_SOURCE = RULES.rule(
    "C103",
    "dependent storage that follows a source",
    meaning="All dependent storages follow an input, so that no constraint can be opened or merged without the rate of the input.",
    why="between a source and a storage no state is left over: the force of the constraint contains the derivative of the input",
)
NOT_LINEAR = RULES.rule(
    "C104",
    "dependent storage with a nonlinear law",
    meaning="Storages that depend on each other are to be merged, and the law of one of them is not linear.",
    why="a field with a mass matrix stores a quadratic energy",
)
NO_LAGRANGE_FORM = RULES.rule(
    "C105",
    "coordinate without inertia",
    meaning="The Lagrange form does not exist: some velocity is decided by no inertia.",
    why="M q'' + C q' + R q' + G = W tau is solved for q'', so that each coordinate needs an inertia, and no source decides a velocity",
)
NO_SUCH_COORDINATE = RULES.rule(
    "C106",
    "coordinate that cannot be chosen",
    meaning="A generalised coordinate was asked for that is the output of no storage, or more than there are degrees of freedom.",
    why="generalised speeds are outputs of inertias that are independent of each other",
)
BAD_STIFFNESS = RULES.rule(
    "C107",
    "parasitic element without a value",
    meaning="The value of a parasitic element is not positive, names no constraint, or does not follow from the numbers of the model.",
    why="a parasitic resonance should be much faster than what the experiment shows, which takes numbers for its parameters",
)
NO_INVERSE = RULES.rule(
    "C108",
    "motion that the inputs cannot produce",
    meaning="Inputs were asked for that produce a given motion, and they do not act in every direction of it.",
    why="a motion in a direction in which no input acts follows from the others, and cannot be chosen",
)
BAD_MOTION = RULES.rule(
    "C109",
    "motion that cannot be read",
    meaning="A wanted motion leaves out a coordinate, names none, or is no smooth function of time.",
    why="the inputs follow from the second derivative of each coordinate",
)
NO_OPENING = RULES.rule(
    "C110",
    "constraint that cannot be opened",
    meaning="The domain of a dependent storage has no element that could stand between it and what decides it.",
    why="a residual sink or a parasitic element needs a source or a resistance of its domain",
)
NO_INERTIA = RULES.rule(
    "C111",
    "storage without inertia",
    meaning="The forces of constraints were to be solved for, and nothing decides the rate of a storage whose inertia is zero.",
    why="a speed without inertia follows from the constraints that tie it to inertias, and without any, a force on it makes no rate",
)
