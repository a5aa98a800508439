"""Values that a user gives in Python or on the command line: numbers, texts with units, quantities of pint."""

import math
from collections.abc import Mapping
from typing import Any

from tellegen.core.errors import DescriptionError, Place, TellegenError
from tellegen.core.units import DIMENSIONLESS, Dimension
from tellegen.experiments import rules
from tellegen.expressions import Expression, number
from tellegen.model.dimensions import DimensionError, NoDimension, dimension_in_words, measure_of, si_unit
from tellegen.notations.quantities import read_quantity
from tellegen.notations.scales import is_on_scale, not_difference

Quantity = float | int | str | Any
"""A number in SI units, a text such as `4.7 mH`, or a quantity of pint."""

SECOND = Dimension(s=1)


def expression_of(value: Quantity, wanted: Dimension | None, subject: str) -> Expression:
    """A value as an expression in SI units, over the names of parameters where it is a text.

    Raises: SimulationError (S303) when it is not finite or of another unit; DescriptionError for a text that cannot be read.
    """
    if isinstance(value, str):
        return _text(value, wanted, subject)
    # By what it can do, so that pint is not imported for those who have none.
    if hasattr(value, "magnitude") and hasattr(value, "to"):
        return number(_finite(_from_pint(value, wanted, subject), subject))
    try:
        return number(_finite(float(value), subject))
    except (TypeError, ValueError):
        raise _unusable(subject, f"is {value!r}") from None


def value_of(
    value: Quantity, wanted: Dimension | None, subject: str, names: Mapping[str, float] | None = None
) -> float:
    """A value as a number in SI units; `names` are the parameters that a text may use."""
    expression = expression_of(value, wanted, subject)
    known = names or {}
    missing = sorted(expression.free_symbols - known.keys())
    if missing:
        raise _unusable(subject, f"uses '{missing[0]}', which has no value")
    return computed(expression, known, subject)


def refuse_scale(value: object, subject: str) -> None:
    """Refuse a value on a temperature scale for a temperature that counts from the ambient.

    Raises: DescriptionError (D492).
    """
    # A quantity of pint tells its unit in full, `degree_Celsius`, and as a sign.
    shown = f"{value:~P}" if hasattr(value, "magnitude") else str(value)
    if is_on_scale(shown):
        raise DescriptionError(not_difference(f"{subject}, {shown},", None))


def computed(expression: Expression, names: Mapping[str, float], subject: str) -> float:
    """The number that an expression gives with values for all its names.

    Raises: SimulationError (S303) where that is no finite number, such as a logarithm of zero.
    """
    try:
        return _finite(expression.evaluate(names), subject)
    except (ArithmeticError, ValueError) as problem:
        raise _unusable(subject, f"cannot be computed: {problem}") from None


def _text(text: str, wanted: Dimension | None, subject: str) -> Expression:
    place = Place(f"<{subject}>", 1, 1, text)
    reading = read_quantity(text, lambda: place)
    found: Dimension | NoDimension | None = reading.dimension
    if reading.marked is not None:
        try:
            found = measure_of(reading.marked, lambda name: NoDimension.UNKNOWN)
        except DimensionError as problem:
            raise _unusable(subject, problem.what) from None
    # A plain number counts in SI units.
    if wanted is not None and isinstance(found, Dimension) and found not in (wanted, DIMENSIONLESS):
        raise _unusable(subject, f"is in {dimension_in_words(found)}, not in {dimension_in_words(wanted)}")
    return reading.expression


def _from_pint(value: Any, wanted: Dimension | None, subject: str) -> float:
    """The magnitude in SI units. Errors of pint differ between its versions, so any of them is the same answer."""
    try:
        if wanted is None:
            return float(value.to_base_units().magnitude)
        return float(value.to(si_unit(wanted).replace("^", "**")).magnitude)
    except Exception:
        raise _unusable(subject, f"is {value}, not in {dimension_in_words(wanted or DIMENSIONLESS)}") from None


def _finite(value: float, subject: str) -> float:
    if not math.isfinite(value):
        raise _unusable(subject, f"is {value}")
    return value


def _unusable(subject: str, what: str) -> TellegenError:
    return rules.BAD_SETTING.error(
        f"{subject} {what}", fix="give a finite number, or a text with a unit such as '4.7 mH'"
    )
