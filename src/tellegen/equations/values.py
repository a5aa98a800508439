"""Numbers for expressions, with an error that names what is missing."""

from collections.abc import Mapping

from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.expressions import Expression, to_text


def number_of(expression: Expression, values: Mapping[str, float], model: str) -> float:
    """The value of an expression of parameters.

    Raises: EquationError naming the parameters without a value, or the expression that has none.
    """
    missing = sorted(expression.free_symbols - values.keys())
    if missing:
        raise rules.NO_VALUE.error(
            f"{listing(missing)} {'has' if len(missing) == 1 else 'have'} no value",
            where=model,
            fix=f"give a value under 'parameters', such as '{missing[0]}: 1'",
            members=missing,
        )
    try:
        return expression.evaluate(values)
    except (ArithmeticError, ValueError) as reason:
        raise rules.NO_OPERATING_POINT.error(
            f"'{to_text(expression)}' cannot be computed: {reason}",
            where=model,
            fix="check the values of its parameters",
        ) from reason
