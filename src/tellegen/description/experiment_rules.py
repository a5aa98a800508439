"""The rules of experiments: inputs, shapes over time, and what is shown."""

from tellegen.core.errors import Rulebook
from tellegen.description.rule_examples import charging

RULES = Rulebook("D")

UNKNOWN_INPUT = RULES.rule(
    "D160",
    "unknown input",
    meaning="The experiment gives a signal to something that is not an input.",
    why="the inputs of a system are its sources",
    example=charging(experiment="{inputs: {U: 10 V}}"),
    instead=charging(experiment="{inputs: {V: 10 V}}"),
)
UNKNOWN_SHAPE = RULES.rule(
    "D161",
    "unknown signal",
    meaning="A signal is a quantity, which stays constant, or a shape over time such as `step(24 V)`.",
    why="the shape decides what the input does over time",
    example=charging(experiment="{inputs: {V: stpe(10 V)}}"),
    instead=charging(experiment="{inputs: {V: step(10 V)}}"),
)
WRONG_ARGUMENTS = RULES.rule(
    "D162",
    "wrong number of arguments",
    meaning="A signal has more or fewer arguments than its shape takes.",
    why="each argument has its place",
    example=charging(experiment="{inputs: {V: sine(10 V)}}"),
    instead=charging(experiment="{inputs: {V: 'sine(10 V, 50 Hz)'}}"),
)
UNKNOWN_VARIABLE = RULES.rule(
    "D163",
    "unknown variable",
    meaning="The experiment names a variable that no element has.",
    why="variables are those that elements name, and `<symbol>_<element>` for the others",
    example=charging(experiment="{outputs: [V_X]}"),
    instead=charging(experiment="{outputs: [V_C]}"),
)
BAD_NUMBER = RULES.rule(
    "D164",
    "not a number that fits",
    meaning="A duration or a tolerance is not a positive number.",
    why="time runs forward and an error has a size",
    example=charging(experiment="{until: -5 s}"),
    instead=charging(experiment="{until: 5 s}"),
)
RADIANS_PER_SECOND = RULES.rule(
    "D165",
    "frequency in radians",
    meaning="The frequency of a sine is given in rad/s or rpm.",
    why="the shape is amplitude*sin(2*pi*frequency*t + phase): a frequency counts cycles, and rad/s would be read as hertz",
    example=charging(experiment="{inputs: {V: 'sine(10 V, 314 rad/s)'}}"),
    instead=charging(experiment="{inputs: {V: 'sine(10 V, 50 Hz)'}}"),
)
