"""The dimension of an expression: units must agree where quantities are added, compared or put into a function.

While a text is read, a unit stands in the expression as a mark, a symbol that no user can write (`@` and the dimension). The walk
below finds the dimension from the marks and from the names that are known; then the marks are replaced by 1.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from tellegen.core.units import DIMENSIONLESS, Dimension, describe
from tellegen.expressions import (
    Add,
    Call,
    Constant,
    Expression,
    Mul,
    Number,
    Pow,
    Relation,
    Symbol,
    number,
    postorder,
    symbol,
    total,
)


class NoDimension(Enum):
    """What has no dimension of its own."""

    NUMBER = "a bare number: it fits any unit, and multiplies without changing one"
    UNKNOWN = "something whose unit nobody said"


Measure = Dimension | NoDimension
"""What is known about the unit of an expression."""

NUMBER, UNKNOWN = NoDimension.NUMBER, NoDimension.UNKNOWN

_LIKE = frozenset({"abs", "min", "max", "hypot", "floor", "ceil"})
"""Functions that give a quantity of the same kind as their arguments."""

_OF_LIKE = frozenset({"atan2"})
"""Functions of quantities of one kind that give a number."""

# The sign of a length is a number: to ask on which side of zero it is needs no unit.
_OF_ANYTHING = frozenset({"sign"})


class DimensionError(Exception):
    """Quantities that do not go together: `mixed` for sums and comparisons, else a function or an exponent."""

    def __init__(self, what: str, *, mixed: bool) -> None:
        super().__init__(what)
        self.what = what
        self.mixed = mixed


@lru_cache(maxsize=1024)
def unit_mark(dimension: Dimension) -> Symbol:
    """The symbol that stands for the SI unit of a dimension."""
    made = symbol("@" + "_".join(map(str, dimension)))
    _MARKS[made.name] = dimension
    return made


_MARKS: dict[str, Dimension] = {}


def without_marks(expression: Expression) -> Expression:
    """The expression in SI units, the marks replaced by 1."""
    marks = {name: 1 for name in expression.free_symbols if name[0] == "@"}
    return expression.substitute(marks) if marks else expression


def user_names(expression: Expression) -> list[str]:
    """The names that the user wrote, in alphabetical order."""
    return sorted(name for name in expression.free_symbols if name[0] != "@")


def is_plain_factor(q: int | Fraction) -> bool:
    """Whether a factor is certainly a number; in a law, `v = 1000*i` means 1000 ohm."""
    return q in (1, -1)


def with_factors_seen(law: Expression, letters: Container[str]) -> Expression:
    """A law to be measured, in which terms of variables alone have a factor: that of `i^3` is one, and may hide a unit too."""
    if not isinstance(law, Add):
        return 2 * law if _is_bare(law, letters) else law
    terms = [number(2 * c if c in (1, -1) and _is_bare(term, letters) else c) * term for term, c in law.terms]
    return total([*terms, number(law.constant)])


def _is_bare(term: Expression, letters: Container[str]) -> bool:
    return bool(term.free_symbols) and all(name in letters for name in term.free_symbols)


def is_any_factor(q: int | Fraction) -> bool:
    """Factors of values are numbers: `2*L_a` is an inductance."""
    return True


def measure_of(
    expression: Expression,
    known: Mapping[str, Measure] | Callable[[str], Measure],
    pure: Callable[[int | Fraction], bool] = is_any_factor,
) -> Measure:
    """What is known about the unit of an expression; `known` gives it for names, `pure` tells numbers from hidden quantities.

    Raises: DimensionError
    """
    look_up = known if callable(known) else known.__getitem__
    found: dict[Expression, Measure] = {}
    for node in postorder(expression):
        found[node] = _measure(node, found, look_up, pure)
    return found[expression]


def _measure(
    node: Expression,
    found: dict[Expression, Measure],
    look_up: Callable[[str], Measure],
    pure: Callable[[int | Fraction], bool],
) -> Measure:
    if isinstance(node, Number | Constant):
        return NUMBER
    if isinstance(node, Symbol):
        return _MARKS[node.name] if node.name.startswith("@") else look_up(node.name)
    if isinstance(node, Add):
        terms = _terms(node, found, pure)
        return common_measure([*terms, NUMBER] if node.constant else terms, "adds")
    if isinstance(node, Mul):
        whole = product_measure([_power(found[base], q) for base, q in node.factors])
        return whole if _has_unit(node) else _weighted(whole, node.coefficient, pure)
    if isinstance(node, Pow):
        return _general_power(found[node.base], node.exponent, found[node.exponent])
    if isinstance(node, Call):
        return _call(node, found)
    if isinstance(node, Relation):
        return common_measure([found[node.left], found[node.right]], "compares")
    return NUMBER  # conditions joined by and, or, not


def _terms(node: Add, found: dict[Expression, Measure], pure: Callable[[int | Fraction], bool]) -> list[Measure]:
    """What is known about the terms of a sum.

    A number times a sum stands in each of its terms, so that 6 A - 3*I may be 3*(2 A - I): where one factor hides a unit, all may.
    """
    weighted = [_weighted(found[term], c, pure) for term, c in node.terms]
    plain = [(term, w) for (term, _), w in zip(node.terms, weighted, strict=True) if not _has_unit(term)]
    if any(w is UNKNOWN and found[term] is not UNKNOWN for term, w in plain):
        return weighted
    return [found[t] if _has_unit(t) else w for (t, _), w in zip(node.terms, weighted, strict=True)]


def _has_unit(node: Expression) -> bool:
    """Whether a factor is certainly a number because a unit stands beside it: `1000 ohm*i`."""
    if isinstance(node, Mul):
        return any(isinstance(base, Symbol) and base.name[0] == "@" for base, _ in node.factors)
    return isinstance(node, Symbol) and node.name[0] == "@"


def _weighted(measure: Measure, factor: int | Fraction, pure: Callable[[int | Fraction], bool]) -> Measure:
    return measure if pure(factor) or measure is NUMBER else UNKNOWN


def common_measure(measures: list[Measure], verb: str) -> Measure:
    """What quantities of one kind have in common.

    Raises: DimensionError where two of them differ; `verb` says what joins them.
    """
    dimensions = list(dict.fromkeys(m for m in measures if not isinstance(m, NoDimension)))
    # Bare numbers go with any unit: `x + 3` adds three metres to a length.
    if len(dimensions) > 1:
        first, second = sorted(dimensions, key=_reading_order)[:2]
        raise DimensionError(f"{verb} {dimension_in_words(first)} and {dimension_in_words(second)}", mixed=True)
    if dimensions:
        return dimensions[0]
    return UNKNOWN if UNKNOWN in measures else NUMBER


def _reading_order(dimension: Dimension) -> tuple[bool, str]:
    return dimension == DIMENSIONLESS, describe(dimension)


def product_measure(measures: list[Measure]) -> Measure:
    """What is known about the unit of a product."""
    result: Measure = NUMBER
    for measure in measures:
        if measure is UNKNOWN or result is UNKNOWN:
            result = UNKNOWN
        elif measure is not NUMBER:
            result = measure if result is NUMBER else result.times(measure)  # type: ignore[union-attr, arg-type]
    return result


def _power(measure: Measure, q: int | Fraction) -> Measure:
    return measure if isinstance(measure, NoDimension) else measure.power(q)


def _general_power(base: Measure, exponent: Expression, of_exponent: Measure) -> Measure:
    if not isinstance(of_exponent, NoDimension) and of_exponent != DIMENSIONLESS:
        raise DimensionError(f"raises to an exponent in {dimension_in_words(of_exponent)}", mixed=False)
    # With any other exponent the unit of the power would change as the exponent does.
    if isinstance(exponent, Number):
        return _power(base, exponent.rational)
    return UNKNOWN if not isinstance(base, NoDimension) and base != DIMENSIONLESS else base


def _call(node: Call, found: dict[Expression, Measure]) -> Measure:
    measures = [found[argument] for argument in node.arguments]
    if node.name in _LIKE:
        return common_measure(measures, f"in '{node.name}' joins")
    if node.name == "if":
        return common_measure(measures[1:], "in 'if' joins")
    if node.name in _OF_LIKE:
        common_measure(measures, f"in '{node.name}' joins")
    elif node.name not in _OF_ANYTHING:
        wrong = [m for m in measures if not isinstance(m, NoDimension) and m != DIMENSIONLESS]
        if wrong:
            raise DimensionError(f"takes '{node.name}' of something in {dimension_in_words(wrong[0])}", mixed=False)
    # A function of numbers alone may still stand for a quantity; of anything else it gives a pure number.
    return NUMBER if all(m is NUMBER for m in measures) else DIMENSIONLESS


def terms_alike(expression: Expression) -> Iterator[str]:
    """The names whose unit is that of the expression: what it adds, compares or chooses from."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Symbol):
            yield node.name
        elif isinstance(node, Add):
            waiting += [term for term, factor in reversed(node.terms) if is_plain_factor(factor)]
        elif isinstance(node, Relation):
            waiting += [node.right, node.left]
        elif isinstance(node, Call) and (node.name in _LIKE or node.name == "if"):
            waiting += reversed(node.arguments[1:] if node.name == "if" else node.arguments)


def dimension_in_words(dimension: Dimension) -> str:
    """The dimension as a unit to read, `a number` where it has none."""
    return "a number" if dimension == DIMENSIONLESS else describe(dimension)


def si_unit(dimension: Dimension) -> str:
    """The dimension as a unit that can be written behind a number: `s^-1` for `1/s`, and `rad` for a number that has a unit."""
    if dimension == DIMENSIONLESS:
        # A number that must show a unit: behind `rad` it is no bare number, which would fit any unit.
        return "rad"
    text = describe(dimension).split(" ", 1)[0]
    if not text.startswith("1/"):
        return text
    words = [word.partition("^") for word in text[2:].strip("()").split("*")]
    return "*".join(f"{word}^-{power or 1}" for word, _, power in words)


def needs_number(function: str) -> bool:
    """Whether the arguments of a function must be numbers."""
    return function not in _LIKE | _OF_LIKE | _OF_ANYTHING and function != "if"
