"""The rules that a connected model must keep (codes G)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("G")

DANGLING_NODE = RULES.rule(
    "G101",
    "dangling node",
    meaning="A node joins only one terminal, so nothing can flow through it.",
    why="what flows into a node must flow out of it: with one terminal the through variable is zero and the element idle",
    severity="notice",
    example="system: open line\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n",
    instead="system: closed line\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
)
MIXED_DOMAINS = RULES.rule(
    "G102",
    "node between two domains",
    meaning="Elements of two physical domains meet at one node.",
    why="a voltage and a velocity cannot be equal: power passes between domains through a coupling such as a motor or a pump",
    example=(
        "system: mixed\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n  J: {inertia: [a], J: 1 kg*m^2}\n"
    ),
    instead=(
        "system: coupled\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  M: {dc machine: [b, gnd, s, frame], K: 1 N*m/A}\n  J: {inertia: [s], J: 1 kg*m^2}\n"
    ),
)
WRONG_REFERENCE = RULES.rule(
    "G103",
    "reference of another domain",
    meaning="An element is tied to the reference of another domain, a resistor to the frame for example.",
    why="each domain has a reference of its own: gnd, frame, tank",
    example="system: wrong\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, frame], R: 1 ohm}\n",
    instead="system: right\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
)
UNCONNECTED = RULES.rule(
    "G104",
    "parts that are not connected",
    meaning="The elements fall into groups that share neither a node nor a coupling, and of which none reads a variable of another.",
    why="neither power nor a signal can pass between the groups: they are two systems, not one",
    example=(
        "system: two\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
        "  F: {force source: [frame, m]}\n  m: {mass: [m], m: 1 kg}\n"
    ),
    instead=(
        "system: one\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  coil: {voice coil: [b, gnd, m, frame], K: 1 N/A}\n  m: {mass: [m], m: 1 kg}\n"
    ),
)
NO_REFERENCE = RULES.rule(
    "G105",
    "part without a reference",
    meaning="A part of the network does not touch the reference of its domain; one of its nodes was taken as reference.",
    why="across variables are differences: the choice changes no equation between element variables",
    example="system: floating\nnetwork:\n  V: {voltage source: [a, b]}\n  R: {resistor: [a, b], R: 1 ohm}\n",
    instead="system: grounded\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
    severity="notice",
)
NOT_THE_REFERENCE = RULES.rule(
    "G110",
    "node that sounds like a reference",
    meaning="A node is called ground, earth or reference, but its part has the reference of its domain elsewhere.",
    why="only gnd, frame, tank and ambient are references; any other name is a node that can move like the others",
    example=(
        "system: adrift\nnetwork:\n  tau: {torque source: [ground, shaft]}\n  J: {inertia: [shaft], J: 1 kg*m^2}\n"
        "  b: {friction: [shaft, ground], b: 1 N*m*s/rad}\n"
    ),
    instead=(
        "system: held\nnetwork:\n  tau: {torque source: [frame, shaft]}\n  J: {inertia: [shaft], J: 1 kg*m^2}\n"
        "  b: {friction: [shaft, frame], b: 1 N*m*s/rad}\n"
    ),
    severity="warning",
)
NAME_TAKEN = RULES.rule(
    "G106",
    "variable named like something else",
    meaning="A variable has the name of a parameter, of an input or of another variable.",
    why="equations name each thing once, so one name cannot stand for two of them",
    example=(
        "system: clash\nparameters: {R: 1 ohm}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  L: {inductor: [a, b], L: 1 H, current: R}\n"
        "  R: {resistor: [b, gnd]}\n"
    ),
    instead=(
        "system: clear\nparameters: {R: 1 ohm}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  L: {inductor: [a, b], L: 1 H, current: I}\n"
        "  R: {resistor: [b, gnd]}\n"
    ),
)
EMPTY = RULES.rule(
    "G107",
    "nothing to connect",
    meaning="The network has no element that stores, loses or brings power.",
    why="equations need at least one port",
    example="system: nothing\nnetwork: {}\n",
    instead="system: something\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
)
NO_SUCH_MODE = RULES.rule(
    "G108",
    "mode that is not there",
    meaning="Equations or a run were asked for in a mode of an element that has no such mode, or none at all.",
    why="switches, diodes, dry friction, clutches and stops have modes, each with words of its own",
)
_CONDUCTING = """\
system: wall
network:
  C_1: {entropy capacity: [a], C: 15 J/K, initial: 373.15 K}
  C_2: {entropy capacity: [b], C: 15 J/K, initial: 273.15 K}
