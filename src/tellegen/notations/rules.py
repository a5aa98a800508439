"""The rules that a described system must keep, whatever its notation: keys, names, units, values, curves and experiments."""

from tellegen.core.errors import Rulebook


def with_slip(good: str, old: str, new: str) -> str:
    """A good file with one thing changed."""
    assert old in good, f"the example does not contain {old!r}"
    return good.replace(old, new)


def charging(
    parameters: str = "{R: 2 kohm, C: 1 mF}",
    source: str = "{voltage source: [a, gnd]}",
    resistor: str = "{resistor: [a, b]}",
    capacitor: str = "{capacitor: [b, gnd]}",
    experiment: str = "{until: 10 ms, inputs: {V: step(10 V)}}",
) -> str:
    """A source that charges a capacitor through a resistor."""
    return f"""\
system: Charging a capacitor
parameters: {parameters}
network:
  V: {source}
  R: {resistor}
  C: {capacitor}
experiment: {experiment}
"""


def oscillator(
    spring: str = "{spring: [m]}", mass: str = "{mass: [m]}", parameters: str = "{m: 2 kg, K: 800 N/m}"
) -> str:
    """A force on a mass that hangs on a spring."""
    return f"""\
system: Mass on a spring
parameters: {parameters}
network:
  F: {{force source: [m]}}
  m: {mass}
  K: {spring}
"""


def ladder(
    repeat: str = "{k: 1..10}", name: str = "R[k]", nodes: str = '["n[k-1]", "n[k]"]', parameters: str = "{C_0: 1 uF}"
) -> str:
    """A ladder of resistors and capacitors, written once and repeated."""
    return f"""\
system: RC ladder
parameters: {parameters}
network:
  V: {{voltage source: ["n[0]", gnd]}}
  ladder:
    repeat: {repeat}
    network:
      {name}: {{resistor: {nodes}, R: 1 kohm}}
      C[k]: {{capacitor: ["n[k]", gnd], C: C_0}}
"""


def motor(machine: str = "{dc machine: [a, gnd, shaft, frame], K: 0.15 N*m/A}") -> str:
    """A motor that turns a flywheel."""
    return f"""\
system: Motor with a flywheel
parameters: {{R: 1 ohm, J: 0.01 kg*m^2}}
network:
  V: {{voltage source: [s, gnd]}}
  R: {{resistor: [s, a]}}
  motor: {machine}
  J: {{inertia: [shaft]}}
"""


RULES = Rulebook("D", charging())

# The file as a whole

UNKNOWN_KEY = RULES.rule(
    "D100",
    "unknown key",
    meaning="A key stands in a place where it means nothing: a slip of the pen, or a key of another kind of element.",
    why="a key that is skipped in silence would change the model without a word",
    example=charging().replace("experiment:", "experimnet:"),
)
MISSING_KEY = RULES.rule(
    "D101",
    "missing key",
    meaning="A part that the reader cannot do without is not there: the name of the system, or the nodes of an element.",
    why="nothing sensible can be assumed in its place",
    example="network:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
    instead="system: One loop\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
)
WRONG_SHAPE = RULES.rule(
    "D102",
    "text, list or mapping expected",
    meaning="A value has another shape than its key asks for, such as a text where a mapping of names and values belongs.",
    why="each key reads its value in one way only",
    example="system: One loop\nnetwork: [V, R]\n",
    instead="system: One loop\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
)
BAD_NAME = RULES.rule(
    "D103",
    "not a name",
    meaning="An element, a parameter, a variable or a node has a name that cannot be carried into equations and code.",
    why="a name is a letter, then letters, digits and single underscores; `__` stands for the dot of a path in C",
    example=charging(resistor="{resistor: [a, b], current: 2nd}"),
    instead=charging(resistor="{resistor: [a, b], current: I_2}"),
)
UNKNOWN_VERSION = RULES.rule(
    "D104",
    "unknown version of the format",
    meaning="The file says that it is written in a version of the format that this program does not read.",
    why="words may mean other things in another version",
    example="version: 7\n" + charging(),
    instead="version: 2\n" + charging(),
)
_BENT = charging(capacitor="{capacitor: [b, gnd], law: v = q/C + 1e9 V/C^3*q^3, initial: %s}")
OF_BEFORE = RULES.rule(
    "D145",
    "a file of before",
    meaning="The file is of version 1 of the format, and something in it means something else now.",
    why="it is read as it was meant; weights were inputs, and 1 V of a capacitor whose law reads its charge was 1 C",
    example="version: 1\n" + _BENT % "1 V",
    instead=_BENT % "1 C",
    severity="notice",
)
DESCRIBED_TWICE = RULES.rule(
    "D105",
    "described twice",
    meaning="Two elements have the same name; inside a `repeat` this happens when a name does not use every index.",
    why="equations and results tell elements apart by their names",
    example=ladder(name="R"),
    instead=ladder(),
)
VARIABLE_TWICE = RULES.rule(
    "D106",
    "variable named twice",
    meaning="Two elements give the same name to a variable of theirs.",
    why="each element has its own current and voltage; elements in series carry equal currents, yet the name belongs to one",
    example=charging(resistor="{resistor: [a, b], current: I}", capacitor="{capacitor: [b, gnd], current: I}"),
    instead=charging(resistor="{resistor: [a, b], current: I}"),
)

