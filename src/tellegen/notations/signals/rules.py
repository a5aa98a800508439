"""The rules that signals must keep (codes D500 to D529)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")


def _controlled(
    signals: str = "{e: 2 A - I, V_c: 3 ohm*e}", source: str = "{voltage source: [a, gnd], signal: V_c}", more: str = ""
) -> str:
    """A coil whose voltage follows a signal, with one part exchanged."""
    return f"""\
system: Controlled coil
parameters: {{L: 10 mH, R: 1 ohm}}
network:
  V: {source}
  L: {{inductor: [a, b], current: I}}
  R: {{resistor: [b, gnd]}}
signals: {signals}
{more}"""


UNKNOWN_IN_SIGNAL = RULES.rule(
    "D500",
    "unknown name in a signal",
    meaning="A formula of a signal uses a name that is no signal, variable, displacement or parameter, and not the time `t`.",
    why="a signal reads what the model has: variables of elements by their names, states, displacements, signals and parameters",
    example=_controlled("{e: 2 A - I_X, V_c: 3 ohm*e}"),
    instead=_controlled(),
)
SIGNAL_NAME_TAKEN = RULES.rule(
    "D501",
    "signal named like something else",
    meaning="A signal has the name of a parameter, a displacement or a variable of an element.",
    why="a formula that uses the name could mean either of the two",
    example=_controlled("{I: 2 A, V_c: 3 ohm*I}"),
    instead=_controlled("{I_0: 2 A, V_c: 3 ohm*I_0}"),
)
TIME_TAKEN = RULES.rule(
    "D502",
    "something named like the time",
    meaning="A signal, a parameter, a displacement or a variable is named `t`, and a signal or an input depends on time.",
    why="in formulas of signals `t` is the time",
    example=_controlled("{t: 2 A, V_c: 1 V}"),
    instead=_controlled("{t_0: 2 A, V_c: 1 V}"),
)
UNKNOWN_BLOCK = RULES.rule(
    "D503",
    "unknown signal block",
    meaning="A signal is a formula, or a mapping whose first key is the word of a block, and this word names none.",
    why="the block decides what the signal does",
    example=_controlled("{V_c: {pdi: 2 A - I, K_p: 3 ohm}}"),
    instead=_controlled("{V_c: {pid: 2 A - I, K_p: 3 ohm}}"),
)
SIGNAL_UNITS = RULES.rule(
    "D504",
    "signal of the wrong unit",
    meaning="What drives a source, or stands in a key of a signal block, is in the unit of something else.",
    why="a source imposes its own variable, and quantities of different kinds cannot follow each other",
    example=_controlled("{V_c: 2 A - I}"),
    instead=_controlled("{V_c: 3 ohm*(2 A - I)}"),
)
NOT_CONSTANT = RULES.rule(
    "D505",
    "a constant that changes",
    meaning="A period, a delay, an initial value, or the value of a parameter or a storage depends on a signal, a variable or time.",
    why="these are fixed before a run; the energy of a storage changes through its port alone, and a parameter stays what it is",
    example=_controlled("{I_d: {delay: I, by: 1 ms + t}, V_c: 3 ohm*I_d}"),
    instead=_controlled("{I_d: {delay: I, by: 1 ms}, V_c: 3 ohm*I_d}"),
)
NOT_POSITIVE = RULES.rule(
    "D506",
    "a time that does not run forward",
    meaning="A period, a delay or the time constant of a filter is zero or negative, or an offset is negative.",
    why="a signal cannot know what comes later, and sampling without a pause never ends",
    example=_controlled("{I_s: {sample: I, every: -1 ms}, V_c: 3 ohm*I_s}"),
    instead=_controlled("{I_s: {sample: I, every: 1 ms}, V_c: 3 ohm*I_s}"),
)
LIMITS_REVERSED = RULES.rule(
    "D507",
    "limits in the wrong order",
    meaning="The lower limit is not below the upper one.",
    why="no value lies between such limits",
    example=_controlled("{V_c: {saturate: 3 ohm*I, limits: [24 V, -24 V]}}"),
    instead=_controlled("{V_c: {saturate: 3 ohm*I, limits: [-24 V, 24 V]}}"),
)
IMPROPER = RULES.rule(
    "D508",
    "transfer function that is not proper",
    meaning="The numerator has a higher degree than the denominator, or the denominator is zero.",
    why="it would differentiate its input: no state can hold what such a block needs",
    example=_controlled("{V_c: {transfer function: I, numerator: [1, 0, 0], denominator: [1, 1]}}"),
    instead=_controlled("{V_c: {transfer function: I, numerator: [1, 0], denominator: [1, 1]}}"),
)
PURE_DERIVATIVE = RULES.rule(
    "D509",
    "derivative without a filter",
    meaning="A controller has a derivative part and no filter.",
    why="a pure derivative is not causal: it needs the next value; the filter says how fast it may answer",
    example=_controlled("{V_c: {pid: 2 A - I, K_p: 3 ohm, K_d: 1 mohm*s}}"),
    instead=_controlled("{V_c: {pid: 2 A - I, K_p: 3 ohm, K_d: 1 mohm*s, filter: 1 ms}}"),
)
MISSING_SETTING = RULES.rule(
    "D510",
    "signal block without something it needs",
    meaning="A block lacks a key, or has one that makes no sense without another: anti-windup without limits, for example.",
    why="nothing sensible can be assumed in its place",
    example=_controlled("{V_c: {delay: 3 ohm*I}}"),
    instead=_controlled("{V_c: {delay: 3 ohm*I, by: 1 ms}}"),
)
BAD_SETTING = RULES.rule(
    "D511",
    "a word that a signal block does not have",
    meaning="A key of a block takes one of a few words, or a list of a certain length, and this is none.",
    why="each word names one way to compute the signal",
    example=_controlled("{V_c: {pid: 2 A - I, K_i: 3, limits: [-9 V, 9 V], anti-windup: clmap}}"),
    instead=_controlled("{V_c: {pid: 2 A - I, K_i: 3, limits: [-9 V, 9 V], anti-windup: clamp}}"),
)
CONTRADICTORY_LOOP = RULES.rule(
    "D512",
    "signals that contradict each other",
    meaning="Signals define each other at the same time, and their formulas have no solution or any.",
    why="a loop of signals without a state is an equation; this one does not determine its unknown",
    example=_controlled("{a: b + 1, b: a, V_c: 3 V*a}"),
    instead=_controlled("{a: b/2 + 1, b: a, V_c: 3 V*a}"),
)
TWO_DRIVERS = RULES.rule(
    "D513",
    "source with two drivers",
    meaning="A source has a signal on its line and an input in the experiment.",
    why="a source follows one course; two would contradict each other",
    example=_controlled(more="experiment: {until: 1 s, inputs: {V: 5 V}}\n"),
    instead=_controlled(more="experiment: {until: 1 s}\n"),
)
BAD_TABLE = RULES.rule(
    "D514",
    "table that cannot be read",
    meaning="A table is a list of points `[time, value]`, two or more, or names a file and two of its columns.",
    why="each point needs both numbers, and a course over time needs at least two points",
    example=_controlled("{V_c: {table: [[0, 1]]}}"),
    instead=_controlled("{V_c: {table: [[0, 1], [1, 2]]}}"),
)
UNSORTED_TABLE = RULES.rule(
    "D515",
    "table whose points are not sorted",
    meaning="The first numbers of the points of a table do not rise.",
    why="between two points the table is interpolated, so that each value must belong to one stretch",
    example=_controlled("{V_c: {table: [[0, 1], [2, 2], [1, 3]]}}"),
    instead=_controlled("{V_c: {table: [[0, 1], [1, 3], [2, 2]]}}"),
)
TABLE_GAP = RULES.rule(
    "D516",
    "table with a gap",
    meaning="An entry of a table is empty, `nan`, infinite, or no number.",
    why="a missing measurement is not zero: only the user knows what stands there",
    example=_controlled("{V_c: {table: [[0, 1], [1, nan], [2, 3]]}}"),
    instead=_controlled("{V_c: {table: [[0, 1], [2, 3]]}}"),
)
NO_TABLE_FILE = RULES.rule(
    "D517",
    "table file that cannot be used",
    meaning="The file of a table is not there, is no CSV or Parquet file, or lacks a column.",
    why="a table is read when the model is, so that a run does not stop half way",
    example=_controlled("{V_c: {table: {file: no_such_run.csv, time: t, column: v}}}"),
    instead=_controlled("{V_c: {table: {points: [[0, 1], [2, 3]]}}}"),
)
OUTSIDE_FOLDER = RULES.rule(
    "D518",
    "file outside the folder of the model",
    meaning="A table names a file that does not lie in the folder of the model or below it.",
    why="a model that somebody sent must not read files that do not belong to it",
    example=_controlled("{V_c: {table: {file: ../run.csv, time: t, column: v}}}"),
    instead=_controlled("{V_c: {table: {points: [[0, 1], [2, 3]]}}}"),
)
NO_FUNCTION_HERE = RULES.rule(
    "D519",
    "Python function in a file",
    meaning="A file describes a signal by the block `python`, which only a program can give.",
    why="opening a file never runs code",
    example=_controlled("{V_c: {python: [I, t]}}"),
    instead=_controlled("{V_c: 3 ohm*I}"),
)
NOT_MEASURABLE = RULES.rule(
    "D520",
    "variable that no sensor reaches",
    meaning="A signal reads a variable that does not follow from the variables of the elements: the energy of an element, or a "
    "potential across a coupling alone.",
    why="signals are computed from the power variables of storages, resistive elements and sources",
    example=_controlled("{V_c: {across: [a, nowhere]}}"),
    instead=_controlled("{V_c: {across: [a, b]}}"),
)
SIGNAL_OR_UNIT = RULES.rule(
    "D521",
    "signal or unit",
    meaning="A word joined to the unit of a number, such as the `s` of `2 V/s`, is a unit and the name of a signal as well.",
    why="the formula could mean either of the two, and the numbers would differ without a word",
    example=_controlled("{h: 2 A - I, V_c: 3 ohm*h}"),
    instead=_controlled("{h: 2 A - I, V_c: (3 ohm)*h}"),
)
UNIT_NOT_READ = RULES.rule(
    "D523",
    "functional mock-up unit that cannot be used",
    meaning="A signal names a functional mock-up unit that is not there, that is none, or that has not what it is asked for.",
    why="a unit brings its own equations, and only what its description says of real numbers can be given to it and asked of it",
    example=_controlled("{V_c: {fmu: controller.fmu, every: 1 ms}}"),
    instead=_controlled("{V_c: {sample: 3*(2 - I), every: 1 ms}}"),
)
BACKWARD_TIMES = RULES.rule(
    "D522",
    "shape whose times go backwards",
    meaning="A shape over time ends before it begins, or lasts a negative time, or repeats after none.",
    why="time goes forwards: such a signal would jump or fall where it was meant to rise",
    example=_controlled("{V_c: 'ramp(1 V/s, 0.5 s, 0.2 s)'}"),
    instead=_controlled("{V_c: 'ramp(1 V/s, 0.2 s, 0.5 s)'}"),
)
