"""The rules of reduction (codes T)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("T")

NO_SUCH_PARAMETER = RULES.rule(
    "T101",
    "limit of nothing",
    meaning="A limit names neither a parameter nor an element that stores, loses or passes power.",
    why="a limit acts on the law of an element: what no law contains cannot tend to anything",
)
BAD_LIMIT = RULES.rule(
    "T102",
    "limit that cannot be read",
    meaning="A limit is written as `J_m=0`, `K=inf`, or as a relation between parameters, `M_0=L_e`.",
    why="parameters tend to zero, to infinity, or to a value at which the energy matrix loses rank",
)
CONTRADICTING_LIMITS = RULES.rule(
    "T103",
    "limits that contradict each other",
    meaning="One parameter is asked to tend to two values, or two limits hold one variable at two values.",
    why="limits given together are imposed together",
)
NOT_SINGULAR = RULES.rule(
    "T104",
    "value that removes nothing",
    meaning="A parameter is given a value at which no storage vanishes, grows without bound or loses rank.",
    why="a reduction removes states, and states go only where the energy matrix becomes singular",
)
NO_LIMIT = RULES.rule(
    "T105",
    "limit that does not exist",
    meaning="The law of an element has no limit: a modulus grows without bound, or a mutual term outgrows its storages.",
    why="a limit of physical models is physical: power stays finite and stored energy stays positive",
)
RATIO_OF_LIMITS = RULES.rule(
    "T106",
    "limit that depends on a ratio",
    meaning="The result depends on how fast one parameter tends to its limit compared with another.",
    why="two springs in parallel that become rigid share their load by the ratio of their stiffnesses, which the limits leave open",
)
UNSOLVABLE = RULES.rule(
    "T107",
    "limit that leaves a constraint without solution",
    meaning="In the limit a source would have to be zero, or an element to follow what it cannot.",
    why="a rigid or massless connection leaves no freedom to a source that acts on nothing else",
)
CANNOT_KEEP = RULES.rule(
    "T108",
    "state that cannot be kept",
    meaning="A state was asked for that is no state of the reduced model, or more were asked for than it has.",
    why="the limits remove some states, and tie others to each other",
)
RATE_IS_LOST = RULES.rule(
    "T109",
    "displacement without its rate",
    meaning="A displacement or a signal reads a variable that the limit turns into the force or speed of a constraint.",
    why="such a variable follows from rates of the states, which no displacement and no signal can read",
)
NONLINEAR_CONSTRAINT = RULES.rule(
    "T110",
    "constraint that is not linear",
    meaning="The equations were to be reduced, but a law that is not linear stands in the constraint of the limit.",
    why="the transformation x = T z + T_u u is linear in the states and inputs that are left",
)
NOT_RIGID = RULES.rule(
    "T111",
    "connection that is none",
    meaning="A connection to be made elastic is neither a storage nor a node at which some elements part from others.",
    why="a fictitious storage goes between two things that move as one, or beside a storage that follows others",
)
NO_SUGGESTION = RULES.rule(
    "T112",
    "fictitious storage without a value",
    meaning="No value was given for a fictitious storage, and none follows from the numbers of the model; or it is not positive.",
    why="a fictitious resonance should be much faster than the poles of the model, which takes numbers for its parameters",
)
NO_COUNTERPART = RULES.rule(
    "T113",
    "domain without the other storage",
    meaning="The domain has only one kind of storage, so that nothing elastic can be put between two of them.",
    why="heat, for example, has no inertia: a thermal resistance is all there is between two heat capacities",
)
BAD_TRANSFORMATION = RULES.rule(
    "T130",
    "transformation that does not fit",
    meaning="A matrix T or T_u was given that has not one row a state, or that reads names the system does not know.",
    why="x = T z + T_u u has a row for each old state, a column for each new one, and a column of T_u for each input",
)
LETTER_IN_USE = RULES.rule(
    "T140",
    "law whose letter is the name of another variable",
    meaning="A law reads a variable that the limit removes, and what stands for it contains a variable named like the law's own letter.",
    why="in the law `F = mu*N*tanh(v/v_s)` the letter v is the velocity of the element itself, so it can mean no other one",
)
INDETERMINATE = RULES.rule(
    "T201",
    "indeterminate force of a redundant constraint",
    meaning="The limit adds a constraint that holds already, so nothing determines what it carries.",
    why="of two rigid paths between the same places nobody can say which one carries the load",
    severity="warning",
)
OTHER_PLACES = RULES.rule(
    "T202",
    "parameter that keeps its value elsewhere",
    meaning="The parameter of a limit occurs in other places too: the limit acts on the storage, the others keep the value.",
    why="a shaft without inertia may still have its weight",
    severity="notice",
)
EXCITED = RULES.rule(
    "T203",
    "start or step that excites what was removed",
    meaning="The experiment starts away from the constraint of the limit, or an input jumps where its rate would be needed.",
    why="the full model would ring or settle there, which the reduced one cannot show",
    severity="warning",
)
IDLE = RULES.rule(
    "T204",
    "element left idle",
    meaning="After the limit an element neither moves nor carries anything, and is left out of the reduced model.",
    why="what a limit holds (a spring beside a rigid connection, an inertia that cannot turn) keeps what it has, and acts on nothing",
    severity="notice",
)
