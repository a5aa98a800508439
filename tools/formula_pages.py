"""The pages of formulas and of units, made from the tables that read them."""

from collections.abc import Iterable, Iterator

from tellegen.core.units import describe, is_unit, parse_unit, unit_words
from tellegen.expressions import call, symbol, to_text
from tellegen.expressions.functions import ALIASES, FUNCTIONS, Function

VALUES = {
    "sin": "sine of an angle",
    "cos": "cosine of an angle",
    "tan": "tangent of an angle",
    "asin": "angle whose sine is x, from -pi/2 to pi/2",
    "acos": "angle whose cosine is x, from 0 to pi",
    "atan": "angle whose tangent is x, from -pi/2 to pi/2",
    "sinh": "hyperbolic sine",
    "cosh": "hyperbolic cosine",
    "tanh": "hyperbolic tangent: a smooth sign",
    "exp": "e to the power of x",
    "log": "natural logarithm",
    "sqrt": "square root; its unit is the root of that of x",
    "abs": "x without its sign",
    "sign": "-1, 0 or 1",
    "floor": "the whole number at or below x",
    "ceil": "the whole number at or above x",
    "atan2": "angle of the point (y, x), from -pi to pi",
    "hypot": "length of the vector (x, y)",
    "min": "the smallest of two or more",
    "max": "the largest of two or more",
    "if": "y where the condition holds, else z; only the one that counts is evaluated",
}
"""What each function gives; a function without an entry stops the making of the page."""

ARGUMENTS = {
    "if": ("condition", "y", "z"),
    "atan2": ("y", "x"),
    "hypot": ("x", "y"),
    "min": ("x", "y"),
    "max": ("x", "y"),
}


def formulas_page(made_from: str) -> str:
    """How a formula is written, and every function that it may call."""
    parts = [
        made_from,
        "# Formulas",
        "Values, laws, moduli, signals and inputs are formulas: numbers with units, names and functions, joined by `+ - * / ^`\n"
        "and parentheses. `^` binds most, also before a sign: `-x^2` is `-(x^2)`. `2 mH` is a number with its unit. `pi` is the\n"
        "only constant; all other names are parameters, variables, displacements and signals of the model, and `t` is the time.\n"
        "A formula is read by Tellegen's own grammar: nothing in it is ever run.",
        "Conditions compare (`<`, `<=`, `>`, `>=`, `==`, `!=`) and are joined by `and`, `or`, `not`. They stand in `if` alone.",
        "Units are checked: only quantities of one kind are added or compared, and sines, exponentials and logarithms are taken\n"
        "of numbers. [Units](units.md) tells which there are.",
        "## Functions",
        _table(("function", "gives", "derivative by x"), map(_function, FUNCTIONS.values())),
        f"{', '.join(f'`{a}` is another name of `{b}`' for a, b in ALIASES.items())}. Functions of time, such as `step` and\n"
        "`ramp`, are [shapes](signals.md#shapes).",
        "## A law by cases",
        "A law may have another formula on each side of a condition. The branch that does not count need not have a value:\n"
        "a root of a negative number does no harm there.",
        f"```yaml valve.yaml\n{CHECK_VALVE}```",
        "```console\n$ tellegen derive valve.yaml\n...\n```",
    ]
    return "\n\n".join(parts) + "\n"


CHECK_VALVE = """\
system: Tank behind a check valve
parameters: {Q_n: 2 L/min, P_n: 1 bar, C: 1e-9 m^3/Pa}
network:
  P:     {pressure source: [a]}
  valve: {leak: [a, b], law: "Q = if(P > 0, Q_n*sqrt(P/P_n), 0)"}
  C:     {accumulator: [b]}
experiment: {until: 1 s, inputs: {P: "1 bar*sin(10 rad/s*t)"}}
"""


def _function(row: Function) -> tuple[str, ...]:
    names = ARGUMENTS.get(row.name, ("x",))
    usage = f"`{row.name}({', '.join(names)}{', ...' if row.most is None else ''})`"
    return usage, VALUES[row.name], _slope(row, names)


def _slope(row: Function, names: Iterable[str]) -> str:
    if row.name == "if":
        return "that of the branch"
    slope = to_text(call(row.name, *map(symbol, names)).derivative("x"))
    return f"`{slope}`"


def units_page(made_from: str) -> str:
    """Every unit word, with its value in SI."""
    parts = [
        made_from,
        "# Units",
        "A value carries its unit behind a space: `4.7 mH`, `1500 rpm`, `2e-6 N*m*s^2`. Units are joined by `*`, `/`, `^` and\n"
        "parentheses; `m^3/(Pa*s)` is one. A bare number is in SI. Inside, everything is SI; angles are numbers, so `rad` may\n"
        "be written or left out.",
        "Every value is checked against the quantity it stands for: `R: 2 mH` is an error, and so is a sum of volts and amperes.\n"
        "`1500 rpm` for an angular velocity is 157.08 rad/s.",
        f"```yaml wheel.yaml\n{WHEEL}```",
        "```console\n$ tellegen simulate wheel.yaml --unit omega=rad/s\n...\n  omega  157.08  rad/s\n...\n```",
        "Results are shown in other units where asked, by `units` in the experiment, by `--unit omega=rpm`, or by\n"
        '`run.in_units(omega="rpm")`. That changes what is printed, never a value.',
        "## Words",
        _table(("unit", "in SI", "with prefixes"), _units()),
        "## Prefixes",
        ", ".join(f"`{p}`" for p in PREFIXES)
        + ". `u` and `µ` are micro; `kohm`, `uF`, `mrad` and `MPa` are words with a prefix.",
        "## Temperatures",
        "`20 degC` is 293.15 K. Inside a product only `K` may stand: `W/K`, not `W/degC`, because a difference of 20 degC is 20 K.",
    ]
    return "\n\n".join(parts) + "\n"


WHEEL = """\
system: Flywheel that turns
network:
  tau: {torque source: [a]}
  J:   {inertia: [a], J: 41e4 kg*mm^2, angular velocity: omega, initial: 1500 rpm}
experiment: {until: 10 s, inputs: {tau: 0 N*m}, units: {omega: rpm}}
"""
PREFIXES = ("Y", "Z", "E", "P", "T", "G", "M", "k", "h", "da", "d", "c", "m", "u", "n", "p", "f", "a", "z", "y")


def _units() -> Iterator[tuple[str, ...]]:
    for word in dict.fromkeys(unit_words()):
        unit = parse_unit(word)
        measure = describe(unit.dimension)
        factor = "" if unit.factor == 1 else f"{float(unit.factor):.10g}"
        value = measure if not factor else f"{factor} {measure}".removesuffix(" 1")
        shift = f", zero at {float(unit.offset):g} K" if unit.offset else ""
        yield f"`{word}`", value.replace("*", "\\*") + shift, "yes" if is_unit(f"k{word}") else ""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), ["---"] * len(list(head)), *map(list, rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