"""
NO_TEMPERATURE = RULES.rule(
    "G109",
    "temperature that nothing decides",
    meaning="An entropy conductor or a radiator ends at a node without a capacity and without a temperature source.",
    why="the entropy that leaves it is its heat divided by the temperature there, which must follow from an element",
    example=_CONDUCTING
    + "  G_1: {entropy conductor: [a, m], G: 10 W/K}\n  G_2: {entropy conductor: [m, b], G: 10 W/K}\n",
    instead=_CONDUCTING + "  G_1: {entropy conductor: [a, b], G: 5 W/K}\n",
)
NOT_REACHED = RULES.rule(
    "G121",
    "variable that no sensor reaches",
    meaning="A signal reads a variable of a coupling, or a difference between nodes, that does not follow from variables of elements.",
    why="signals are computed from the power variables of storages, resistive elements and sources",
    example=(
        "system: gears\nnetwork:\n  tau: {torque source: [frame, a]}\n  J: {inertia: [a], J: 1 kg*m^2}\n"
        "  g_1: {gear: [a, b], n: 3}\n  g_2: {gear: [b, c], n: 3}\n  J_c: {inertia: [c], J: 1 kg*m^2}\n"
        "signals: {omega_b: {across: [b]}}\n"
    ),
    instead=(
        "system: gears\nnetwork:\n  tau: {torque source: [frame, a]}\n  J: {inertia: [a], J: 1 kg*m^2}\n"
        "  g_1: {gear: [a, b], n: 3}\n  g_2: {gear: [b, c], n: 3}\n  J_c: {inertia: [c], J: 1 kg*m^2}\n"
        "signals: {omega_b: {across: [c]}}\n"
    ),
)
NO_SUCH_INPUT = RULES.rule(
    "G122",
    "no such input",
    meaning="A course over time was given to something that is not an input.",
    why="the inputs of a system are its sources",
)
DRIVEN_TWICE = RULES.rule(
    "G123",
    "input with two drivers",
    meaning="A course over time was given to an input that a signal of the model drives.",
    why="a source follows one course; two would contradict each other",
)
IDLE_INPUT = RULES.rule(
    "G124",
    "input that nothing drives",
    meaning="An input has neither a signal nor a course in the experiment; it is zero.",
    why="a run needs a value for each input at all times",
    severity="notice",
)
_INCLINE = """\
system: Cart on a slope
parameters: {m: 2 kg, alpha: 0.3 rad}
gravity: 9.81 m/s^2
displacements: {s: v}
network:
  m: {mass: [cart], velocity: v, height: s*sin(alpha)}
  b: {damper: [cart], b: 1 N*s/m}
"""
NO_PULL = RULES.rule(
    "G111",
    "a weight that its energy does not move with",
    meaning="The energy of a weight is a formula of displacements that other than its own nodes move.",
    why="the pull is the rate of the energy over the velocity of the nodes: they have to move together",
    example=_INCLINE.replace("{s: v}", "{s: w}").replace(
        "  b: {",
        "  J: {inertia: [shaft], J: 1 kg*m^2, speed: w}\n  r: {rack: [shaft, frame, cart, frame], r: 0.1 m/rad}\n  b: {",
    ),
    instead=_INCLINE,
)
NO_HEIGHT = RULES.rule(
    "G112",
    "an energy of other than displacements",
    meaning="The energy of a weight reads a velocity, a signal or the time.",
    why="what a weight keeps depends on where it is and on nothing else: else it would give back more than it took",
    example=_INCLINE.replace("height: s*sin(alpha)}", "height: s*q}").replace(
        "network:", "signals: {q: 2*t/(1 s)}\nnetwork:"
    ),
    instead=_INCLINE,
)
