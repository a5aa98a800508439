"""The rules of the lines of a network: laws, tables, fields, heat ports, modes and repeated structure."""

from tellegen.core.errors import Rulebook
from tellegen.notations.rules import charging, ladder, oscillator, with_slip

RULES = Rulebook("D", ladder())

BAD_LAW = RULES.rule(
    "D150",
    "a law that cannot be read",
    meaning="A law is `left = right`, with one variable of the element alone on the left; an energy is an expression without `=`.",
    why="the left side decides which variable the law gives",
    example=oscillator(spring="{spring: [m], law: 800*x}", parameters="{m: 2 kg}"),
    instead=oscillator(spring="{spring: [m], law: F = 800*x + 1e4*x^3}", parameters="{m: 2 kg}"),
)
WRONG_LETTER = RULES.rule(
    "D151",
    "a law of the wrong variable",
    meaning="A law uses a variable that a law of this kind cannot have, such as the current of a capacitor.",
    why="a storage relates its content and its output, a resistive element its two power variables; rates follow from these",
    example=charging(parameters="{R: 2 kohm}", capacitor="{capacitor: [b, gnd], law: q = 3*i}"),
    instead=charging(parameters="{R: 2 kohm}", capacitor="{capacitor: [b, gnd], law: q = 1e-3*v + 1e-5*v^3}"),
)
CONSTANT_LAW = RULES.rule(
    "D152",
    "a law without its variable",
    meaning="The right side of a law does not depend on the other variable of the element.",
    why="an element that gives the same whatever happens is a source",
    example=charging(parameters="{C: 1 mF}", resistor="{resistor: [a, b], law: v = 3}"),
    instead=charging(parameters="{C: 1 mF}", resistor="{resistor: [a, b], law: v = 3*i*abs(i)}"),
)
LETTER_AND_PARAMETER = RULES.rule(
    "D153",
    "a letter that is also a parameter",
    meaning="A law uses a letter of its own variables, and a parameter has the same name.",
    why="inside a law the letter means the variable of the element, not the parameter",
    example=charging(parameters="{C: 1 mF, i: 3}", resistor="{resistor: [a, b], law: v = 3*i*abs(i)}"),
    instead=charging(parameters="{C: 1 mF, i_0: 3}", resistor="{resistor: [a, b], law: v = i_0*i*abs(i)}"),
    severity="warning",
)
LETTER_AND_INDEX = RULES.rule(
    "D154",
    "a letter that is also an index",
    meaning="A law inside a `repeat` uses a letter that is both a variable of the element and an index.",
    why="nobody could tell which of the two is meant",
    example=ladder().replace("R: 1 kohm", "law: v = 3*i*abs(i)").replace("k: 1", "i: 1").replace("[k", "[i"),
    instead=ladder().replace("R: 1 kohm", "law: v = 3*i*abs(i)"),
)
NO_LAW_HERE = RULES.rule(
    "D155",
    "a law that the kind does not have",
    meaning="A source or a coupling is given a law, or a resistive element an energy.",
    why="a source follows its input, a coupling passes on power by its modulus, and only storages keep energy",
    example=charging(source="{voltage source: [a, gnd], law: v = 3*i}"),
    instead=charging(),
)
_HOIST = """\
system: Load on a rope
parameters: {m: 20 kg}
gravity: 9.81 m/s^2
network:
  F: {force source: [load]}
  m: {mass: [load], height: z}
experiment: {until: 1 s, inputs: {F: 200 N}}
"""
NO_GRAVITY = RULES.rule(
    "D156",
    "a height without gravity",
    meaning="A mass says how high it is, and the file has no `gravity:`.",
    why="the energy of a height is m g h: without g it is not known",
    example=_HOIST.replace("gravity: 9.81 m/s^2\n", ""),
    instead=_HOIST,
)
_WEIGHED = _HOIST.replace("height: z}", "velocity: v}\n  W: {weight: [load], energy: m*gravity*z}").replace(
    "network:", "displacements: {z: v}\nnetwork:"
)
NO_POTENTIAL = RULES.rule(
    "D157",
    "a weight without an energy",
    meaning="A weight does not say which energy it keeps.",
    why="what a weight takes it keeps: its pull is the slope of its energy, a formula of displacements",
    example=_WEIGHED.replace(", energy: m*gravity*z", ", F: m*gravity"),
    instead=_WEIGHED,
)
LETTER_OR_UNIT = RULES.rule(
    "D158",
    "a letter or a unit",
    meaning="In a law a unit is multiplied by a word that is the letter of its variable as well, such as the `V` of `2 uF*V`.",
    why="behind a number the word belongs to the unit, and the product would be a constant without a word",
    example=charging(parameters="{R: 2 kohm}", capacitor="{capacitor: [b, gnd], law: q = 2 uF*V + 1 uC*sinh(V/(1 V))}"),
    instead=charging(
        parameters="{R: 2 kohm}", capacitor="{capacitor: [b, gnd], law: q = (2 uF)*V + 1 uC*sinh(V/(1 V))}"
    ),
)
_COILS = (
    "system: coils\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [b], R: 1 ohm}\n"
    "  M: {inductor field: [a, gnd, b, gnd], matrix: [[2 H, 1 H], [1 H, %s]]}\n"
)
NOT_CONSERVATIVE = RULES.rule(
    "D166",
    "a field that is not conservative",
    meaning="The matrix of a field of storages is not symmetric.",
    why="the energy of two coupled storages cannot depend on the order in which they were filled",
    example=with_slip(_COILS % "1 H", "[1 H,", "[0.5 H,"),
    instead=_COILS % "1 H",
)


