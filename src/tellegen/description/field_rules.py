"""The rules of fields of several ports (codes D47x)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")

_COILS = (
    "system: coils\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [b], R: 1 ohm}\n"
    "  M: {inductor field: [a, gnd, b, gnd], matrix: [[2 H, 1 H], [1 H, %s]]}\n"
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
