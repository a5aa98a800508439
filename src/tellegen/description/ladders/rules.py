"""The rules of POG ladders (codes D45x)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")

_PARAMETERS = "parameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2, b: 1e-3 N*m*s}\n"
_MOTOR = (
    "system: motor\n" + _PARAMETERS + "pog:\n  - section: [V, I]\n  - series: [L:L, R:R]\n  - connect: K\n"
    "  - parallel: [J:J, b:b]\n  - section: [omega, tau]\n"
)

BAD_BLOCK = RULES.rule(
    "D451",
    "block that cannot be read",
    meaning="An entry of the ladder is neither a section, nor a series or parallel block, nor a connection.",
    why="a ladder is a list of 'section: [across, through]', 'series: [...]', 'parallel: [...]' and 'connect: K'",
    example=_MOTOR.replace("- connect: K\n", "- link: K\n"),
    instead=_MOTOR,
)
BAD_LETTER = RULES.rule(
    "D452",
    "letter that stands for no element",
    meaning="The letter before the colon names no storage and no resistive element of a ladder.",
    why="storages are C, L, M, J, E, K (and I, C as bond graphs use them), resistive elements R, G, b, d",
    example=_MOTOR.replace("R:R", "X:R"),
    instead=_MOTOR,
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
    instead=_MOTOR,
)
LOOSE_CONNECTION = RULES.rule(
    "D455",
    "connection or section out of place",
    meaning="A connection block does not stand between two elaboration blocks, or two sections follow each other.",
    why="its matrix takes the output of the block before it and gives the input of the block behind it",
    example=_MOTOR.replace("  - parallel: [J:J, b:b]\n", ""),
    instead=_MOTOR,
)
EMPTY_LADDER = RULES.rule(
    "D456",
    "empty ladder",
    meaning="The ladder has no elaboration block.",
    why="sections and connections store and lose nothing",
    example="system: x\npog:\n  - domain: electrical\n  - section: [V, I]\n",
    instead=_MOTOR,
)
