"""The rules of the compiler (codes N)."""

from tellegen.core.errors import CompilerError, Rulebook

RULES = Rulebook("N")

NO_COMPILER = RULES.rule(
    "N101",
    "no C compiler",
    meaning="No C compiler was found, so the model runs in Python.",
    why="machine code is a hundred times faster; results are the same",
    severity="warning",
)
BROKEN_COMPILER = RULES.rule(
    "N102",
    "C compiler that does not work",
    meaning="The C compiler was called and refused the model, or could not be started; the model runs in Python instead.",
    why="a model is standard C99 without libraries, so the fault lies with the compiler or its installation",
    severity="warning",
)
NO_CACHE = RULES.rule(
    "N103",
    "cache that cannot be written",
    meaning="Compiled models cannot be kept for the next time.",
    why="the folder of the cache cannot be written, so every model is compiled again",
    severity="warning",
)
COMPILER_FAILED = RULES.rule(
    "N104",
    "model that does not compile",
    meaning="C code given by hand was refused by the compiler.",
    why="the text is not a C99 translation unit with the interface of a model",
)
NO_VALUE = RULES.rule(
    "N105",
    "parameter without a value",
    meaning="A model is to be computed with, but a parameter has no value.",
    why="a symbol can be printed, not computed with",
)
NO_SUCH_PARAMETER = RULES.rule(
    "N106",
    "no such parameter",
    meaning="A value was given to a parameter or input that the compiled model does not have.",
    why="what has no place in the model would be ignored without a word",
)
NO_RATE = RULES.rule(
    "N107",
    "input whose rate is needed jumps",
    meaning="A storage in derivative causality follows a source whose signal has no rate.",
    why="the storage takes the rate of the input, and a jump of the input would be an impulse",
)
UNKNOWN_NAME = RULES.rule(
    "N108",
    "name without a meaning",
    meaning="A formula reads a name that is neither a parameter nor a variable of the model.",
    why="only states, displacements, power variables, signals, parameters and time have values while the model runs",
)
INDETERMINATE = RULES.rule(
    "N109",
    "variable that nothing decides",
    meaning="A power variable follows from no equation of the model.",
    why="the couplings leave it open, so any value would do",
)
FIELD_FOLLOWS = RULES.rule(
    "N110",
    "port of a nonlinear field in derivative causality",
    meaning="A port of a field given by its energy follows other storages or sources, so its own energy variable is no state.",
    why="what the port takes then depends on the rates of the energy variables of the whole field, which are not known",
)
FOREIGN_CACHE = RULES.rule(
    "N111",
    "cache that others can write",
    meaning="The folder of compiled models belongs to another user, or others may write it, so it is not used.",
    why="a compiled model runs with your rights, so who can write the folder could run what they like as you",
    severity="warning",
)
UNIT_NOT_RUN = RULES.rule(
    "N112",
    "functional mock-up unit that cannot be run",
    meaning="A signal asks a functional mock-up unit, and its library cannot be loaded or called.",
    why="a unit brings machine code for some systems, which Tellegen calls from C",
)
FORMULA_WITHOUT_VALUE = RULES.rule(
    "N113",
    "formula without a value",
    meaning="An initial value, a period, a delay or a time at which a signal changes has no finite value with the parameters given.",
    why="a root of a negative number, a division by zero or a number beyond the range of a computer leaves nothing to compute with",
)
NOT_FINITE = RULES.rule(
    "N114",
    "variable without a value",
    meaning="At the values that a model is asked about, a variable of it is not a finite number, or its equations have no solution.",
    why="a root of a negative number, a logarithm of zero or a division by zero has no value",
)


class OutsideError(CompilerError, FloatingPointError):
    """A variable has no value: who looks for a point tries another one, and who asked for this one gets the finding (N114)."""

    def __init__(self, reason: str, model: str = "") -> None:
        fix = "choose initial values, parameters and inputs inside the domain of its law"
        super().__init__(NOT_FINITE.finding(reason, where=model, fix=fix))
        self.args = (reason,)
