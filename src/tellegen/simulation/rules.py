"""The rules of time advancing (codes S): solvers, tolerances, starts, and runs through several modes."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("S")

NO_SOLVERS = RULES.rule(
    "S101",
    "no compiled solvers",
    meaning="The solvers are one library in C. A wheel brings it; this installation does not, and no C compiler makes it here.",
    why="a checkout compiles its solvers when they are first used; with a wheel only the formulas of a model need a compiler to be fast",
)
NO_SUNDIALS = RULES.rule(
    "S102",
    "SUNDIALS not found",
    meaning="The solvers CVODE and IDA come with the package scikit-sundae, which is missing or of another version.",
    why="stiff and implicit models are advanced by SUNDIALS",
)
UNKNOWN_SOLVER = RULES.rule(
    "S103",
    "no such solver",
    meaning="The word after `solver` is not the name of a solver.",
    why="each solver has one name",
)
BAD_TOLERANCE = RULES.rule(
    "S104",
    "tolerance that cannot be kept",
    meaning="A tolerance is zero, negative, not a number or finer than rounding.",
    why="step sizes follow from the error that is allowed; where none is allowed no step is small enough",
)
BAD_HORIZON = RULES.rule(
    "S105",
    "end before the start",
    meaning="The time at which a run ends does not lie after its start.",
    why="time advances",
)
BAD_TIMES = RULES.rule(
    "S106",
    "output times out of order",
    meaning="Output times are not increasing, or lie outside the run.",
    why="values are written while time advances from the start to the end",
)
NOT_A_NUMBER = RULES.rule(
    "S107",
    "value that is not a finite number",
    meaning="A parameter, an input or an initial value is infinite or not a number.",
    why="every later value would be so too",
)
BAD_START = RULES.rule(
    "S108",
    "start outside the domain of a law",
    meaning="A law cannot be evaluated at the initial values.",
    why="a root of a negative number, a logarithm of zero or a division by zero has no value",
)
NOT_FINITE = RULES.rule(
    "S109",
    "law without a value on the way",
    meaning="During the run a law could not be evaluated, and smaller steps did not help.",
    why="the motion leads to a point where a law divides by zero or leaves its domain",
)
TINY_STEP = RULES.rule(
    "S110",
    "steps became too small",
    meaning="The solver shortened its steps down to the resolution of time without meeting the tolerance.",
    why="the solution grows without bound, or jumps where no break or event was declared",
)
MANY_STEPS = RULES.rule(
    "S111",
    "too many steps",
    meaning="The run needed more steps than allowed.",
    why="the model is much faster than the time asked for, or stiff on an explicit solver",
)
NO_CONVERGENCE = RULES.rule(
    "S112",
    "implicit equations not solved",
    meaning="Newton's method did not converge in a step, however short.",
    why="the equations of the step have no solution nearby, or their Jacobian is nearly singular",
)
SINGULAR = RULES.rule(
    "S113",
    "equations that do not decide a variable",
    meaning="The equations of the model leave a rate or an algebraic unknown open, or contradict each other.",
    why="as many independent equations as unknowns are needed",
)
STIFF = RULES.rule(
    "S114",
    "stiff model on an explicit solver",
    meaning="The steps of an explicit solver are limited by stability, not by accuracy.",
    why="an explicit step must be shorter than the fastest time constant, even after that motion has died away",
)
UNSUITED = RULES.rule(
    "S115",
    "solver that does not suit the model",
    meaning="The solver asked for needs a property that the model does not have.",
    why="explicit solvers need yp = f(t, y), the exponential needs constant coefficients, Taylor series need smooth formulas",
)
NO_SUCH_VARIABLE = RULES.rule(
    "S116",
    "no such variable",
    meaning="An initial value or a tolerance is given for a name that is not a variable of the model.",
    why="what has no place in the model would be ignored without a word",
)
NOT_CONSISTENT = RULES.rule(
    "S118",
    "no consistent start",
    meaning="Rates and algebraic unknowns that agree with the initial states were not found.",
    why="Newton's method did not converge from the values given",
)
NO_EQUILIBRIUM = RULES.rule(
    "S119",
    "no equilibrium found",
    meaning="No state was found at which nothing changes any more.",
    why="with constant inputs something keeps drifting, or every equilibrium is far from the start",
)
OPEN_BOOKS = RULES.rule(
    "S120",
    "energy books that do not close",
    meaning="Supplied, stored and dissipated energy differ by more than the tolerance explains.",
    why="energy is neither made nor lost: a difference is an error of the integration or of a law",
    severity="warning",
)
MISSING_INPUT = RULES.rule(
    "S121",
    "input without a value",
    meaning="A source is driven neither by a signal nor by a value.",
    why="what a source does is decided outside the model",
)
NO_STEP = RULES.rule(
    "S122",
    "fixed step missing",
    meaning="A method of fixed step is asked for without a step.",
    why="midpoint and discrete gradient keep their step, so that energy drifts at the level of rounding only",
)
NO_MEMORY = RULES.rule(
    "S123",
    "not enough memory",
    meaning="The solver could not get the memory it needs.",
    why="rows of output and factors of the Jacobian are kept in memory",
)
LIBRARY = RULES.rule(
    "S124",
    "solver library refused",
    meaning="SUNDIALS ended with a flag that no other rule covers.",
    why="the flag is one of its own documentation",
)
CANCELLED = RULES.rule(
    "S125",
    "run cancelled",
    meaning="The run was stopped before its end; what was finished is kept.",
    why="the user asked for it",
    severity="notice",
)
NO_SENSITIVITY = RULES.rule(
    "S126",
    "sensitivities not available",
    meaning="Sensitivities are asked for a model or parameter that does not allow them.",
    why="they are integrated beside the variables, so that every part of the model has to tell how it changes with them",
)
MISSED_TOLERANCE = RULES.rule(
    "S127",
    "tolerance that is not kept to the end",
    meaning="Errors of steps add up to more than twenty tolerances, and steps of a finer tolerance do not help.",
    why="where a motion magnifies small differences, even those of rounding grow beyond any tolerance",
    severity="warning",
)
UNUSED_STEP = RULES.rule(
    "S128",
    "step for a solver that chooses its own",
    meaning="A fixed step is given, and the solver is not one of those that keep theirs.",
    why="what nobody uses would be ignored without a word",
)
GRAZING = RULES.rule(
    "S175",
    "event that only touches its limit",
    meaning="Sensitivities are asked for a run in which an event function reaches zero without passing through it.",
    why="for values a little different the event would not happen at all: its time has no derivative",
)

RESTLESS_LATCHES = RULES.rule(
    "S179",
    "states that follow each other without time",
    meaning="Relays, counters or states of a machine change again and again in one instant.",
    why="each change takes no time; where one brings about the next without end, time cannot go on",
)


NO_MODE = RULES.rule(
    "S130",
    "no mode that agrees with itself",
    meaning="At an instant every combination of modes would be left again at once, or cannot be.",
    why="ideal elements leave no way for what must flow, or command each other",
)
CHATTERING = RULES.rule(
    "S131",
    "chattering",
    meaning="Modes changed, or formulas jumped, again and again: a hundred times within a billionth of the run while nothing moved by more "
    "than its tolerance (with 'cvode' and 'ida' thousands of times, however long it took), or ever faster, so that their number doubled "
    "in equal times and would pass a billion before the end.",
    why="two modes send each other back: the motion stays on the border between them, which neither of them describes",
)
OPEN_LOOP = RULES.rule(
    "S132",
    "algebraic loop that does not close",
    meaning="No values were found at which the equations of elements that decide each other at once are met.",
    why="a law that jumps, ends or turns back may leave none; a value at which they are not met would be no result",
)
