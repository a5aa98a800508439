"""Numbers and expressions with the units that make them readable."""

import re
from collections.abc import Mapping
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from types import MappingProxyType

from tellegen.core.errors import TellegenError
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.description.dimensions import (
    UNKNOWN,
    DimensionError,
    Measure,
    Open,
    measure_of,
    needs_number,
    si_unit,
)
from tellegen.description.model import Parameter
from tellegen.description.signals.blocks import FORMULA
from tellegen.description.signals.values import SignalDefinition
from tellegen.expressions import (
    Add,
    Call,
    Expression,
    Number,
    number,
    postorder,
    rebuild,
    symbol,
    to_text,
    total,
)


def decimal_text(value: int | Fraction) -> str | None:
    """The number as a decimal that is exactly it, or None where there is none of a reasonable length."""
    fraction = Fraction(value)
    try:
        exact = Context(prec=40, traps=[Inexact]).divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    except Inexact:
        return None
    digits = exact.normalize(Context(prec=40))
    exponent = digits.adjusted()
    if -4 <= exponent < 7:
        return f"{digits:f}"
    return f"{digits:e}".replace("e+", "e")


def number_text(value: int | Fraction, unit: str) -> str:
    """A number with a unit; `1 ohm/3` where no decimal is exact."""
    decimal = decimal_text(value)
    if decimal is not None:
        return f"{decimal} {unit}" if unit else decimal
    fraction = Fraction(value)
    if not unit:
        return f"{fraction.numerator}/{fraction.denominator}"
    return f"{fraction.numerator} {unit}/{fraction.denominator}"


class UnitTexts:
    """Expressions as texts whose units agree: `3*d` that was `3 N * d` becomes `3*(1 N)*d`."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        variables: Mapping[str, Dimension],
        signals: Mapping[str, SignalDefinition] = MappingProxyType({}),
    ) -> None:
        self.parameters = parameters
        self.variables = variables
        self.formulas = {n: p.expression for n, p in parameters.items() if p.dimension is None}
        self.formulas |= {n: _own_formula(s) for n, s in signals.items() if s.dimension is None}
        self.used: list[str] = []
        self._measures: dict[str, Measure] = {}

    def text(self, expression: Expression, wanted: Dimension | None, unit: str = "", *, keep: bool = False) -> str:
        """The text of an expression; `keep` means that its dimension must follow from the text alone."""
        if isinstance(expression, Number):
            return self._number(expression, wanted, unit)
        if wanted is not None:
            expression = self.annotated(expression, wanted, keep)
        elif self.measure(expression) is None:  # terms that do not agree: lengths that were numbers
            expression = self.mended(expression)
        return re.sub(r"\?([0-9]+)", lambda match: f"(1 {self.used[int(match[1])]})", to_text(expression))

    def _number(self, expression: Number, wanted: Dimension | None, unit: str) -> str:
        if wanted is None:
            return number_text(expression.rational, "")
        words = unit or si_unit(wanted)
        try:
            found = parse_unit(words)
        except TellegenError:
            return number_text(expression.rational, "")
        shown = number_text((expression.rational - found.offset) / found.factor, words)
        if found.dimension == wanted and "/" not in shown.replace(words, ""):
            return shown
        return number_text(expression.rational, si_unit(wanted))

    def measure(self, expression: Expression) -> Measure | None:
        """The dimension as a reader would find it, or None where terms do not agree."""
        try:
            return measure_of(expression, self._known)
        except DimensionError:
            return None

    def _known(self, name: str) -> Measure:
        if name.startswith("?"):
            return parse_unit(self.used[int(name[1:])]).dimension
        if name in self.formulas:
            return self._found(name)
        parameter = self.parameters.get(name)
        known = self.variables.get(name) if parameter is None else parameter.dimension
        return UNKNOWN if known is None else known

    def _found(self, name: str) -> Measure:
        """What a reader finds for a name whose unit nobody said: that of its formula as it is written."""
        if name not in self._measures:
            self._measures[name] = UNKNOWN  # of a name that its own formula reads
            formula = self.formulas[name]
            if formula is not None:
                self._measures[name] = self.measure(formula) or self.measure(self.mended(formula)) or UNKNOWN
        return self._measures[name]

    def annotated(self, expression: Expression, wanted: Dimension, keep: bool) -> Expression:
        """The expression times units where a reader would otherwise find another dimension."""
        found = self.measure(expression)
        if found == wanted or found is UNKNOWN or (isinstance(found, Open) and not keep):
            return expression
        if isinstance(expression, Add):
            terms = [self.annotated(number(c) * term, wanted, False) for term, c in expression.terms]
            return total([*terms, number(expression.constant)])
        if found is None:
            expression = self.mended(expression)
            found = self.measure(expression)
        if found is None or found == wanted or found is UNKNOWN:
            return expression
        return expression * self.unit(wanted if isinstance(found, Open) else wanted.over(found))

    def mended(self, expression: Expression) -> Expression:
        """The expression with numbers as arguments of functions, and with sums of like terms inside products."""
        new: dict[Expression, Expression] = {}
        for node in postorder(expression):
            args = [new[arg] for arg in node.args]
            if isinstance(node, Call) and needs_number(node.name):
                args = [self.annotated(arg, DIMENSIONLESS, False) for arg in args]
            made = rebuild(node, tuple(args)) if args else node
            if isinstance(made, Add) and self.measure(made) is None:
                first = next(m for term, _ in made.terms if isinstance(m := self.measure(term), tuple))
                made = self.annotated(made, first, False)
            new[node] = made
        return new[expression]

    def unit(self, dimension: Dimension) -> Expression:
        """A symbol that stands for one of a unit until the text is written."""
        words = si_unit(dimension)
        if "^(" in words:  # no file can say a root of a unit
            return number(1)
        self.used.append(words)
        return symbol(f"?{len(self.used) - 1}")


def _own_formula(definition: SignalDefinition) -> Expression | None:
    """The formula of a signal that is nothing else."""
    formula = definition.settings.get(FORMULA) if definition.block == FORMULA else None
    return formula if isinstance(formula, Expression) else None