def _with_law(law: str) -> str:
    """An oscillator whose spring has a law by points."""
    return f"""\
system: Oscillator
network:
  F: {{force source: [a]}}
  m: {{mass: [a], m: 1 kg}}
  s: {{spring: [a, frame], law: {law}}}
"""


_GOOD = "{table: [[-1, -3], [0, 0], [1, 2]]}"
NO_POINTS = RULES.rule(
    "D710",
    "law by points that cannot be read",
    meaning="The law of an element is a mapping, and has no points, gives no variable of the element, or joins points in no known way.",
    why="a law by points gives one variable of the element by another one, between points by lines or cubics",
    example=_with_law("{table: [[-1, -3], [0, 0], [1, 2]], gives: v}"),
    instead=_with_law(_GOOD),
)
NOT_RISING = RULES.rule(
    "D711",
    "storage whose points do not rise",
    meaning="The points of the law of a storage fall or stay level.",
    why="a storage that gives less the more it holds gives energy for nothing, and a level stretch cannot be solved for its variable",
    example=_with_law("{table: [[-1, -3], [0, 0], [1, -2]]}"),
    instead=_with_law(_GOOD),
)
TOO_MANY_POINTS = RULES.rule(
    "D712",
    "law with too many points",
    meaning="The law of an element has more than 200 points.",
    why="each point is a term of a formula that is evaluated at every step",
    example=_with_law("{table: [" + ", ".join(f"[{k}, {k}]" for k in range(201)) + "]}"),
    instead=_with_law(_GOOD),
)


_FRAME = (
    "system: frame\nnetwork:\n  F: {force source: [frame, a]}\n  m_1: {mass: [a], m: 1 kg}\n  m_2: {mass: [b], m: 1 kg}\n"
    "  k: {spring field: [a, frame, b, frame], matrix: [[%s N/m, -1 N/m], [-1 N/m, 1 N/m]]}\n"
)
_PAIR = (
    "system: pair\nnetwork:\n  V: {voltage source: [a]}\n  L: {inductor: [a, b], L: 1 H}\n  C: {capacitor: [c], C: 1 F}\n"
    "  r: {resistor field: [b, gnd, c, gnd], law: [V_1 = 2*i_1 + %s*i_1*i_2^2, V_2 = 1 ohm*i_2]}\n"
)

