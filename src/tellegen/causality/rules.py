"""The rules of causality (codes K)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("K")

SOURCES_FIGHT = RULES.rule(
    "K101",
    "two sources decide the same variable",
    meaning="A source cannot impose its variable because other sources decide it already.",
    why="a closed path of imposed across variables, or a node fed by imposed through variables only, leaves no freedom to the last one",
    example=(
        "system: short\nnetwork:\n  V_1: {voltage source: [a, gnd]}\n  V_2: {voltage source: [a, gnd]}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: fair\nnetwork:\n  V_1: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n  V_2: {voltage source: [b, gnd]}\n"
    ),
)
FORCED_CONFLICT = RULES.rule(
    "K102",
    "forced causality that cannot be",
    meaning="A causality was demanded that the sources and earlier demands make impossible.",
    why="the variable is decided already by other elements",
    example=(
        "system: forced\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], C: 1 F, causality: force across}\n"
        "  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: free\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], C: 1 F}\n  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
)
ONE_SIDED_LAW = RULES.rule(
    "K103",
    "law that would have to be inverted",
    meaning="A law gives one variable of the other and cannot be solved backwards, but the network asks for just that.",
    why="a law that stays level, jumps or turns back has one value for every argument, but not one argument for every value",
    example=(
        "system: stuck\nnetwork:\n  F: {force source: [frame, m]}\n  c: {damper: [m, frame], law: F = 5*sign(v)}\n"
    ),
    instead=(
        "system: moving\nnetwork:\n  F: {force source: [frame, m]}\n  m: {mass: [m], m: 1 kg}\n  c: {damper: [m, frame], law: F = 5*sign(v)}\n"
    ),
)
STORAGE_LAW_BACKWARDS = RULES.rule(
    "K104",
    "dependent storage whose law cannot be differentiated",
    meaning="A storage that depends on others is given by its output as a function of its energy variable.",
    why="a dependent storage needs its energy variable as a function of its output, to be differentiated along the motion",
    example=(
        "system: dependent\nparameters: {a: 1, b: 1}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], law: v = a*q + b*q^3}\n"
        "  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: independent\nparameters: {a: 1, b: 1}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  C: {capacitor: [b, gnd], law: v = a*q + b*q^3}\n"
    ),
)
UNIT_LOOP = RULES.rule(
    "K105",
    "loop of couplings that leaves a variable open",
    meaning="Couplings of equal ratio form a loop, and what circulates in it is unknown.",
    why="two rigid paths of one ratio between the same two places share their load in no definite way",
    example=(
        "system: two gears\nnetwork:\n  T: {torque source: [frame, s]}\n  J: {inertia: [s], J: 1 kg*m^2}\n"
        "  g_1: {gear: [s, frame, l, frame], n: 2}\n  g_2: {gear: [s, frame, l, frame], n: 2}\n  b: {friction: [l, frame], b: 1 N*m*s}\n"
    ),
    instead=(
        "system: one gear\nnetwork:\n  T: {torque source: [frame, s]}\n  J: {inertia: [s], J: 1 kg*m^2}\n"
        "  g_1: {gear: [s, frame, l, frame], n: 2}\n  b: {friction: [l, frame], b: 1 N*m*s}\n"
    ),
)
SPECIAL_VALUES = RULES.rule(
    "K106",
    "values that change the structure",
    meaning="With the given values the structure has another causality than with values in general position.",
    why="a coincidence of moduli removes or adds a constraint: a small change of one value gives another model",
    severity="warning",
    example=(
        "system: difference\nnetwork:\n  T: {torque source: [frame, a]}\n  J_a: {inertia: [a], J: 1 kg*m^2}\n"
        "  g_1: {gear: [a, frame, b, c], n: 2}\n  g_2: {gear: [a, frame, c, frame], n: -2}\n  J_b: {inertia: [b], J: 1 kg*m^2}\n"
    ),
    instead=(
        "system: difference\nnetwork:\n  T: {torque source: [frame, a]}\n  J_a: {inertia: [a], J: 1 kg*m^2}\n"
        "  g_1: {gear: [a, frame, b, c], n: 2}\n  g_2: {gear: [a, frame, c, frame], n: 3}\n  J_b: {inertia: [b], J: 1 kg*m^2}\n"
    ),
)
LOCKED_MODE = RULES.rule(
    "K107",
    "mode that cannot be",
    meaning="In this mode an element with modes would impose a variable that other elements decide already.",
    why="a closed switch leaves no voltage, but a source imposes one; an open one leaves no current, but a source drives one",
    example=(
        "system: short\nnetwork:\n  V: {voltage source: [a, gnd]}\n  S: {switch: [a, gnd], start: closed}\n"
        "  R: {resistor: [a, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: load\nnetwork:\n  V: {voltage source: [a, gnd]}\n  S: {switch: [a, b], start: closed}\n"
        "  R: {resistor: [b, gnd], R: 1 ohm}\n"
    ),
)
DEPENDENT_STORAGE = RULES.rule(
    "K201",
    "dependent storage",
    meaning="A storage is in derivative causality: its output follows from other storages, so it adds no state.",
    why="capacitors in a loop share their voltage, masses joined rigidly share their velocity: together they count once",
    severity="notice",
    example=(
        "system: two in parallel\nnetwork:\n  I: {current source: [gnd, a]}\n  C_1: {capacitor: [a, gnd], C: 1 F}\n"
        "  C_2: {capacitor: [a, gnd], C: 1 F}\n"
    ),
    instead="system: one\nnetwork:\n  I: {current source: [gnd, a]}\n  C_1: {capacitor: [a, gnd], C: 2 F}\n",
)
SOURCE_MEETS_STORAGE = RULES.rule(
    "K202",
    "source on a dependent storage",
    meaning="A storage follows a source directly, so the equations contain the derivative of the input.",
    why="a capacitor across a voltage source draws C dV/dt: a step of the input would need an infinite current",
    severity="notice",
    example="system: stiff\nnetwork:\n  V: {voltage source: [a, gnd]}\n  C: {capacitor: [a, gnd], C: 1 F}\n  R: {resistor: [a, gnd], R: 1 ohm}\n",
    instead=(
        "system: soft\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [b, gnd], C: 1 F}\n"
    ),
)
ALGEBRAIC_LOOP = RULES.rule(
    "K203",
    "algebraic loop of resistive elements",
    meaning="Resistive elements decide each other's variables without a storage between them.",
    why="their common equations are solved first: linear ones by elimination, nonlinear ones as algebraic unknowns",
    severity="notice",
    example=(
        "system: divider\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b], R: 1 ohm}\n"
        "  R_2: {resistor: [b, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: filter\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b], R: 1 ohm}\n"
        "  C: {capacitor: [b, gnd], C: 1 F}\n"
    ),
)
IDLE_ELEMENT = RULES.rule(
    "K204",
    "ideal element that repeats others",
    meaning="An ideal element asks for what others impose already, so how they share the load is not determined: it takes none.",
    why="of two closed switches side by side, each holds the voltage at zero, and no law says how they share the current",
    severity="notice",
    example=(
        "system: doubled\nnetwork:\n  V: {voltage source: [a, gnd]}\n  S_1: {switch: [a, b], start: closed}\n"
        "  S_2: {switch: [a, b], start: closed}\n  R: {resistor: [b, gnd], R: 1 ohm}\n"
    ),
    instead=(
        "system: single\nnetwork:\n  V: {voltage source: [a, gnd]}\n  S_1: {switch: [a, b], start: closed}\n"
        "  R: {resistor: [b, gnd], R: 1 ohm}\n"
    ),
)
IMPOSSIBLE_MODE = RULES.rule(
    "K205",
    "combination of modes that cannot be",
    meaning="In one combination of the modes of its elements the system has no causality; a run never enters it.",
    why="ideal elements would impose a variable that sources decide already",
    severity="notice",
)
LOCKED_STORAGE = RULES.rule(
    "K206",
    "storage that couplings hold at zero",
    meaning="Couplings form a loop of unequal ratios, which can only stand still, and the storages on it store nothing.",
    why="two rigid paths between the same two places agree at zero alone; what they carry then is determined",
    severity="warning",
    example=(
        "system: two gears\nnetwork:\n  T: {torque source: [frame, s]}\n  J: {inertia: [s], J: 1 kg*m^2}\n"
        "  g_1: {gear: [s, frame, l, frame], n: 2}\n  g_2: {gear: [s, frame, l, frame], n: 3}\n  b: {friction: [l, frame], b: 1 N*m*s}\n"
    ),
    instead=(
        "system: one gear\nnetwork:\n  T: {torque source: [frame, s]}\n  J: {inertia: [s], J: 1 kg*m^2}\n"
        "  g_1: {gear: [s, frame, l, frame], n: 2}\n  b: {friction: [l, frame], b: 1 N*m*s}\n"
    ),
)
