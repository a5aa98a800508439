"""The rules of structure that is repeated by a count."""

from tellegen.core.errors import Rulebook
from tellegen.description.rule_examples import ladder

RULES = Rulebook("D")

BAD_RANGE = RULES.rule(
    "D140",
    "not a range",
    meaning="A range is `first..last`, two whole numbers or expressions of outer indices and of parameters given as whole numbers.",
    why="a repeated structure has a whole number of copies",
    example=ladder(repeat="{k: 1-10}"),
    instead=ladder(),
)
BACKWARD_RANGE = RULES.rule(
    "D141",
    "range that runs backwards",
    meaning="The last value of a range is below the first by more than one.",
    why="`1..0` is an empty range, but a larger gap is a slip: ranges count upwards",
    example=ladder(repeat="{k: 10..1}"),
    instead=ladder(),
)
SHADOWING_INDEX = RULES.rule(
    "D142",
    "index with a name that is taken",
    meaning="An index has the name of a parameter or of an outer index.",
    why="inside the block nobody could tell which of the two is meant",
    example=ladder(parameters="{k: 3, C_0: 1 uF}"),
    instead=ladder(),
)
NOT_WHOLE = RULES.rule(
    "D143",
    "index that is not a whole number",
    meaning="An expression between `[` and `]` is not a whole number, zero or more, for some copy.",
    why="an index counts",
    example=ladder(nodes='["n[(k-1)/2]", "n[k]"]'),
    instead=ladder(),
)
TOO_MANY = RULES.rule(
    "D144",
    "too many elements",
    meaning="The repeated structure has more elements than can be held.",
    why="a slip in a range must not exhaust the memory",
    example=ladder(repeat="{k: 1..1000000000}"),
    instead=ladder(),
)
