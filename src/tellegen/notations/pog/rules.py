"""The rules of POG ladders (codes D45x and D46x)."""

from tellegen.core.errors import Rulebook

_PARAMETERS = "parameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2, b: 1e-3 N*m*s}\n"
_MOTOR = (
    "system: motor\n" + _PARAMETERS + "pog:\n  - section: [V, I]\n  - series: [L:L, R:R]\n  - connect: K\n"
    "  - parallel: [J:J, b:b]\n  - section: [omega, tau]\n"
)

RULES = Rulebook("D", _MOTOR)

BAD_BLOCK = RULES.rule(
    "D451",
    "block that cannot be read",
    meaning="An entry of the ladder is neither a section, nor a series or parallel block, nor a connection.",
    why="a ladder is a list of 'section: [across, through]', 'series: [...]', 'parallel: [...]' and 'connect: K'",
    example=_MOTOR.replace("- connect: K\n", "- link: K\n"),
)
BAD_LETTER = RULES.rule(
    "D452",
    "letter that stands for no element",
    meaning="The letter before the colon names no storage and no resistive element of a ladder.",
    why="storages are C, L, M, J, E, K (and I, C as bond graphs use them), resistive elements R, G, b, d",
    example=_MOTOR.replace("R:R", "X:R"),
)
NO_DOMAIN = RULES.rule(
    "D453",
    "blocks without a domain",
    meaning="Nothing says which physical domain the blocks between two connections belong to.",
    why="the units of parameters tell, or the word of a domain: '- domain: electrical'",
    example="system: x\npog:\n  - section: [V, I]\n  - series: [L:L]\n",
    instead="system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n  - series: [L:L]\n",
)
TWO_DOMAINS = RULES.rule(
    "D454",
    "blocks of two domains without a connection",
    meaning="Elements of two physical domains stand in blocks with no connection between them.",
    why="power passes between domains through a connection block",
    example=_MOTOR.replace("  - connect: K\n", ""),
)
LOOSE_CONNECTION = RULES.rule(
    "D455",
    "connection or section out of place",
    meaning="A connection block does not stand between two elaboration blocks, or two sections follow each other.",
    why="its matrix takes the output of the block before it and gives the input of the block behind it",
    example=_MOTOR.replace("  - parallel: [J:J, b:b]\n", ""),
)
EMPTY_LADDER = RULES.rule(
    "D456",
    "empty ladder",
    meaning="The ladder has no elaboration block.",
    why="sections and connections store and lose nothing",
    example="system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n",
)
WRONG_WIDTH = RULES.rule(
    "D461",
    "lanes that do not fit",
    meaning="Blocks between two connections differ in their number of lanes, or a matrix has not the rows and columns of its lanes.",
    why="every lane carries one pair of power variables; K has a column for each lane before it and a row for each lane behind it",
    example=_MOTOR.replace("  - series: [L:L, R:R]\n", "  - series: [[L:L, L:L_2], R:R]\n"),
)
_MOUNT = (
    "system: mass on a mount\nparameters: {m: 2 kg}\npog:\n  - section: [v, F]\n"
    "  - parallel: [m:m, {b: mount, numerator: [3, 5], denominator: [1, 2]}]\n"
)
NOT_POSITIVE_REAL = RULES.rule(
    "D462",
    "transfer function that is not positive real",
    meaning="An elaboration block is given by a transfer function or matrix that no passive element has.",
    why="at every frequency a passive element takes at least as much power as it gives, and it has no pole that grows",
    example=_MOUNT.replace("[3, 5]", "[3, -5]"),
    instead=_MOUNT,
)
NO_REALISATION = RULES.rule(
    "D463",
    "transfer function that cannot be realised",
    meaning="Elements with this transfer function or matrix are not found, though some may exist.",
    why="its coefficients have to be numbers, a matrix must not have too many states, and digits must suffice",
    example=_MOUNT.replace("[3, 5]", "[3, x]"),
    instead=_MOUNT,
)
SECTION_NAME_TAKEN = RULES.rule(
    "D464",
    "section variable named like something else",
    meaning="A variable that only a section has gets the name of a parameter, a signal or a variable of an element.",
    why="it can be read in formulas and results, where a name means one thing",
    example=_MOTOR.replace("  - series: [L:L, R:R]\n", "  - series: [L:L]\n  - section: [R, I]\n  - series: [R:R]\n"),
    instead=_MOTOR.replace("  - series: [L:L, R:R]\n", "  - series: [L:L]\n  - section: [V_r, I]\n  - series: [R:R]\n"),
)
SECTION_NAME_TWICE = RULES.rule(
    "D465",
    "name of two section variables",
    severity="warning",
    meaning="Two sections give one name to variables that differ; the first has it.",
    why="equal names say that the variables are equal, as those of elements in series and in parallel are",
    example=_MOTOR.replace("  - series: [L:L, R:R]\n", "  - series: [L:L]\n  - section: [V, I]\n  - series: [R:R]\n"),
    instead=_MOTOR.replace("  - series: [L:L, R:R]\n", "  - series: [L:L]\n  - section: [V_r, I]\n  - series: [R:R]\n"),
)
