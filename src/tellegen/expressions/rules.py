"""The rules that a formula must keep."""

from tellegen.core.errors import DescriptionError, Rulebook

RULES = Rulebook("D")


# Every example is a whole model, because the tests run it.
def _file(resistance: str) -> str:
    return f"""\
system: Coil on a battery
parameters:
  L: 2 mH
  R: {resistance}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b]}}
  L: {{inductor: [b, gnd]}}
"""


SYNTAX = RULES.rule(
    "D001",
    "a formula cannot be read",
    meaning="""The text stops making sense as a formula at the column given: an operator without its operand, a bracket
that is not closed, a character that has no meaning.""",
    why="a formula is numbers, names and functions joined by + - * / ^ and parentheses; nothing else is read or run",
    example=_file("2*(3 ohm + 1 ohm"),
    instead=_file("2*(3 ohm + 1 ohm)"),
)
UNKNOWN_FUNCTION = RULES.rule(
    "D002",
    "a formula calls an unknown function",
    meaning="A name before a parenthesis is none of the functions that formulas may call.",
    why="only functions whose derivative and whose form in C are known may stand in a formula",
    example=_file("sqr(4)*1 ohm"),
    instead=_file("sqrt(4)*1 ohm"),
)
TOO_LARGE = RULES.rule(
    "D003",
    "a formula is too long or too deep",
    meaning="The text has more than 10 000 characters, or brackets and exponents are nested more than 100 deep.",
    why="a file from anywhere must be read in bounded time and memory",
    example=_file("(" * 101 + "1 ohm" + ")" * 101),
    instead=_file("1 ohm"),
)
OUT_OF_RANGE = RULES.rule(
    "D004",
    "a number is out of range",
    meaning="""A number has a power of ten beyond 400, or the numbers of the formula give a result of more than
4000 digits, such as 9^9^9^9.""",
    why="numbers are kept exactly, so an immense one would fill the memory, and no machine number could hold it",
    example=_file("1e999 ohm"),
    instead=_file("1e9 ohm"),
)
ARGUMENTS = RULES.rule(
    "D005",
    "a function has the wrong number of arguments",
    meaning="A function of the table is called with more or fewer arguments than it takes.",
    why="sqrt has one argument, atan2 has two; guessing the missing ones would hide a mistake",
    example=_file("sqrt(4, 2)*1 ohm"),
    instead=_file("sqrt(4)*1 ohm"),
)
CONDITION = RULES.rule(
    "D006",
    "a condition and a number are mixed up",
    meaning="A comparison stands where a number is needed, or a number where `if` needs a comparison.",
    why="a comparison is true or false, nothing to calculate with; `if(condition, a, b)` chooses between two values",
    example=_file("if(2, 3 ohm, 4 ohm)"),
    instead=_file("if(2 > 1, 3 ohm, 4 ohm)"),
)
UNIT = RULES.rule(
    "D007",
    "a unit stands where none can be",
    meaning="A number is followed by a unit in a place where only a plain number has a meaning, such as an index.",
    why="an index counts, it does not measure",
    example='system: x\nnetwork:\n  V: {voltage source: ["n[1 V]", gnd]}\n  R: {resistor: ["n[1 V]", gnd], R: 1 ohm}\n',
    instead='system: x\nnetwork:\n  V: {voltage source: ["n[1]", gnd]}\n  R: {resistor: ["n[1]", gnd], R: 1 ohm}\n',
)
INDEX = RULES.rule(
    "D008",
    "an index is not a whole number",
    meaning="""What stands in square brackets is not zero or a positive whole number, or uses a name that is not the
counter of a repetition.""",
    why="x[k] is element k of a vector, so k must be known when the file is read",
    example=_file("2*r[k]"),
    instead=_file("2 ohm"),
)
DIVISION = RULES.rule(
    "D009",
    "a formula divides by zero",
    meaning="The divisor is exactly zero whatever the parameters are.",
    why="nothing physical has the value 1/0; an ideal element is described by leaving the parasitic one out",
    example=_file("1 ohm/0"),
    instead=_file("1 ohm"),
)
WITHOUT_VALUE = RULES.rule(
    "D010",
    "a formula has no value",
    meaning="A formula is to be computed with, and with the values that it gets it divides by zero, is too large or is no real number.",
    why="nothing that follows from it would have a value either",
)


class NoValueError(DescriptionError, ArithmeticError):
    """A formula that has no value: for who works with numbers an error of arithmetic, for who asked for them a finding (D010)."""

    def __init__(self, reason: str) -> None:
        what = f"a formula has no value: {reason}"
        super().__init__(WITHOUT_VALUE.finding(what, fix="give values with which it has one"))
        self.args = (reason,)


class DivisionByZeroError(NoValueError, ZeroDivisionError):
    """A division by zero."""


class TooLargeError(NoValueError, OverflowError):
    """A number beyond what a computer holds."""


class NoRealValueError(NoValueError, ValueError):
    """A root or a function of a number that it has no real value for."""