NO_STIFFNESS = RULES.rule(
    "D470",
    "matrix of stiffnesses that cannot be used",
    meaning="A field is given by its stiffnesses, and the matrix has no inverse, or only some of its ports have stiffnesses.",
    why="a motion that no force resists stores nothing: the field has fewer states than ports",
    example=_FRAME % "1",
    instead=_FRAME % "3",
)
NEGATIVE_FIELD = RULES.rule(
    "D471",
    "field that stores negative energy",
    meaning="The matrix of a storage field gives a negative energy in some direction, with the values of its parameters.",
    why="energy would not be bounded below: the field could give without end",
    example=_COILS % "0.1 H",
    instead=_COILS % "1 H",
)
ACTIVE_FIELD = RULES.rule(
    "D472",
    "active field",
    meaning="The matrix or the laws of a resistive field give power at some values of what they are told.",
    why="a field that gives power is no dissipator, so the model is not passive and tests of passivity do not apply",
    example=_PAIR % "(-8)",
    instead=_PAIR % "8",
    severity="warning",
)


def _winding(heat: str = "w", more: str = "") -> str:
    """A winding that heats a mass, with one part exchanged."""
    return f"""\
system: Winding
network:
  V:   {{voltage source: [a, gnd]}}
  R:   {{resistor: [a, gnd], R: 2 ohm, heat: {heat}}}
  C_w: {{heat capacity: [w], C: 40 J/K}}
  G_w: {{thermal conductor: [w, ambient], G: 0.5 W/K}}
{more}"""


NO_THERMAL_NODE = RULES.rule(
    "D700",
    "heat into a node that is not thermal",
    meaning="The key `heat` names a node that no thermal element has.",
    why="heat needs something that takes it: a capacity that warms up, or a conductor that leads it away",
    example=_winding("c"),
    instead=_winding(),
)
HEAT_NAME_TAKEN = RULES.rule(
    "D701",
    "heat source with the name of an element",
    meaning="The heat of an element R is brought by a source named R_heat, and another element has that name.",
    why="an element has a name of its own",
    example=_winding(more="  R_heat: {heat flow source: [w]}\n"),
    instead=_winding(more="  Q_sun: {heat flow source: [w]}\n"),
)
_ENTROPY = """\
system: Winding
network:
  V:   {voltage source: [a, gnd]}
  R:   {resistor: [a, gnd], R: 2 ohm, heat: w}
  C_w: {entropy capacity: [w], C: 40 J/K, initial: 293 K}
"""
NO_HEAT_TEMPERATURE = RULES.rule(
    "D702",
    "heat into a node without a temperature",
    meaning="The key `heat` names a node of entropy flows that has neither a capacity nor a temperature source.",
    why="the entropy that heat brings is the heat divided by the temperature, which a capacity or a source decides",
    example=with_slip(_ENTROPY, "heat: w", "heat: s") + "  G_w: {entropy conductor: [s, w], G: 0.5 W/K}\n",
    instead=_ENTROPY,
)


def _chopper(line: str) -> str:
    return f"system: chopper\nnetwork:\n  V: {{voltage source: [a]}}\n  S: {line}\n  R: {{resistor: [b], R: 1 ohm}}\n"


def _stopped(line: str) -> str:
    return (
        "system: stopped\ndisplacements: {x: v_m}\nnetwork:\n  F: {force source: [m]}\n  m: {mass: [m], m: 1 kg}\n"
        f"  stop: {line}\n"
    )


def _sliding(line: str) -> str:
    return f"system: sliding\nnetwork:\n  F: {{force source: [m]}}\n  m: {{mass: [m], m: 1 kg}}\n  belt: {line}\n"