CUT_AT_COMMA = RULES.rule(
    "D107",
    "value cut at a comma",
    meaning="A value inside `{ }` or `[ ]` ends at a comma, so an expression with a comma in it is cut in two.",
    why="inside brackets YAML separates entries by commas",
    example=charging(experiment="{inputs: {V: sine(10 V, 50 Hz)}}"),
    instead=charging(experiment="{inputs: {V: 'sine(10 V, 50 Hz)'}}"),
)

# Elements

UNKNOWN_KIND = RULES.rule(
    "D110",
    "unknown kind of element",
    meaning="The first key of an element is its kind, and this word names none.",
    why="the kind decides the law of the element",
    example=charging(resistor="{resistro: [a, b]}"),
)
WRONG_NODES = RULES.rule(
    "D111",
    "wrong number of nodes",
    meaning="An element joins another number of nodes than its kind has terminals.",
    why="each port of an element has two terminals; one node a port means that the other is the reference",
    example=charging(resistor="{resistor: [a, b, c]}"),
)
BAD_NODE = RULES.rule(
    "D112",
    "not a node",
    meaning="A node is a name, a whole number, or an indexed name such as `n[3]`.",
    why="nodes are told apart by their names",
    example=charging(resistor='{resistor: [a, "b c"]}'),
)
SHORTED = RULES.rule(
    "D113",
    "both ends at one node",
    meaning="Both terminals of a port are at the same node.",
    why="the across variable of a port between a node and itself is zero: the element would do nothing, and a source would be shorted",
    example=charging(resistor="{resistor: [b, b]}"),
)
AGAINST_FRAME = RULES.rule(
    "D114",
    "inertia between two moving points",
    meaning="A mass or an inertia is given a second node that is not the frame.",
    why="a mass stores momentum against the frame: its velocity is the one of Newton's law, not a difference of two",
    example=oscillator(mass="{mass: [m, wall]}"),
    instead=oscillator(),
)
VALUE_TWICE = RULES.rule(
    "D115",
    "two laws for one element",
    meaning="An element has a value given twice, or a value beside a law, or a law beside an energy.",
    why="one law decides an element; a second one would contradict it or say nothing",
    example=charging(resistor="{resistor: [a, b], R: 2 kohm, resistance: 3 kohm}"),
    instead=charging(resistor="{resistor: [a, b], R: 3 kohm}"),
)
NO_VALUE_HERE = RULES.rule(
    "D116",
    "a value that the kind does not have",
    meaning="A source is given a value, or an element an initial value that it cannot keep.",
    why="a source follows its input over time, and only storages remember",
    example=charging(source="{voltage source: [a, gnd], value: 10 V}"),
    instead=charging(experiment="{inputs: {V: 10 V}}"),
)
BAD_CAUSALITY = RULES.rule(
    "D117",
    "unknown causality",
    meaning="`causality` is `integral`, `derivative`, or the power variable that the element decides, with `force` before it as a demand.",
    why="a storage decides one of its two power variables, a source has no choice, and a coupling passes on the choice of others",
    example=charging(capacitor="{capacitor: [b, gnd], causality: integrated}"),
    instead=charging(capacitor="{capacitor: [b, gnd], causality: integral}"),
)
BAD_RELATION = RULES.rule(
    "D118",
    "a connection that is no connection",
    meaning="The relation of a connection is not of the form `through_2 = K*through_1`, between a variable of each side.",
    why="a connection passes on the power: across_1*through_1 = across_2*through_2, so one modulus gives both relations",
    example=motor(
        "{connection: [a, gnd, shaft, frame], domains: [electrical, rotational], relation: through_2 = 3*across_2}"
    ),
    instead=motor(
        "{connection: [a, gnd, shaft, frame], domains: [electrical, rotational], relation: through_2 = 3*through_1}"
    ),
)
_TRANSFORMER = """\
system: Transformer
network:
  V: {voltage source: [a, gnd]}
  T: {transformer: [a, gnd, b, gnd], n: 3, across_2: V_T}
  R: {resistor: [b, gnd], R: 1 ohm}
"""
AMBIGUOUS_VARIABLE = RULES.rule(
    "D119",
    "variable of which side?",
    meaning="Both sides of a coupling have a variable of this word.",
    why="the two sides of a transformer each have a voltage",
    example=with_slip(_TRANSFORMER, "across_2", "voltage"),
    instead=_TRANSFORMER,
)

