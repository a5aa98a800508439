"""Names, numbers, formulas and units as Modelica writes them (Modelica Language Specification 3.6, chapters 2, 3 and 19)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import final

import numpy as np

from tellegen.compiler.context import monotone_slopes
from tellegen.expressions import Expression, postorder, printing
from tellegen.expressions.nodes import Constant, Logic, Rational, Relation
from tellegen.expressions.printing import ATOM, SUM, PrintedPiece
from tellegen.graph.signals import Table

_KEYWORDS = (
    "algorithm and annotation block break class connect connector constant constrainedby der discrete each else elseif elsewhen "
    "encapsulated end enumeration equation expandable extends external false final flow for function if import impure in initial "
    "inner input loop model not operator or outer output package parameter partial protected public pure record redeclare "
    "replaceable return stream then true type when while within"
)
_CALLED = (
    "time abs sign sqrt sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 floor ceil integer mod rem div min max sum "
    "product pre edge change reinit sample delay smooth noEvent terminal initial String Real Integer Boolean assert terminate size"
)
RESERVED = frozenset(f"{_KEYWORDS} {_CALLED}".split())
"""What cannot name a variable: keywords, and functions that formulas call."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def modelica_name(name: str) -> str:
    """A name, in quotes where Modelica would read something else: `'crank.omega'`, `'x[2]'`."""
    if _PLAIN.fullmatch(name) and name not in RESERVED:
        return name
    # In quotes all but a quote and a backslash may stand.
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


def modelica_text(text: str) -> str:
    """A text in quotes."""
    plain = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def modelica_number(value: float) -> str:
    """A number; negative ones in parentheses, for `a + -b` is no formula there."""
    text = repr(float(value)).replace(".0e", "e")
    text = text.removesuffix(".0") if abs(value) < 1e9 else text
    return f"({text})" if text.startswith("-") else text


def modelica_unit(unit: str) -> str:
    """A unit as the SI brochure and Modelica have it: a dot multiplies, exponents follow at once, `Ohm` is written so."""
    found = re.sub(r"\bohm\b", "Ohm", unit).replace("*", ".").replace("^", "")
    # A second quotient needs parentheses, and none may stand round an exponent.
    first, *others = found.split("/")
    if len(others) > 1:
        found = f"{first}/({'.'.join(part.strip('()') for part in others)})"
    return found


def with_unit(unit: str, **more: str) -> str:
    """What stands behind a name in a declaration: its unit, start and the like; nothing where there is none."""
    settings = [f'unit="{modelica_unit(unit)}"'] if unit else []
    settings += [f"{word}={text}" for word, text in more.items()]
    return f"({', '.join(settings)})" if settings else ""


@final
class FormulaPrinter(printing.AbstractPrinter):
    """Formulas over names that are written as `names` says; others by themselves."""

    words = {"and": "and", "or": "or", "not": "not ", "true": "true", "false": "false"}  # noqa: RUF012

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def name(self, name: str) -> str:
        """The name as it is called where the formula stands."""
        return self.names.get(name) or modelica_name(name)

    def enclosed_text(self, expression: Expression) -> str:
        """A formula that may stand before any sign."""
        pieces: printing.Pieces = {}
        for node in postorder(expression):
            pieces[node] = self.piece(node, pieces)
        return self.enclosed(pieces[expression], ATOM)

    def number(self, q: Rational) -> tuple[str, str]:
        """A positive number."""
        # Whole numbers there have 32 bits; a double's shortest digits say the rest.
        if q.denominator == 1 and q < 2**31:
            return str(q.numerator), ""
        if q.denominator < 1000 and q.numerator < 1000:
            return str(q.numerator), str(q.denominator)
        return repr(float(q)), ""

    def constant(self, node: Constant) -> str:
        """By its digits."""
        return repr(node.value)

    def call(self, name: str, args: Sequence[PrintedPiece]) -> PrintedPiece:
        """A function; some have other words."""
        size = 1 + sum(arg.size for arg in args)
        if name == "if":
            condition, yes, no = args
            return PrintedPiece(f"(if {condition.text} then {yes.text} else {no.text})", ATOM, size)
        if name in ("min", "max") and len(args) > 2:
            return self.call(name, [args[0], self.call(name, args[1:])])
        if name == "hypot":
            return PrintedPiece(f"sqrt({'+'.join(f'({arg.text})^2' for arg in args)})", ATOM, size)
        return printing.listed(name, args)

    def condition(self, node: Expression, pieces: printing.Pieces) -> PrintedPiece:
        """A comparison, or comparisons joined."""
        # Real numbers are compared for equality in functions only.
        if isinstance(node, Relation) and node.operator in ("==", "!="):
            left, right = (self.enclosed(pieces[arg], SUM) for arg in node.args)
            joined = f"{left} >= {right} and {left} <= {right}"
            return PrintedPiece(f"({joined})" if node.operator == "==" else f"(not ({joined}))", ATOM, 2)
        made = super().condition(node, pieces)
        return PrintedPiece(f"({made.text})", ATOM, made.size) if isinstance(node, Logic) and node.args else made


def table_text(x: str, table: Table) -> str:
    """A table as one choice among the pieces between its points; beyond them the last value holds."""
    points, values = table.points, table.values
    slopes = monotone_slopes(np.array(points), np.array(values)).tolist() if table.interpolation == "cubic" else []
    cases = [f"if {x} < {modelica_number(points[0])} then {modelica_number(values[0])}"]
    for k in range(len(points) - 1):
        h, rise = points[k + 1] - points[k], values[k + 1] - values[k]
        coefficients = [values[k]]
        if table.interpolation == "linear" and h > 0.0:
            coefficients += [rise / h]
        elif slopes and h > 0.0:
            one, two = slopes[k : k + 2]
            coefficients += [one, (3 * rise / h - 2 * one - two) / h, (one + two - 2 * rise / h) / h**2]
        value = modelica_number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            further = value if len(value) < 2 or " " not in value else f"({value})"
            value = f"{modelica_number(c)} + ({x} - {modelica_number(points[k])})*{further}"
        cases.append(f"elseif {x} < {modelica_number(points[k + 1])} then {value}")
    return f"({' '.join(cases)} else {modelica_number(values[-1])})"


def declared(lines: Iterable[str], indent: str = "    ") -> list[str]:
    """Lines within a class."""
    return [f"{indent}{line}" for line in lines]