UNKNOWN_MODE = RULES.rule(
    "D480",
    "no such mode",
    meaning="A mode was named that the element does not have.",
    why="each kind with modes has its own words for them: a switch is open or closed, dry friction sticks or slips",
    example=_chopper("{switch: [a, b], start: shut}"),
    instead=_chopper("{switch: [a, b], start: closed}"),
)
TWO_COMMANDS = RULES.rule(
    "D481",
    "settings that exclude each other",
    meaning="An element with modes is given two settings of which only one can hold.",
    why="a switch follows its control or its schedule, a stop is elastic or rigid",
    example=_chopper("{switch: [a, b], control: 'sin(t)', closed: [1 s, 2 s]}"),
    instead=_chopper("{switch: [a, b], closed: [1 s, 2 s]}"),
)
BAD_SCHEDULE = RULES.rule(
    "D482",
    "schedule that goes backwards",
    meaning="The times of a schedule do not rise.",
    why="a switch closes at the first time, opens at the second, and so on",
    example=_chopper("{switch: [a, b], closed: [2 s, 1 s]}"),
    instead=_chopper("{switch: [a, b], closed: [1 s, 2 s]}"),
)
GAP_STAYS = RULES.rule(
    "D483",
    "gap that cannot close",
    meaning="The gap of a stop depends on no displacement.",
    why="a stop pushes back while its gap is closed, so the gap must change with the motion",
    example=_stopped("{hard stop: [m, frame], gap: 0.1 m, K: 1e6 N/m}"),
    instead=_stopped("{hard stop: [m, frame], gap: 0.1 m - x, K: 1e6 N/m}"),
)
NO_CONTACT = RULES.rule(
    "D484",
    "stop without a law of contact",
    meaning="A stop has neither a stiffness nor a coefficient of restitution.",
    why="it must be said what happens at contact: an elastic force, or an impact of rigid bodies",
    example=_stopped("{hard stop: [m, frame], gap: 0.1 m - x}"),
    instead=_stopped("{hard stop: [m, frame], gap: 0.1 m - x, restitution: 0.5}"),
)
WRONG_SIZE = RULES.rule(
    "D485",
    "value that an element with modes cannot have",
    meaning="A setting is negative, a restitution is above 1, or friction breaks away below its sliding force.",
    why="friction and diodes take power and never bring it, an impact returns at most the speed it met",
    example=_sliding("{dry friction: [m, frame], F_c: 5 N, F_s: 3 N}"),
    instead=_sliding("{dry friction: [m, frame], F_c: 5 N, F_s: 7 N}"),
)


BAD_RANGE = RULES.rule(
    "D140",
    "not a range",
    meaning="A range is `first..last`, two whole numbers or expressions of outer indices and of parameters given as whole numbers.",
    why="a repeated structure has a whole number of copies",
    example=ladder(repeat="{k: 1-10}"),
)
BACKWARD_RANGE = RULES.rule(
    "D141",
    "range that runs backwards",
    meaning="The last value of a range is below the first by more than one.",
    why="`1..0` is an empty range, but a larger gap is a slip: ranges count upwards",
    example=ladder(repeat="{k: 10..1}"),
)
SHADOWING_INDEX = RULES.rule(
    "D142",
    "index with a name that is taken",
    meaning="An index has the name of a parameter or of an outer index.",
    why="inside the block nobody could tell which of the two is meant",
    example=ladder(parameters="{k: 3, C_0: 1 uF}"),
)
NOT_WHOLE = RULES.rule(
    "D143",
    "index that is not a whole number",
    meaning="An expression between `[` and `]` is not a whole number, zero or more, for some copy.",
    why="an index counts",
    example=ladder(nodes='["n[(k-1)/2]", "n[k]"]'),
)
TOO_MANY = RULES.rule(
    "D144",
    "too many elements",
    meaning="The repeated structure has more elements than can be held.",
    why="a slip in a range must not exhaust the memory",
    example=ladder(repeat="{k: 1..1000000000}"),
)