# Values

UNKNOWN_NAME = RULES.rule(
    "D120",
    "unknown name in an expression",
    meaning="An expression uses a name that is not a parameter.",
    why="a value is made of numbers, units and parameters",
    example=charging(resistor="{resistor: [a, b], R: 2*R_a}"),
    instead=charging(parameters="{R_a: 1 kohm, C: 1 mF}", resistor="{resistor: [a, b], R: 2*R_a}"),
)
WRONG_DIMENSION = RULES.rule(
    "D121",
    "wrong unit",
    meaning="A value is given in a unit that measures something else than what the key stands for.",
    why="a quantity has one dimension; no factor turns one into another",
    example=charging(parameters="{R: 2 mH, C: 1 mF}"),
)
MIXED_SUM = RULES.rule(
    "D122",
    "sum of unlike quantities",
    meaning="Terms of different dimension are added, subtracted or compared.",
    why="only like quantities can be added",
    example=charging(parameters="{R: 2 kohm + 3 mH, C: 1 mF}"),
    instead=charging(parameters="{R: 2 kohm + 3 ohm, C: 1 mF}"),
)
FUNCTION_OF_UNIT = RULES.rule(
    "D123",
    "function of a quantity with a unit",
    meaning="The argument of a function such as `sin` or `exp`, or an exponent, has a dimension.",
    why="sin(x) = x - x^3/6 + ... adds powers of x, so x must be a number",
    example=charging(parameters="{R: 2 kohm*exp(3 s), C: 1 mF}"),
    instead=charging(parameters="{R: 2 kohm*exp(3 s/(1 s)), C: 1 mF}"),
)
NOT_FINITE = RULES.rule(
    "D124",
    "not a finite number",
    meaning="A value is `nan`, infinite, too large for a number, or not a real number.",
    why="physical parameters are finite; a limit such as J = 0 or K = inf is taken by reduction, which keeps the equations right",
    example=charging(parameters="{R: 1e350 ohm, C: 1 mF}"),
)
CYCLE = RULES.rule(
    "D125",
    "parameters that define each other",
    meaning="The definition of a parameter leads back to itself.",
    why="each value must follow from others that are known before",
    example=charging(parameters="{R: 2*r, r: R/2, C: 1 mF}"),
    instead=charging(parameters="{R: 2*r, r: 1 kohm, C: 1 mF}"),
)
DIVISION_BY_ZERO = RULES.rule(
    "D126",
    "division by zero",
    meaning="An expression divides by zero with the values given.",
    why="the quotient has no value",
    example=charging(parameters="{d: 0, R: 2 kohm / d, C: 1 mF}"),
    instead=charging(parameters="{d: 1, R: 2 kohm / d, C: 1 mF}"),
)

