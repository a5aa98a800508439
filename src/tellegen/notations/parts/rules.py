"""The rules of parts and ports: where a part is found, how it is joined, what may be bound."""

from functools import partial

from tellegen.core.errors import Rulebook
from tellegen.notations.rules import with_slip

_DRIVE = """\
system: Motor with a load
parameters: {K_m: 0.1 N*m/A}
parts:
  motor: {use: dc_motor, K: K_m, ports: {electrical: a, shaft: s}}
network:
  V: {voltage source: [a, gnd]}
  J_load: {inertia: [s], J: 0.01 kg*m^2}
"""
_FILTER = """\
system: Filter
ports: {input: a, output: b}
network:
  C_1: {capacitor: [a, gnd], C: 1 uF}
  R: {resistor: [a, b], R: 1 kohm}
  C_2: {capacitor: [b, gnd], C: 1 uF}
"""
_drive, _filter = partial(with_slip, _DRIVE), partial(with_slip, _FILTER)

RULES = Rulebook("D", _DRIVE)

NO_SUCH_PART = RULES.rule(
    "D600",
    "no such part",
    meaning="A part uses a file that cannot be read, or a name that the library does not have.",
    why="a part is a file beside the model, such as 'motor.yaml', or a system of the library by its name",
    example=_drive("use: dc_motor", "use: dc_motro"),
)
RECURSION = RULES.rule(
    "D601",
    "part of itself",
    meaning="A system is a part of itself, directly or through its parts.",
    why="such a system would have no end",
    example=_drive("use: dc_motor", "use: model.yaml"),
)
OUTSIDE_FOLDER = RULES.rule(
    "D602",
    "part outside the folder of the model",
    meaning="The file of a part is named by an absolute path, by a path with '..', or by a link that leads out of the folder.",
    why="a model reads nothing but what lies beside it or below, so that one can open a file of somebody else",
    example=_drive("use: dc_motor", "use: ../motor.yaml"),
)
TOO_DEEP = RULES.rule(
    "D603",
    "parts in parts in parts",
    meaning="Parts are nested more deeply, or come from more files, than can be followed.",
    why="a hierarchy has a bounded depth, so that opening a file always ends",
)
TOO_LARGE = RULES.rule(
    "D604",
    "too many parts",
    meaning="All parts together have more elements than can be held.",
    why="a few files that use each other many times must not exhaust the memory",
    example=_drive(
        "  motor: {use: dc_motor, K: K_m, ports: {electrical: a, shaft: s}}\n",
        "  motors: {repeat: {k: 1..1000000000}, parts: {'motor[k]': {use: dc_motor, ports: {electrical: a, shaft: s}}}}\n",
    ),
)
UNKNOWN_PORT = RULES.rule(
    "D605",
    "no such port",
    meaning="A part is joined by a port, or given a signal by an input, that it does not have.",
    why="a part is joined through the ports that its file offers under 'ports' and 'signal ports'",
    example=_drive("shaft: s", "axle: s"),
)
WRONG_PORT_DOMAIN = RULES.rule(
    "D606",
    "port of another domain",
    meaning="A port is joined to a node of another domain.",
    why="all that meets at a node shares one across variable, such as a voltage or a speed",
    example=_drive("shaft: s", "shaft: a"),
)
WRONG_PORT_NODES = RULES.rule(
    "D607",
    "port with other nodes",
    meaning="A port is joined to too few or too many nodes, or its node at the reference to another one.",
    why="a port has two ends: one node stands for the node against the reference, two for both ends",
    example=_drive("shaft: s", "shaft: [s, a, b]"),
)
OPEN_PORT = RULES.rule(
    "D608",
    "open port",
    meaning="A port that leads to one end of a single element is joined to nothing.",
    why="nothing can flow through an end that hangs in the air",
    example=_drive("{electrical: a, shaft: s}", "{shaft: s}"),
    severity="warning",
)
UNKNOWN_BINDING = RULES.rule(
    "D609",
    "no such parameter of a part",
    meaning="The line of a part sets something that is no parameter of the part.",
    why="beside 'use', 'ports', 'signals' and 'parameters', the keys of a part are its parameters",
    example=_drive("K: K_m", "K_t: K_m"),
)
BOUND_TWICE = RULES.rule(
    "D610",
    "parameter of a part set twice",
    meaning="A parameter of a part is set beside the other keys and again under 'parameters'.",
    why="only one of the two values could count",
    example=_drive("K: K_m", "K: K_m, parameters: {K: 0.2 N*m/A}"),
)
NAME_CLASH = RULES.rule(
    "D611",
    "name of a part that is taken",
    meaning="A part has the name of an element or of another part, or a name that would be read as something else.",
    why="the names of what is inside start with that of the part, so each part needs a name of its own",
    example=_drive("  motor: {use", "  J_load: {use"),
)
INSIDE_A_PART = RULES.rule(
    "D612",
    "connection past the ports",
    meaning="An element is joined to a node inside a part.",
    why="a part is joined through its ports alone, so that what is inside can change",
    example=_drive("inertia: [s]", "inertia: [motor.shaft]"),
)
BAD_PORT = RULES.rule(
    "D613",
    "port that leads nowhere",
    meaning="A port or signal port that a file offers does not stand for something in it.",
    why="a port is a node or two nodes of one domain, or a source whose place others take; a signal port is a signal or an input",
    example=_filter("output: b", "output: c"),
    instead=_FILTER,
)
NO_PART_LINE = RULES.rule(
    "D614",
    "line that describes no part",
    meaning="The line of a part does not say what to use, or what it says cannot be used.",
    why="a part is written 'name: {use: file or name, ports: {port: node}, parameter: value}'",
    example=_drive("use: dc_motor, K: K_m, ", ""),
)
UNKNOWN_NAME = RULES.rule(
    "D473",
    "name that is not in the part",
    meaning="The line of a part gives a name to something that the part does not have.",
    why="'names' gives elements, variables, parameters, displacements and signals of the part other names in the whole",
    example=_drive("K: K_m", "K: K_m, names: {speed: omega_m}"),
    instead=_drive("K: K_m", "K: K_m, names: {omega: omega_m}"),
)
NAME_TAKEN = RULES.rule(
    "D474",
    "name of something in a part that is taken",
    meaning="The line of a part chooses a name that something else of the whole has already.",
    why="a name without the name of the part before it belongs to the whole, where each name stands for one thing",
    example=_drive("K: K_m", "K: K_m, names: {J: J_load}"),
    instead=_drive("K: K_m", "K: K_m, names: {J: J_motor}"),
)
SOURCE_IS_READ = RULES.rule(
    "D615",
    "source that is read inside its part",
    meaning="Something takes the place of a source whose variables are read by formulas.",
    why="with the source its variables go, and the formulas would have nothing to read",
    example="""\
system: Motor on a line
parts:
  motor: {use: dc_motor, ports: {electrical: {source: V}}}
signals: {power_in: V*I_V}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, gnd], R: 1 kohm}
""",
    instead="""\
system: Motor on a line
parts:
  motor: {use: dc_motor, ports: {electrical: {source: V}}}
network:
  V: {voltage source: [a, gnd]}
  C: {capacitor: [a, gnd], C: 1 mF}
""",
)
