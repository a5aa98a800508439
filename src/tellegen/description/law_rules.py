"""The rules of laws, and of fields whose laws must conserve energy."""

from tellegen.core.errors import Rulebook
from tellegen.description.rule_examples import charging, ladder, oscillator

RULES = Rulebook("D")

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
NOT_CONSERVATIVE = RULES.rule(
    "D166",
    "a field that is not conservative",
    meaning="The matrix of a field of storages is not symmetric.",
    why="the energy of two coupled storages cannot depend on the order in which they were filled",
    example=(
        "system: coils\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [b], R: 1 ohm}\n"
        "  M: {inductor field: [a, gnd, b, gnd], matrix: [[2 H, 1 H], [0.5 H, 1 H]]}\n"
    ),
    instead=(
        "system: coils\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [b], R: 1 ohm}\n"
        "  M: {inductor field: [a, gnd, b, gnd], matrix: [[2 H, 1 H], [1 H, 1 H]]}\n"
    ),
)