# Physics of the values

NEGATIVE_STORAGE = RULES.rule(
    "D130",
    "negative storage",
    meaning="The parameter of a storage is negative.",
    why="energy would not be bounded below: the storage could give without end",
    example=charging(parameters="{R: 2 kohm, C: -1 mF}"),
)
EMPTY_STORAGE = RULES.rule(
    "D131",
    "storage without content",
    meaning="The parameter of a storage is zero.",
    why="a storage without content is no storage: its output would be undefined or its equation would divide by zero",
    example=charging(parameters="{R: 2 kohm, C: 0 F}"),
)
ACTIVE_ELEMENT = RULES.rule(
    "D132",
    "active element",
    meaning="The parameter of a resistive element is negative.",
    why="a negative resistance brings power into the system, so the model is not passive and tests of passivity do not apply",
    example=charging(parameters="{R: -2 kohm, C: 1 mF}"),
    severity="warning",
)
NO_PASSAGE = RULES.rule(
    "D133",
    "coupling that passes no power",
    meaning="The modulus of a coupling is zero: it holds one variable of each side at zero.",
    why="with a modulus of zero one side is shorted and the other one open, as a crank is at its dead centre: no power passes",
    example=motor("{dc machine: [a, gnd, shaft, frame], K: 0}"),
    severity="warning",
)
UNUSED_PARAMETER = RULES.rule(
    "D139",
    "parameter that nothing reads",
    severity="notice",
    meaning="A parameter of the file stands in no formula, and no element has its name.",
    why="a value that is changed without effect is mostly a name that was written in another way elsewhere",
    example="""system: a resistance with another name
parameters: {R_1: 2 ohm}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: 1 ohm}
  C: {capacitor: [b, gnd], C: 1 uF}
""",
    instead="""system: a resistance with its name
parameters: {R_1: 2 ohm}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b], R: R_1}
  C: {capacitor: [b, gnd], C: 1 uF}
""",
)
NO_VALUE = RULES.rule(
    "D134",
    "element without a value",
    meaning="An element has no value, and no parameter has its name.",
    why="equations are derived with its symbol; numbers need a value",
    example=charging(parameters="{C: 1 mF}"),
    severity="notice",
)


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


def _cam(lift: str, slope: str = "{slope of: lift, by: theta}") -> str:
    """A cam that moves a mass."""
    return f"""\
system: Cam
parameters:
  lift: {lift}
  H: {slope}
displacements: {{theta: omega}}
network:
  tau: {{torque source: [a]}}
  J:   {{inertia: [a], J: 1 kg*m^2, angular velocity: omega}}
  cam: {{rack: [a, x], r: H}}
  m:   {{mass: [x], m: 1 kg}}
"""


_GOOD = "{table: [[0 deg, 0 mm], [180 deg, 10 mm], [360 deg, 0 mm]], at: theta, interpolation: cubic, period: 360 deg}"
BAD_CURVE = RULES.rule(
    "D490",
    "curve that cannot be read",
    meaning="A parameter is a mapping, and is neither a table that is read at a displacement nor the slope of another parameter.",
    why="a parameter is a formula, a curve `{table: points, at: theta}`, or a slope `{slope of: lift, by: theta}`",
    example=_cam("{table: [[0 deg, 0 mm], [180 deg, 10 mm]]}"),
    instead=_cam(_GOOD),
)
NO_SLOPE = RULES.rule(
    "D491",
    "slope of something that does not move",
    meaning="`slope of` names no parameter, `by` names no displacement, or the one does not depend on the other.",
    why="a slope tells how much a parameter changes for each unit of a displacement that it reads",
    example=_cam("5 mm", "{slope of: lift, by: theta}"),
    instead=_cam("5 mm*(1 - cos(theta))", "{slope of: lift, by: theta}"),
)


