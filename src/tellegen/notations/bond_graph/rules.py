"""The rules of bond graphs (codes D4xx)."""

from tellegen.core.errors import Rulebook

_MOTOR = (
    "parameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2}\nbond graph:\n"
    "  - Se:V -> 1:i -> GY:K -> 1:w -> I:J\n  - i -> I:L\n  - i -> R:R\n"
)

RULES = Rulebook("D", "system: x\n" + _MOTOR)

BAD_BOND = RULES.rule(
    "D401",
    "bond that cannot be read",
    meaning="A line of a bond graph is not a chain of items joined by '->'.",
    why="each line is one or more bonds: 'Se:V -> 1:i', 'i -> R:R_a'; the arrow points where power counts as positive",
    example="system: x\n" + _MOTOR.replace("  - i -> R:R\n", "  - i = R:R\n"),
)
UNKNOWN_ITEM = RULES.rule(
    "D402",
    "item without a kind",
    meaning="A name is used in a bond, but no line says what it is.",
    why="the first mention of an item carries its kind: '1:i', 'R:R_a'",
    example="system: x\n" + _MOTOR.replace("- i -> R:R\n", "- i -> R\n"),
)
UNKNOWN_ITEM_KIND = RULES.rule(
    "D403",
    "kind that no bond graph has",
    meaning="The letters before the colon name no junction, one-port or two-port.",
    why="the kinds are 0, 1, Se, Sf, C, I, R, TF and GY, with M before those that move, IC, De, Df, rSe and rSf",
    example="system: x\n" + _MOTOR.replace("R:R\n", "S:R\n"),
)
ITEM_TWICE = RULES.rule(
    "D404",
    "item with two kinds",
    meaning="A name is given two different kinds.",
    why="one name stands for one item",
    example="system: x\n" + _MOTOR.replace("R:R\n", "R:R\n  - 0:i -> R:R_2\n"),
)
WRONG_BONDS = RULES.rule(
    "D405",
    "item with too few or too many bonds",
    meaning="A one-port has not exactly one bond for each component, a two-port not one at each port, or a junction fewer than two.",
    why="a one-port exchanges power at one place, a two-port passes it on, a junction shares it out",
    example="system: x\n" + _MOTOR.replace("  - i -> R:R\n", "  - i -> R:R\n  - w -> R\n"),
)
NO_DOMAIN = RULES.rule(
    "D406",
    "bond without a domain",
    meaning="Nothing says which physical domain a junction or an element belongs to.",
    why="effort and flow become voltage and current, or force and velocity, by the units of parameters or by the word of a domain",
    example="system: x\nbond graph:\n  - Se:V -> 1:i\n  - i -> I:L\n",
    instead="system: x\nbond graph:\n  - Se:V -> 1:i (electrical)\n  - i -> I:L\n",
)
TWO_DOMAINS = RULES.rule(
    "D407",
    "junction of two domains",
    meaning="Elements of two physical domains are bonded to each other without a two-port between them.",
    why="a force and a voltage cannot share a junction: power passes between domains through TF or GY",
    example="system: x\n" + _MOTOR.replace("- i -> I:L\n", "- i -> I:J_2\n").replace("L: 2 mH", "J_2: 1 kg*m^2"),
)
RING_OF_JUNCTIONS = RULES.rule(
    "D408",
    "ring of equal junctions",
    meaning="Junctions of the same kind are bonded in a ring, directly or through junctions that hold nothing else.",
    why="they are one junction, and the bond that closes the ring carries an amount of power that nothing determines",
    example="system: x\n" + _MOTOR.replace("- i -> I:L\n", "- i -> 1:k -> I:L\n  - k -> 1:n -> i\n"),
)

_COILS = (
    "bond graph:\n  - Se:V_1 -> i[1]\n  - Se:V_2 -> i[2]\n  - 1[2]:i (electrical) -> I:coils\n  - i -> R:R\n"
    "elements: {coils: {matrix: [[3 mH, 1 mH], [1 mH, 2 mH]]}}\n"
)
WRONG_SIZE = RULES.rule(
    "D409",
    "bond of two sizes",
    meaning="A vector bond joins items with different numbers of components, or a component is named that is not there.",
    why="a bond of size n stands for n bonds, one for each component of the items at its ends",
    example="system: x\nparameters: {R: 1 ohm}\n" + _COILS.replace("R:R", "R[3]:R"),
    instead="system: x\nparameters: {R: 1 ohm}\n" + _COILS,
)
DISTURBING_DETECTOR = RULES.rule(
    "D410",
    "detector that would disturb",
    meaning="A detector of effort is not on a 0-junction, or a detector of flow not on a 1-junction.",
    why="a detector takes no power: De reads an effort without drawing flow, which only a 0-junction allows, Df the reverse",
    example="system: x\n" + _MOTOR + "  - i -> De:v\n",
    instead="system: x\n" + _MOTOR + "  - i -> Df:v\n",
)
BAD_SIGNAL_BOND = RULES.rule(
    "D411",
    "signal bond that cannot be read",
    meaning="A line with '=>' does not lead a signal to a source that follows one.",
    why="'=>' carries a signal and no power: from a detector or an expression to MSe or MSf",
    example="system: x\n" + _MOTOR + "  - w -> Df:speed\n  - speed => R\n",
    instead="system: x\n" + _MOTOR.replace("Se:V", "MSe:V") + "  - w -> Df:speed\n  - speed => -2 V*s => V\n",
)
BAD_BOND_NUMBER = RULES.rule(
    "D413",
    "number that a bond cannot have",
    meaning="Two bonds of a bond graph have one number, or a number is not between 1 and 9999.",
    why="a number tells one bond from all others, in figures and in the reasons for strokes",
    example="system: x\n" + _MOTOR.replace("i -> I:L", "i -2-> I:L").replace("i -> R:R", "i -2-> R:R"),
    instead="system: x\n" + _MOTOR.replace("i -> I:L", "i -2-> I:L").replace("i -> R:R", "i -3-> R:R"),
)
NO_SUCH_ELEMENT = RULES.rule(
    "D412",
    "element that a domain does not have",
    meaning="A one-port of a bond graph stands in a domain without such an element, such as I in the thermal one.",
    why="nothing keeps the integral of a temperature or of a magnetomotive force, and what conducts heat loses no power",
    example="system: x\nbond graph:\n  - Se:T -> 1:q (heat) -> I:L\n  - q -> R:R\n",
    instead="system: x\nbond graph:\n  - Se:T -> 1:q (heat) -> C:L\n  - q -> R:R\n",
)
