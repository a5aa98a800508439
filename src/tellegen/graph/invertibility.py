"""Whether a static law can be asked backwards, decided by probing it with numbers."""

import math
from collections.abc import Mapping
from itertools import pairwise

from tellegen.expressions import Expression
from tellegen.graph.laws import ARGUMENT

_PROBES = [sign * 10.0**k for sign, ks in ((-1, range(3, -5, -1)), (1, range(-4, 4))) for k in ks]
_JUMP = 1e-9


def is_invertible(expression: Expression, parameters: Mapping[str, Expression | None]) -> bool:
    """Whether the law is continuous at zero and strictly monotonic where probed.

    Coulomb friction jumps and a diode saturates: neither can be solved for its argument. A probe is enough here because a wrong
    yes only turns the law into an algebraic equation that Newton's method solves, and a wrong no only fixes its causality.
    """
    numbers = _numbers(expression.free_symbols - {ARGUMENT}, parameters)
    try:
        values = [expression.evaluate(numbers | {ARGUMENT: x}) for x in _PROBES]
        left, right = (expression.evaluate(numbers | {ARGUMENT: x}) for x in (-_JUMP, _JUMP))
    except (ArithmeticError, ValueError):
        return False
    steps = [b - a for a, b in pairwise(values)]
    monotonic = all(s > 0 for s in steps) or all(s < 0 for s in steps)
    scale = max(map(abs, values))
    # A square root rises by 6e-5 over the jump interval; a jump by a fixed share of the scale.
    return monotonic and math.isfinite(scale) and abs(right - left) < 1e-3 * scale


def _numbers(names: frozenset[str], parameters: Mapping[str, Expression | None]) -> dict[str, float]:
    """Values of the parameters in a law; one where a value is missing."""
    found: dict[str, float] = {}

    def value(name: str) -> float:
        if name not in found:
            expression = parameters.get(name)
            found[name] = (
                1.0 if expression is None else expression.evaluate({n: value(n) for n in expression.free_symbols})
            )
        return found[name]

    try:
        return {name: value(name) for name in names}
    except (ArithmeticError, ValueError):
        return dict.fromkeys(names, 1.0)