def _heated(initial: str, units: str) -> str:
    """A body that cools."""
    return f"""\
system: Body that cools
network:
  Q: {{heat flow source: [b]}}
  C: {{heat capacity: [b], C: 100 J/K, initial: {initial}, temperature: T}}
  G: {{thermal conductor: [b], G: 2 W/K}}
experiment: {{until: 100 s, units: {units}}}
"""


SCALE_FROM_AMBIENT = RULES.rule(
    "D492",
    "temperature scale where temperatures count from the ambient",
    meaning="A temperature of the domain `heat` is given or shown in degC or degF.",
    why="in the domain `heat` a temperature is the difference to the ambient: 20 degC would be read as 293.15 K above it",
    example=_heated("60 degC", "{T: K}"),
    instead=_heated("40 K", "{T: K}"),
)
LIKE_A_ROOM = RULES.rule(
    "D497",
    "temperature above the ambient that looks absolute",
    severity="notice",
    meaning="A temperature of the domain `heat` is between 223 K and 323 K above the ambient: what is meant may be that of a room.",
    why="in the domain `heat` the ambient is at 0 K and all other temperatures are differences to it: a room that is given 293 K cools "
    "down by all of these",
    example=_heated("293.15 K", "{T: K}"),
    instead=_heated("0 K", "{T: K}"),
)
BAD_DISPLAY_UNIT = RULES.rule(
    "D493",
    "unit that a variable cannot be shown in",
    meaning="A unit to show a variable in measures another quantity, or the variable has no unit that is known.",
    why="showing converts, and only units of one quantity convert to each other",
    example=_heated("40 K", "{T: bar}"),
    instead=_heated("40 K", "{T: mK}"),
)


def _lettered(symbols: str) -> str:
    """A resistor on a source, with symbols."""
    return f"""\
system: Lamp
network:
  V: {{voltage source: [a]}}
  R_1: {{resistor: [a], R: 6 ohm}}
symbols: {symbols}
"""


BAD_SYMBOL = RULES.rule(
    "D494",
    "symbol that cannot be read",
    meaning="A symbol has something in it that is no letter, Greek letter, accent, subscript, superscript or prime.",
    why="symbols go into figures, documents and pages; a small language of their own keeps commands out of them",
    example=_lettered(r"{R_1: '\input{secret}'}"),
    instead=_lettered(r"{R_1: 'R_{\tau}'}"),
)
SYMBOL_OF_NOTHING = RULES.rule(
    "D495",
    "symbol of something that is not there",
    meaning="`symbols` gives a symbol to a name that nothing in the model has.",
    why="a symbol that is never used is a slip in its name",
    example=_lettered(r"{R_c: 'R_\tau'}"),
    instead=_lettered(r"{R_1: 'R_\tau'}"),
)
SYMBOL_TAKEN = RULES.rule(
    "D496",
    "one symbol for two names",
    meaning="Two names would be written alike.",
    why="a reader of a figure or of an equation knows things by how they are written",
    example=_lettered("{R_1: V}"),
    instead=_lettered("{R_1: 'V_R'}"),
)
UNKNOWN_START = RULES.rule(
    "D146",
    "no such start",
    meaning="The `start` of an experiment is neither `initial` nor `steady`.",
    why="a run begins at the initial values, or in the steady state near them under the inputs at t = 0",
    example=charging(experiment="{until: 5 s, start: rest}"),
    instead=charging(experiment="{until: 5 s, start: steady}"),
)
