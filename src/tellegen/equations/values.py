"""Numbers for expressions, with an error that names what is missing."""

from collections.abc import Iterable, Mapping

from tellegen.core.names import listing
from tellegen.equations import rules
from tellegen.expressions import Expression, to_text


def number_of(expression: Expression, values: Mapping[str, float], model: str) -> float:
    """The value of an expression of parameters.

    Raises: EquationError naming the parameters without a value, or the expression that has none.
    """
    refuse_missing([name for name in expression.free_symbols if name not in values], model)
    try:
        return expression.evaluate(values)
    except (ArithmeticError, ValueError) as reason:
        raise rules.NO_OPERATING_POINT.error(
            f"'{to_text(expression)}' cannot be computed: {reason}",
            where=model,
            fix="check the values of its parameters",
        ) from reason


def refuse_missing(missing: Iterable[str], model: str) -> None:
    """Raises: EquationError naming parameters without a value, if there are any."""
    names = sorted(set(missing))
    if names:
        raise rules.NO_VALUE.error(
            f"{listing(names)} {'has' if len(names) == 1 else 'have'} no value",
            where=model,
            fix=f"give a value under 'parameters', such as '{names[0]}: 1'",
            members=names,
        )
